/* The tables, and how each version of them becomes the next. */
#include <limits.h>

#include "store/inside.h"

/*
 * A version that was released is never changed: what is to be different is one more row.
 *
 * `seq` is the order in which rows came, which lists go by. Each list has an index whose last part
 * is, without being named, `seq`. Rows that a list or a search goes through have no large column:
 * a state has a table of its own, and an envelope is the last column, which is not read on the way.
 */
const char *const cs_migrations[] = {
    "CREATE TABLE probe (at INTEGER NOT NULL);"
    "INSERT INTO probe VALUES (0);"

    "CREATE TABLE keys ("
    " id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, tenant TEXT NOT NULL, role TEXT NOT NULL,"
    " hash BLOB NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,"
    " revoked INTEGER NOT NULL, used INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX keys_name ON keys (name) WHERE revoked = 0;"

    "CREATE TABLE sessions ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " principal TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,"
    " created INTEGER NOT NULL, used INTEGER NOT NULL, expires INTEGER NOT NULL,"
    " idle_ms INTEGER NOT NULL, executions INTEGER NOT NULL);"
    "CREATE INDEX sessions_used ON sessions (tenant, used);"
    "CREATE INDEX sessions_count ON sessions (tenant, expires);"
    "CREATE INDEX sessions_expires ON sessions (expires) WHERE expires > 0;"
    "CREATE TABLE states (session TEXT PRIMARY KEY, state TEXT NOT NULL);"

    "CREATE TABLE executions ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " principal TEXT NOT NULL, session TEXT NOT NULL, status TEXT NOT NULL,"
    " error_type TEXT NOT NULL DEFAULT '', language TEXT NOT NULL, intent TEXT NOT NULL,"
    " key TEXT NOT NULL, fingerprint TEXT NOT NULL, created INTEGER NOT NULL,"
    " finished INTEGER NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '',"
    " envelope TEXT NOT NULL DEFAULT '');"
    "CREATE INDEX executions_status ON executions (tenant, status);"
    "CREATE INDEX executions_tenant ON executions (tenant);"
    "CREATE INDEX executions_session ON executions (tenant, session) WHERE session <> '';"
    "CREATE INDEX executions_key ON executions (tenant, key) WHERE key <> '';"
    "CREATE INDEX executions_owner ON executions (owner) WHERE owner <> '';"
    "CREATE INDEX executions_finished ON executions (finished) WHERE finished > 0;"

    "CREATE TABLE artifacts ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " execution TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL,"
    " media_type TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,"
    " created INTEGER NOT NULL);"
    "CREATE INDEX artifacts_tenant ON artifacts (tenant);"
    "CREATE INDEX artifacts_session ON artifacts (tenant, session) WHERE session <> '';"
    "CREATE INDEX artifacts_execution ON artifacts (execution);"
    "CREATE INDEX artifacts_hash ON artifacts (hash);"
    "CREATE TABLE trash (hash BLOB PRIMARY KEY);",

    /*
     * 2: the record. The ledger's columns are what its lists are filtered by; `entry` is what
     * counts. Executions are made anew, because a column after the envelope could only be read
     * through it. Measures never have a number twice, so that whoever folds them sees that somebody
     * else did.
     */
    "CREATE TABLE ledger ("
    " seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, tenant TEXT NOT NULL,"
    " principal TEXT NOT NULL, execution TEXT NOT NULL, event TEXT NOT NULL, hash BLOB NOT NULL,"
    " entry TEXT NOT NULL);"
    "CREATE INDEX ledger_time ON ledger (time);"
    "CREATE INDEX ledger_tenant ON ledger (tenant) WHERE tenant <> '';"
    "CREATE INDEX ledger_principal ON ledger (principal) WHERE principal <> '';"
    "CREATE INDEX ledger_execution ON ledger (execution) WHERE execution <> '';"
    "CREATE INDEX ledger_event ON ledger (event);"
    "CREATE TABLE checkpoints ("
    " seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, time INTEGER NOT NULL, key BLOB NOT NULL,"
    " signature BLOB NOT NULL);"
    "CREATE TABLE ledger_base ("
    " id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL);"
    "INSERT INTO ledger_base VALUES (1, 0, zeroblob(32));"

    "CREATE TABLE executions_2 ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " principal TEXT NOT NULL, session TEXT NOT NULL, status TEXT NOT NULL,"
    " error_type TEXT NOT NULL DEFAULT '', language TEXT NOT NULL, intent TEXT NOT NULL,"
    " key TEXT NOT NULL, fingerprint TEXT NOT NULL, created INTEGER NOT NULL,"
    " finished INTEGER NOT NULL DEFAULT 0, durable INTEGER NOT NULL DEFAULT 0,"
    " owner TEXT NOT NULL DEFAULT '', envelope TEXT NOT NULL DEFAULT '');"
    "INSERT INTO executions_2 SELECT seq, id, tenant, principal, session, status, error_type,"
    " language, intent, key, fingerprint, created, finished, 0, owner, envelope FROM executions;"
    "DROP TABLE executions;"
    "ALTER TABLE executions_2 RENAME TO executions;"
    "CREATE INDEX executions_status ON executions (tenant, status);"
    "CREATE INDEX executions_tenant ON executions (tenant);"
    "CREATE INDEX executions_session ON executions (tenant, session) WHERE session <> '';"
    "CREATE INDEX executions_key ON executions (tenant, key) WHERE key <> '';"
    "CREATE INDEX executions_owner ON executions (owner, durable) WHERE owner <> '';"
    "CREATE INDEX executions_finished ON executions (finished) WHERE finished > 0;"

    "CREATE TABLE journals (seq INTEGER PRIMARY KEY, execution TEXT NOT NULL, part BLOB NOT NULL);"
    "CREATE INDEX journals_execution ON journals (execution);"
    "CREATE TABLE journal_blobs (execution TEXT NOT NULL, hash BLOB NOT NULL,"
    " PRIMARY KEY (execution, hash)) WITHOUT ROWID;"
    "CREATE INDEX journal_blobs_hash ON journal_blobs (hash);"

    "CREATE TABLE cache ("
    " tenant TEXT NOT NULL, key BLOB NOT NULL, execution TEXT NOT NULL, created INTEGER NOT NULL,"
    " expires INTEGER NOT NULL, value TEXT NOT NULL, UNIQUE (tenant, key));"
    "CREATE INDEX cache_expires ON cache (expires);"

    "CREATE TABLE measures ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, status TEXT NOT NULL,"
    " error_type TEXT NOT NULL, tools TEXT NOT NULL, finished INTEGER NOT NULL,"
    " wall_us INTEGER NOT NULL, cpu_us INTEGER NOT NULL, memory_peak INTEGER NOT NULL,"
    " calls INTEGER NOT NULL, calls_failed INTEGER NOT NULL, calls_denied INTEGER NOT NULL,"
    " tokens_saved INTEGER NOT NULL, cached INTEGER NOT NULL);"
    "CREATE TABLE sums ("
    " tenant TEXT NOT NULL, start INTEGER NOT NULL, value TEXT NOT NULL, UNIQUE (tenant, start));"
    "CREATE INDEX sums_start ON sums (start);"

    /* Artifacts know what they are, how much there is of them, and what they were made from. What a
     * tenant keeps is added up as it changes: a sum over all of them would be slow. */
    "ALTER TABLE artifacts ADD COLUMN kind TEXT NOT NULL DEFAULT 'result';"
    "ALTER TABLE artifacts ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;"
    "UPDATE artifacts SET kind = 'stdout' WHERE name = 'stdout';"
    "CREATE INDEX artifacts_gone ON artifacts (gone) WHERE gone = 1;"
    "CREATE TABLE kept (tenant TEXT PRIMARY KEY, bytes INTEGER NOT NULL, files INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "INSERT INTO kept SELECT tenant, sum(size), count(*) FROM artifacts GROUP BY tenant;"
    "CREATE TRIGGER artifact_added AFTER INSERT ON artifacts BEGIN"
    " INSERT INTO kept VALUES (new.tenant, new.size, 1) ON CONFLICT (tenant)"
    " DO UPDATE SET bytes = bytes + excluded.bytes, files = files + 1;"
    "END;"
    "CREATE TRIGGER artifact_removed AFTER DELETE ON artifacts WHEN old.gone = 0 BEGIN"
    " UPDATE kept SET bytes = bytes - old.size, files = files - 1 WHERE tenant = old.tenant;"
    "END;"
    "CREATE TRIGGER artifact_gone AFTER UPDATE OF gone ON artifacts"
    " WHEN old.gone = 0 AND new.gone = 1 BEGIN"
    " UPDATE kept SET bytes = bytes - old.size, files = files - 1 WHERE tenant = old.tenant;"
    "END;"
    "CREATE TABLE sources ("
    " seq INTEGER PRIMARY KEY, execution TEXT NOT NULL, tenant TEXT NOT NULL, kind TEXT NOT NULL,"
    " name TEXT NOT NULL, hash BLOB NOT NULL, arguments BLOB NOT NULL,"
    " alone INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX sources_execution ON sources (execution);"
    "CREATE INDEX sources_alone ON sources (alone) WHERE alone = 1;"
    "CREATE INDEX sources_artifact ON sources (name) WHERE kind = 'artifact';",

    /* Who is in a session, of those that outlive their process: nobody else gets in before it has
     * ended. released: the session has its state, and only the record of its end is missing. */
    "CREATE TABLE holds ("
    " session TEXT PRIMARY KEY, execution TEXT NOT NULL, released INTEGER NOT NULL DEFAULT 0"
    ") WITHOUT ROWID;"
    "CREATE INDEX holds_execution ON holds (execution);",

    /* 4: sealed entries of vaults, of sessions and of executions that outlive their process. */
    "CREATE TABLE vaults (seq INTEGER PRIMARY KEY, owner TEXT NOT NULL, sealed BLOB NOT NULL);"
    "CREATE INDEX vaults_owner ON vaults (owner);",

    /* 5: whoever shows this key may ask for values instead of tokens. */
    "ALTER TABLE keys ADD COLUMN reveal INTEGER NOT NULL DEFAULT 0;",

    /* 6: what persons were asked, and what they said; what they allowed beyond one time; and tools
     * as they were seen. Cards and definitions stand last: a column after them could only be read
     * through them. */
    "CREATE TABLE approvals ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " execution TEXT NOT NULL, session TEXT NOT NULL, principal TEXT NOT NULL,"
    " actor TEXT NOT NULL, kind TEXT NOT NULL, risk TEXT NOT NULL, binding BLOB NOT NULL,"
    " scope BLOB NOT NULL, card_hash BLOB NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL,"
    " expires INTEGER NOT NULL, decided INTEGER NOT NULL DEFAULT 0,"
    " answer TEXT NOT NULL DEFAULT '', decided_by TEXT NOT NULL DEFAULT '',"
    " channel TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',"
    " used INTEGER NOT NULL DEFAULT 0, card TEXT NOT NULL);"
    "CREATE INDEX approvals_tenant ON approvals (tenant);"
    "CREATE INDEX approvals_state ON approvals (tenant, state);"
    "CREATE INDEX approvals_execution ON approvals (execution);"
    "CREATE INDEX approvals_pending ON approvals (expires) WHERE state = 'pending';"
    "CREATE INDEX approvals_decided ON approvals (decided) WHERE decided > 0;"
    "CREATE TABLE grants ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,"
    " principal TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, binding BLOB NOT NULL,"
    " server TEXT NOT NULL, tool TEXT NOT NULL, definition BLOB NOT NULL,"
    " created INTEGER NOT NULL, expires INTEGER NOT NULL, made_by TEXT NOT NULL,"
    " approval TEXT NOT NULL, arguments TEXT NOT NULL);"
    "CREATE INDEX grants_tenant ON grants (tenant);"
    "CREATE INDEX grants_binding ON grants (tenant, binding);"
    "CREATE INDEX grants_tool ON grants (tenant, server, tool) WHERE tool <> '';"
    "CREATE INDEX grants_session ON grants (session) WHERE session <> '';"
    "CREATE INDEX grants_expires ON grants (expires) WHERE expires > 0;"
    "CREATE TABLE tools_seen ("
    " server TEXT NOT NULL, entry INTEGER NOT NULL, tool TEXT NOT NULL,"
    " definition BLOB NOT NULL, looked_at BLOB NOT NULL, server_since INTEGER NOT NULL,"
    " since INTEGER NOT NULL, changed INTEGER NOT NULL DEFAULT 0, seen INTEGER NOT NULL,"
    " text TEXT NOT NULL, before TEXT NOT NULL DEFAULT '', UNIQUE (server, entry, tool));"
    "CREATE INDEX tools_seen_seen ON tools_seen (seen);",

    /* 7: what had come in when an artifact was made. Of those that were made before nobody knows:
     * whatever heard something may have heard anything (labels 3: private, untrusted). */
    "ALTER TABLE artifacts ADD COLUMN came TEXT NOT NULL DEFAULT '';"
    "UPDATE artifacts SET came = '[{\"server\":\"(before)\",\"server_ident\":\"(before)\","
    "\"tool\":\"*\",\"ident\":\"*\",\"place\":\"\",\"labels\":3}]'"
    " WHERE session <> '' OR EXISTS (SELECT 1 FROM sources s WHERE s.execution = "
    "artifacts.execution"
    " AND s.kind IN ('call', 'artifact'));",

    /* 8: what an answer is good for, beside what is shown. Of grants that have none of that nobody
     * can tell which questions they were an answer to: it is asked again. */
    "ALTER TABLE approvals ADD COLUMN bound TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE grants ADD COLUMN actor TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE grants ADD COLUMN bound TEXT NOT NULL DEFAULT '';"
    "UPDATE grants SET actor = coalesce((SELECT actor FROM approvals"
    " WHERE approvals.id = grants.approval), '');"
    "DELETE FROM grants WHERE tool <> '' OR actor = '';",

    /* 9: how much was masked, by kind. */
    "ALTER TABLE measures ADD COLUMN masked TEXT NOT NULL DEFAULT '';",

    NULL,
};

static int version_of(struct cs_db *db, int *version, struct cs_err *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db->sqlite, "PRAGMA user_version", -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
        *version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return code == SQLITE_ROW ? 0 : cs_sql_fail(db, code, err);
}

static int step_up(struct cs_db *db, const char *const *migrations, int last, struct cs_err *err)
{
    int version = 0;
    if (version_of(db, &version, err) < 0)
        return -1;
    if (version < 0 || version > last)
        return cs_fail(err, CS_SYSTEM,
                       "%s: it is of version %d, and this program knows none above %d; use the "
                       "newer program that made it, or another data directory",
                       db->path, version, last);
    for (int v = version; v < last; v++)
        if (cs_sql_exec(db, migrations[v], err) < 0)
            return cs_wrap(err, "from version %d to %d", v, v + 1);
    char set[48];
    sqlite3_snprintf(sizeof set, set, "PRAGMA user_version = %d", last);
    return version == last ? 0 : cs_sql_exec(db, set, err);
}

int cs_db_migrate(struct cs_db *db, const char *const *migrations, struct cs_err *err)
{
    int last = 0, version = 0;
    while (migrations[last])
        last++;
    /* Mostly there is nothing to do, and nobody has to wait for those who write. */
    if (version_of(db, &version, err) < 0)
        return -1;
    if (version == last)
        return 0;
    /* Another process may be at it too: the version is read again when it is our turn. */
    if (cs_sql_exec(db, "BEGIN IMMEDIATE", err) < 0)
        return -1;
    if (step_up(db, migrations, last, err) == 0 && cs_sql_exec(db, "COMMIT", err) == 0)
        return 0;
    cs_db_rollback(db);
    return -1;
}
