#include "standin.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "sandbox/cage.h"
#include "sandbox/guest.h"
#include "sandbox/wire.h"

static struct cs_cages *cages;

/* One guest from start to end, with a daemon's part played for it. */
struct play {
    struct cs_guest_spec spec;
    int64_t timeout_ms;
    const char *put_name, *put_text; /* a file for /workspace, or NULL */
    /* what came of it */
    bool timed_out;
    bool ended;
    int status;
    struct cs_err failure;
    struct cs_buf out, err, bridge;
    char got[256]; /* the content of /workspace/out.txt */
    struct cs_usage usage;
    int64_t ms;
};

static int64_t ms_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct play play_of(enum cs_guest_language language, const char *source)
{
    return (struct play){
        .spec = {.jail = standin_options(),
                 .language = language,
                 .source = cs_str(source),
                 .inputs = CS_STR("{\"who\":\"you\"}"),
                 .limits = {.memory = 256u << 20,
                            .cpu = 100,
                            .cpu_burst = 60000,
                            .processes = 64,
                            .open_files = 256,
                            .stack = 8u << 20,
                            .scratch_bytes = 64u << 20,
                            .scratch_files = 10000},
                 .mcp_servers = -1,
                 .skills = -1},
        .timeout_ms = 60000,
    };
}

static void drain(int *fd, struct cs_buf *to)
{
    for (;;) {
        if (*fd < 0)
            return;
        char *at = cs_buf_room(to, 65536);
        ssize_t n = read(*fd, at, 65536);
        if (n > 0 && to->len < (4u << 20))
            cs_buf_added(to, (size_t)n);
        if (n < 0)
            return;
        if (n == 0)
            cs_closep(fd);
    }
}

/* Answers every CALL on the bridge with its own arguments, and keeps the rest. */
static void serve_bridge(struct play *p, struct cs_guest *g, size_t *seen)
{
    drain(&g->bridge, &p->bridge);
    struct cs_frame_head h;
    while (p->bridge.len - *seen >= sizeof h) {
        memcpy(&h, p->bridge.at + *seen, sizeof h);
        if (p->bridge.len - *seen - sizeof h < h.len)
            return;
        struct cs_str body = cs_strn(p->bridge.at + *seen + sizeof h, h.len), server, tool, args;
        *seen += sizeof h + h.len;
        if (h.type != CS_MSG_CALL)
            continue;
        assert_true(cs_field_str(&body, &server) && cs_field_str(&body, &tool) &&
                    cs_field_str(&body, &args));
        CS_AUTO_BUF struct cs_buf out = {0};
        size_t mark = cs_frame_begin(&out, CS_MSG_RESULT, h.id, 0);
        static const struct {
            const char *tool;
            enum cs_answer status;
            const char *payload;
        } fixed[] = {
            {"busy", CS_ANSWER_FAILED,
             "{\"message\":\"rate limited\",\"retryable\":true,\"suggestion\":\"Wait.\"}"},
            {"searchTools", CS_ANSWER_OK,
             "{\"tools\":[{\"tool\":\"git.log\",\"path\":\"/mcp-servers/git/"
             "log.ts\"}],\"total\":7}"},
            {"readToolDefinition", CS_ANSWER_OK, "\"export async\\nfunction\""},
        };
        bool fine = cs_str_is(tool, "echo");
        enum cs_answer status = fine ? CS_ANSWER_OK : CS_ANSWER_MISSING;
        struct cs_str payload = fine ? args : CS_STR("there is no such tool");
        for (size_t i = 0; i < CS_COUNT(fixed); i++)
            if (cs_str_is(tool, fixed[i].tool)) {
                status = fixed[i].status;
                payload = cs_str(fixed[i].payload);
            }
        cs_put_u8(&out, (uint8_t)status);
        cs_put_str(&out, payload);
        cs_frame_end(&out, mark);
        assert_int_equal(write(g->bridge, out.at, out.len), (ssize_t)out.len);
    }
}

static void put_file(const struct play *p, int dir)
{
    cs_guest_files_as(dir);
    int fd = openat(dir, p->put_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_msg("copy in: %s", strerror(errno));
    assert_int_equal(write(fd, p->put_text, strlen(p->put_text)), (ssize_t)strlen(p->put_text));
    close(fd);
    cs_guest_files_as(-1);
}

static void get_file(struct play *p, int dir)
{
    cs_guest_files_as(dir);
    int fd = openat(dir, "out.txt", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    cs_guest_files_as(-1);
    if (fd < 0)
        return;
    ssize_t n = read(fd, p->got, sizeof p->got - 1);
    p->got[n < 0 ? 0 : n] = '\0';
    close(fd);
}

static struct cs_guest_reply await_reply(struct cs_guest *g)
{
    struct cs_guest_reply reply;
    struct cs_err err = {0};
    wait_readable(g->control, 60000);
    if (cs_guest_reply(g, &reply, &err) != 1)
        fail_msg("%s", err.msg);
    return reply;
}

static void watch(struct play *p, struct cs_guest *g, int pidfd, struct cs_cage *cage)
{
    int64_t start = ms_now();
    size_t seen = 0;
    for (;;) {
        struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN},
                               {.fd = g->out, .events = POLLIN},
                               {.fd = g->err, .events = POLLIN},
                               {.fd = g->bridge, .events = POLLIN},
                               {.fd = g->control, .events = POLLIN}};
        poll(fds, CS_COUNT(fds), 20);
        drain(&g->out, &p->out);
        drain(&g->err, &p->err);
        serve_bridge(p, g, &seen);
        struct cs_guest_reply reply;
        if (cs_guest_reply(g, &reply, NULL) == 1) {
            p->ended |= reply.kind == CS_GUEST_ENDED;
            if (reply.kind == CS_GUEST_ENDED)
                p->status = reply.status;
            else
                p->failure = reply.err;
        }
        cs_cage_tick(cage, &p->usage);
        if (fds[0].revents)
            break;
        if (!p->timed_out && ms_now() - start > p->timeout_ms) {
            p->timed_out = true;
            syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        }
    }
    p->ms = ms_now() - start;
    drain(&g->out, &p->out);
    drain(&g->err, &p->err);
}

static void perform(struct play *p)
{
    struct cs_guest g;
    struct cs_err err = {0};
    struct cs_cage *cage;
    if (cs_guest_spawn(&p->spec, &g, &err) < 0)
        fail_msg("%s", err.msg);
    struct cs_guest_reply built = await_reply(&g);
    if (built.kind != CS_GUEST_BUILT)
        fail_msg("not built: %s", built.err.msg);
    if (cs_cage_make(cages, &cage, &err) < 0 ||
        cs_cage_join(cage, built.pid, built.pidfd, &err) < 0 ||
        cs_cage_set(cage, &p->spec.limits, 8u << 20, &err) < 0)
        fail_msg("%s", err.msg);
    if (p->put_name)
        put_file(p, built.workspace);
    assert_int_equal(cs_guest_go(&g, &err), 0);
    watch(p, &g, built.pidfd, cage);
    siginfo_t info;
    assert_int_equal(waitid(P_PIDFD, (id_t)built.pidfd, &info, WEXITED), 0);
    if (!p->ended && !p->timed_out && !p->failure.msg[0] && !p->usage.memory_hit)
        print_message("pid 1 ended by itself: code %d, status %d\n", info.si_code, info.si_status);
    for (int i = 0; !(cs_cage_empty(cage)); i++) {
        assert_in_range(i, 0, 1000);
        usleep(1000);
    }
    cs_cage_read(cage, &p->usage);
    while (!cs_cage_remove(cage))
        usleep(1000);
    get_file(p, built.workspace);
    close(built.workspace);
    close(built.tmp);
    close(built.pidfd);
    cs_guest_close(&g);
    cs_buf_cstr(&p->out);
    cs_buf_cstr(&p->err);
}

static void done(struct play *p)
{
    cs_buf_done(&p->out);
    cs_buf_done(&p->err);
    cs_buf_done(&p->bridge);
}

static bool need(enum cs_guest_language language)
{
    const char *missing = cs_guest_missing(language);
    if (missing)
        print_message("%s\n", missing);
    return !missing;
}

#define NEED(language)   \
    if (!need(language)) \
    skip()

/* Runs a bash or python program that must end well, and compares its standard output. */
static void expect_output(enum cs_guest_language language, const char *source, const char *want)
{
    struct play p = play_of(language, source);
    perform(&p);
    if (strcmp(cs_buf_cstr(&p.out), want) != 0 || !p.ended || p.status != 0)
        fail_msg("status %x, failure '%s', out '%s', err '%s'", (unsigned)p.status, p.failure.msg,
                 cs_buf_cstr(&p.out), cs_buf_cstr(&p.err));
    done(&p);
}

static void bash_runs(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    expect_output(
        CS_GUEST_BASH,
        "echo hello $CAISSON_INPUTS; cat $CAISSON_INPUTS_FILE; echo; caisson inputs; pwd; "
        "echo $$; umask; hostname; id -un",
        "hello {\"who\":\"you\"}\n{\"who\":\"you\"}\n{\"who\":\"you\"}\n/workspace\n2\n0077\n"
        "caisson\ncaisson\n");
}

static void python_runs(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_output(CS_GUEST_PYTHON, "import os\nprint('hello', inputs['who'], os.getpid())\n",
                  "hello you 2\n");
}

/* The DONE frame among what came over the bridge. */
static bool find_done(const struct play *p, uint8_t *outcome, struct cs_str *text)
{
    for (size_t at = 0; at + sizeof(struct cs_frame_head) <= p->bridge.len;) {
        struct cs_frame_head h;
        memcpy(&h, p->bridge.at + at, sizeof h);
        struct cs_str body = cs_strn(p->bridge.at + at + sizeof h, h.len);
        if (h.type == CS_MSG_DONE)
            return cs_field_u8(&body, outcome) && cs_field_str(&body, text);
        at += sizeof h + h.len;
    }
    return false;
}

static void expect_done(enum cs_guest_language language, const char *source, uint8_t outcome,
                        const char *text)
{
    struct play p = play_of(language, source);
    uint8_t got = 9;
    struct cs_str json = {0};
    perform(&p);
    bool found = find_done(&p, &got, &json);
    char copy[4096];
    snprintf(copy, sizeof copy, "%.*s", CS_STR_ARG(json));
    if (!found || got != outcome || !strstr(copy, text))
        fail_msg("%s: outcome %u, '%s', status %x, err '%s'", source, got, copy, (unsigned)p.status,
                 cs_buf_cstr(&p.err));
    done(&p);
}

static void python_results_come_from_main(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_done(CS_GUEST_PYTHON, "def main(i):\n    return {'to': i['who'], 's': {1}}\n", 0,
                "{\"to\": \"you\", \"s\": [1]}");
    expect_done(CS_GUEST_PYTHON, "async def main(i):\n    return [1, 2]\n", 0, "[1, 2]");
    expect_done(CS_GUEST_PYTHON, "def main():\n    return 'none wanted'\n", 0, "\"none wanted\"");
    expect_done(CS_GUEST_PYTHON,
                "def main(i):\n    return caisson.call('fixture', 'echo', {'a': 1})\n", 0,
                "{\"a\": 1}");
    expect_done(CS_GUEST_PYTHON,
                "async def main(i):\n    return await caisson.acall('fixture', 'echo', b=[2])\n", 0,
                "{\"b\": [2]}");
    expect_done(
        CS_GUEST_PYTHON,
        "def main(i):\n    try:\n        caisson.call('fixture', 'nope')\n"
        "    except caisson.ToolError as e:\n        return [str(e), e.message, e.reason]\n",
        0, "[\"fixture.nope: there is no such tool\", \"there is no such tool\", \"missing\"]");
}

static void python_has_tools(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_done(CS_GUEST_PYTHON,
                "def main(i):\n    return [caisson.tools.fixture.echo(a=1), "
                "caisson.tools['fixture']['echo']({'b': 2}), repr(caisson.tools.fixture)]\n",
                0, "[{\"a\": 1}, {\"b\": 2}, \"<server fixture>\"]");
    expect_done(CS_GUEST_PYTHON,
                "def main(i):\n    try:\n        caisson.tools.fixture.busy()\n"
                "    except caisson.ToolError as e:\n        return [e.server, e.tool, e.message, "
                "e.code, e.retryable, e.suggestion]\n",
                0, "[\"fixture\", \"busy\", \"rate limited\", \"FAILED\", true, \"Wait.\"]");
    expect_done(CS_GUEST_PYTHON, "x = 1\ncaisson.call('fixture', 'busy')\n", 1,
                "{\"type\": \"upstream_error\", \"name\": \"ToolError\", \"message\": "
                "\"fixture.busy: rate limited\", \"line\": 2");
    expect_done(CS_GUEST_PYTHON, "caisson.call('fixture', 'busy')\n", 1,
                "\"suggestion\": \"Wait.\"");
    expect_done(CS_GUEST_PYTHON, "caisson.call('fixture', 'nope')\n", 1,
                "\"type\": \"permission_error\"");
    expect_done(CS_GUEST_PYTHON, "caisson.call('fixture', 'echo', 'text')\n", 1,
                "\"type\": \"validation_error\"");
    expect_done(CS_GUEST_PYTHON, "caisson.tools.fixture('text')\n", 1,
                "fixture is a server, not a tool");
    expect_done(CS_GUEST_PYTHON,
                "def main(i):\n    found = caisson.search_tools('log', limit=3)\n"
                "    return [[t['tool'] for t in found], len(found), found.total, found['total'], "
                "found, caisson.read_tool_definition('git/log')]\n",
                0,
                "[[\"git.log\"], 1, 7, 7, [{\"tool\": \"git.log\", \"path\": "
                "\"/mcp-servers/git/log.ts\"}], \"export async\\nfunction\"]");
}

static void python_errors_have_the_programs_own_positions(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_done(CS_GUEST_PYTHON, "x = 1\ndef f():\n    return 1 / 0\nf()\n", 1,
                "{\"type\": \"runtime_error\", \"name\": \"ZeroDivisionError\", \"message\": "
                "\"division by zero\", \"line\": 3, \"column\": 12");
    expect_done(CS_GUEST_PYTHON, "x = 1\ny = = 2\n", 1,
                "\"type\": \"syntax_error\", \"name\": \"SyntaxError\", \"message\": \"invalid "
                "syntax\", \"line\": 2, \"column\": 5");
    expect_done(CS_GUEST_PYTHON, "def main(i):\n    return float('nan')\n", 1, "ValueError");
}

static void a_python_script_that_calls_main_itself_is_left_alone(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_output(CS_GUEST_PYTHON,
                  "def main():\n    print('once')\nif __name__ == '__main__':\n    main()\n",
                  "once\n");
    expect_output(CS_GUEST_PYTHON, "import asyncio\nawait asyncio.sleep(0)\nprint('top')\n",
                  "top\n");
}

static void node_runs(void **state)
{
    (void)state;
    NEED(CS_GUEST_NODE);
    expect_output(CS_GUEST_NODE, "console.log('hello', inputs.who)", "hello you\n");
    expect_done(CS_GUEST_NODE, "function main(i) { return {to: i.who} }", 0, "{\"to\":\"you\"}");
    expect_done(CS_GUEST_NODE, "export default async (i) => [i.who]", 0, "[\"you\"]");
    expect_done(CS_GUEST_NODE,
                "import fs from 'node:fs';\nasync function main() {\n"
                "  return await caisson.call('fixture', 'echo', {n: 1});\n}",
                0, "{\"n\":1}");
    expect_done(CS_GUEST_NODE,
                "async function main() {\n  const found = await searchTools('log');\n"
                "  return [await tools.fixture.echo({n: 1}), [...found].length, found.length, "
                "await readToolDefinition('git/log')];\n}",
                0, "[{\"n\":1},1,1,\"export async\\nfunction\"]");
    expect_done(CS_GUEST_NODE, "async function main() { await tools.fixture.busy({}) }", 1,
                "{\"type\":\"upstream_error\",\"suggestion\":\"Wait.\",\"name\":\"ToolError\"");
    expect_done(CS_GUEST_NODE, "let a = 1;\nnull.x;\n", 1,
                "{\"type\":\"runtime_error\",\"name\":\"TypeError\"");
    expect_done(CS_GUEST_NODE, "let a = ;\n", 1, "{\"type\":\"syntax_error\"");
}

static void the_shell_reaches_the_bridge(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    expect_output(CS_GUEST_BASH,
                  "caisson call fixture echo '{\"a\":1}'; echo '{\"b\":2}' | caisson call fixture "
                  "echo -; caisson call fixture nope 2>&1; echo $?; caisson nonsense 2>/dev/null; "
                  "echo $?; caisson log info hi; caisson progress 1 2 'a \"b\"'",
                  "{\"a\":1}\n{\"b\":2}\ncaisson: there is no such tool\n1\n2\n");
    /* Several at once take turns. */
    expect_output(
        CS_GUEST_BASH,
        "for i in 1 2 3 4 5 6; do caisson call fixture echo '\"'$i'\"' & done | sort; wait",
        "\"1\"\n\"2\"\n\"3\"\n\"4\"\n\"5\"\n\"6\"\n");
}

static void files_go_in_and_out(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    struct play p = play_of(CS_GUEST_BASH, "tr a-z A-Z < in.txt > out.txt");
    p.put_name = "in.txt";
    p.put_text = "quiet";
    perform(&p);
    assert_string_equal(p.got, "QUIET");
    assert_int_equal(p.status, 0);
    done(&p);
}

static void exit_status_and_stderr_arrive(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    struct play p = play_of(CS_GUEST_BASH, "echo bad >&2; exit 7");
    perform(&p);
    assert_true(p.ended);
    assert_int_equal(WEXITSTATUS(p.status), 7);
    assert_string_equal(cs_buf_cstr(&p.err), "bad\n");
    done(&p);
    p = play_of(CS_GUEST_BASH, "kill -9 $$");
    perform(&p);
    assert_true(WIFSIGNALED(p.status));
    assert_int_equal(WTERMSIG(p.status), SIGKILL);
    done(&p);
}

static void nothing_of_the_host_is_there(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    expect_output(
        CS_GUEST_BASH,
        "ls /; ls /usr/local | wc -l; ls /root /home /var /opt /srv /mnt /sys 2>/dev/null; "
        "env | grep -v ^CAISSON | sort; ls /proc | grep -c '^[0-9]'; "
        "touch /x /usr/x /etc/x /caisson/x 2>/dev/null || echo ro",
        "bin\ncaisson\ndev\nempty\netc\nlib\nmcp-servers\nproc\nsbin\nskills\ntmp\nusr\n"
        "workspace\n0\n"
        "HOME=/workspace\nLANG=C.UTF-8\nPATH=/usr/bin:/bin:/caisson/bin\nPWD=/workspace\n"
        "SHLVL=1\nTMPDIR=/tmp\n_=/usr/bin/env\n3\nro\n");
}

static void only_the_known_descriptors_are_open(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    int extra = open("/etc/passwd", O_RDONLY); /* without CLOEXEC, as a careless library has it */
    assert_true(dup2(extra, 77) == 77);
    int high = fcntl(extra, F_DUPFD, 900);
    expect_output(
        CS_GUEST_PYTHON,
        "import os\nopen_ones = []\nfor i in range(4096):\n    try:\n        os.fstat(i)\n"
        "        open_ones.append(i)\n    except OSError:\n        pass\nprint(open_ones)\n",
        "[0, 1, 2, 3]\n");
    close(extra);
    close(77);
    close(high);
}

static void shared_directories_are_readable_and_show_no_path(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    char dir[] = "/tmp/CANARY-7f3a-XXXXXX", file[64];
    assert_non_null(mkdtemp(dir));
    chmod(dir, 0755);
    snprintf(file, sizeof file, "%s/tool.ts", dir);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_int_equal(write(fd, "hello", 5), 5);
    close(fd);
    struct play p = play_of(CS_GUEST_BASH, "cat /mcp-servers/tool.ts; ls /skills; "
                                           "echo x 2>/dev/null > /mcp-servers/tool.ts; "
                                           "cat /proc/self/mountinfo /proc/self/mounts");
    p.spec.mcp_servers = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    perform(&p);
    close(p.spec.mcp_servers);
    assert_non_null(strstr(cs_buf_cstr(&p.out), "hello"));
    assert_null(strstr(cs_buf_cstr(&p.out), "CANARY"));
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 5);
    done(&p);
    unlink(file);
    rmdir(dir);
}

static void limits_hold(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    expect_output(CS_GUEST_PYTHON,
                  "import os\nn = 0\ntry:\n    while True:\n        os.dup(1)\n        n += 1\n"
                  "except OSError as e:\n    print(n + 4, e.errno)\n",
                  "256 24\n");
    struct play p = play_of(
        CS_GUEST_PYTHON, "import os, time\nn = 0\ntry:\n    while n < 200:\n        if os.fork() "
                         "== 0:\n            time.sleep(60)\n            os._exit(0)\n        n += "
                         "1\nexcept OSError as e:\n    print('refused', e.errno)\nprint(n < 70)\n");
    perform(&p);
    assert_string_equal(cs_buf_cstr(&p.out), "refused 11\nTrue\n");
    assert_true(p.ms < 50000); /* its children sleep for a minute */
    done(&p);
    NEED(CS_GUEST_BASH);
    expect_output(
        CS_GUEST_BASH,
        "head -c 80000000 /dev/zero > a 2>/dev/null || echo full; rm a; i=0; "
        "mkdir d; cd d; while [ $i -lt 11000 ] && : 2>/dev/null > $i; do i=$((i+1)); done; "
        "[ $i -lt 10000 ] && [ $i -gt 9900 ] && echo counted",
        "full\ncounted\n");
}

static void memory_beyond_the_limit_is_noticed(void **state)
{
    (void)state;
    NEED(CS_GUEST_PYTHON);
    struct play p = play_of(CS_GUEST_PYTHON, "x = []\nfor i in range(1500):\n    "
                                             "x.append(bytearray(1 << 20))\nprint('ESC' 'APED')\n");
    perform(&p);
    assert_true(p.usage.memory_hit);
    assert_null(strstr(cs_buf_cstr(&p.out), "ESCAPED"));
    done(&p);
}

static void the_end_of_the_workload_is_the_end_of_all(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    struct play p =
        play_of(CS_GUEST_BASH, "(trap '' TERM INT HUP; exec setsid sleep 300) & "
                               "setsid sleep 300 >/dev/null 2>&1 & disown; echo started");
    perform(&p);
    assert_true(p.ms < 60000); /* they sleep for five minutes */
    assert_string_equal(cs_buf_cstr(&p.out), "started\n");
    done(&p);
    p = play_of(CS_GUEST_BASH, "trap '' TERM INT HUP; while :; do sleep 1000; done");
    p.timeout_ms = 300;
    perform(&p);
    assert_true(p.timed_out);
    assert_true(p.ms < 60000); /* it would go on for ever */
    done(&p);
}

static void closing_early_leaves_nothing(void **state)
{
    (void)state;
    int before = count_fds();
    for (int i = 0; i < 3; i++) {
        struct play p = play_of(CS_GUEST_BASH, "echo never");
        struct cs_guest g;
        struct cs_err err = {0};
        assert_int_equal(cs_guest_spawn(&p.spec, &g, &err), 0);
        if (i == 1)
            usleep(1000);
        if (i == 2)
            usleep(100000);
        cs_guest_close(&g);
    }
    assert_int_equal(count_fds(), before);
    siginfo_t info = {0};
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1);
    assert_int_equal(errno, ECHILD);
}

#ifdef CS_TEST_HOOKS
static void the_weak_jail_of_the_tests_shows_the_host(void **state)
{
    (void)state;
    NEED(CS_GUEST_BASH);
    struct play p = play_of(CS_GUEST_BASH, "ls / ; pwd");
    p.spec.jail.weak_for_test = true;
    perform(&p);
    assert_non_null(strstr(cs_buf_cstr(&p.out), "home\n"));
    assert_non_null(strstr(cs_buf_cstr(&p.out), "/workspace\n"));
    done(&p);
}
#endif

/* `--case LANGUAGE FILE`: runs one program and shows everything, for use by hand. */
static int one_case(char **argv)
{
    CS_AUTO_BUF struct cs_buf source = {0};
    int fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(fd, cs_buf_room(&source, 65536), 65536)) > 0;)
        cs_buf_added(&source, (size_t)n);
    close(fd);
    struct play p = play_of(strcmp(argv[2], "python") == 0 ? CS_GUEST_PYTHON
                            : strcmp(argv[2], "bash") == 0 ? CS_GUEST_BASH
                                                           : CS_GUEST_NODE,
                            cs_buf_cstr(&source));
    struct cs_err err;
    p.timeout_ms = 5000;
    cs_cages_open(getenv("POLLING") != NULL, &cages, &err);
#ifdef CS_TEST_HOOKS
    p.spec.jail.weak_for_test = getenv("WEAK") != NULL;
#endif
    perform(&p);
    if (p.out.len > 4000)
        p.out.len = 4000;
    printf("status %x%s%s%s%s %lld ms %llu MB\n--- out\n%.*s\n--- err\n%s\n", (unsigned)p.status,
           p.timed_out ? " timeout" : "", p.usage.memory_hit ? " memory" : "",
           p.usage.pids_hit ? " pids" : "", p.failure.msg, (long long)p.ms,
           (unsigned long long)p.usage.memory_peak >> 20, (int)p.out.len, p.out.at,
           cs_buf_cstr(&p.err));
    done(&p);
    cs_cages_free(cages);
    return 0;
}

int main(int argc, char **argv)
{
    int status = cs_role_main(argc, argv, &standin_hooks);
    if (status >= 0)
        return status;
    if (argc == 4 && strcmp(argv[1], "--case") == 0)
        return one_case(argv);
    struct cs_err err = {0};
    if (cs_cages_open(argc == 2 && strcmp(argv[1], "--polling") == 0, &cages, &err) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bash_runs),
        cmocka_unit_test(python_runs),
        cmocka_unit_test(python_results_come_from_main),
        cmocka_unit_test(python_has_tools),
        cmocka_unit_test(python_errors_have_the_programs_own_positions),
        cmocka_unit_test(a_python_script_that_calls_main_itself_is_left_alone),
        cmocka_unit_test(node_runs),
        cmocka_unit_test(the_shell_reaches_the_bridge),
        cmocka_unit_test(files_go_in_and_out),
        cmocka_unit_test(exit_status_and_stderr_arrive),
        cmocka_unit_test(nothing_of_the_host_is_there),
        cmocka_unit_test(only_the_known_descriptors_are_open),
        cmocka_unit_test(shared_directories_are_readable_and_show_no_path),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(memory_beyond_the_limit_is_noticed),
        cmocka_unit_test(the_end_of_the_workload_is_the_end_of_all),
        cmocka_unit_test(closing_early_leaves_nothing),
#ifdef CS_TEST_HOOKS
        cmocka_unit_test(the_weak_jail_of_the_tests_shows_the_host),
#endif
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cs_cages_free(cages);
    return failed;
}
