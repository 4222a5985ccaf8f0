-- Version 2: what pandas and SQL read, the indexes that comparisons and histories need.
-- New tables come first, then indexes, then views; every view says what one row of it is.

-- Samples keep checkpoints of themselves in files beside the database; this table stayed empty.
DROP TABLE sample_checkpoint;

-- ---- tables ---------------------------------------------------------------------------------

-- Units of metrics, as the program or an imported file declared them last.
CREATE TABLE metric_unit (
    experiment TEXT NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL,            -- "s", "byte", "1" …; empty: a plain number
    better     TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'none')),
    PRIMARY KEY (experiment, name)
) STRICT, WITHOUT ROWID;

-- The nightly gate. A row of a night is named by suite, machine, series and metric as texts: they
-- outlive the sessions that made them.

-- One night of a suite on a machine. While it runs, `finished` is NULL.
CREATE TABLE night (
    id       TEXT PRIMARY KEY,
    suite    TEXT NOT NULL,
    machine  TEXT NOT NULL REFERENCES machine(fingerprint),
    session  TEXT REFERENCES session(id) ON DELETE SET NULL,   -- NULL: pruned since
    program  TEXT NOT NULL,              -- folder of the kept program; empty: not kept
    started  TEXT NOT NULL,
    finished TEXT,
    verdict  TEXT NOT NULL DEFAULT '' CHECK (verdict IN ('', 'clean', 'error', 'regression', 'ambiguous')),
    report   TEXT NOT NULL DEFAULT '{}'  -- JSON: as `assay nightly --json` printed it
) STRICT, WITHOUT ROWID;
CREATE INDEX night_suite ON night(suite, machine, started);
CREATE INDEX night_session ON night(session);

-- What a night said about one row: its history, after the samples themselves were pruned too.
CREATE TABLE night_row (
    night    TEXT NOT NULL REFERENCES night(id) ON DELETE CASCADE,
    series   TEXT NOT NULL,
    metric   TEXT NOT NULL,              -- with labels
    median   REAL,                       -- of the night's samples; NULL: none was ok, or slower, undecided
    evidence TEXT NOT NULL CHECK (evidence IN ('none', 'slower', 'not again', 'same')),
    PRIMARY KEY (night, series, metric)
) STRICT, WITHOUT ROWID;

-- A slowdown from its first sight to its end, and every step of it.
CREATE TABLE regression (
    id      TEXT PRIMARY KEY,
    suite   TEXT NOT NULL,
    machine TEXT NOT NULL REFERENCES machine(fingerprint),
    series  TEXT NOT NULL,
    metric  TEXT NOT NULL,
    state   TEXT CHECK (state IN ('candidate', 'confirmed', 'accepted', 'fixed', 'ignored')),
    opened  TEXT NOT NULL,
    changed TEXT NOT NULL                -- when it got its state; NULL above: taken back
) STRICT, WITHOUT ROWID;
CREATE INDEX regression_row ON regression(suite, machine, series, metric, opened);
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

-- Levels that a person accepted: of everything (series empty) or of one row of a suite.
CREATE TABLE accepted_level (
    id       TEXT PRIMARY KEY,
    baseline TEXT NOT NULL,              -- its name; usually that of the suite
    series   TEXT NOT NULL,
    metric   TEXT NOT NULL,
    session  TEXT NOT NULL REFERENCES session(id),
    at       TEXT NOT NULL,
    why      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_level_baseline ON accepted_level(baseline, at);
CREATE INDEX accepted_level_session ON accepted_level(session);

-- Rows that are shown, but never fail or warn.
CREATE TABLE mute (
    pattern TEXT NOT NULL,               -- of the series' text, with * and ?
    metric  TEXT NOT NULL,               -- pattern of the metric with its labels; empty: every one
    until   TEXT NOT NULL,               -- ISO 8601 or its beginning; empty: for good
    why     TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (pattern, metric)
) STRICT, WITHOUT ROWID;

-- ---- indexes --------------------------------------------------------------------------------

-- The sessions of a series, and its samples in each: histories, and the newest session of each.
DROP INDEX sample_series;
CREATE INDEX sample_series ON sample(series, status, session, started);
-- The newest session, sessions of a time window.
CREATE INDEX session_started ON session(started);

-- ---- views ----------------------------------------------------------------------------------
-- For reading only, by people; the program itself reads the tables. Columns may be added at the
-- end, never renamed. Ids join the views with each other: session, sample, series.

-- One row per session.
CREATE VIEW sessions AS
SELECT session.id                                         AS session,
       session.started                                    AS started,
       session.finished                                   AS finished,
       session.state                                      AS state,
       session.planned                                    AS planned,
       (SELECT count(*) FROM sample
         WHERE sample.session = session.id)               AS samples,
       (SELECT count(*) FROM sample
         WHERE sample.session = session.id
           AND sample.status = 'ok')                      AS ok,
       session.machine                                    AS machine,
       json_extract(machine.description, '$.hostname')    AS host,
       json_extract(machine.description, '$.cpu')         AS cpu,
       json_extract(session.suspects, '$.commit')         AS git_commit,
       json_extract(session.suspects, '$.compiler')       AS compiler,
       json_extract(session.suspects, '$.driver')         AS driver,
       session.build                                      AS build,
       session.command                                    AS command,
       session.suspects                                   AS suspects
  FROM session JOIN machine ON machine.fingerprint = session.machine;

-- One row per sample, whatever became of it.
CREATE VIEW samples AS
SELECT sample.id                                          AS sample,
       sample.session                                     AS session,
       sample.series                                      AS series,
       sample.started                                     AS started,
       sample.seconds                                     AS seconds,
       series.experiment                                  AS experiment,
       series.variant                                     AS variant,
       series.axes                                        AS axes,         -- JSON
       series.profile                                     AS profile,
       series.provenance                                  AS provenance,
       series.scenario                                    AS scenario,
       sample.seed                                        AS seed,         -- from 2^63 on: minus 2^64
       sample.round                                       AS round,
       sample.status                                      AS status,
       sample.reason                                      AS reason,
       session.machine                                    AS machine,
       json_extract(session.suspects, '$.commit')         AS git_commit
  FROM sample
  JOIN series ON series.id = sample.series
  JOIN session ON session.id = sample.session;

-- One row per value of a metric.
CREATE VIEW results AS
SELECT samples.session                                    AS session,
       samples.started                                    AS started,      -- of the sample
       samples.git_commit                                 AS git_commit,
       samples.machine                                    AS machine,
       samples.experiment                                 AS experiment,
       samples.variant                                    AS variant,
       samples.axes                                       AS axes,         -- JSON
       samples.profile                                    AS profile,
       samples.provenance                                 AS provenance,
       samples.scenario                                   AS scenario,
       samples.seed                                       AS seed,
       samples.round                                      AS round,
       samples.status                                     AS status,
       metric.name                                        AS metric,
       metric.labels                                      AS labels,       -- JSON
       metric.value                                       AS value,        -- NULL: not a number
       metric_unit.unit                                   AS unit,         -- NULL: nobody said
       metric_unit.better                                 AS better,       -- lower, higher, none
       samples.sample                                     AS sample,
       samples.series                                     AS series
  FROM samples
  JOIN metric ON metric.sample = samples.sample
  LEFT JOIN metric_unit ON metric_unit.experiment = samples.experiment
                       AND metric_unit.name = metric.name;

-- One row per event of a sample: a fault, a regroup, a checkpoint …
CREATE VIEW events AS
SELECT samples.session                                    AS session,
       samples.experiment                                 AS experiment,
       samples.variant                                    AS variant,
       samples.axes                                       AS axes,         -- JSON
       samples.seed                                       AS seed,
       samples.round                                      AS round,
       event.t_s                                          AS t_s,          -- after its start
       event.kind                                         AS kind,
       nullif(event.rank, -1)                             AS rank,
       event.detail                                       AS detail,       -- JSON
       samples.sample                                     AS sample
  FROM samples JOIN event ON event.sample = samples.sample;

-- One row per reading of the hardware while a sample ran; NULL: the device does not tell.
CREATE VIEW hardware_readings AS
SELECT samples.session                                    AS session,
       samples.experiment                                 AS experiment,
       samples.variant                                    AS variant,
       samples.axes                                       AS axes,         -- JSON
       samples.seed                                       AS seed,
       samples.round                                      AS round,
       samples.status                                     AS status,
       samples.machine                                    AS machine,
       hardware.t_s                                       AS t_s,          -- after its start
       hardware.device                                    AS device,
       hardware.clock_hz                                  AS clock_hz,
       hardware.memory_clock_hz                           AS memory_clock_hz,
       hardware.temperature_c                             AS temperature_c,
       hardware.power_w                                   AS power_w,
       hardware.throttle_reasons                          AS throttle_reasons,
       samples.sample                                     AS sample
  FROM samples JOIN hardware ON hardware.sample = samples.sample;
