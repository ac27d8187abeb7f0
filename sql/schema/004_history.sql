-- What was recommended for each run and window, so that advice can be held against what followed.
-- document is one run of the document interval/1, as JSON.
CREATE TABLE interval_history (
    run VARCHAR NOT NULL,
    window_start_at BIGINT NOT NULL,
    window_end_at BIGINT NOT NULL,
    label VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    document VARCHAR NOT NULL
);

-- The configuration and version under which the derived tables were made; empty while rows change.
CREATE TABLE build_signature (
    text VARCHAR NOT NULL
);
