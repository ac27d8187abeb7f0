"""Failure stories from public reports, as small made-up inputs with the answers they must give."""
