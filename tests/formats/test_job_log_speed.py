"""Step lines hold no literal but that of their rule: then many are read at once."""

from __future__ import annotations

import pytest

from ckpt_audit.ingest.formats._job_log_reader import LITERALS
from ckpt_audit.ingest.formats._job_log_steps import STEP_RULES, StepRule

WHOLE = {
    "megatron": " [2026-05-01 10:00:06.123456] iteration      120/   50000 | "
    "consumed samples:        61440 | elapsed time per iteration (ms): 6021.4 | "
    "throughput per GPU (TFLOP/s/GPU): 210.3 | learning rate: 1.000000E-04 | "
    "global batch size:   512 | lm loss: 2.1E+00 | loss scale: 1.0 | grad norm: 0.8 | "
    "num zeros: 0.0 | params norm: 1.2 | number of skipped iterations:   0 | "
    "number of nan iterations:   0 |",
}


@pytest.mark.parametrize("rule", STEP_RULES, ids=lambda rule: rule.emitter)
def test_a_step_line_is_found_by_one_literal(rule: StepRule) -> None:
    line = WHOLE.get(rule.emitter, rule.example)
    found = [literal for literal in LITERALS if literal in line]
    assert found == [rule.literal], "a second literal sends every line the slow way"
