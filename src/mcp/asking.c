/*
 * What servers ask during an execution of a client's call is put to that client. It shows our name;
 * who really asks must be in the message. What it answers is foreign: a form that does not fit is
 * asked once more, and then declined.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/house.h"

#define DECLINED   "{\"action\":\"decline\"}"
#define FAULTS     3
#define ASKED_MOST 2

struct cs_house_question {
    struct cs_house_question *next;
    uint64_t id;
    enum cs_ask_kind kind;
    unsigned number, asked;
    struct cs_buf server, params;
};

static void question_free(struct cs_house_question *q)
{
    cs_buf_done(&q->server);
    cs_buf_done(&q->params);
    free(q);
}

static struct cs_house_question **find(struct cs_house_questions *questions, uint64_t id)
{
    struct cs_house_question **at = &questions->first;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void drop(struct cs_house_questions *questions, uint64_t id)
{
    struct cs_house_question **at = find(questions, id), *q = *at;
    if (q) {
        *at = q->next;
        question_free(q);
    }
}

void cs_house_questions_done(struct cs_house_questions *questions)
{
    while (questions->first)
        drop(questions, questions->first->id);
}

/* The server's parameters with its name in the message, without what belongs to its own connection,
 * and with what was wrong with the answer before. */
static void put_params(const struct cs_house_question *q, struct cs_json_val params,
                       struct cs_str wrong, struct cs_arena *arena, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    CS_AUTO_BUF struct cs_buf message = {0};
    bool person = q->kind != CS_ASK_SAMPLE;
    cs_json_open(&w, '{');
    while (cs_json_next(params, &it, &key, &item)) {
        if (cs_json_is(key, "_meta") || cs_json_is(key, "task") ||
            (person && cs_json_is(key, "message")))
            continue;
        cs_json_key_str(&w, cs_json_str(key, arena));
        cs_json_put_raw(&w, cs_json_raw(item));
    }
    if (person) {
        struct cs_str asks = cs_json_str(cs_json_get(params, "message"), arena);
        cs_json_key(&w, "message");
        cs_buf_printf(&message, "Server '%.*s' asks: %.*s", CS_STR_ARG(cs_buf_str(&q->server)),
                      CS_STR_ARG(asks));
        if (wrong.len)
            cs_buf_printf(&message, "\n(The answer did not fit: %.*s)", CS_STR_ARG(wrong));
        cs_json_put_str(&w, cs_buf_str(&message));
    }
    cs_json_close(&w, '}');
}

static void put_to_client(struct cs_house_question *q, struct cs_mcp_call *call,
                          struct cs_json_val params, struct cs_str wrong)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    char key[48];
    snprintf(key, sizeof key, "ask-%u%s", q->number, q->asked ? "-again" : "");
    q->asked++;
    put_params(q, params, wrong, &arena, &text);
    cs_mcp_ask(call, q->id, key, q->kind, cs_buf_str(&text));
}

/* A person is not sent to a place that is no place of the web. */
static bool presentable(enum cs_ask_kind kind, struct cs_json_val params, struct cs_arena *arena)
{
    if (cs_json_type(params) != CS_JSON_OBJECT)
        return false;
    struct cs_str url = cs_json_str(cs_json_get(params, "url"), arena);
    return kind != CS_ASK_URL || cs_str_starts(url, "https://") || cs_str_starts(url, "http://");
}

bool cs_house_question_ask(struct cs_house_questions *questions, struct cs_mcp_call *call,
                           const struct cs_tool_ask *ask)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!cs_mcp_can_ask(call, ask->kind) || cs_json_parse(ask->params, NULL, &doc, NULL) < 0 ||
        !presentable(ask->kind, cs_json_root(&doc), &call->arena))
        return false;
    struct cs_house_question *q = CS_NEW(struct cs_house_question);
    q->id = ask->id;
    q->kind = ask->kind;
    q->number = ++questions->count;
    cs_buf_putstr(&q->server, ask->server);
    cs_buf_putstr(&q->params, ask->params);
    q->next = questions->first;
    questions->first = q;
    put_to_client(q, call, cs_json_root(&doc), (struct cs_str){0});
    return true;
}

/* What is wrong with an accepted form; nothing if it fits, or if the schema itself is unusable. */
static void check_form(struct cs_json_val params, struct cs_json_val result, struct cs_arena *arena,
                       struct cs_buf *wrong)
{
    struct cs_json_val schema = cs_json_get(params, "requestedSchema");
    struct cs_json_val content = cs_json_get(result, "content");
    struct cs_schema_fault faults[FAULTS];
    struct cs_schema *compiled = NULL;
    const struct cs_schema_options strict = {.assert_format = true};
    if (cs_json_type(content) != CS_JSON_OBJECT) {
        cs_buf_puts(wrong, "the content is missing");
        return;
    }
    if (cs_json_type(schema) != CS_JSON_OBJECT ||
        cs_schema_new(cs_json_raw(schema), &strict, &compiled, NULL) < 0)
        return;
    int count = cs_schema_check(compiled, content, arena, faults, FAULTS, NULL);
    if (count > 0)
        cs_schema_explain(faults, count, wrong);
    cs_schema_free(compiled);
}

/* Nothing in `wrong`: it is an answer that the server may be told. */
static void check(const struct cs_house_question *q, struct cs_json_val params,
                  struct cs_str result, struct cs_buf *wrong)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(result, NULL, &doc, NULL) < 0 ||
        cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT) {
        cs_buf_puts(wrong, "it is no JSON object");
        return;
    }
    struct cs_json_val action = cs_json_get(cs_json_root(&doc), "action");
    if (q->kind == CS_ASK_SAMPLE || cs_json_is(action, "decline") || cs_json_is(action, "cancel"))
        return;
    if (!cs_json_is(action, "accept"))
        cs_buf_puts(wrong, "action: must be accept, decline or cancel");
    else if (q->kind == CS_ASK_FORM)
        check_form(params, cs_json_root(&doc), &arena, wrong);
}

/* What the server is told: what the protocol has, and nothing else that the client may have put
 * there. */
static struct cs_str clean(const struct cs_house_question *q, struct cs_str result,
                           struct cs_arena *arena)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (q->kind == CS_ASK_SAMPLE || cs_json_parse(result, NULL, &doc, NULL) < 0)
        return result;
    struct cs_json_val root = cs_json_root(&doc), action = cs_json_get(root, "action");
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "action");
    cs_json_put_raw(&w, cs_json_raw(action));
    if (q->kind == CS_ASK_FORM && cs_json_is(action, "accept")) {
        cs_json_key(&w, "content");
        cs_json_put_raw(&w, cs_json_raw(cs_json_get(root, "content")));
    }
    cs_json_close(&w, '}');
    return cs_arena_dup(arena, cs_buf_str(&out));
}

bool cs_house_question_answered(struct cs_house_questions *questions, struct cs_mcp_call *call,
                                uint64_t ask, struct cs_str *result)
{
    struct cs_house_question *q = *find(questions, ask);
    CS_AUTO_JSON struct cs_json params = {0};
    CS_AUTO_BUF struct cs_buf wrong = {0};
    if (!q)
        return false;
    if (result->len && cs_json_parse(cs_buf_str(&q->params), NULL, &params, NULL) == 0)
        check(q, cs_json_root(&params), *result, &wrong);
    if (wrong.len && q->asked < ASKED_MOST && cs_mcp_can_ask(call, q->kind)) {
        put_to_client(q, call, cs_json_root(&params), cs_utf8_cut(cs_buf_str(&wrong), 300));
        return false;
    }
    if (wrong.len)
        *result = q->kind == CS_ASK_SAMPLE ? (struct cs_str){0} : CS_STR(DECLINED);
    else if (result->len)
        *result = clean(q, *result, &call->arena);
    drop(questions, ask);
    return true;
}

void cs_house_question_withdraw(struct cs_house_questions *questions, struct cs_mcp_call *call,
                                uint64_t ask)
{
    if (call && *find(questions, ask))
        cs_mcp_withdraw(call, ask);
    drop(questions, ask);
}
