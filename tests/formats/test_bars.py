"""Steps from progress bars, and what tells the training's own from others."""

from __future__ import annotations

import pytest

from tests.formats.test_job_log_rules import read

LOSS = "{{'loss': {}, 'grad_norm': {}, 'learning_rate': {}, 'epoch': {}}}"
NUMBERS = LOSS.format(2.1043, 0.81, "9.9e-05", 0.12)
STRINGS = LOSS.format("'2.104'", "'0.81'", "'9.9e-05'", "'0.12'")


def bar(step: int, total: int) -> str:
    done = f"{100 * step // total:3d}%|{'#' * 3:10s}|"
    return f"\r{done} {step}/{total} [00:{step:02d}<15:27,  1.10s/it]"


@pytest.mark.parametrize("loss", [NUMBERS, STRINGS])
def test_the_bar_beside_the_trainers_losses_is_the_trainings(loss: str) -> None:
    text = (
        f"\r  0%|          | 0/40 [00:00<?, ?it/s]{bar(9, 40)}{bar(10, 40)}"
        f"{' ' * 60}\r                  \r{loss}\n\n{bar(10, 40)}{bar(11, 40)}"
        # an evaluation has a bar of its own
        f"\n\r  0%|          | 0/7 [00:00<?, ?it/s]{bar(3, 7)}{bar(7, 7)}"
        "\r   \r{'eval_loss': 2.05, 'eval_runtime': 32.5, 'eval_samples_per_second': 41.2, "
        f"'epoch': 0.5}}\n{bar(20, 40)}\r   \r{loss}\n"
        "{'train_runtime': 919.1, 'train_samples_per_second': 1.08, 'train_steps_per_second': "
        "0.017, 'train_loss': 2.1, 'epoch': 1.0}\n"
    )
    steps, events, rejected = read(text)
    assert [(event.kind.value, event.code, event.duration_us) for event in events] == [
        ("setting", "total_steps=40", None),
        ("evaluation", None, 32_500_000),
        ("training_done", None, None),
    ]
    assert {(step[1], step[2]) for step in steps if step[2] == 40 and step[1]} == {
        (9, 40), (10, 40), (11, 40), (20, 40),
    }  # fmt: skip
    assert not rejected


def test_losses_without_a_bar_say_nothing() -> None:
    assert read(NUMBERS + "\n") == ([], [], [])


def nemo(step: int, printed: str) -> str:
    return (
        f"\rEpoch 0: :  {step // 20:2d}%|#         | {step}/2020 [00:34<10:59, v_num=None, "
        f"reduced_train_loss=12.90, global_step={printed}, consumed_samples=512.0, "
        "train_step_timing in s=34.70]"
    )


def test_the_bar_of_nemo_counts_what_it_rounds_beside() -> None:
    # the bar moves on before what stands beside it does
    steps, events, rejected = read(nemo(11, "9.000") + nemo(11, "10.00") + nemo(2004, "2e+3"))
    assert [step[1:3] for step in steps] == [(11, 2020), (11, 2020), (2004, 2020)]
    assert {(step[3], step[6], step[-1]) for step in steps} == {(None, None, "nemo_bar")}
    assert not events
    assert not rejected


def test_what_nemo_logs_beside_its_bar_is_dated() -> None:
    steps, _, rejected = read(
        nemo(12, "11.00") + "DLL 2026-05-01 10:00:00.123456 - 11 reduced_train_loss : 12.94  lr : "
        "0.0  global_step : 11.0  consumed_samples : 6144.0  train_step_timing in s : 6.7 \n"
    )
    assert [(step[1], step[3], step[-1]) for step in steps] == [
        (12, None, "nemo_bar"),
        (12, 1777629600123456, "nemo_dll"),
    ]
    assert not rejected


LEVANTER = (
    "2026-05-01T10:00:00 - 0 - levanter.callbacks - callbacks.py:99 - INFO :: Progress on:train "
    "{}it/{}it rate:{} remaining:1:05:15 elapsed:31:40 postfix:loss=7.1\n"
)


@pytest.mark.parametrize(
    ("step", "total", "rate", "expected"),
    [
        ("1.00", "850", "76.8s/it", (1, 850, 76_800_000)),
        ("19.0", "70.0", "1.5it/s", (19, 70, None)),
        ("845", "12.3k", "2.0s/it", (845, None, 2_000_000)),
    ],
)
def test_levanter(
    step: str, total: str, rate: str, expected: tuple[int, int | None, int | None]
) -> None:
    steps, events, rejected = read(LEVANTER.format(step, total, rate))
    assert [(row[1], row[2], row[6]) for row in steps] == [expected]
    assert steps[0][3] == 1777629600 * 10**6
    assert not events
    assert not rejected


@pytest.mark.parametrize("step", ["0.00", "12.3k", "1.00k", "19.5"])
def test_what_levanter_rounds_is_no_step(step: str) -> None:
    assert read(LEVANTER.format(step, "50.0k", "1.5it/s")) == ([], [], [])
