/* The conversation: order of frames, refusals, cancelling, crashes, and that a journal repeats. */
#include <fcntl.h>

#include "base/facts.h"
#include "worker/cases.h"

static struct talk *begin(const char *source)
{
    struct talk *t = cs_calloc(1, sizeof *t);
    t->source = source;
    t->step_us = 1000;
    t->seed = 7;
    return t;
}

static void end(struct talk *t)
{
    talk_done(t);
    free(t);
}

static pid_t until(struct talk *t, enum cs_msg type, struct cs_frame *f)
{
    pid_t pid = talk_fork(t);
    for (;;) {
        if (talk_frame(t, f, 60000) != 1)
            fail_msg("no frame while waiting for %s", cs_msg_name(type));
        if (f->type == type)
            return pid;
        talk_handle(t, f);
    }
}

/* It sleeps, and still does a while later. */
static void until_it_waits(pid_t pid)
{
    char path[40], text[100];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int asleep = 0; asleep < 5;) {
        usleep(10000);
        CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        const char *name = strrchr(text, ')');
        if (!name)
            fail_msg("%s says %s", path, text);
        asleep = name[2] == 'S' ? asleep + 1 : 0;
    }
}

static int exit_status(struct talk *t, pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    close(t->sock);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *type_of(struct talk *t)
{
    return cs_buf_cstr(&t->answer);
}

static void frames_come_in_their_order(void **state)
{
    (void)state;
    struct talk *t = begin("console.log('one'); await tools.fixture.echo({}); return 1");
    static const enum cs_msg order[] = {CS_MSG_READY, CS_MSG_FACTS, CS_MSG_LOG, CS_MSG_CALL,
                                        CS_MSG_DONE};
    pid_t pid = talk_fork(t);
    for (size_t i = 0; i < CS_COUNT(order); i++) {
        struct cs_frame f;
        assert_int_equal(talk_frame(t, &f, 60000), 1);
        assert_int_equal(f.type, order[i]);
        talk_handle(t, &f);
    }
    assert_int_equal(exit_status(t, pid), 0);
    end(t);
}

static void nothing_runs_before_the_verdict(void **state)
{
    (void)state;
    struct talk *t = begin("console.log('ran'); return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_FACTS, &f);
    assert_int_equal(talk_frame(t, &f, 50), -1);
    t->refuse = "not today";
    talk_verdict(t);
    assert_int_equal(talk_frame(t, &f, 60000), 1);
    assert_int_equal(f.type, CS_MSG_DONE);
    talk_handle(t, &f);
    assert_contains(type_of(t), "\"permission_error\"");
    assert_contains(type_of(t), "not today");
    assert_int_equal(t->logs.len, 0);
    assert_int_equal(exit_status(t, pid), 0);
    end(t);
}

static void facts_say_what_the_program_reaches(void **state)
{
    (void)state;
    static const struct file files[] = {
        {"/skills/tidy.ts", "import './more.ts';\nexport const tidy = () => eval('1');"},
        {"/skills/more.ts", "export const more = 1;"},
        {0}};
    struct talk *t =
        begin("import { tidy } from '/skills/tidy.ts';\nimport path from 'node:path';\n"
              "path.join(); tidy(); await tools.github.search({});\n"
              "new Function('1'); process.exit();");
    t->files = files;
    talk_run(t);
    const char *facts = cs_buf_cstr(&t->facts);
    assert_contains(facts, "{\"language\":\"typescript\",\"facts\":[{\"kind\":\"import\",\"name\":"
                           "\"/skills/tidy.ts\",\"line\":1,\"column\":22,\"via\":\"static\"}");
    assert_contains(
        facts,
        "{\"kind\":\"import\",\"name\":\"node:path\",\"line\":2,\"column\":18,\"via\":\"static\"}");
    assert_contains(facts,
                    "{\"kind\":\"call\",\"name\":\"node:path.join\",\"line\":3,\"column\":1}");
    assert_contains(
        facts, "{\"kind\":\"call\",\"name\":\"/skills/tidy.ts.tidy\",\"line\":3,\"column\":14}");
    assert_contains(facts, "{\"kind\":\"tool\",\"name\":\"github.search\",\"line\":3,");
    assert_contains(
        facts,
        "{\"kind\":\"code\",\"name\":\"Function\",\"line\":4,\"column\":1,\"via\":\"constant\"}");
    assert_contains(facts,
                    "{\"kind\":\"call\",\"name\":\"process.exit\",\"line\":4,\"column\":20}");
    assert_contains(
        facts,
        "{\"kind\":\"import\",\"name\":\"./"
        "more.ts\",\"line\":1,\"column\":8,\"via\":\"static\",\"module\":\"/skills/tidy.ts\"}");
    assert_contains(facts, "{\"kind\":\"code\",\"name\":\"eval\",\"line\":2,\"column\":27,\"via\":"
                           "\"constant\",\"module\":\"/skills/tidy.ts\"}");
    assert_contains(
        facts,
        "\"modules_hash\":\"1919ac49eb9c5e3c9825f9cd2d75488954122cd7c163e454a41bc7d3d316361b\"");
    assert_contains(facts, "\"longest_line\":51");
    assert_contains(facts, "\"modules\":3");
    struct cs_json doc;
    assert_int_equal(cs_json_parse(cs_buf_str(&t->facts), NULL, &doc, NULL), 0);
    cs_json_done(&doc);
    end(t);
}

static void facts_are_told_once_and_only_so_many(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf code = {0};
    for (int i = 0; i < 3000; i++)
        cs_buf_printf(&code, "f(1, 'a long text that takes its place %d'); eval(x);\n", i);
    struct talk *t = begin(cs_buf_cstr(&code));
    talk_run(t);
    const char *facts = cs_buf_cstr(&t->facts);
    assert_null(strstr(facts, "truncated"));
    assert_null(strstr(strstr(facts, "\"kind\":\"code\"") + 1, "\"kind\":\"code\""));
    end(t);
    for (int i = 0; i < 3000; i++)
        cs_buf_printf(&code, "f(1, 'and %d more');\n", i);
    t = begin(cs_buf_cstr(&code));
    talk_run(t);
    assert_contains(cs_buf_cstr(&t->facts), "\"truncated\":true");
    assert_true(t->facts.len <= CS_FACTS_BYTES);
    end(t);
}

static void a_lost_daemon_ends_the_worker(void **state)
{
    (void)state;
    struct talk *t = begin("return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_READY, &f);
    shutdown(t->sock, SHUT_RDWR);
    assert_int_equal(exit_status(t, pid), 71);
    end(t);
}

static void a_frame_out_of_turn_ends_the_worker(void **state)
{
    (void)state;
    struct talk *t = begin("return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_READY, &f);
    size_t mark = cs_frame_begin(&t->out, CS_MSG_RESULT, 1, 0);
    talk_end(t, mark);
    assert_int_equal(exit_status(t, pid), 72);
    end(t);
}

static void cancelling_ends_the_program(void **state)
{
    (void)state;
    struct talk *t = begin("await tools.fixture.never(); return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_CALL, &f);
    size_t mark = talk_begin(t, CS_MSG_CANCEL, 0);
    talk_end(t, mark);
    assert_int_equal(talk_frame(t, &f, 60000), 1);
    assert_int_equal(f.type, CS_MSG_DONE);
    talk_handle(t, &f);
    assert_contains(type_of(t), "cancelled");
    assert_int_equal(exit_status(t, pid), 0);
    end(t);
}

static void answers_to_nobody_are_ignored(void **state)
{
    (void)state;
    struct talk *t = begin("await tools.fixture.never(); return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_CALL, &f);
    uint64_t id = f.id;
    talk_result(t, 999999, CS_ANSWER_OK, CS_STR("1"));
    talk_result(t, 0, CS_ANSWER_OK, CS_STR("1"));
    talk_result(t, id, CS_ANSWER_OK, CS_STR("5"));
    assert_int_equal(talk_frame(t, &f, 60000), 1);
    talk_handle(t, &f);
    assert_string_equal(cs_buf_cstr(&t->answer), "1");
    assert_int_equal(exit_status(t, pid), 0);
    end(t);
}

static void a_crash_is_reported_as_one(void **state)
{
    (void)state;
    static const int signals[] = {SIGABRT, SIGTRAP}; /* the others are the test frame's */
    for (size_t i = 0; i < CS_COUNT(signals); i++) {
        struct talk *t = begin("await tools.fixture.never(); return 1");
        struct cs_frame f;
        pid_t pid = until(t, CS_MSG_CALL, &f);
        until_it_waits(pid); /* a crash comes from the engine, never from a send */
        kill(pid, signals[i]);
        assert_int_equal(talk_frame(t, &f, 60000), 1);
        assert_int_equal(f.type, CS_MSG_DONE);
        talk_handle(t, &f);
        assert_contains(type_of(t), "the engine crashed");
        assert_int_equal(exit_status(t, pid), 70);
        end(t);
    }
}

static void a_crash_before_the_program_says_nothing(void **state)
{
    (void)state;
    struct talk *t = begin("return 1");
    struct cs_frame f;
    pid_t pid = until(t, CS_MSG_READY, &f);
    kill(pid, SIGABRT);
    assert_int_equal(talk_frame(t, &f, 60000), 0);
    assert_int_equal(exit_status(t, pid), 70);
    end(t);
}

/* The same seed and the same answers at the same times give the same program. */
static void a_journal_repeats(void **state)
{
    (void)state;
    static const char source[] =
        "const seen: unknown[] = [];\n"
        "for (let i = 0; i < 20; i++) {\n"
        "  const all = await Promise.all([1, 2, 3].map((n) => tools.fixture.echo({ n, i })));\n"
        "  await new Promise((done) => setTimeout(done, i));\n"
        "  seen.push([all.length, Date.now() % 100000, Math.random(), crypto.randomUUID()]);\n"
        "}\n"
        "return seen;";
    struct cs_buf first = {0};
    for (int round = 0; round < 3; round++) {
        struct talk *t = begin(source);
        talk_run(t);
        assert_int_equal(t->outcome, CS_OUTCOME_VALUE);
        if (round == 0)
            cs_buf_putstr(&first, cs_buf_str(&t->answer));
        assert_string_equal(cs_buf_cstr(&t->answer), cs_buf_cstr(&first));
        end(t);
    }
    cs_buf_done(&first);
}

static void many_calls_at_once(void **state)
{
    (void)state;
    struct talk *t = begin("const n = (await Promise.all(Array.from({length: 3000}, (_, i) => "
                           "tools.fixture.echo({i})))).length; return n");
    talk_run(t);
    assert_string_equal(cs_buf_cstr(&t->answer), "3000");
    end(t);
}

static void two_megabytes_each_way(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0};
    cs_buf_putc(&json, '[');
    for (int i = 0; json.len < 2 * CS_MIB; i++)
        cs_buf_printf(&json, "%s{\"id\":%d,\"name\":\"é %d\"}", i ? "," : "", i, i);
    cs_buf_putc(&json, ']');
    struct talk *t = begin("return inputs");
    t->inputs = cs_buf_cstr(&json);
    t->result_bytes = 4 * CS_MIB;
    talk_run(t);
    assert_true(cs_str_eq(cs_buf_str(&t->answer), cs_buf_str(&json)));
    end(t);
}

int main(void)
{
    struct cs_err err = {0};
    if (cs_worker_warm(false, &err) < 0) {
        fprintf(stderr, "warm: %s\n", err.msg);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        CS_TEST(frames_come_in_their_order),
        CS_TEST(nothing_runs_before_the_verdict),
        CS_TEST(facts_say_what_the_program_reaches),
        CS_TEST(facts_are_told_once_and_only_so_many),
        CS_TEST(a_lost_daemon_ends_the_worker),
        CS_TEST(a_frame_out_of_turn_ends_the_worker),
        CS_TEST(cancelling_ends_the_program),
        CS_TEST(answers_to_nobody_are_ignored),
        CS_TEST(a_crash_is_reported_as_one),
        CS_TEST(a_crash_before_the_program_says_nothing),
        CS_TEST(a_journal_repeats),
        CS_TEST(many_calls_at_once),
        CS_TEST(two_megabytes_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
