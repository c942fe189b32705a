/* Measures in a real store, folded by one watch or by several. */
#include "store/fixture.h"

#include "base/json.h"
#include "base/time.h"
#include "watch/tally.h"
#include "watch/watch.h"

#define HOUR 3600000

static void add(struct fixture *f, struct cs_store *store, unsigned n, const char *tenant,
                int64_t finished)
{
    char id[40];
    snprintf(id, sizeof id, "ex_%s_%u", tenant, n);
    struct cs_execution_row row = f_execution(id, tenant), end = f_end_of(id, tenant);
    struct cs_measure m = {.tenant = cs_str(tenant),
                           .status = CS_STR("completed"),
                           .tools = CS_STR("{\"a/b\":1}"),
                           .finished = finished,
                           .wall_us = 1000 * (n + 1),
                           .calls = 1};
    struct cs_execution_more more = {.measure = &m};
    (void)f;
    end.finished = finished;
    cs_store_execution_admit(store, &row, NULL, NULL, NULL);
    cs_store_execution_settle(store, &end, &more, NULL, NULL);
}

struct answer {
    bool done;
    struct cs_err err;
    struct cs_buf json;
};

static void on_figures(void *ctx, const struct cs_err *err, struct cs_str json)
{
    struct answer *a = ctx;
    assert_false(a->done);
    a->done = true;
    a->err = *err;
    cs_buf_clear(&a->json);
    cs_buf_putstr(&a->json, json);
}

static void wait_for(struct fixture *f, const bool *done)
{
    while (!*done)
        uv_run(&f->loop, UV_RUN_ONCE);
}

static uint64_t total(struct fixture *f, struct cs_watch *w, const char *tenant, int64_t window)
{
    struct answer a = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    int64_t n = -1;
    cs_watch_figures(w, cs_str(tenant), window, on_figures, &a);
    assert_false(a.done);
    wait_for(f, &a.done);
    if (a.err.code)
        fail_msg("%s", a.err.msg);
    assert_int_equal(cs_json_parse(cs_buf_str(&a.json), NULL, &doc, NULL), 0);
    struct cs_json_val executions = cs_json_get(cs_json_root(&doc), "executions");
    assert_true(cs_json_i64(cs_json_get(executions, "total"), &n));
    cs_buf_done(&a.json);
    return (uint64_t)n;
}

static struct cs_watch *watch_new(struct fixture *f, struct cs_store *store)
{
    struct cs_watch_options options = {.store = store};
    struct cs_watch *w = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_watch_new(&f->loop, &options, &w, &err), 0);
    return w;
}

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

static void watch_close(struct fixture *f, struct cs_watch *w)
{
    bool closed = false;
    cs_watch_close(w, on_closed, &closed);
    wait_for(f, &closed);
}

static void windows_and_tenants_are_told_apart(void **state)
{
    struct fixture *f = *state;
    int64_t now = cs_time_ms();
    static const int64_t ages[] = {0, 30 * HOUR, 10 * 24 * HOUR, INT64_C(100) * 24 * HOUR};
    unsigned n = 0;
    for (size_t i = 0; i < CS_COUNT(ages); i++)
        for (size_t k = 0; k <= i; k++)
            add(f, f->store, n++, "ann", now - ages[i]);
    add(f, f->store, n++, "bob", now);
    struct cs_watch *w = watch_new(f, f->store);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(total(f, w, "ann", HOUR), 1);
        assert_int_equal(total(f, w, "ann", 24 * HOUR), 1);
        assert_int_equal(total(f, w, "ann", 7 * 24 * HOUR), 3);
        assert_int_equal(total(f, w, "ann", INT64_C(30) * 24 * HOUR), 6);
        assert_int_equal(total(f, w, "ann", 0), 10);
        assert_int_equal(total(f, w, "bob", 0), 1);
        assert_int_equal(total(f, w, "eve", 0), 0);
        assert_int_equal(total(f, w, "", 0), 11);
    }
    watch_close(f, w);
}

static void everything_is_counted_once_in_many_rounds(void **state)
{
    struct fixture *f = *state;
    int64_t now = cs_time_ms();
    struct cs_watch *w = watch_new(f, f->store);
    for (unsigned i = 0; i < 2500; i++) /* more than one fold takes */
        add(f, f->store, i, i % 3 ? "ann" : "bob", now - (i % 5) * HOUR);
    assert_int_equal(total(f, w, "", 0), 2500);
    add(f, f->store, 5000, "ann", now);
    assert_int_equal(total(f, w, "", 0), 2501);
    watch_close(f, w);
    /* What is folded stays folded. */
    f_close(f);
    f_open(f);
    w = watch_new(f, f->store);
    assert_int_equal(total(f, w, "", 0), 2501);
    watch_close(f, w);
}

static void several_who_fold_at_once_count_nothing_twice(void **state)
{
    struct fixture *f = *state;
    struct cs_store *stores[3] = {f->store};
    struct cs_watch *watches[3];
    struct answer answers[3] = {0};
    struct cs_err err = {0};
    int64_t now = cs_time_ms();
    for (int i = 1; i < 3; i++)
        if (cs_store_open(&f->loop, f->dir, &stores[i], &err) < 0)
            fail_msg("%s", err.msg);
    for (int i = 0; i < 3; i++)
        watches[i] = watch_new(f, stores[i]);
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 60; i++)
            add(f, stores[i % 3], round * 60 + i, "ann", now);
        for (int i = 0; i < 3; i++) {
            answers[i].done = false;
            cs_watch_figures(watches[i], CS_STR("ann"), 0, on_figures, &answers[i]);
        }
        for (int i = 0; i < 3; i++)
            wait_for(f, &answers[i].done);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(total(f, watches[i], "ann", 0), 600);
        cs_buf_done(&answers[i].json);
    }
    for (int i = 0; i < 3; i++)
        watch_close(f, watches[i]);
    for (int i = 1; i < 3; i++) {
        bool closed = false;
        cs_store_close(stores[i], on_closed, &closed);
        wait_for(f, &closed);
    }
}

static void closing_folds_what_is_left(void **state)
{
    struct fixture *f = *state;
    struct cs_watch *w = watch_new(f, f->store);
    struct answer a = {0};
    struct cs_execution_filter all = {.limit = 100};
    for (unsigned i = 0; i < 10; i++)
        add(f, f->store, i, "ann", cs_time_ms());
    assert_int_equal(F(f, cs_store_executions, f_executions, CS_STR("ann"), &all), CS_OK);
    assert_int_equal(f->count, 10);
    /* Somebody still waits for an answer, and gets it. */
    cs_watch_figures(w, CS_STR("ann"), 0, on_figures, &a);
    watch_close(f, w);
    wait_for(f, &a.done);
    assert_contains(cs_buf_cstr(&a.json), "\"total\":10");
    cs_buf_done(&a.json);
}

static void years_of_hours_add_up(void **state)
{
    struct fixture *f = *state;
    enum { HOURS = 2500 };
    CS_AUTO(cs_tally_done) struct cs_tally one = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_measure m = {.status = CS_STR("completed"), .wall_us = 5000};
    struct cs_sum *sums = cs_calloc(HOURS, sizeof *sums);
    int64_t first = cs_time_ms() / HOUR * HOUR - (int64_t)HOURS * HOUR;
    cs_tally_add(&one, &m);
    cs_tally_add(&one, &m);
    cs_tally_put(&one, &text);
    for (int i = 0; i < HOURS; i++)
        sums[i] = (struct cs_sum){.tenant = CS_STR("ann"),
                                  .start = first + (int64_t)i * HOUR,
                                  .value = i == 7 ? CS_STR("damaged") : cs_buf_str(&text)};
    assert_int_equal(F(f, cs_store_sums_put, f_stored, sums, HOURS, 0, 0, 0), CS_OK);
    free(sums);
    struct cs_watch *w = watch_new(f, f->store);
    assert_int_equal(total(f, w, "ann", 0), 2 * (HOURS - 1));
    struct answer a = {0}; /* the end waits for an answer that takes a while */
    cs_watch_figures(w, CS_STR("ann"), 0, on_figures, &a);
    watch_close(f, w);
    assert_true(a.done);
    cs_buf_done(&a.json);
}

static void windows_have_names(void **state)
{
    (void)state;
    int64_t ms = -1;
    assert_true(cs_watch_window(CS_STR("7d"), &ms) && ms == INT64_C(7) * 24 * HOUR);
    assert_true(cs_watch_window(CS_STR("all"), &ms) && ms == 0);
    assert_false(cs_watch_window(CS_STR("8d"), &ms) || cs_watch_window(CS_STR(""), &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(windows_and_tenants_are_told_apart, f_setup, f_teardown),
        CS_TEST_WITH(everything_is_counted_once_in_many_rounds, f_setup, f_teardown),
        CS_TEST_WITH(several_who_fold_at_once_count_nothing_twice, f_setup, f_teardown),
        CS_TEST_WITH(closing_folds_what_is_left, f_setup, f_teardown),
        CS_TEST_WITH(years_of_hours_add_up, f_setup, f_teardown),
        CS_TEST(windows_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
