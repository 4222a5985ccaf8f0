-- Version 3: rows of the gate are identified by fields instead of texts; histories of whole
-- experiments read indexes only.

-- ---- the gate -------------------------------------------------------------------------------

-- What versions before named by texts: the program resolves them (suite/store/schema/gate_row_migration.cpp)
-- once the tables below are there.
CREATE TEMP TABLE old_night_row AS SELECT * FROM night_row;
CREATE TEMP TABLE old_regression AS SELECT * FROM regression;
CREATE TEMP TABLE old_regression_step AS SELECT * FROM regression_step;
CREATE TEMP TABLE old_accepted_level AS SELECT * FROM accepted_level;
DROP TABLE night_row;
DROP TABLE regression_step;
DROP TABLE regression;
DROP TABLE accepted_level;

-- One row of a suite: what was run, how, and which of its numbers. It outlives the series and the
-- sessions that made it. The id is derived from the other columns.
CREATE TABLE gate_row (
    id         TEXT PRIMARY KEY,
    experiment TEXT NOT NULL,
    variant    TEXT NOT NULL,
    axes       TEXT NOT NULL,            -- JSON: the case
    profile    TEXT NOT NULL CHECK (profile IN ('', 'toy', 'small', 'gpu', 'cluster', 'paper')),
    provenance TEXT NOT NULL CHECK (provenance IN ('', 'exact', 'measured', 'emulated', 'simulated')),
                                         -- both empty: of an old night of which no sample is left
    scenario   TEXT NOT NULL,
    metric     TEXT NOT NULL,            -- empty: of a series of which every sample failed
    labels     TEXT NOT NULL,            -- JSON
    UNIQUE (experiment, variant, axes, profile, provenance, scenario, metric, labels)
) STRICT, WITHOUT ROWID;

-- What a night said about one row: its history, after the samples themselves were pruned too.
CREATE TABLE night_row (
    night    TEXT NOT NULL REFERENCES night(id) ON DELETE CASCADE,
    gate_row TEXT NOT NULL REFERENCES gate_row(id),
    median   REAL,                       -- of the night's samples; NULL: none was ok, or slower, undecided
    evidence TEXT NOT NULL CHECK (evidence IN ('none', 'slower', 'not again', 'same')),
    PRIMARY KEY (night, gate_row)
) STRICT, WITHOUT ROWID;
CREATE INDEX night_row_row ON night_row(gate_row);

-- A slowdown from its first sight to its end, and every step of it.
CREATE TABLE regression (
    id       TEXT PRIMARY KEY,
    suite    TEXT NOT NULL,
    machine  TEXT NOT NULL REFERENCES machine(fingerprint),
    gate_row TEXT NOT NULL REFERENCES gate_row(id),
    state    TEXT CHECK (state IN ('candidate', 'confirmed', 'accepted', 'fixed', 'ignored')),
    opened   TEXT NOT NULL,
    changed  TEXT NOT NULL               -- when it got its state; NULL above: taken back
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_row ON regression(suite, machine, gate_row, opened);
CREATE INDEX regression_of_row ON regression(gate_row);
CREATE TABLE regression_step (
    regression TEXT NOT NULL REFERENCES regression(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    at         TEXT NOT NULL,
    night      TEXT REFERENCES night(id) ON DELETE SET NULL,   -- NULL: a person did it
    state      TEXT,                     -- after the step
    why        TEXT NOT NULL,
    PRIMARY KEY (regression, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_step_night ON regression_step(night);

-- Levels that a person accepted: of everything (gate_row NULL) or of one row of a suite.
CREATE TABLE accepted_level (
    id       TEXT PRIMARY KEY,
    baseline TEXT NOT NULL,              -- its name; usually that of the suite
    gate_row TEXT REFERENCES gate_row(id),
    session  TEXT NOT NULL REFERENCES session(id),
    at       TEXT NOT NULL,
    why      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_level_baseline ON accepted_level(baseline, at);
CREATE INDEX accepted_level_session ON accepted_level(session);
CREATE INDEX accepted_level_row ON accepted_level(gate_row);

-- ---- indexes --------------------------------------------------------------------------------

-- The sessions of a series, and its samples in each, with all that orders them: histories read no
-- row of sample, of which each holds a whole spec.
DROP INDEX sample_series;
CREATE INDEX sample_series ON sample(series, status, session, seed, round);

-- ---- views of the gate ----------------------------------------------------------------------
-- As all views: for reading only, by people; columns may be added at the end, never renamed.

-- One row per row of a night.
CREATE VIEW night_rows AS
SELECT night.suite                                        AS suite,
       night.started                                      AS started,
       night.machine                                      AS machine,
       gate_row.experiment                                AS experiment,
       gate_row.variant                                   AS variant,
       gate_row.axes                                      AS axes,         -- JSON
       gate_row.profile                                   AS profile,
       gate_row.provenance                                AS provenance,
       gate_row.scenario                                  AS scenario,
       gate_row.metric                                    AS metric,
       gate_row.labels                                    AS labels,       -- JSON
       night_row.median                                   AS median,
       night_row.evidence                                 AS evidence,
       night.session                                      AS session,
       night.id                                           AS night
  FROM night
  JOIN night_row ON night_row.night = night.id
  JOIN gate_row ON gate_row.id = night_row.gate_row;
