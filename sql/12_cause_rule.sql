-- table: cause_rule
-- grain: one rule that turns a kind of line into a cause; the most special rule reads a line, the lowest rank of all lines wins
-- reads:
-- params:
-- column rank: strength, the smallest wins; a first cause stands before its followers
-- column kind: kind of event line
-- column code_pattern: pattern that the whole code must match, null for any
-- column text_pattern: pattern to be found in the line, null for any
-- column cause: cause
-- column is_sign: the line is a sign of the fault itself, not of someone acting on it
-- column is_hardware: it may date from the host's kernel log
-- column example: a line that it is for
SELECT
    rank,
    kind,
    code_pattern,
    text_pattern,
    cause,
    is_sign,
    is_hardware,
    example
FROM (
    VALUES
    -- a rule is read best as a row
    -- noqa: disable=LT02,LT05
    (10, 'xid', '(48|62|63|64|74|79|92|94|95|109|110|119|120|121|136|140|143|149|154)', NULL, 'gpu', TRUE, TRUE,
        'NVRM: Xid (PCI:0000:38:00): 79, GPU has fallen off the bus.'),
    (78, 'xid', '154', 'changed from .* to 0x0 \(None\)', 'unknown', FALSE, FALSE,
        'NVRM: Xid (PCI:0000:38:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)'),
    (11, 'sxid', NULL, NULL, 'gpu', TRUE, TRUE,
        'nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up'),
    (12, 'link_down', NULL, NULL, 'network', TRUE, TRUE, 'mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link DOWN'),
    (14, 'out_of_memory', NULL, NULL, 'oom', TRUE, TRUE,
        'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0'),
    (13, 'host_memory_error', NULL, NULL, 'host_memory', TRUE, TRUE,
        'EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0'),
    (15, 'task_exit', 'Out Of Memory', NULL, 'oom', TRUE, FALSE,
        'srun: error: n3: task 3: Out Of Memory'),
    (16, 'storage_error', NULL, NULL, 'storage', TRUE, TRUE, 'OSError: [Errno 28] No space left on device'),
    (17, 'kernel_fault', NULL, NULL, 'node', TRUE, TRUE,
        'watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [python:7]'),
    (59, 'kernel_fault', 'hung task', NULL, 'unknown', TRUE, TRUE,
        'INFO: task python:7 blocked for more than 120 seconds.'),
    (18, 'tracker_invalid', NULL, NULL, 'checkpoint_pointer', TRUE, FALSE,
        'ERROR: Invalid metadata file latest_checkpointed_iteration.txt'),
    (19, 'load_failed', NULL, NULL, 'checkpoint_pointer', TRUE, FALSE,
        'RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory'),
    (20, 'node_failure', NULL, NULL, 'node', TRUE, FALSE, 'srun: error: Node failure on gpu033'),
    (22, 'job_cancelled', 'NODE FAILURE', NULL, 'node', TRUE, FALSE,
        'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-05-01T00:00:00 DUE TO NODE FAILURE ***'),
    (24, 'accelerator_error', NULL, NULL, 'gpu', TRUE, FALSE,
        'RuntimeError: CUDA error: uncorrectable ECC error encountered'),
    (54, 'accelerator_error', NULL, '(?i)illegal memory access|device-side assert|misaligned address|illegal instruction|invalid (argument|configuration|device function)', 'software', TRUE, FALSE,
        'torch.AcceleratorError: CUDA error: an illegal memory access was encountered'),
    (26, 'accelerator_oom', NULL, NULL, 'oom', TRUE, FALSE, 'torch.OutOfMemoryError: CUDA out of memory.'),
    (28, 'traceback', 'DataLoader.*', NULL, 'data', TRUE, FALSE,
        'RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.'),
    (40, 'network_error', NULL, NULL, 'network', TRUE, FALSE,
        'NCCL WARN NET/IB : Got completion from peer with error 12'),
    (50, 'traceback', NULL, NULL, 'software', TRUE, FALSE, 'ValueError: loss is not finite'),
    (55, 'xid', NULL, NULL, 'software', TRUE, TRUE,
        'NVRM: Xid (PCI:0000:38:00): 31, MMU Fault'),
    (57, 'xid', NULL, '(?i)(caused by|due to) (a )?previous (xid|error)', 'unknown', TRUE, TRUE,
        'NVRM: Xid (PCI:0000:38:00): 45, pid=7, name=python, Ch 00000010, caused by previous Xid 79'),
    (58, 'traceback', NULL, '(?i)nccl|watchdog|distbackenderror|rendezvous|tcpstore|timed? ?out', 'unknown', FALSE, FALSE,
        'torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.'),
    (75, 'traceback', 'ChildFailedError|SignalException|KeyboardInterrupt|SystemExit', NULL, 'unknown', FALSE, FALSE,
        'torch.distributed.elastic.multiprocessing.errors.ChildFailedError:'),
    (60, 'watchdog', NULL, NULL, 'unknown', FALSE, FALSE,
        'Watchdog caught collective operation timeout: WorkNCCL(...) ran for 600012 milliseconds'),
    (65, 'launcher_failure', '-11|139', NULL, 'software', TRUE, FALSE,
        'failed (exitcode: -11) local_rank: 3 (pid: 7) of binary: python'),
    (66, 'task_exit', 'Segmentation fault|139', NULL, 'software', TRUE, FALSE,
        'srun: error: n3: task 3: Segmentation fault (core dumped)'),
    (70, 'launcher_failure', NULL, NULL, 'unknown', FALSE, FALSE,
        'failed (exitcode: 1) local_rank: 3 (pid: 7) of binary: python'),
    (72, 'launcher_failure', '-15|143', NULL, 'unknown', FALSE, FALSE,
        'failed (exitcode: -15) local_rank: 3 (pid: 7) of binary: python'),
    (80, 'task_exit', NULL, NULL, 'unknown', FALSE, FALSE, 'srun: error: n3: task 0: Exited with exit code 1')
    -- noqa: enable=LT02,LT05
) AS rule (rank, kind, code_pattern, text_pattern, cause, is_sign, is_hardware, example)  -- noqa: AL05
