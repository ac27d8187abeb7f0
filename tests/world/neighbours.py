"""Short jobs of other people: context in the scheduler's dump, nothing of the two runs."""

from __future__ import annotations

import random

from .clock import HOUR, SECOND, instant
from .timeline import OtherJob

_PEOPLE = (("tess", "eval"), ("omar", "data"), ("ines", "lm"), ("viktor", "vision"))
_NAMES = ("eval-mmlu", "tokenize shard", "sft-8b", "jupyter", "nccl-test", "probe", "rm-7b")
_ENDS = (
    ("COMPLETED", "0:0", 14),
    ("FAILED", "1:0", 4),
    ("CANCELLED by 1007", "0:0", 2),
    ("TIMEOUT", "0:0", 1),
    ("OUT_OF_MEMORY", "0:125", 1),
)


def other_jobs(rng: random.Random) -> list[OtherJob]:
    """About 150 jobs on the nodes that the two runs never use."""
    first, last = instant("2026-04-28T02:00:00"), instant("2026-06-02T10:00:00")
    ends = [end[:2] for end in _ENDS for _ in range(end[2])]
    jobs: list[OtherJob] = []
    for place in range(150):
        user, account = rng.choice(_PEOPLE)
        name = rng.choice(_NAMES)
        if place == 77:
            name = "sweep lr\n3e-4"
        submit = first + SECOND * rng.randint(0, (last - first) // SECOND)
        start = submit + SECOND * rng.randint(1, 900)
        state, code = rng.choice(ends)
        length = SECOND * rng.randint(40, 5 * 3600) if state != "TIMEOUT" else 2 * HOUR
        count = rng.choice((1, 1, 1, 2))
        node = rng.randint(59, 64 - count + 1)
        nodes = tuple(f"gpu{node + k:03d}" for k in range(count))
        partition, gpus = ("train", 8) if count == 2 else ("small", rng.choice((1, 2, 4)))
        jobs.append(
            OtherJob(name, user, account, partition, submit, start, start + length, state, code,
                     nodes, gpus)
        )  # fmt: skip
    return sorted(jobs, key=lambda job: job.submit)
