"""Lets ``python -m ckpt_audit`` stand for ``ckpt-audit``."""

import sys

from ckpt_audit.cli import main

if __name__ == "__main__":
    sys.exit(main())
