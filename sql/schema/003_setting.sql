-- What the configuration says about runs; rewritten before every build of the derived tables.
CREATE TABLE run_setting (
    run VARCHAR,
    match_name VARCHAR,
    match_user VARCHAR,
    match_work_dir VARCHAR,
    target_step BIGINT,
    configured_interval_steps BIGINT,
    configured_interval_us BIGINT,
    n_accelerators BIGINT,
    ordinal INTEGER
);

-- Stretches in which work was stopped by plan; rewritten likewise.
CREATE TABLE planned_window (
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,
    reason VARCHAR NOT NULL
);

-- Clocks of two sources that contradict each other; rewritten by every dating.
CREATE TABLE zone_conflict (
    source_id INTEGER NOT NULL,
    shift_us BIGINT NOT NULL,
    text VARCHAR NOT NULL
);
