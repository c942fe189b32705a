/* `caisson config`: the settings shown, checked and explained. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/data.h"
#include "front/settings_inside.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "front/world.h"
#include "policy/policy.h"
#include "tools/config.h"

/* The configuration that counts. One that was asked for must be there. */
static int find_file(const char *given, char path[CS_DATA_PATH], struct cs_err *err)
{
    const char *named = getenv("CAISSON_CONFIG");
    if (cs_data_config(given, path, err) < 0)
        return -1;
    if ((given || (named && *named)) && access(path, F_OK) < 0)
        return cs_fail(err, CS_MISSING, "there is no configuration '%s'", path);
    return 0;
}

static void print_safe(FILE *f, const struct cs_buf *text)
{
    cs_text_safe(f, cs_buf_str(text));
}

static void print_value(const struct cs_setting *row, const struct cs_settings *s,
                        struct cs_buf *out)
{
    cs_setting_print(row, s, out);
    if (!out->len)
        cs_buf_puts(out, "(none)");
}

/* --- show --- */

static bool is_default(const struct cs_settings *s, size_t id)
{
    return strcmp(s->origin[id], "default") == 0;
}

static void show_text(const struct cs_settings *s, const char *path, bool all)
{
    static const struct cs_str heads[] = {{"setting", 7}, {"value", 5}, {"from", 4}};
    CS_AUTO_TABLE struct cs_table table = {.columns = CS_COUNT(heads)};
    size_t usual = 0;
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        CS_AUTO_BUF struct cs_buf value = {0};
        if (is_default(s, i) && !all) {
            usual++;
            continue;
        }
        print_value(&cs_setting_rows[i], s, &value);
        struct cs_str cells[] = {cs_str(cs_setting_rows[i].name), cs_buf_str(&value),
                                 cs_str(s->origin[i])};
        cs_table_add(&table, cells, is_default(s, i) ? "\033[2m" : "");
    }
    if (table.rows > 1)
        cs_table_print(&table, stdout, cs_table_width(stdout));
    if (usual)
        printf("%s%zu settings have their default; 'caisson config show --all' shows them.\n",
               table.rows > 1 ? "\n" : "", usual);
    printf("The configuration is %s%s.\n", path,
           access(path, F_OK) < 0 ? ", which is not there" : "");
}

static void show_json(const struct cs_settings *s, const char *path, bool all)
{
    CS_AUTO_BUF struct cs_buf out = {0}, pretty = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "config");
    cs_json_put_z(&w, access(path, F_OK) < 0 ? NULL : path);
    cs_json_key(&w, "settings");
    cs_json_open(&w, '{');
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        if (is_default(s, i) && !all)
            continue;
        cs_json_key(&w, cs_setting_rows[i].name);
        cs_json_open(&w, '{');
        cs_json_key(&w, "value");
        cs_setting_put(&cs_setting_rows[i], s, &w);
        cs_json_key(&w, "from");
        cs_json_put_z(&w, s->origin[i]);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    cs_json_pretty(cs_buf_str(&out), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

int cs_verb_config_show(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO_SETTING_FLAGS struct cs_setting_flags flags = {0};
    CS_AUTO_BUF struct cs_buf mistakes = {0};
    bool all = false, json = false;
    const char *given = NULL;
    char path[CS_DATA_PATH];
    struct cs_settings s;
    struct cs_err err = {0};
    const struct cs_bind binds[] = {{"all", CS_BIND_FLAG, &all},
                                    {"output", CS_BIND_JSON, &json},
                                    {"config", CS_BIND_TEXT, &given},
                                    {"", CS_BIND_SETTINGS, &flags},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (operands.count) {
        cs_fail(&err, CS_INVALID,
                "it takes no arguments; 'caisson config explain %.40s' explains "
                "one setting",
                operands.at[0]);
        return cs_usage_error(verb, &err);
    }
    if (find_file(given, path, &err) < 0 ||
        cs_settings_read(path, flags.list, false, &s, &mistakes, &err) < 0) {
        print_safe(stderr, &mistakes);
        return cs_verb_failed(verb, &err);
    }
    cs_text_safe(stderr, cs_str(s.warnings));
    (json ? show_json : show_text)(&s, path, all);
    cs_settings_done(&s);
    return CS_EXIT_OK;
}

/* --- check --- */

static void check_servers(const char *path, struct cs_mistakes *m, size_t *servers)
{
    struct cs_config config;
    struct cs_err err = {0};
    if (cs_config_peek(path, &config, &err) < 0) {
        /* A file that cannot be read was said to be so already. */
        if (err.code != CS_MISSING && !m->count)
            cs_mistake(m, path, "%s", err.msg);
        return;
    }
    *servers = config.count;
    size_t before = m->count;
    for (size_t i = 0; i < config.count; i++)
        if (config.servers[i].problem.code)
            cs_mistake(m, path, "%s", config.servers[i].problem.msg);
    /* A wrong key at the top is a mistake of the settings too, unless the file is another's. */
    for (const char *at = config.warnings; *at; at += strspn(at, "\n")) {
        int len = (int)strcspn(at, "\n");
        if (!before || strncmp(at, "the file:", 9) != 0)
            cs_mistake(m, path, "%.*s", len, at);
        at += len;
    }
    cs_config_done(&config);
}

static void check_policy(const char *config, struct cs_mistakes *m)
{
    struct cs_policy_place place;
    struct cs_policy *policy = NULL;
    struct cs_privacy *privacy = NULL;
    struct cs_err err = {0};
    if (cs_policy_place_find(NULL, config, &place, &err) == 0 && !place.path[0])
        return;
    if (err.code || cs_policy_place_load(&place, &policy, &err) < 0 ||
        cs_world_privacy(policy, place.path, NULL, false, &privacy, &err) < 0)
        cs_mistake(m, "policy", "%s", err.msg);
    cs_privacy_unref(privacy);
    cs_policy_unref(policy);
}

static size_t lines_in(const struct cs_buf *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->len; i++)
        lines += text->at[i] == '\n';
    return lines;
}

static int check(const struct cs_verb *verb, const char *path, bool only_file)
{
    CS_AUTO_BUF struct cs_buf said = {0};
    struct cs_settings s = {0};
    struct cs_err err = {0};
    size_t set = 0, servers = 0;
    if (cs_settings_read(path, NULL, only_file, &s, &said, &err) < 0 && !said.len)
        return cs_verb_failed(verb, &err);
    bool read = s.warnings != NULL;
    for (size_t i = 0; read && i < CS_SETTING_COUNT; i++)
        set += !is_default(&s, i);
    struct cs_mistakes m = {&said, lines_in(&said)};
    check_servers(path, &m, &servers);
    if (!only_file)
        check_policy(path, &m);
    if (read)
        cs_text_safe(stderr, cs_str(s.warnings));
    cs_settings_done(&s);
    print_safe(stdout, &said);
    if (said.len)
        return CS_EXIT_USAGE;
    printf("%s: nothing is wrong (%zu settings, %zu servers)\n",
           access(path, F_OK) < 0 ? "no configuration" : path, set, servers);
    return CS_EXIT_OK;
}

int cs_verb_config_check(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    const char *given = NULL;
    char path[CS_DATA_PATH];
    struct cs_err err = {0};
    const struct cs_bind binds[] = {{"config", CS_BIND_TEXT, &given}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (operands.count > 1 || (operands.count && given)) {
        cs_fail(&err, CS_INVALID, "one FILE at most");
        return cs_usage_error(verb, &err);
    }
    const char *file = operands.count ? operands.at[0] : given;
    if (find_file(file, path, &err) < 0) {
        cs_verb_failed(verb, &err);
        return CS_EXIT_USAGE;
    }
    return check(verb, path, operands.count != 0);
}

/* --- explain --- */

static void print_variables(const struct cs_setting *row, const char *quote, const char *between)
{
    char whole[CS_SETTING_NAME];
    const char *brief = cs_setting_short(row);
    cs_setting_variable(row->name, whole);
    printf("%s%s%s", quote, whole, quote);
    if (brief)
        printf("%s%s%s%s", between, quote, brief, quote);
    if (*row->older)
        printf("%s%sCODE_EXEC_%s%s", between, quote, row->older, quote);
}

/* `s` NULL: what counts now cannot be told. */
static void explain(const struct cs_setting *row, const struct cs_settings *s)
{
    CS_AUTO_BUF struct cs_buf wanted = {0}, value = {0};
    const char *dot = strchr(row->name, '.');
    cs_setting_wanted(row, &wanted);
    printf("%s: %s\n", row->name, row->help);
    printf("  wants      %s\n", cs_buf_cstr(&wanted));
    printf("  default    %s\n", *row->def ? row->def : "(none)");
    printf("  file       {\"%.*s\": {\"%s\": ...}}\n", (int)(dot - row->name), row->name, dot + 1);
    printf("  variable   ");
    print_variables(row, "", ", ");
    printf("\n  flag       --%s", row->name);
    if (cs_setting_short_flag(row))
        printf(", --%s", cs_setting_short_flag(row));
    printf("\n  a change   takes effect %s\n", row->live ? "at a reload" : "after a restart");
    if (!s) {
        printf("  now        not known: 'caisson config check' says why\n");
        return;
    }
    print_value(row, s, &value);
    printf("  now        ");
    print_safe(stdout, &value);
    printf(" (%s)\n", s->origin[cs_setting_id(row)]);
}

static int no_setting(const struct cs_verb *verb, const char *word)
{
    const char *names[CS_SETTING_COUNT];
    struct cs_err err = {0};
    for (size_t i = 0; i < CS_SETTING_COUNT; i++)
        names[i] = cs_setting_rows[i].name;
    const char *near = cs_nearest(word, names, CS_SETTING_COUNT);
    cs_fail(&err, CS_INVALID, "there is no setting '%.60s'%s%s%s", word,
            near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "; without a NAME, all are listed");
    return cs_usage_error(verb, &err);
}

int cs_verb_config_explain(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO_BUF struct cs_buf mistakes = {0};
    const char *given = NULL;
    char path[CS_DATA_PATH];
    struct cs_settings s = {0};
    struct cs_err err = {0}, ignored = {0};
    const struct cs_bind binds[] = {{"config", CS_BIND_TEXT, &given}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    const char *name = operands.count ? operands.at[0] : NULL;
    const struct cs_setting *one = name ? cs_setting_find(cs_str(name)) : NULL;
    if (name && (!one || operands.count > 1))
        return no_setting(verb, one ? operands.at[1] : name);
    bool known = cs_data_config(given, path, &ignored) == 0 &&
                 cs_settings_read(path, NULL, false, &s, &mistakes, &ignored) == 0;
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        if (one && one != &cs_setting_rows[i])
            continue;
        if (!one && i)
            printf("\n");
        explain(&cs_setting_rows[i], known ? &s : NULL);
    }
    cs_settings_done(&s);
    return CS_EXIT_OK;
}

/* --- docs --- */

/* The tables of docs/configuration.md. */
static void print_docs(void)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        CS_AUTO_BUF struct cs_buf wanted = {0};
        size_t section = strcspn(row->name, ".") + 1;
        if (!i || strncmp(row->name, row[-1].name, section) != 0)
            printf(
                "%s### %.*s\n\n| setting | what it is | wants | default | variable | a change |\n"
                "| --- | --- | --- | --- | --- | --- |\n",
                i ? "\n" : "", (int)section - 1, row->name);
        cs_setting_wanted(row, &wanted);
        printf("| `%s` | %s | %s | %s%s%s | ", row->name, row->help, cs_buf_cstr(&wanted),
               *row->def ? "`" : "", *row->def ? row->def : "none", *row->def ? "`" : "");
        print_variables(row, "`", "<br>");
        printf(" | %s |\n", row->live ? "reload" : "restart");
    }
}

int cs_verb_config(const struct cs_verb *verb, int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "docs") != 0)
        return cs_verb_tools(verb, argc, argv);
    print_docs();
    return CS_EXIT_OK;
}
