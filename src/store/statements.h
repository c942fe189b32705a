/*
 * Inside of store/: every statement that is run more than once. Prepared when first used, and kept.
 */
#ifndef CS_STORE_STATEMENTS_H
#define CS_STORE_STATEMENTS_H

#define CS_KEY_COLUMNS "id, name, tenant, role, hash, created, expires, revoked, used, reveal"
#define CS_SESSION_COLUMNS \
    "id, tenant, principal, name, version, created, used, expires, idle_ms, executions"
#define CS_EXECUTION_COLUMNS                                                                       \
    "seq, id, tenant, principal, session, status, error_type, language, intent, key, fingerprint," \
    " created, finished, durable"
#define CS_MEASURE_COLUMNS                                                              \
    "tenant, status, error_type, tools, finished, wall_us, cpu_us, memory_peak, calls," \
    " calls_failed, calls_denied, tokens_saved, cached, masked"
#define CS_ARTIFACT_COLUMNS \
    "id, tenant, execution, session, name, media_type, kind, hash, size, created, gone, came"

/* ?1 is the time. */
#define CS_APPROVAL_COLUMNS                                                                    \
    "id, tenant, execution, session, principal, actor, kind, risk, binding, scope, card_hash," \
    " CASE WHEN state = 'pending' AND expires <= ?1 THEN 'expired' ELSE state END, created,"   \
    " expires, decided, answer, decided_by, channel, reason, used"
#define CS_GRANT_COLUMNS                                                                 \
    "id, tenant, principal, scope, session, binding, server, tool, definition, created," \
    " expires, made_by, approval, arguments, actor, bound"

#define CS_STATEMENTS(X)                                                                           \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(SAVE, "SAVEPOINT op")                                                                        \
    X(RELEASE, "RELEASE op")                                                                       \
    X(UNDO, "ROLLBACK TO op")                                                                      \
    X(PROBE, "UPDATE probe SET at = ?")                                                            \
                                                                                                   \
    X(KEY_ADD, "INSERT INTO keys (" CS_KEY_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")      \
    X(KEY_GET, "SELECT " CS_KEY_COLUMNS " FROM keys WHERE id = ?")                                 \
    X(KEYS, "SELECT " CS_KEY_COLUMNS " FROM keys ORDER BY created, rowid")                         \
    X(KEY_BY_NAME, "SELECT id FROM keys WHERE name = ? AND revoked = 0")                           \
    X(KEY_BY_ID, "SELECT id FROM keys WHERE id = ? AND revoked = 0")                               \
    X(KEY_REVOKE, "UPDATE keys SET revoked = ? WHERE id = ?")                                      \
    X(KEY_ROTATE, "UPDATE keys SET id = ?, hash = ?, expires = ?, created = ?, used = 0"           \
                  " WHERE id = ?")                                                                 \
    X(KEY_USED, "UPDATE keys SET used = max(used, ?) WHERE id = ?")                                \
                                                                                                   \
    X(SESSION_COUNT, "SELECT count(*) FROM sessions"                                               \
                     " WHERE tenant = ? AND (expires = 0 OR expires > ?)")                         \
    X(SESSION_ADD, "INSERT INTO sessions (" CS_SESSION_COLUMNS ")"                                 \
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                                       \
    X(SESSION_GET, "SELECT " CS_SESSION_COLUMNS ","                                                \
                   " (SELECT state FROM states WHERE session = sessions.id),"                      \
                   " (SELECT e.id FROM holds h JOIN executions e ON e.id = h.execution"            \
                   " WHERE h.session = sessions.id AND e.owner <> ''),"                            \
                   " (SELECT released FROM holds WHERE session = sessions.id)"                     \
                   " FROM sessions WHERE id = ? AND tenant = ?"                                    \
                   " AND (expires = 0 OR expires > ?)")                                            \
    X(SESSIONS, "SELECT " CS_SESSION_COLUMNS " FROM sessions WHERE tenant = ?"                     \
                " AND (expires = 0 OR expires > ?) ORDER BY used DESC, seq DESC LIMIT ? OFFSET ?") \
    X(SESSION_VERSION, "SELECT version FROM sessions WHERE id = ? AND tenant = ?")                 \
    X(SESSION_PUT, "UPDATE sessions SET version = version + ?, executions = executions + 1,"       \
                   " used = ?, expires = CASE WHEN expires = 0 THEN 0 ELSE ? + idle_ms END"        \
                   " WHERE id = ?")                                                                \
    X(SESSION_END, "DELETE FROM sessions WHERE id = ? AND tenant = ?")                             \
    X(SESSIONS_OLD, "SELECT id, tenant FROM sessions WHERE expires > 0 AND expires <= ?"           \
                    " AND NOT EXISTS (SELECT 1 FROM executions WHERE tenant = sessions.tenant"     \
                    " AND session = sessions.id AND owner <> '') LIMIT ?")                         \
    X(HOLD_PUT, "INSERT OR REPLACE INTO holds (session, execution) VALUES (?, ?)")                 \
    X(HOLD_RELEASED, "UPDATE holds SET released = 1 WHERE session = ?")                            \
    X(HOLD_END, "DELETE FROM holds WHERE execution = ?")                                           \
    X(HOLD_OF_SESSION_END, "DELETE FROM holds WHERE session = ?")                                  \
    X(STATE_PUT, "INSERT INTO states (session, state) VALUES (?, ?)"                               \
                 " ON CONFLICT (session) DO UPDATE SET state = excluded.state")                    \
    X(STATE_END, "DELETE FROM states WHERE session = ?")                                           \
    X(VAULT_ADD, "INSERT INTO vaults (owner, sealed) VALUES (?, ?)")                               \
    X(VAULT_GET, "SELECT sealed FROM vaults WHERE owner = ? ORDER BY seq")                         \
    X(VAULT_END, "DELETE FROM vaults WHERE owner = ?")                                             \
    X(OLD_VAULTS, "DELETE FROM vaults WHERE owner IN (SELECT o.of || e.id FROM"                    \
                  " (SELECT tenant || '/' || id AS id FROM executions"                             \
                  " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?) e,"             \
                  " (SELECT '' AS of UNION ALL SELECT '" CS_FLOWS_OWNER "') o)")                   \
                                                                                                   \
    X(EXECUTION_BY_KEY, "SELECT " CS_EXECUTION_COLUMNS ", envelope FROM executions"                \
                        " WHERE tenant = ? AND key = ? AND key <> '' AND created > ?"              \
                        " ORDER BY seq DESC LIMIT 1")                                              \
    X(EXECUTION_BEGIN, "INSERT INTO executions (id, tenant, principal, session, status, language," \
                       " intent, key, fingerprint, created, durable, owner)"                       \
                       " VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?)")                     \
    X(EXECUTION_END, "UPDATE executions SET status = ?, error_type = ?, envelope = ?,"             \
                     " finished = ?, owner = '' WHERE id = ? AND tenant = ? AND owner = ?")        \
    X(EXECUTION_DROP, "DELETE FROM executions WHERE id = ? AND tenant = ? AND status = 'running'") \
    X(EXECUTION_GET, "SELECT " CS_EXECUTION_COLUMNS ", envelope FROM executions"                   \
                     " WHERE id = ? AND tenant = ?")                                               \
    X(EXECUTION_SHORT, "SELECT status, language, session, principal, created, finished"            \
                       " FROM executions WHERE id = ? AND tenant = ?")                             \
    X(EXECUTION_SEQ, "SELECT seq FROM executions WHERE id = ? AND tenant = ?")                     \
    X(EXECUTIONS, "SELECT " CS_EXECUTION_COLUMNS " FROM executions"                                \
                  " WHERE tenant = ? AND seq < ? ORDER BY seq DESC LIMIT ?")                       \
    X(EXECUTIONS_OF_SESSION, "SELECT " CS_EXECUTION_COLUMNS " FROM executions WHERE tenant = ?"    \
                             " AND session = ? AND session <> '' AND seq < ?"                      \
                             " ORDER BY seq DESC LIMIT ?")                                         \
    X(EXECUTIONS_BY_STATUS, "SELECT " CS_EXECUTION_COLUMNS " FROM executions"                      \
                            " WHERE tenant = ? AND status = ? AND seq < ?"                         \
                            " ORDER BY seq DESC LIMIT ?")                                          \
    X(EXECUTIONS_BY_BOTH, "SELECT " CS_EXECUTION_COLUMNS " FROM executions WHERE tenant = ?"       \
                          " AND session = ? AND session <> '' AND +status = ? AND seq < ?"         \
                          " ORDER BY seq DESC LIMIT ?")                                            \
    X(EXECUTIONS_LATELY, "SELECT " CS_EXECUTION_COLUMNS " FROM executions"                         \
                         " WHERE finished > 0 AND finished > ? ORDER BY finished DESC LIMIT ?")    \
    X(OWNERS, "SELECT owner FROM executions WHERE owner > ? AND owner <> ''"                       \
              " ORDER BY owner LIMIT 1")                                                           \
    X(OWNED, "SELECT " CS_EXECUTION_COLUMNS " FROM executions"                                     \
             " WHERE owner = ? AND owner <> '' AND durable = ? LIMIT 1")                           \
    X(EXECUTION_ADOPT, "UPDATE executions SET owner = ? WHERE id = ?")                             \
    X(EXECUTION_STATUS, "UPDATE executions SET status = ? WHERE id = ? AND owner = ?")             \
    X(EXECUTION_THERE, "SELECT 1 FROM executions WHERE id = ?")                                    \
    X(OLD_TRASH, "INSERT OR IGNORE INTO trash SELECT a.hash FROM artifacts a"                      \
                 " JOIN executions e ON e.id = a.execution AND e.tenant = a.tenant"                \
                 " WHERE a.gone = 0 AND e.seq IN (SELECT seq FROM executions WHERE finished > 0"   \
                 " AND finished < ? ORDER BY finished LIMIT ?)")                                   \
    X(OLD_ARTIFACTS, "UPDATE artifacts SET gone = 1 WHERE seq IN (SELECT a.seq FROM artifacts a"   \
                     " JOIN executions e ON e.id = a.execution AND e.tenant = a.tenant"            \
                     " WHERE a.gone = 0 AND e.seq IN (SELECT seq FROM executions"                  \
                     " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?))")           \
    X(OLD_EXECUTIONS, "DELETE FROM executions WHERE seq IN (SELECT seq FROM executions"            \
                      " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?)")           \
    X(TRASH, "SELECT hash FROM trash WHERE hash > ? ORDER BY hash LIMIT ?")                        \
    X(TRASH_END, "DELETE FROM trash WHERE hash = ?")                                               \
                                                                                                   \
    X(LEDGER_ADD, "INSERT INTO ledger (seq, time, tenant, principal, execution, event, hash,"      \
                  " entry) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                                       \
    X(LEDGER_HEAD, "SELECT seq, hash FROM ledger WHERE seq > 0 ORDER BY seq DESC LIMIT 1")         \
    X(LEDGER_OF, "SELECT entry FROM ledger WHERE execution = ? AND execution <> '' AND +event = ?" \
                 " ORDER BY seq DESC LIMIT 1")                                                     \
    X(LEDGER_HASH, "SELECT hash FROM ledger WHERE seq = ?")                                        \
    X(LEDGER_PURGE, "DELETE FROM ledger WHERE seq <= ?")                                           \
    X(LEDGER_BASE, "SELECT seq, hash FROM ledger_base WHERE id = 1")                               \
    X(LEDGER_BASE_PUT, "UPDATE ledger_base SET seq = ?, hash = ? WHERE id = 1")                    \
    X(CHECKPOINT_ADD, "INSERT INTO checkpoints (seq, hash, time, key, signature)"                  \
                      " VALUES (?, ?, ?, ?, ?)")                                                   \
    X(CHECKPOINT_LAST, "SELECT seq FROM checkpoints WHERE seq > 0 ORDER BY seq DESC LIMIT 1")      \
    X(CHECKPOINT_PURGE, "DELETE FROM checkpoints WHERE seq < ?")                                   \
                                                                                                   \
    X(JOURNAL_ADD, "INSERT INTO journals (execution, part) VALUES (?, ?)")                         \
    X(JOURNAL_BLOB, "INSERT OR IGNORE INTO journal_blobs (execution, hash) VALUES (?, ?)")         \
    X(JOURNAL_GET, "SELECT part FROM journals WHERE execution = ? ORDER BY seq")                   \
    X(JOURNAL_END, "DELETE FROM journals WHERE execution = ?")                                     \
    X(JOURNAL_BLOBS_END, "DELETE FROM journal_blobs WHERE execution = ?")                          \
                                                                                                   \
    X(OLD_JOURNAL_TRASH, "INSERT OR IGNORE INTO trash SELECT hash FROM journal_blobs"              \
                         " WHERE execution IN (SELECT id FROM executions WHERE finished > 0"       \
                         " AND finished < ? ORDER BY finished LIMIT ?)")                           \
    X(OLD_JOURNAL_BLOBS, "DELETE FROM journal_blobs WHERE execution IN (SELECT id FROM executions" \
                         " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?)")        \
    X(OLD_JOURNALS, "DELETE FROM journals WHERE execution IN (SELECT id FROM executions"           \
                    " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?)")             \
                                                                                                   \
    X(CACHE_PUT, "INSERT INTO cache (tenant, key, execution, created, expires, value)"             \
                 " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) DO UPDATE SET"              \
                 " execution = excluded.execution, created = excluded.created,"                    \
                 " expires = excluded.expires, value = excluded.value")                            \
    X(CACHE_GET, "SELECT execution, created, expires, value FROM cache"                            \
                 " WHERE tenant = ? AND key = ? AND expires > ?")                                  \
    X(CACHE_END, "DELETE FROM cache WHERE rowid IN"                                                \
                 " (SELECT rowid FROM cache WHERE tenant = ? LIMIT ?)")                            \
    X(CACHE_END_ALL, "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM cache LIMIT ?)")         \
    X(CACHE_EXPIRE, "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM cache"                    \
                    " WHERE expires <= ? AND (? = '' OR tenant = ?) LIMIT ?)")                     \
                                                                                                   \
    X(MEASURE_ADD, "INSERT INTO measures (" CS_MEASURE_COLUMNS ")"                                 \
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                           \
    X(MEASURES, "SELECT seq, " CS_MEASURE_COLUMNS " FROM measures WHERE seq > 0"                   \
                " ORDER BY seq LIMIT ?")                                                           \
    X(MEASURES_END, "DELETE FROM measures WHERE seq BETWEEN ? AND ?")                              \
    X(SUM_PUT, "INSERT INTO sums (tenant, start, value) VALUES (?, ?, ?)"                          \
               " ON CONFLICT (tenant, start) DO UPDATE SET value = excluded.value")                \
    X(SUMS, "SELECT tenant, start, value FROM sums WHERE start >= ? ORDER BY start LIMIT ?")       \
    X(SUMS_OF_TENANT, "SELECT tenant, start, value FROM sums WHERE tenant = ? AND start >= ?"      \
                      " ORDER BY start LIMIT ?")                                                   \
                                                                                                   \
    X(ARTIFACT_ADD, "INSERT INTO artifacts (" CS_ARTIFACT_COLUMNS ")"                              \
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)")                                \
    X(ARTIFACT_GET, "SELECT " CS_ARTIFACT_COLUMNS " FROM artifacts WHERE id = ? AND tenant = ?")   \
    X(BLOB_USES, "SELECT 1 FROM artifacts WHERE hash = ?1 AND gone = 0"                            \
                 " UNION ALL SELECT 1 FROM journal_blobs WHERE hash = ?1 LIMIT 1")                 \
    X(ARTIFACT_READERS, "SELECT 1 FROM sources WHERE kind = 'artifact' AND name = ? LIMIT 1")      \
    X(ARTIFACT_GONE, "UPDATE artifacts SET gone = 1 WHERE id = ? AND tenant = ?")                  \
    X(ARTIFACT_END, "DELETE FROM artifacts WHERE id = ? AND tenant = ?")                           \
    X(ARTIFACTS, "SELECT " CS_ARTIFACT_COLUMNS " FROM artifacts WHERE tenant = ? AND gone = 0"     \
                 " ORDER BY seq DESC LIMIT ?")                                                     \
    X(ARTIFACTS_OF_SESSION, "SELECT " CS_ARTIFACT_COLUMNS " FROM artifacts"                        \
                            " WHERE tenant = ? AND session = ? AND session <> '' AND gone = 0"     \
                            " ORDER BY seq DESC LIMIT ?")                                          \
    X(ARTIFACTS_OF_EXECUTION, "SELECT " CS_ARTIFACT_COLUMNS " FROM artifacts"                      \
                              " WHERE execution = ? AND tenant = ? AND gone = 0"                   \
                              " ORDER BY seq DESC LIMIT ?")                                        \
    X(ARTIFACTS_MADE_BY, "SELECT " CS_ARTIFACT_COLUMNS " FROM artifacts"                           \
                         " WHERE execution = ? AND tenant = ? ORDER BY seq LIMIT ?")               \
    X(ARTIFACT_READ_BY, "SELECT execution FROM sources"                                            \
                        " WHERE kind = 'artifact' AND name = ? AND tenant = ? LIMIT ?")            \
    X(KEPT, "SELECT bytes, files FROM kept WHERE tenant = ?")                                      \
    X(SOURCE_ADD, "INSERT INTO sources (execution, tenant, kind, name, hash, arguments)"           \
                  " VALUES (?, ?, ?, ?, ?, ?)")                                                    \
    X(SOURCES, "SELECT kind, name, hash, arguments FROM sources"                                   \
               " WHERE execution = ? AND tenant = ? ORDER BY seq LIMIT ?")                         \
    X(TRASH_ADD, "INSERT OR IGNORE INTO trash VALUES (?)")                                         \
    X(OLD_ALONE, "UPDATE sources SET alone = 1 WHERE execution IN (SELECT id FROM executions"      \
                 " WHERE finished > 0 AND finished < ? ORDER BY finished LIMIT ?)")                \
    X(OLD_SOURCES, "DELETE FROM sources WHERE seq IN (SELECT s.seq FROM sources s"                 \
                   " WHERE s.alone = 1"                                                            \
                   " AND NOT EXISTS (SELECT 1 FROM artifacts WHERE execution = s.execution)"       \
                   " LIMIT ?)")                                                                    \
    X(OLD_GONE, "DELETE FROM artifacts WHERE seq IN (SELECT a.seq FROM artifacts a"                \
                " WHERE a.gone = 1 AND NOT EXISTS (SELECT 1 FROM sources"                          \
                " WHERE kind = 'artifact' AND name = a.id)"                                        \
                " LIMIT ?)")                                                                       \
    X(APPROVAL_SAME, "SELECT " CS_APPROVAL_COLUMNS ", card FROM approvals WHERE execution = ?2"    \
                     " AND tenant = ?3 AND binding = ?4 AND used = 0 AND state <> 'withdrawn'"     \
                     " ORDER BY seq DESC LIMIT 1")                                                 \
    X(APPROVAL_COUNT, "SELECT count(*) FROM approvals WHERE tenant = ? AND state = 'pending'"      \
                      " AND expires > ?")                                                          \
    X(APPROVAL_ADD,                                                                                \
      "INSERT INTO approvals (id, tenant, execution, session, principal, actor,"                   \
      " kind, risk, binding, scope, card_hash, state, created, expires, card, bound)"              \
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?)")                          \
    X(APPROVAL_GET, "SELECT " CS_APPROVAL_COLUMNS ", card, bound FROM approvals"                   \
                    " WHERE id = ?2 AND tenant = ?3")                                              \
    X(APPROVAL_SEQ, "SELECT seq FROM approvals WHERE id = ? AND tenant = ?")                       \
    X(APPROVALS, "SELECT " CS_APPROVAL_COLUMNS ", CASE WHEN ?2 THEN card ELSE '' END"              \
                 " FROM approvals WHERE tenant = ?3 AND seq < ?4 ORDER BY seq DESC LIMIT ?5")      \
    X(APPROVALS_IN, "SELECT " CS_APPROVAL_COLUMNS ", CASE WHEN ?2 THEN card ELSE '' END"           \
                    " FROM approvals WHERE tenant = ?3 AND seq < ?4 AND state = ?6"                \
                    " AND (state <> 'pending' OR expires > ?1) ORDER BY seq DESC LIMIT ?5")        \
    X(APPROVALS_EXPIRED, "SELECT " CS_APPROVAL_COLUMNS ", CASE WHEN ?2 THEN card ELSE '' END"      \
                         " FROM approvals WHERE tenant = ?3 AND seq < ?4 AND (+state = 'expired'"  \
                         " OR +state = 'pending' AND expires <= ?1) ORDER BY seq DESC LIMIT ?5")   \
    X(APPROVAL_DECIDE,                                                                             \
      "UPDATE approvals SET state = ?1, answer = ?2, decided_by = ?3, channel = ?4,"               \
      " reason = ?5, decided = ?6 WHERE id = ?7 AND tenant = ?8 AND state = 'pending'"             \
      " AND (expires > ?6 OR ?1 NOT IN ('approved', 'denied'))")                                   \
    X(APPROVAL_USE, "UPDATE approvals SET used = 1 WHERE id = ? AND tenant = ?"                    \
                    " AND state = 'approved' AND used = 0")                                        \
    X(APPROVAL_OVER, "SELECT " CS_APPROVAL_COLUMNS " FROM approvals"                               \
                     " WHERE id = ?2 AND state <> 'pending'")                                      \
    X(APPROVALS_OF, "SELECT id, tenant, principal, session, execution FROM approvals"              \
                    " WHERE execution = ? AND tenant = ? AND state = 'pending' LIMIT ?")           \
    X(APPROVALS_LATE, "SELECT id, tenant, principal, session, execution FROM approvals"            \
                      " WHERE state = 'pending' AND expires <= ? LIMIT ?")                         \
    X(APPROVAL_END, "UPDATE approvals SET state = ?, decided = ?, reason = ? WHERE id = ?"         \
                    " AND state = 'pending'")                                                      \
    X(OLD_APPROVALS, "DELETE FROM approvals WHERE seq IN (SELECT seq FROM approvals"               \
                     " WHERE decided > 0 AND decided < ? ORDER BY decided LIMIT ?)")               \
    X(GRANT_ADD, "INSERT INTO grants (" CS_GRANT_COLUMNS ")"                                       \
                 " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                       \
    X(GRANTS, "SELECT " CS_GRANT_COLUMNS " FROM grants WHERE tenant = ?"                           \
              " AND (expires = 0 OR expires > ?) ORDER BY seq DESC LIMIT ?")                       \
    X(GRANTS_OF_BINDING, "SELECT " CS_GRANT_COLUMNS " FROM grants WHERE tenant = ?1"               \
                         " AND binding = ?2 AND principal = ?3 AND actor = ?7 AND (scope ="        \
                         " 'program' OR scope = 'session' AND session = ?4 AND session <> '')"     \
                         " AND (expires = 0 OR expires > ?5) ORDER BY seq DESC LIMIT ?6")          \
    X(GRANTS_OF_TOOL,                                                                              \
      "SELECT " CS_GRANT_COLUMNS " FROM grants WHERE tenant = ?1"                                  \
      " AND server = ?2 AND tool = ?3 AND tool <> '' AND principal = ?4 AND actor = ?8"            \
      " AND (scope = 'tool' OR scope = 'session' AND session = ?5 AND session <> '')"              \
      " AND (expires = 0 OR expires > ?6) ORDER BY seq DESC LIMIT ?7")                             \
    X(GRANT_END, "DELETE FROM grants WHERE id = ? AND tenant = ?")                                 \
    X(GRANTS_OF_SESSION_END, "DELETE FROM grants WHERE session = ? AND tenant = ?"                 \
                             " AND session <> ''")                                                 \
    X(OLD_GRANTS, "DELETE FROM grants WHERE expires > 0 AND expires <= ?")                         \
    X(SEEN_SINCE, "SELECT min(server_since) FROM tools_seen WHERE server = ? AND entry = ?")       \
    X(SEEN_GET, "SELECT definition, looked_at, server_since, since, changed, text, before"         \
                " FROM tools_seen WHERE server = ? AND entry = ? AND tool = ?")                    \
    X(SEEN_ADD, "INSERT INTO tools_seen (server, entry, tool, definition, looked_at,"              \
                " server_since, since, seen, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")            \
    X(SEEN_CHANGE, "UPDATE tools_seen SET before = CASE WHEN definition = looked_at THEN text"     \
                   " ELSE before END, definition = ?1, text = ?2, changed = ?3"                    \
                   " WHERE server = ?4 AND entry = ?5 AND tool = ?6")                              \
    X(SEEN_AGAIN, "UPDATE tools_seen SET seen = ? WHERE server = ? AND entry = ? AND seen < ?")    \
    X(SEEN_END, "DELETE FROM tools_seen WHERE server = ? AND entry = ? AND tool = ?")              \
    X(SEEN_LOOK, "UPDATE tools_seen SET looked_at = definition, before = '', server_since = since" \
                 " WHERE server = ? AND tool = ? AND definition = ?")                              \
    X(OLD_SEEN, "DELETE FROM tools_seen WHERE seen < ?")

#endif
