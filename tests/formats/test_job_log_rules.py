"""Job logs: every rule on its example, near misses, several lines that belong together."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_audit.ingest.base import ByteSource, ReadOptions
from ckpt_audit.ingest.formats import _job_log_layouts
from ckpt_audit.ingest.formats._job_log_reader import RULES
from ckpt_audit.ingest.formats._job_log_rules import Rule
from ckpt_audit.ingest.formats._job_log_steps import STEP_RULES, StepRule
from ckpt_audit.ingest.formats.job_log import JOB_LOG
from ckpt_audit.records import ClockKind, LogEvent, Rejected, StepBatch

REAL = Path(__file__).parents[3] / "shared" / "real"
STEP_FIELDS = (
    "line_no step target_step clock_us clock_kind resolution_us elapsed_us n_samples emitter"
).split()


def read(text: str | bytes) -> tuple[list[tuple[object, ...]], list[LogEvent], list[Rejected]]:
    """Steps (as tuples), events and rejected lines of a log, each in the order of lines."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    steps: list[tuple[object, ...]] = []
    events, rejected = [], []
    for item in JOB_LOG.read(ByteSource.from_bytes(data), ReadOptions()):
        if isinstance(item, StepBatch):
            steps += zip(*(getattr(item, name) for name in STEP_FIELDS), strict=True)
        elif isinstance(item, LogEvent):
            events.append(item)
        else:
            assert isinstance(item, Rejected)
            rejected.append(item)
    events.sort(key=lambda event: event.line_no)
    return sorted(steps, key=repr), events, rejected


def only_event(text: str) -> LogEvent:
    steps, events, rejected = read(text)
    assert (steps, rejected) == ([], [])
    assert len(events) == 1, events
    return events[0]


# these need a line beside them: see test_bars.py
ALONE = [rule for rule in RULES if rule.name != "hf_loss"]


@pytest.mark.parametrize("rule", ALONE, ids=lambda rule: rule.name)
def test_rule_reads_its_example(rule: Rule) -> None:
    assert any(literal in rule.example for literal in rule.literals)
    assert only_event(rule.example + "\n").kind is rule.kind


def test_names_of_rules_differ() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", STEP_RULES, ids=lambda rule: rule.emitter)
def test_step_rule_reads_its_example(rule: StepRule) -> None:
    steps, events, rejected = read(rule.example + "\n")
    assert [(step[1], step[-1]) for step in steps] == [
        (200 if rule.emitter == "megatron" else 12, rule.emitter)
    ]
    assert not events
    assert not rejected


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("quote", ['    print("{}")', "    raise Error('{}')", "# {}", "> `{}`"])
def test_a_quotation_is_no_event(rule: Rule, quote: str) -> None:
    if "'" in rule.example or '"' in rule.example:
        pytest.skip("quotes in quotes")
    assert read(quote.format(rule.example.strip()) + "\n")[1] == [] or rule.quotable


NEAR_MISSES = """\
  save ............................................ /ckpt/a
  load ............................................ /ckpt/a
  checkpoint_activations .......................... True
  exit_interval ................................... None
    print_rank_0('saving checkpoint at iteration {:7d} to {}'.format(iteration, args.save))
    print_rank_0('  successfully saved checkpoint at iteration {:7d} to {}'.format(
saving checkpoint at iteration None to /ckpt
time (ms) | load-checkpoint: 0.39
 > using checkpoint value 100 for warmup iterations
 > validated currently set args with arguments in the checkpoint ...
Loading distributed checkpoint with TensorStoreLoadShardedStrategy
setting training data start iteration to 5
{"type": "LOG", "datetime": "2026-05-01 10:00:00", "step": 5}
[Rank 3] (after 5 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0
iterations:  5 | samples per second: 3.1 | TFLOPs: 41 |
srun: Job step aborted: Waiting up to 62 seconds for job step to finish.
srun: got SIGCONT
srun: forcing job termination
srun: error: Timed out waiting for job step to complete
srun: launch/slurm: _step_signal: Terminating StepId=3.0
slurmstepd: error: couldn't chdir to `/home/x': No such file or directory: going to /tmp instead
gpu017:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[2] via P2P
gpu017:1:2 [0] init.cc:99 NCCL WARN MSCCL++: Cannot initialize, plugin is missing
NCCL version 2.26.2+cuda12.4
Submitted batch job 60012
+ sbatch --dependency=afterany:$SLURM_JOB_ID next.sh
+ echo 'CUDA error: out of memory'
[default0]:W0501 10:00:00.1 warnings: CUDA kernel errors might be asynchronously reported
WARNING:urllib3:Retrying (Retry(total=2)) after 'E('<x>: [Errno 5] Input/output error')': /api
[2026-05-01 10:00:00,000] [WARNING] [x.py:1:f] No space left on device for the cache, continuing
/opt/x.py:12: UserWarning: CUDA error: could not query the device
[2026-05-01 10:00:00,123] [INFO] [launch.py:314:sigkill_handler] Killing subprocess 4121
W0501 20:53:39.017000 1951066 torch/elastic/api.py:1014] Sending process 1 closing signal SIGTERM
  traceback : Signal 15 (SIGTERM) received by PID 1952915
ValueError: this is only a line of text that was logged
max_steps: 500 steps: 5 loss: none
step:5/100 train_loss:3.1 train_time:100ms
"""


def test_near_misses_are_nothing() -> None:
    assert read(NEAR_MISSES) == ([], [], [])


def test_step_forms() -> None:
    text = (
        " [2026-05-01 10:00:37] iteration        7/     500 | consumed samples:          56 | "
        "elapsed time per iteration (ms): 500.3 | grad norm: nan |\r\n"
        "[default7]: iteration    58311/  115311 | consumed samples:     88900288 | "
        "consumed tokens: 182067789824 | elapsed time per iteration (s): 104.89 | lr: 4.0E-05 |\n"
        " iteration      300/  320000 | elapsed time per iteration (ms) 951.25 | lr 8.7E-06 |\n"
        "\x1b[32m[rank3]:\x1b[0m [2026-05-01 10:00:38.25] iteration 8/ 500 | "
        "elapsed time per iteration (ms): 1.5e+3 |\n"
        "ERROR 2026-08-04T01:13:54.315534211Z [resource.labels.containerName: jax] [rank0]:  "
        "iteration 9/ 500 | elapsed time per iteration (ms): 12 |\n"
    )
    at = 1777629637 * 10**6
    assert read(text)[0] == [
        (1, 7, 500, at, "naive", 1_000_000, 500_300, 56, "megatron"),
        (2, 58311, 115311, None, "undated", 0, 104_890_000, 88900288, "megatron"),
        (3, 300, 320000, None, "undated", 0, 951_250, None, "megatron"),
        (4, 8, 500, at + 1_250_000, "naive", 1_000, 1_500_000, None, "megatron"),
        (5, 9, 500, 1785806034315534, "utc", 1, 12_000, None, "megatron"),
    ]


def test_joined_lines_give_each_event() -> None:
    line = " iteration {}/ 9 | elapsed time per iteration (ms): {}.0 | lm loss: 2.1 |"
    steps, events, _ = read(
        line.format(1, 5) + line.format(2, 6) + "  successfully saved checkpoint from iteration"
        "       2 to /ckpt/a [ t 1/1, p 1/1 ]\n"
        " iteration 3/ 9 | consumed samples: 7 |" + line.format(4, 8) + "\n"
        "50%|##  | 5/10 [00:10<00:10]\r60%|##  | 6/10 [00:10<00:10]" + line.format(5, 7) + "\n"
    )
    assert [(step[0], step[1], step[6]) for step in steps] == [
        (1, 1, 5000),
        (1, 2, 6000),
        (2, 4, 8000),
        (3, 5, 7000),
    ]
    assert [(event.line_no, event.kind.value, event.step) for event in events] == [
        (1, "save_done", 2)
    ]


def test_the_nearest_stamp_dates_an_event() -> None:
    event = only_event(
        "[2026-05-01 10:00:00,000] [INFO] [a.py:1:f] done[2026-05-01 10:00:05.250000] "
        "saving checkpoint at iteration 5 to /ckpt\n"
    )
    assert (event.clock_us, event.clock_kind) == (1777629605250000, ClockKind.NAIVE)


@pytest.mark.parametrize(
    "line",
    [
        "iteration  1x/ 500 | elapsed time per iteration (ms): abc | x",
        " iteration      5/ 500 | consumed samples: 8 | elapsed time per iteration (ms): 60",
        "steps: 5 loss: 2.1 iter time (s): 0.l2 samples/sec: 3.0",
        "[2026-05-01 10:00:00,123] [INFO] [a.py:1:f] [Rank 0] step=1O, skipped=0, lr=[0.1]",
    ],
)
def test_a_damaged_step_is_rejected(line: str) -> None:
    steps, events, rejected = read(f"x\n{line}\n")
    assert (steps, events) == ([], [])
    assert [item.line_no for item in rejected] == [2]


def test_reasons_of_slurm() -> None:
    text = ""
    for reason in (
        "",
        " DUE TO TIME LIMIT",
        " DUE TO PREEMPTION",
        " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS",
        " DUE TO JOB REQUEUE",
        " DUE TO TASK FAILURE",
        " DUE TO FAILED (non-zero exit code or other failure mode)",
        " DUE to SIGNAL Terminated",
    ):
        text += (
            "slurmstepd-n3: error: *** STEP 7_1.0 ON n3 CANCELLED AT 2026-05-01T10:00:00"
            f"{reason} ***\n"
        )
    text += "[2026-05-01T10:00:01.5] error: *** JOB 9+1 STEPD TERMINATED ON n4 AT "
    text += "2026-05-01T10:00:01 DUE TO JOB NOT ENDING WITH SIGNALS ***\n"
    events = read(text)[1]
    assert [event.code for event in events] == [
        "", "TIME LIMIT", "PREEMPTION", "NODE FAILURE", "JOB REQUEUE", "TASK FAILURE", "FAILED",
        "", "JOB NOT ENDING WITH SIGNALS",
    ]  # fmt: skip
    assert {(event.job_ref, event.node) for event in events} == {("7_1", "n3"), ("9+1", "n4")}


def test_the_last_exception_of_a_chain_counts() -> None:
    event = only_event(
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "a.py", line 1, in f\n'
        "some other rank says something\n"
        "[rank1]: KeyError: 'x'\n"
        "[rank1]: \n"
        "[rank1]: The above exception was the direct cause of the following exception:\n"
        "[rank1]: \n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "b.py", line 1, in g\n'
        "[rank1]: torch.distributed.Oops: gone\n"
    )
    assert (event.line_no, event.code, event.rank) == (10, "Oops", 1)
    assert event.text == "torch.distributed.Oops: gone"


def test_tracebacks_of_many_ranks_are_bounded() -> None:
    one = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n'
    assert len(read(one * 64)[1]) == 8
    assert len(read("".join(f"{one}using world size: 8\n" for _ in range(20)))[1]) == 40


def test_a_traceback_that_ends_nothing() -> None:
    assert read(
        "Exception ignored in: <function f at 0x7>\nTraceback (most recent call last):\n"
        '  File "a.py", line 1\nValueError: x\n'
    ) == ([], [], [])
    event = only_event('Traceback (most recent call last):\n  File "a.py", line 1\n')
    assert (event.line_no, event.code) == (1, None)


def test_only_the_root_cause_of_the_table_counts() -> None:
    row = (
        "[{0}]:\n  time      : 2026-05-19_20:53:39\n  host      : n{0}\n"
        "  rank      : {0} (local_rank: 0)\n  exitcode  : {1} (pid: 7) \n  error_file: <N/A>\n"
    )
    event = only_event(
        "Failures:\n"
        + row.format(1, -15)
        + "Root Cause (first observed failure):\n"
        + row.format(4, 2)
    )
    assert (event.kind.value, event.code, event.rank, event.node) == (
        "launcher_failure", "2", 4, "n4",
    )  # fmt: skip
    assert (event.clock_us, event.line_no) == (1779224019000000, 13)


def test_deepspeed_save_is_from_the_first_to_the_last_rank() -> None:
    line = "[2026-05-01 10:00:{:02d},000] [INFO] [e.py:1:f] [Torch] Checkpoint global_step5 is {}\n"
    text = line.format(0, "about to be saved!")
    text += "".join(line.format(second, "ready now!") for second in range(2, 10))
    events = read(text)[1]
    assert [(event.line_no, event.kind.value, event.step) for event in events] == [
        (1, "save_started", 5),
        (9, "save_done", 5),
    ]
    again = read(text + "x\n" * (20 << 10) + text)[1]
    assert [event.kind.value for event in again] == ["save_started", "save_done"] * 2


def test_invalid_bytes_and_long_lines() -> None:
    steps, _, _ = read(
        b"\xff\xfe fran\xe7ais iteration 5/ 9 | elapsed time per iteration (ms): 7.0 |\n"
        + b"y" * 3_000_000
        + b"\n iteration 6/ 9 | elapsed time per iteration (ms): 7.0 |\n"
    )
    assert [step[:2] for step in steps] == [(1, 5), (3, 6)]


@given(n_before=st.integers(0, 90_000), n_after=st.integers(0, 90_000))
@settings(deadline=None)
def test_an_event_anywhere_in_a_long_line_is_read_once(n_before: int, n_after: int) -> None:
    stamp = "[2026-05-01 10:00:00.123] "
    text = "{} saving checkpoint at iteration 5 to /ckpt {}\n"
    event = only_event(stamp + text.format("y " * n_before, "z " * n_after))
    assert (event.line_no, event.kind.value, event.step) == (1, "save_started", 5)
    assert event.clock_us == 1777629600123000


def test_what_the_pieces_of_a_long_line_say_is_one_fault_each() -> None:
    events = read("y" * 30_000 + "NCCL WARN " + "CUDA error: unspecified launch failure " * 3000)[1]
    assert [event.kind.value for event in events] == ["accelerator_error"]


MEGATRON = (
    " [2026-12-{day:02d} 10:{m:02d}:{s:02d}.{f:06d}] iteration {a:8d}/{b:8d} | consumed samples: "
    "{b:12d} | elapsed time per iteration (ms): {e} | x"
)
NUMBERS = st.integers(0, 10**9)
ELAPSED = st.decimals(0, 10**7, places=1).map(str) | st.sampled_from(["12", "0.1234567", "1e3"])


@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, ELAPSED), min_size=1, max_size=30),
    shape=st.sampled_from(
        [
            MEGATRON,
            "{a:3d}: iteration {a:8d}/ {b:7d} | elapsed time per iteration (s): {e} | x",
            "steps: {a} loss: 1.{b} iter time (s): {e} samples/sec: 1.0",
            "[2026-12-{day:02d} 10:{m:02d}:{s:02d},{f:03d}] [INFO] [Rank 0] step={a}, skipped=0",
        ]
    ),
)
@settings(deadline=None)
def test_columns_read_what_expressions_read(rows: list[tuple[int, int, str]], shape: str) -> None:
    text = "".join(
        shape.format(a=a, b=b, e=e, day=a % 33, m=b % 61, s=a % 60, f=b % 1000) + "\n"
        for a, b, e in rows
    )
    fast = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_job_log_layouts, "MAX_WIDTH", 0)
        assert read(text) == fast


@pytest.mark.parametrize(
    ("head", "least"),
    [
        ("> initializing torch distributed ...\n", 50),
        ("gpu1:1:2 [0] NCCL INFO Bootstrap : Using ib0\n", 50),
        ("srun: error: n1: task 0: Exited with exit code 1\n", 60),
        ("[NeMo I 2026-05-01 10:00:00 x:1] hello\nsrun: error: n1: task 0: Killed\n", 60),
        ("[NeMo I 2026-05-01 10:00:00 x:1] hello\nNCCL INFO x\n", 0),
        ("[rank0]:[titan] 2026-05-01 10:00:00,000 - root - INFO - step: 1 torch.distributed\n", 0),
        ("hello world\n", 0),
        ("# Notes\n```\n iteration 5/ 9 | elapsed time per iteration (ms): 7.0 |\n```\n", 0),
        ("[2026-05-01T10:00:00.123] sched: Allocate JobId=7 NodeList=n1\nsrun: x\n", 0),
        ("[Wed Jul 31 23:14:18 2024] NVRM: Xid (PCI:0000:9b:00): 119, pid=1\n", 0),
        ("", 0),
    ],
)
def test_sniff(head: str, least: int) -> None:
    confidence = JOB_LOG.sniff(head.encode(), "")
    assert confidence >= least
    assert least or not confidence


def real(name: str) -> bytes:
    path = REAL / name
    if not path.exists():
        pytest.skip("the real files are not here")
    return path.read_bytes()


# Counted by hand with grep.
COUNTS = {
    "megatron/bigscience_meg_gpt2_perf_n16-1999618.out": {
        "megatron": 4, "launch": 1, "anchor": 3, "training_start": 1, "load_none": 1,
        "job_cancelled": 2, "setting": 3, "preemption_signal": 1,
    },
    "megatron/bigscience_meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out": {
        "megatron": 6, "launch": 1, "anchor": 3, "training_start": 1, "load_none": 1,
        "job_cancelled": 2, "setting": 3, "preemption_signal": 1,
    },
    "gpt_neox/scaling-0.1_70M_512step_59807359.out": {
        "neox": 512, "deepspeed_pipe": 512, "deepspeed_rank": 512, "launch": 3, "anchor": 1,
        "save_started": 2, "save_done": 2, "evaluation": 6, "program_exit": 1, "setting": 2,
    },
    "gpt_neox/scaling-0.2_70M_5_59818958.out": {
        "launch": 3, "anchor": 1, "load_started": 1, "load_done": 2, "save_started": 1,
        "save_done": 1, "evaluation": 2, "program_exit": 1, "setting": 2,
    },
    "gpt_neox/llemma_debug_0_62691629.out": {
        "launch": 3, "anchor": 1, "load_started": 1, "load_done": 2, "evaluation": 1,
        "accelerator_oom": 1, "launcher_failure": 1, "setting": 2,
    },
    "deepspeed/dschat_actor_opt-1.3b_critic_opt-350m_globalBatchSize64.log": {
        "deepspeed_rank": 94, "program_exit": 1, "launch": 1,
    },
    "slurm_22.05_made_here/jobs/slurm-1.out": {
        "megatron": 471, "launch": 3, "training_start": 3, "load_none": 1, "save_started": 23,
        "save_done": 23, "save_timer": 23, "load_started": 2, "load_done": 2, "node_failure": 1,
        "job_cancelled": 4, "task_exit": 3, "training_done": 1,
    },
    "slurm_22.05_made_here/jobs/slurm-2.out": {
        "megatron": 45, "launch": 1, "training_start": 1, "load_none": 1, "save_started": 2,
        "save_done": 2, "save_timer": 2, "accelerator_error": 1, "task_exit": 1,
    },
    "torchtitan/run121_run.log": {"launcher_failure": 2, "traceback": 1},
    "torchtitan/run24_run.log": {"torchtitan": 2, "load_none": 1, "training_done": 1},
    "mllog/v5.0_dell_llama2_result_9.txt": {"job_cancelled": 1, "task_exit": 9},
    "slurm_stdout/v4.0_fujitsu_llama2_result_0.txt": {"task_exit": 1},
    "nemo/gpu-recipes_qwen2-5-32b-64gpu-sptrue-tp2-pp2-cp1-vp8-gbs512-mbs2.log": {
        "nemo_bar": 41, "nemo_dll": 20,
    },
    "hf_trainer/bigscience_hf_ds_gpt2_base_n4-1832555.out": {
        "anchor": 1, "launch": 4, "tqdm": 76, "setting": 2, "training_done": 1,
    },
    "slurm_22.05_made_here/slurmctld.log": {},
    "slurm_22.05_made_here/sacct_all_fields.txt": {},
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_real_files(name: str) -> None:
    steps, events, rejected = read(real(name))
    found = collections.Counter(str(step[-1]) for step in steps)
    found.update(event.kind.value for event in events)
    assert dict(found) == COUNTS[name]
    assert not rejected


def test_real_root_cause() -> None:
    _, events, _ = read(real("torchtitan/run121_run.log"))
    table = [event for event in events if event.kind.value == "launcher_failure"][-1]
    assert (table.code, table.rank, table.node) == ("2", 4, "devgpu020.snb3.facebook.com")


def test_real_save_is_durable_when_the_last_rank_says_so() -> None:
    _, events, _ = read(real("gpt_neox/scaling-0.1_70M_512step_59807359.out"))
    saves = [event for event in events if event.kind.value.startswith("save")]
    assert [(event.line_no, event.step) for event in saves] == [
        (706, 1), (759, 1), (4863, 512), (4916, 512),
    ]  # fmt: skip
