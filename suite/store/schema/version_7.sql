-- Version 7: a session keeps the host that it ran on, among its suspects. Until now the machine's
-- description had it, which the next session on equal hardware wrote anew.

-- The host that is known now. An import tells that of its file (host_name), and no other.
UPDATE session
   SET suspects = json_set(suspects, '$.host', (SELECT json_extract(description, '$.hostname')
                                                  FROM machine
                                                 WHERE fingerprint = session.machine))
 WHERE json_extract(suspects, '$.host') IS NULL
   AND json_extract(suspects, '$.host_name') IS NULL
   AND EXISTS (SELECT 1 FROM machine
                WHERE fingerprint = session.machine
                  AND json_extract(description, '$.hostname') <> ''
                  AND json_extract(description, '$.imported') IS NULL);
UPDATE machine
   SET description = json_remove(description, '$.hostname')
 WHERE json_extract(description, '$.hostname') IS NOT NULL;

-- One row per session.
DROP VIEW sessions;
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
       coalesce(json_extract(session.suspects, '$.host'),
                json_extract(session.suspects, '$.host_name')) AS host,
       json_extract(machine.description, '$.cpu')         AS cpu,
       json_extract(session.suspects, '$.commit')         AS git_commit,
       json_extract(session.suspects, '$.compiler')       AS compiler,
       json_extract(session.suspects, '$.driver')         AS driver,
       session.build                                      AS build,
       session.command                                    AS command,
       session.suspects                                   AS suspects
  FROM session JOIN machine ON machine.fingerprint = session.machine;
