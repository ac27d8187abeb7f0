"""Writes the inputs of situations: logs and records in the forms of their emitters.

A ``Log`` keeps the time. Each emitter's lines are functions of it, so that a case reads as what
happened: launch, load, steps, a save, the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

NODES = "n[1-2]"
DIED = (
    "Traceback (most recent call last):",
    '  File "/train/train.py", line 7, in <module>',
    "RuntimeError: CUDA error: uncorrectable ECC error encountered",
)


def moment(text: str) -> datetime:
    """An instant in UTC, as ``2026-05-04 10:00:00``."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Log:
    """Lines of one log, and the time at which the next one is written."""

    at: datetime
    step_s: float = 60.0
    lines: list[str] = field(default_factory=list)

    @property
    def stamp(self) -> str:
        """The time as most emitters print it."""
        return f"{self.at:%Y-%m-%d %H:%M:%S}"

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        self.at += timedelta(seconds=seconds)

    def say(self, *lines: str) -> None:
        """Writes lines as they are."""
        self.lines += lines

    def write(self, path: Path) -> None:
        """Makes the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n")


class Megatron(Log):
    """Lines of Megatron-LM."""

    folder = "/ckpt/run"

    def launch(self, loads: int | None) -> None:
        """Launch and load; None begins from scratch."""
        self.say(
            "using world size: 16, data-parallel size: 2, tensor-model-parallel size: 8, "
            "pipeline-model-parallel size: 1"
        )
        self.wait(30)
        self.say(f"[after megatron is initialized] datetime: {self.stamp} ")
        if loads is None:
            self.say(
                f"WARNING: could not find the metadata file {self.folder}/"
                "latest_checkpointed_iteration.txt ",
                "    will not load any checkpoints and will start from random",
            )
        else:
            self.say(f" loading checkpoint from {self.folder} at iteration {loads}")
            self.wait(60)
            self.say(f"  successfully loaded checkpoint from {self.folder} at iteration {loads}")
        self.say(f"[before the start of training step] datetime: {self.stamp} ")

    def steps(self, first: int, last: int) -> None:
        """Steps, the line of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.say(
                f" [{self.stamp}] iteration {step:8d}/    1000 | "
                f"consumed samples: {step * 64:12d} | "
                f"elapsed time per iteration (ms): {self.step_s * 1000:.1f} | learning rate: "
                "1.000000E-04 | global batch size:    64 | lm loss: 2.100000E+00 |"
            )

    def save(self, step: int, seconds: float, *, done: bool = True) -> None:
        """A blocking save."""
        self.say(f"saving checkpoint at iteration {step:7d} to {self.folder} in torch format")
        self.wait(seconds)
        if done:
            self.say(f"  successfully saved checkpoint from iteration {step:7d} to {self.folder}")


class Neox(Log):
    """Lines of GPT-NeoX with DeepSpeed."""

    folder = "/ckpt/run"

    def note(self, where: str, text: str) -> None:
        """A line with a prefix."""
        self.say(f"[{self.stamp},000] [INFO] [{where}] {text}")

    def launch(self, loads: int | None) -> None:
        """Launch and load; None begins from scratch."""
        self.note("launch.py:121:main", "dist_world_size=16")
        self.wait(30)
        if loads is not None:
            self.note(
                "torch_checkpoint_engine.py:23:load",
                f"[Torch] Loading checkpoint from {self.folder}/global_step{loads}/"
                "mp_rank_00_model_states.pt...",
            )
            self.wait(60)
            self.say(
                " > validated currently set args with arguments in the checkpoint ...",
                f"  successfully loaded {self.folder}/global_step{loads}/"
                "mp_rank_00_model_states.pt",
            )
        else:
            self.say("Unable to load checkpoint.")

    def steps(self, first: int, last: int) -> None:
        """Steps, the lines of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.note(
                "logging.py:60:log_dist",
                f"[Rank 0] step={step}, skipped=0, lr=[0.0006], mom=[[0.9, 0.95]]",
            )

    def save(self, step: int, seconds: float) -> None:
        """A blocking save that says that it is done."""
        self.note(
            "logging.py:60:log_dist", f"[Torch] Checkpoint global_step{step} is about to be saved!"
        )
        self.wait(seconds)
        self.note(
            "torch_checkpoint_engine.py:33:commit",
            f"[Torch] Checkpoint global_step{step} is ready now!",
        )


class Titan(Log):
    """Lines of torchtitan."""

    folder = "outputs/checkpoint"

    def note(self, text: str, level: str = "INFO") -> None:
        """A line with a prefix."""
        self.say(f"[rank0]:[titan] {self.stamp},000 - root - {level} - {text}")

    def launch(self, loads: int | None) -> None:
        """Launch and load; None begins from scratch."""
        self.note("Starting job: llama3 8b")
        self.wait(30)
        if loads is not None:
            self.note(f"Loading the checkpoint from {self.folder}/step-{loads}.")
            self.wait(60)
            self.note("Finished loading the checkpoint in 60.00 seconds.")
        self.note(f"Training starts at step {(loads or 0) + 1}.")

    def steps(self, first: int, last: int) -> None:
        """Steps, the line of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.note(
                f"step: {step:2d}  loss:  7.12345  grad_norm:  1.2345  memory: 61.20GiB(77.43%)  "
                "tps: 1,637  tflops: 94.02  mfu: 30.10%"
            )

    def save(self, seconds: float, *, done: bool = True) -> None:
        """A blocking save of the last step."""
        self.note("Saving the checkpoint.")
        self.wait(seconds)
        if done:
            self.note(f"Finished saving the checkpoint in {seconds:.2f} seconds.")


class MaxText(Log):
    """Lines of MaxText, as absl prints them."""

    folder = "/ckpt/run/checkpoints"

    def note(self, where: str, text: str, level: str = "I") -> None:
        """A line with a prefix."""
        self.say(f"{level}{self.at:%m%d %H:%M:%S}.000000 1234 {where}] {text}")

    def steps(self, first: int, last: int) -> None:
        """Steps, the line of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.note(
                "metric_logger.py:196",
                f"completed step: {step}, seconds: {self.step_s:.3f}, TFLOP/s/device: 210.1, "
                "Tokens/s/device: 4100.2, total_weights: 65536, loss: 2.101",
            )

    def save(self, step: int, seconds: float) -> None:
        """A save with its pause."""
        self.note(
            "checkpointer.py:300",
            f"[process=0] [async] Started save checkpoint @ {self.folder}/{step}.",
        )
        self.wait(seconds)
        self.note(
            "checkpointer.py:340",
            "Finished save (blocking + background) in "
            f"{seconds:.2f} seconds @ {self.folder}/{step}",
        )


class Fairseq(Log):
    """Lines of metaseq."""

    folder = "/ckpt/run"

    def steps(self, first: int, last: int) -> None:
        """Steps, the line of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.say(
                f'{self.stamp} | INFO | train_inner | {{"epoch": 1, "update": {step / 1000}, '
                f'"loss": "7.1", "ups": "0.02", "num_updates": "{step}", "lr": "0.0001", '
                f'"train_wall": "60", "wall": "{step * 60}"}}'
            )

    def note(self, where: str, text: str) -> None:
        """A line with a prefix."""
        self.say(f"{self.stamp} | INFO | {where} | {text}")

    def save(self, step: int, seconds: float) -> None:
        """A blocking save."""
        path = f"{self.folder}/checkpoint_1_{step}.pt"
        self.note("metaseq.trainer", f"Saving checkpoint to {path}")
        self.wait(seconds)
        self.note(
            "metaseq.checkpoint_utils",
            f"Saved checkpoint {path} (epoch 1 @ {step} updates, score None) "
            f"(writing took {seconds} seconds)",
        )


class Nemo(Log):
    """Lines of NeMo."""

    folder = "/ckpt/run/checkpoints"

    def note(self, text: str, where: str = "nemo_logging:393", level: str = "I") -> None:
        """A line with a prefix."""
        self.say(f"[NeMo {level} {self.stamp} {where}] {text}")

    def steps(self, first: int, last: int) -> None:
        """Steps as they are counted from zero, the line of each at its end."""
        for step in range(first, last + 1):
            self.wait(self.step_s)
            self.say(
                f"[{self.stamp}] Training epoch 0, iteration {step - 1}/999 | lr: 0.0001 | "
                f"global_batch_size: 64 | global_step: {step - 1} | reduced_train_loss: 2.1 | "
                f"train_step_timing in s: {self.step_s:.3f}"
            )


def sacct(path: Path, jobs: Iterable[tuple[int, str, str, str, str, str]]) -> None:
    """Scheduler records: id, state, exit code, submission, start and end of each job."""
    head = "JobID|JobIDRaw|JobName|User|Partition|State|ExitCode|Submit|Start|End|NNodes|NodeList|"
    rows = [
        f"{job}|{job}|run|ada|gpu|{state}|{code}|{_iso(submit)}|{_iso(start)}|{_iso(end)}|2|{NODES}|"
        "billing=16,gres/gpu=16,node=2|/train/run"
        for job, state, code, submit, start, end in jobs
    ]
    path.write_text("\n".join([head + "AllocTRES|WorkDir", *rows]) + "\n")


def _iso(text: str) -> str:
    return text if text == "Unknown" else f"2026-05-04T{text}"


def found(
    path: Path, observed: str, folder: str, files: Iterable[tuple[str, int, str]], **tracker: str
) -> None:
    """A listing of a checkpoint folder: name, size and time of each file."""
    lines = [f"# observed {_iso(observed)}+00:00"]
    lines += [f"#tracker\t{folder}/{name}\t{text}" for name, text in tracker.items()]
    lines.append(f"{moment(f'2026-05-04 {observed}').timestamp():.10f}\t4096\td\t{folder}")
    lines += [
        f"{moment(f'2026-05-04 {at}').timestamp():.10f}\t{size}\tf\t{folder}/{name}"
        for name, size, at in files
    ]
    path.write_text("\n".join(lines) + "\n")
