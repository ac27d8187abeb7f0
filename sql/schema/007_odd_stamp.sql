-- Lines whose stamp cannot be right, and which are dated from their neighbours.
CREATE TABLE odd_stamp (
    source_id INTEGER NOT NULL,
    line_no BIGINT NOT NULL
);
