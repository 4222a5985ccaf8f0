-- Version 6: verdicts say by which rules they were reached.

-- 0: by rules of before, under which a claim's texts could change a verdict; it is judged anew when
-- read. Else `claim_rules` of the program that judged (suite/claim/claim.hpp).
ALTER TABLE claim_check ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
