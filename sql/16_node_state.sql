-- table: node_state
-- grain: one stretch in which one node was not simply up
-- reads: raw_node, node_time, reason_rule
-- params:
-- column node: host name
-- column state: down, drain, fail, reboot, planned or unhealthy
-- column started_at: UTC us
-- column ended_at: UTC us, null where its end is not known
-- column reason: why, as recorded, '' when nothing was
-- column user_name: who set the state, '' when nothing tells
-- column is_planned: somebody had planned it, null when that cannot be told
-- column cause: cause that state and reason name, null when none
-- column source_id: file
-- column line_no: line
-- column text: the line
WITH dated AS (
    SELECT
        raw_node.node,
        raw_node.state,
        node_time.started_at,
        node_time.ended_at,
        coalesce(raw_node.reason, '') AS reason,
        raw_node.user AS user_name,
        raw_node.source_id,
        raw_node.line_no,
        raw_node.text
    FROM raw_node
    INNER JOIN node_time
        ON raw_node.source_id = node_time.source_id AND raw_node.line_no = node_time.line_no
    WHERE node_time.started_at IS NOT NULL
),

-- a line that tells only a beginning lasts until the node is said to be well
closed AS (
    SELECT
        * REPLACE (
            coalesce(
                ended_at,
                min(CASE WHEN state IN ('up', 'healthy') THEN started_at END) OVER (
                    PARTITION BY node
                    ORDER BY started_at, line_no
                    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
                )
            ) AS ended_at
        )
    FROM dated
),

-- of what several sources tell of one stretch, the one that knows a reason and an end is kept
distinct_stretch AS (
    SELECT *
    FROM closed
    WHERE state NOT IN ('up', 'healthy')
    QUALIFY
        row_number() OVER (
            PARTITION BY node, state, started_at // 60000000
            ORDER BY
                reason <> '' DESC,
                ended_at IS NOT NULL DESC,
                source_id ASC,
                line_no ASC
        ) = 1
)

SELECT
    distinct_stretch.node,
    distinct_stretch.state,
    distinct_stretch.started_at,
    distinct_stretch.ended_at,
    distinct_stretch.reason,
    distinct_stretch.user_name,
    reason_rule.is_planned,
    reason_rule.cause,
    distinct_stretch.source_id,
    distinct_stretch.line_no,
    distinct_stretch.text
FROM distinct_stretch
LEFT JOIN reason_rule
    ON
        regexp_matches(
            distinct_stretch.state || ': ' || distinct_stretch.reason, '(?i)' || reason_rule.pattern
        )
QUALIFY
    row_number() OVER (
        PARTITION BY
            distinct_stretch.node,
            distinct_stretch.state,
            distinct_stretch.started_at,
            distinct_stretch.source_id,
            distinct_stretch.line_no
        ORDER BY reason_rule.rank
    ) = 1
