"""Retention removes the newest checkpoint instead of the oldest."""

from __future__ import annotations

from pathlib import Path

from tests.situations.writing import DIED, Log, found, moment, sacct


def write(folder: Path) -> None:
    """Writes the inputs."""

    def trainer(log: Log, text: str) -> None:
        log.say(f"[INFO|trainer.py:3410] {log.stamp},000 >> {text}")

    def bar(log: Log, step: int, minutes: int) -> None:
        passed = f"{minutes // 60}:{minutes % 60:02d}:00" if minutes >= 60 else f"{minutes:02d}:00"
        log.say(f"{step // 10:3d}%|          | {step}/1000 [{passed}<16:10:00, 60.00s/it]")

    log = Log(moment("2026-05-04 10:00:00"))
    trainer(log, "***** Running training *****")
    trainer(log, "  Total optimization steps = 1,000")
    for step in range(1, 36):
        log.wait(60)
        bar(log, step, step)
        if step % 10 == 0:
            trainer(log, f"Saving model checkpoint to /ckpt/run/checkpoint-{step}")
            log.wait(20)
            trainer(
                log,
                f"tokenizer config file saved in /ckpt/run/checkpoint-{step}/tokenizer_config.json",
            )
            if step > 10:
                trainer(
                    log,
                    f"Deleting older checkpoint [/ckpt/run/checkpoint-{step}] due to "
                    "args.save_total_limit",
                )
    log.say(*DIED)
    log.write(folder / "slurm-101.out")
    log = Log(moment("2026-05-04 10:45:00"))
    log.wait(60)
    trainer(log, "***** Running training *****")
    trainer(log, "  Total optimization steps = 1,000")
    trainer(log, "  Continuing training from global step 10")
    for step in range(11, 30):
        log.wait(60)
        bar(log, step, step - 10)
    log.write(folder / "slurm-102.out")
    sacct(
        folder / "sacct.txt",
        [
            (101, "FAILED", "1:0", "09:50:00", "10:00:00", "10:36:30"),
            (102, "RUNNING", "0:0", "10:40:00", "10:45:00", "Unknown"),
        ],
    )

    def files(steps: tuple[int, ...]) -> list[tuple[str, int, str]]:
        names = (
            ("model.safetensors", 10**9),
            ("optimizer.pt", 2 * 10**9),
            ("trainer_state.json", 900),
        )
        return [
            (f"checkpoint-{step}/{name}", size, f"10:{step}:30")
            for step in steps
            for name, size in names
        ]

    found(folder / "look-1.txt", "10:20:30", "/ckpt/run", files((10, 20)))
    found(folder / "look-2.txt", "10:22:00", "/ckpt/run", files((10,)))
    found(folder / "look-3.txt", "10:35:00", "/ckpt/run", files((10,)))
