-- table: checkpoint
-- grain: one save of one step by one attempt
-- reads: attempt, event, save, run_root, folder_checkpoint, step_gap, baseline
-- params: verified_rank
-- column run: run
-- column attempt: attempt
-- column ordinal: counts the saves of the run in time and line order, from 1
-- column step: step whose state is saved
-- column source_id: file of the line where it begins, or where its folder was found
-- column line_no: line where the save begins (or ends, when only that was printed)
-- column done_source_id: file of the line that says that it is complete
-- column done_line: line that says that it is complete
-- column path: folder
-- column tier: remote or local
-- column is_async: training went on while it was written
-- column captured_at: UTC us, the state is that of this moment
-- column blocking_done_at: UTC us, training went on
-- column committed_at: UTC us, durable as the framework or its files say
-- column state: started, blocking_done, committed, verified, torn, invalid or deleted
-- column grade: best kind of evidence that it can be loaded: marker, shards or loaded; null when something speaks against it
-- column marker_at: UTC us, since when its marker was there
-- column shards_at: UTC us, since when all its shards were there
-- column loaded_at: UTC us, when a later attempt had loaded it
-- column verified_at: UTC us, since when it was known to be good
-- column invalid_at: UTC us, since when something speaks against it, null when nothing does
-- column deleted_at: UTC us, when it was removed, at the latest; null when it was not
-- column is_good: verified, and nothing ever spoke against it
-- column is_final: no step of the attempt follows
-- column next_step_line: line of the step line after the save
-- column gap_cost_us: cost from the gap between the steps around it
-- column timer_us: the framework's own timer
-- column stated_us: end less begin, where both are stamped, or as the program says
-- column block_us: pause of the training
-- column commit_us: from begin to durable
-- column drain_us: slow excess of the steps during an asynchronous save
-- column n_drain_steps: steps during it
-- column cost_us: exposed cost that is used, without an outage inside the save
-- column outage_us: what a save took beyond five times the median and ten minutes
-- column cost_origin: gap, timer, stated, drain or null
-- column error_us: how far gap_cost_us may be off
-- column bad_files: files of it that are missing, empty, short or temporary
-- column why: why it is not good, in words
-- column why_source_id: file that says so
-- column why_line: its line
WITH followed AS (
    SELECT
        save.run,
        save.attempt,
        save.seq,
        step_gap.line_no AS next_step_line,
        step_gap.gap_us,
        step_gap.n_steps,
        step_gap.n_saves,
        step_gap.n_evaluations,
        step_gap.near_us,
        step_gap.resolution_us
    FROM save
    ASOF INNER JOIN step_gap
        ON
            save.run = step_gap.run
            AND save.attempt = step_gap.attempt
            AND save.position < step_gap.line_no
    WHERE NOT step_gap.is_first
),

captured AS (
    SELECT
        save.run,
        save.attempt,
        save.seq,
        -- between two lines of a log that prints every k-th step: as many steps later
        step_gap.ended_at
        + greatest(0, save.step - step_gap.step)
        * coalesce(step_gap.near_us, step_gap.elapsed_us, 0)
            AS step_at
    FROM save
    ASOF INNER JOIN step_gap
        ON
            save.run = step_gap.run
            AND save.attempt = step_gap.attempt
            AND save.position >= step_gap.line_no
),

-- an asynchronous save slows the steps until it is durable; the pause lies in the first of them
drain AS (
    SELECT
        save.run,
        save.attempt,
        save.seq,
        sum(step_gap.gap_us - step_gap.n_steps * coalesce(step_gap.near_us, baseline.step_us))
        ::BIGINT AS excess_us,
        sum(step_gap.n_steps)::BIGINT AS n_steps,
        bool_or(coalesce(step_gap.near_us, baseline.step_us) IS NULL) AS is_blind
    FROM save
    INNER JOIN step_gap
        ON
            save.run = step_gap.run
            AND save.attempt = step_gap.attempt
            AND save.seq = step_gap.draining_seq
    LEFT JOIN baseline
        ON
            step_gap.run = baseline.run
            AND (step_gap.epoch IS NOT DISTINCT FROM baseline.epoch)
    WHERE save.is_async AND NOT step_gap.is_first
    GROUP BY save.run, save.attempt, save.seq
),

measured AS (
    SELECT
        save.*,
        followed.next_step_line,
        captured.step_at,
        CASE
            WHEN followed.n_saves = 1 AND followed.n_evaluations = 0
                THEN
                    greatest(
                        0,
                        followed.gap_us
                        - followed.n_steps * coalesce(followed.near_us, baseline.step_us)
                    )
        END AS gap_cost_us,
        followed.resolution_us + coalesce(baseline.spread_us, 0) AS error_us,
        CASE
            WHEN save.begun_strength = 'stated' AND save.done_strength = 'stated'
                THEN save.done_at - save.begun_at
            ELSE save.stated_us
        END AS span_us,
        CASE
            WHEN drain.n_steps IS NOT NULL AND NOT drain.is_blind
                THEN greatest(0, drain.excess_us)
        END AS drained_us,
        drain.n_steps AS n_drain_steps,
        attempt.is_alloc_open
        AND attempt.attempt = max(attempt.attempt) OVER (PARTITION BY save.run) AS is_alive
    FROM save
    INNER JOIN attempt ON save.run = attempt.run AND save.attempt = attempt.attempt
    LEFT JOIN followed
        ON
            save.run = followed.run
            AND save.attempt = followed.attempt
            AND save.seq = followed.seq
    LEFT JOIN captured
        ON
            save.run = captured.run
            AND save.attempt = captured.attempt
            AND save.seq = captured.seq
    LEFT JOIN drain
        ON save.run = drain.run AND save.attempt = drain.attempt AND save.seq = drain.seq
    LEFT JOIN baseline
        ON
            save.run = baseline.run
            AND (save.epoch IS NOT DISTINCT FROM baseline.epoch)
),

-- timers that tell much less or more than the steps around the saves do are not believed
trusted AS (
    SELECT
        *,
        coalesce(10 * error_us <= gap_cost_us, FALSE) AS is_resolved,
        coalesce(
            quantile_disc(abs(gap_cost_us - coalesce(timer_us, span_us)), 0.5) FILTER (
                WHERE NOT is_async AND 10 * error_us <= gap_cost_us
            ) OVER (PARTITION BY run)
            > quantile_disc(gap_cost_us, 0.5) FILTER (
                WHERE NOT is_async AND 10 * error_us <= gap_cost_us
            ) OVER (PARTITION BY run) // 5,
            FALSE
        ) AS has_wrong_timers
    FROM measured
),

priced AS (
    SELECT
        *,
        CASE
            WHEN is_async
                THEN
                    coalesce(
                        CASE WHEN begun_strength = 'stated' THEN staged_at - begun_at END,
                        gap_cost_us
                    )
            ELSE coalesce(span_us, timer_us, gap_cost_us)
        END AS block_us,
        CASE
            WHEN is_async THEN coalesce(drained_us, gap_cost_us)
            WHEN
                gap_cost_us IS NOT NULL
                AND (is_resolved OR coalesce(timer_us, span_us) IS NULL)
                THEN gap_cost_us
            WHEN has_wrong_timers THEN NULL
            ELSE coalesce(timer_us, span_us)
        END AS cost_us,
        CASE
            WHEN is_async AND drained_us IS NOT NULL THEN 'drain'
            WHEN is_async AND gap_cost_us IS NOT NULL THEN 'gap'
            WHEN is_async THEN NULL
            WHEN
                gap_cost_us IS NOT NULL
                AND (is_resolved OR coalesce(timer_us, span_us) IS NULL)
                THEN 'gap'
            WHEN has_wrong_timers THEN NULL
            WHEN timer_us IS NOT NULL THEN 'timer'
            WHEN span_us IS NOT NULL THEN 'stated'
        END AS cost_origin,
        coalesce(
            CASE WHEN begun_strength = 'stated' THEN begun_at END,
            step_at,
            begun_at,
            done_at - coalesce(timer_us, span_us, 0)
        ) AS captured_at
    FROM trusted
),

-- a later attempt that came up from this very step proves the save, whatever was printed
proved AS (
    SELECT
        priced.run,
        priced.attempt,
        priced.seq,
        min(
            coalesce(
                attempt.restored_at, attempt.restored_low, attempt.first_at, attempt.alloc_start_at
            )
        ) AS loaded_at
    FROM priced
    INNER JOIN attempt
        ON
            priced.run = attempt.run
            AND priced.attempt < attempt.attempt
            AND priced.step = attempt.loaded_step
    WHERE attempt.n_step_lines > 0
    GROUP BY priced.run, priced.attempt, priced.seq
),

-- of several saves of one step only the newest can be the one that was loaded
dated AS (
    SELECT
        priced.*,
        CASE
            WHEN
                row_number() OVER (
                    PARTITION BY priced.run, priced.step, proved.loaded_at
                    ORDER BY
                        priced.attempt DESC, priced.done_line IS NOT NULL DESC, priced.seq DESC
                ) = 1
                THEN proved.loaded_at
        END AS loaded_at,
        -- a line without a stamp may be dated before the step whose state it tells of
        CASE
            WHEN priced.done_line IS NOT NULL
                THEN greatest(
                    priced.captured_at,
                    coalesce(
                        CASE
                            WHEN priced.done_strength = 'stated' OR priced.is_async
                                THEN priced.done_at
                        END,
                        priced.captured_at + priced.cost_us,
                        priced.done_at
                    )
                )
        END AS durable_at
    FROM priced
    LEFT JOIN proved
        ON
            priced.run = proved.run
            AND priced.attempt = proved.attempt
            AND priced.seq = proved.seq
),

-- what the folders tell of a step of the run: each look counts, the last one in full
look AS (
    SELECT
        run_root.run,
        folder_checkpoint.*
    FROM folder_checkpoint
    INNER JOIN run_root ON folder_checkpoint.root = run_root.root
    WHERE folder_checkpoint.step IS NOT NULL
),

seen AS (
    SELECT
        run,
        step,
        min(coalesce(written_at, observed_at)) FILTER (WHERE grade = 'marker') AS folder_marker_at,
        min(coalesce(written_at, observed_at)) FILTER (WHERE grade = 'shards') AS folder_shards_at,
        max(missing_at) AS missing_at,
        arg_max(written_at, coalesce(observed_at, 0)) AS written_at,
        arg_max(observed_at, coalesce(observed_at, 0)) AS observed_at,
        arg_max(is_negative, coalesce(observed_at, 0)) AS is_negative,
        arg_max(grade, coalesce(observed_at, 0)) AS grade,
        arg_max(why, coalesce(observed_at, 0)) AS folder_why,
        arg_max(bad_files, coalesce(observed_at, 0)) AS bad_files,
        arg_max(path, coalesce(observed_at, 0)) AS folder_path,
        arg_max(source_id, coalesce(observed_at, 0)) AS folder_source_id,
        arg_max(line_no, coalesce(observed_at, 0)) AS folder_line
    FROM look
    GROUP BY run, step
),

-- saves that no log tells of, by the attempt that had done the step when the files were written
unlogged AS (
    SELECT
        seen.run,
        seen.step,
        arg_max(step_gap.attempt, step_gap.ended_at) AS attempt,
        arg_max(step_gap.epoch, step_gap.ended_at) AS epoch,
        arg_max(step_gap.ended_at, step_gap.ended_at) AS step_at,
        arg_max(step_gap.line_no, step_gap.ended_at) AS step_line
    FROM seen
    INNER JOIN step_gap ON seen.run = step_gap.run AND seen.step = step_gap.step
    WHERE
        step_gap.ended_at <= coalesce(seen.written_at, seen.observed_at)
        AND (seen.run, seen.step) NOT IN (SELECT (dated.run, dated.step) FROM dated)
    GROUP BY seen.run, seen.step
),

every_save AS (
    SELECT
        run,
        attempt,
        epoch,
        seq,
        position,
        step,
        source_id,
        line_no,
        path,
        is_async,
        begun_at,
        done_source_id,
        done_line,
        failed_line,
        failed_source_id,
        is_local,
        uploaded_at,
        next_step_line,
        gap_cost_us,
        error_us,
        timer_us,
        span_us,
        has_wrong_timers,
        block_us,
        drained_us,
        n_drain_steps,
        cost_us,
        cost_origin,
        captured_at,
        durable_at,
        loaded_at,
        is_alive
    FROM dated
    UNION ALL BY NAME
    SELECT
        unlogged.run,
        unlogged.attempt,
        unlogged.epoch,
        0 AS seq,
        unlogged.step_line AS position,
        unlogged.step,
        seen.folder_source_id AS source_id,
        seen.folder_line AS line_no,
        seen.folder_path AS path,
        FALSE AS is_async,
        CASE WHEN seen.grade IS NOT NULL THEN seen.folder_source_id END AS done_source_id,
        CASE WHEN seen.grade IS NOT NULL THEN seen.folder_line END AS done_line,
        FALSE AS is_local,
        (
            SELECT min(step_gap.line_no)
            FROM step_gap
            WHERE
                step_gap.run = unlogged.run
                AND step_gap.attempt = unlogged.attempt
                AND step_gap.line_no > unlogged.step_line
        ) AS next_step_line,
        unlogged.step_at AS captured_at,
        FALSE AS is_alive
    FROM unlogged
    INNER JOIN seen ON unlogged.run = seen.run AND unlogged.step = seen.step
),

removed AS (
    SELECT
        run,
        step,
        min(logged_at) AS deleted_at,
        arg_min(source_id, logged_at) AS source_id,
        arg_min(line_no, logged_at) AS line_no
    FROM event
    WHERE kind = 'save_deleted' AND step IS NOT NULL
    GROUP BY run, step
),

refused AS (
    SELECT
        run,
        step,
        min(logged_at) AS refused_at,
        arg_min(source_id, logged_at) AS source_id,
        arg_min(line_no, logged_at) AS line_no
    FROM event
    WHERE kind = 'load_failed' AND step IS NOT NULL
    GROUP BY run, step
),

-- a folder holds one save of a step: the last that had begun when its files were written or seen
latest AS (
    SELECT
        every_save.*,
        row_number() OVER (
            PARTITION BY every_save.run, every_save.step
            ORDER BY
                coalesce(
                    every_save.captured_at <= coalesce(seen.written_at, seen.observed_at), FALSE
                ) DESC,
                every_save.captured_at DESC NULLS LAST,
                every_save.attempt DESC,
                every_save.seq DESC
        ) = 1 AS is_latest
    FROM every_save
    LEFT JOIN seen ON every_save.run = seen.run AND every_save.step = seen.step
),

joined AS (
    SELECT
        every_save.* EXCLUDE (loaded_at, is_latest),
        every_save.loaded_at,
        seen.folder_why,
        seen.folder_source_id,
        seen.folder_line,
        seen.folder_marker_at,
        seen.folder_shards_at,
        coalesce(seen.bad_files, []) AS bad_files,
        CASE
            -- bad since they were written; without that, known from when somebody looked
            WHEN every_save.loaded_at IS NULL AND seen.is_negative
                THEN greatest(
                    coalesce(seen.written_at, seen.observed_at), coalesce(every_save.captured_at, 0)
                )
        END AS folder_invalid_at,
        refused.refused_at,
        refused.source_id AS refused_source_id,
        refused.line_no AS refused_line,
        removed.deleted_at AS removed_at,
        removed.source_id AS removed_source_id,
        removed.line_no AS removed_line,
        seen.missing_at
    FROM latest AS every_save
    LEFT JOIN seen
        ON every_save.run = seen.run AND every_save.step = seen.step AND every_save.is_latest
    LEFT JOIN removed
        ON
            every_save.run = removed.run
            AND every_save.step = removed.step
            AND every_save.captured_at <= removed.deleted_at
    LEFT JOIN refused
        ON
            every_save.run = refused.run
            AND every_save.step = refused.step
            AND every_save.captured_at <= refused.refused_at
            AND every_save.loaded_at IS NULL
),

-- the lowest grade of evidence that counts is the site's to set
graded AS (
    SELECT
        *,
        CASE
            WHEN done_line IS NOT NULL
                THEN coalesce(durable_at, folder_marker_at, loaded_at)
            ELSE folder_marker_at
        END AS marker_at,
        folder_shards_at AS shards_at,
        CASE
            WHEN failed_line IS NOT NULL THEN coalesce(begun_at, captured_at)
            WHEN folder_invalid_at IS NULL THEN refused_at
            WHEN refused_at IS NULL THEN folder_invalid_at
            ELSE least(folder_invalid_at, refused_at)
        END AS invalid_at,
        CASE
            WHEN missing_at IS NULL THEN removed_at
            WHEN removed_at IS NULL THEN missing_at
            ELSE least(removed_at, missing_at)
        END AS deleted_at,
        done_line IS NOT NULL OR loaded_at IS NOT NULL OR folder_marker_at IS NOT NULL
        OR folder_shards_at IS NOT NULL AS is_complete,
        greatest(
            5
            * quantile_disc(cost_us, 0.5) FILTER (WHERE done_line IS NOT NULL)
                OVER (PARTITION BY run),
            600000000
        ) AS limit_us
    FROM joined
),

settled AS (
    SELECT
        *,
        CASE
            WHEN loaded_at IS NOT NULL THEN 'loaded'
            WHEN shards_at IS NOT NULL THEN 'shards'
            WHEN marker_at IS NOT NULL OR done_line IS NOT NULL THEN 'marker'
        END AS grade,
        -- the first evidence of a grade that counts
        (
            SELECT min(proof.since_at)
            FROM (
                VALUES (1, marker_at), (2, shards_at), (4, loaded_at)
            ) AS proof (rank, since_at)
            WHERE proof.rank >= $verified_rank::BIGINT
        ) AS verified_at,
        coalesce(
            loaded_at IS NOT NULL
            OR ($verified_rank::BIGINT <= 2 AND shards_at IS NOT NULL)
            OR ($verified_rank::BIGINT <= 1 AND (done_line IS NOT NULL OR marker_at IS NOT NULL)),
            FALSE
        ) AS is_verified
    FROM graded
),

-- a pause far beyond the other saves: the timer, where it is believed, tells how much the save was
bounded AS (
    SELECT
        *,
        CASE
            WHEN cost_us > limit_us AND NOT is_async AND NOT has_wrong_timers
                THEN least(limit_us, coalesce(timer_us, span_us))
            ELSE limit_us
        END AS most_us
    FROM settled
)

SELECT
    run,
    attempt,
    row_number() OVER (PARTITION BY run ORDER BY attempt, position, seq, step) AS ordinal,
    step,
    source_id,
    line_no,
    done_source_id,
    done_line,
    path,
    CASE WHEN is_local AND uploaded_at IS NULL THEN 'local' ELSE 'remote' END AS tier,
    is_async,
    captured_at,
    CASE WHEN is_async THEN captured_at + block_us ELSE durable_at END AS blocking_done_at,
    coalesce(durable_at, marker_at, shards_at) AS committed_at,
    CASE
        WHEN invalid_at IS NOT NULL AND is_complete THEN 'invalid'
        WHEN invalid_at IS NOT NULL THEN 'torn'
        WHEN deleted_at IS NOT NULL AND is_complete THEN 'deleted'
        WHEN is_verified THEN 'verified'
        WHEN is_complete THEN 'committed'
        WHEN is_alive AND next_step_line IS NULL THEN 'started'
        -- training went on, but nothing says that the state is durable
        WHEN NOT is_async AND next_step_line IS NOT NULL THEN 'blocking_done'
        WHEN is_async AND is_alive THEN 'blocking_done'
        ELSE 'torn'
    END AS state,
    -- what speaks against it overrides any grade
    CASE WHEN invalid_at IS NULL THEN grade END AS grade,
    marker_at,
    shards_at,
    loaded_at,
    verified_at,
    invalid_at,
    deleted_at,
    is_verified AND invalid_at IS NULL AS is_good,
    next_step_line IS NULL AS is_final,
    next_step_line,
    gap_cost_us,
    timer_us,
    span_us AS stated_us,
    block_us,
    CASE WHEN done_line IS NOT NULL THEN durable_at - coalesce(begun_at, captured_at) END
        AS commit_us,
    CASE WHEN is_async THEN drained_us - coalesce(block_us, 0) END AS drain_us,
    n_drain_steps,
    CASE WHEN is_complete AND cost_us IS NOT NULL THEN least(cost_us, most_us) END AS cost_us,
    CASE WHEN is_complete AND cost_us IS NOT NULL THEN greatest(0, cost_us - most_us) END
        AS outage_us,
    CASE WHEN is_complete THEN cost_origin END AS cost_origin,
    error_us,
    bad_files,
    CASE
        WHEN failed_line IS NOT NULL THEN 'the program says that the save failed'
        WHEN folder_invalid_at IS NOT NULL THEN folder_why
        WHEN refused_at IS NOT NULL THEN 'a later start could not load it'
        WHEN deleted_at IS NOT NULL THEN coalesce(path, 'it') || ' was removed'
        WHEN is_verified THEN NULL
        WHEN folder_why IS NOT NULL THEN folder_why
        WHEN line_no IS NULL THEN 'nothing tells whether it is whole'
        WHEN is_complete THEN 'its evidence is of a lower grade than the configuration asks for'
        WHEN is_async THEN 'scheduled, but no line says that it became durable'
        WHEN next_step_line IS NOT NULL THEN 'begun, but no line says that it was completed'
        ELSE 'begun, and the attempt ended before a line said that it was completed'
    END AS why,
    CASE
        WHEN failed_line IS NOT NULL THEN failed_source_id
        WHEN folder_invalid_at IS NOT NULL THEN folder_source_id
        WHEN refused_at IS NOT NULL THEN refused_source_id
        WHEN deleted_at IS NOT NULL THEN removed_source_id
        ELSE coalesce(folder_source_id, source_id)
    END AS why_source_id,
    CASE
        WHEN failed_line IS NOT NULL THEN failed_line
        WHEN folder_invalid_at IS NOT NULL THEN folder_line
        WHEN refused_at IS NOT NULL THEN refused_line
        WHEN deleted_at IS NOT NULL THEN removed_line
        ELSE coalesce(folder_line, line_no)
    END AS why_line
FROM bounded
