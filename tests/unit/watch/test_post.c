/* What leaves in the background: it is bounded, and nobody waits for it. */
#include "store/fixture.h"

#include "base/json.h"
#include "base/log.h"
#include "watch/inside.h"

#define NOBODY "http://127.0.0.1:9/" /* discard: nothing listens there */

static struct cs_watch *watch_new(struct fixture *f, const struct cs_alert_rules *rules)
{
    struct cs_watch_options options = {.store = f->store, .alerts = *rules};
    struct cs_watch *w = NULL;
    assert_int_equal(cs_watch_new(&f->loop, &options, &w, NULL), 0);
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
    while (!closed)
        uv_run(&f->loop, UV_RUN_ONCE);
}

static bool poster_over;

static void on_poster_closed(struct cs_watch *w)
{
    (void)w;
    poster_over = true;
}

static void post(struct cs_poster *p, size_t bytes, uint32_t weight)
{
    struct cs_buf body = {0};
    cs_buf_puts(&body, "{}");
    while (body.len < bytes)
        cs_buf_putc(&body, ' ');
    cs_poster_send(p, &body, weight);
    assert_null(body.at);
}

static void what_waits_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct cs_alert_rules none = {.window_ms = 1000};
    struct cs_watch *w = watch_new(f, &none);
    struct cs_poster *p = cs_poster_new(w, "test", 3);
    post(p, 2, 1); /* nowhere to go: not even counted */
    assert_int_equal(cs_poster_dropped(p), 0);
    cs_poster_set(p, NOBODY);
    for (int i = 0; i < 10; i++)
        post(p, 2, 2);
    assert_int_equal(cs_poster_dropped(p), 7 * 2);
    post(p, 17 << 20, 1); /* too large, whatever waits */
    assert_int_equal(cs_poster_dropped(p), 7 * 2 + 1);
    assert_int_equal(cs_poster_sent(p), 0);
    poster_over = false;
    uint64_t start = uv_now(&f->loop);
    cs_poster_close(p, on_poster_closed);
    while (!poster_over)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_true(uv_now(&f->loop) - start < 60000); /* all attempts would take more */
    watch_close(f, w);
}

static void a_post_is_signed(void **state)
{
    char header[CS_SIGNATURE];
    (void)state;
    cs_poster_signature("whsec", 1700000000, CS_STR("{\"a\":1}"), header);
    assert_string_equal(header, "Caisson-Signature: t=1700000000,v1="
                                "8ad37ba156048ae0e0a5533c75cdf26fee88b07f93cb57ee4c80adb053012032");
}

static void many_tenants_cost_so_much_and_no_more(void **state)
{
    struct fixture *f = *state;
    static const char *const on[] = {"timeout", "denied_call", "dancing", NULL};
    struct cs_alert_rules rules = {.on = on, .window_ms = 60000, .webhook = NOBODY};
    struct cs_watch *w = watch_new(f, &rules);
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 1500; i++) {
        char name[20];
        snprintf(name, sizeof name, "tenant%d", i);
        cs_watch_alert(w, "denied_call", cs_str(name), CS_STR("ex_1"), CS_STR("a/b"));
        cs_watch_alert(w, "timeout", CS_STR("same"), CS_STR("ex_1"), (struct cs_str){0});
        cs_watch_alert(w, "memory_kill", cs_str(name), CS_STR("ex_1"), (struct cs_str){0});
        cs_watch_alert(w, "what?", cs_str(name), (struct cs_str){0}, (struct cs_str){0});
        if (i % 100 == 0)
            uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    cs_watch_metrics(w, &text);
    assert_contains(cs_buf_cstr(&text), "caisson_alerts_total{kind=\"denied_call\"} 1500\n");
    assert_contains(cs_buf_cstr(&text), "caisson_alerts_total{kind=\"timeout\"} 1\n");
    assert_contains(cs_buf_cstr(&text), "caisson_alerts_total{kind=\"memory_kill\"} 0\n");
    assert_contains(cs_buf_cstr(&text), "caisson_alert_posts_total 0\n");
    watch_close(f, w);
    assert_int_equal(F(f, cs_store_keys, f_keys), CS_OK); /* the store has come through it */
}

/* --- metrics --- */

static void servers_are_told_apart_up_to_a_bound(void **state)
{
    struct fixture *f = *state;
    struct cs_alert_rules none = {.window_ms = 1000};
    struct cs_watch *w = watch_new(f, &none);
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 300; i++) {
        char name[40];
        snprintf(name, sizeof name, "s\"\\\n%d", i % 150);
        struct cs_call calls[] = {
            {.server = cs_str(name), .status = CS_CALL_OK, .us = 3000},
            {.server = CS_STR("made up"), .status = CS_CALL_DENIED},
        };
        struct cs_result r = {.calls = calls, .tool_calls = 2, .tokens_saved = 5};
        cs_counters_settled(&w->counters, &r);
    }
    cs_watch_metrics(w, &text);
    const char *z = cs_buf_cstr(&text);
    assert_contains(z, "_count{server=\"s\\\"\\\\\\n99\"} 2\n");
    assert_contains(z, "_count{server=\"other servers\"} 100\n");
    assert_contains(z, "_bucket{server=\"s\\\"\\\\\\n7\",le=\"0.0025\"} 0\n");
    assert_contains(z, "_bucket{server=\"s\\\"\\\\\\n7\",le=\"0.005\"} 2\n");
    assert_contains(z, "caisson_tool_calls_denied_total 300\n");
    assert_contains(z, "caisson_tokens_saved_total 1500\n");
    assert_null(strstr(z, "made up"));
    watch_close(f, w);
}

/* --- spans --- */

static void spans_are_valid_whatever_a_tool_is_called(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0}, array = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_call *calls = cs_calloc(3000, sizeof *calls);
    for (int i = 0; i < 3000; i++)
        calls[i] = (struct cs_call){.server = CS_STR("s\"\n\x01\xff"),
                                    .tool = CS_STR("t\\\x7f\xc3"),
                                    .status = (enum cs_call_status)(i % 6),
                                    .start_us = (uint64_t)i,
                                    .us = 1000000,
                                    .span = {1}};
    struct cs_result r = {.calls = calls, .tool_calls = 3000, .started_us = 1700000000000000};
    assert_int_equal(cs_otlp_spans(CS_STR("t"), &r, 0, &text), 0); /* no trace */
    r.trace.trace[3] = r.trace.span[2] = 9;
    assert_int_equal(cs_otlp_spans(CS_STR("t"), &r, 0, &text), 0); /* not sampled */
    assert_int_equal(text.len, 0);
    r.trace.sampled = true;
    assert_int_equal(cs_otlp_spans(CS_STR("t"), &r, 0, &text), 1001);
    cs_buf_putc(&array, '[');
    cs_buf_putstr(&array, cs_buf_str(&text));
    cs_buf_putc(&array, ']');
    assert_int_equal(cs_json_parse(cs_buf_str(&array), NULL, &doc, NULL), 0);
    assert_int_equal(cs_json_count(cs_json_root(&doc)), 1001);
    /* The clock was set back: it still does not end before its last call. */
    assert_contains(cs_buf_cstr(&text), "\"endTimeUnixNano\":\"1700000001000999000\"");
    free(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(what_waits_is_bounded, f_setup, f_teardown),
        CS_TEST_WITH(many_tenants_cost_so_much_and_no_more, f_setup, f_teardown),
        CS_TEST_WITH(servers_are_told_apart_up_to_a_bound, f_setup, f_teardown),
        CS_TEST(spans_are_valid_whatever_a_tool_is_called),
        CS_TEST(a_post_is_signed),
    };
    cs_log_set(CS_LOG_ERROR);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cs_log_set(CS_LOG_INFO);
    return failed;
}
