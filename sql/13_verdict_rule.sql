-- table: verdict_rule
-- grain: one rule that says how an attempt ended; of those that hold the smallest rank counts
-- reads:
-- params:
-- column rank: place in the order of the rules: the stronger evidence first
-- column rule: its name
-- column kind: kind of interruption
-- column cause_from: whose word the cause is: rule, sign (the strongest line), hardware (a line of hardware) or drain (the reason of a node that was taken out)
-- column cause: the cause that it names, or where the other has no word
-- column sentence: what a reader is told
-- column example: an end that it is for
SELECT
    rank,
    rule,
    kind,
    cause_from,
    cause,
    sentence,
    example
FROM (
    VALUES
    -- a rule is read best as a row
    -- noqa: disable=LT02,LT05
    (10, 'overtaken', 'planned', 'rule', 'operator', 'another job took the run over while it was still going on',
        'job 2 goes on from step 900 while job 1 still logs steps'),
    (20, 'planned_work', 'planned', 'rule', 'operator', 'it ended for planned work, with no sign of a fault',
        'a node was drained for a firmware update'),
    (30, 'node_failed', 'failure', 'hardware', 'node', 'the scheduler ended it for a failed node',
        'state NODE_FAIL'),
    (40, 'drained', 'mitigation', 'drain', 'unknown', 'it was stopped to take out a node that was drained, with no fault',
        'cancelled by a person, n7 drained as slow, the next job is without n7'),
    (42, 'slowed', 'mitigation', 'rule', 'unknown', 'it was stopped while it ran slowly, and came back on other nodes',
        'steps 20% slower for an hour, cancelled, the next job has one node changed'),
    (50, 'boot_failed', 'failure', 'rule', 'node', 'the scheduler ended it because a node did not boot',
        'state BOOT_FAIL'),
    (52, 'out_of_memory', 'failure', 'rule', 'oom', 'the scheduler ended it for want of memory',
        'state OUT_OF_MEMORY'),
    (60, 'preempted', 'preemption', 'rule', 'preemption', 'the scheduler took the nodes for another job while it was making progress',
        'state PREEMPTED'),
    (65, 'signalled', 'preemption', 'rule', 'preemption', 'a signal announced that its nodes were to be taken, and nothing else says why it ended',
        'Received signal SIGTERM, then the log ends; no scheduler record'),
    (70, 'planned_exit', 'planned', 'rule', 'operator', 'the program says that it stops by plan',
        'exiting program at iteration 5000'),
    (80, 'hung', 'failure', 'sign', 'unknown', 'progress had stopped for longer than the hang threshold before it was ended',
        'no step for an hour where one takes 30 s, then the time limit'),
    (90, 'fault_line', 'failure', 'sign', 'unknown', 'a fault line follows the last step',
        'RuntimeError: CUDA error: uncorrectable ECC error encountered'),
    (100, 'time_limit', 'planned', 'rule', 'scheduler', 'the time limit ended it while it was making progress',
        'state TIMEOUT'),
    (110, 'watchdog', 'failure', 'sign', 'unknown', 'a watchdog ended it',
        'Watchdog caught collective operation timeout'),
    (120, 'stopped', 'planned', 'rule', 'operator', 'it was stopped while it was making progress, with no sign of a fault',
        'state CANCELLED by 1001'),
    (130, 'error', 'failure', 'sign', 'unknown', 'it ended with an error', 'state FAILED, exit code 1'),
    (140, 'went_on', 'planned', 'rule', 'operator', 'it ended without an error, and a later attempt went on from its last step',
        'COMPLETED 0:0 at step 500 of 9000, the next job loads step 500'),
    (150, 'taken_over', 'failure', 'sign', 'unknown', 'it ended, nothing says why, and a later attempt took over',
        'the log ends at step 547, the next job loads step 500'),
    (160, 'lost', 'unknown', 'sign', 'unknown', 'progress ended, nothing says how, and no later attempt is known',
        'the log ends at step 547 and nothing follows')
    -- noqa: enable=LT02,LT05
) AS told (rank, rule, kind, cause_from, cause, sentence, example)  -- noqa: AL05
