"""Rules of job logs of torchft: replica groups that leave, come back and heal from each other.

Forms as its manager prints them (Python: ``torchft/manager.py``; Rust: ``src/manager.rs``).
"""

from __future__ import annotations

import re

from ckpt_audit.ingest.formats._bounds import SMALL_LIMIT, whole
from ckpt_audit.ingest.formats._job_log_rules import Draft, Keep, Rule
from ckpt_audit.records import EventKind

PEER = "peer"  # code of a load whose state came from another replica
_LONGEST_LIST = 128 << 10  # some 600 groups
_MEMBER = "QuorumMember {"
_RANKS = re.compile(r", world_size: (\d{1,9})(?=, | \})")
# a list that was cut says nothing of how many there are
_WHOLE = re.compile(r"\], created:|got lighthouse quorum ")
_WHO = r"\[(?P<group>[^\s\]]{1,200})/(?P<rank>\d{1,9}) - step (?P<step>\d{1,18})\] "


def _members(match: re.Match[str], draft: Draft) -> Draft | None:
    end = _WHOLE.search(match.string, match.end())
    if end is None or end[0] != "], created:":
        return None
    members = match.string[match.end() : end.start()]
    n_ranks = [int(ranks) for ranks in _RANKS.findall(members)]
    if len(n_ranks) != members.count(_MEMBER):
        return None  # older releases do not say how large a group is
    draft.code = str(whole(str(sum(n_ranks)), "ranks at work", SMALL_LIMIT))
    return draft


def _from_peer(_match: re.Match[str], draft: Draft) -> Draft:
    draft.code, draft.rank = PEER, None  # the line names a rank within its group only
    return draft


TORCHFT_RULES: tuple[Rule, ...] = (
    Rule(
        "ft_quorum",
        EventKind.REPLICA_GROUPS,
        ("got lighthouse quorum ",),
        re.compile(
            r"got lighthouse quorum (?:LighthouseQuorumResponse \{ quorum: )?(?:Some\()?"
            r"Quorum \{ quorum_id: \d{1,18}, participants: \["
        ),
        "2026-05-01T10:00:00.123 [INFO] [torchft::manager] - [Replica ddp_0] got lighthouse quorum "
        "LighthouseQuorumResponse { quorum: Some(Quorum { quorum_id: 7, participants: "
        "[QuorumMember { replica_id: ddp_0, step: 9, world_size: 8 }], created: "
        "Some(Timestamp { seconds: 1 }) }) }",
        refine=_members,
        keep=Keep.CHANGES,
        reach=_LONGEST_LIST,
        quotable=True,
    ),
    Rule(
        "ft_heal",
        EventKind.LOAD_STARTED,
        ("healing required, fetching checkpoint",),
        re.compile(
            r"healing required, fetching checkpoint .{0,600}?\bmax_step=(?P<step>\d{1,18})\b"
        ),
        "[titan] 2026-05-01 10:00:00,123 - torchft.manager - INFO - [ddp_0:9f5b/0 - step 0] "
        "healing required, fetching checkpoint metadata from recover_src_manager_address=x:1 "
        "max_step=17",
        refine=_from_peer,
        keep=Keep.FIRST,
        quotable=True,
    ),
    Rule(
        "ft_healed",
        EventKind.LOAD_DONE,
        ("] Loaded state dict.",),
        re.compile(_WHO + r"Loaded state dict\."),
        "[titan] 2026-05-01 10:00:02,123 - torchft.manager - INFO - [ddp_0:9f5b/0 - step 17] "
        "Loaded state dict.",
        refine=_from_peer,
        keep=Keep.FIRST,
    ),
)
