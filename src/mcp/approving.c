/*
 * What a person is asked before an execution of a client's call goes on is put to that client too,
 * beside all the other ways it can be answered: the first answer counts, and what is still asked
 * then is withdrawn. An answer that does not fit is asked for once more, and then denied.
 *
 * The client is not asked if whoever is at its end may not answer (the key's role, four eyes), or
 * if it cannot ask: then the call waits, and its progress says for what.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "mcp/house.h"
#include "run/approvals.h"
#include "run/card_lines.h"

#define OURS        (UINT64_C(1) << 63) /* so that their numbers are none of a server's questions */
#define CARD_BYTES  6000
#define WHY_BYTES   300
#define REASON_MAX  500
#define ASKED_MOST  2
#define ANSWERS_MAX CS_APPROVE_ANSWERS

struct cs_house_approval {
    struct cs_house_approval *next;
    uint64_t ask;
    char *id;
    unsigned number, asked;
    unsigned answers; /* 1u << enum cs_approval_answer */
    enum cs_ask_kind kind;
    bool put;       /* the client is asked now */
    bool sent;      /* it is about a call that was sent before */
    bool elsewhere; /* somebody else has to answer */
    int64_t expires;
    struct cs_buf card, why;
};

static void approval_free(struct cs_house_approval *a)
{
    cs_buf_done(&a->card);
    cs_buf_done(&a->why);
    free(a->id);
    free(a);
}

void cs_house_approvals_done(struct cs_house_approvals *all)
{
    while (all->first) {
        struct cs_house_approval *a = all->first;
        all->first = a->next;
        approval_free(a);
    }
}

bool cs_house_approval_is(uint64_t ask)
{
    return ask & OURS;
}

/* --- may this client be asked? --- */

static struct cs_approval_rules rules_of(const struct cs_mcp_call *call)
{
    return cs_policy_approvals(cs_runner_policy(cs_house_options(call)->runner));
}

/* Whoever is at the other end of the connection is the one whose execution asks: a key never
 * answers that, and from some risk on nobody does. */
static bool may_answer(const struct cs_mcp_call *call, const struct cs_approval_rules *rules,
                       const struct cs_approval_row *row)
{
    if (call->caller.key_id[0] || call->caller.role < CS_KEY_APPROVE ||
        !cs_house_options(call)->store)
        return false;
    bool alone = rules->four_eyes_off;
    for (int risk = 0; !alone && risk < (int)rules->four_eyes; risk++)
        alone = cs_str_is(row->risk, cs_risk_name((enum cs_risk)risk));
    return alone;
}

static void read_card(struct cs_house_approval *a, const struct cs_approval_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    enum cs_approval_answer answer;
    a->answers = 1u << CS_APPROVE_ONCE | 1u << CS_APPROVE_DENY;
    if (cs_json_parse(row->card, NULL, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc), answers = cs_json_get(root, "answers");
    a->sent = cs_card_sent(root);
    cs_buf_putstr(&a->why, cs_utf8_cut(cs_json_str(cs_json_get(root, "why"), &arena), WHY_BYTES));
    while (cs_json_next(answers, &it, NULL, &item))
        if (cs_approval_answer_parse(cs_json_str(item, &arena), &answer))
            a->answers |= 1u << answer;
}

/* --- the question --- */

static void put_names(const struct cs_house_approval *a, struct cs_json_writer *w, bool titled)
{
    cs_json_open(w, '[');
    for (int i = 0; i < CS_APPROVE_ANSWERS; i++) {
        enum cs_approval_answer answer = (enum cs_approval_answer)i;
        if (a->answers & 1u << i)
            cs_json_put_z(w, titled ? cs_approval_answer_title(answer, a->sent)
                                    : cs_approval_answer_name(answer));
    }
    cs_json_close(w, ']');
}

static void put_schema(const struct cs_house_approval *a, struct cs_json_writer *w)
{
    cs_json_key(w, "requestedSchema");
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, "object");
    cs_json_key(w, "properties");
    cs_json_open(w, '{');
    cs_json_key(w, "decision");
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, "string");
    cs_json_key(w, "title");
    cs_json_put_z(w, "Decision");
    cs_json_key(w, "enum");
    put_names(a, w, false);
    cs_json_key(w, "enumNames");
    put_names(a, w, true);
    cs_json_key(w, "default");
    cs_json_put_z(w, cs_approval_answer_name(CS_APPROVE_DENY));
    cs_json_close(w, '}');
    cs_json_key(w, "reason");
    cs_json_put_raw(w, CS_STR("{\"type\":\"string\",\"title\":\"Reason\",\"description\":\"Of a "
                              "denial: the program is told\",\"maxLength\":500}"));
    cs_json_close(w, '}');
    cs_json_key(w, "required");
    cs_json_put_raw(w, CS_STR("[\"decision\"]"));
    cs_json_close(w, '}');
}

static void put_message(const struct cs_house_approval *a, struct cs_str wrong, struct cs_buf *out)
{
    int64_t left = (a->expires - cs_time_ms()) / 1000;
    if (wrong.len)
        cs_buf_printf(out, "(The answer did not fit: %.*s)\n\n", CS_STR_ARG(wrong));
    cs_buf_putstr(out, cs_buf_str(&a->card));
    cs_buf_printf(out, "\n\nApproval %s. Without an answer within %lld s it is denied.", a->id,
                  (long long)(left > 0 ? left : 0));
}

static void put_to_client(struct cs_house_approval *a, struct cs_mcp_call *call,
                          struct cs_str wrong)
{
    CS_AUTO_BUF struct cs_buf params = {0}, message = {0}, url = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&params);
    struct cs_approval_rules rules = rules_of(call);
    char key[48];
    snprintf(key, sizeof key, "approve-%u%s", a->number, a->asked ? "-again" : "");
    a->asked++;
    a->put = true;
    put_message(a, wrong, &message);
    cs_json_open(&w, '{');
    cs_json_key(&w, "mode");
    cs_json_put_z(&w, a->kind == CS_ASK_URL ? "url" : "form");
    cs_json_key(&w, "message");
    cs_json_put_str(&w, cs_buf_str(&message));
    if (a->kind == CS_ASK_URL) {
        cs_approval_url(&rules, cs_str(a->id), &url);
        cs_json_key(&w, "url");
        cs_json_put_str(&w, cs_buf_str(&url));
    } else {
        put_schema(a, &w);
    }
    cs_json_close(&w, '}');
    cs_mcp_ask(call, a->ask, key, a->kind, cs_buf_str(&params));
}

void cs_house_approval_asked(struct cs_house_approvals *all, struct cs_mcp_call *call,
                             const struct cs_approval_row *row)
{
    struct cs_house_approval *a = CS_NEW(struct cs_house_approval), **end = &all->first;
    struct cs_approval_rules rules = rules_of(call);
    a->number = ++all->count;
    a->ask = OURS | a->number;
    a->id = cs_strndup(row->id.at, row->id.len);
    a->expires = row->expires;
    read_card(a, row);
    cs_approval_text(row, false, CARD_BYTES, &a->card);
    while (*end)
        end = &(*end)->next;
    *end = a;
    a->elsewhere = !may_answer(call, &rules, row);
    bool form = cs_mcp_can_ask(call, CS_ASK_FORM);
    bool url = rules.public_url.len && cs_mcp_can_ask(call, CS_ASK_URL);
    a->kind = form ? CS_ASK_FORM : CS_ASK_URL;
    if (!a->elsewhere && (form || url))
        put_to_client(a, call, (struct cs_str){0});
}

void cs_house_approval_over(struct cs_house_approvals *all, struct cs_mcp_call *call,
                            struct cs_str id)
{
    struct cs_house_approval **at = &all->first;
    while (*at && !cs_str_is(id, (*at)->id))
        at = &(*at)->next;
    struct cs_house_approval *a = *at;
    if (!a)
        return;
    *at = a->next;
    if (call && a->put)
        cs_mcp_withdraw(call, a->ask);
    approval_free(a);
}

/* --- the answer --- */

/* It goes its way without us: how it ends is heard of like any other's answer. */
static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    (void)ctx, (void)row;
    if (err->code != CS_OK && err->code != CS_CONFLICT)
        cs_log_line(CS_LOG_WARN, "mcp", "an answer was not taken: %s", err->msg);
}

static void decide(const struct cs_house_approval *a, struct cs_mcp_call *call,
                   enum cs_approval_answer answer, struct cs_str reason)
{
    struct cs_approval_rules rules = rules_of(call);
    struct cs_decision decision = {
        .answer = answer,
        .reason = reason,
        .who = call->caller,
        .channel = "mcp",
        .person = true,
    };
    cs_approval_decide(cs_house_options(call)->store, &rules, cs_str(a->id), &decision, on_decided,
                       NULL);
}

struct reply {
    enum cs_approval_answer answer;
    struct cs_str reason;
    bool consent; /* to look at the address, and nothing else */
};

/* What is wrong with it, or NULL. */
static const char *read_form(const struct cs_house_approval *a, struct cs_json_val content,
                             struct cs_arena *arena, struct reply *reply)
{
    struct cs_json_val decision = cs_json_get(content, "decision"),
                       reason = cs_json_get(content, "reason");
    if (cs_json_type(content) != CS_JSON_OBJECT)
        return "the content is missing";
    if (cs_json_type(decision) != CS_JSON_STRING ||
        !cs_approval_answer_parse(cs_json_str(decision, arena), &reply->answer) ||
        !(a->answers & 1u << reply->answer))
        return "decision: must be one of the choices";
    if (cs_json_type(reason) != CS_JSON_NONE && cs_json_type(reason) != CS_JSON_NULL &&
        cs_json_type(reason) != CS_JSON_STRING)
        return "reason: must be a text";
    reply->reason = cs_json_str(reason, arena);
    return reply->reason.len > REASON_MAX ? "reason: at most 500 bytes" : NULL;
}

static const char *read_reply(const struct cs_house_approval *a, struct cs_json_val root,
                              struct cs_arena *arena, struct reply *reply)
{
    struct cs_json_val action = cs_json_get(root, "action");
    *reply = (struct reply){.answer = CS_APPROVE_DENY};
    if (cs_json_is(action, "decline"))
        reply->reason = CS_STR("declined by the person at the client");
    else if (cs_json_is(action, "cancel"))
        reply->reason = CS_STR("dismissed by the person at the client");
    else if (!cs_json_is(action, "accept"))
        return "action: must be accept, decline or cancel";
    else if (a->kind == CS_ASK_URL)
        reply->consent = true;
    else
        return read_form(a, cs_json_get(root, "content"), arena, reply);
    return NULL;
}

void cs_house_approval_answered(struct cs_house_approvals *all, struct cs_mcp_call *call,
                                uint64_t ask, struct cs_str result)
{
    struct cs_house_approval *a = all->first;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct reply reply;
    while (a && a->ask != ask)
        a = a->next;
    if (!a)
        return;
    a->put = false;
    /* The client could not ask after all: that is nobody's answer. */
    if (!result.len || cs_json_parse(result, NULL, &doc, NULL) < 0)
        return;
    const char *wrong = read_reply(a, cs_json_root(&doc), &arena, &reply);
    if (wrong && a->asked < ASKED_MOST && cs_mcp_can_ask(call, a->kind))
        put_to_client(a, call, cs_str(wrong));
    else if (wrong)
        decide(a, call, CS_APPROVE_DENY, CS_STR("the client's answers did not fit"));
    else if (!reply.consent)
        decide(a, call, reply.answer, reply.reason);
}

/* --- for those who wait --- */

bool cs_house_approvals_say(const struct cs_house_approvals *all, struct cs_buf *out)
{
    const struct cs_house_approval *a = all->first;
    size_t more = 0;
    if (!a)
        return false;
    int64_t left = (a->expires - cs_time_ms()) / 1000;
    for (const struct cs_house_approval *b = a->next; b; b = b->next)
        more++;
    cs_buf_printf(out, "waits for approval %s: %.*s", a->id, CS_STR_ARG(cs_buf_str(&a->why)));
    if (!a->put)
        cs_buf_printf(out, "; %s can answer with 'caisson approve %s' or POST /approvals/%s",
                      a->elsewhere ? "somebody else (not whoever asks)" : "a person", a->id, a->id);
    cs_buf_printf(out, "; denied in %lld s", (long long)(left > 0 ? left : 0));
    if (more)
        cs_buf_printf(out, "; %zu more wait", more);
    return true;
}
