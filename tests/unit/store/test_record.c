/* Journals, blobs, cached answers, figures, and executions that outlive their process. */
#include "store/fixture.h"

#include <dirent.h>
#include <signal.h>

static void begin(struct fixture *f, const char *id, bool durable)
{
    struct cs_execution_row row = f_execution(id, "default");
    row.durable = durable;
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
}

static int end(struct fixture *f, const char *id, int64_t finished, const char *journal,
               const unsigned char (*blobs)[32], size_t count)
{
    struct cs_execution_row row = f_end_of(id, "default");
    struct cs_execution_more more = {
        .journal = cs_str(journal), .blobs = blobs, .blob_count = count};
    row.finished = finished;
    return F(f, cs_store_execution_settle, f_ended, &row, &more);
}

static int journal(struct fixture *f, const char *tenant, const char *id)
{
    return F(f, cs_store_journal_get, f_journal, cs_str(tenant), cs_str(id));
}

/* --- journals --- */

static void parts_of_a_journal_are_one(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("x", "default");
    struct cs_execution_more more = {.journal = cs_strn("he\0ad", 5)};
    F(f, cs_store_execution_admit, f_executions, &row, &more);
    begin(f, "y", false);
    F(f, cs_store_journal_append, f_stored, CS_STR("x"), CS_STR("-1"), NULL, 0);
    F(f, cs_store_journal_append, f_stored, CS_STR("y"), CS_STR("other"), NULL, 0);
    F(f, cs_store_journal_append, f_stored, CS_STR("x"), CS_STR("-2"), NULL, 0);
    assert_int_equal(end(f, "x", 2000, "-end", NULL, 0), CS_OK);
    assert_int_equal(journal(f, "default", "x"), CS_OK);
    assert_int_equal(f->content.len, 13);
    assert_memory_equal(f->content.at, "he\0ad-1-2-end", 13);
    assert_int_equal(journal(f, "theirs", "x"), CS_MISSING);
    assert_int_equal(journal(f, "default", "none"), CS_MISSING);
    assert_int_equal(F(f, cs_store_journal_append, f_stored, CS_STR("none"), CS_STR("p"), NULL, 0),
                     CS_MISSING);
    begin(f, "z", false);
    assert_code(journal(f, "default", "z"), CS_MISSING, "no journal");
    /* What is dropped leaves nothing. */
    assert_int_equal(F(f, cs_store_execution_drop, f_stored, CS_STR("default"), CS_STR("y")),
                     CS_OK);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM journals WHERE execution = 'y'"), "0");
}

/* --- blobs --- */

static int put(struct fixture *f, struct cs_str content)
{
    return F(f, cs_store_blob_put, f_blob, content);
}

static int get(struct fixture *f, const unsigned char hash[32], size_t max)
{
    return F(f, cs_store_blob_get, f_blob, hash, max);
}

static void file_of(struct fixture *f, const unsigned char hash[32], const char *suffix,
                    char path[200])
{
    char hex[65];
    cs_hex(hash, 32, hex);
    snprintf(path, 200, "%s/blobs/%.2s/%s%s", f->dir, hex, hex, suffix);
}

static void a_blob_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    const size_t sizes[] = {0, 1, 65536, 65537, 3000000};
    for (size_t i = 0; i < CS_COUNT(sizes); i++)
        for (int noise = 0; noise < 2; noise++) {
            char *content = cs_calloc(sizes[i] + 1, 1), path[200];
            uint64_t x = 88172645463325252u + i;
            for (size_t k = 0; noise && k < sizes[i]; k++) {
                x ^= x << 13, x ^= x >> 7, x ^= x << 17;
                content[k] = (char)x;
            }
            assert_int_equal(put(f, cs_strn(content, sizes[i])), CS_OK);
            unsigned char hash[32], told[32];
            memcpy(told, f->hash, 32);
            cs_sha256(cs_strn(content, sizes[i]), hash);
            assert_memory_equal(hash, told, 32);
            assert_int_equal(get(f, hash, sizes[i]), CS_OK);
            assert_int_equal(f->content.len, sizes[i]);
            assert_memory_equal(f->content.at, content, sizes[i]);
            if (sizes[i])
                assert_code(get(f, hash, sizes[i] - 1), CS_LIMIT, "more than");
            /* Only what becomes smaller is packed. */
            file_of(f, hash, ".zst", path);
            assert_int_equal(access(path, F_OK) == 0, sizes[i] > 65536 && !noise);
            free(content);
        }
}

static void a_blob_that_is_damaged_is_told_and_can_be_put_again(void **state)
{
    struct fixture *f = *state;
    char path[200], *big = cs_calloc(100000, 1);
    const struct cs_str contents[] = {CS_STR("0123456789"), cs_strn(big, 100000)};
    for (int i = 0; i < 2; i++) {
        put(f, contents[i]);
        unsigned char hash[32];
        struct stat st;
        memcpy(hash, f->hash, 32);
        file_of(f, hash, i ? ".zst" : "", path);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        /* A byte of it, then all but the first ones, then no file at all. */
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, "!!", 2, st.st_size - 2), 2);
        close(fd);
        assert_code(get(f, hash, 100000), CS_SYSTEM, "damaged");
        assert_int_equal(truncate(path, 4), 0);
        assert_code(get(f, hash, 100000), CS_SYSTEM, "damaged");
        assert_int_equal(f->content.len, 0);
        assert_int_equal(put(f, contents[i]), CS_OK);
        assert_int_equal(get(f, hash, 100000), CS_OK);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(get(f, hash, 100000), CS_MISSING);
        assert_int_equal(put(f, contents[i]), CS_OK);
        assert_int_equal(get(f, hash, 100000), CS_OK);
    }
    free(big);
}

/* One that is enormous when unpacked is refused before it is. */
static void a_bomb_is_not_unpacked(void **state)
{
    struct fixture *f = *state;
    char *big = cs_calloc(50u << 20, 1);
    assert_int_equal(put(f, cs_strn(big, 50u << 20)), CS_OK);
    free(big);
    unsigned char hash[32];
    memcpy(hash, f->hash, 32);
    assert_code(get(f, hash, 1 << 20), CS_LIMIT, "52428800");
}

static void blobs_are_forgotten_with_the_last_journal(void **state)
{
    struct fixture *f = *state;
    unsigned char blobs[2][32];
    put(f, CS_STR("one"));
    memcpy(blobs[0], f->hash, 32);
    put(f, CS_STR("two"));
    memcpy(blobs[1], f->hash, 32);
    begin(f, "x", false);
    begin(f, "y", false);
    assert_int_equal(end(f, "x", 1000, "x", blobs, 2), CS_OK);
    assert_int_equal(end(f, "y", 3000, "y", blobs, 1), CS_OK);
    f_age(f);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 2000), CS_OK);
    assert_int_equal(journal(f, "default", "x"), CS_MISSING);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM journals"), "1");
    assert_int_equal(get(f, blobs[0], 10), CS_OK);
    assert_int_equal(get(f, blobs[1], 10), CS_MISSING);
    /* It is put again just before the other goes too: it stays. */
    put(f, CS_STR("one"));
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 5000), CS_OK);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM journal_blobs"), "0");
    assert_int_equal(get(f, blobs[0], 10), CS_OK);
    f_age(f);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 5000), CS_OK);
    assert_int_equal(get(f, blobs[0], 10), CS_MISSING);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM trash"), "0");
}

static int answered;

static void on_blob(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                    struct cs_str content)
{
    (void)ctx;
    (void)hash;
    (void)content;
    answered += err->code == CS_OK;
}

static void who_closes_waits_for_the_pool(void **state)
{
    struct fixture *f = *state;
    answered = 0;
    for (int i = 0; i < 50; i++) {
        char text[24];
        snprintf(text, sizeof text, "content %d", i);
        cs_store_blob_put(f->store, cs_str(text), on_blob, NULL);
    }
    f_close(f);
    assert_int_equal(answered, 50);
}

/* --- cached answers --- */

static struct cs_cached_answer answer_of(const char *tenant, unsigned char key, int64_t expires)
{
    return (struct cs_cached_answer){.key = {key},
                                     .tenant = cs_str(tenant),
                                     .execution = CS_STR("x"),
                                     .value = CS_STR("{\"result\":1}"),
                                     .created = 5,
                                     .expires = expires};
}

static int cached(struct fixture *f, const char *tenant, unsigned char key)
{
    return F(f, cs_store_cache_get, f_cached, cs_str(tenant), (unsigned char[32]){key});
}

static void an_answer_is_cached_until_it_expires(void **state)
{
    struct fixture *f = *state;
    int64_t later = cs_time_ms() + 60000;
    struct cs_cached_answer row = answer_of("a", 1, later);
    assert_int_equal(F(f, cs_store_cache_put, f_stored, &row), CS_OK);
    assert_int_equal(cached(f, "a", 1), CS_OK);
    assert_str_is(f->cached.value, "{\"result\":1}");
    assert_str_is(f->cached.execution, "x");
    assert_true(f->cached.expires == later && f->cached.created == 5 && f->cached.key[0] == 1);
    assert_int_equal(cached(f, "b", 1), CS_MISSING);
    assert_int_equal(cached(f, "a", 2), CS_MISSING);
    /* A new one takes its place. */
    row.value = CS_STR("2");
    F(f, cs_store_cache_put, f_stored, &row);
    cached(f, "a", 1);
    assert_str_is(f->cached.value, "2");
    row.expires = cs_time_ms() - 1;
    F(f, cs_store_cache_put, f_stored, &row);
    assert_int_equal(cached(f, "a", 1), CS_MISSING);
}

static const char *left(struct fixture *f)
{
    return f_sql(f, "SELECT count(*) FROM cache");
}

static void cached_answers_are_forgotten(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 1200; i++) {
        struct cs_cached_answer row = answer_of(i % 2 ? "a" : "b", 0, i < 1100 ? 10 : 20);
        memcpy(row.key, &i, sizeof i);
        cs_store_cache_put(f->store, &row, NULL, NULL);
    }
    assert_int_equal(F(f, cs_store_cache_forget, f_stored, CS_STR("a"), 15), CS_OK);
    assert_string_equal(left(f), "650");
    assert_int_equal(F(f, cs_store_cache_forget, f_stored, CS_STR(""), 15), CS_OK);
    assert_string_equal(left(f), "100");
    assert_int_equal(F(f, cs_store_cache_forget, f_stored, CS_STR("a"), 0), CS_OK);
    assert_string_equal(left(f), "50");
    assert_int_equal(F(f, cs_store_cache_forget, f_stored, CS_STR(""), 0), CS_OK);
    assert_string_equal(left(f), "0");
}

/* --- figures --- */

static void measure(struct fixture *f, const char *id, uint64_t wall_us)
{
    const struct cs_measure m = {.tenant = CS_STR("default"),
                                 .status = CS_STR("completed"),
                                 .tools = CS_STR("{\"a/b\":2}"),
                                 .masked = CS_STR("{\"EMAIL\":2}"),
                                 .finished = 2000,
                                 .wall_us = wall_us,
                                 .cpu_us = 2,
                                 .memory_peak = 3,
                                 .calls = 4,
                                 .calls_failed = 5,
                                 .calls_denied = 6,
                                 .tokens_saved = 7,
                                 .cached = true};
    struct cs_execution_row row = f_end_of(id, "default");
    struct cs_execution_more more = {.measure = &m};
    begin(f, id, false);
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, &more), CS_OK);
}

static void measures_are_folded_once(void **state)
{
    struct fixture *f = *state;
    measure(f, "x", 1);
    measure(f, "y", 10);
    assert_int_equal(F(f, cs_store_measures, f_measures, 100), CS_OK);
    assert_int_equal(f->count, 2);
    const struct cs_measure *m = f->measures;
    assert_true(m->wall_us == 1 && m->cpu_us == 2 && m->memory_peak == 3 && m->calls == 4 &&
                m->calls_failed == 5 && m->calls_denied == 6 && m->tokens_saved == 7 && m->cached &&
                m->finished == 2000);
    assert_str_is(m->tools, "{\"a/b\":2}");
    assert_str_is(m->masked, "{\"EMAIL\":2}");
    uint64_t first = m[0].seq, last = m[1].seq;
    const struct cs_sum sums[] = {
        {.tenant = CS_STR("default"), .start = 3600000, .value = CS_STR("one")},
        {.tenant = CS_STR("other"), .start = 0, .value = CS_STR("two")}};
    /* A measure that is not known to whoever folds is not removed by it. */
    assert_int_equal(F(f, cs_store_sums_put, f_stored, sums, 2, first, last, 1), CS_CONFLICT);
    assert_int_equal(F(f, cs_store_sums_put, f_stored, sums, 2, first, last, 2), CS_OK);
    assert_int_equal(F(f, cs_store_sums_put, f_stored, sums, 2, first, last, 2), CS_CONFLICT);
    F(f, cs_store_measures, f_measures, 100);
    assert_int_equal(f->count, 0);
    measure(f, "z", 100);
    F(f, cs_store_measures, f_measures, 100);
    assert_int_equal(f->count, 1);
    assert_true(f->measures[0].seq > last);
    F(f, cs_store_sums, f_sums, CS_STR(""), 0);
    assert_int_equal(f->count, 2);
    assert_str_is(f->sums[0].value, "two");
    F(f, cs_store_sums, f_sums, CS_STR("default"), 3600000);
    assert_int_equal(f->count, 1);
    F(f, cs_store_sums, f_sums, CS_STR("default"), 3600001);
    assert_int_equal(f->count, 0);
    /* The same hour again: it takes the place. */
    F(f, cs_store_sums_put, f_stored, &(struct cs_sum){CS_STR("other"), 0, CS_STR("three")}, 1, 0,
      0, 0);
    F(f, cs_store_sums, f_sums, CS_STR("other"), 0);
    assert_int_equal(f->count, 1);
    assert_str_is(f->sums[0].value, "three");
}

/* --- those that outlive their process --- */

/* A process that begins them and is killed. */
static void begun_by_the_dead(struct fixture *f, int durable, int others)
{
    int status;
    f_close(f);
    pid_t child = fork();
    if (child == 0) {
        uv_loop_init(&f->loop);
        f_open(f);
        char id[24];
        for (int i = 0; i < durable + others; i++) {
            snprintf(id, sizeof id, "%s_%d", i < durable ? "durable" : "other", i);
            begin(f, id, i < durable);
            F(f, cs_store_journal_append, f_stored, cs_str(id), CS_STR("heard"), NULL, 0);
        }
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    f_open(f);
}

static int adopt(struct fixture *f)
{
    return F(f, cs_store_execution_adopt, f_executions);
}

static void durable_ones_wait_to_be_adopted(void **state)
{
    struct fixture *f = *state;
    begun_by_the_dead(f, 3, 2);
    struct cs_execution_filter filter = {.limit = 10, .status = CS_STR("running")};
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    assert_int_equal(f->count, 3);
    assert_true(f->executions[0].durable);
    filter.status = CS_STR("cancelled");
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    assert_int_equal(f->count, 2);
    /* Not ours yet. */
    assert_int_equal(end(f, "durable_0", 5000, "", NULL, 0), CS_MISSING);
    assert_int_equal(
        F(f, cs_store_execution_status, f_stored, CS_STR("durable_0"), CS_STR("awaiting_approval")),
        CS_MISSING);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(adopt(f), CS_OK);
        assert_int_equal(f->count, 1);
        assert_true(f->executions[0].durable);
        assert_int_equal(f->executions[0].created, 1000);
        struct cs_str id = f->executions[0].id;
        assert_int_equal(F(f, cs_store_journal_get, f_journal, CS_STR("default"), id), CS_OK);
        assert_str_is(f->content, "heard");
    }
    assert_int_equal(adopt(f), CS_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(end(f, "durable_0", 5000, "", NULL, 0), CS_OK);
    assert_int_equal(
        F(f, cs_store_execution_status, f_stored, CS_STR("durable_1"), CS_STR("awaiting_approval")),
        CS_OK);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("durable_1"));
    assert_str_is(f->executions[0].status, "awaiting_approval");
    /* Those that are ours are nobody else's, and forgetting leaves them alone. */
    struct fixture g = {0};
    strcpy(g.dir, f->dir);
    uv_loop_init(&g.loop);
    f_open(&g);
    assert_int_equal(adopt(&g), CS_OK);
    assert_int_equal(g.count, 0);
    F(&g, cs_store_executions_forget, f_stored, 10000);
    f_close(&g);
    uv_loop_close(&g.loop);
    cs_arena_done(&g.arena);
    assert_int_equal(end(f, "durable_1", 5000, "", NULL, 0), CS_OK);
}

/* As long as one lives they are its own: all of them live until the last one has looked. */
static void adopt_all(struct fixture *f, int tell, int wait_for)
{
    int none = -1;
    uv_loop_init(&f->loop);
    f_open(f);
    while (adopt(f) == CS_OK && f->count) {
        int n = (int)strtol(f->executions[0].id.at + 8, NULL, 10);
        if (write(tell, &n, sizeof n) != (ssize_t)sizeof n)
            _exit(1);
    }
    bool fine = f->err.code == CS_OK && write(tell, &none, sizeof none) == (ssize_t)sizeof none;
    char byte;
    _exit(!fine || read(wait_for, &byte, 1) != 0);
}

static void each_is_adopted_by_one(void **state)
{
    struct fixture *f = *state;
    begun_by_the_dead(f, 20, 0);
    f_close(f);
    int told[2], over[2], got[20] = {0}, looked = 0;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(over), 0);
    for (int p = 0; p < 5; p++)
        if (fork() == 0) {
            close(over[1]);
            adopt_all(f, told[1], over[0]);
        }
    close(told[1]);
    for (int n; looked < 5 && read(told[0], &n, sizeof n) == (ssize_t)sizeof n;) {
        if (n < 0)
            looked++;
        else
            got[n]++;
    }
    close(told[0]);
    close(over[0]);
    close(over[1]);
    for (int p = 0; p < 5; p++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(got[i], 1);
    f_open(f);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* These fork, and come before there is a pool of threads. */
        WITH(durable_ones_wait_to_be_adopted),
        WITH(each_is_adopted_by_one),
        WITH(parts_of_a_journal_are_one),
        WITH(a_blob_comes_back_as_it_was),
        WITH(a_blob_that_is_damaged_is_told_and_can_be_put_again),
        WITH(a_bomb_is_not_unpacked),
        WITH(blobs_are_forgotten_with_the_last_journal),
        WITH(who_closes_waits_for_the_pool),
        WITH(an_answer_is_cached_until_it_expires),
        WITH(cached_answers_are_forgotten),
        WITH(measures_are_folded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
