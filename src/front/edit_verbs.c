/* `caisson add`, `remove`, `enable`, `disable`, `import`: changes of the configuration. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "front/data.h"
#include "front/text.h"
#include "front/verbs.h"
#include "tools/config.h"

struct editing {
    struct cs_words operands;
    const char *config; /* as given */
    char path[CS_DATA_PATH];
    /* add */
    struct cs_words env, headers;
    const char *cwd, *trust;
    uint32_t timeout;
    bool jail, disabled, replace;
};

static void editing_done(struct editing *e)
{
    cs_words_done(&e->operands);
    cs_words_done(&e->env);
    cs_words_done(&e->headers);
}

#define AUTO_EDITING CS_AUTO(editing_done) struct editing

/* The words of a verb that has one operand. */
static int take_one(const struct cs_verb *verb, int argc, char **argv, struct editing *e,
                    struct cs_err *err)
{
    const struct cs_bind binds[] = {{"config", CS_BIND_TEXT, &e->config}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &e->operands, err) < 0)
        return -1;
    if (e->operands.count != 1)
        return cs_fail(err, CS_INVALID, "it takes one %s", verb->operands);
    return cs_data_config(e->config, e->path, err);
}

/* --- add --- */

static int put_env(struct cs_json_writer *w, const struct cs_words *env, struct cs_err *err)
{
    cs_json_key(w, "env");
    cs_json_open(w, '{');
    for (size_t i = 0; i < env->count; i++) {
        const char *pair = env->at[i], *equals = strchr(pair, '=');
        size_t len = equals ? (size_t)(equals - pair) : strlen(pair);
        if (!len)
            return cs_fail(err, CS_INVALID, "--env: '%s' has no name", pair);
        cs_json_key_str(w, cs_strn(pair, len));
        CS_AUTO_BUF struct cs_buf outside = {0};
        cs_buf_printf(&outside, "${env:%s}", pair);
        cs_json_put_z(w, equals ? equals + 1 : cs_buf_cstr(&outside));
    }
    cs_json_close(w, '}');
    return 0;
}

static int put_headers(struct cs_json_writer *w, const struct cs_words *headers, struct cs_err *err)
{
    cs_json_key(w, "headers");
    cs_json_open(w, '{');
    for (size_t i = 0; i < headers->count; i++) {
        const char *pair = headers->at[i], *colon = strchr(pair, ':');
        if (!colon || colon == pair || strcspn(pair, " \t\r\n") < (size_t)(colon - pair))
            return cs_fail(err, CS_INVALID, "--header: '%s' is not NAME: VALUE", pair);
        cs_json_key_str(w, cs_strn(pair, (size_t)(colon - pair)));
        cs_json_put_z(w, colon + 1 + strspn(colon + 1, " \t"));
    }
    cs_json_close(w, '}');
    return 0;
}

static int put_command(struct cs_json_writer *w, const struct editing *e, struct cs_err *err)
{
    const struct cs_words *o = &e->operands;
    if (e->headers.count)
        return cs_fail(err, CS_INVALID, "--header is for a URL, not for a command");
    cs_json_key(w, "command");
    cs_json_put_z(w, o->at[1]);
    if (o->count > 2) {
        cs_json_key(w, "args");
        cs_json_open(w, '[');
        for (size_t i = 2; i < o->count; i++)
            cs_json_put_z(w, o->at[i]);
        cs_json_close(w, ']');
    }
    if (e->env.count && put_env(w, &e->env, err) < 0)
        return -1;
    if (e->cwd) {
        cs_json_key(w, "cwd");
        cs_json_put_z(w, e->cwd);
    }
    return 0;
}

static int put_url(struct cs_json_writer *w, const struct editing *e, struct cs_err *err)
{
    if (e->env.count || e->cwd || e->jail)
        return cs_fail(err, CS_INVALID, "--%s is for a command, not for a URL",
                       e->env.count ? "env"
                       : e->cwd     ? "cwd"
                                    : "jail");
    cs_json_key(w, "type");
    cs_json_put_z(w, "http");
    cs_json_key(w, "url");
    cs_json_put_z(w, e->operands.at[1]);
    return e->headers.count ? put_headers(w, &e->headers, err) : 0;
}

static int put_entry(const struct editing *e, bool is_command, struct cs_buf *json,
                     struct cs_err *err)
{
    struct cs_json_writer w = CS_JSON_WRITER(json);
    cs_json_open(&w, '{');
    if ((is_command ? put_command : put_url)(&w, e, err) < 0)
        return -1;
    if (e->trust) {
        cs_json_key(&w, "trust");
        cs_json_put_z(&w, e->trust);
    }
    if (e->timeout) {
        cs_json_key(&w, "timeout_ms");
        cs_json_put_u64(&w, e->timeout);
    }
    if (e->jail) {
        cs_json_key(&w, "jail");
        cs_json_put_bool(&w, true);
    }
    if (e->disabled) {
        cs_json_key(&w, "enabled");
        cs_json_put_bool(&w, false);
    }
    cs_json_close(&w, '}');
    return 0;
}

static int take_add(const struct cs_verb *verb, int argc, char **argv, struct editing *e,
                    struct cs_buf *entry, struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"env", CS_BIND_WORDS, &e->env},          {"header", CS_BIND_WORDS, &e->headers},
        {"cwd", CS_BIND_TEXT, &e->cwd},           {"trust", CS_BIND_TEXT, &e->trust},
        {"timeout", CS_BIND_TIME, &e->timeout},   {"jail", CS_BIND_FLAG, &e->jail},
        {"disabled", CS_BIND_FLAG, &e->disabled}, {"replace", CS_BIND_FLAG, &e->replace},
        {"config", CS_BIND_TEXT, &e->config},     {NULL, 0, NULL},
    };
    struct cs_words *o = &e->operands;
    if (cs_args_bind(verb, argc, argv, binds, o, err) < 0)
        return -1;
    if (o->count < 2 || o->dashes < 1)
        return cs_fail(err, CS_INVALID,
                       "name it and say what it is: NAME URL, or NAME -- COMMAND ARGS...");
    bool is_command = o->dashes == 1;
    bool is_url = strncmp(o->at[1], "http://", 7) == 0 || strncmp(o->at[1], "https://", 8) == 0 ||
                  strncmp(o->at[1], "${", 2) == 0;
    if (!is_command && !is_url)
        return cs_fail(err, CS_INVALID,
                       "'%s' is no http:// or https:// URL; a command comes after '--': caisson "
                       "add %s -- %s ...",
                       o->at[1], o->at[0], o->at[1]);
    if (!is_command && o->count > 2)
        return cs_fail(err, CS_INVALID, "one URL, but there is '%s' too", o->at[2]);
    return put_entry(e, is_command, entry, err);
}

int cs_verb_add(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_EDITING e = {0};
    CS_AUTO_BUF struct cs_buf entry = {0};
    struct cs_err err = {0};
    if (take_add(verb, argc, argv, &e, &entry, &err) < 0)
        return cs_usage_error(verb, &err);
    const char *name = e.operands.at[0];
    if (cs_data_config(e.config, e.path, &err) < 0 ||
        cs_config_add(e.path, cs_str(name), cs_buf_str(&entry), e.replace, &err) < 0)
        return cs_verb_failed(verb, &err);
    printf("added '%s' to %s\n", name, e.path);
    cs_text_lines(stdout, "  ", cs_buf_str(&entry));
    return CS_EXIT_OK;
}

/* --- the others --- */

int cs_verb_remove(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_EDITING e = {0};
    struct cs_err err = {0};
    if (take_one(verb, argc, argv, &e, &err) < 0)
        return err.code == CS_INVALID ? cs_usage_error(verb, &err) : cs_verb_failed(verb, &err);
    const char *name = e.operands.at[0];
    if (cs_config_remove(e.path, cs_str(name), &err) < 0)
        return cs_verb_failed(verb, &err);
    printf("removed '%s' from %s\n", name, e.path);
    return CS_EXIT_OK;
}

int cs_verb_enable(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_EDITING e = {0};
    struct cs_err err = {0};
    bool on = strcmp(verb->name, "enable") == 0, changed;
    if (take_one(verb, argc, argv, &e, &err) < 0)
        return err.code == CS_INVALID ? cs_usage_error(verb, &err) : cs_verb_failed(verb, &err);
    const char *name = e.operands.at[0];
    if (cs_config_enable(e.path, cs_str(name), on, &changed, &err) < 0)
        return cs_verb_failed(verb, &err);
    printf("'%s' is %s%s in %s\n", name, on ? "enabled" : "disabled", changed ? "" : " already",
           e.path);
    return CS_EXIT_OK;
}

int cs_verb_import(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_EDITING e = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    struct cs_err err = {0};
    if (take_one(verb, argc, argv, &e, &err) < 0)
        return err.code == CS_INVALID ? cs_usage_error(verb, &err) : cs_verb_failed(verb, &err);
    if (cs_config_import(e.path, e.operands.at[0], &said, &err) < 0)
        return cs_verb_failed(verb, &err);
    printf("from %s to %s:\n", e.operands.at[0], e.path);
    cs_text_lines(stdout, "  ", cs_buf_str(&said));
    if (!said.len)
        printf("  there are no servers in it\n");
    return CS_EXIT_OK;
}
