#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "front/settings.h"
#include "front/settings_inside.h"

struct fixture {
    char dir[64], path[96], other[96];
    struct cs_settings s;
    struct cs_buf said;
    struct cs_err err;
    char **environment; /* of whoever runs the tests */
};

static int set_up(void **state)
{
    static char *none[1];
    struct fixture *f = calloc(1, sizeof *f);
    f->environment = environ;
    environ = none;
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/caisson.json", f->dir);
    snprintf(f->other, sizeof f->other, "%s/.mcp.json", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    environ = f->environment;
    unlink(f->path);
    unlink(f->other);
    rmdir(f->dir);
    cs_settings_done(&f->s);
    cs_buf_done(&f->said);
    free(f);
    return 0;
}

static void put(const char *path, const char *text)
{
    struct cs_err err = {0};
    if (cs_file_replace(path, cs_str(text), 0600, &err) < 0)
        fail_msg("%s", err.msg);
}

static int load(struct fixture *f, const char *text, const struct cs_setting_flag *flags)
{
    cs_settings_done(&f->s);
    cs_buf_clear(&f->said);
    f->err = (struct cs_err){0};
    if (text)
        put(f->path, text);
    return cs_settings_read(f->path, flags, false, &f->s, &f->said, &f->err);
}

static void must_load(struct fixture *f, const char *text, const struct cs_setting_flag *flags)
{
    if (load(f, text, flags) < 0)
        fail_msg("%s\n%s%s", text, cs_buf_cstr(&f->said), f->err.msg);
}

static void every_default_is_a_value_that_may_be_given(void **state)
{
    struct fixture *f = *state;
    must_load(f, NULL, NULL);
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        struct cs_err err = {0};
        if (cs_setting_parse(row, row->def, &f->s, &err) < 0)
            fail_msg("%s: %s", row->name, err.msg);
        CS_AUTO_BUF struct cs_buf printed = {0};
        cs_setting_print(row, &f->s, &printed);
        assert_string_equal(cs_buf_cstr(&printed), row->def);
        assert_string_equal(f->s.origin[i], "default");
    }
    assert_int_equal(f->s.server_port, 8002);
    assert_string_equal(f->s.server_host, "127.0.0.1");
    assert_int_equal(f->s.session_idle, 24 * 3600 * 1000);
    assert_null(f->s.server_allowed_hosts[0]);
    assert_string_equal(f->s.warnings, "");
}

static void every_row_of_the_table_is_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        const char *dot = strchr(row->name, '.');
        char variable[CS_SETTING_NAME];
        cs_setting_variable(row->name, variable);
        if (!dot || strchr(dot + 1, '.') || strlen(variable) >= CS_SETTING_NAME - 1)
            fail_msg("%s: a name is section.word", row->name);
        if (strchr("NBD", row->kind) && row->least >= row->most)
            fail_msg("%s: its range is empty", row->name);
        if (cs_setting_find(cs_str(row->name)) != row)
            fail_msg("%s is there twice", row->name);
        /* The rows of a section stand together: it is a heading of the docs. */
        for (size_t k = 0; k + 1 < i; k++)
            if (strncmp(cs_setting_rows[k].name, row->name, (size_t)(dot - row->name) + 1) == 0 &&
                strncmp(row[-1].name, row->name, (size_t)(dot - row->name) + 1) != 0)
                fail_msg("%s is apart from its section", row->name);
    }
}

static void a_flag_comes_before_the_environment_and_that_before_the_file(void **state)
{
    struct fixture *f = *state;
    const struct cs_setting_flag flags[] = {{"server.port", "5"}, {NULL, NULL}};
    static const struct {
        const char *name, *value;
        uint64_t port;
        const char *origin;
    } steps[] = {
        {"CODE_EXEC_PORT", "2", 2, "$CODE_EXEC_PORT"},
        {"CAISSON_PORT", "3", 3, "$CAISSON_PORT"},
        {"CAISSON_SERVER_PORT", "4", 4, "$CAISSON_SERVER_PORT"},
    };
    must_load(f, "{\"server\": {\"port\": 1}}", NULL);
    assert_int_equal(f->s.server_port, 1);
    assert_contains(f->s.origin[CS_SETTING_ID_server_port], "/caisson.json:1:21");
    for (size_t i = 0; i < CS_COUNT(steps); i++) {
        setenv(steps[i].name, steps[i].value, 1);
        must_load(f, NULL, NULL);
        assert_int_equal(f->s.server_port, steps[i].port);
        assert_string_equal(f->s.origin[CS_SETTING_ID_server_port], steps[i].origin);
    }
    must_load(f, NULL, flags);
    assert_int_equal(f->s.server_port, 5);
    assert_string_equal(f->s.origin[CS_SETTING_ID_server_port], "--server.port");
    /* Empty is as good as not set. */
    setenv("CAISSON_SERVER_PORT", "", 1);
    must_load(f, NULL, NULL);
    assert_int_equal(f->s.server_port, 3);
}

static void older_variables_mean_what_they_meant(void **state)
{
    struct fixture *f = *state;
    setenv("CODE_EXEC_HOST", "0.0.0.0", 1);
    setenv("CODE_EXEC_DEBUG", "True", 1);
    setenv("CODE_EXEC_MAX_EXECUTION_TIME", "12", 1);
    setenv("CODE_EXEC_LOG_LEVEL", "WARNING", 1);
    setenv("CODE_EXEC_SKILLS_DIRECTORY", "/srv/skills", 1);
    setenv("CODE_EXEC_REDIS_URL", "redis://localhost:6379/0", 1);
    setenv("CODE_EXEC_EMBEDDING_MODEL", "/srv/model", 1);
    must_load(f, NULL, NULL);
    assert_string_equal(f->s.server_host, "0.0.0.0");
    assert_true(f->s.log_debug);
    assert_string_equal(f->s.log_level, "debug");
    assert_int_equal(f->s.execution_timeout, 12000);
    assert_string_equal(f->s.skills_directory, "/srv/skills");
    assert_string_equal(f->s.search_model, "/srv/model");
    unsetenv("CODE_EXEC_DEBUG");
    must_load(f, NULL, NULL);
    assert_string_equal(f->s.log_level, "warn");
    assert_string_equal(f->s.warnings, "");
}

static void both_forms_of_a_name_are_read_and_comments_too(void **state)
{
    struct fixture *f = *state;
    must_load(
        f,
        "\xEF\xBB\xBF{ // mine\n \"mcpServers\": {\"x\": {\"command\": \"y\"}},\n"
        " \"server\": {\"port\": 9, \"allowed_hosts\": [\"a\", \"b:1\",],},\n"
        " \"log.level\": \"Error\", \"execution.timeout\": 1.5, \"limits\": {\"code\": \"512K\"},"
        " \"session\": {\"state\": 2048, \"idle\": \"90m\"}, \"tls\": null, \"rate.per_hour\": "
        "null }",
        NULL);
    assert_int_equal(f->s.server_port, 9);
    assert_string_equal(f->s.server_allowed_hosts[1], "b:1");
    assert_null(f->s.server_allowed_hosts[2]);
    assert_string_equal(f->s.log_level, "error");
    assert_int_equal(f->s.execution_timeout, 1500);
    assert_int_equal(f->s.limits_code, 512 << 10);
    assert_int_equal(f->s.session_state, 2048);
    assert_int_equal(f->s.session_idle, 90 * 60 * 1000);
    assert_int_equal(f->s.rate_per_hour, 10000);
}

static void values_outside_of_a_range_or_kind_are_refused_with_their_place(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *said; /* after the path */
    } rows[] = {
        {"{\"server\": {\"port\": 65536}}",
         ":1:21: server.port: wants a whole number from 0 to 65535, but there is 65536\n"},
        {"{\"server\": {\"port\": -1}}", ":1:21: server.port: wants a whole number"},
        {"{\"server\": {\"port\": 1.5}}", ":1:21: server.port: wants a whole number"},
        {"{\"server\": {\"port\": \"80\"}}", ":1:21: server.port: wants a whole number"},
        {"{\"server\": {\"port\": {\"a\": \"secret\"}}}", "but there is an object\n"},
        {"{\"server\":\n 4}", ":2:2: 'server' is a section"},
        {"{\"server.require_key\": 1}", "wants true or false, but there is 1\n"},
        {"{\"server.require_key\": \"true\"}", "wants true or false"},
        {"{\"server.allowed_hosts\": \"a\"}", "wants a list of texts"},
        {"{\"server.allowed_hosts\": [\"a\", 2]}", "wants a list of texts, but there is 2"},
        {"{\"server.allowed_hosts\": [\"https://a\"]}", "'https://a' is not the name of a host"},
        {"{\"server.allowed_origins\": [\"https://a/\"]}", "'https://a/' is not an origin"},
        {"{\"server.allowed_origins\": [\"a\"]}", "'a' is not an origin"},
        {"{\"server.trust_proxy\": [\"10.0.0.0/8\"]}", "'10.0.0.0/8' is not an address"},
        {"{\"server.host\": \"a\\u0000b\"}", "control character"},
        {"{\"execution.timeout\": \"6m\"}", "wants a time from 1ms to 5m"},
        {"{\"execution.timeout\": \"fast\"}", "but there is 'fast'"},
        {"{\"execution.timeout\": \"nan\"}", "but there is 'nan'"},
        {"{\"execution.timeout\": \"1e3\"}", "but there is '1e3'"},
        {"{\"execution.timeout\": 1e300}", "wants a time"},
        {"{\"limits.code\": \"2M\"}", "wants a number of bytes from 1 to 1M"},
        {"{\"limits.code\": 0}", "wants a number of bytes from 1 to 1M"},
        {"{\"limits.code\": \"99999999999999999999G\"}", "wants a number of bytes"},
        {"{\"log.level\": \"wrn\"}", "did you mean 'warn'?"},
        {"{\"tls.cert\": \"a.pem\"}", ":1:14: tls.cert is of no use without tls.key"},
        {"{\"server.port\": 1, \"server\": {\"port\": 1}}", ":1:31: server.port is there twice"},
        {"{\"server\": {\"prot\": 1}}", ":1:13: there is no setting 'server.prot'; did you mean "
                                        "'server.port'?\n"},
        {"{\"\xC3\xA4\": 1, \"sever\": {}}",
         ":1:10: there is no setting 'sever'; did you mean 'server'?"},
        {"{\"mcpServer\": {}}", "did you mean 'mcpServers'?"},
        {"{\"port\": 1}", "did you mean 'server.port'?"},
        {"{\"policy\": []}", "'policy' wants an object, or the path of a file"},
        {"{\"a\\nb\": 1}", "there is no setting 'a?b'"},
        {"[]", ":1:1: an object is wanted"},
        {"{\"server\": {\"port\": 1,,}}", "line 1, column"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        if (load(f, rows[i].text, NULL) == 0)
            fail_msg("%s was taken", rows[i].text);
        assert_int_equal(f->err.code, CS_INVALID);
        assert_contains(cs_buf_cstr(&f->said), rows[i].said);
        assert_contains(cs_buf_cstr(&f->said), f->path);
        assert_null(strstr(cs_buf_cstr(&f->said), "secret"));
        assert_null(f->s.warnings);
    }
}

static void all_mistakes_are_told_at_once(void **state)
{
    struct fixture *f = *state;
    const struct cs_setting_flag flags[] = {{"session.most", "0"}, {"no.such", "1"}, {NULL, NULL}};
    struct cs_settings s;
    struct cs_err err = {0};
    setenv("CAISSON_LOG_DEBUG", "perhaps", 1);
    assert_int_equal(load(f, "{\"server\": {\"port\": 99999, \"hots\": 1}, \"x\": 1}", flags), -1);
    const char *said = cs_buf_cstr(&f->said);
    assert_contains(said, "server.port: wants");
    assert_contains(said, "'server.hots'; did you mean 'server.host'?");
    assert_contains(said, "'x'");
    assert_contains(said,
                    "$CAISSON_LOG_DEBUG: log.debug: wants true or false, but there is 'perhaps'");
    assert_contains(said, "--session.most: wants");
    assert_contains(said, "--no.such: there is no such setting");
    assert_string_equal(f->err.msg, "6 mistakes in the settings");
    /* As much of it as an error can hold, in whole lines, and where the rest is. */
    assert_int_equal(cs_settings_load(f->path, flags, &s, &err), -1);
    assert_contains(err.msg, "server.port: wants");
    assert_contains(err.msg, "\n... 'caisson config check' tells the rest");
}

static void a_single_mistake_is_the_whole_error(void **state)
{
    struct fixture *f = *state;
    struct cs_settings s;
    struct cs_err err = {0};
    put(f->path, "{\"server\": {\"port\": 99999}}");
    assert_int_equal(cs_settings_load(f->path, NULL, &s, &err), -1);
    assert_contains(err.msg, "caisson.json:1:21: server.port: wants");
    assert_null(strchr(err.msg, '\n'));
}

static void a_file_full_of_mistakes_costs_no_more_than_a_hundred(void **state)
{
    struct fixture *f = *state;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_putc(&text, '{');
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&text, "\"k%d\": 1, \"server.port\": 0, ", i);
    cs_buf_putc(&text, '}');
    assert_int_equal(load(f, cs_buf_cstr(&text), NULL), -1);
    assert_contains(cs_buf_cstr(&f->said), "... and 39899 more\n");
}

static void files_of_other_programs_may_say_what_they_like(void **state)
{
    struct fixture *f = *state;
    static const char foreign[] =
        "{\"numStartups\": 2, \"skills\": {\"seen\": 1}, \"server\": \"x\", "
        "\"mcpServers\": {}}";
    put(f->other, foreign);
    struct cs_err err = {0};
    assert_int_equal(cs_settings_load(f->other, NULL, &f->s, &err), 0);
    cs_settings_done(&f->s);
    /* The same in a file of ours, and a setting of ours in theirs. */
    assert_int_equal(load(f, foreign, NULL), -1);
    put(f->other, "{\"numStartups\": 2, \"server\": {\"port\": 7}}");
    assert_int_equal(cs_settings_load(f->other, NULL, &f->s, &err), -1);
    assert_contains(err.msg, "there is no setting 'numStartups'");
    put(f->other, "{\"mcpServers\": {}, \"server\": {\"port\": 7}}");
    assert_int_equal(cs_settings_load(f->other, NULL, &f->s, &err), 0);
    assert_int_equal(f->s.server_port, 7);
}

static void a_file_need_not_be_there_but_must_be_readable(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    must_load(f, NULL, NULL);
    cs_settings_done(&f->s);
    assert_int_equal(cs_settings_load(f->dir, NULL, &f->s, &err), -1);
    assert_int_equal(err.code, CS_SYSTEM);
    assert_int_equal(cs_settings_load(NULL, NULL, &f->s, &err), 0);
}

static void unknown_variables_are_warned_of(void **state)
{
    struct fixture *f = *state;
    setenv("CAISSON_SERVER_PROT", "1", 1);
    setenv("CAISSON_DATA", "/tmp", 1);
    setenv("CAISSON_TEST_WEAK_JAIL", "1", 1);
    setenv("CAISSON_MODEL", "/m", 1);
    setenv("CODE_EXEC_PORTS", "1", 1);
    must_load(f, NULL, NULL);
    assert_contains(f->s.warnings,
                    "$CAISSON_SERVER_PROT is not understood; did you mean $CAISSON_SERVER_PORT?\n");
    assert_contains(f->s.warnings,
                    "$CODE_EXEC_PORTS is not understood; did you mean $CODE_EXEC_PORT?\n");
    assert_null(strstr(f->s.warnings, "DATA"));
    assert_null(strstr(f->s.warnings, "WEAK"));
    assert_string_equal(f->s.search_model, "/m");
}

static void texts_give_the_same_values_as_a_file(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name, *text, *printed; /* NULL: refused */
    } rows[] = {
        {"server.require_key", "yes", "true"},
        {"server.require_key", "OFF", "false"},
        {"server.require_key", "2", NULL},
        {"server.port", "+1", NULL},
        {"server.port", " 1", NULL},
        {"server.port", "0x10", NULL},
        {"server.port", "99999999999999999999", NULL},
        {"server.allowed_hosts", "a, b,,c ", "a, b, c"},
        {"server.allowed_hosts", ",", ""},
        {"execution.timeout", "30", "30s"},
        {"execution.timeout", "0.5", "500ms"},
        {"execution.timeout", "120s", "2m"},
        {"execution.timeout", "1.2.3", NULL},
        {"execution.timeout", "inf", NULL},
        {"server.grace", "0", "0s"},
        {"session.idle", "48h", "2d"},
        {"session.idle", "1d", "24h"},
        {"session.idle", "1D", "24h"},
        {"limits.code", "1024kib", "1M"},
        {"limits.code", "0.5m", "512K"},
        {"limits.code", "1000", "1000"},
        {"log.level", "FATAL", "error"},
        {"redis.url", "redis://u:p@ss@h/0?x=@", "redis://u:***@h/0?x=@"},
        {"redis.url", "redis://token@h", "redis://***@h"},
        {"redis.url", "redis://h:1/a@b", "redis://h:1/a@b"},
        {"redis.url", "a\tb", NULL},
    };
    must_load(f, NULL, NULL);
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf printed = {0};
        const struct cs_setting *row = cs_setting_find(cs_str(rows[i].name));
        int r = cs_setting_parse(row, rows[i].text, &f->s, &f->err);
        if (r != (rows[i].printed ? 0 : -1))
            fail_msg("%s = '%s': %s", rows[i].name, rows[i].text, r < 0 ? f->err.msg : "was taken");
        cs_setting_print(row, &f->s, &printed);
        if (r == 0)
            assert_string_equal(cs_buf_cstr(&printed), rows[i].printed);
    }
}

static void a_reload_says_and_takes_over_what_may_change(void **state)
{
    struct fixture *f = *state;
    struct cs_settings now;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    must_load(f, "{\"server\": {\"port\": 1, \"allowed_hosts\": [\"a\"]}}", NULL);
    const char **old_hosts = f->s.server_allowed_hosts;
    put(f->path,
        "{\"server\": {\"port\": 2, \"allowed_hosts\": [\"b\", \"c\"], \"require_key\": true},"
        "\"session.idle\": \"2h\", \"log.level\": \"debug\", \"redis.url\": \"redis://:pw@h\"}");
    assert_int_equal(cs_settings_load(f->path, NULL, &now, &err), 0);
    cs_settings_compare(&f->s, &now, &said);
    assert_string_equal(cs_buf_cstr(&said),
                        "server.port: 1 -> 2 (takes effect after a restart)\n"
                        "server.require_key: false -> true\n"
                        "server.allowed_hosts: a -> b, c\n"
                        "session.idle: 24h -> 2h\n"
                        "log.level: info -> debug\n"
                        "redis.url: (none) -> redis://:***@h (takes effect after a restart)\n");
    cs_settings_adopt(&f->s, &now);
    cs_settings_done(&now);
    assert_int_equal(f->s.server_port, 1);
    assert_true(f->s.server_require_key);
    assert_string_equal(f->s.server_allowed_hosts[1], "c");
    assert_string_equal(old_hosts[0], "a");
    assert_int_equal(f->s.session_idle, 2 * 3600 * 1000);
    assert_string_equal(f->s.log_level, "debug");
    assert_string_equal(f->s.redis_url, "");
    assert_contains(f->s.origin[CS_SETTING_ID_session_idle], "caisson.json:1:");
}

static void flags_are_gathered_by_their_long_and_short_names(void **state)
{
    struct fixture *f = *state;
    CS_AUTO_SETTING_FLAGS struct cs_setting_flags flags = {0};
    assert_false(cs_settings_flag("output", "json", &flags));
    assert_null(flags.list);
    assert_true(cs_settings_flag("port", "1", &flags));
    assert_true(cs_settings_flag("host", "::1", &flags));
    assert_true(cs_settings_flag("server.port", "2", &flags));
    assert_int_equal(flags.count, 3);
    assert_null(flags.list[3].name);
    must_load(f, NULL, flags.list);
    assert_int_equal(f->s.server_port, 2);
    assert_string_equal(f->s.server_host, "::1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) CS_TEST_WITH(name, set_up, tear_down)
        T(every_default_is_a_value_that_may_be_given),
        T(every_row_of_the_table_is_sound),
        T(a_flag_comes_before_the_environment_and_that_before_the_file),
        T(older_variables_mean_what_they_meant),
        T(both_forms_of_a_name_are_read_and_comments_too),
        T(values_outside_of_a_range_or_kind_are_refused_with_their_place),
        T(all_mistakes_are_told_at_once),
        T(a_single_mistake_is_the_whole_error),
        T(a_file_full_of_mistakes_costs_no_more_than_a_hundred),
        T(files_of_other_programs_may_say_what_they_like),
        T(a_file_need_not_be_there_but_must_be_readable),
        T(unknown_variables_are_warned_of),
        T(texts_give_the_same_values_as_a_file),
        T(a_reload_says_and_takes_over_what_may_change),
        T(flags_are_gathered_by_their_long_and_short_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
