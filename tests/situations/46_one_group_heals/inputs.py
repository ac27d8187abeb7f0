"""Writes the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.situations.writing import Titan, moment, sacct


class Torchft(Titan):
    """Lines of torchtitan with torchft, its two groups in one file."""

    def ft(self, group: int, step: int, text: str) -> None:
        """A line of the manager in Python."""
        self.say(
            f"[rank0]:[titan] {self.stamp},000 - torchft.manager - INFO - "
            f"[ft_{group}:9f5b5624-112d/0 - step {step}] {text}"
        )

    def quorum(self, number: int, steps: Sequence[int]) -> None:
        """The line of the manager in Rust: the groups that take part, with their steps."""
        members = ", ".join(
            f'QuorumMember {{ replica_id: "ft_{group}:9f5b5624-112d", address: '
            f'"http://n{group + 1}:33997", store_address: "n{group + 1}:29600", step: {step}, '
            'world_size: 8, shrink_only: false, commit_failures: 0, data: "" }'
            for group, step in enumerate(steps)
        )
        self.say(
            f"{self.at:%Y-%m-%dT%H:%M:%S}.000 [INFO] [torchft::manager] - [Replica ft_0] got "
            f"lighthouse quorum LighthouseQuorumResponse {{ quorum: Some(Quorum {{ quorum_id: "
            f"{number}, participants: [{members}], created: Some(Timestamp {{ seconds: "
            f"{int(self.at.timestamp())}, nanos: 905534965 }}) }}) }}"
        )

    def reconfigure(self, group: int, step: int, number: int) -> None:
        """What follows a quorum with other members."""
        self.ft(
            group, step, f"reconfiguring for quorum_id={number} "
            f"store_prefixed_addr='n1:29600/torchft/{number}/0'"
        )  # fmt: skip

    def both(self, number: int, first: int, last: int, n_groups: int) -> None:
        """Steps of the groups that take part."""
        for step in range(first, last + 1):
            self.quorum(number, [step - 1] * n_groups)
            self.steps(step, step)
            for group in range(n_groups):
                self.ft(group, step - 1, "should_commit=True enough_replicas=True, errored=None")


def write(folder: Path) -> None:
    """Writes the inputs."""
    log = Torchft(moment("2026-05-04 02:00:00"))
    log.launch(None)
    log.quorum(1, [0, 0])
    log.reconfigure(0, 0, 1)
    log.both(1, 1, 30, 2)
    # the second group is gone: one step is not committed, then the first goes on alone
    log.ft(0, 30, "should_commit=False enough_replicas=True, errored=ExceptionWithTraceback()")
    log.quorum(2, [30])
    log.reconfigure(0, 30, 2)
    log.both(2, 31, 60, 1)
    log.quorum(3, [60, 0])
    log.ft(0, 60, "peers need recovery from us [1]")
    log.reconfigure(1, 0, 3)
    log.ft(
        1, 0, "healing required, fetching checkpoint metadata from "
        "recover_src_manager_address='http://n1:33997' max_step=60"
    )  # fmt: skip
    log.ft(
        1, 0, "fetching checkpoint from recover_src_replica_rank=0 with checkpoint_metadata='<n/a>'"
    )  # fmt: skip
    log.ft(1, 60, "applying pending state dict")
    log.ft(1, 60, "Loaded state dict.")
    log.both(3, 61, 90, 2)
    log.write(folder / "slurm-101.out")
    sacct(folder / "sacct.txt", [(101, "RUNNING", "0:0", "01:50:00", "02:00:00", "Unknown")])
