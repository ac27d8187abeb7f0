"""How often a program saves, as each framework prints it."""

from __future__ import annotations

import pytest

from tests.formats.test_job_log_rules import only_event, read


@pytest.mark.parametrize(
    "line",
    [
        "I0501 10:00:00.000000 1234 pyconfig.py:99] Config param checkpoint_period: 500",
        "Config param checkpoint_period: 500",
        "save_steps=500,",
        "          every_n_train_steps: 500",
        "  checkpoint_factor ............... 500.........................updated",
        "  save_interval ................... 500",
        "+ torchrun --nproc_per_node 8 train.py --checkpoint.interval 500 --training.steps 9000",
        "+ torchrun train.py --checkpoint.interval=500",
        "    --checkpoint.interval 500 \\",
    ],
)
def test_the_interval_between_saves(line: str) -> None:
    event = only_event(line + "\n")
    assert (event.kind.value, event.code) == ("setting", "save_interval=500")


@pytest.mark.parametrize(
    "line",
    [
        "Config param checkpoint_period: none",
        "save_steps=0.1,",
        "eval_save_steps=500,",
        "    every_n_train_steps: null",
        "  checkpoint_factor ............... None",
        "  checkpoint_factor ............... 2...........................updated",
        "--checkpoint.interval_unit 5",
        "# save_steps=500, was too few",
    ],
)
def test_what_names_no_interval(line: str) -> None:
    assert read(line + "\n") == ([], [], [])
