-- Raw tables: what the files say, with clock readings as they were printed, and their dates.
-- Instants are BIGINT microseconds UTC (*_at), clock readings BIGINT microseconds of their kind
-- (*_us with clock_kind), durations BIGINT microseconds (*_us).

-- One row per input file, known by its decompressed content and the job ids in its name.
-- head_sha256 is of the first 4096 bytes. When the file grew it is read again from safe_offset,
-- the start of line safe_line, and rows from line redo_line on are replaced.
-- machine_tz is the zone of the machine that read it first, the last resort for naive readings.
CREATE TABLE source (
    source_id INTEGER NOT NULL,
    path VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    content_sha256 VARCHAR NOT NULL,
    head_sha256 VARCHAR NOT NULL,
    n_bytes BIGINT NOT NULL,
    n_lines BIGINT NOT NULL,
    n_rows BIGINT NOT NULL,
    n_rejected BIGINT NOT NULL,
    safe_offset BIGINT NOT NULL,
    safe_line BIGINT NOT NULL,
    redo_line BIGINT NOT NULL,
    tz_given VARCHAR,
    tz_given_origin VARCHAR,
    run_override VARCHAR,
    machine_tz VARCHAR,
    name_refs VARCHAR[] NOT NULL
);

-- Inputs that could not be read to their end when last tried, and why.
CREATE TABLE unread_source (
    path VARCHAR NOT NULL PRIMARY KEY,
    reason VARCHAR NOT NULL
);

CREATE TABLE raw_step (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    step BIGINT NOT NULL,
    target_step BIGINT,
    clock_us BIGINT,
    clock_kind VARCHAR NOT NULL,
    resolution_us BIGINT NOT NULL,
    elapsed_us BIGINT,
    n_samples BIGINT,
    emitter VARCHAR NOT NULL
);

CREATE TABLE raw_event (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    clock_us BIGINT,
    clock_kind VARCHAR NOT NULL,
    resolution_us BIGINT NOT NULL,
    step BIGINT,
    duration_us BIGINT,
    code VARCHAR,
    node VARCHAR,
    rank INTEGER,
    path VARCHAR,
    job_ref VARCHAR,
    text VARCHAR NOT NULL
);

CREATE TABLE raw_job (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    cluster VARCHAR NOT NULL,
    job_id VARCHAR NOT NULL,
    job_id_raw VARCHAR NOT NULL,
    step_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    user VARCHAR NOT NULL,
    account VARCHAR NOT NULL,
    partition VARCHAR NOT NULL,
    work_dir VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    comment VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    cancelled_by VARCHAR,
    exit_code INTEGER,
    exit_signal INTEGER,
    submit_us BIGINT,
    eligible_us BIGINT,
    start_us BIGINT,
    end_us BIGINT,
    clock_kind VARCHAR NOT NULL,
    elapsed_us BIGINT,
    time_limit_us BIGINT,
    n_nodes BIGINT,
    n_accelerators BIGINT,
    nodes VARCHAR[] NOT NULL,
    restarts BIGINT
);

CREATE TABLE raw_domain (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    node VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL
);

CREATE TABLE rejected_line (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    reason VARCHAR NOT NULL,
    text VARCHAR NOT NULL
);

-- The zone in which a source's naive readings are taken, and where it was learned.
CREATE TABLE source_zone (
    source_id INTEGER NOT NULL,
    tz VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    is_assumed BOOLEAN NOT NULL,
    note VARCHAR
);

-- The date of each line of raw_step and raw_event, with its bounds and how sure it is.
-- "at" is a keyword of the engine: a query writes line_time.at or "at".
CREATE TABLE line_time (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    "at" BIGINT,
    low BIGINT,
    high BIGINT,
    strength VARCHAR NOT NULL
);

CREATE TABLE job_time (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    submitted_at BIGINT,
    eligible_at BIGINT,
    started_at BIGINT,
    ended_at BIGINT
);
