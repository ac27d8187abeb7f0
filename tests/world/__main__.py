"""Command line: ``python -m tests.world --seed 7 --out sample_data``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .write import write


def main() -> None:
    """Write the world of a seed and say what was written."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="chooses the world (default 7)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    sizes = write(options.seed, options.out)
    print(f"{len(sizes)} files, {sum(sizes.values()):,} bytes, in {options.out}")


if __name__ == "__main__":
    main()
