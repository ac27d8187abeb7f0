"""Job logs: the training program's own lines, in the style of two of its releases."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from . import emit_crash
from .clock import MINUTE, SECOND, plain
from .scenario import RunSpec
from .timeline import Attempt, Pause, Step

_BAR = "-" * 98
_TIMERS = "(min, max) time across ranks (ms):"


class Writer:
    """Writes the log of one attempt."""

    def __init__(self, spec: RunSpec, attempt: Attempt, seed: int) -> None:
        """Prepare the numbers that only decorate the lines."""
        self.spec = spec
        self.attempt = attempt
        self.rng = random.Random(f"{seed}/{spec.name}/{attempt.index}/log")

    def lines(self) -> Iterator[str]:
        """All lines of the attempt, in order."""
        attempt = self.attempt
        if attempt.launched_at is not None:
            yield from self._hello()
        if attempt.initialized_at is not None:
            yield from self._setup()
        if attempt.steps:
            yield from self._training()
        yield from emit_crash.closing(self.spec, attempt, self.rng)

    def _stamp(self, at: int) -> str:
        return plain(at, self.spec.micros)

    def _anchor(self, what: str, at: int) -> str:
        return f"[{what}] datetime: {self._stamp(at)} "

    def _hello(self) -> Iterator[str]:
        spec = self.spec
        data = spec.accelerators // (spec.tensor * spec.pipeline)
        yield (
            f"using world size: {spec.accelerators}, data-parallel size: {data}, "
            "context-parallel size: 1, hierarchical context-parallel sizes: None, "
            f"tensor-model-parallel size: {spec.tensor}, "
            f"pipeline-model-parallel size: {spec.pipeline}"
        )
        yield "using torch.bfloat16 for parameters ..."
        yield "------------------------ arguments ------------------------"
        for name, value in self._arguments().items():
            yield f"  {name} {'.' * (48 - len(name))} {value}"
        yield "-------------------- end of arguments ---------------------"
        yield "> building HuggingFaceTokenizer tokenizer ..."
        yield "> initializing torch distributed ..."
        yield f"> initialized tensor model parallel with size {spec.tensor}"
        yield f"> initialized pipeline model parallel with size {spec.pipeline}"
        yield "> setting random seeds to 1234 ..."

    def _arguments(self) -> dict[str, str]:
        spec, ending = self.spec, self.attempt.ending
        limit_ms = ending.timeout_ms if ending else 0
        return {
            "async_save": "None",
            "bf16": "True",
            "ckpt_format": "torch_dist",
            "distributed_timeout_minutes": str(limit_ms // 60_000 or (30 if spec.micros else 10)),
            "eval_interval": str(spec.eval_every or 1_000_000),
            "global_batch_size": str(spec.batch),
            "load": spec.checkpoints,
            "log_interval": "1",
            "lr_decay_style": "WSD",
            "save": spec.checkpoints,
            "save_interval": str(spec.save_every),
            "seq_length": "8192",
            "train_iters": str(spec.target),
            "use_checkpoint_opt_param_scheduler": "True",
        }

    def _setup(self) -> Iterator[str]:
        attempt, spec = self.attempt, self.spec
        assert attempt.initialized_at is not None
        yield self._anchor("after megatron is initialized", attempt.initialized_at)
        yield "building GPT model ..."
        if attempt.index % 3 == 0:
            yield from self._progress_bar()
        yield (
            " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): "
            f"{self.spec.batch * 1_118_208 // spec.tensor}"
        )
        if attempt.retry == "zero_exit":
            tracker = f"{spec.checkpoints}/latest_checkpointed_iteration.txt"
            yield f"ERROR: Invalid metadata file {tracker}. Exiting"
            return
        if attempt.loads is None:
            tracker = f"{spec.checkpoints}/latest_checkpointed_iteration.txt"
            yield f"WARNING: could not find the metadata file {tracker} "
            yield "    will not load any checkpoints and will start from random"
        else:
            yield (
                f" loading distributed checkpoint from {spec.checkpoints} "
                f"at iteration {attempt.loads}"
            )
        if attempt.restored_at is not None:
            yield from self._loaded()
        if attempt.training_at is not None:
            yield from self._ready()

    def _progress_bar(self) -> Iterator[str]:
        states = [
            f"Loading tokenizer shards: {n * 25:3d}%|{'#' * (n * 2):<8}| {n}/4 "
            f"[00:0{n}<00:0{4 - n},  1.02it/s]"
            for n in range(5)
        ]
        yield "\r".join(states)

    def _loaded(self) -> Iterator[str]:
        attempt, spec = self.attempt, self.spec
        assert attempt.restored_at is not None
        assert attempt.load_started_at is not None
        yield (
            f"  successfully loaded checkpoint from {spec.checkpoints} "
            f"[ t 1/{spec.tensor}, p 1/{spec.pipeline} ] at iteration {attempt.loads}"
        )
        took = (attempt.restored_at - attempt.load_started_at) / 1000
        yield _TIMERS
        yield f"    {'load-checkpoint ':.<48}: ({took - 9.31:.2f}, {took:.2f})"

    def _ready(self) -> Iterator[str]:
        attempt = self.attempt
        assert attempt.training_at is not None
        built = attempt.restored_at or attempt.load_started_at or attempt.training_at
        yield self._anchor(
            "after model, optimizer, and learning rate scheduler are built", built + 40_000
        )
        yield "> building train, validation, and test datasets ..."
        yield self._anchor("after dataloaders are built", attempt.training_at - 60_000)
        yield "done with setup ..."
        if attempt.index % 4 == 1:
            yield emit_crash.INVALID_UTF8
        yield "training ..."
        yield self._anchor("before the start of training step", attempt.training_at)

    def _training(self) -> Iterator[str]:
        pauses: dict[int, list[Pause]] = {}
        for pause in self.attempt.pauses:
            pauses.setdefault(pause.step, []).append(pause)
        for step in self.attempt.steps:
            yield self._step(step)
            for pause in pauses.get(step.number, ()):
                yield from self._save(pause) if pause.kind == "save" else self._evaluation(pause)
        yield from self._goodbye()

    def _step(self, step: Step) -> str:
        spec, rng = self.spec, self.rng
        took = (step.end - step.start) / 1000
        rate = ""
        if spec.teraflops:
            value = spec.teraflops * spec.step_s * 1000 / took
            rate = f" throughput per GPU (TFLOP/s/GPU): {value:.1f} |"
        loss = 1.62 + 7.5 * (1 + step.number / 40) ** -0.42 + rng.gauss(0, 0.002)
        norm = 0.21 + 2.0 / math.sqrt(step.number + 3) + abs(rng.gauss(0, 0.002))
        warm = min(1.0, step.number / 2000)
        return (
            f" [{self._stamp(step.end)}] iteration {step.number:8d}/{spec.target:8d} |"
            f" consumed samples: {step.number * spec.batch:12d} |"
            f" elapsed time per iteration (ms): {took:.1f} |{rate}"
            f" learning rate: {spec.learning_rate * warm:.6E} |"
            f" global batch size: {spec.batch:5d} |"
            f" lm loss: {round(loss, 3):.6E} | loss scale: 1.0 | grad norm: {norm:.3f} |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |"
        )

    def _save(self, save: Pause) -> Iterator[str]:
        spec = self.spec
        began = f"[{self._stamp(save.start)}] " if spec.micros else ""
        yield (
            f"{began}saving checkpoint at iteration {save.step:7d} to {spec.checkpoints} "
            "in torch_dist format"
        )
        if not save.done:
            return
        done = f"[{self._stamp(save.end)}] " if spec.micros else ""
        yield (
            f"  {done}successfully saved checkpoint from iteration {save.step:7d} "
            f"to {spec.checkpoints} [ t 1/{spec.tensor}, p 1/{spec.pipeline} ]"
        )
        took = (save.end - save.start) / 1000
        yield _TIMERS
        fastest = took - self.rng.uniform(1, 60)
        yield f"    {'save-checkpoint ':.<48}: ({fastest:.2f}, {took:.2f})"

    def _evaluation(self, pause: Pause) -> Iterator[str]:
        took = (pause.end - pause.start) / 1000
        yield f"Evaluating on {self.spec.batch * 32} samples"
        yield "Evaluating iter 32/32"
        yield _TIMERS
        yield f"    {'evaluate ':.<48}: ({took - 4.2:.2f}, {took:.2f})"
        loss = 1.64 + 7.5 * (1 + pause.step / 40) ** -0.42
        yield _BAR
        yield (
            f" validation loss at iteration {pause.step} | lm loss value: {loss:.6E} | "
            f"lm loss PPL: {math.exp(loss):.6E} | "
        )
        yield _BAR

    def _goodbye(self) -> Iterator[str]:
        attempt = self.attempt
        ending = attempt.ending
        assert ending is not None
        if ending.how == "target":
            yield self._anchor("after training is done", ending.fault_at)
        if ending.how != "exit":
            return
        if self.spec.micros:
            what = f"exiting program at iteration {attempt.steps[-1].number}"
        else:
            assert attempt.launched_at is not None
            minutes = (ending.fault_at - attempt.launched_at - 5 * SECOND) / MINUTE
            what = f"exiting program after {minutes} minutes"
        yield self._anchor(what, ending.fault_at)
