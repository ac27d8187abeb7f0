"""One format a file: how it is recognised and read."""
