-- Version 4: sessions know in which order they came, mutes keep what they were.

-- Files of Google Benchmark tell whole seconds, and a merge brings sessions of any date: what began
-- at the same time stands in the order in which it came into this file. Until now such sessions
-- were in the order of their ids.
ALTER TABLE session ADD COLUMN arrival INTEGER NOT NULL DEFAULT 0;
UPDATE session SET arrival = placed.place
  FROM (SELECT id, row_number() OVER (ORDER BY started, id) AS place FROM session) AS placed
 WHERE placed.id = session.id;
CREATE INDEX session_arrival ON session(arrival);

-- Rows that are shown, but never fail or warn. What ended, or was replaced by another reason, stays.
CREATE TEMP TABLE old_mute AS SELECT * FROM mute;
DROP TABLE mute;
CREATE TABLE mute (
    pattern   TEXT NOT NULL,             -- of a row's name, with * and ?
    metric    TEXT NOT NULL,             -- pattern of the metric with its labels; empty: every one
    at        TEXT NOT NULL,
    until     TEXT NOT NULL,             -- ISO 8601 or its beginning; empty: for good
    why       TEXT NOT NULL,
    who       TEXT NOT NULL DEFAULT '',  -- login name; empty: not known
    ended     TEXT,                      -- when a person ended it; NULL: holds until it runs out
    ended_by  TEXT NOT NULL DEFAULT '',
    ended_why TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (pattern, metric, at)
) STRICT, WITHOUT ROWID;
INSERT INTO mute (pattern, metric, at, until, why)
SELECT pattern, metric, at, until, why FROM old_mute;
DROP TABLE old_mute;
