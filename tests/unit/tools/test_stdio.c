/* The pipes of a child, with shell scripts for servers. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tools/transport.h"

struct peer {
    struct cs_transport *transport;
    struct cs_server_config server;
    const char *args[3];
    struct cs_buf heard; /* lines, each with a newline */
    unsigned lines, closed;
    struct cs_err why;
    struct cs_buf errors;
    bool close_at_once;
};

static void on_message(void *ctx, struct cs_str json, uint64_t request)
{
    struct peer *p = ctx;
    assert_int_equal(request, 0);
    assert_int_equal(p->closed, 0);
    p->lines++;
    if (p->heard.len < 1000000) {
        cs_buf_putstr(&p->heard, json);
        cs_buf_putc(&p->heard, '\n');
    }
    if (p->close_at_once) {
        p->close_at_once = false;
        p->transport->ops->close(p->transport);
    }
}

static void on_failed(void *ctx, uint64_t id, enum cs_trouble trouble, int status,
                      const struct cs_err *err)
{
    (void)ctx;
    (void)id;
    (void)trouble;
    (void)status;
    fail_msg("%s", err->msg);
}

static void on_closed(void *ctx, const struct cs_err *err)
{
    struct peer *p = ctx;
    p->closed++;
    p->why = *err;
    cs_buf_putstr(&p->errors, p->transport->ops->stderr_tail(p->transport));
}

static const struct cs_transport_events events = {on_message, on_failed, on_closed};

static void start(struct peer *p, uv_loop_t *loop, const char *script)
{
    struct cs_err err = {0};
    p->args[0] = "-c";
    p->args[1] = script;
    p->server = (struct cs_server_config){.name = "sh", .command = "sh", .args = p->args};
    if (cs_stdio_new(loop, &p->server, &events, p, &p->transport, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(p->transport->pid > 0);
}

static void put(struct peer *p, struct cs_str json)
{
    struct cs_outgoing message = {.json = json, .method = "x"};
    p->transport->ops->send(p->transport, &message);
}

static void done(struct peer *p)
{
    assert_int_equal(p->closed, 1);
    cs_buf_done(&p->heard);
    cs_buf_done(&p->errors);
}

static double now(void)
{
    return (double)uv_hrtime() / 1e9;
}

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void lines_are_split_at_line_feeds_alone(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {0};
    uv_loop_init(&loop);
    start(&p, &loop,
          "printf 'a\\r\\n\\n\\nb\\342\\200\\250c\\r d\\n'; printf 'e'; sleep 0.05; printf 'f\\n'; "
          "printf half");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(cs_buf_cstr(&p.heard), "a\nb\xE2\x80\xA8"
                                               "c\r d\nef\n");
    assert_contains(p.why.msg, "in the middle of a message");
    assert_int_equal(p.why.code, CS_UPSTREAM);
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void what_is_sent_arrives_whatever_its_size(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {0};
    uv_loop_init(&loop);
    start(&p, &loop, "sleep 0.05; exec cat");
    struct cs_buf big = {0};
    memset(cs_buf_room(&big, 3000000), 'x', 3000000);
    cs_buf_added(&big, 3000000);
    put(&p, CS_STR("first"));
    put(&p, cs_buf_str(&big));
    put(&p, CS_STR("last"));
    double end = now() + 60;
    while (p.lines < 3 && now() < end)
        uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(p.lines, 3);
    assert_int_equal(p.heard.len, 6 + 3000001);
    put(&p, CS_STR("more"));
    while (p.lines < 4 && now() < end)
        uv_run(&loop, UV_RUN_ONCE);
    p.transport->ops->close(p.transport);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(p.why.code, CS_OK);
    cs_buf_done(&big);
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void what_it_said_last_is_heard(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {0};
    uv_loop_init(&loop);
    start(&p, &loop,
          "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo Error: no >&2; echo "
          "bye; exit 4");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(p.lines, 3001);
    assert_non_null(memmem(p.heard.at + p.heard.len - 4, 4, "bye\n", 4));
    assert_string_equal(p.why.msg, "it ended with status 4: Error: no");
    assert_string_equal(cs_buf_cstr(&p.errors), "Error: no\n");
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void nothing_is_heard_after_closing(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {.close_at_once = true};
    uv_loop_init(&loop);
    start(&p, &loop, "echo a; echo b; echo c; exec cat");
    pid_t pid = (pid_t)p.transport->pid;
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(p.lines, 1);
    assert_int_equal(p.why.code, CS_OK);
    assert_false(is_there(pid));
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void writing_to_a_server_that_has_gone_is_no_end_of_us(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {0};
    uv_loop_init(&loop);
    start(&p, &loop, "exec <&-; echo gone; sleep 0.1; echo still; exit 5");
    double end = now() + 60;
    while (p.lines < 1 && now() < end)
        uv_run(&loop, UV_RUN_ONCE);
    put(&p, CS_STR("hello?"));
    put(&p, CS_STR("hello?"));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(cs_buf_cstr(&p.heard), "gone\nstill\n");
    assert_contains(p.why.msg, "status 5");
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

#define MANY 12

static void many_are_closed_at_the_same_time(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer peers[MANY] = {{0}};
    pid_t pids[MANY];
    uv_loop_init(&loop);
    for (int i = 0; i < MANY; i++)
        start(&peers[i], &loop, "trap '' TERM; echo up; while :; do sleep 100; done");
    for (int i = 0; i < MANY; i++) {
        pids[i] = (pid_t)peers[i].transport->pid;
        while (peers[i].lines == 0)
            uv_run(&loop, UV_RUN_ONCE);
    }
    double begun = now();
    for (int i = 0; i < MANY; i++)
        peers[i].transport->ops->close(peers[i].transport);
    uv_run(&loop, UV_RUN_DEFAULT);
    double took = now() - begun;
    assert_true(took > 3.9 && took < 4 * MANY);
    for (int i = 0; i < MANY; i++) {
        assert_false(is_there(pids[i]));
        done(&peers[i]);
    }
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void one_that_floods_leaves_the_others_their_turn(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer loud = {0}, quiet = {0};
    uv_loop_init(&loop);
    start(&loud, &loop, "exec yes '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}'");
    start(&quiet, &loop, "exec cat");
    double begun = now();
    while (loud.lines < 10000)
        uv_run(&loop, UV_RUN_ONCE);
    for (unsigned i = 1; i <= 200; i++) {
        put(&quiet, CS_STR("ping"));
        unsigned turns = 0;
        while (quiet.lines < i) {
            uv_run(&loop, UV_RUN_ONCE);
            assert_true(++turns < 100000 && now() - begun < 120);
        }
    }
    loud.transport->ops->close(loud.transport);
    quiet.transport->ops->close(quiet.transport);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(now() - begun < 120);
    done(&loud);
    done(&quiet);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void a_reader_that_does_not_read_is_let_go(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct peer p = {0};
    uv_loop_init(&loop);
    start(&p, &loop, "exec sleep 100");
    struct cs_buf big = {0};
    memset(cs_buf_room(&big, 1 << 20), 'x', 1 << 20);
    cs_buf_added(&big, 1 << 20);
    for (int i = 0; i < 40; i++)
        put(&p, cs_buf_str(&big));
    assert_int_equal(p.closed, 0); /* never from within */
    cs_buf_done(&big);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_contains(p.why.msg, "does not read its input");
    done(&p);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void a_command_that_is_missing_is_told_at_once(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct cs_err err = {0};
    struct cs_transport *t = NULL;
    struct cs_server_config server = {.name = "x", .command = "no-such-command-anywhere"};
    uv_loop_init(&loop);
    assert_int_equal(cs_stdio_new(&loop, &server, &events, NULL, &t, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_contains(err.msg, "no-such-command-anywhere");
    assert_null(t);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(lines_are_split_at_line_feeds_alone),
        CS_TEST(what_is_sent_arrives_whatever_its_size),
        CS_TEST(what_it_said_last_is_heard),
        CS_TEST(nothing_is_heard_after_closing),
        CS_TEST(writing_to_a_server_that_has_gone_is_no_end_of_us),
        CS_TEST(many_are_closed_at_the_same_time),
        CS_TEST(one_that_floods_leaves_the_others_their_turn),
        CS_TEST(a_reader_that_does_not_read_is_let_go),
        CS_TEST(a_command_that_is_missing_is_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
