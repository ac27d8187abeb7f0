-- What the dates of a source were made from: content, zone and the origin of missing years.
-- A source whose signature is unchanged is not dated again.
CREATE TABLE dating_signature (
    source_id INTEGER NOT NULL,
    signature VARCHAR NOT NULL
);
