-- table: reason_rule
-- grain: one rule that tells from a node's state and reason whether it was planned, and its cause
-- reads:
-- params:
-- column rank: the first rule that fits counts
-- column pattern: what the state and the reason hold, any case
-- column is_planned: somebody had planned it; null when that cannot be told
-- column cause: cause, null when it names none
-- column example: a state and reason that it is for
SELECT
    rank,
    pattern,
    is_planned,
    cause,
    example
FROM (
    VALUES
    -- a rule is read best as a row
    -- noqa: disable=LT02,LT05
    (10, '\bxid\b|\becc\b|\bgpus?\b|nvidia|cuda|nvlink|nvswitch|dbe\b|row.?remap|fallen off', FALSE, 'gpu', 'drain: GPU ECC errors, Xid 94'),
    (20, '\bdimm\b|memory error|\bmce\b|machine check|edac|low ?real ?memory', FALSE, 'host_memory', 'drain: DIMM A3 memory errors'),
    (30, 'infiniband|\bib\d*\b|\bhca\b|mlx|link (down|flap)|switch|nic\b|network|roce', FALSE, 'network', 'drain: IB link flapping on mlx5_3'),
    (40, 'nvme|disk|filesystem|file system|lustre|gpfs|\bnfs\b|mount|i/o error|smart', FALSE, 'storage', 'drain: /scratch mount missing'),
    (50, 'slow|straggl|thermal|throttl|power cap|degrad', FALSE, 'gpu', 'drain: slow node, thermal throttling'),
    (60, 'maint|upgrade|firmware update|planned|reserv|kernel update|patch|scheduled|repair window|move', TRUE, NULL, 'planned: scheduled maintenance'),
    (65, '^planned|^reboot', TRUE, NULL, 'reboot: reboot ASAP'),
    (70, 'not responding|unexpectedly rebooted|kill task failed|prolog|epilog|failed node|failure of|health ?check|unreachable|crash|panic|batch job complete failure|duplicate jobid', FALSE, 'node', 'down: Not responding'),
    (80, '^down|^fail', FALSE, 'node', 'down: '),
    (90, '^unhealthy', FALSE, 'node', 'unhealthy: ')
    -- noqa: enable=LT02,LT05
) AS rule (rank, pattern, is_planned, cause, example)  -- noqa: AL05
