"""Command line: ``python -m tests.worlds --seeds 200`` prints what differed, by feature."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.world.draw import FEATURES

from .features import RIGHT_TODAY, VALUES_NOT_YET
from .world import World, world_of


def main() -> int:
    """Try worlds and print a table; 1 when something differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.worlds", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many worlds (default 200)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--all", action="store_true", help="draw features not yet right, too")
    parser.add_argument("--only", default="", help="just these features (with commas)")
    parser.add_argument("--keep", type=Path, help="write the worlds below this folder")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every difference")
    options = parser.parse_args()
    allowed = frozenset(FEATURES) if options.all else RIGHT_TODAY
    forced: frozenset[str] = frozenset()
    ignored = frozenset() if options.all else VALUES_NOT_YET
    if options.only:
        allowed = forced = frozenset(options.only.split(","))
    began = time.monotonic()
    worlds = []
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.keep / str(seed) if options.keep else Path(scratch)
            world = world_of(seed, allowed, forced, folder, ignored)
        worlds.append(world)
        if options.verbose and world.score.differences:
            print(f"seed {seed}: {', '.join(sorted(world.scenario.features))}")
            for item in world.score.differences:
                print(f"  {item}")
    print_table(worlds)
    seeds = [str(options.first + place) for place, w in enumerate(worlds) if w.score.differences]
    print("seeds that differ:", " ".join(seeds) or "none")
    print(f"{len(worlds)} worlds in {time.monotonic() - began:.0f} s")
    return int(any(world.score.differences for world in worlds))


def print_table(worlds: list[World]) -> None:
    """Which worlds differ, by feature, and what differed how often."""
    features = sorted({name for world in worlds for name in world.scenario.features})
    print(f"{'feature':<14} worlds differ  values that differed")
    for name in features:
        mine = [world for world in worlds if name in world.scenario.features]
        differ = [world for world in mine if world.score.differences]
        print(f"{name:<14} {len(mine):6d} {len(differ):6d}")
    what = Counter(item.what for world in worlds for item in world.score.differences)
    how = Counter(f"{d.what} ({d.how})" for world in worlds for d in world.score.differences)
    print("what:", ", ".join(f"{name} {n}" for name, n in what.most_common()) or "nothing differed")
    for name, count in how.most_common(30):
        print(f"  {count:4d} {name}")
    print(f"{sum(world.score.compared for world in worlds):,} values compared")


if __name__ == "__main__":
    raise SystemExit(main())
