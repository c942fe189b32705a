/* The chain as the store keeps it: one after the other, whoever writes; all or nothing. */
#include "store/fixture.h"

#include <signal.h>

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
        struct cs_execution_row row = f_execution("x", "default");
        F(f, cs_store_execution_admit, f_executions, &row, NULL);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("x"));
    assert_str_is(f->executions[0].status, "cancelled");
    struct walk w = walk(f, "\"execution\":\"x\"");
    assert_int_equal(w.entries, 1);
    assert_int_equal(w.found, 1);
    F(f, cs_store_measures, f_measures, 10);
    assert_int_equal(f->count, 1);
    assert_str_is(f->measures[0].status, "cancelled");
    reopen(f);
    F(f, cs_store_measures, f_measures, 10);
    assert_int_equal(f->count, 1);
    assert_int_equal(walk(f, NULL).entries, 1);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
