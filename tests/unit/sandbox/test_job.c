/* A job in the real sandbox, with this test as the one who answers: modules, calls, the tree. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/folder.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

static struct {
    uv_loop_t loop;
    struct cs_sandbox *sandbox;
    char dir[64]; /* scratch/, tree/, later/ */
} world;

struct play {
    struct cs_job *job;
    const char *source;
    enum cs_language language;
    bool ended, no_tree, no_events;
    const char *later; /* the directory that `module` is answered with; NULL: a message */
    unsigned calls, at_once, most, modules;
    struct cs_job_end end;
    struct cs_buf payload, asked, out, state;
    const char *given;     /* the state it starts with */
    bool files;            /* it has a workspace: home/ in, home-out/ out */
    uint64_t waiting[400]; /* calls of `slow`, answered when the loop is idle */
    uv_timer_t timer;
};

static void on_facts(void *ctx, struct cs_str json)
{
    (void)json;
    struct play *p = ctx;
    cs_job_verdict(p->job, true, NULL, CS_STR(""));
}

static void on_timer(uv_timer_t *t)
{
    struct play *p = t->data;
    unsigned n = p->at_once;
    p->at_once = 0;
    for (unsigned i = 0; i < n; i++)
        cs_job_result(p->job, p->waiting[i], CS_ANSWER_OK, CS_STR("1"));
}

static void on_call(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                    struct cs_str arguments)
{
    struct play *p = ctx;
    p->calls++;
    if (cs_str_is(tool, "slow")) {
        p->waiting[p->at_once++] = id;
        if (p->at_once > p->most)
            p->most = p->at_once;
        uv_timer_start(&p->timer, on_timer, 5, 0);
        return;
    }
    if (cs_str_is(tool, "echo"))
        cs_job_result(p->job, id, CS_ANSWER_OK, arguments);
    else
        cs_job_result(p->job, id, CS_ANSWER_DENIED,
                      CS_STR("{\"message\":\"not you\",\"suggestion\":\"Ask.\"}"));
    (void)server;
}

static void on_module(void *ctx, uint64_t id, struct cs_str path)
{
    struct play *p = ctx;
    p->modules++;
    cs_buf_printf(&p->asked, "%.*s\n", CS_STR_ARG(path));
    if (!p->later) {
        cs_job_module(p->job, id, -1, CS_STR("there is no tool like that; try listCommits"));
        return;
    }
    char dir[128];
    snprintf(dir, sizeof dir, "%s/%s", world.dir, p->later);
    CS_AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    cs_job_module(p->job, id, fd, CS_STR(""));
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct play *p = ctx;
    cs_buf_printf(&p->out, "%d %.*s\n", (int)level, CS_STR_ARG(text));
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    (void)is_stderr;
    struct play *p = ctx;
    cs_buf_putstr(&p->out, bytes);
}

static void on_progress(void *ctx, struct cs_str json)
{
    (void)ctx;
    (void)json;
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct play *p = ctx;
    p->end = *end;
    cs_buf_putstr(&p->payload, end->payload);
    cs_buf_putstr(&p->state, end->state);
    p->ended = true;
    uv_close((uv_handle_t *)&p->timer, NULL);
}

static void perform(struct play *p)
{
    static const struct cs_job_events events = {.facts = on_facts,
                                                .call = on_call,
                                                .module = on_module,
                                                .log = on_log,
                                                .output = on_output,
                                                .progress = on_progress,
                                                .ended = on_ended};
    struct cs_job_events silent = events;
    silent.module = NULL;
    char tree[128];
    snprintf(tree, sizeof tree, "%s/tree", world.dir);
    CS_AUTO_FD int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct cs_job_spec spec = {.language = p->language,
                               .source = cs_str(p->source),
                               .limits = cs_limits_default(),
                               .mcp_servers = p->no_tree ? -1 : fd,
                               .globals = CS_STR("[\"github\",\"late\"]")};
    char home[128], out[128];
    snprintf(home, sizeof home, "%s/home", world.dir);
    snprintf(out, sizeof out, "%s/home-out", world.dir);
    spec.workspace = p->files ? home : NULL;
    spec.workspace_out = p->files ? out : NULL;
    spec.state = cs_str(p->given ? p->given : "");
    spec.state_bytes = 100;
    struct cs_err err = {0};
    uv_timer_init(&world.loop, &p->timer);
    p->timer.data = p;
    if (cs_job_start(world.sandbox, &spec, p->no_events ? &silent : &events, p, &p->job, &err) < 0)
        fail_msg("start: %s", err.msg);
    while (!p->ended)
        uv_run(&world.loop, UV_RUN_ONCE);
}

static void done(struct play *p)
{
    cs_buf_done(&p->payload);
    cs_buf_done(&p->asked);
    cs_buf_done(&p->out);
    cs_buf_done(&p->state);
}

static void expect(struct play *p, enum cs_ending how, const char *text)
{
    perform(p);
    if (p->end.how != how || !strstr(cs_buf_cstr(&p->payload), text))
        fail_msg("%s: ended as %d, '%s', %s, output '%s'", p->source, (int)p->end.how,
                 cs_buf_cstr(&p->payload), p->end.err.msg, cs_buf_cstr(&p->out));
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", world.dir, name);
    for (char *slash = path + strlen(world.dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    CS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void write_tool(const char *tree, const char *server, const char *tool)
{
    char name[128], text[1024];
    snprintf(name, sizeof name, "%s/%s/%s.ts", tree, server, tool);
    snprintf(text, sizeof text,
             "/** Does it.\n * @example\n * await %s({ a: 1 })\n */\n"
             "export async function %s(input: %sInput): Promise<%sOutput> {\n"
             "  return caisson.callTool(\"%s\", \"echo\", input);\n}\n"
             "export type %sInput = { a?: number };\nexport type %sOutput = unknown;\n"
             "export default %s;\n",
             tool, tool, tool, tool, server, tool, tool, tool);
    write_file(name, text);
}

static void imports_reach_the_tree(void **state)
{
    (void)state;
    struct play p = {.source =
                         "import { listCommits } from './mcp-servers/github/listCommits.ts';\n"
                         "import * as github2 from 'mcp-servers/github';\n"
                         "import { readdir, readFile, writeFile } from 'node:fs/promises';\n"
                         "const names = (await readdir('/mcp-servers/github')).sort();\n"
                         "const text = await readFile('/mcp-servers/github/index.ts', 'utf8');\n"
                         "let refused; try { await writeFile('/mcp-servers/x', '') } catch (e) { "
                         "refused = e.code }\n"
                         "return [await listCommits({ a: 1 }), await github.echo({ b: 2 }), "
                         "github2.listCommits === listCommits, names, text.length > 10, refused]"};
    expect(&p, CS_ENDED_VALUE,
           "[{\"a\":1},{\"b\":2},true,[\"index.ts\",\"listCommits.ts\"],true,\"EROFS\"]");
    done(&p);
}

static void guests_see_the_tree(void **state)
{
    (void)state;
    if (cs_language_missing(CS_PYTHON))
        skip();
    struct play p = {.language = CS_PYTHON,
                     .source =
                         "import os\ndef main(i):\n"
                         "    with open('/mcp-servers/github/index.ts') as f: text = f.read()\n"
                         "    return [sorted(os.listdir('/mcp-servers')), "
                         "sorted(os.listdir('/mcp-servers/github')), "
                         "'listCommits' in text, caisson.tools.github.echo(a=1)]\n"};
    expect(&p, CS_ENDED_VALUE,
           "[[\"big\", \"github\"], [\"index.ts\", \"listCommits.ts\"], true, {\"a\": 1}]");
    done(&p);
}

static void a_missing_module_is_asked_for(void **state)
{
    (void)state;
    struct play p = {.source = "import { x } from './mcp-servers/github/lsitCommits.ts'; x()"};
    expect(&p, CS_ENDED_ERROR, "there is no tool like that; try listCommits");
    assert_string_equal(cs_buf_cstr(&p.asked), "/mcp-servers/github/lsitCommits.ts\n");
    done(&p);
    p = (struct play){.source = "import './nothing.ts'"};
    expect(&p, CS_ENDED_ERROR, "there is no module './nothing.ts'");
    assert_int_equal(p.modules, 0);
    done(&p);
}

static void a_server_that_appears_late_is_found(void **state)
{
    (void)state;
    struct play p = {.later = "later",
                     .source = "const { now } = await import('/mcp-servers/late/now.ts');\n"
                               "import { listCommits } from './mcp-servers/late/listCommits.ts';\n"
                               "return [await now({ a: 1 }), await listCommits({ a: 2 })]"};
    expect(&p, CS_ENDED_VALUE, "[{\"a\":1},{\"a\":2}]");
    done(&p);
    p = (struct play){.later = "later", .source = "await import('/mcp-servers/late/never.ts')"};
    expect(&p, CS_ENDED_ERROR, "there is no module '/mcp-servers/late/never.ts'");
    assert_int_equal(p.modules, 1); /* not for ever */
    done(&p);
}

static void without_anybody_to_ask_it_is_missing(void **state)
{
    (void)state;
    struct play p = {
        .no_events = true, .no_tree = true, .source = "await import('/mcp-servers/late/now.ts')"};
    expect(&p, CS_ENDED_ERROR, "there is no module");
    done(&p);
}

static void large_calls_wait_inside(void **state)
{
    (void)state;
    struct play p = {.source =
                         "const s = 'x'.repeat(20000); const all = await Promise.all("
                         "Array.from({length: 40}, () => github.slow({s}))); return all.length"};
    expect(&p, CS_ENDED_VALUE, "40");
    assert_int_equal(p.most, 8);
    assert_int_equal(p.calls, 40);
    done(&p);
}

static void small_calls_wait_outside_up_to_a_bound(void **state)
{
    (void)state;
    struct play p = {.source = "const all = await Promise.all(Array.from({length: 300}, () => "
                               "github.slow({}))); return all.length"};
    expect(&p, CS_ENDED_VALUE, "300");
    assert_int_equal(p.most, 128);
    assert_int_equal(p.calls, 300);
    done(&p);
}

static void large_values_come_and_go(void **state)
{
    (void)state;
    struct play p = {.source = "const s = 'x'.repeat(5e6); const all = await Promise.all([1, 2, 3]"
                               ".map((n) => github.echo({ n, s })));\n"
                               "return all.map((v) => [v.n, v.s.length, v.s === s])"};
    expect(&p, CS_ENDED_VALUE, "[[1,5000000,true],[2,5000000,true],[3,5000000,true]]");
    done(&p);
}

static void too_many_calls_end_the_program(void **state)
{
    (void)state;
    struct play p = {.source = "for (;;) await github.echo({})"};
    perform(&p);
    assert_int_equal(p.end.how, CS_ENDED_LIMIT);
    assert_int_equal(p.end.limit, CS_LIMIT_TOOL_CALLS);
    assert_int_equal(p.calls, 1000);
    done(&p);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Not a benchmark: it fails if one of them is an order of magnitude from what it should be. */
static void a_large_index_and_many_calls_are_quick(void **state)
{
    (void)state;
    double start = now_ms();
    struct play p = {.source = "import * as big from './mcp-servers/big/index.ts'; return "
                               "Object.keys(big).length"};
    expect(&p, CS_ENDED_VALUE, "200");
    double index = now_ms() - start;
    done(&p);
    p = (struct play){.source =
                          "for (let i = 0; i < 1000; i++) await github.echo({ i }); return 1"};
    start = now_ms();
    expect(&p, CS_ENDED_VALUE, "1");
    double calls = now_ms() - start;
    done(&p);
    print_message("an index of 200 tools: %.1f ms; a call: %.1f us\n", index, calls);
    assert_true(index < 1000 && calls < 2000);
}

static void state_comes_back(void **state)
{
    (void)state;
    static const struct {
        enum cs_language language;
        const char *source, *given;
        enum cs_ending how;
        const char *payload, *state;
    } rows[] = {
        {CS_TYPESCRIPT, "state.n++; return 1", "{\"n\":1}", CS_ENDED_VALUE, "1", "{\"n\":2}"},
        {CS_TYPESCRIPT, "return state.n", "{\"n\":1}", CS_ENDED_VALUE, "1", ""},
        {CS_TYPESCRIPT, "state.n = 2; return 7", NULL, CS_ENDED_VALUE, "7", ""},
        {CS_TYPESCRIPT, "state.n = 2; throw 1", "{}", CS_ENDED_ERROR, "runtime_error", ""},
        {CS_TYPESCRIPT, "state.n = 'x'.repeat(100)", "{}", CS_ENDED_ERROR, "100 bytes", ""},
        {CS_PYTHON, "state['n'] += 1\ndef main(): return 5", "{\"n\":1}", CS_ENDED_VALUE, "5",
         "{\"n\":2}"},
        {CS_PYTHON, "state['n'] += 1", "{\"n\":1}", CS_ENDED_EXIT, "", "{\"n\":2}"},
        {CS_PYTHON, "import sys\nstate = {'a': [1]}\nsys.exit()", "{}", CS_ENDED_EXIT, "",
         "{\"a\":[1]}"},
        {CS_PYTHON, "caisson.state = {'a': None}", "{}", CS_ENDED_EXIT, "", "{\"a\":null}"},
        {CS_PYTHON, "print(state)", "{\"n\":1}", CS_ENDED_EXIT, "", ""},
        {CS_PYTHON, "state = 'CA'", NULL, CS_ENDED_EXIT, "", ""},
        {CS_PYTHON, "state['n'] = 2\nraise ValueError('x')", "{}", CS_ENDED_ERROR, "ValueError",
         ""},
        {CS_PYTHON, "import sys\nstate['n'] = 2\nsys.exit(3)", "{}", CS_ENDED_EXIT, "", ""},
        {CS_PYTHON, "state['s'] = [{1}]", "{}", CS_ENDED_ERROR, "a set at $.s[0]", ""},
        {CS_PYTHON, "state['s'] = {1: 2}", "{}", CS_ENDED_ERROR, "the key 1 at $.s", ""},
        {CS_PYTHON, "state['s'] = float('nan')", "{}", CS_ENDED_ERROR, "nan at $.s", ""},
        {CS_PYTHON, "state['s'] = state", "{}", CS_ENDED_ERROR, "itself at $.s", ""},
        {CS_PYTHON, "state = 'CA'", "{}", CS_ENDED_ERROR, "must stay a dict", ""},
        {CS_PYTHON, "state['n'] = 'x' * 100", "{}", CS_ENDED_FAILED, "", ""},
        {CS_NODE, "state.n++; module.exports = () => 5", "{\"n\":1}", CS_ENDED_VALUE, "5",
         "{\"n\":2}"},
        {CS_NODE, "setTimeout(() => { state = {a: [1]} }, 5)", "{}", CS_ENDED_EXIT, "",
         "{\"a\":[1]}"},
        {CS_NODE, "state.n", "{\"n\":1}", CS_ENDED_EXIT, "", ""},
        {CS_NODE, "state.n = 2; throw new Error('x')", "{}", CS_ENDED_ERROR, "Error", ""},
        {CS_NODE, "state.n = 2; process.exit(3)", "{}", CS_ENDED_EXIT, "", ""},
        {CS_NODE, "state.d = [new Date()]", "{}", CS_ENDED_ERROR, "a Date at $.d[0]", ""},
        {CS_NODE, "state = 5; module.exports = 1", "{}", CS_ENDED_ERROR, "stay an object", ""},
        {CS_BASH, "cat /caisson/state.json", "{\"n\":1}", CS_ENDED_EXIT, "", ""},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct play p = {
            .language = rows[i].language, .source = rows[i].source, .given = rows[i].given};
        expect(&p, rows[i].how, rows[i].payload);
        if (strcmp(cs_buf_cstr(&p.state), rows[i].state) != 0)
            fail_msg("%s: state '%s'", p.source, cs_buf_cstr(&p.state));
        if (p.end.how == CS_ENDED_FAILED)
            assert_int_equal(p.end.err.code, CS_LIMIT);
        done(&p);
    }
}

static bool there(const char *name)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", world.dir, name);
    return lstat(path, &st) == 0;
}

static void files_come_back_beside_the_old_ones(void **state)
{
    (void)state;
    static const struct {
        enum cs_language language;
        const char *source;
        enum cs_ending how;
        bool made, kept, fresh;
    } rows[] = {
        {CS_TYPESCRIPT, "return (await caisson, 1)", CS_ENDED_VALUE, false, false, false},
        {CS_TYPESCRIPT, "import fs from 'node:fs/promises'; await fs.writeFile('sub/new', 'x')",
         CS_ENDED_VALUE, true, true, true},
        {CS_TYPESCRIPT, "import fs from 'node:fs/promises'; await fs.rm('sub/old')", CS_ENDED_VALUE,
         true, false, false},
        {CS_TYPESCRIPT,
         "import fs from 'node:fs/promises'; await fs.rm('sub/old'); throw new Error('x')",
         CS_ENDED_ERROR, false, false, false},
        {CS_BASH, "ln -s /etc/passwd link; mkfifo pipe; echo x > a; ln a b", CS_ENDED_EXIT, false,
         false, false},
        {CS_BASH, "rm sub/old; exit 1", CS_ENDED_EXIT, false, false, false},
        {CS_BASH, "echo x > sub/new; touch -r sub/old sub/new", CS_ENDED_EXIT, true, true, true},
    };
    write_file("home/sub/old", "old");
    char out[128];
    snprintf(out, sizeof out, "%s/home-out", world.dir);
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct play p = {.language = rows[i].language, .source = rows[i].source, .files = true};
        expect(&p, rows[i].how, "");
        assert_true(there("home/sub/old") && !there("home/sub/new"));
        if (there("home-out") != rows[i].made || there("home-out/sub/old") != rows[i].kept ||
            there("home-out/sub/new") != rows[i].fresh)
            fail_msg("%s: out %d, old %d, new %d", p.source, there("home-out"),
                     there("home-out/sub/old"), there("home-out/sub/new"));
        cs_folder_remove(AT_FDCWD, out);
        done(&p);
    }
}

static int set_up(void **state)
{
    (void)state;
    snprintf(world.dir, sizeof world.dir, "/tmp/caisson-unit-XXXXXX");
    assert_non_null(mkdtemp(world.dir));
    chmod(world.dir, 0755);
    write_tool("tree", "github", "listCommits");
    write_file("tree/github/index.ts", "export { listCommits } from './listCommits.ts';\n");
    write_tool("later", "late", "now");
    write_tool("later", "late", "listCommits");
    CS_AUTO_BUF struct cs_buf index = {0};
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "tool%d", i);
        write_tool("tree", "big", name);
        cs_buf_printf(&index, "export { %s, type %sInput } from \"./%s\";\n", name, name, name);
    }
    write_file("tree/big/index.ts", cs_buf_cstr(&index));
    write_file("scratch/.here", "");
    char scratch[80];
    snprintf(scratch, sizeof scratch, "%s/scratch", world.dir);
    struct cs_sandbox_options options = {.pool = 1, .scratch_dir = scratch};
    struct cs_err err = {0};
    uv_loop_init(&world.loop);
    if (cs_sandbox_new(&world.loop, &options, &world.sandbox, &err) < 0)
        fail_msg("%s", err.msg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cs_sandbox_close(world.sandbox, NULL, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world.loop);
    cs_folder_remove(AT_FDCWD, world.dir);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST(imports_reach_the_tree),
        CS_TEST(guests_see_the_tree),
        CS_TEST(a_missing_module_is_asked_for),
        CS_TEST(a_server_that_appears_late_is_found),
        CS_TEST(without_anybody_to_ask_it_is_missing),
        CS_TEST(state_comes_back),
        CS_TEST(files_come_back_beside_the_old_ones),
        CS_TEST(large_calls_wait_inside),
        CS_TEST(small_calls_wait_outside_up_to_a_bound),
        CS_TEST(large_values_come_and_go),
        CS_TEST(too_many_calls_end_the_program),
        CS_TEST(a_large_index_and_many_calls_are_quick),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
