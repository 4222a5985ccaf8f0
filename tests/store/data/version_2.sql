-- A results database of schema 2 as text: four nights, regressions, accepted levels, mutes, a
-- baseline and annotations, with rows whose names hold blanks and '=', one experiment at two
-- profiles, and rows of which no sample is left. application_id and user_version come last.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE accepted_level (
    id       TEXT PRIMARY KEY,
    baseline TEXT NOT NULL,              -- its name; usually that of the suite
    series   TEXT NOT NULL,
    metric   TEXT NOT NULL,
    session  TEXT NOT NULL REFERENCES session(id),
    at       TEXT NOT NULL,
    why      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "accepted_level" VALUES('000000b1-0000-4000-8000-000000000000','cpu','','','00000001-0000-4000-8000-000000000000','2026-10-01T09:00:00.000Z','the first night');
INSERT INTO "accepted_level" VALUES('000000b2-0000-4000-8000-000000000000','cpu','benchmark/program program arguments=--x name=y name=gemv program=gemv_benchmark','real_time benchmark=BM_a/8 b','00000003-0000-4000-8000-000000000000','2026-10-03T09:00:00.000Z','a new kernel');
CREATE TABLE annotation (
    id      TEXT PRIMARY KEY,
    session TEXT REFERENCES session(id) ON DELETE CASCADE,
    sample  TEXT REFERENCES sample(id) ON DELETE CASCADE,
    at      TEXT NOT NULL,
    words   TEXT NOT NULL,
    CHECK ((session IS NULL) <> (sample IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO "annotation" VALUES('000000c1-0000-4000-8000-000000000000','00000002-0000-4000-8000-000000000000',NULL,'2026-10-02T09:00:00.000Z','new power supply');
INSERT INTO "annotation" VALUES('000000c2-0000-4000-8000-000000000000',NULL,'00000001-1111-4000-8000-000000000000','2026-10-02T09:00:00.000Z','looked at it');
CREATE TABLE artifact (
    sample     TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    sha256     TEXT NOT NULL REFERENCES artifact_blob(sha256),
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE artifact_blob (
    sha256 TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE baseline (
    name    TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session(id),
    created TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "baseline" VALUES('cpu','00000001-0000-4000-8000-000000000000','2026-10-01T09:00:00.000Z');
CREATE TABLE calibration (
    hash        TEXT PRIMARY KEY,        -- SHA-256 of the parameters; series name it
    name        TEXT NOT NULL,
    parameters  TEXT NOT NULL,           -- JSON
    fitted_from TEXT NOT NULL,           -- JSON: ids of claims and samples used for the fit
    created     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE data_table (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE data_table_column (
    sample     TEXT NOT NULL,
    data_table INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL,
    PRIMARY KEY (sample, data_table, position),
    FOREIGN KEY (sample, data_table) REFERENCES data_table(sample, ordinal) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    t_s     REAL,
    kind    TEXT NOT NULL,               -- fault, death, detection, regroup, transfer, commit …
    rank    INTEGER NOT NULL,            -- -1: none
    detail  TEXT NOT NULL,               -- JSON
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE machine (
    fingerprint TEXT PRIMARY KEY,
    description TEXT NOT NULL            -- JSON: processors, memory, accelerators, kernel …
) STRICT, WITHOUT ROWID;
INSERT INTO "machine" VALUES('feedfacecafebeef','{"cpu":"example","hostname":"example"}');
CREATE TABLE metric (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    labels  TEXT NOT NULL,               -- JSON: layer, step, rank …; {} when there are none
    value   REAL,                        -- NULL: not a number
    PRIMARY KEY (sample, ordinal),
    UNIQUE (sample, name, labels)
) STRICT, WITHOUT ROWID;
INSERT INTO "metric" VALUES('00000001-1111-4000-8000-000000000000',0,'seconds','{}',0.1);
INSERT INTO "metric" VALUES('00000001-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',0.05);
INSERT INTO "metric" VALUES('00000002-1111-4000-8000-000000000000',0,'seconds','{}',0.1001);
INSERT INTO "metric" VALUES('00000002-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',0.05005);
INSERT INTO "metric" VALUES('00000003-1111-4000-8000-000000000000',0,'seconds','{}',3.0);
INSERT INTO "metric" VALUES('00000003-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.5);
INSERT INTO "metric" VALUES('00000004-1111-4000-8000-000000000000',0,'seconds','{}',3.01);
INSERT INTO "metric" VALUES('00000004-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.505);
INSERT INTO "metric" VALUES('00000005-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',1.0e-06);
INSERT INTO "metric" VALUES('00000006-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',1.00099999999999981809e-06);
INSERT INTO "metric" VALUES('00000007-1111-4000-8000-000000000000',0,'seconds','{}',0.12);
INSERT INTO "metric" VALUES('00000007-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',0.06);
INSERT INTO "metric" VALUES('00000008-1111-4000-8000-000000000000',0,'seconds','{}',1.20119999999999976791e-01);
INSERT INTO "metric" VALUES('00000008-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',6.00599999999999883959e-02);
INSERT INTO "metric" VALUES('00000009-1111-4000-8000-000000000000',0,'seconds','{}',3.0);
INSERT INTO "metric" VALUES('00000009-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.5);
INSERT INTO "metric" VALUES('0000000a-1111-4000-8000-000000000000',0,'seconds','{}',3.01);
INSERT INTO "metric" VALUES('0000000a-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.505);
INSERT INTO "metric" VALUES('0000000b-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',1.0e-06);
INSERT INTO "metric" VALUES('0000000c-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',1.00099999999999981809e-06);
INSERT INTO "metric" VALUES('0000000d-1111-4000-8000-000000000000',0,'seconds','{}',0.121);
INSERT INTO "metric" VALUES('0000000d-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',0.0605);
INSERT INTO "metric" VALUES('0000000e-1111-4000-8000-000000000000',0,'seconds','{}',1.2112099999999997868e-01);
INSERT INTO "metric" VALUES('0000000e-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',6.056049999999998934e-02);
INSERT INTO "metric" VALUES('0000000f-1111-4000-8000-000000000000',0,'seconds','{}',3.0);
INSERT INTO "metric" VALUES('0000000f-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.5);
INSERT INTO "metric" VALUES('00000010-1111-4000-8000-000000000000',0,'seconds','{}',3.01);
INSERT INTO "metric" VALUES('00000010-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',1.505);
INSERT INTO "metric" VALUES('00000011-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',2.0e-06);
INSERT INTO "metric" VALUES('00000012-1111-4000-8000-000000000000',0,'real_time','{"benchmark":"BM_a/8 b"}',2.00199999999999963618e-06);
INSERT INTO "metric" VALUES('00000013-1111-4000-8000-000000000000',0,'seconds','{}',7.0);
INSERT INTO "metric" VALUES('00000013-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',3.5);
INSERT INTO "metric" VALUES('00000014-1111-4000-8000-000000000000',0,'seconds','{}',7.1);
INSERT INTO "metric" VALUES('00000014-1111-4000-8000-000000000000',1,'part','{"kind":"x y","step":2}',3.55);
CREATE TABLE metric_unit (
    experiment TEXT NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL,            -- "s", "byte", "1" …; empty: a plain number
    better     TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'none')),
    PRIMARY KEY (experiment, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "metric_unit" VALUES('demo/work','seconds','s','lower');
CREATE TABLE mute (
    pattern TEXT NOT NULL,               -- of the series' text, with * and ?
    metric  TEXT NOT NULL,               -- pattern of the metric with its labels; empty: every one
    until   TEXT NOT NULL,               -- ISO 8601 or its beginning; empty: for good
    why     TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (pattern, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO "mute" VALUES('benchmark/gemv *','real_time*','','noisy','2026-10-02T09:00:00.000Z');
INSERT INTO "mute" VALUES('demo/paced *','','','known','2026-10-02T09:00:00.000Z');
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
INSERT INTO "night" VALUES('00000090-0000-4000-8000-000000000000','cpu','feedfacecafebeef',NULL,'','2026-09-30T02:00:00.000Z','2026-09-30T02:10:00.000Z','clean','{}');
INSERT INTO "night" VALUES('00000091-0000-4000-8000-000000000000','cpu','feedfacecafebeef','00000001-0000-4000-8000-000000000000','','2026-10-01T02:00:00.000Z','2026-10-01T02:10:00.000Z','clean','{}');
INSERT INTO "night" VALUES('00000092-0000-4000-8000-000000000000','cpu','feedfacecafebeef','00000002-0000-4000-8000-000000000000','','2026-10-02T02:00:00.000Z','2026-10-02T02:10:00.000Z','clean','{}');
INSERT INTO "night" VALUES('00000093-0000-4000-8000-000000000000','cpu','feedfacecafebeef','00000003-0000-4000-8000-000000000000','','2026-10-03T02:00:00.000Z','2026-10-03T02:10:00.000Z','clean','{}');
INSERT INTO "night" VALUES('00000094-0000-4000-8000-000000000000','gpu','feedfacecafebeef',NULL,'','2026-09-01T02:00:00.000Z','2026-09-01T02:10:00.000Z','clean','{}');
CREATE TABLE night_row (
    night    TEXT NOT NULL REFERENCES night(id) ON DELETE CASCADE,
    series   TEXT NOT NULL,
    metric   TEXT NOT NULL,              -- with labels
    median   REAL,                       -- of the night's samples; NULL: none was ok, or slower, undecided
    evidence TEXT NOT NULL CHECK (evidence IN ('none', 'slower', 'not again', 'same')),
    PRIMARY KEY (night, series, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO "night_row" VALUES('00000090-0000-4000-8000-000000000000','demo/gone old way k=1.5 mode=two words','loss step=3',2.5,'same');
INSERT INTO "night_row" VALUES('00000090-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','seconds',0.099,'same');
INSERT INTO "night_row" VALUES('00000091-0000-4000-8000-000000000000','benchmark/program program arguments=--x name=y name=gemv program=gemv_benchmark','real_time benchmark=BM_a/8 b',1.0005e-06,'none');
INSERT INTO "night_row" VALUES('00000091-0000-4000-8000-000000000000','demo/paced fast','seconds',3.005,'same');
INSERT INTO "night_row" VALUES('00000091-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','part kind=x y step=2',0.05,'same');
INSERT INTO "night_row" VALUES('00000091-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','seconds',0.10005,'none');
INSERT INTO "night_row" VALUES('00000092-0000-4000-8000-000000000000','benchmark/program program arguments=--x name=y name=gemv program=gemv_benchmark','real_time benchmark=BM_a/8 b',1.0005e-06,'same');
INSERT INTO "night_row" VALUES('00000092-0000-4000-8000-000000000000','demo/paced fast','seconds',3.005,'same');
INSERT INTO "night_row" VALUES('00000092-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','part kind=x y step=2',0.05,'same');
INSERT INTO "night_row" VALUES('00000092-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','seconds',NULL,'slower');
INSERT INTO "night_row" VALUES('00000093-0000-4000-8000-000000000000','benchmark/program program arguments=--x name=y name=gemv program=gemv_benchmark','real_time benchmark=BM_a/8 b',2.001e-06,'none');
INSERT INTO "night_row" VALUES('00000093-0000-4000-8000-000000000000','demo/paced fast','seconds',3.005,'same');
INSERT INTO "night_row" VALUES('00000093-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','part kind=x y step=2',0.05,'same');
INSERT INTO "night_row" VALUES('00000093-0000-4000-8000-000000000000','demo/work left mode=a b=c n=1','seconds',NULL,'slower');
INSERT INTO "night_row" VALUES('00000094-0000-4000-8000-000000000000','demo/never all','',NULL,'none');
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
INSERT INTO "regression" VALUES('000000a1-0000-4000-8000-000000000000','cpu','feedfacecafebeef','demo/work left mode=a b=c n=1','seconds','confirmed','2026-10-02T02:10:00.000Z','2026-10-03T02:10:00.000Z');
INSERT INTO "regression" VALUES('000000a2-0000-4000-8000-000000000000','cpu','feedfacecafebeef','benchmark/program program arguments=--x name=y name=gemv program=gemv_benchmark','real_time benchmark=BM_a/8 b','accepted','2026-10-03T02:10:00.000Z','2026-10-03T09:00:00.000Z');
INSERT INTO "regression" VALUES('000000a3-0000-4000-8000-000000000000','cpu','feedfacecafebeef','demo/gone old way k=1.5 mode=two words','loss step=3',NULL,'2026-09-30T02:10:00.000Z','2026-10-01T02:10:00.000Z');
CREATE TABLE regression_step (
    regression TEXT NOT NULL REFERENCES regression(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    at         TEXT NOT NULL,
    night      TEXT REFERENCES night(id) ON DELETE SET NULL,   -- NULL: a person did it
    state      TEXT,                     -- after the step
    why        TEXT NOT NULL,
    PRIMARY KEY (regression, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO "regression_step" VALUES('000000a1-0000-4000-8000-000000000000',0,'2026-10-02T02:10:00.000Z','00000092-0000-4000-8000-000000000000','candidate','first seen tonight');
INSERT INTO "regression_step" VALUES('000000a1-0000-4000-8000-000000000000',1,'2026-10-03T02:10:00.000Z','00000093-0000-4000-8000-000000000000','confirmed','seen in a second night');
INSERT INTO "regression_step" VALUES('000000a2-0000-4000-8000-000000000000',0,'2026-10-03T02:10:00.000Z','00000093-0000-4000-8000-000000000000','candidate','first seen tonight');
INSERT INTO "regression_step" VALUES('000000a2-0000-4000-8000-000000000000',1,'2026-10-03T09:00:00.000Z',NULL,'accepted','a new kernel');
INSERT INTO "regression_step" VALUES('000000a3-0000-4000-8000-000000000000',0,'2026-09-30T02:10:00.000Z','00000090-0000-4000-8000-000000000000','candidate','first seen tonight');
INSERT INTO "regression_step" VALUES('000000a3-0000-4000-8000-000000000000',1,'2026-10-01T02:10:00.000Z','00000091-0000-4000-8000-000000000000',NULL,'not seen again in the next night');
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
INSERT INTO "sample" VALUES('00000001-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',1,0,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-01T02:01:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000002-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',2,1,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-01T02:01:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000003-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',1,0,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-01T02:02:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000004-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',2,1,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":1,"scenario":"kill:rank=1@step=5","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-01T02:02:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000005-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',1,0,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-01T02:03:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000006-1111-4000-8000-000000000000','00000001-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',2,1,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-01T02:03:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000007-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',1,0,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-02T02:01:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000008-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',2,1,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-02T02:01:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000009-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',1,0,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-02T02:02:00.000Z',0.5);
INSERT INTO "sample" VALUES('0000000a-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',2,1,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":1,"scenario":"kill:rank=1@step=5","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-02T02:02:01.000Z',0.5);
INSERT INTO "sample" VALUES('0000000b-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',1,0,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-02T02:03:00.000Z',0.5);
INSERT INTO "sample" VALUES('0000000c-1111-4000-8000-000000000000','00000002-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',2,1,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-02T02:03:01.000Z',0.5);
INSERT INTO "sample" VALUES('0000000d-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',1,0,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-03T02:01:00.000Z',0.5);
INSERT INTO "sample" VALUES('0000000e-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','15c1b4b4-515d-83ac-bf7a-84613a3b5bc0',2,1,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-03T02:01:01.000Z',0.5);
INSERT INTO "sample" VALUES('0000000f-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',1,0,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":0,"scenario":"kill:rank=1@step=5","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-03T02:02:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000010-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','53455387-de34-8cb0-9afd-e820245710a8',2,1,'ok','','{"case":{},"experiment":"demo/paced","profile":"toy","provenance":"emulated","round":1,"scenario":"kill:rank=1@step=5","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"fast"}','2026-10-03T02:02:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000011-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',1,0,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-03T02:03:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000012-1111-4000-8000-000000000000','00000003-0000-4000-8000-000000000000','65db6271-35bf-810f-b5ab-28f4b3807c4a',2,1,'ok','','{"case":{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"},"experiment":"benchmark/program","profile":"toy","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"program"}','2026-10-03T02:03:01.000Z',0.5);
INSERT INTO "sample" VALUES('00000013-1111-4000-8000-000000000000','00000004-0000-4000-8000-000000000000','1f23c2f6-d747-8bc6-866a-227973cbfc83',1,0,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"small","provenance":"measured","round":0,"scenario":"","scratch":"","seed":1,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-04T02:01:00.000Z',0.5);
INSERT INTO "sample" VALUES('00000014-1111-4000-8000-000000000000','00000004-0000-4000-8000-000000000000','1f23c2f6-d747-8bc6-866a-227973cbfc83',2,1,'ok','','{"case":{"mode":"a b=c","n":1},"experiment":"demo/work","profile":"small","provenance":"measured","round":1,"scenario":"","scratch":"","seed":2,"shared":"","state":"","timeout_s":600.0,"variant":"left"}','2026-10-04T02:01:01.000Z',0.5);
CREATE TABLE schema_version (  -- which migrations this file has been through
    version INTEGER PRIMARY KEY,
    applied TEXT NOT NULL
) STRICT;
INSERT INTO "schema_version" VALUES(1,'2026-10-01T01:00:00.000Z');
INSERT INTO "schema_version" VALUES(2,'2026-10-01T01:00:00.000Z');
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
INSERT INTO "series" VALUES('15c1b4b4-515d-83ac-bf7a-84613a3b5bc0','demo/work','left','{"mode":"a b=c","n":1}','toy','measured','','feedfacecafebeef','','');
INSERT INTO "series" VALUES('1f23c2f6-d747-8bc6-866a-227973cbfc83','demo/work','left','{"mode":"a b=c","n":1}','small','measured','','feedfacecafebeef','','');
INSERT INTO "series" VALUES('53455387-de34-8cb0-9afd-e820245710a8','demo/paced','fast','{}','toy','emulated','kill:rank=1@step=5','feedfacecafebeef','','');
INSERT INTO "series" VALUES('65db6271-35bf-810f-b5ab-28f4b3807c4a','benchmark/program','program','{"arguments":"--x name=y","name":"gemv","program":"gemv_benchmark"}','toy','measured','','feedfacecafebeef','','');
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
) STRICT, WITHOUT ROWID;
INSERT INTO "session" VALUES('00000001-0000-4000-8000-000000000000','feedfacecafebeef','assay nightly cpu.toml','plan','build-2','{"commit":"abc","compiler":"g++ 12.2"}','2026-10-01T02:00:00.000Z','2026-10-01T02:10:00.000Z','finished',8,0,0);
INSERT INTO "session" VALUES('00000002-0000-4000-8000-000000000000','feedfacecafebeef','assay nightly cpu.toml','plan','build-2','{"commit":"abc","compiler":"g++ 12.2"}','2026-10-02T02:00:00.000Z','2026-10-02T02:10:00.000Z','finished',8,0,0);
INSERT INTO "session" VALUES('00000003-0000-4000-8000-000000000000','feedfacecafebeef','assay nightly cpu.toml','plan','build-2','{"commit":"abc","compiler":"g++ 12.2"}','2026-10-03T02:00:00.000Z','2026-10-03T02:10:00.000Z','finished',8,0,0);
INSERT INTO "session" VALUES('00000004-0000-4000-8000-000000000000','feedfacecafebeef','assay run demo/work --profile small','plan','build-2','{"commit":"abc","compiler":"g++ 12.2"}','2026-10-04T02:00:00.000Z','2026-10-04T02:10:00.000Z','finished',8,0,0);
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
CREATE INDEX regression_row ON regression(suite, machine, series, metric, opened);
CREATE INDEX regression_step_night ON regression_step(night);
CREATE INDEX accepted_level_baseline ON accepted_level(baseline, at);
CREATE INDEX accepted_level_session ON accepted_level(session);
CREATE INDEX sample_series ON sample(series, status, session, started);
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
  JOIN session ON session.id = sample.session;
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
COMMIT;
PRAGMA application_id = 1095979865;
PRAGMA user_version = 2;
