-- What was seen of nodes and of checkpoint folders, and what a person overrules.

-- One row per line about the state of a node: sacctmgr's events (with start_us and end_us),
-- slurmctld's lines and health checks (start_us alone).
-- state is down, drain, fail, reboot, planned, up, unhealthy or healthy.
CREATE TABLE raw_node (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    node VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    start_us BIGINT,
    end_us BIGINT,
    clock_kind VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    user VARCHAR NOT NULL,
    text VARCHAR NOT NULL
);

CREATE TABLE node_time (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT
);

-- One row per checkpoint folder as it was found when it was looked at (all instants UTC us).
CREATE TABLE raw_checkpoint (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL,
    root VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    step BIGINT,
    layout VARCHAR NOT NULL,
    observed_us BIGINT,
    written_us BIGINT,
    n_files BIGINT NOT NULL,
    n_bytes BIGINT NOT NULL,
    grade VARCHAR,
    why VARCHAR,
    bad_files VARCHAR[] NOT NULL,
    is_pointed BOOLEAN NOT NULL
);

-- Files that rotation cut from one log, in the order of its lines; rewritten by every dating.
-- Line n of such a file is line n + line_offset of the log, which has the number of its first file.
CREATE TABLE log_part (
    source_id INTEGER NOT NULL,
    log_id INTEGER NOT NULL,
    line_offset BIGINT NOT NULL
);

-- What a person overrules; rewritten before every build of the derived tables.
CREATE TABLE correction (
    ordinal INTEGER NOT NULL,
    action VARCHAR NOT NULL,
    incident VARCHAR,
    into_incident VARCHAR,
    run VARCHAR,
    kind VARCHAR,
    cause VARCHAR,
    moment VARCHAR,
    set_at BIGINT,
    start_at BIGINT,
    end_at BIGINT,
    reason VARCHAR NOT NULL
);

-- What the configuration says about where the epochs of a run begin; rewritten likewise.
CREATE TABLE epoch_setting (
    run VARCHAR NOT NULL,
    start_at BIGINT NOT NULL,
    reason VARCHAR NOT NULL
);
