/*
 * Answers to questions: who may give which, and what an answer is good for. From any process that
 * has the store: the row says what was asked, the first answer wins there.
 */
#include <stdio.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "run/approvals.h"
#include "run/card_lines.h"
#include "run/guard.h"

#define REASON_BYTES 500
#define DAY_MS       ((int64_t)86400000)

static const char *const answers[] = {"once", "session", "program", "tool", "deny"};

const char *cs_approval_answer_name(enum cs_approval_answer answer)
{
    return answers[answer];
}

bool cs_approval_answer_parse(struct cs_str word, enum cs_approval_answer *answer)
{
    for (int i = 0; i < CS_APPROVE_ANSWERS; i++)
        if (cs_str_is(word, answers[i])) {
            *answer = (enum cs_approval_answer)i;
            return true;
        }
    return false;
}

const char *cs_approval_answer_title(enum cs_approval_answer answer, bool sent)
{
    static const char *const titles[] = {
        [CS_APPROVE_ONCE] = "Allow once",
        [CS_APPROVE_SESSION] = "Allow in this session",
        [CS_APPROVE_PROGRAM] = "Always allow exactly this program",
        [CS_APPROVE_TOOL] = "Allow this tool with these arguments for 30 days",
        [CS_APPROVE_DENY] = "Deny",
    };
    if (sent && answer == CS_APPROVE_ONCE)
        return "Send it again";
    return sent && answer == CS_APPROVE_DENY ? "Do not send it again" : titles[answer];
}

/* One answer on its way. */
struct deciding {
    struct cs_store *store;
    struct cs_approval_rules rules;
    struct cs_decision decision; /* texts in the arena */
    cs_approval_decided *done;
    void *ctx;
    struct cs_arena arena;
    struct cs_json card;
    struct cs_str card_text;
    size_t reason_bytes; /* as it was given */
    bool looked;         /* this definition counts as looked at, too: */
    struct cs_str server, tool;
    unsigned char definition[32];
};

static void end(struct deciding *d, const struct cs_err *err, const struct cs_approval_row *row)
{
    if (d->done)
        d->done(d->ctx, err, row);
    cs_json_done(&d->card);
    cs_arena_done(&d->arena);
    free(d);
}

/* --- who may --- */

static enum cs_risk risk_of(struct cs_str name)
{
    for (int i = CS_RISK_LOW; i < CS_RISK_CRITICAL; i++)
        if (cs_str_is(name, cs_risk_name((enum cs_risk)i)))
            return (enum cs_risk)i;
    return CS_RISK_CRITICAL; /* also what nobody knows */
}

/* The person at this machine's terminal is another one than an agent that came to this machine, and
 * is known by nothing but that. */
static bool is_own(const struct cs_decision *by, const struct cs_approval_row *row)
{
    bool at_terminal = by->person && by->channel && strcmp(by->channel, "terminal") == 0;
    if (!cs_str_eq(cs_str(by->who.principal), row->principal))
        return false;
    return by->who.key_id[0] || !at_terminal || !cs_str_is(row->actor, "agent");
}

static int check_who(const struct cs_approval_rules *rules, const struct cs_decision *by,
                     const struct cs_approval_row *row, struct cs_err *err)
{
    if (by->who.role < CS_KEY_APPROVE)
        return cs_fail(err, CS_DENIED,
                       "answering takes a key with the role approve; this one has %s",
                       cs_key_role_name(by->who.role));
    if (by->answer == CS_APPROVE_DENY || !is_own(by, row))
        return 0;
    if (by->who.key_id[0])
        return cs_fail(err, CS_DENIED,
                       "a key cannot approve what it has asked for itself: somebody else has to");
    if (!rules->four_eyes_off && risk_of(row->risk) >= rules->four_eyes)
        return cs_fail(err, CS_DENIED,
                       "this is %.*s, and whoever asks cannot approve it: somebody else has to "
                       "(approvals.four_eyes)",
                       CS_STR_ARG(row->risk));
    return 0;
}

/* --- which answers there are --- */

/* What an answer comes with goes with it, or it would be thought to count. */
static int check_parts(const struct deciding *d, const struct cs_approval_row *row,
                       struct cs_err *err)
{
    const struct cs_decision *by = &d->decision;
    bool call = cs_str_is(row->kind, "call");
    if (d->reason_bytes > REASON_BYTES)
        return cs_fail(err, CS_INVALID, "reason: %zu bytes; at most %d", d->reason_bytes,
                       REASON_BYTES);
    if (by->until && by->answer != CS_APPROVE_TOOL)
        return cs_fail(err, CS_INVALID, "until: only of the answer 'tool', not of '%s'",
                       answers[by->answer]);
    if (by->arguments.len && by->answer != CS_APPROVE_TOOL &&
        !(call && by->answer == CS_APPROVE_SESSION))
        return cs_fail(err, CS_INVALID,
                       "arguments: only of the answer 'tool', and of 'session' for a call, not of "
                       "'%s'",
                       answers[by->answer]);
    return 0;
}

/* Whatever a card says, what is CRITICAL is allowed once: no grant is good for it (approvals.c). */
static int check_offered(struct deciding *d, const struct cs_approval_row *row, struct cs_err *err)
{
    struct cs_json_val card = cs_json_root(&d->card);
    struct cs_json_val offered = cs_json_get(card, "answers"), item;
    struct cs_json_iter it = {0};
    enum cs_approval_answer answer = d->decision.answer;
    bool is_offered = answer == CS_APPROVE_ONCE || answer == CS_APPROVE_DENY;
    while (!is_offered && risk_of(row->risk) != CS_RISK_CRITICAL &&
           cs_json_next(offered, &it, NULL, &item))
        is_offered = cs_json_is(item, answers[answer]);
    if (is_offered)
        return 0;
    if (cs_card_sent(card))
        return cs_fail(err, CS_INVALID,
                       "this call may have been made already: it can be sent again once, or not; "
                       "'%s' would be for others as well",
                       answers[answer]);
    return cs_fail(err, CS_INVALID,
                   "this question cannot be answered with '%s'; its card says with what",
                   answers[answer]);
}

static bool is_zero(const unsigned char hash[32])
{
    static const unsigned char none[32];
    return memcmp(hash, none, sizeof none) == 0;
}

static int grant_tool(struct deciding *d, const struct cs_approval_row *row, struct cs_grant_row *g,
                      struct cs_err *err)
{
    struct cs_json_val call = cs_json_get(cs_json_root(&d->card), "call");
    g->server = cs_json_str(cs_json_get(call, "server"), &d->arena);
    g->tool = cs_json_str(cs_json_get(call, "tool"), &d->arena);
    struct cs_str hash = cs_json_str(cs_json_get(call, "definition_hash"), &d->arena);
    if (!g->server.len || !g->tool.len || !cs_hex_read(hash, g->definition, 32))
        return cs_fail(err, CS_INVALID, "the question is about no tool; approve it once");
    d->looked = d->decision.answer == CS_APPROVE_TOOL &&
                cs_json_is(cs_json_get(call, "standing"), "changed");
    d->server = g->server;
    d->tool = g->tool;
    memcpy(d->definition, g->definition, sizeof d->definition);
    return cs_bound_grant(row->bound, cs_json_root(&d->card), d->decision.arguments, &d->arena, g,
                          err);
}

int cs_approval_arguments(const struct cs_approval_row *row, struct cs_str arguments,
                          struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json card = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_grant_row grant = {0};
    if (cs_json_parse(row->card, NULL, &card, err) < 0)
        return -1;
    return cs_bound_grant(row->bound, cs_json_root(&card), arguments, &arena, &grant, err);
}

static int until(struct deciding *d, int64_t now, int64_t *expires, struct cs_err *err)
{
    int64_t wanted = d->decision.until ? d->decision.until : now + 30 * DAY_MS;
    if (wanted <= now)
        return cs_fail(err, CS_INVALID, "the date is over already");
    if (wanted > now + 366 * DAY_MS)
        return cs_fail(err, CS_INVALID, "a tool can be allowed for a year at most");
    *expires = wanted;
    return 0;
}

/* What it allows beyond this time; no id: nothing. */
static int make_grant(struct deciding *d, const struct cs_approval_row *row, int64_t now,
                      struct cs_grant_row *g, struct cs_err *err)
{
    enum cs_approval_answer answer = d->decision.answer;
    if (answer == CS_APPROVE_ONCE || answer == CS_APPROVE_DENY)
        return 0;
    bool call = cs_str_is(row->kind, "call");
    *g = (struct cs_grant_row){.tenant = row->tenant,
                               .principal = row->principal,
                               .actor = row->actor,
                               .scope = cs_str(answers[answer]),
                               .created = now,
                               .by = cs_str(d->decision.who.principal),
                               .approval = row->id};
    if (answer == CS_APPROVE_TOOL && (!call || until(d, now, &g->expires, err) < 0))
        return call ? -1 : cs_fail(err, CS_INVALID, "the question is about a program, not a tool");
    if (answer == CS_APPROVE_SESSION) {
        if (!row->session.len)
            return cs_fail(err, CS_INVALID, "it runs in no session; approve it once");
        g->session = row->session;
        g->expires = now + 30 * DAY_MS;
    }
    if (answer == CS_APPROVE_TOOL || (answer == CS_APPROVE_SESSION && call)) {
        if (grant_tool(d, row, g, err) < 0)
            return -1;
    } else if (is_zero(row->scope)) {
        return cs_fail(err, CS_INVALID, "the question binds no program; approve it once");
    } else {
        memcpy(g->binding, row->scope, sizeof g->binding);
    }
    char id[CS_ID_TEXT];
    cs_make_id("gr_", id);
    g->id = cs_arena_dup(&d->arena, cs_str(id));
    return 0;
}

/* --- on record --- */

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[32])
{
    char hex[65];
    cs_hex(hash, 32, hex);
    put_text(w, key, cs_str(hex));
}

static void close_canon(struct cs_json_writer *w, struct cs_buf *data)
{
    struct cs_err err;
    cs_json_close(w, '}');
    cs_canon(cs_buf_str(w->out), data, &err);
}

static void decided_data(const struct deciding *d, const struct cs_approval_row *row, int64_t now,
                         struct cs_buf *data)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    const struct cs_decision *by = &d->decision;
    unsigned char hash[32];
    cs_json_open(&w, '{');
    put_text(&w, "answer", cs_str(answers[by->answer]));
    put_text(&w, "approval", row->id);
    put_text(&w, "by", cs_str(by->who.principal));
    put_hash(&w, "card_hash", row->card_hash);
    put_text(&w, "channel", cs_str(by->channel ? by->channel : ""));
    put_text(&w, "key", cs_str(by->who.key_id));
    cs_json_key(&w, "person");
    cs_json_put_bool(&w, by->person);
    if (by->reason.len) {
        cs_sha256(by->reason, hash);
        put_hash(&w, "reason_hash", hash);
    }
    put_text(&w, "risk", row->risk);
    cs_json_key(&w, "seen"); /* at the card itself, or they say which one it was */
    cs_json_put_bool(&w, by->seen || by->person);
    cs_json_key(&w, "waited_ms");
    cs_json_put_i64(&w, now > row->created ? now - row->created : 0);
    close_canon(&w, data);
}

/* Arguments are values: only how many there are, and a hash. */
static void grant_data(const struct cs_grant_row *g, struct cs_buf *data)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    unsigned char hash[32];
    cs_json_open(&w, '{');
    put_text(&w, "approval", g->approval);
    put_text(&w, "by", g->by);
    cs_json_key(&w, "expires");
    cs_json_put_i64(&w, g->expires);
    put_text(&w, "grant", g->id);
    put_text(&w, "scope", g->scope);
    if (g->tool.len) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        cs_sha256(g->arguments, hash);
        put_hash(&w, "arguments_hash", hash);
        put_hash(&w, "definition_hash", g->definition);
        put_text(&w, "match", cs_grant_match(g, &arena));
        put_text(&w, "server", g->server);
        put_text(&w, "tool", g->tool);
    } else {
        put_hash(&w, "binding", g->binding);
    }
    close_canon(&w, data);
}

void cs_approval_looked_data(struct cs_str server, struct cs_str tool,
                             const unsigned char definition[32], struct cs_str by,
                             struct cs_str channel, struct cs_buf *data)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_text(&w, "by", by);
    put_text(&w, "channel", channel);
    put_hash(&w, "definition_hash", definition);
    put_text(&w, "server", server);
    put_text(&w, "tool", tool);
    close_canon(&w, data);
}

/* --- the way --- */

static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                       size_t count)
{
    struct deciding *d = ctx;
    struct cs_err said = *err;
    if (!err->code && d->looked) {
        CS_AUTO_BUF struct cs_buf data = {0};
        cs_approval_looked_data(d->server, d->tool, d->definition,
                                cs_str(d->decision.who.principal), cs_str(d->decision.channel),
                                &data);
        const struct cs_entry entry = {.event = CS_STR("tool.looked"),
                                       .tenant = rows->tenant,
                                       .principal = cs_str(d->decision.who.principal),
                                       .data = cs_buf_str(&data)};
        cs_store_tool_look(d->store, d->server, d->tool, d->definition, &entry, NULL, NULL);
    }
    if (err->code == CS_CONFLICT && count)
        cs_fail(&said, CS_CONFLICT, "somebody was first: it is %.*s%s%.*s already",
                CS_STR_ARG(rows->state), rows->by.len ? " by " : "", CS_STR_ARG(rows->by));
    end(d, &said, count ? rows : NULL);
}

static int decide(struct deciding *d, const struct cs_approval_row *row, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf decided = {0};
    CS_AUTO_BUF struct cs_buf granted = {0};
    const struct cs_decision *by = &d->decision;
    int64_t now = cs_time_ms();
    struct cs_grant_row grant = {0};
    cs_bound_four_eyes(row->bound, &d->rules);
    if (check_who(&d->rules, by, row, err) < 0)
        return -1;
    if (!cs_str_is(row->state, "pending"))
        return cs_fail(err, CS_CONFLICT, "it is %.*s%s%.*s already", CS_STR_ARG(row->state),
                       row->by.len ? " by " : "", CS_STR_ARG(row->by));
    d->card_text = cs_arena_dup(&d->arena, row->card);
    if (cs_json_parse(d->card_text, NULL, &d->card, err) < 0)
        return cs_wrap(err, "the card of '%.*s'", CS_STR_ARG(row->id));
    if (check_parts(d, row, err) < 0 || check_offered(d, row, err) < 0 ||
        make_grant(d, row, now, &grant, err) < 0)
        return -1;
    struct cs_approval_row to = *row;
    to.state = by->answer == CS_APPROVE_DENY ? CS_STR("denied") : CS_STR("approved");
    to.answer = cs_str(answers[by->answer]);
    to.by = cs_str(by->who.principal);
    to.channel = cs_str(by->channel ? by->channel : "");
    to.reason = by->reason;
    to.decided = now;
    decided_data(d, row, now, &decided);
    struct cs_entry entries[2] = {
        {.event = CS_STR("approval.decided"), .data = cs_buf_str(&decided)},
        {.event = CS_STR("grant.made")}};
    size_t count = 1;
    if (grant.id.len) {
        grant_data(&grant, &granted);
        entries[count++].data = cs_buf_str(&granted);
    }
    for (size_t i = 0; i < count; i++) {
        entries[i].tenant = row->tenant;
        entries[i].principal = to.by;
        entries[i].session = row->session;
        entries[i].execution = row->execution;
    }
    cs_store_approval_decide(d->store, &to, grant.id.len ? &grant : NULL, entries, count,
                             on_decided, d);
    return 0;
}

static void on_row(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                   size_t count)
{
    struct deciding *d = ctx;
    struct cs_err why = {0};
    if (err->code)
        end(d, err, NULL);
    else if (decide(d, rows, &why) < 0)
        end(d, &why, why.code == CS_CONFLICT && count ? rows : NULL);
}

/* People type it: no control characters, and not too long. */
static struct cs_str clean(struct cs_arena *arena, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf seen = {0};
    cs_visible(cs_utf8_cut(text, REASON_BYTES), false, &seen);
    return cs_arena_dup(arena, cs_utf8_cut(cs_buf_str(&seen), REASON_BYTES));
}

void cs_approval_decide(struct cs_store *store, const struct cs_approval_rules *rules,
                        struct cs_str id, const struct cs_decision *decision,
                        cs_approval_decided *done, void *ctx)
{
    struct deciding *d = CS_NEW(struct deciding);
    d->store = store;
    d->rules = *rules;
    d->decision = *decision;
    d->decision.arguments = cs_arena_dup(&d->arena, decision->arguments);
    d->decision.reason = clean(&d->arena, decision->reason);
    d->reason_bytes = decision->reason.len;
    d->done = done;
    d->ctx = ctx;
    cs_store_approval_get(store, cs_str(d->decision.who.tenant), id, on_row, d);
}

/* --- for people and programs --- */

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    if (ms)
        put_text(w, key, cs_str(cs_time_text_ms(ms, text)));
}

static void put_if(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (text.len)
        put_text(w, key, text);
}

void cs_approval_json(const struct cs_approval_row *row, bool with_card, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json card = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    bool has = row->card.len && cs_json_parse(row->card, NULL, &card, NULL) == 0;
    cs_json_open(&w, '{');
    put_text(&w, "id", row->id);
    put_text(&w, "state", row->state);
    put_text(&w, "kind", row->kind);
    put_text(&w, "risk", row->risk);
    put_text(&w, "execution_id", row->execution);
    put_if(&w, "session_id", row->session);
    put_text(&w, "principal", row->principal);
    put_if(&w, "actor_type", row->actor);
    if (has)
        put_if(&w, "why", cs_json_str(cs_json_get(cs_json_root(&card), "why"), &arena));
    if (has)
        put_if(
            &w, "sent_at",
            cs_json_str(cs_json_get(cs_json_get(cs_json_root(&card), "call"), "sent_at"), &arena));
    put_time(&w, "created", row->created);
    put_time(&w, "expires", row->expires);
    put_time(&w, "decided", row->decided);
    put_if(&w, "answer", row->answer);
    put_if(&w, "by", row->by);
    put_if(&w, "channel", row->channel);
    put_if(&w, "reason", row->reason);
    put_hash(&w, "card_hash", row->card_hash);
    if (has && with_card) {
        cs_json_key(&w, "card");
        cs_json_put_raw(&w, row->card);
    }
    cs_json_close(&w, '}');
}
