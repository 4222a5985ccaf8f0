-- Version 5: what a sample records reaches the file while it runs, and readers can ask what changed.

-- ---- curves that grow -----------------------------------------------------------------------

-- A curve that grew while its sample ran has a row for each chunk, in the order of their ordinals.
-- NULL: a curve of one row; else the ordinal of the curve's first chunk, in that row its own.
ALTER TABLE time_series ADD COLUMN curve INTEGER;
-- First chunks, by which the next one finds its curve.
CREATE INDEX time_series_growing ON time_series(sample, name, labels) WHERE curve = ordinal;

-- ---- what changed ---------------------------------------------------------------------------
-- Everything that happens to a session or a sample, new rows of the sample included, is a change
-- and has a number in this file; each of the two knows the number of its last one. Triggers count,
-- so that nobody who writes can forget to; for a sample's new rows Store::add_to_sample() does.
-- How readers use it: suite/store/changes.hpp.

CREATE TABLE change_counter (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    newest    INTEGER NOT NULL,          -- number of the newest change
    forgotten INTEGER NOT NULL           -- what was removed up to this change is in no row of removal
) STRICT;
INSERT INTO change_counter VALUES (1, 1, 0);

ALTER TABLE session ADD COLUMN last_change INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sample ADD COLUMN last_change INTEGER NOT NULL DEFAULT 1;
CREATE INDEX session_last_change ON session(last_change);
CREATE INDEX sample_last_change ON sample(last_change);

-- Sessions and samples that are gone.
CREATE TABLE removal (
    change INTEGER PRIMARY KEY,
    what   TEXT NOT NULL CHECK (what IN ('session', 'sample')),
    id     TEXT NOT NULL
) STRICT;

-- Which program wrote the changes from `first` on: a random number for each that opened the file.
-- Copies of a file that were written to since differ in it, whatever their changes' numbers.
CREATE TABLE change_writer (
    first INTEGER PRIMARY KEY,
    token INTEGER NOT NULL
) STRICT;
INSERT INTO change_writer VALUES (1, random());

CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
    UPDATE change_counter SET newest = newest + 1;
    UPDATE session SET last_change = (SELECT newest FROM change_counter) WHERE id = NEW.id;
END;
CREATE TRIGGER session_altered AFTER UPDATE OF machine, command, plan_hash, build, suspects, started,
    finished, state, planned, arrival ON session BEGIN
    UPDATE change_counter SET newest = newest + 1;
    UPDATE session SET last_change = (SELECT newest FROM change_counter) WHERE id = NEW.id;
END;
CREATE TRIGGER session_removed AFTER DELETE ON session BEGIN
    UPDATE change_counter SET newest = newest + 1;
    INSERT INTO removal SELECT newest, 'session', OLD.id FROM change_counter;
END;
CREATE TRIGGER sample_added AFTER INSERT ON sample BEGIN
    UPDATE change_counter SET newest = newest + 1;
    UPDATE sample SET last_change = (SELECT newest FROM change_counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sample_altered AFTER UPDATE OF session, series, seed, round, status, reason, spec,
    started, seconds ON sample BEGIN
    UPDATE change_counter SET newest = newest + 1;
    UPDATE sample SET last_change = (SELECT newest FROM change_counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sample_removed AFTER DELETE ON sample BEGIN
    UPDATE change_counter SET newest = newest + 1;
    INSERT INTO removal SELECT newest, 'sample', OLD.id FROM change_counter;
END;
