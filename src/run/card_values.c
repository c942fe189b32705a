/*
 * Tokens in the arguments of a call: a person who is to say whether it may be sent has to know what
 * they stand for, and above all where a recipient comes from. The value is not shown to anybody.
 */
#include "run/card_in.h"
#include "run/shield.h"

#define VALUES_MOST 50
#define CALLS_MOST  5

static void put(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

/* "web/fetch, call 2 or web/fetch, call 3": of its server's calls so far. */
static void put_from(const struct cs_gate_call *c, const struct cs_token_told *told,
                     struct cs_json_writer *w)
{
    const struct cs_run *run = c->run;
    CS_AUTO_BUF struct cs_buf from = {0};
    uint32_t found = 0;
    if (told->program)
        cs_buf_puts(&from, "the program itself");
    else if (!told->from.len)
        cs_buf_puts(&from, "the inputs");
    else if (told->from.at[0] == '/')
        cs_buf_puts(&from, "the caller");
    for (uint32_t i = 0; !from.len && i < c->record && i < run->record_cap; i++)
        found += cs_str_eq(run->records[i].server, told->from);
    if (!from.len && !found)
        cs_buf_printf(&from, "%.*s, earlier in this session", CS_STR_ARG(told->from));
    uint32_t shown = 0;
    for (uint32_t i = 0; found && i < c->record; i++) {
        const struct cs_call *call = &run->records[i];
        if (!cs_str_eq(call->server, told->from) || shown == CALLS_MOST)
            continue;
        cs_buf_printf(&from, "%s%.*s/%.*s, call %u", shown++ ? " or " : "",
                      CS_STR_ARG(call->server), CS_STR_ARG(call->tool), i + 1);
    }
    if (found > CALLS_MOST)
        cs_buf_printf(&from, " or %u more", found - CALLS_MOST);
    put(w, "from", cs_buf_str(&from));
}

static void put_value(const struct cs_gate_call *c, struct cs_str argument,
                      const struct cs_token_told *told, struct cs_json_writer *w)
{
    cs_json_open(w, '{');
    put(w, "argument", argument);
    put(w, "token", told->token);
    put(w, "what", told->name);
    put_from(c, told, w);
    if (told->hint.len)
        put(w, "hint", told->hint);
    cs_json_close(w, '}');
}

static size_t put_values(const struct cs_gate_call *c, struct cs_str argument, struct cs_str json,
                         size_t most, struct cs_json_writer *w)
{
    struct cs_token_told told[VALUES_MOST];
    size_t count = cs_tokens_told(cs_shield_known(c->run->shield), json, told, most);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < i && !cs_str_eq(told[same].token, told[i].token))
            same++;
        if (same == i)
            put_value(c, argument, &told[i], w);
    }
    return count;
}

void cs_card_values(const struct cs_gate_call *c, struct cs_json_writer *w)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str arguments = cs_buf_str(&c->arguments);
    struct cs_json_limits limits = {.bytes = arguments.len + 1, .allow_duplicate = true};
    struct cs_json_val key, value;
    struct cs_json_iter it = {0};
    size_t left = VALUES_MOST;
    cs_json_key(w, "values");
    cs_json_open(w, '[');
    if (c->run->shield && cs_json_parse(arguments, &limits, &doc, NULL) == 0)
        while (left && cs_json_next(cs_json_root(&doc), &it, &key, &value))
            left -= put_values(c, cs_json_str(key, &arena), cs_json_raw(value), left, w);
    cs_json_close(w, ']');
    if (!left) {
        cs_json_key(w, "values_cut");
        cs_json_put_bool(w, true);
    }
}
