"""Whatever persons overrule, the ledger adds up, and taking it out again leaves no trace."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.site import site
from tests.laws.test_laws import ALL_TIME, Place

Json = dict[str, Any]
FEW = settings(max_examples=3, deadline=None)
ENDS = ("llama-s39-1", "llama-s79-1", "llama-s119-1")
KINDS = ("failure", "preemption", "mitigation", "planned", "operator_rollback", "unknown")
MOMENTS = ("fault_at", "detected_at", "launched_at", "load_started_at", "restored_at")

_names = st.sampled_from((*ENDS, "llama-s1-1"))
_minutes = st.integers(0, 150)


def _at(minute: int) -> str:
    return f"2026-05-30T{20 + minute // 60}:{minute % 60:02d}:00Z"


def _text(keys: dict[str, str]) -> str:
    lines = [f'{key} = "{value}"' for key, value in keys.items()]
    return "\n".join(["[[correction]]", *lines, f'reason = "because {keys["action"]}"'])


_CORRECTION = st.one_of(
    st.builds(lambda a, b: {"action": "merge", "incident": a, "into": b}, _names, _names).filter(
        lambda one: one["incident"] != one["into"]
    ),
    st.builds(lambda a: {"action": "split", "incident": a}, _names),
    st.builds(
        lambda a, kind: {"action": "reclassify", "incident": a, "kind": kind},
        _names,
        st.sampled_from(KINDS),
    ),
    st.builds(
        lambda a, moment, at: {"action": "set", "incident": a, "moment": moment, "at": _at(at)},
        _names,
        st.sampled_from(MOMENTS),
        _minutes,
    ),
    st.builds(
        lambda at, size: {"action": "exclude", "start": _at(at), "end": _at(at + size)},
        _minutes,
        st.integers(1, 60),
    ),
).map(_text)


class _Corrected(Place):
    """A folder whose configuration is read."""

    def _call(self, *words: str, allowed: tuple[int, ...] = (0,)) -> str:
        return super()._call(
            *words, "--config", str(self.folder / "ckpt-audit.toml"), allowed=allowed
        )

    def report(self) -> str:
        """The report's document, as bytes go out."""
        return self._call("report", *ALL_TIME, "--json")


@contextmanager
def place() -> Iterator[_Corrected]:
    """An empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield _Corrected(Path(folder))


def _correct(here: Place, corrections: list[str]) -> None:
    text = 'timezone = "UTC"\n' + "\n".join(corrections) + "\n"
    (here.folder / "ckpt-audit.toml").write_text(text)


@FEW
@given(corrections=st.lists(_CORRECTION, min_size=1, max_size=6))
def test_the_ledger_adds_up_and_no_run_is_refused(corrections: list[str]) -> None:
    with place() as here:
        _correct(here, [])
        here.read(site())
        before = here.report()
        _correct(here, corrections)
        # the checks of the ledger and of the incidents run with it, and refuse what breaks them
        told = json.loads(here.report())
        assert "refused_run" not in {one["kind"] for one in told["findings"]}
        kinds = {one["kind"] for one in told["findings"]}
        assert kinds & {"overruled", "correction_unused"}
        for incident in told["incidents"]:
            parts = [incident[key] for key in ("replacement_s", "retries_s")]
            parts += [incident[key] for key in ("launch_s", "restore_s", "warmup_s")]
            if None not in parts:
                assert abs(sum(parts) - incident["recovery_s"]) < 1e-3
                assert min(parts) >= 0
        _correct(here, [])
        assert here.report() == before


_APART = [
    _text({"action": "merge", "incident": ENDS[1], "into": ENDS[0]}),
    _text({"action": "reclassify", "incident": ENDS[2], "cause": "operator"}),
    _text({"action": "reclassify", "incident": ENDS[0], "kind": "mitigation"}),
    _text({"action": "set", "incident": ENDS[0], "moment": "restored_at", "at": _at(103)}),
    _text({"action": "exclude", "start": _at(5), "end": _at(9)}),
]


@FEW
@given(corrections=st.permutations(_APART))
def test_the_order_of_corrections_changes_no_byte(corrections: list[str]) -> None:
    """Of those that do not touch each other; the list of settings is that of the file."""
    with place() as here:
        _correct(here, _APART)
        here.read(site())
        told = []
        for order in (_APART, corrections):
            _correct(here, order)
            document = json.loads(here.report())
            del document["settings"]
            told.append(json.dumps(document))
        assert told[0] == told[1]
        assert '"correction_unused"' not in told[0]
