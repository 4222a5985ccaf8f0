-- Version 1 of the results database.
--
-- Ids are UUIDs as text, so that files of several machines merge without collisions. Times are
-- ISO 8601 UTC with milliseconds. JSON columns hold canonical JSON: members in name order, no white
-- space. A real that is not a number is stored as NULL and read back as NaN; infinities are stored.
-- What hangs on a sample keeps the order in which it was recorded (ordinal) and goes with it.

-- One computer, as far as performance goes. The fingerprint hashes what affects it.
CREATE TABLE machine (
    fingerprint TEXT PRIMARY KEY,
    description TEXT NOT NULL            -- JSON: processors, memory, accelerators, kernel …
) STRICT, WITHOUT ROWID;

-- One execution of a plan, possibly continued after an interruption.
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
CREATE INDEX session_plan ON session(plan_hash, build);

-- What makes samples comparable with each other. The id is derived from the other columns.
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

-- One execution of one case of one variant with one seed.
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
CREATE INDEX sample_series ON sample(series, status);

CREATE TABLE metric (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    labels  TEXT NOT NULL,               -- JSON: layer, step, rank …; {} when there are none
    value   REAL,                        -- NULL: not a number
    PRIMARY KEY (sample, ordinal),
    UNIQUE (sample, name, labels)
) STRICT, WITHOUT ROWID;

-- Something that happened t_s seconds after the sample's start.
CREATE TABLE event (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    t_s     REAL,
    kind    TEXT NOT NULL,               -- fault, death, detection, regroup, transfer, commit …
    rank    INTEGER NOT NULL,            -- -1: none
    detail  TEXT NOT NULL,               -- JSON
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;

-- A curve: two equally long blobs of little-endian IEEE 754 doubles.
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

-- A table recorded by a sample, its columns with units, its cells with the type they had.
CREATE TABLE data_table (
    sample  TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (sample, ordinal)
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
CREATE INDEX data_table_cell_column ON data_table_cell(sample, data_table, position);

-- Files kept with samples. Contents are addressed by their SHA-256 and stored once.
CREATE TABLE artifact_blob (
    sha256 TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE artifact (
    sample     TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    sha256     TEXT NOT NULL REFERENCES artifact_blob(sha256),
    PRIMARY KEY (sample, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_content ON artifact(sha256);

-- State of a long sample that is still running, from which it can go on; dropped when it finishes.
CREATE TABLE sample_checkpoint (
    sample TEXT NOT NULL REFERENCES sample(id) ON DELETE CASCADE,
    step   INTEGER NOT NULL,
    saved  TEXT NOT NULL,
    state  BLOB NOT NULL,
    PRIMARY KEY (sample, step)
) STRICT;

-- Readings of the hardware while a sample ran; NULL: the device does not tell.
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

-- What a check of a claim came to, whenever it was made.
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
CREATE INDEX claim_check_newest ON claim_check(claim, at);
CREATE INDEX claim_check_session ON claim_check(session);

-- Parameters of a cost model and where they came from.
CREATE TABLE calibration (
    hash        TEXT PRIMARY KEY,        -- SHA-256 of the parameters; series name it
    name        TEXT NOT NULL,
    parameters  TEXT NOT NULL,           -- JSON
    fitted_from TEXT NOT NULL,           -- JSON: ids of claims and samples used for the fit
    created     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A session that others are compared with, by name.
CREATE TABLE baseline (
    name    TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session(id),
    created TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_session ON baseline(session);

-- What a person wrote about a session or a sample. What is annotated is never pruned.
CREATE TABLE annotation (
    id      TEXT PRIMARY KEY,
    session TEXT REFERENCES session(id) ON DELETE CASCADE,
    sample  TEXT REFERENCES sample(id) ON DELETE CASCADE,
    at      TEXT NOT NULL,
    words   TEXT NOT NULL,
    CHECK ((session IS NULL) <> (sample IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX annotation_session ON annotation(session);
CREATE INDEX annotation_sample ON annotation(sample);
