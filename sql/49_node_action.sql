-- table: node_action
-- grain: one attempt that did steps, and what was done to its nodes around its end
-- reads: stop, attempt, node_state, step
-- params:
-- column run: run
-- column attempt: attempt
-- column is_swapped: a node was taken out before or at its end, not by plan, and the next attempt is without it
-- column drain_cause: cause that the reason for it names, null when none
-- column drain_source_id: file of the line that tells
-- column drain_line: that line
-- column is_slowed: it was slow for at least a twentieth of its last two hours, and came back on other nodes
-- column is_serviced: nodes were taken for planned work while it ended
WITH stopped AS (
    SELECT
        stop.run,
        stop.attempt,
        stop.last_step_at,
        stop.stop_at,
        stop.next_nodes,
        attempt.nodes
    FROM stop
    INNER JOIN attempt ON stop.run = attempt.run AND stop.attempt = attempt.attempt
),

swapped AS (
    SELECT
        stopped.run,
        stopped.attempt,
        arg_min(node_state.cause, (node_state.cause IS NULL, node_state.started_at)) AS drain_cause,
        arg_min(node_state.source_id, (node_state.cause IS NULL, node_state.started_at))
            AS drain_source_id,
        arg_min(node_state.line_no, (node_state.cause IS NULL, node_state.started_at))
            AS drain_line
    FROM stopped
    INNER JOIN node_state
        ON
            list_contains(stopped.nodes, node_state.node)
            AND NOT list_contains(stopped.next_nodes, node_state.node)
    WHERE
        node_state.state IN ('drain', 'unhealthy')
        AND coalesce(NOT node_state.is_planned, TRUE)
        AND node_state.started_at
        BETWEEN stopped.last_step_at - 86400000000 AND stopped.stop_at + 600000000
    GROUP BY stopped.run, stopped.attempt
),

slowed AS (
    SELECT
        stopped.run,
        stopped.attempt
    FROM stopped
    INNER JOIN step ON stopped.run = step.run AND stopped.attempt = step.attempt
    WHERE
        step.ended_at > stopped.last_step_at - 7200000000
        AND NOT list_has_all(stopped.next_nodes, stopped.nodes)
    GROUP BY stopped.run, stopped.attempt
    HAVING
        sum(step.degraded_us) > 0
        AND sum(step.degraded_us) * 20 >= sum(step.degraded_us + step.work_us)
),

serviced AS (
    SELECT DISTINCT
        stopped.run,
        stopped.attempt
    FROM stopped
    INNER JOIN node_state ON list_contains(stopped.nodes, node_state.node)
    WHERE
        node_state.is_planned
        AND node_state.started_at BETWEEN stopped.last_step_at - 86400000000
        AND stopped.stop_at + 600000000
        AND coalesce(node_state.ended_at > stopped.last_step_at, TRUE)
)

SELECT
    stopped.run,
    stopped.attempt,
    swapped.attempt IS NOT NULL AS is_swapped,
    swapped.drain_cause,
    swapped.drain_source_id,
    swapped.drain_line,
    slowed.attempt IS NOT NULL AS is_slowed,
    serviced.attempt IS NOT NULL AS is_serviced
FROM stopped
LEFT JOIN swapped ON stopped.run = swapped.run AND stopped.attempt = swapped.attempt
LEFT JOIN slowed ON stopped.run = slowed.run AND stopped.attempt = slowed.attempt
LEFT JOIN serviced ON stopped.run = serviced.run AND stopped.attempt = serviced.attempt
