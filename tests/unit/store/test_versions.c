/* Tables of every version, and how their lists are found. */
#include "store/fixture.h"

#include "store/inside.h"

/* As the first version left it: one of each, one execution still running, by somebody gone. */
static const char version_1[] =
    "INSERT INTO keys VALUES ('k1', 'ci', 'default', 'admin', zeroblob(32), 1, 0, 0, 5);"
    "INSERT INTO sessions VALUES (7, 's1', 'default', 'ann', 'n', 3, 1, 2, 0, 0, 9);"
    "INSERT INTO states VALUES ('s1', '{\"a\":1}');"
    "INSERT INTO executions VALUES (3, 'x1', 'default', 'ann', 's1', 'completed', '', 'typescript',"
    " 'why', 'once', 'fp', 10, 20, '', '{\"status\":\"completed\"}');"
    "INSERT INTO executions VALUES (4, 'x2', 'default', 'ann', '', 'running', '', 'typescript', '',"
    " '', '', 11, 0, '1-dead', '');"
    "INSERT INTO artifacts VALUES (5, 'a1', 'default', 'x1', 's1', 'result', 'application/json',"
    " zeroblob(32), 1234, 12);"
    "INSERT INTO artifacts VALUES (6, 'a2', 'default', 'x1', 's1', 'stdout', 'text/plain',"
    " zeroblob(32), 66, 13);"
    "INSERT INTO trash VALUES (zeroblob(32));";

static void what_version_1_had_is_there(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    cs_dir_remove(AT_FDCWD, f->dir);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    f_sql(f, "PRAGMA journal_mode = WAL");
    f_sql(f, cs_migrations[0]);
    f_sql(f, "PRAGMA user_version = 1");
    f_sql(f, version_1);
    f_open(f);
    assert_int_equal(F(f, cs_store_key_get, f_keys, CS_STR("k1")), CS_OK);
    assert_int_equal(f->keys[0].used, 5);
    assert_int_equal(F(f, cs_store_session_get, f_sessions, CS_STR("default"), CS_STR("s1")),
                     CS_OK);
    assert_str_is(f->sessions[0].state, "{\"a\":1}");
    assert_int_equal(F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x1")),
                     CS_OK);
    const struct cs_execution_row *r = f->executions;
    assert_str_is(r->envelope, "{\"status\":\"completed\"}");
    assert_str_is(r->key, "once");
    assert_true(r->created == 10 && r->finished == 20 && !r->durable);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x2"));
    assert_str_is(f->executions[0].status, "cancelled");
    struct cs_execution_filter filter = {.limit = 10, .session = CS_STR("s1")};
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    assert_int_equal(f->count, 1);
    F(f, cs_store_artifacts, f_artifacts, CS_STR("default"), CS_STR(""), CS_STR("x1"), 10);
    assert_int_equal(f->count, 2);
    assert_str_is(f->artifacts[0].kind, "stdout");
    assert_str_is(f->artifacts[1].kind, "result");
    /* What had come in when it was made is not known. */
    struct cs_str came = f->artifacts[1].came;
    assert_non_null(memmem(came.at, came.len, "\"labels\":3", 10));
    assert_string_equal(f_sql(f, "SELECT bytes || ' ' || files FROM kept WHERE tenant = 'default'"),
                        "1300 2");
    /* Its number goes on where it was. */
    struct cs_execution_row row = f_execution("x3", "default");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_string_equal(f_sql(f, "SELECT seq FROM executions WHERE id = 'x3'"), "5");
    assert_string_equal(f_sql(f, "PRAGMA integrity_check"), "ok");
}

static void f_asked(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                    size_t count)
{
    (void)rows;
    f_said(ctx, err, count);
}

static void every_older_version_becomes_this_one(void **state)
{
    struct fixture *f = *state;
    int last = 0;
    while (cs_migrations[last])
        last++;
    for (int from = 0; from < last; from++) {
        f_close(f);
        cs_dir_remove(AT_FDCWD, f->dir);
        assert_int_equal(mkdir(f->dir, 0700), 0);
        for (int v = 0; v < from; v++)
            f_sql(f, cs_migrations[v]);
        char set[48];
        snprintf(set, sizeof set, "PRAGMA user_version = %d", from);
        f_sql(f, set);
        f_open(f);
        struct cs_execution_row row = f_execution("exec_a", "default");
        assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
        struct cs_approval_row ask = {.id = CS_STR("ap_1"), .tenant = CS_STR("default")};
        assert_int_equal(F(f, cs_store_approval_add, f_asked, &ask, 10, NULL), CS_OK);
        assert_int_equal(f->count, 1);
        assert_string_equal(f_sql(f, "SELECT count(*) FROM grants"), "0");
        assert_string_equal(f_sql(f, "SELECT count(*) FROM tools_seen"), "0");
    }
}

/* Of a grant for a tool nobody can tell which questions it was an answer to; one for a program is
 * for whoever asked. */
static const char version_6[] =
    "INSERT INTO approvals (id, tenant, execution, session, principal, actor, kind, risk, binding,"
    " scope, card_hash, state, created, expires, card) VALUES ('ap_1', 'default', 'x1', '', 'ann',"
    " 'key', 'program', 'HIGH', zeroblob(32), zeroblob(32), zeroblob(32), 'approved', 1, 2, '{}');"
    "INSERT INTO grants (id, tenant, principal, scope, session, binding, server, tool, definition,"
    " created, expires, made_by, approval, arguments) VALUES"
    " ('gr_p', 'default', 'ann', 'program', '', zeroblob(32), '', '', zeroblob(32), 1, 0, 'boss',"
    "  'ap_1', ''),"
    " ('gr_x', 'default', 'ann', 'program', '', zeroblob(32), '', '', zeroblob(32), 1, 0, 'boss',"
    "  'ap_gone', ''),"
    " ('gr_t', 'default', 'ann', 'tool', '', zeroblob(32), 'mail', 'send', zeroblob(32), 1, 0,"
    "  'boss', 'ap_1', '{\"to\":\"[EMAIL_1]\"}');";

static void grants_of_version_6_that_could_be_stretched_are_gone(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    cs_dir_remove(AT_FDCWD, f->dir);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    for (int v = 0; v < 6; v++)
        f_sql(f, cs_migrations[v]);
    f_sql(f, "PRAGMA user_version = 6");
    f_sql(f, version_6);
    f_open(f);
    assert_string_equal(f_sql(f, "SELECT group_concat(id || ' ' || actor || bound) FROM grants"),
                        "gr_p key");
    assert_string_equal(f_sql(f, "SELECT id || bound FROM approvals"), "ap_1");
}

static int version(struct cs_db *db)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db->sqlite, "PRAGMA user_version", -1, &s, NULL), 0);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int v = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return v;
}

static void a_step_that_fails_leaves_the_version_before(void **state)
{
    (void)state;
    struct cs_db db = {.owner_fd = -1, .path = "memory"};
    struct cs_err err = {0};
    static const char *const one[] = {"CREATE TABLE a (x)", NULL};
    static const char *const three[] = {"CREATE TABLE a (x)", "CREATE TABLE b (x)",
                                        "CREATE TABLE b (x)", NULL};
    static const char *const fixed[] = {"CREATE TABLE a (x)", "CREATE TABLE b (x)",
                                        "ALTER TABLE b ADD COLUMN y", NULL};
    assert_int_equal(sqlite3_open(":memory:", &db.sqlite), SQLITE_OK);
    assert_int_equal(cs_db_migrate(&db, one, &err), 0);
    assert_int_equal(version(&db), 1);
    assert_int_equal(cs_db_migrate(&db, three, &err), -1);
    assert_contains(err.msg, "from version 2 to 3");
    assert_int_equal(version(&db), 1);
    assert_int_equal(cs_db_migrate(&db, fixed, &err), 0);
    assert_int_equal(version(&db), 3);
    assert_int_equal(cs_db_migrate(&db, fixed, &err), 0);
    assert_int_equal(cs_sql_exec(&db, "INSERT INTO b (x, y) VALUES (1, 2)", &err), 0);
    cs_db_close(&db);
}

/* Lists must stay fast with a million rows: none of them sorts or reads what it does not show. */
static void every_list_has_its_index(void **state)
{
    (void)state;
    char dir[] = "/tmp/caisson-store-XXXXXX";
    static const char *const statements[] = {
#define X(name, text) #name, text,
        CS_STATEMENTS(X)
#undef X
    };
    struct cs_db db;
    struct cs_err err = {0};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(cs_db_open(dir, &db, &err), 0);
    for (size_t i = 0; i < CS_COUNT(statements); i += 2) {
        const char *text = statements[i + 1];
        /* All keys are few, and are shown all. */
        if (strncmp(text, "SELECT", 6) != 0 || strcmp(statements[i], "KEYS") == 0 ||
            strcmp(statements[i], "TRASH") == 0)
            continue;
        CS_AUTO_BUF struct cs_buf explain = {0};
        sqlite3_stmt *s;
        cs_buf_printf(&explain, "EXPLAIN QUERY PLAN %s", text);
        assert_int_equal(sqlite3_prepare_v2(db.sqlite, cs_buf_cstr(&explain), -1, &s, NULL), 0);
        while (sqlite3_step(s) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(s, 3);
            bool fine = strcmp(statements[i], "OWNERS") == 0
                            ? strstr(step, "executions_owner") != NULL
                            : !strstr(step, "SCAN") && !strstr(step, "TEMP B-TREE");
            if (!fine)
                fail_msg("%s: %s", statements[i], step);
        }
        sqlite3_finalize(s);
    }
    cs_db_close(&db);
    cs_dir_remove(AT_FDCWD, dir);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(every_older_version_becomes_this_one),
        WITH(what_version_1_had_is_there),
        WITH(grants_of_version_6_that_could_be_stretched_are_gone),
        CS_TEST(a_step_that_fails_leaves_the_version_before),
        CS_TEST(every_list_has_its_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
