/* Calls that outlive their request: tasks, in the form of the newest revision (an extension). */
#include <time.h>

#include "base/mem.h"
#include "base/time.h"
#include "mcp/proto.h"

static const char *const names[] = {"working", "input_required", "completed", "failed",
                                    "cancelled"};

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, cs_time_text_ms(ms, text));
}

static bool is_final(const struct cs_task *t)
{
    return t->status >= CS_TASK_DONE;
}

struct cs_task *cs_task_find(struct cs_mcp *m, const struct cs_caller *caller, struct cs_str id)
{
    for (struct cs_link *l = m->tasks.next; l != &m->tasks; l = l->next) {
        struct cs_task *t = CS_OF(l, struct cs_task, link);
        if (cs_str_is(id, t->id) && cs_caller_same(caller, &t->caller))
            return t;
    }
    return NULL;
}

static void free_task(struct cs_task *t)
{
    cs_link_off(&t->link);
    cs_buf_done(&t->outcome);
    cs_buf_done(&t->message);
    free(t);
}

/* The oldest one that is over makes place. */
static void make_place(struct cs_mcp *m, const struct cs_caller *caller)
{
    struct cs_task *oldest = NULL;
    uint32_t count = 0;
    for (struct cs_link *l = m->tasks.next; l != &m->tasks; l = l->next) {
        struct cs_task *t = CS_OF(l, struct cs_task, link);
        if (!cs_caller_same(caller, &t->caller))
            continue;
        count++;
        if (!oldest && !t->req && cs_link_alone(&t->waiting))
            oldest = t;
    }
    if (count >= CS_CALLER_TASKS && oldest)
        free_task(oldest);
}

/* --- what is shown --- */

static bool is_error(const struct cs_task *t)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.depth = 4 * CS_DEPTH, .allow_duplicate = true};
    bool yes = false;
    if (!memmem(t->outcome.at, t->outcome.len, "\"isError\"", 9) ||
        cs_json_parse(cs_buf_str(&t->outcome), &limits, &doc, NULL) < 0)
        return false;
    return cs_json_bool(cs_json_get(cs_json_root(&doc), "isError"), &yes) && yes;
}

static void put_common(const struct cs_task *t, bool old, struct cs_json_writer *w)
{
    bool failed = old && t->status == CS_TASK_DONE && is_error(t);
    cs_json_key(w, "taskId");
    cs_json_put_z(w, t->id);
    cs_json_key(w, "status");
    cs_json_put_z(w, names[failed ? CS_TASK_FAILED : t->status]);
    if (t->message.len > 0) {
        cs_json_key(w, "statusMessage");
        cs_json_put_str(w, cs_buf_str(&t->message));
    }
    put_time(w, "createdAt", t->created);
    put_time(w, "lastUpdatedAt", t->updated);
    cs_json_key(w, old ? "ttl" : "ttlMs");
    cs_json_put_u64(w, t->ttl);
    cs_json_key(w, old ? "pollInterval" : "pollIntervalMs");
    cs_json_put_u64(w, 1000);
}

void cs_task_put_old(const struct cs_task *t, struct cs_json_writer *w)
{
    put_common(t, true, w);
}

void cs_task_put(const struct cs_task *t, struct cs_json_writer *w)
{
    put_common(t, false, w);
    if (t->status == CS_TASK_INPUT && t->req) {
        cs_json_key(w, "inputRequests");
        cs_ask_put(t->req, w);
    } else if (t->status == CS_TASK_DONE || t->status == CS_TASK_FAILED) {
        cs_json_key(w, t->status == CS_TASK_DONE ? "result" : "error");
        cs_json_put_raw(w, cs_buf_str(&t->outcome));
    }
}

/* --- life --- */

void cs_task_changed(struct cs_task *t)
{
    t->updated = cs_time_ms();
    cs_listen_task(t);
}

/* A session may end before its tasks do. */
static void go_home(struct cs_req *r)
{
    if (r->peer->kind != CS_PEER_SESSION)
        return;
    cs_link_off(&r->link);
    r->peer->req_count--;
    r->peer = cs_peer_crowd(r->call.mcp, &r->call.caller);
    r->peer->req_count++;
    cs_link_before(&r->peer->reqs, &r->link);
}

void cs_task_make(struct cs_req *r)
{
    CS_AUTO_BUF struct cs_buf result = {0}, out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    struct cs_mcp *m = r->call.mcp;
    make_place(m, &r->call.caller);
    struct cs_task *t = CS_NEW(struct cs_task);
    t->mcp = m;
    t->caller = r->call.caller;
    t->old = r->version != CS_VMODERN;
    t->ttl = r->ttl >= 0 ? (uint64_t)r->ttl : CS_TASK_TTL;
    t->until = cs_mcp_now() + t->ttl;
    t->created = t->updated = cs_time_ms();
    t->req = r;
    cs_link_init(&t->waiting);
    cs_link_before(&m->tasks, &t->link);
    if (r->task_id[0])
        memcpy(t->id, r->task_id, sizeof t->id);
    else
        cs_random_id(t->id);
    cs_progress_flush(r);
    r->task = t;
    r->task_at = 0;

    cs_json_open(&w, '{');
    if (t->old) {
        cs_json_key(&w, "task");
        cs_json_open(&w, '{');
        cs_task_put_old(t, &w);
        cs_json_close(&w, '}');
    } else {
        cs_task_put(t, &w);
    }
    cs_json_close(&w, '}');
    cs_req_dress(r, cs_buf_str(&result), "task", &out);
    cs_req_deliver(r, false, cs_buf_str(&out), 200);
    go_home(r);
}

void cs_mcp_may_be_task(struct cs_mcp_call *call, struct cs_str id)
{
    struct cs_req *r = (struct cs_req *)call;
    if (r->ending || r->over || r->task || id.len == 0 || id.len > CS_ID_BYTES || !r->offered ||
        strcmp(r->offered->name, "tools/call") != 0)
        return;
    memcpy(r->task_id, id.at, id.len);
    r->task_id[id.len] = '\0';
    if (r->ttl >= 0)
        cs_task_make(r);
    else if (r->speaks_tasks)
        r->task_at = cs_mcp_now() + CS_TASK_AFTER;
}

bool cs_mcp_task_now(struct cs_mcp_call *call, struct cs_str id)
{
    struct cs_req *r = (struct cs_req *)call;
    if (!r->task)
        cs_mcp_may_be_task(call, id);
    if (!r->task && r->speaks_tasks && r->id[0])
        cs_task_make(r);
    return r->task;
}

void cs_task_over(struct cs_req *r, bool failed, struct cs_str outcome)
{
    struct cs_task *t = r->task;
    uint64_t soonest = cs_mcp_now() + CS_ASK_WAIT;
    t->status = failed ? CS_TASK_FAILED : CS_TASK_DONE;
    cs_buf_putstr(&t->outcome, outcome);
    t->req = NULL;
    /* Whoever asks late has a chance. */
    if (t->until < soonest && !t->old)
        t->until = soonest;
    r->task = NULL;
    cs_req_free(r);
    cs_task_changed(t);
    while (!cs_link_alone(&t->waiting))
        cs_tasks_old_give(CS_OF(t->waiting.next, struct cs_req, waiting), t);
}

void cs_task_lost(struct cs_req *r)
{
    struct cs_task *t = r->task;
    r->task = NULL;
    t->req = NULL;
    t->status = CS_TASK_CANCELLED;
    cs_task_changed(t);
    while (!cs_link_alone(&t->waiting))
        cs_tasks_old_give(CS_OF(t->waiting.next, struct cs_req, waiting), t);
}

void cs_task_cancel(struct cs_task *t)
{
    if (t->req)
        cs_req_cancel(t->req);
}

void cs_task_asks(struct cs_task *t)
{
    if (is_final(t) || !t->req)
        return;
    t->status = t->req->open > 0 ? CS_TASK_INPUT : CS_TASK_WORKING;
    cs_task_changed(t);
}

void cs_tasks_tick(struct cs_mcp *m, uint64_t now)
{
    for (struct cs_link *l = m->reqs.next, *next; l != &m->reqs; l = next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        next = l->next;
        if (r->task_at && now >= r->task_at && r->id[0] && !r->parked && !r->ending && r->open == 0)
            cs_task_make(r);
    }
    for (struct cs_link *l = m->tasks.next, *next; l != &m->tasks; l = next) {
        struct cs_task *t = CS_OF(l, struct cs_task, link);
        next = l->next;
        if (!t->req && now > t->until && cs_link_alone(&t->waiting))
            free_task(t);
    }
}

void cs_tasks_close(struct cs_mcp *m)
{
    while (!cs_link_alone(&m->tasks))
        free_task(CS_OF(m->tasks.next, struct cs_task, link));
}

/* --- the methods --- */

struct cs_task *cs_task_wanted(struct cs_req *r, int how)
{
    struct cs_mcp *m = r->call.mcp;
    struct cs_json_val id = cs_json_get(r->call.params, "taskId");
    struct cs_str text = cs_json_str(id, &r->call.arena);
    if (r->version == CS_VMODERN && !r->speaks_tasks) {
        cs_req_needs(r, CS_STR("{\"extensions\":{\"" CS_TASKS_EXTENSION "\":{}}}"));
        return NULL;
    }
    if (text.len == 0 || text.len > CS_ID_BYTES) {
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "params.taskId is missing or no name of a task",
                     (struct cs_str){0});
        return NULL;
    }
    struct cs_task *t = cs_task_find(m, &r->call.caller, text);
    if (t)
        return t;
    if (m->offer->recall) {
        r->recall = how;
        memcpy(r->task_id, text.at, text.len);
        r->task_id[text.len] = '\0';
        m->offer->recall(&r->call, text);
    } else {
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "there is no such task", (struct cs_str){0});
    }
    return NULL;
}

static void show(struct cs_req *r, const struct cs_task *t)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    if (r->version == CS_VMODERN)
        cs_task_put(t, &w);
    else
        cs_task_put_old(t, &w);
    cs_json_close(&w, '}');
    cs_mcp_result(&r->call, cs_buf_str(&out));
}

/* The offer knew it: it is over, and this is its result. */
void cs_task_recalled(struct cs_req *r, bool failed, struct cs_str outcome)
{
    int how = r->recall;
    r->recall = CS_RECALL_NO;
    if (failed) {
        cs_req_deliver(r, true, outcome, 200);
        cs_req_free(r);
        return;
    }
    struct cs_task t = {.status = CS_TASK_DONE,
                        .old = r->version != CS_VMODERN,
                        .ttl = CS_TASK_TTL,
                        .created = cs_time_ms(),
                        .updated = cs_time_ms()};
    memcpy(t.id, r->task_id, sizeof t.id);
    cs_buf_putstr(&t.outcome, outcome);
    if (how == CS_RECALL_RESULT)
        cs_tasks_old_give(r, &t);
    else if (how == CS_RECALL_CANCEL && t.old)
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "the task is over", (struct cs_str){0});
    else if (how == CS_RECALL_CANCEL)
        cs_mcp_result(&r->call, CS_STR("{}"));
    else
        show(r, &t);
    cs_buf_done(&t.outcome);
}

void cs_tasks_get(struct cs_req *r)
{
    struct cs_task *t = cs_task_wanted(r, CS_RECALL_GET);
    if (t)
        show(r, t);
}

void cs_tasks_update(struct cs_req *r)
{
    struct cs_task *t = cs_task_wanted(r, CS_RECALL_CANCEL);
    if (!t)
        return;
    struct cs_json_val responses = cs_json_get(r->call.params, "inputResponses");
    if (cs_json_type(responses) != CS_JSON_OBJECT) {
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "params.inputResponses must be an object",
                     (struct cs_str){0});
        return;
    }
    if (t->req)
        cs_ask_take(t->req, responses);
    cs_mcp_result(&r->call, CS_STR("{}"));
}

void cs_tasks_cancel(struct cs_req *r)
{
    struct cs_task *t = cs_task_wanted(r, CS_RECALL_CANCEL);
    if (!t)
        return;
    cs_task_cancel(t);
    cs_mcp_result(&r->call, CS_STR("{}"));
}
