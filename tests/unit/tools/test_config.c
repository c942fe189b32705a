#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/config.h"
#include "tools/expand.h"
#include "tools/tools.h"

struct fixture {
    char dir[64], path[96];
    struct cs_config config;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-config-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/caisson.json", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cs_config_done(&f->config);
    cs_dir_remove(AT_FDCWD, f->dir);
    free(f);
    return 0;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void load(struct fixture *f, const char *text)
{
    struct cs_err err = {0};
    cs_config_done(&f->config);
    put(f->path, text);
    if (cs_config_load(f->path, &f->config, &err) < 0)
        fail_msg("%s", err.msg);
}

static const struct cs_server_config *server(struct fixture *f, const char *name)
{
    const struct cs_server_config *s = cs_config_find(&f->config, cs_str(name));
    if (!s)
        fail_msg("there is no server '%s'", name);
    return s;
}

static const struct cs_server_config *good(struct fixture *f, const char *name)
{
    const struct cs_server_config *s = server(f, name);
    if (s->problem.code)
        fail_msg("%s", s->problem.msg);
    return s;
}

static void both_kinds_of_server_are_read(void **state)
{
    struct fixture *f = *state;
    load(f, "{\"mcpServers\": {"
            "\"a\": {\"command\": \"npx\", \"args\": [\"-y\", \"pkg\"], \"cwd\": \"/tmp\","
            "        \"env\": {\"K\": \"v\", \"N\": 8080, \"gone\": null}},"
            "\"b\": {\"type\": \"http\", \"url\": \"https://x/mcp\", \"headers\": {\"A\": \"b\"}},"
            "\"c\": {\"url\": \"http://x\"}, \"d\": {\"type\": \"sse\", \"url\": \"http://x\"},"
            "\"e\": {\"type\": \"streamableHttp\", \"url\": \"http://x\"}}}");
    assert_int_equal(f->config.count, 5);
    assert_string_equal(f->config.path, f->path);
    const struct cs_server_config *a = good(f, "a"), *b = good(f, "b");
    assert_false(a->is_http);
    assert_true(a->enabled);
    assert_string_equal(a->command, "npx");
    assert_string_equal(a->args[0], "-y");
    assert_string_equal(a->args[1], "pkg");
    assert_null(a->args[2]);
    assert_string_equal(a->cwd, "/tmp");
    assert_string_equal(a->env[0].name, "K");
    assert_string_equal(a->env[1].value, "8080");
    assert_null(a->env[2].name);
    assert_int_equal(a->timeout_ms, CS_CALL_TIMEOUT_MS);
    assert_int_equal(a->max_result_bytes, CS_CALL_RESULT_MAX);
    assert_int_equal(a->trust, CS_TRUST_NORMAL);
    assert_null(a->headers[0].name);
    assert_true(b->is_http);
    assert_string_equal(b->headers[0].value, "b");
    assert_null(b->args[0]);
    assert_true(good(f, "c")->is_http && good(f, "d")->is_http && good(f, "e")->is_http);
    assert_string_equal(f->config.warnings, "");
}

static void our_own_keys_are_read(void **state)
{
    struct fixture *f = *state;
    load(f, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"enabled\": true, \"timeout_ms\": "
            "5000, \"max_result_bytes\": 1e6, \"trust\": \"low\", \"era\": \"legacy\", \"tools\": "
            "{\"allow\": [\"get_*\"], \"deny\": [\"*delete*\"]}, \"roots\": [\"/a b\", "
            "\"file:///c\"], \"jail\": {\"read\": [\"/r\"], \"write\": [\"/w\"], \"hosts\": "
            "[\"*.example.com:443\"]}}, \"b\": {\"url\": \"https://x\", \"oauth\": "
            "{\"client_id\": \"i\", \"client_secret\": \"s\", \"scopes\": [\"p\", \"q\"]}}, \"c\": "
            "{\"command\": \"x\", \"jail\": true, \"timeout\": 60, \"disabled\": true}, \"d\": "
            "{\"command\": \"x\", \"timeout\": 600000}}}");
    const struct cs_server_config *a = good(f, "a"), *b = good(f, "b"), *c = good(f, "c");
    assert_int_equal(a->timeout_ms, 5000);
    assert_int_equal(a->max_result_bytes, 1000000);
    assert_int_equal(a->trust, CS_TRUST_LOW);
    assert_int_equal(a->era, CS_ERA_LEGACY);
    assert_string_equal(a->allow[0], "get_*");
    assert_string_equal(a->deny[0], "*delete*");
    assert_string_equal(a->roots[0], "file:///a%20b");
    assert_string_equal(a->roots[1], "file:///c");
    assert_true(a->jail);
    assert_string_equal(a->jail_read[0], "/r");
    assert_string_equal(a->jail_write[0], "/w");
    assert_string_equal(a->jail_hosts[0], "*.example.com:443");
    assert_string_equal(b->client_id, "i");
    assert_string_equal(b->client_secret, "s");
    assert_string_equal(b->scopes[1], "q");
    assert_true(c->jail);
    assert_false(c->enabled);
    assert_int_equal(c->timeout_ms, 60000);
    assert_int_equal(server(f, "d")->timeout_ms, 600000);
}

static void what_is_wrong_costs_one_server_and_is_named(void **state)
{
    static const struct {
        const char *entry, *says;
    } rows[] = {
        {"3", "wants an object, but there is a number"},
        {"{}", "neither 'command' nor 'url'"},
        {"{\"command\": \"x\", \"url\": \"http://x\"}", "both 'command' and 'url'"},
        {"{\"command\": 3}", "command: wants a text, but there is a number"},
        {"{\"command\": \"\"}", "command: is empty"},
        {"{\"command\": \"a\\u0000b\"}", "command: a NUL"},
        {"{\"command\": \"x\", \"args\": \"y\"}", "args: wants a list of texts"},
        {"{\"command\": \"x\", \"args\": [\"y\", 2]}", "args: item 2: wants a text"},
        {"{\"command\": \"x\", \"env\": [\"A=b\"]}", "env: wants an object"},
        {"{\"command\": \"x\", \"env\": {\"A=B\": \"c\"}}", "env: 'A=B' cannot be a name"},
        {"{\"command\": \"x\", \"env\": {\"A\": true}}", "env: A: wants a text"},
        {"{\"command\": \"x\", \"type\": \"http\"}", "'type' does not fit its 'command'"},
        {"{\"url\": \"http://x\", \"type\": \"stdio\"}", "'type' does not fit its 'url'"},
        {"{\"url\": \"http://x\", \"type\": \"websocket\"}", "type: 'websocket' is none of"},
        {"{\"url\": \"ftp://x\"}", "url: must start with http://"},
        {"{\"url\": \"http://x\", \"headers\": {\"A\": \"b\\r\\nC: d\"}}", "headers: A: a header"},
        {"{\"url\": \"http://x\", \"jail\": true}", "jail: is for servers with a 'command'"},
        {"{\"command\": \"x\", \"enabled\": \"no\"}", "enabled: wants true or false"},
        {"{\"command\": \"x\", \"disabled\": 1}", "disabled: wants true or false"},
        {"{\"command\": \"x\", \"timeout_ms\": -1}", "timeout_ms: wants a whole number from 1"},
        {"{\"command\": \"x\", \"timeout_ms\": 1.5}", "timeout_ms: wants a whole number"},
        {"{\"command\": \"x\", \"max_result_bytes\": 1e12}", "max_result_bytes: wants a whole"},
        {"{\"command\": \"x\", \"trust\": \"some\"}", "trust: 'some' is none of 'low', 'normal'"},
        {"{\"command\": \"x\", \"era\": 2025}", "era: wants a text"},
        {"{\"command\": \"x\", \"tools\": {\"alow\": []}}", "tools: there is no 'alow'"},
        {"{\"command\": \"x\", \"jail\": {\"host\": []}}", "jail: there is no 'host' in it, but"},
        {"{\"command\": \"x\", \"jail\": 1}", "jail: wants true, false or"},
        {"{\"command\": \"x\", \"roots\": [\"relative\"]}", "roots: 'relative' is neither"},
        {"{\"command\": \"x\", \"oauth\": []}", "oauth: wants {client_id"},
        {"{\"command\": \"${NO_SUCH_THING_1}\"}",
         "command: the environment variable NO_SUCH_THING_1 is not set"},
        {"{\"command\": \"x\", \"env\": {\"T\": \"${env:NO_SUCH_THING_1}\"}}",
         "env: T: the environment variable NO_SUCH_THING_1 is not set"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"mcpServers\": {\"bad\": %s, \"good\": {\"command\": \"x\"}}}", rows[i].entry);
        load(f, text);
        const struct cs_server_config *s = server(f, "bad");
        assert_int_not_equal(s->problem.code, CS_OK);
        assert_contains(s->problem.msg, "server 'bad': ");
        assert_contains(s->problem.msg, rows[i].says);
        good(f, "good");
    }
}

static void names_that_cannot_be_are_a_problem(void **state)
{
    struct fixture *f = *state;
    load(f, "{\"mcpServers\": {\"my server\": {\"command\": \"x\"}, \"..\": {\"command\": \"x\"}, "
            "\"\": {\"command\": \"x\"}, \"tools\": {\"command\": \"x\"}, \"a\\u0000b\": "
            "{\"command\": \"x\"}, \"a\": {\"command\": \"x\"}, \"twice\": {\"command\": \"1\"}, "
            "\"twice\": {\"command\": \"2\"}}}");
    assert_int_equal(f->config.count, 7);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(f->config.servers[i].problem.code, CS_INVALID);
    good(f, "a");
    assert_contains(server(f, "twice")->problem.msg, "is there twice");
}

static void a_misspelt_key_is_a_warning(void **state)
{
    struct fixture *f = *state;
    load(f, "{\"mcpservers\": {}, \"mcpServers\": {\"a\": {\"command\": \"x\", \"timout_ms\": 1, "
            "\"autoApprove\": [], \"wholly-unknown\": 1}}}");
    good(f, "a");
    assert_contains(f->config.warnings,
                    "'mcpservers' is not understood; did you mean 'mcpServers'");
    assert_contains(f->config.warnings,
                    "server 'a': 'timout_ms' is not understood; did you mean 'timeout_ms'?\n");
    assert_contains(f->config.warnings, "server 'a': 'wholly-unknown' is not understood\n");
    assert_null(strstr(f->config.warnings, "autoApprove"));
    /* In another client's file, a key we do not know is theirs. */
    struct cs_err err = {0};
    char other[128];
    snprintf(other, sizeof other, "%s/mcp.json", f->dir);
    put(other, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"wholly-unknown\": 1}}}");
    cs_config_done(&f->config);
    assert_int_equal(cs_config_load(other, &f->config, &err), 0);
    assert_string_equal(f->config.warnings, "");
}

static const char *value_of(struct fixture *f, const char *text)
{
    char all[2048];
    snprintf(all, sizeof all, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"%s\"]}}}",
             text);
    load(f, all);
    return good(f, "a")->args[0];
}

static const char *problem_of(struct fixture *f, const char *text)
{
    char all[2048];
    snprintf(all, sizeof all, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"%s\"]}}}",
             text);
    load(f, all);
    assert_int_not_equal(server(f, "a")->problem.code, CS_OK);
    assert_contains(server(f, "a")->problem.msg, "server 'a': args: item 1: ");
    return server(f, "a")->problem.msg;
}

static void values_are_expanded(void **state)
{
    struct fixture *f = *state;
    char here[256], text[256], token[128];
    assert_non_null(getcwd(here, sizeof here));
    setenv("CS_TEST_A", "one", 1);
    setenv("CS_TEST_EMPTY", "", 1);
    setenv("HOME", f->dir, 1);
    snprintf(token, sizeof token, "%s/token", f->dir);
    put(token, "s3cret\r\n\n");
    assert_string_equal(value_of(f, "${env:CS_TEST_A}"), "one");
    assert_string_equal(value_of(f, "<${CS_TEST_A}-${CS_TEST_A}>"), "<one-one>");
    assert_string_equal(value_of(f, "${CS_TEST_NONE:-two}"), "two");
    assert_string_equal(value_of(f, "${CS_TEST_EMPTY:-two}"), "two");
    assert_string_equal(value_of(f, "${CS_TEST_A:-two}"), "one");
    assert_string_equal(value_of(f, "${env:CS_TEST_NONE:-}"), "");
    assert_string_equal(value_of(f, "${CS_TEST_NONE:-${CS_TEST_A}}"), "one");
    assert_string_equal(value_of(f, "$HOME $ {x} }"), "$HOME $ {x} }");
    assert_string_equal(value_of(f, "${userHome}"), f->dir);
    assert_string_equal(value_of(f, "${workspaceFolder}"), here);
    snprintf(text, sizeof text, "Bearer ${file:%s}", token);
    assert_string_equal(value_of(f, text), "Bearer s3cret");
    assert_string_equal(value_of(f, "${file:~/token}"), "s3cret");
    assert_string_equal(value_of(f, "${file:${userHome}/token}"), "s3cret");
    assert_string_equal(value_of(f, "${command:printf '%s-%s' 'a b' c}"), "a b-c");
    assert_string_equal(value_of(f, "${command:echo $HOME; x}"), "$HOME; x");
    snprintf(text, sizeof text, "${command:cat %s}", token);
    assert_string_equal(value_of(f, text), "s3cret");
}

static void what_is_missing_is_named_and_never_empty(void **state)
{
    struct fixture *f = *state;
    char text[256];
    setenv("CS_TEST_EMPTY", "", 1);
    setenv("CS_TEST_SECRET", "hunter2", 1);
    assert_contains(problem_of(f, "${CS_TEST_NONE}"), "CS_TEST_NONE is not set");
    assert_contains(problem_of(f, "${env:CS_TEST_EMPTY}"), "CS_TEST_EMPTY is empty");
    assert_contains(problem_of(f, "${file:/no/such/file}"), "${file:/no/such/file}: No such file");
    assert_contains(problem_of(f, "${file:/dev/zero}"), "not a regular file");
    assert_contains(problem_of(f, "${file:/dev/null}"), "not a regular file");
    snprintf(text, sizeof text, "%s/empty", f->dir);
    put(text, "\n");
    snprintf(text, sizeof text, "${file:%s/empty}", f->dir);
    assert_contains(problem_of(f, text), "has nothing in it");
    assert_contains(problem_of(f, "${input:key}"), "${input:key} is asked for by VS Code");
    assert_contains(problem_of(f, "${config:x.y}"), "is not understood");
    assert_contains(problem_of(f, "${}"), "is not understood");
    assert_contains(problem_of(f, "${unclosed"), "not closed");
    assert_contains(problem_of(f, "${A:-${B:-${C:-${D:-${E:-${F:-x}}}}}}"), "inside itself");
    assert_contains(problem_of(f, "${command:}"), "names no command");
    assert_contains(problem_of(f, "${command:echo 'x}"), "quote");
    assert_contains(problem_of(f, "${command:no-such-command-1 x}"), "no-such-command-1");
    assert_contains(problem_of(f, "${command:true}"), "has nothing in it");
    assert_contains(problem_of(f, "${command:sh -c 'echo oh >&2; exit 3'}"),
                    "ended with status 3: oh");
    assert_contains(problem_of(f, "${command:sh -c 'kill -9 $$'}"), "ended with signal 9");
    assert_contains(problem_of(f, "${command:head -c 70000 /dev/zero}"),
                    "printed more than 64 KiB");
    assert_contains(problem_of(f, "${command:head -c 7 /dev/zero}"), "NUL");
    /* The value of what stands inside is not shown. */
    assert_null(strstr(problem_of(f, "${command:false ${CS_TEST_SECRET}}"), "hunter2"));
    assert_null(strstr(problem_of(f, "${file:/no/${CS_TEST_SECRET}}"), "hunter2"));
}

static void a_command_that_hangs_is_ended(void **state)
{
    struct fixture *f = *state;
    char mark[128], text[256];
    snprintf(mark, sizeof mark, "%s/child", f->dir);
    snprintf(text, sizeof text, "${command:sh -c 'sleep 600 & echo $! > %s; sleep 600'}", mark);
    assert_contains(problem_of(f, text), "took longer than 10 s");
    /* Neither does what it has started go on. */
    FILE *said = fopen(mark, "r");
    int child = 0;
    assert_non_null(said);
    assert_int_equal(fscanf(said, "%d", &child), 1);
    fclose(said);
    for (int i = 0; i < 6000 && kill(child, 0) == 0; i++)
        usleep(10000);
    assert_int_equal(kill(child, 0), -1);
}

static void nothing_is_asked_for_a_server_that_is_off(void **state)
{
    struct fixture *f = *state;
    char text[512], mark[128];
    snprintf(mark, sizeof mark, "%s/ran", f->dir);
    snprintf(text, sizeof text,
             "{\"mcpServers\": {\"a\": {\"command\": \"${command:touch %s}\", \"disabled\": true}, "
             "\"b\": {\"enabled\": false, \"command\": \"${NO_SUCH_THING_1}\"}}}",
             mark);
    load(f, text);
    assert_false(good(f, "a")->enabled);
    assert_false(good(f, "b")->enabled);
    assert_int_equal(access(mark, F_OK), -1);
    struct cs_err err = {0};
    cs_config_done(&f->config);
    put(f->path, "{\"mcpServers\": {\"a\": {\"command\": \"${NO_SUCH_THING_1}\"}}}");
    assert_int_equal(cs_config_peek(f->path, &f->config, &err), 0);
    assert_string_equal(good(f, "a")->command, "${NO_SUCH_THING_1}");
}

static void an_entry_that_is_caisson_itself_is_left_out(void **state)
{
    struct fixture *f = *state;
    char own[512], text[2048];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(n > 0);
    own[n] = '\0';
    snprintf(text, sizeof text,
             "{\"mcpServers\": {\"a\": {\"command\": \"caisson\", \"args\": [\"mcp\"]}, \"b\": "
             "{\"command\": \"/opt/caisson\", \"args\": [\"serve\", \"--x\"]}, \"c\": "
             "{\"command\": \"%s\"}, \"d\": {\"command\": \"caisson\", \"args\": [\"other\"]}, "
             "\"e\": {\"command\": \"x\"}}}",
             own);
    load(f, text);
    assert_int_equal(f->config.count, 2);
    good(f, "d");
    good(f, "e");
}

static void an_environment_file_comes_under_the_environment(void **state)
{
    struct fixture *f = *state;
    char text[512], file[128];
    snprintf(file, sizeof file, "%s/.env", f->dir);
    put(file, "# a comment\nexport A=1\r\nB=\"two words\"\nnothing\n\nC='x=y'\n");
    snprintf(text, sizeof text,
             "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"D\": \"4\"}, \"envFile\": "
             "\"%s\"}, \"b\": {\"command\": \"x\", \"envFile\": \"/no/such/file\"}}}",
             file);
    load(f, text);
    const struct cs_pair *env = good(f, "a")->env;
    static const char *const want[] = {"A", "1", "B", "two words", "C", "x=y", "D", "4"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(env[i].name, want[2 * i]);
        assert_string_equal(env[i].value, want[2 * i + 1]);
    }
    assert_null(env[4].name);
    assert_contains(server(f, "b")->problem.msg, "envFile: /no/such/file");
}

static void the_hash_tells_a_change(void **state)
{
    static const char *const entries[] = {
        "{\"command\": \"x\"}",
        "{\"command\": \"y\"}",
        "{\"command\": \"x\", \"args\": [\"a\"]}",
        "{\"command\": \"x\", \"args\": [\"a\", \"b\"]}",
        "{\"command\": \"x\", \"args\": [\"ab\"]}",
        "{\"command\": \"x\", \"env\": {\"a\": \"b\"}}",
        "{\"command\": \"x\", \"enabled\": false}",
        "{\"command\": \"x\", \"trust\": \"high\"}",
        "{\"command\": \"x\", \"timeout_ms\": 1}",
        "{\"command\": \"x\", \"jail\": true}",
        "{\"command\": \"x\", \"tools\": {\"deny\": [\"a\"]}}",
        "{\"command\": \"x\", \"tools\": {\"allow\": [\"a\"]}}",
        "{\"command\": \"x\", \"cwd\": \"a\"}",
        "{\"command\": \"${CS_TEST_HASH}\"}",
    };
    struct fixture *f = *state;
    uint64_t hashes[sizeof entries / sizeof *entries + 1];
    size_t n = 0;
    char text[256];
    setenv("CS_TEST_HASH", "first", 1);
    for (; n < sizeof entries / sizeof *entries; n++) {
        snprintf(text, sizeof text, "{\"mcpServers\": {\"a\": %s}}", entries[n]);
        load(f, text);
        hashes[n] = good(f, "a")->hash;
        load(f, text);
        assert_true(hashes[n] == good(f, "a")->hash);
    }
    setenv("CS_TEST_HASH", "second", 1);
    load(f, text);
    hashes[n++] = good(f, "a")->hash;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(hashes[i] != hashes[k]);
}

static void a_file_is_refused_with_its_place(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    assert_int_equal(cs_config_load("/no/such/file.json", &f->config, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    put(f->path, "{\n  // a comment, and a comma too many\n  \"mcpServers\": {\"a\": {},,}\n}");
    assert_int_equal(cs_config_load(f->path, &f->config, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_contains(err.msg, "line 3, column 26");
    CS_AUTO_BUF struct cs_buf many = {0};
    cs_buf_puts(&many, "{\"mcpServers\": {");
    for (int i = 0; i <= 1000; i++)
        cs_buf_printf(&many, "%s\"s%d\": {\"command\": \"x\"}", i ? "," : "", i);
    cs_buf_puts(&many, "}}");
    put(f->path, cs_buf_cstr(&many));
    assert_int_equal(cs_config_load(f->path, &f->config, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
}

static void large_files_take_no_time(void **state)
{
    static const struct {
        const char *before, *again, *after;
        int times;
    } rows[] = {
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\"", ", \"kay\": 1", "}}}", 300000},
        {"", "/*", "", 1000000},
        {"{\"a\": 1", " ,", "}", 1000000},
        {"{", "/**/", "\"mcpServers\": {}}", 500000},
        {"{\"mcpServers\": {\"a\": {\"command\": \"", "${A:-", "\"}}}", 500000},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"\"", ", \"${HOME}\"", "]}}}",
         200000},
    };
    struct fixture *f = *state;
    time_t start = time(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_err err = {0};
        cs_buf_puts(&text, rows[i].before);
        for (int k = 0; k < rows[i].times; k++)
            cs_buf_puts(&text, rows[i].again);
        cs_buf_puts(&text, rows[i].after);
        put(f->path, cs_buf_cstr(&text));
        if (cs_config_load(f->path, &f->config, &err) == 0)
            cs_config_done(&f->config);
    }
    assert_true(time(NULL) - start < 30);
}

static void a_command_of_the_settings_prints(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf printed = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_tools_command("printf '%s;' 'a b' c", &printed, &err), 0);
    assert_string_equal(cs_buf_cstr(&printed), "a b;c;");
    assert_int_equal(cs_tools_command("false", &printed, &err), -1);
    assert_contains(err.msg, "ended with status 1");
}

#define T(name) CS_TEST_WITH(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(both_kinds_of_server_are_read),
        T(our_own_keys_are_read),
        T(what_is_wrong_costs_one_server_and_is_named),
        T(names_that_cannot_be_are_a_problem),
        T(a_misspelt_key_is_a_warning),
        T(values_are_expanded),
        T(a_command_of_the_settings_prints),
        T(what_is_missing_is_named_and_never_empty),
        T(a_command_that_hangs_is_ended),
        T(nothing_is_asked_for_a_server_that_is_off),
        T(an_entry_that_is_caisson_itself_is_left_out),
        T(an_environment_file_comes_under_the_environment),
        T(the_hash_tells_a_change),
        T(a_file_is_refused_with_its_place),
        T(large_files_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
