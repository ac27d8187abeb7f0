"""The sections of the page, one module each: facts in, blocks out, nothing drawn or printed."""
