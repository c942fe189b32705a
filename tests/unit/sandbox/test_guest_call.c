#include "standin.h"

#include <spawn.h>

#include "base/buf.h"
#include "sandbox/guest.h"
#include "sandbox/wire.h"

/* One run of the `caisson` command, with the test as the daemon at the other end of its bridge. */
struct run {
    int status;
    char out[4096], err[4096];
    struct cs_buf sent; /* by the command */
};

static void slurp(int fd, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(fd);
}

static void answer(int bridge, uint64_t id, enum cs_answer status, struct cs_str payload)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    size_t mark = cs_frame_begin(&out, CS_MSG_RESULT, id, 0);
    cs_put_u8(&out, (uint8_t)status);
    cs_put_str(&out, payload);
    cs_frame_end(&out, mark);
    assert_int_equal(write(bridge, out.at, out.len), (ssize_t)out.len);
}

/* Hears one frame; a CALL is answered by `reply` after an answer that is for somebody else. */
static void play_daemon(struct run *r, int bridge, enum cs_answer status, const char *reply)
{
    struct cs_frame_head h;
    ssize_t n = recv(bridge, &h, sizeof h, MSG_WAITALL);
    if (n != sizeof h)
        return;
    cs_buf_put(&r->sent, &h, sizeof h);
    char *body = cs_buf_room(&r->sent, h.len);
    assert_int_equal(recv(bridge, body, h.len, MSG_WAITALL), (ssize_t)h.len);
    cs_buf_added(&r->sent, h.len);
    if (h.type != CS_MSG_CALL || !reply)
        return;
    answer(bridge, h.id + 1, CS_ANSWER_OK, CS_STR("\"for another\""));
    answer(bridge, h.id, status, cs_str(reply));
}

static struct run perform(const char *const *argv, const char *input, enum cs_answer status,
                          const char *reply)
{
    struct run r = {0};
    int bridge[2], in[2], out[2], err[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bridge), 0);
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    posix_spawn_file_actions_adddup2(&files, bridge[1], 50);
    /* The leak check takes seconds at every exit of a sanitized process, and this starts many. */
    char *const environment[] = {(char *)(uintptr_t) "CAISSON_BRIDGE=50",
                                 (char *)(uintptr_t) "ASAN_OPTIONS=detect_leaks=0", NULL};
    pid_t pid;
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &files, NULL,
                                 (char *const *)(uintptr_t)argv, environment),
                     0);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    close(bridge[1]);
    if (input)
        assert_int_equal(write(in[1], input, strlen(input)), (ssize_t)strlen(input));
    close(in[1]);
    play_daemon(&r, bridge[0], status, reply);
    close(bridge[0]);
    slurp(out[0], r.out, sizeof r.out);
    slurp(err[0], r.err, sizeof r.err);
    int code;
    assert_int_equal(waitpid(pid, &code, 0), pid);
    r.status = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
    return r;
}

#define RUN(input, status, reply, ...) \
    perform((const char *const[]){"/x/caisson", __VA_ARGS__, NULL}, input, status, reply)

static void expect_call(const struct run *r, const char *server, const char *tool,
                        const char *arguments)
{
    struct cs_frame_head h;
    struct cs_str s, t, a;
    assert_true(r->sent.len > sizeof h);
    memcpy(&h, r->sent.at, sizeof h);
    assert_int_equal(h.type, CS_MSG_CALL);
    assert_int_not_equal(h.id, 0);
    struct cs_str body = cs_strn(r->sent.at + sizeof h, h.len);
    assert_true(cs_field_str(&body, &s) && cs_field_str(&body, &t) && cs_field_str(&body, &a));
    assert_true(cs_str_is(s, server) && cs_str_is(t, tool) && cs_str_is(a, arguments));
}

static void a_call_prints_its_value(void **state)
{
    (void)state;
    struct run r = RUN(NULL, CS_ANSWER_OK, "{\"ok\":true}", "call", "git", "log", "{\"n\":1}");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "{\"ok\":true}\n");
    expect_call(&r, "git", "log", "{\"n\":1}");
    cs_buf_done(&r.sent);
    r = RUN(NULL, CS_ANSWER_OK, "null", "call", "git", "log");
    assert_int_equal(r.status, 0);
    expect_call(&r, "git", "log", "{}");
    cs_buf_done(&r.sent);
    r = RUN("[1,\n2]\n\n", CS_ANSWER_OK, "3", "call", "git", "sum", "-");
    assert_string_equal(r.out, "3\n");
    expect_call(&r, "git", "sum", "[1,\n2]");
    cs_buf_done(&r.sent);
}

static void a_call_that_fails_says_so_on_stderr(void **state)
{
    (void)state;
    struct run r = RUN(NULL, CS_ANSWER_DENIED, "not allowed", "call", "git", "push");
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_string_equal(r.err, "caisson: not allowed\n");
    cs_buf_done(&r.sent);
    r = RUN(NULL, CS_ANSWER_INVALID,
            "{\"message\":\"no such branch\",\"suggestion\":\"Try main.\"}", "call", "git", "push");
    assert_string_equal(r.err, "caisson: no such branch\nTry main.\n");
    cs_buf_done(&r.sent);
    r = RUN(NULL, CS_ANSWER_OK, NULL, "call", "git", "push"); /* the daemon hangs up */
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "the bridge is closed"));
    cs_buf_done(&r.sent);
}

static void tools_are_found_and_shown(void **state)
{
    (void)state;
    static const char found[] =
        "{\"tools\":[{\"tool\":\"git.log\",\"path\":\"/a.ts\",\"summary\":"
        "\"Shows\"},{\"tool\":\"git.tag\",\"path\":\"/b.ts\"}],\"total\":2}";
    struct run r =
        RUN(NULL, CS_ANSWER_OK, found, "search", "show \"log\"", "--limit", "3", "--server", "git");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "git.log\t/a.ts\tShows\ngit.tag\t/b.ts\n");
    expect_call(&r, "caisson", "searchTools",
                "{\"query\":\"show \\\"log\\\"\",\"limit\":3,\"server\":\"git\"}");
    cs_buf_done(&r.sent);
    r = RUN(NULL, CS_ANSWER_OK, found, "search", "log", "--json");
    assert_true(strncmp(r.out, found, sizeof found - 1) == 0);
    cs_buf_done(&r.sent);
    r = RUN(NULL, CS_ANSWER_OK, "\"line one\\nline \\u0032\"", "show", "git/log");
    assert_string_equal(r.out, "line one\nline 2\n");
    expect_call(&r, "caisson", "readToolDefinition", "{\"path\":\"git/log\"}");
    cs_buf_done(&r.sent);
}

static void expect_text(struct run *r, enum cs_msg type, int level, const char *text)
{
    struct cs_frame_head h;
    struct cs_str got;
    uint8_t byte = 0;
    assert_int_equal(r->status, 0);
    assert_true(r->sent.len > sizeof h);
    memcpy(&h, r->sent.at, sizeof h);
    assert_int_equal(h.type, type);
    struct cs_str body = cs_strn(r->sent.at + sizeof h, h.len);
    if (level >= 0)
        assert_true(cs_field_u8(&body, &byte) && byte == level);
    assert_true(cs_field_str(&body, &got));
    if (!cs_str_is(got, text))
        fail_msg("it sent %.*s", CS_STR_ARG(got));
    cs_buf_done(&r->sent);
}

static void progress_and_log_are_sent(void **state)
{
    (void)state;
    struct run r = RUN(NULL, CS_ANSWER_OK, NULL, "progress", "1.5");
    expect_text(&r, CS_MSG_PROGRESS, -1, "{\"progress\":1.5}");
    r = RUN(NULL, CS_ANSWER_OK, NULL, "progress", "1", "4", "a \"b\"\n\\");
    expect_text(&r, CS_MSG_PROGRESS, -1,
                "{\"progress\":1,\"total\":4,\"message\":\"a \\\"b\\\"\\n\\\\\"}");
    r = RUN(NULL, CS_ANSWER_OK, NULL, "progress", "2", "half way");
    expect_text(&r, CS_MSG_PROGRESS, -1, "{\"progress\":2,\"message\":\"half way\"}");
    r = RUN(NULL, CS_ANSWER_OK, NULL, "log", "warn", "careful");
    expect_text(&r, CS_MSG_LOG, CS_LEVEL_WARN, "careful");
}

static void nonsense_is_answered_by_the_usage(void **state)
{
    (void)state;
    static const char *const bad[][6] = {
        {"/x/caisson"},
        {"/x/caisson", "dance"},
        {"/x/caisson", "call", "git"},
        {"/x/caisson", "call", "git", "a", "b", "c"},
        {"/x/caisson", "progress", "nan"},
        {"/x/caisson", "progress", "0x10"},
        {"/x/caisson", "progress"},
        {"/x/caisson", "log", "loud", "x"},
        {"/x/caisson", "log", "info"},
        {"/x/caisson", "inputs", "more"},
        {"/x/caisson", "search"},
        {"/x/caisson", "search", "x", "--limit"},
        {"/x/caisson", "search", "x", "--loud", "1"},
        {"/x/caisson", "show"},
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct run r = perform(bad[i], NULL, CS_ANSWER_OK, NULL);
        if (r.status != 2 || !strstr(r.err, "caisson call SERVER TOOL"))
            fail_msg("%zu: status %d, '%s'", i, r.status, r.err);
        assert_int_equal(r.sent.len, 0);
        cs_buf_done(&r.sent);
    }
}

int main(int argc, char **argv)
{
    int status = cs_role_main(argc, argv, &standin_hooks);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_prints_its_value),
        cmocka_unit_test(a_call_that_fails_says_so_on_stderr),
        cmocka_unit_test(tools_are_found_and_shown),
        cmocka_unit_test(progress_and_log_are_sent),
        cmocka_unit_test(nonsense_is_answered_by_the_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
