"""torchft: lines as its two managers print them."""

from __future__ import annotations

import pytest

from tests.formats.test_job_log_rules import only_event, read

TITAN = "[rank0]:[titan] 2026-05-01 10:00:00,123 - torchft.manager - INFO - "
BARE = "INFO:torchft.manager:"


def quorum(*sizes: int, tail: str = "", field: str = ", world_size: {}") -> str:
    members = ", ".join(
        f'QuorumMember {{ replica_id: "ddp_{number}:9f5b5624-112d", address: "http://n1:33997", '
        f'store_address: "n1:29600", step: 17{field.format(size)}, shrink_only: false, '
        'commit_failures: 0, data: "" }'
        for number, size in enumerate(sizes)
    )
    return (
        "2026-05-01T10:00:00.905 [INFO] [torchft::manager] - [Replica ddp_0] got lighthouse quorum "
        f"LighthouseQuorumResponse {{ quorum: Some(Quorum {{ quorum_id: 12, participants: "
        f"[{members}{tail}], created: Some(Timestamp {{ seconds: 1777629600, nanos: 905534965 }}) "
        "}) }\n"
    )


def test_a_quorum_tells_the_ranks_at_work_when_they_change() -> None:
    text = quorum(8, 8, 8) * 5 + quorum(8, 8) * 5 + quorum(8, 8, 8)
    events = read(text)[1]
    assert [(e.line_no, e.kind.value, e.code) for e in events] == [
        (1, "replica_groups", "24"),
        (6, "replica_groups", "16"),
        (11, "replica_groups", "24"),
    ]
    assert events[0].resolution_us == 1000


def test_a_quorum_that_is_cut_or_older_tells_nothing() -> None:
    assert read(quorum(8, 8)[:420] + "\n")[1] == []
    assert read(quorum(8, 8, field=""))[1] == []
    assert read(quorum(8, tail=", QuorumMember { replica_id: x }"))[1] == []


def test_hundreds_of_groups_are_one_long_line() -> None:
    assert only_event(quorum(*[8] * 512)).code == "4096"


@pytest.mark.parametrize("head", [TITAN, BARE])
def test_a_committed_step_is_one_more_than_the_line_says(head: str) -> None:
    steps, events, rejected = read(
        f"{head}[ddp_0:9f5b5624-112d/0 - step 17] should_commit=True enough_replicas=True, "
        "errored=None\n"
        f"{head}[ddp_0:9f5b5624-112d/0 - step 18] should_commit=False enough_replicas=False, "
        "errored=None\n"
    )
    assert [(step[0], step[1], step[-1]) for step in steps] == [(1, 18, "torchft")]
    assert not events
    assert not rejected


@pytest.mark.parametrize("head", [TITAN, BARE])
@pytest.mark.parametrize(
    ("text", "kind", "step"),
    [
        (
            "[d:9f/0 - step 0] healing required, fetching checkpoint metadata from x max_step=17",
            "load_started",
            17,
        ),
        ("[d:9f/0 - step 17] Loaded state dict.", "load_done", 17),
    ],
)
def test_a_group_heals_from_another(head: str, text: str, kind: str, step: int) -> None:
    event = only_event(f"{head}{text}\n")
    assert (event.kind.value, event.step, event.code) == (kind, step, "peer")


@pytest.mark.parametrize(
    "text",
    [
        "[d:9f/0 - step 17] peers need recovery from us [0]",
        "[d:9f/0 - step 17] reconfiguring for quorum_id=12 store_prefixed_addr='n1:1/torchft/12/0'",
        "[d:9f/0 - step 17] applying pending state dict",
        "Loaded state dict.",
    ],
)
def test_what_it_says_besides(text: str) -> None:
    assert read(f"{TITAN}{text}\n") == ([], [], [])
