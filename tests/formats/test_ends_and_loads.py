"""Exit codes, error numbers and failed loads, in the forms in which they are printed."""

from __future__ import annotations

import pytest

from tests.formats.test_job_log_rules import only_event, read

HEAD = 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n'


@pytest.mark.parametrize(
    ("line", "kind", "code"),
    [
        ("srun: error: n3: task 3: Killed", "task_exit", "Killed"),
        ("srun: error: n3: tasks 0-7: Exited with exit code 137", "task_exit", "137"),
        (
            "srun: error: n3: task 3: Segmentation fault (core dumped)",
            "task_exit",
            "Segmentation fault",
        ),
        ("srun: error: n3: task 3: Out Of Memory", "task_exit", "Out Of Memory"),
        (
            (
                "/var/spool/slurmd/job7/slurm_script: line 12: 4121 Killed                  python "
                "train.py --steps 9"
            ),
            "task_exit",
            "Killed",
        ),
        (
            "run.sh: line 3:  4121 Aborted                 (core dumped) torchrun train.py",
            "task_exit",
            "Aborted",
        ),
        (
            (
                "E0501 10:00:00.411000 19 torch/distributed/elastic/multiprocessing/api.py:988] "
                "failed (exitcode: -9) local_rank: 4 (pid: 1952923) of binary: /usr/bin/python"
            ),
            "launcher_failure",
            "-9",
        ),
        (
            (
                "[2026-05-01 10:00:00,123] [ERROR] [launch.py:321:sigkill_handler] ['python'] "
                "exits with return code = -11"
            ),
            "launcher_failure",
            "-11",
        ),
    ],
)
def test_how_processes_end(line: str, kind: str, code: str) -> None:
    event = only_event(line + "\n")
    assert (event.kind.value, event.code) == (kind, code)


def test_the_table_of_the_launcher_names_the_signal() -> None:
    event = only_event(
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-05-19_20:53:39\n"
        "  host      : n1\n  rank      : 4 (local_rank: 4)\n"
        "  exitcode  : -6 (pid: 1952915)\n  error_file: <N/A>\n"
        "  traceback : Signal 6 (SIGABRT) received by PID 1952915\n"
    )
    assert (event.kind.value, event.code, event.rank) == ("launcher_failure", "-6", 4)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("OSError: [Errno 5] Input/output error: '/ckpt/a'", "Input/output error"),
        ("OSError: [Errno 28] No space left on device: '/ckpt/a'", "No space left on device"),
        ("OSError: [Errno 116] Stale file handle", "Stale file handle"),
        (
            "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/ckpt'",
            "Transport endpoint is not connected",
        ),
        (
            "ls: cannot access '/mnt/ckpt': Transport endpoint is not connected",
            "Transport endpoint is not connected",
        ),
        (
            (
                "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, "
                'kind: StorageFull, message: "No space left on device" })'
            ),
            "No space left on device",
        ),
        ("Error: Stale file handle (os error 116)", "Stale file handle"),
        (
            "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 6464 vs 6358",
            "write cut short",
        ),
        (
            (
                "RuntimeError: [enforce fail at inline_container.cc:424] . PytorchStreamWriter "
                "failed writing file data/7: file write failed"
            ),
            "write cut short",
        ),
    ],
)
def test_numbers_of_errors_of_storage(line: str, code: str) -> None:
    for text in (line, HEAD + line) if "Error: " in line else (line,):
        event = only_event(text + "\n")
        assert (event.kind.value, event.code) == ("storage_error", code)


@pytest.mark.parametrize(
    "line",
    [
        "OSError: [Errno 107] Transport endpoint is not connected",
        "job script: line 12: nothing Killed  here",
        "[Errno 288] x (os error 2)",
        "loss of the process Killed  by nobody",
    ],
)
def test_what_looks_like_it(line: str) -> None:
    assert read(line + "\n") == ([], [], [])


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/iter_0000500/x.pt'", 500),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'out/step-500/.metadata'", 500),
        (
            "FileNotFoundError: Checkpoint file not found: /ckpt/run/step=499-last.ckpt",
            500,
        ),
        ("ValueError: Can't find a valid checkpoint at out/checkpoint-500", None),
        ("ValueError: No valid checkpoint found in output directory (out)", None),
        ("_pickle.UnpicklingError: pickle data was truncated", None),
        ("_pickle.UnpicklingError: invalid load key, '\\x00'.", None),
        (
            (
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory"
            ),
            None,
        ),
        ("RuntimeError: PytorchStreamReader failed reading file data/3: file read failed", None),
        (
            (
                "safetensors_rust.SafetensorError: Error while deserializing header: "
                "MetadataIncompleteBuffer"
            ),
            None,
        ),
        ("RuntimeError: Error(s) in loading state_dict for GPTModel:", None),
        (
            (
                "ValueError: Size mismatch between saved torch.Size([8]) and current: "
                "torch.Size([4]) for layers.0.weight"
            ),
            None,
        ),
        ("RuntimeError: Missing key in checkpoint state_dict: optimizer.state.", None),
    ],
)
def test_what_cannot_be_loaded(line: str, step: int | None) -> None:
    event = only_event(f"{HEAD}{line}\n")
    assert (event.kind.value, event.step, event.line_no) == ("load_failed", step, 3)


@pytest.mark.parametrize(
    "line",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: 'tokenizer.json'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/part-500.bin'",
        "EOFError: Ran out of input",
    ],
)
def test_other_files_are_no_checkpoints(line: str) -> None:
    assert only_event(f"{HEAD}{line}\n").kind.value == "traceback"
