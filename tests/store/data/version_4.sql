-- A results database of schema 4 as text: two sessions, the second left running by its dead runner,
-- and a sample with two of everything, among it two curves of one name. application_id and
-- user_version come last.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_version (  -- which migrations this file has been through
    version INTEGER PRIMARY KEY,
    applied TEXT NOT NULL
) STRICT;
INSERT INTO schema_version VALUES(1,'2026-11-22T22:22:58.878Z');
INSERT INTO schema_version VALUES(2,'2026-11-22T22:22:58.879Z');
INSERT INTO schema_version VALUES(3,'2026-11-22T22:22:58.881Z');
INSERT INTO schema_version VALUES(4,'2026-11-22T22:22:58.882Z');
CREATE TABLE machine (
    fingerprint TEXT PRIMARY KEY,
    description TEXT NOT NULL            -- JSON: processors, memory, accelerators, kernel …
) STRICT, WITHOUT ROWID;
INSERT INTO machine VALUES('f1ng3r','{"cores":2,"name":"example"}');
CREATE TABLE session (
    id         TEXT PRIMARY KEY,
    machine    TEXT NOT NULL REFERENCES machine(fingerprint),
    command    TEXT NOT NULL,            -- argv as typed, shell-quoted
    plan_hash  TEXT NOT NULL,
    build      TEXT NOT NULL,            -- build id of the program
    suspects   TEXT NOT NULL,            -- JSON: commit, driver, compiler, libraries: stored, never keys
    started    TEXT NOT NULL,
    finished   TEXT,                     -- NULL while it runs and when its runner died
    state      TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
    planned    INTEGER NOT NULL,         -- samples in the plan
    pid        INTEGER NOT NULL DEFAULT 0,  -- of the runner; for messages only
    owner      INTEGER NOT NULL DEFAULT 0   -- byte of the -runners file that a live runner keeps locked
, arrival INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO session VALUES('00000001-0000-4000-8000-000000000000','f1ng3r','assay run lazarus/fig8 --profile toy','plan','build','{"commit":"abc","compiler":"g++ 12.2"}','2026-11-20T01:00:00.000Z','2026-11-22T22:22:58.930Z','finished',12,5608,0,1);
INSERT INTO session VALUES('00000002-0000-4000-8000-000000000000','f1ng3r','assay run lazarus/fig8 --profile toy','plan','build','{"commit":"abc","compiler":"g++ 12.2"}','2026-11-20T02:00:00.000Z',NULL,'running',12,5608,613003587089798915,2);
CREATE TABLE series (
    id          TEXT PRIMARY KEY,
    experiment  TEXT NOT NULL,
    variant     TEXT NOT NULL,
    axes        TEXT NOT NULL,           -- JSON: the case
    profile     TEXT NOT NULL CHECK (profile IN ('toy', 'small', 'gpu', 'cluster', 'paper')),
    provenance  TEXT NOT NULL CHECK (provenance IN ('exact', 'measured', 'emulated', 'simulated')),
    scenario    TEXT NOT NULL,           -- fault plan, canonical text; empty: nothing goes wrong
    hardware    TEXT NOT NULL,           -- machine fingerprint; empty for exact and simulated
    calibration TEXT NOT NULL,           -- hash; empty: none
    data        TEXT NOT NULL,           -- hash of the input data; empty: none
    UNIQUE (experiment, variant, axes, profile, provenance, scenario, hardware, calibration, data)
) STRICT, WITHOUT ROWID;
INSERT INTO series VALUES('126b87fc-6d42-8c45-9f27-90da2153ea76','lazarus/fig8','lazarus','{"model":"gpt-l","nodes":10,"skew":4.0}','small','emulated','kill:rank=1@step=5','hardware-hash','','data-hash');
CREATE TABLE sample (
    id      TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    series  TEXT NOT NULL REFERENCES series(id),
    seed    INTEGER NOT NULL,            -- the bits of an unsigned 64-bit number
    round   INTEGER NOT NULL,
    status  TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'invalid', 'interrupted', 'unsupported', 'running')),
    reason  TEXT NOT NULL DEFAULT '',    -- why it is not ok
    spec    TEXT NOT NULL,               -- JSON: complete, what `assay replay` runs again
    started TEXT NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    UNIQUE (session, series, seed, round)   -- a resumed session cannot count a sample twice
) STRICT, WITHOUT ROWID;
INSERT INTO sample VALUES('00704ca9-b965-4ef2-9b58-2aba75d69d41','00000001-0000-4000-8000-000000000000','126b87fc-6d42-8c45-9f27-90da2153ea76',2,0,'failed','','{"case":{"model":"gpt-l","nodes":10,"skew":4.0},"experiment":"lazarus/fig8","profile":"small","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"lazarus"}','2026-11-22T22:22:58.930Z',0.0);
INSERT INTO sample VALUES('00adb9a2-4566-4375-9dd2-f2a7a6da1da1','00000002-0000-4000-8000-000000000000','126b87fc-6d42-8c45-9f27-90da2153ea76',1,0,'ok','','{"case":{"model":"gpt-l","nodes":10,"skew":4.0},"experiment":"lazarus/fig8","profile":"small","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"lazarus"}','2026-11-22T22:22:58.940Z',0.0);
INSERT INTO sample VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72','00000001-0000-4000-8000-000000000000','126b87fc-6d42-8c45-9f27-90da2153ea76',-81985529216486896,0,'ok','','{"case":{"model":"gpt-l","nodes":10,"skew":4.0},"experiment":"lazarus/fig8","profile":"small","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":18364758544493064720,"shared":"","state":"","timeout_s":600.0,"variant":"lazarus"}','2026-11-21T02:03:04.567Z',1.25);
INSERT INTO sample VALUES('00c714aa-c478-46ae-99f6-52fe9aa8d41a','00000002-0000-4000-8000-000000000000','126b87fc-6d42-8c45-9f27-90da2153ea76',3,0,'running','','{"case":{"model":"gpt-l","nodes":10,"skew":4.0},"experiment":"lazarus/fig8","profile":"small","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":3,"shared":"","state":"","timeout_s":600.0,"variant":"lazarus"}','2026-11-22T22:22:58.940Z',0.0);
CREATE TABLE metric (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    labels  TEXT NOT NULL,               -- JSON: layer, step, rank …; {} when there are none
    value   REAL,                        -- NULL: not a number
    PRIMARY KEY (sample, ordinal),
    UNIQUE (sample, name, labels)
) STRICT, WITHOUT ROWID;
INSERT INTO metric VALUES('00704ca9-b965-4ef2-9b58-2aba75d69d41',0,'throughput','{}',7.0);
INSERT INTO metric VALUES('00adb9a2-4566-4375-9dd2-f2a7a6da1da1',0,'throughput','{}',3.0);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,'loss','{"step":10}',2.5);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,'loss','{"step":2}',3.5);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',2,'loss','{"step":2.0}',4.5);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',3,'limit','{}',1e999);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',4,'floor','{}',-1e999);
INSERT INTO metric VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',5,'undefined','{}',NULL);
CREATE TABLE event (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    t_s     REAL,
    kind    TEXT NOT NULL,               -- fault, death, detection, regroup, transfer, commit …
    rank    INTEGER NOT NULL,            -- -1: none
    detail  TEXT NOT NULL,               -- JSON
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO event VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0.5,'fault',1,'{"kind":"kill"}');
INSERT INTO event VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,0.75,'regroup',-1,'{"ranks":[0,2]}');
CREATE TABLE time_series (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    unit    TEXT NOT NULL,
    labels  TEXT NOT NULL,               -- JSON
    points  INTEGER NOT NULL,
    t_s     BLOB NOT NULL,
    value   BLOB NOT NULL,
    PRIMARY KEY (sample, ordinal)
) STRICT;
INSERT INTO time_series VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,'loss','nat','{"rank":0}',3,X'0000000000000000000000000000f03f0000000000000040',X'0000000000000840000000000000f87f0000000000000080');
INSERT INTO time_series VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,'empty','s','{}',0,X'',X'');
INSERT INTO time_series VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',2,'loss','nat','{"rank":0}',2,X'00000000000008400000000000001040',X'000000000000f83f000000000000f43f');
CREATE TABLE data_table (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO data_table VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,'experts');
INSERT INTO data_table VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,'nothing');
CREATE TABLE data_table_column (
    sample     TEXT NOT NULL,
    data_table INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL,
    PRIMARY KEY (sample, data_table, position),
    FOREIGN KEY (sample, data_table) REFERENCES data_table(sample, ordinal) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO data_table_column VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0,'expert','');
INSERT INTO data_table_column VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,1,'share','ratio');
INSERT INTO data_table_column VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,2,'name','');
INSERT INTO data_table_column VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,0,'x','s');
CREATE TABLE data_table_cell (
    sample     TEXT NOT NULL,
    data_table INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    value      ANY,                      -- integer, real or text; NULL: not a number
    PRIMARY KEY (sample, data_table, line, position),
    FOREIGN KEY (sample, data_table, position)
        REFERENCES data_table_column(sample, data_table, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0,0,0);
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0,1,4.0);
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0,2,'a');
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,1,0,1);
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,1,1,0.25);
INSERT INTO data_table_cell VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,1,2,'1');
CREATE TABLE artifact_blob (
    sha256 TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;
INSERT INTO artifact_blob VALUES('ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc',X'000102');
INSERT INTO artifact_blob VALUES('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',X'');
CREATE TABLE artifact (
    sample     TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    sha256     TEXT NOT NULL REFERENCES artifact_blob(sha256),
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO artifact VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,'trace.bin','application/octet-stream','ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc');
INSERT INTO artifact VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,'again.bin','application/octet-stream','ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc');
INSERT INTO artifact VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',2,'empty.txt','text/plain','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
CREATE TABLE hardware (
    sample           TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal          INTEGER NOT NULL,
    t_s              REAL,
    device           TEXT NOT NULL,      -- "cpu", "gpu0" …
    clock_hz         REAL,
    memory_clock_hz  REAL,
    throttle_reasons TEXT NOT NULL,      -- comma-separated; empty: none
    temperature_c    REAL,
    power_w          REAL,
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO hardware VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',0,0.10000000000000000555,'cpu',2500000000.0,NULL,'',61.5,NULL);
INSERT INTO hardware VALUES('00ae1fb0-56be-46f9-8654-afdeba2cae72',1,0.2000000000000000111,'gpu0',1900000000.0,2600000000.0,'sw_power_cap,hw_slowdown',70.0,640.50000000000000001);
CREATE TABLE claim_check (
    id         TEXT PRIMARY KEY,
    session    TEXT REFERENCES session(id) ON DELETE CASCADE,  -- NULL: checked outside a session
    claim      TEXT NOT NULL,
    at         TEXT NOT NULL,
    ordinal    INTEGER NOT NULL,         -- order among checks of the same moment
    verdict    TEXT NOT NULL CHECK (verdict IN ('supported', 'contradicted', 'calibrated',
                   'open discrepancy', 'not checkable here', 'not run')),
    reason     TEXT NOT NULL,
    provenance TEXT CHECK (provenance IN ('exact', 'measured', 'emulated', 'simulated')),
    obtained   REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE calibration (
    hash        TEXT PRIMARY KEY,        -- SHA-256 of the parameters; series name it
    name        TEXT NOT NULL,
    parameters  TEXT NOT NULL,           -- JSON
    fitted_from TEXT NOT NULL,           -- JSON: ids of claims and samples used for the fit
    created     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE baseline (
    name    TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session(id),
    created TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE annotation (
    id      TEXT PRIMARY KEY,
    session TEXT REFERENCES session(id) ON DELETE CASCADE,
    sample  TEXT REFERENCES sample(id) ON DELETE CASCADE,
    at      TEXT NOT NULL,
    words   TEXT NOT NULL,
    CHECK ((session IS NULL) <> (sample IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE metric_unit (
    experiment TEXT NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL,            -- "s", "byte", "1" …; empty: a plain number
    better     TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'none')),
    PRIMARY KEY (experiment, name)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE night_row (
    night    TEXT NOT NULL REFERENCES night(id) ON DELETE CASCADE,
    gate_row TEXT NOT NULL REFERENCES gate_row(id),
    median   REAL,                       -- of the night's samples; NULL: none was ok, or slower, undecided
    evidence TEXT NOT NULL CHECK (evidence IN ('none', 'slower', 'not again', 'same')),
    PRIMARY KEY (night, gate_row)
) STRICT, WITHOUT ROWID;
CREATE TABLE regression (
    id       TEXT PRIMARY KEY,
    suite    TEXT NOT NULL,
    machine  TEXT NOT NULL REFERENCES machine(fingerprint),
    gate_row TEXT NOT NULL REFERENCES gate_row(id),
    state    TEXT CHECK (state IN ('candidate', 'confirmed', 'accepted', 'fixed', 'ignored')),
    opened   TEXT NOT NULL,
    changed  TEXT NOT NULL               -- when it got its state; NULL above: taken back
) STRICT, WITHOUT ROWID;
CREATE TABLE regression_step (
    regression TEXT NOT NULL REFERENCES regression(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    at         TEXT NOT NULL,
    night      TEXT REFERENCES night(id) ON DELETE SET NULL,   -- NULL: a person did it
    state      TEXT,                     -- after the step
    why        TEXT NOT NULL,
    PRIMARY KEY (regression, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE accepted_level (
    id       TEXT PRIMARY KEY,
    baseline TEXT NOT NULL,              -- its name; usually that of the suite
    gate_row TEXT REFERENCES gate_row(id),
    session  TEXT NOT NULL REFERENCES session(id),
    at       TEXT NOT NULL,
    why      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE INDEX session_plan ON session(plan_hash, build);
CREATE INDEX data_table_cell_column ON data_table_cell(sample, data_table, position);
CREATE INDEX artifact_content ON artifact(sha256);
CREATE INDEX claim_check_newest ON claim_check(claim, at);
CREATE INDEX claim_check_session ON claim_check(session);
CREATE INDEX baseline_session ON baseline(session);
CREATE INDEX annotation_session ON annotation(session);
CREATE INDEX annotation_sample ON annotation(sample);
CREATE INDEX night_suite ON night(suite, machine, started);
CREATE INDEX night_session ON night(session);
CREATE INDEX session_started ON session(started);
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
  JOIN session ON session.id = sample.session
;
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
                       AND metric_unit.name = metric.name
;
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
  FROM samples JOIN event ON event.sample = samples.sample
;
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
  FROM samples JOIN hardware ON hardware.sample = samples.sample
;
CREATE INDEX night_row_row ON night_row(gate_row);
CREATE INDEX regression_row ON regression(suite, machine, gate_row, opened);
CREATE INDEX regression_of_row ON regression(gate_row);
CREATE INDEX regression_step_night ON regression_step(night);
CREATE INDEX accepted_level_baseline ON accepted_level(baseline, at);
CREATE INDEX accepted_level_session ON accepted_level(session);
CREATE INDEX accepted_level_row ON accepted_level(gate_row);
CREATE INDEX sample_series ON sample(series, status, session, seed, round);
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
  JOIN gate_row ON gate_row.id = night_row.gate_row
;
CREATE INDEX session_arrival ON session(arrival);
COMMIT;
PRAGMA application_id = 1095979865;
PRAGMA user_version = 4;
