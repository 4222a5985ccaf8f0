-- Version 6: verdicts say by which rules they were reached, and know 'undecided'.

CREATE TEMP TABLE old_claim_check AS SELECT * FROM claim_check;
DROP TABLE claim_check;
CREATE TABLE claim_check (
    id         TEXT PRIMARY KEY,
    session    TEXT REFERENCES session(id) ON DELETE CASCADE,  -- NULL: checked outside a session
    claim      TEXT NOT NULL,
    at         TEXT NOT NULL,
    ordinal    INTEGER NOT NULL,         -- order among checks of the same moment
    verdict    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    provenance TEXT CHECK (provenance IN ('exact', 'measured', 'emulated', 'simulated')),
    obtained   REAL,
    rules      INTEGER NOT NULL DEFAULT 0,  -- `claim_rules` of the program that judged
                                         -- (suite/claim/claim.hpp). 0: before version 6, when a
                                         -- claim's texts could change a verdict; judged anew when read
    CHECK (verdict IN ('supported', 'contradicted', 'undecided', 'calibrated',
                       'not checkable here', 'not run')
           OR (verdict = 'open discrepancy' AND rules = 0))
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_check_newest ON claim_check(claim, at);
CREATE INDEX claim_check_session ON claim_check(session);
INSERT INTO claim_check (id, session, claim, at, ordinal, verdict, reason, provenance, obtained)
    SELECT id, session, claim, at, ordinal, verdict, reason, provenance, obtained FROM old_claim_check;
DROP TABLE old_claim_check;
