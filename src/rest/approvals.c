/*
 * What persons are asked, and what they allowed beyond once.
 *
 * Who may answer sees all questions of the tenant; anybody else those of its own executions, and
 * answers none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "rest/inside.h"
#include "run/approvals.h"

#define STEP   50   /* rows that are read at once: cards may be large */
#define LOOKED 2000 /* at most for one page; the next one goes on there */
#define ID_MAX 64
#define GRANTS 1000

static const char *const states[] = {"pending", "approved", "denied", "expired", "withdrawn"};

/* May it be shown to this caller? */
static bool visible(const struct cs_visit *v, const struct cs_approval_row *row)
{
    return v->caller.role >= CS_KEY_APPROVE ||
           cs_str_eq(row->principal, cs_str(v->caller.principal));
}

/* --- they are listed --- */

struct list {
    struct cs_visit *v;
    struct cs_str state, execution;
    struct cs_buf rows;
    size_t count, looked;
    char last[ID_MAX + 1]; /* that was looked at; where the next page begins */
};

static void list_free(struct list *l)
{
    cs_buf_done(&l->rows);
    free(l);
}

static void put_next(struct list *l, struct cs_json_writer *w)
{
    CS_AUTO_BUF struct cs_buf next = {0};
    cs_buf_printf(&next, "/approvals?limit=%zu&before=%s", l->v->limit, l->last);
    if (l->state.len)
        cs_buf_printf(&next, "&state=%.*s", CS_STR_ARG(l->state));
    if (l->execution.len) {
        cs_buf_puts(&next, "&execution_id=");
        cs_put_percent(&next, l->execution);
    }
    cs_put_text(w, "next", cs_buf_str(&next));
}

static void answer_list(struct list *l, bool more)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    struct cs_visit *v = l->v;
    cs_json_open(&w, '{');
    cs_json_key(&w, "approvals");
    cs_buf_putc(&json, '[');
    cs_buf_putstr(&json, cs_buf_str(&l->rows));
    cs_buf_putc(&json, ']');
    w.comma = true;
    if (more)
        put_next(l, &w);
    cs_json_close(&w, '}');
    list_free(l);
    cs_visit_json(v, 200, &json);
}

static void read_more(struct list *l);

/* False: the page is full, and this one is of the next. */
static bool add_row(struct list *l, const struct cs_approval_row *row)
{
    bool wanted =
        visible(l->v, row) && (!l->execution.len || cs_str_eq(l->execution, row->execution));
    if (wanted && l->count == l->v->limit)
        return false;
    l->looked++;
    if (row->id.len <= ID_MAX) {
        memcpy(l->last, row->id.at, row->id.len);
        l->last[row->id.len] = '\0';
    }
    if (!wanted)
        return true;
    if (l->count++)
        cs_buf_putc(&l->rows, ',');
    cs_approval_json(row, false, &l->rows);
    return true;
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                      size_t count)
{
    struct list *l = ctx;
    struct cs_visit *v = l->v;
    if (err->code != CS_OK || !v->rest || !v->x) {
        list_free(l);
        cs_visit_fail(v, 0, err);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!add_row(l, &rows[i])) {
            answer_list(l, true);
            return;
        }
    if (count < STEP)
        answer_list(l, false);
    else if (l->looked >= LOOKED)
        answer_list(l, true);
    else
        read_more(l);
}

static void read_more(struct list *l)
{
    cs_store_approvals(l->v->rest->o.store, cs_visit_tenant(l->v), l->state, STEP, cs_str(l->last),
                       true, on_listed, l);
}

static bool known_state(struct cs_str state)
{
    for (size_t i = 0; i < CS_COUNT(states); i++)
        if (cs_str_is(state, states[i]))
            return true;
    return !state.len;
}

void cs_rest_get_approvals(struct cs_visit *v)
{
    uint64_t limit = 0;
    struct cs_str before = cs_visit_query(v, "before"), state = cs_visit_query(v, "state");
    if (!cs_visit_number(v, "limit", 1, CS_REST_PAGE_MOST, CS_REST_PAGE, &limit))
        return;
    if (!known_state(state)) {
        cs_visit_failf(v, 0, CS_INVALID,
                       "state must be pending, approved, denied, expired or withdrawn");
        return;
    }
    if (before.len > ID_MAX) {
        cs_visit_failf(v, 0, CS_INVALID, "before must be the id of an approval");
        return;
    }
    struct list *l = CS_NEW(struct list);
    l->v = v;
    l->state = state;
    l->execution = cs_visit_query(v, "execution_id");
    if (before.len)
        memcpy(l->last, before.at, before.len);
    v->limit = limit;
    read_more(l);
}

/* --- one is looked at --- */

static void no_approval(struct cs_visit *v)
{
    cs_visit_failf(v, 0, CS_MISSING, "there is no approval '%.*s'",
                   (int)(v->parts[0].len < ID_MAX ? v->parts[0].len : ID_MAX), v->parts[0].at);
}

static void answer_approval(struct cs_visit *v, const struct cs_approval_row *row)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    char tag[2 * CS_SHA256 + 3] = "\"";
    cs_hex(row->card_hash, sizeof row->card_hash, tag + 1);
    tag[2 * CS_SHA256 + 1] = '"';
    tag[2 * CS_SHA256 + 2] = '\0';
    cs_visit_set(v, "ETag", cs_str(tag));
    cs_approval_json(row, true, &json);
    cs_visit_json(v, 200, &json);
}

/* The row, if there is one for this caller; otherwise it is answered, and NULL. */
static const struct cs_approval_row *found(struct cs_visit *v, const struct cs_err *err,
                                           const struct cs_approval_row *rows, size_t count)
{
    bool missing = err->code == CS_MISSING || (err->code == CS_OK && !count);
    if (missing || (err->code == CS_OK && !visible(v, rows)))
        no_approval(v);
    else if (err->code != CS_OK)
        cs_visit_fail(v, 0, err);
    else
        return rows;
    return NULL;
}

static void on_found(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                     size_t count)
{
    struct cs_visit *v = ctx;
    const struct cs_approval_row *row = found(v, err, rows, count);
    if (!row)
        return;
    if (v->x && cs_visit_accepts(v, "text/html", "application/json"))
        cs_visit_approval_page(v, row);
    else
        answer_approval(v, row);
}

static void look(struct cs_visit *v, cs_approval_found *then)
{
    if (v->parts[0].len > ID_MAX)
        no_approval(v);
    else
        cs_store_approval_get(v->rest->o.store, cs_visit_tenant(v), v->parts[0], then, v);
}

void cs_rest_get_approval(struct cs_visit *v)
{
    look(v, on_found);
}

/* --- somebody answers --- */

/* It cannot be answered (any more), or not by this card. */
static void refuse(struct cs_visit *v, unsigned status, const char *title, const struct cs_err *err)
{
    struct cs_exchange *x = CS_TAKE(v->x);
    if (x)
        cs_rest_problem_titled(x, status, title, err);
    cs_visit_free(v);
}

/* How it stands, for somebody who comes too late. */
static void say_late(struct cs_visit *v, const struct cs_err *err,
                     const struct cs_approval_row *row)
{
    char when[CS_TIME_TEXT];
    struct cs_err said = *err;
    if (!row) {
        cs_visit_fail(v, 0, err);
        return;
    }
    cs_time_text(row->decided ? row->decided : row->expires, when);
    if (!row->by.len) {
        cs_fail(&said, CS_CONFLICT, "it is %.*s since %s", CS_STR_ARG(row->state), when);
        refuse(v, 0,
               cs_str_is(row->state, "expired") ? "Its time is over"
                                                : "It was withdrawn: nobody waits for it any more",
               &said);
        return;
    }
    cs_fail(&said, CS_CONFLICT, "it was %.*s%s%.*s%s by %.*s (%.*s) at %s", CS_STR_ARG(row->state),
            row->answer.len ? " (" : "", CS_STR_ARG(row->answer), row->answer.len ? ")" : "",
            CS_STR_ARG(row->by), CS_STR_ARG(row->channel), when);
    refuse(v, 0,
           cs_str_eq(row->by, cs_str(v->caller.principal)) ? "You have answered already"
                                                           : "Somebody else has answered",
           &said);
}

/* Whoever pressed a button looks at the page again. */
static void show_again(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf place = {0};
    cs_buf_puts(&place, "/approvals/");
    cs_put_percent(&place, v->parts[0]);
    cs_visit_set(v, "Location", cs_buf_str(&place));
    cs_visit_reply(v, 303, NULL, (struct cs_str){0});
}

static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    struct cs_visit *v = ctx;
    if (err->code == CS_CONFLICT) {
        say_late(v, err, row);
        return;
    }
    if (err->code == CS_DENIED && v->rest && v->rest->o.denied)
        v->rest->o.denied(v->rest->o.ctx, &v->caller);
    if (err->code == CS_MISSING)
        no_approval(v);
    else if (err->code != CS_OK)
        cs_visit_fail(v, 0, err);
    else if (v->x && cs_visit_is_form(v))
        show_again(v);
    else
        answer_approval(v, row);
}

static int read_answer(struct cs_visit *v, struct cs_decision *d, struct cs_err *err)
{
    struct cs_json_val root = cs_json_root(&v->body), until = cs_json_get(root, "until");
    /* It is one of the schema's. */
    cs_approval_answer_parse(cs_json_str(cs_json_get(root, "answer"), &v->arena), &d->answer);
    d->reason = cs_json_str(cs_json_get(root, "reason"), &v->arena);
    d->arguments = cs_json_raw(cs_json_get(root, "arguments"));
    d->who = v->caller;
    d->channel = "rest";
    if (cs_json_type(until) == CS_JSON_NONE)
        return 0;
    if (!cs_time_parse(cs_json_str(until, &v->arena), &d->until))
        return cs_fail(err, CS_INVALID, "until: a time like 2026-12-31T12:00:00Z");
    if (d->until <= cs_time_ms())
        return cs_fail(err, CS_INVALID, "until: that is over already");
    return 0;
}

#define OTHER_CARD ": another card is there than the one that was seen; look at it again"

/* What they saw, if they say so, is what is there. */
static bool same_card(struct cs_visit *v, const struct cs_approval_row *row, bool *seen)
{
    unsigned char hash[CS_SHA256];
    struct cs_json_val given = cs_json_get(cs_json_root(&v->body), "card_hash");
    if (cs_json_type(given) == CS_JSON_NONE)
        return true;
    *seen = true;
    return cs_hex_read(cs_json_str(given, &v->arena), hash, sizeof hash) &&
           memcmp(hash, row->card_hash, sizeof hash) == 0;
}

/* The same, by If-Match: *, or a list of tags, one of which is that of the card. */
static bool same_tag(struct cs_visit *v, const struct cs_approval_row *row, bool *seen)
{
    struct cs_str list = cs_visit_header(v, "If-Match");
    char tag[2 * CS_SHA256 + 1];
    if (!list.len || cs_str_is(list, "*"))
        return true;
    cs_hex(row->card_hash, sizeof row->card_hash, tag);
    while (list.len) {
        const char *comma = memchr(list.at, ',', list.len);
        struct cs_str one = comma ? cs_strn(list.at, (size_t)(comma - list.at)) : list;
        list = comma ? cs_strn(comma + 1, list.len - one.len - 1) : (struct cs_str){0};
        while (one.len && strchr(" \t", one.at[0]))
            one = cs_strn(one.at + 1, one.len - 1);
        while (one.len && strchr(" \t", one.at[one.len - 1]))
            one.len--;
        if (one.len == 2 * CS_SHA256 + 2 && one.at[0] == '"' && one.at[one.len - 1] == '"' &&
            memcmp(one.at + 1, tag, one.len - 2) == 0) {
            *seen = true;
            return true;
        }
    }
    return false;
}

static void on_asked_for(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                         size_t count)
{
    struct cs_visit *v = ctx;
    struct cs_decision decision = {0};
    struct cs_err wrong = {0};
    const struct cs_approval_row *row = found(v, err, rows, count);
    if (!row)
        return;
    if (!v->rest || !v->x) {
        cs_visit_free(v);
        return;
    }
    if (!same_tag(v, row, &decision.seen)) {
        cs_fail(&wrong, CS_CONFLICT, "If-Match" OTHER_CARD);
        refuse(v, 412, NULL, &wrong);
        return;
    }
    if (!same_card(v, row, &decision.seen)) {
        cs_fail(&wrong, CS_CONFLICT, "card_hash" OTHER_CARD);
        refuse(v, 0, "It is another card than the one that was seen", &wrong);
        return;
    }
    if (read_answer(v, &decision, &wrong) < 0) {
        cs_visit_fail(v, 0, &wrong);
        return;
    }
    struct cs_approval_rules rules = cs_policy_approvals(cs_runner_policy(v->rest->o.runner));
    cs_approval_decide(v->rest->o.store, &rules, v->parts[0], &decision, on_decided, v);
}

void cs_rest_post_approval(struct cs_visit *v)
{
    struct cs_err err = {0};
    struct cs_str body = cs_exchange_body(v->x);
    if (cs_visit_is_form(v)) {
        CS_AUTO_BUF struct cs_buf json = {0};
        if (cs_rest_form_json(body, &json, &err) < 0) {
            cs_visit_fail(v, 0, &err);
            return;
        }
        body = cs_arena_dup(&v->arena, cs_buf_str(&json));
    }
    if (cs_rest_read_object(body, v->rest->answer, &v->body, &v->arena, &err) < 0)
        cs_visit_fail(v, 0, &err);
    else
        look(v, on_asked_for);
}

/* --- of an execution that waits --- */

static void put_open(struct cs_json_writer *w, const struct cs_run_approval *open)
{
    cs_json_open(w, '{');
    cs_put_text(w, "id", cs_str(open->id));
    cs_put_text(w, "state", CS_STR("pending"));
    cs_put_text(w, "kind", open->kind);
    cs_put_text(w, "risk", open->risk);
    cs_put_text(w, "why", open->why);
    cs_put_time(w, "created", open->created);
    cs_put_time(w, "expires", open->expires);
    cs_json_close(w, '}');
}

void cs_put_approvals(struct cs_json_writer *w, const struct cs_run *run)
{
    struct cs_run_approval first;
    size_t count = cs_run_approvals(run, &first, 1);
    if (!count)
        return;
    cs_json_key(w, "approval");
    put_open(w, &first);
    cs_put_number(w, "approvals_waiting", count);
}

size_t cs_put_open_approval(const struct cs_run *run, size_t i, struct cs_buf *out)
{
    struct cs_run_approval open[64];
    struct cs_json_writer w = CS_JSON_WRITER(out);
    size_t count = cs_run_approvals(run, open, CS_COUNT(open));
    if (count > CS_COUNT(open))
        count = CS_COUNT(open);
    if (i < count)
        put_open(&w, &open[i]);
    return count;
}

/* --- grants --- */

static void put_grant(struct cs_json_writer *w, const struct cs_grant_row *row)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_json_open(w, '{');
    cs_put_text(w, "id", row->id);
    cs_put_text(w, "scope", row->scope);
    cs_put_text(w, "principal", row->principal);
    cs_put_text(w, "actor_type", row->actor);
    cs_put_text(w, "session_id", row->session);
    cs_put_text(w, "server", row->server);
    cs_put_text(w, "tool", row->tool);
    if (row->arguments.len) {
        cs_json_key(w, "arguments");
        cs_json_put_raw(w, row->arguments);
    }
    cs_put_text(w, "match", cs_grant_match(row, &arena));
    cs_put_text(w, "by", row->by);
    cs_put_text(w, "approval_id", row->approval);
    cs_put_time(w, "created_at", row->created);
    cs_put_time(w, "expires_at", row->expires);
    cs_json_close(w, '}');
}

static void on_grants(void *ctx, const struct cs_err *err, const struct cs_grant_row *rows,
                      size_t count)
{
    struct cs_visit *v = ctx;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (err->code != CS_OK) {
        cs_visit_fail(v, 0, err);
        return;
    }
    cs_json_open(&w, '{');
    cs_json_key(&w, "grants");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count && i < v->limit; i++)
        put_grant(&w, &rows[i]);
    cs_json_close(&w, ']');
    cs_json_key(&w, "complete");
    cs_json_put_bool(&w, count <= v->limit);
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_grants(struct cs_visit *v)
{
    uint64_t limit = 0;
    if (!cs_visit_number(v, "limit", 1, GRANTS, GRANTS, &limit))
        return;
    v->limit = limit;
    cs_store_grants(v->rest->o.store, cs_visit_tenant(v), limit + 1, on_grants, v);
}

static void on_revoked(void *ctx, const struct cs_err *err)
{
    struct cs_visit *v = ctx;
    if (err->code == CS_MISSING)
        cs_visit_failf(v, 0, CS_MISSING, "there is no such grant, or it holds no longer");
    else if (err->code != CS_OK)
        cs_visit_fail(v, 0, err);
    else
        cs_visit_reply(v, 204, NULL, (struct cs_str){0});
}

void cs_rest_delete_grant(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (v->parts[0].len > ID_MAX) {
        cs_visit_failf(v, 0, CS_MISSING, "there is no such grant");
        return;
    }
    /* Canonical: no space, names sorted. */
    cs_json_open(&w, '{');
    cs_put_text(&w, "channel", CS_STR("rest"));
    cs_put_text(&w, "grant", v->parts[0]);
    cs_json_close(&w, '}');
    struct cs_entry entry = {.event = CS_STR("grant.revoked"),
                             .tenant = cs_visit_tenant(v),
                             .principal = cs_str(v->caller.principal),
                             .data = cs_buf_str(&data)};
    cs_store_grant_revoke(v->rest->o.store, cs_visit_tenant(v), v->parts[0], &entry, on_revoked, v);
}
