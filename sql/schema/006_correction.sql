-- Corrections know where they stand in the configuration, and which of them a later one replaces.
DROP TABLE correction;

-- What a person overrules; rewritten before every build of the derived tables.
-- place is file and line for people; superseded_by names the line of a later one about the same.
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
    reason VARCHAR NOT NULL,
    line INTEGER,
    place VARCHAR NOT NULL,
    superseded_by VARCHAR
);
