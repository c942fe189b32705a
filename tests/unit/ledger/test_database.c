/* The ledger in its database: kept by the store, checked, exported, archived. */
#include "exports.h"
#include "store/fixture.h"

#define MANY 2500

struct world {
    struct fixture f;
    struct cs_ledger *ledger;
    unsigned char key[32];
    char path[128];
    struct cs_ledger_check check;
    struct cs_err err;
};

static void open_world(struct world *w)
{
    f_open(&w->f);
    cs_store_set_chain(w->f.store, cs_ledger_chain(w->ledger));
}

static void append(struct world *w, uint64_t from, uint64_t count)
{
    struct fixture *f = &w->f;
    struct cs_entry entries[50];
    char data[50][64];
    for (uint64_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < 50 && done < count; n++, done++)
            entries[n] = entry_of(from + done, data[n]);
        assert_int_equal(F(f, cs_store_append, f_stored, entries, n), CS_OK);
    }
}

static int setup(void **state)
{
    struct world *w = CS_NEW(struct world);
    snprintf(w->f.dir, sizeof w->f.dir, "/tmp/caisson-ledger-XXXXXX");
    assert_non_null(mkdtemp(w->f.dir));
    snprintf(w->path, sizeof w->path, "%s/caisson.db", w->f.dir);
    uv_loop_init(&w->f.loop);
    assert_int_equal(cs_ledger_open(w->f.dir, &w->ledger, NULL), 0);
    cs_ledger_public(w->ledger, w->key);
    open_world(w);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    f_close(&w->f);
    uv_loop_close(&w->f.loop);
    cs_ledger_close(w->ledger);
    cs_dir_remove(AT_FDCWD, w->f.dir);
    cs_arena_done(&w->f.arena);
    free(w);
    return 0;
}

static int verify(struct world *w)
{
    return cs_ledger_verify(w->path, w->key, CS_STR(""), &w->check, &w->err);
}

static void assert_fits(struct world *w)
{
    if (verify(w) < 0)
        fail_msg("%s", w->err.msg);
}

/* Exports, and reads it again. */
static int export_range(struct world *w, uint64_t from, uint64_t to, bool compress,
                        struct cs_buf *out)
{
    char path[160];
    struct cs_ledger_filter range = {.from = from, .to = to};
    snprintf(path, sizeof path, "%s/export", w->f.dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    int result = cs_ledger_export(w->path, &range, w->ledger, compress, file, &w->err);
    assert_int_equal(fclose(file), 0);
    cs_buf_clear(out);
    assert_int_equal(cs_file_read(path, 64 << 20, out, NULL), 0);
    if (result == 0)
        assert_int_equal(cs_ledger_verify(path, w->key, CS_STR(""), &w->check, &w->err), 0);
    return result;
}

static void what_the_store_keeps_fits(void **state)
{
    struct world *w = *state;
    append(w, 1, MANY);
    assert_fits(w); /* in use */
    assert_int_equal(w->check.entries, MANY);
    assert_int_equal(w->check.checkpoints, 2);
    assert_int_equal(w->check.signed_to, 2000);
    f_close(&w->f);
    assert_fits(w);
    assert_int_equal(w->check.signed_to, MANY); /* closing signs */
    assert_int_equal(cs_ledger_verify(w->f.dir, w->key, CS_STR(""), &w->check, &w->err), 0);
}

static void an_export_is_the_same_ledger(void **state)
{
    struct world *w = *state;
    CS_AUTO_BUF struct cs_buf all = {0}, part = {0}, packed = {0}, line = {0};
    append(w, 1, MANY);
    unsigned char head[32];
    assert_fits(w);
    memcpy(head, w->check.head, 32);
    assert_int_equal(export_range(w, 0, 0, false, &all), 0);
    assert_int_equal(w->check.entries, MANY);
    assert_int_equal(w->check.checkpoints, 2);
    assert_int_equal(w->check.signed_to, MANY);
    assert_memory_equal(w->check.head, head, 32);
    assert_int_equal(export_range(w, 0, 0, true, &packed), 0);
    assert_int_equal(w->check.entries, MANY);
    assert_true(packed.len < all.len / 2);
    for (size_t at = 0; at < packed.len; at += packed.len / 40) {
        struct cs_ledger_check check;
        packed.at[at] ^= 0x10;
        struct cs_err err = {0};
        if (cs_export_verify(cs_buf_str(&packed), w->key, CS_STR(""), &check, &err) == 0)
            assert_int_equal(check.to, MANY); /* a bit of the frame that says nothing */
        packed.at[at] ^= 0x10;
    }
    assert_int_equal(export_range(w, 1500, 1700, false, &part), 0);
    assert_int_equal(w->check.from, 1500);
    assert_int_equal(w->check.to, 1700);
    assert_int_equal(w->check.signed_to, 1700);
    assert_int_equal(export_range(w, 2001, 9999, false, &part), 0);
    assert_int_equal(w->check.entries, 500);
    assert_int_equal(export_range(w, MANY + 2, 0, false, &part), -1);
    assert_int_equal(w->err.code, CS_MISSING);
    assert_int_equal(cs_ledger_checkpoint(w->path, w->ledger, &line, &w->err), 0);
    append(w, MANY + 1, 10);
    assert_int_equal(cs_ledger_verify(w->path, NULL, cs_buf_str(&line), &w->check, &w->err), 0);
    assert_int_equal(w->check.to, MANY + 10);
}

/* Each of these is done to a database that fits. */
static void whatever_was_done_to_a_database_is_noticed(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *sql;
        uint64_t bad;
        const char *says;
    } rows[] = {
        {"UPDATE ledger SET entry = replace(entry, 'default', 'defaulx') WHERE seq = 700", 700,
         "entry 700 was changed"},
        {"UPDATE ledger SET tenant = 'other' WHERE seq = 701", 701, "column 'tenant'"},
        {"UPDATE ledger SET principal = 'other' WHERE seq = 701", 701, "column 'principal'"},
        {"UPDATE ledger SET event = 'other' WHERE seq = 701", 701, "column 'event'"},
        {"UPDATE ledger SET execution = 'other' WHERE seq = 701", 701, "column 'execution'"},
        {"UPDATE ledger SET time = time + 1 WHERE seq = 701", 701, "column 'time'"},
        {"UPDATE ledger SET hash = zeroblob(32) WHERE seq = 702", 702, "entry 702 was changed"},
        {"DELETE FROM ledger WHERE seq = 703", 703, "entry 703 is not there"},
        {"DELETE FROM ledger WHERE seq > 2400", 2401, "the end is missing"},
        {"DELETE FROM ledger WHERE seq < 100", 1, "entry 1 is not there"},
        {"DELETE FROM ledger WHERE seq < 100; INSERT OR REPLACE INTO ledger_base(id, seq, hash) "
         "SELECT 1, 99, unhex(substr(entry, instr(entry, '\"prev\":') + 8, 64)) FROM ledger WHERE "
         "seq = 100",
         99, "no entry says that they were archived"},
        {"UPDATE ledger SET seq = 9999 WHERE seq = 800; UPDATE ledger SET seq = 800 WHERE seq = "
         "801; UPDATE ledger SET seq = 801 WHERE seq = 9999",
         800, "entry 800 is not there"},
        {"DELETE FROM checkpoints WHERE seq = 1000", 1001, "a checkpoint is missing"},
        {"UPDATE checkpoints SET signature = zeroblob(64) WHERE seq = 1000", 1000,
         "signature of the checkpoint at entry 1000 does not fit"},
        {"UPDATE checkpoints SET time = time + 1 WHERE seq = 1000", 1000, "does not fit"},
        {"UPDATE checkpoints SET key = zeroblob(32) WHERE seq = 1000", 1000, "foreign key"},
    };
    append(w, 1, MANY);
    f_close(&w->f);
    assert_fits(w);
    CS_AUTO_BUF struct cs_buf whole = {0};
    assert_int_equal(cs_file_read(w->path, 64 << 20, &whole, NULL), 0);
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        /* unhex is newer than some of the SQLites that this runs with. */
        if (strstr(rows[i].sql, "unhex") && sqlite3_libversion_number() < 3041000)
            continue;
        f_sql(&w->f, rows[i].sql);
        if (verify(w) == 0)
            fail_msg("not noticed: %s", rows[i].sql);
        if (w->err.code != CS_CONFLICT || !strstr(w->err.msg, rows[i].says) ||
            w->check.bad != rows[i].bad)
            fail_msg("%s: %s (%llu)", rows[i].sql, w->err.msg, (unsigned long long)w->check.bad);
        assert_int_equal(cs_file_replace(w->path, cs_buf_str(&whole), 0600, NULL), 0);
    }
    assert_fits(w);
}

static void what_does_not_fit_is_not_signed(void **state)
{
    struct world *w = *state;
    CS_AUTO_BUF struct cs_buf out = {0};
    append(w, 1, MANY);
    f_close(&w->f);
    f_sql(&w->f, "UPDATE ledger SET entry = replace(entry, 'default', 'defaulx') WHERE seq = 700");
    assert_int_equal(export_range(w, 0, 0, false, &out), -1);
    assert_int_equal(w->err.code, CS_CONFLICT);
    assert_int_equal(out.len, 0);
    /* Not in the range, but signed together with it. */
    assert_int_equal(export_range(w, 1, 500, false, &out), -1);
    assert_int_equal(export_range(w, 1001, 1500, false, &out), 0);
}

static void what_was_archived_may_be_gone(void **state)
{
    struct world *w = *state;
    struct fixture *f = &w->f;
    CS_AUTO_BUF struct cs_buf archive = {0}, data = {0}, line = {0};
    append(w, 1, MANY);
    assert_int_equal(export_range(w, 0, 1700, true, &archive), 0);
    cs_buf_puts(&data, "{\"from\":1,\"hash\":\"");
    cs_hex_put(&data, w->check.head, 32);
    cs_buf_puts(&data, "\",\"to\":1700}");
    struct cs_entry e = {.event = CS_STR("ledger.archived"), .data = cs_buf_str(&data)};
    assert_int_equal(F(f, cs_store_append, f_stored, &e, 1), CS_OK);
    assert_int_equal(F(f, cs_store_ledger_purge, f_stored, 1700), CS_OK);
    assert_fits(w);
    assert_int_equal(w->check.from, 1701);
    assert_int_equal(w->check.to, MANY + 1);
    assert_int_equal(export_range(w, 0, 0, false, &archive), 0);
    assert_int_equal(w->check.from, 1701);
    assert_int_equal(cs_ledger_checkpoint(w->path, w->ledger, &line, &w->err), 0);
    append(w, MANY + 2, 1500);
    f_close(f);
    assert_fits(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(what_the_store_keeps_fits, setup, teardown),
        CS_TEST_WITH(an_export_is_the_same_ledger, setup, teardown),
        CS_TEST_WITH(whatever_was_done_to_a_database_is_noticed, setup, teardown),
        CS_TEST_WITH(what_does_not_fit_is_not_signed, setup, teardown),
        CS_TEST_WITH(what_was_archived_may_be_gone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
