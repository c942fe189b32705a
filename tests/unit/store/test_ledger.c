/* The chain as the store keeps it: one after the other, whoever writes; all or nothing. */
#include "store/fixture.h"

#include <signal.h>

#include "store/inside.h"

static int setup(void **state)
{
    f_setup(state);
    struct fixture *f = *state;
    cs_store_set_chain(f->store, &f_chain);
    return 0;
}

static void reopen(struct fixture *f)
{
    f_close(f);
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
}

/* From the base on: numbers without a gap, each with the hash of the one before, and each the hash
 * that it says. */
struct walk {
    uint64_t entries, seq, checkpoints;
    unsigned char hash[32];
    char last[512];
    const char *looked_for;
    uint64_t found;
};

static bool on_entry(void *ctx, const struct cs_entry_row *row)
{
    struct walk *w = ctx;
    unsigned char hash[32];
    char prev[65];
    assert_int_equal(row->seq, w->seq + 1);
    cs_sha256(row->text, hash);
    assert_memory_equal(hash, row->hash, 32);
    cs_hex(w->hash, 32, prev);
    snprintf(w->last, sizeof w->last, "%.*s", CS_STR_ARG(row->text));
    assert_non_null(strstr(w->last, prev));
    w->found += w->looked_for && strstr(w->last, w->looked_for);
    w->seq = row->seq;
    w->entries++;
    memcpy(w->hash, row->hash, 32);
    return true;
}

static const char *path_of(struct fixture *f)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    return path;
}

static struct walk walk(struct fixture *f, const char *looked_for)
{
    struct walk w = {.looked_for = looked_for};
    struct cs_ledger_base base = {0};
    struct cs_ledger_filter none = {0};
    struct cs_err err = {0};
    /* First the base alone: a limit of one entry, and not looked at. */
    struct walk start = {0};
    if (cs_store_ledger_read(path_of(f), &(struct cs_ledger_filter){.from = UINT64_MAX / 4}, &base,
                             on_entry, &start, &err) < 0)
        fail_msg("%s", err.msg);
    w.seq = base.seq;
    memcpy(w.hash, base.hash, 32);
    if (cs_store_ledger_read(path_of(f), &none, &base, on_entry, &w, &err) < 0)
        fail_msg("%s", err.msg);
    return w;
}

/* --- append --- */

static void entries_are_linked_in_their_order(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry two[] = {f_entry("a.one", "x"), f_entry("a.two", "x")};
    assert_int_equal(F(f, cs_store_append, f_stored, two, 2), CS_OK);
    assert_int_equal(F(f, cs_store_append, f_stored, two, 1), CS_OK);
    assert_int_equal(F(f, cs_store_append, f_stored, NULL, 0), CS_OK);
    struct walk w = walk(f, "a.one");
    assert_int_equal(w.entries, 3);
    assert_int_equal(w.found, 2);
}

static void without_a_chain_there_is_no_ledger(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    f_open(f);
    const struct cs_entry one = f_entry("a.one", "x");
    assert_int_equal(F(f, cs_store_append, f_stored, &one, 1), CS_OK);
    assert_int_equal(walk(f, NULL).entries, 0);
    struct cs_execution_row row = f_execution("x", "default");
    F(f, cs_store_execution_admit, f_executions, &row, NULL);
    row = f_end_of("x", "default");
    char envelope[100];
    memset(envelope, 'h', sizeof envelope);
    row.envelope = cs_strn(envelope, sizeof envelope);
    struct cs_execution_more more = {.entries = &one, .entry_count = 1, .chain_at = 10};
    memset(f->hash, 1, 32);
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_OK);
    static const unsigned char zeros[32];
    assert_memory_equal(f->hash, zeros, 32);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x"));
    memset(envelope + 10, '0', 64);
    assert_memory_equal(f->executions[0].envelope.at, envelope, sizeof envelope);
}

static void a_chain_goes_on_after_a_restart(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry one = f_entry("a.one", "x");
    for (int i = 0; i < 3; i++) {
        F(f, cs_store_append, f_stored, &one, 1);
        reopen(f);
    }
    assert_int_equal(walk(f, NULL).entries, 3);
}

/* --- begin and end --- */

static void an_end_is_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry one = f_entry("execution.settled", "x");
    const struct cs_measure m = {.tenant = CS_STR("default"), .finished = 2000};
    const unsigned char blobs[1][32] = {{5}};
    struct cs_execution_row row = f_end_of("x", "default");
    struct cs_execution_more more = {.entries = &one,
                                     .entry_count = 1,
                                     .journal = CS_STR("part"),
                                     .blobs = blobs,
                                     .blob_count = 1,
                                     .measure = &m};
    /* It does not run. */
    assert_code(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_MISSING, "'x'");
    assert_int_equal(walk(f, NULL).entries, 0);
    assert_string_equal(f_sql(f, "SELECT (SELECT count(*) FROM journals) +"
                                 " (SELECT count(*) FROM journal_blobs) +"
                                 " (SELECT count(*) FROM measures)"),
                        "0");
    /* And now it does; what is written to the ledger in between does not matter. */
    struct cs_execution_row begin = f_execution("x", "default");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &begin, NULL), CS_OK);
    cs_store_append(f->store, &one, 1, NULL, NULL);
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_OK);
    struct walk w = walk(f, NULL);
    assert_int_equal(w.entries, 2);
    assert_memory_equal(w.hash, f->hash, 32);
    assert_string_equal(f_sql(f, "SELECT (SELECT count(*) FROM journals) +"
                                 " (SELECT count(*) FROM journal_blobs) +"
                                 " (SELECT count(*) FROM measures)"),
                        "3");
    /* Twice is not possible. */
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_MISSING);
    assert_int_equal(walk(f, NULL).entries, 2);
}

static void the_envelope_gets_the_hash_of_its_last_entry(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry two[] = {f_entry("execution.started", "x"),
                                   f_entry("execution.settled", "x")};
    char envelope[90] = "{\"chain_hash\":\"";
    memset(envelope + 15, '0', sizeof envelope - 15);
    struct cs_execution_row begin = f_execution("x", "default"), row = f_end_of("x", "default");
    row.envelope = cs_strn(envelope, sizeof envelope);
    F(f, cs_store_execution_admit, f_executions, &begin, NULL);
    struct cs_execution_more more = {.entries = two, .entry_count = 2, .chain_at = 27};
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_BUG);
    more.chain_at = SIZE_MAX - 3;
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_BUG);
    more.chain_at = 15;
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_OK);
    struct walk w = walk(f, NULL);
    assert_int_equal(w.entries, 2);
    char hex[65];
    cs_hex(w.hash, 32, hex);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x"));
    assert_memory_equal(f->executions[0].envelope.at + 15, hex, 64);
    assert_memory_equal(f->executions[0].envelope.at, envelope, 15);
    assert_memory_equal(f->executions[0].envelope.at + 79, envelope + 79, 11);
    /* What it was given is as it was. */
    assert_int_equal(envelope[15], '0');
}

static void an_admission_that_is_refused_leaves_no_entry(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry one = f_entry("execution.admitted", "x");
    struct cs_execution_more more = {.entries = &one, .entry_count = 1, .journal = CS_STR("head")};
    struct cs_execution_row row = f_execution("x", "default");
    row.key = CS_STR("once");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, &more), CS_OK);
    row.id = CS_STR("y");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, &more), CS_CONFLICT);
    assert_str_is(f->executions[0].id, "x");
    assert_int_equal(walk(f, NULL).entries, 1);
    F(f, cs_store_journal_get, f_journal, CS_STR("default"), CS_STR("x"));
    assert_str_is(f->content, "head");
    assert_int_equal(F(f, cs_store_journal_get, f_journal, CS_STR("default"), CS_STR("y")),
                     CS_MISSING);
}

/* A batch in which one fails: its entries go, and those of the others stay linked. */
static void one_that_fails_leaves_no_hole(void **state)
{
    struct fixture *f = *state;
    const struct cs_entry one = f_entry("a.one", "x"), bad = f_entry("a.bad", "x");
    struct cs_execution_row row = f_end_of("none", "default");
    struct cs_execution_more more = {.entries = &bad, .entry_count = 1};
    for (int i = 0; i < 50; i++) {
        cs_store_append(f->store, &one, 1, NULL, NULL);
        cs_store_execution_settle(f->store, &row, &more, NULL, NULL);
    }
    F(f, cs_store_append, f_stored, &one, 1);
    struct walk w = walk(f, "a.bad");
    assert_int_equal(w.entries, 51);
    assert_int_equal(w.found, 0);
}

static void what_the_dead_left_is_on_record(void **state)
{
    struct fixture *f = *state;
    int status;
    f_close(f);
    pid_t child = fork();
    if (child == 0) {
        uv_loop_init(&f->loop);
        f_open(f);
        cs_store_set_chain(f->store, &f_chain);
        struct cs_execution_row row = f_execution("x", "default");
        const struct cs_entry entry = f_entry("execution.admitted", "x");
        struct cs_execution_more more = {.entries = &entry, .entry_count = 1};
        F(f, cs_store_execution_admit, f_executions, &row, &more);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    /* Who cannot write to the ledger leaves it alone. */
    f_open(f);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x"));
    assert_str_is(f->executions[0].status, "running");
    reopen(f);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x"));
    assert_str_is(f->executions[0].status, "cancelled");
    struct walk w = walk(f, "\"execution\":\"x\"");
    assert_int_equal(w.entries, 2);
    assert_int_equal(w.found, 2);
    F(f, cs_store_measures, f_measures, 10);
    assert_int_equal(f->count, 1);
    assert_str_is(f->measures[0].status, "cancelled");
    reopen(f);
    F(f, cs_store_measures, f_measures, 10);
    assert_int_equal(f->count, 1);
    assert_int_equal(walk(f, NULL).entries, 2);
}

/* --- checkpoints --- */

static bool on_checkpoint(void *ctx, const struct cs_checkpoint_row *row)
{
    struct walk *w = ctx;
    assert_true(row->seq > w->seq);
    assert_memory_equal(row->hash, row->signature, 32);
    assert_int_equal(row->key[31], 7);
    w->seq = row->seq;
    w->checkpoints++;
    return true;
}

static struct walk checkpoints(struct fixture *f)
{
    struct walk w = {0};
    struct cs_err err = {0};
    if (cs_store_checkpoints_read(path_of(f), on_checkpoint, &w, &err) < 0)
        fail_msg("%s", err.msg);
    return w;
}

static void a_checkpoint_comes_every_so_many_entries_and_at_the_end(void **state)
{
    struct fixture *f = *state;
    struct cs_entry many[25];
    for (int i = 0; i < 25; i++)
        many[i] = f_entry("a.one", "x");
    F(f, cs_store_append, f_stored, many, 25);
    struct walk w = checkpoints(f);
    assert_int_equal(w.checkpoints, 2);
    assert_int_equal(w.seq, 20);
    f_close(f);
    w = checkpoints(f);
    assert_int_equal(w.checkpoints, 3);
    assert_int_equal(w.seq, 25);
    /* Nothing is new: no more of them. */
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
    reopen(f);
    assert_int_equal(checkpoints(f).checkpoints, 3);
    F(f, cs_store_append, f_stored, many, 9);
    assert_int_equal(checkpoints(f).checkpoints, 3);
    F(f, cs_store_append, f_stored, many, 1);
    assert_int_equal(checkpoints(f).seq, 35);
}

static void what_cannot_be_signed_is_not_written(void **state)
{
    struct fixture *f = *state;
    bool broken = true;
    struct cs_chain chain = f_chain;
    chain.ctx = &broken;
    f_close(f);
    f_open(f);
    cs_store_set_chain(f->store, &chain);
    struct cs_entry many[10];
    for (int i = 0; i < 10; i++)
        many[i] = f_entry("a.one", "x");
    assert_int_equal(F(f, cs_store_append, f_stored, many, 9), CS_OK);
    assert_code(F(f, cs_store_append, f_stored, many, 2), CS_SYSTEM, "no pen");
    assert_int_equal(walk(f, NULL).entries, 9);
    f_close(f);
    assert_int_equal(walk(f, NULL).entries, 9);
    assert_int_equal(checkpoints(f).checkpoints, 0);
}

/* --- removing --- */

static void a_purge_leaves_a_chain_with_a_base(void **state)
{
    struct fixture *f = *state;
    struct cs_entry one = f_entry("a.one", "x");
    struct cs_entry *many = cs_calloc(12000, sizeof *many);
    for (int i = 0; i < 12000; i++)
        many[i] = one;
    assert_int_equal(F(f, cs_store_append, f_stored, many, 12000), CS_OK);
    free(many);
    assert_code(F(f, cs_store_ledger_purge, f_stored, 12001), CS_MISSING, "12000");
    assert_int_equal(F(f, cs_store_ledger_purge, f_stored, 11005), CS_OK);
    struct walk w = walk(f, NULL);
    assert_int_equal(w.entries, 995);
    assert_int_equal(w.seq, 12000);
    /* Again is nothing; all of them may go, and the chain goes on. */
    assert_int_equal(F(f, cs_store_ledger_purge, f_stored, 11005), CS_OK);
    assert_int_equal(F(f, cs_store_ledger_purge, f_stored, 12000), CS_OK);
    assert_int_equal(walk(f, NULL).entries, 0);
    reopen(f);
    assert_int_equal(F(f, cs_store_append, f_stored, &one, 1), CS_OK);
    w = walk(f, NULL);
    assert_int_equal(w.entries, 1);
    assert_int_equal(w.seq, 12001);
}

/* --- lists --- */

/* 1,000 entries: of two tenants, three principals, fifty executions and six events. */
static void fill(struct fixture *f)
{
    static const char *const events[] = {"execution.admitted", "execution.settled", "key.added",
                                         "key.revoked",        "call.made",         "keys"};
    static const char *const principals[] = {"ann", "bob", ""};
    struct cs_entry many[100];
    char executions[100][16];
    for (int n = 0; n < 1000; n += 100) {
        for (int i = 0; i < 100; i++) {
            snprintf(executions[i], sizeof executions[i], "x%d", (n + i) / 20);
            many[i] = f_entry(events[(n + i) % 6], executions[i]);
            many[i].tenant = (n + i) % 4 ? CS_STR("default") : CS_STR("other");
            many[i].principal = cs_str(principals[(n + i) % 3]);
            many[i].time = 10000 + n + i;
        }
        assert_int_equal(F(f, cs_store_append, f_stored, many, 100), CS_OK);
    }
}

struct list {
    size_t count;
    uint64_t first, last, stop_at;
    bool wrong_way, down;
};

static bool on_row(void *ctx, const struct cs_entry_row *row)
{
    struct list *l = ctx;
    if (!l->count++)
        l->first = row->seq;
    else
        l->wrong_way |= l->down ? row->seq >= l->last : row->seq <= l->last;
    l->last = row->seq;
    return row->seq != l->stop_at;
}

static struct list list(struct fixture *f, struct cs_ledger_filter filter)
{
    struct list l = {.down = filter.newest_first};
    struct cs_err err = {0};
    if (cs_store_ledger_read(path_of(f), &filter, NULL, on_row, &l, &err) < 0)
        fail_msg("%s", err.msg);
    assert_false(l.wrong_way);
    return l;
}

#define LIST(...) list(f, (struct cs_ledger_filter){__VA_ARGS__})

static void a_list_is_what_was_asked_for(void **state)
{
    struct fixture *f = *state;
    fill(f);
    struct list l = LIST(.limit = 20, .newest_first = true);
    assert_int_equal(l.count, 20);
    assert_int_equal(l.first, 1000);
    assert_int_equal(LIST(.from = 10, .to = 19).count, 10);
    assert_int_equal(LIST(.from = 995).count, 6);
    assert_int_equal(LIST(.from = UINT64_MAX).count, 0);
    assert_int_equal(LIST(.to = 5, .newest_first = true).first, 5);
    assert_int_equal(LIST(.since = 10990).count, 10);
    assert_int_equal(LIST(.until = 10009, .newest_first = true).first, 10);
    assert_int_equal(LIST(.since = 10100, .until = 10199, .tenant = CS_STR("other")).count, 25);
    assert_int_equal(LIST(.tenant = CS_STR("other")).count, 250);
    assert_int_equal(LIST(.tenant = CS_STR("nobody")).count, 0);
    assert_int_equal(LIST(.execution = CS_STR("x49")).first, 981);
    assert_int_equal(LIST(.execution = CS_STR("x49"), .since = 10999).count, 1);
    assert_int_equal(LIST(.principal = CS_STR("bob"), .limit = 7).count, 7);
    assert_int_equal(LIST(.event = CS_STR("key.added")).count, 167);
    assert_int_equal(LIST(.event = CS_STR("key.")).count, 334);
    assert_int_equal(LIST(.event = CS_STR("key."), .newest_first = true, .limit = 3).count, 3);
    assert_int_equal(LIST(.event = CS_STR("key.revoked"), .execution = CS_STR("x0")).count, 3);
    assert_int_equal(LIST(.event = CS_STR("key."), .since = 10994).count, 2);
    assert_int_equal(LIST(.event = CS_STR("none.")).count, 0);
    assert_int_equal(LIST(.event = CS_STR("execution."), .tenant = CS_STR("other"),
                          .principal = CS_STR("ann"), .newest_first = true)
                         .count,
                     84);
    struct list stops = {.stop_at = 3};
    struct cs_err err = {0};
    assert_int_equal(
        cs_store_ledger_read(path_of(f), &(struct cs_ledger_filter){0}, NULL, on_row, &stops, &err),
        0);
    assert_int_equal(stops.count, 3);
}

static void no_list_of_entries_sorts_or_reads_them_all(void **state)
{
    struct fixture *f = *state;
    fill(f);
    const struct cs_ledger_filter filters[] = {
        {.limit = 20, .newest_first = true},
        {.from = 5, .to = 9},
        {.since = 5},
        {.until = 5, .newest_first = true},
        {.since = 5, .tenant = CS_STR("a"), .principal = CS_STR("b"), .event = CS_STR("c.d")},
        {.tenant = CS_STR("a")},
        {.execution = CS_STR("a"), .since = 1, .newest_first = true},
        {.principal = CS_STR("a"), .tenant = CS_STR("b"), .newest_first = true},
        {.event = CS_STR("key.added"), .tenant = CS_STR("b")},
        {.event = CS_STR("key."), .newest_first = true, .tenant = CS_STR("b")},
        {.event = CS_STR("execution."), .limit = 5}};
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path_of(f), &db), SQLITE_OK);
    for (size_t i = 0; i < CS_COUNT(filters); i++) {
        CS_AUTO_BUF struct cs_buf sql = {0};
        struct cs_err err = {0};
        sqlite3_stmt *s = NULL;
        cs_buf_puts(&sql, "EXPLAIN QUERY PLAN ");
        assert_int_equal(cs_ledger_question(path_of(f), &filters[i], &sql, &err), 0);
        assert_int_equal(sqlite3_prepare_v2(db, cs_buf_cstr(&sql), -1, &s, NULL), SQLITE_OK);
        while (sqlite3_step(s) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(s, 3);
            if (strstr(step, "SCAN") || strstr(step, "TEMP B-TREE"))
                fail_msg("%zu: %s: %s", i, step, cs_buf_cstr(&sql));
        }
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
}

/* --- copies --- */

static void copy_file(const char *from, const char *to)
{
    CS_AUTO_BUF struct cs_buf all = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_file_read(from, 1u << 30, &all, &err), 0);
    assert_int_equal(cs_file_replace(to, cs_buf_str(&all), 0444, &err), 0);
}

static void count_in_a_child(const char *dir, size_t want)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct list l = {0};
        struct cs_err err = {0};
        char path[128];
        snprintf(path, sizeof path, "%s/a %%20?copy#1.db", dir);
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(77);
        if (cs_store_ledger_read(path, &(struct cs_ledger_filter){0}, NULL, on_row, &l, &err) < 0)
            fprintf(stderr, "%s\n", err.msg);
        _exit(l.count == want ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Somebody else has a copy, where nothing can be written; and nothing is. */
static void a_copy_is_read_where_nothing_can_be_written(void **state)
{
    struct fixture *f = *state;
    char dir[] = "/tmp/caisson-copy-XXXXXX", to[128];
    fill(f);
    f_close(f);
    assert_non_null(mkdtemp(dir));
    snprintf(to, sizeof to, "%s/a %%20?copy#1.db", dir);
    copy_file(path_of(f), to);
    assert_int_equal(chmod(dir, 0555), 0);
    count_in_a_child(dir, 1000);
    chmod(dir, 0755);
    count_in_a_child(dir, 1000);
    strcat(to, "-wal");
    assert_int_equal(access(to, F_OK), -1);
    cs_dir_remove(AT_FDCWD, dir);
}

static bool write_to_it(void *ctx, const struct cs_entry_row *row)
{
    struct fixture *f = ctx;
    if (row->seq == 1)
        f_sql(f, "UPDATE ledger SET time = 0");
    return true;
}

static void a_copy_that_changes_meanwhile_is_told(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    fill(f);
    f_close(f);
    assert_int_equal(
        cs_store_ledger_read(path_of(f), &(struct cs_ledger_filter){0}, NULL, write_to_it, f, &err),
        -1);
    assert_int_equal(err.code, CS_BUSY);
}

static void what_has_no_ledger_is_refused(void **state)
{
    struct fixture *f = *state;
    struct list l = {0};
    struct cs_ledger_filter none = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_store_ledger_read("/nowhere/x.db", &none, NULL, on_row, &l, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_int_equal(cs_store_ledger_read("/tmp", &none, NULL, on_row, &l, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_int_equal(cs_store_checkpoints_read("/etc/passwd", on_checkpoint, &l, &err), -1);
    assert_contains(err.msg, "no database of ours");
    f_close(f);
    f_sql(f, "PRAGMA user_version = 1");
    assert_int_equal(cs_store_ledger_read(path_of(f), &none, NULL, on_row, &l, &err), -1);
    assert_contains(err.msg, "start caisson on it once");
    /* Columns that hold something else than they should. */
    f_sql(f, "PRAGMA user_version = 2; INSERT INTO ledger VALUES (1, 'x', x'00', 5, 7.5, '', 'no"
             " hash', x'ff00'); DELETE FROM ledger_base");
    assert_int_equal(cs_store_ledger_read(path_of(f), &none, NULL, on_row, &l, &err), 0);
    assert_int_equal(l.count, 1);
    f_sql(f, "DROP TABLE ledger; CREATE VIEW ledger AS SELECT 1 AS seq, 2 AS hash, 3 AS entry,"
             " 4 AS time");
    assert_int_equal(cs_store_ledger_read(path_of(f), &none, NULL, on_row, &l, &err), -1);
}

/* --- several processes, and a sudden end --- */

static int told_to;

static void tell_outside(void *ctx, const struct cs_err *err, const unsigned char hash[32])
{
    struct {
        int32_t n;
        unsigned char hash[32];
    } told = {.n = (int32_t)(intptr_t)ctx};
    memcpy(told.hash, hash, 32);
    if (err->code || write(told_to, &told, sizeof told) != (ssize_t)sizeof told)
        _exit(1);
}

static void write_until_killed(const char *dir, int who)
{
    struct fixture f = {0};
    strcpy(f.dir, dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    cs_store_set_chain(f.store, &f_chain);
    for (int i = 0;; i++) {
        char id[40];
        snprintf(id, sizeof id, "p%d_%d", who, i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        const struct cs_entry entries[] = {f_entry("execution.admitted", id),
                                           f_entry("call.made", id),
                                           f_entry("execution.settled", id)};
        struct cs_execution_more first = {.entries = entries, .entry_count = 1},
                                 last = {.entries = entries + 1, .entry_count = 2};
        cs_store_execution_admit(f.store, &row, &first, NULL, NULL);
        cs_store_execution_settle(f.store, &done, &last, tell_outside,
                                  (void *)(intptr_t)(who << 24 | i));
        if (i % 7 == 0)
            uv_run(&f.loop, UV_RUN_ONCE);
    }
}

/* Three write to one chain and are killed at any moment, three times: it is whole, and whatever was
 * told is in it, once. */
static void the_chain_is_one_whoever_writes_and_dies(void **state)
{
    struct fixture *f = *state;
    struct {
        int32_t n;
        unsigned char hash[32];
    } told;
    uint64_t all = 0;
    f_close(f);
    for (int round = 0; round < 3; round++) {
        int pipes[2], status;
        pid_t children[3];
        assert_int_equal(pipe(pipes), 0);
        for (int i = 0; i < 3; i++)
            if ((children[i] = fork()) == 0) {
                told_to = pipes[1];
                write_until_killed(f->dir, round * 3 + i);
            }
        close(pipes[1]);
        char sql[300];
        CS_AUTO_BUF struct cs_buf check = {0};
        cs_buf_puts(&check, "CREATE TABLE IF NOT EXISTS told (hash BLOB, id TEXT);"
                            "BEGIN;");
        for (int i = 0; read(pipes[0], &told, sizeof told) == (ssize_t)sizeof told; i++) {
            for (int k = 0; i == 400 && k < 3; k++)
                kill(children[k], SIGKILL);
            char hex[65];
            cs_hex(told.hash, 32, hex);
            snprintf(sql, sizeof sql, "INSERT INTO told VALUES (x'%s', 'p%d_%d');", hex,
                     told.n >> 24, told.n & 0xFFFFFF);
            cs_buf_puts(&check, sql);
            all++;
        }
        close(pipes[0]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        cs_buf_puts(&check, "COMMIT");
        f_sql(f, cs_buf_cstr(&check));
    }
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
    struct cs_entry one = f_entry("a.one", "x");
    assert_int_equal(F(f, cs_store_append, f_stored, &one, 1), CS_OK);
    assert_true(all > 1200);
    assert_true(walk(f, NULL).entries > 3 * all);
    char want[24];
    snprintf(want, sizeof want, "%llu", (unsigned long long)all);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM told t JOIN ledger l ON l.execution = t.id"
                                 " AND l.hash = t.hash AND l.event = 'execution.settled'"
                                 " JOIN executions e ON e.id = t.id AND e.status = 'completed'"),
                        want);
    /* Each that has begun has one end: its own, or that of the lost. */
    assert_string_equal(f_sql(f, "SELECT count(*) FROM (SELECT execution FROM ledger WHERE event ="
                                 " 'execution.settled' GROUP BY execution HAVING count(*) <> 1)"),
                        "0");
    assert_string_equal(f_sql(f, "SELECT count(*) FROM executions e WHERE NOT EXISTS (SELECT 1 FROM"
                                 " ledger WHERE execution = e.id AND event ="
                                 " 'execution.settled')"),
                        "0");
    assert_string_equal(f_sql(f, "PRAGMA integrity_check"), "ok");
}

#define WITH(name) CS_TEST_WITH(name, setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(entries_are_linked_in_their_order),
        WITH(without_a_chain_there_is_no_ledger),
        WITH(a_chain_goes_on_after_a_restart),
        WITH(an_end_is_all_or_nothing),
        WITH(the_envelope_gets_the_hash_of_its_last_entry),
        WITH(an_admission_that_is_refused_leaves_no_entry),
        WITH(one_that_fails_leaves_no_hole),
        WITH(what_the_dead_left_is_on_record),
        WITH(a_checkpoint_comes_every_so_many_entries_and_at_the_end),
        WITH(what_cannot_be_signed_is_not_written),
        WITH(a_purge_leaves_a_chain_with_a_base),
        WITH(a_list_is_what_was_asked_for),
        WITH(no_list_of_entries_sorts_or_reads_them_all),
        WITH(a_copy_is_read_where_nothing_can_be_written),
        WITH(a_copy_that_changes_meanwhile_is_told),
        WITH(what_has_no_ledger_is_refused),
        WITH(the_chain_is_one_whoever_writes_and_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
