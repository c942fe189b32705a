/* Tasks in the form of revision 2025-11-25. */
#include "mcp/proto.h"

#define PAGE 100

void cs_tasks_old_get(struct cs_req *r)
{
    cs_tasks_get(r);
}

void cs_task_put_related(const struct cs_task *t, struct cs_buf *meta)
{
    struct cs_json_writer w = CS_JSON_WRITER(meta);
    cs_buf_puts(meta, "\"io.modelcontextprotocol/related-task\":");
    cs_json_open(&w, '{');
    cs_json_key(&w, "taskId");
    cs_json_put_z(&w, t->id);
    cs_json_close(&w, '}');
}

void cs_tasks_old_give(struct cs_req *r, const struct cs_task *t)
{
    CS_AUTO_BUF struct cs_buf meta = {0}, out = {0};
    cs_link_off(&r->waiting);
    r->waits_for = NULL;
    if (t->status == CS_TASK_CANCELLED) {
        cs_mcp_error(&r->call, CS_RPC_INTERNAL, "the task was cancelled", (struct cs_str){0});
        return;
    }
    if (t->status == CS_TASK_FAILED) {
        cs_req_deliver(r, true, cs_buf_str(&t->outcome), 200);
        cs_req_free(r);
        return;
    }
    cs_task_put_related(t, &meta);
    cs_rpc_splice(cs_buf_str(&t->outcome), (struct cs_str){0}, cs_buf_str(&meta), &out);
    cs_mcp_result(&r->call, cs_buf_str(&out));
}

void cs_tasks_old_result(struct cs_req *r)
{
    struct cs_task *t = cs_task_wanted(r, CS_RECALL_RESULT);
    if (!t)
        return;
    if (!t->req) {
        cs_tasks_old_give(r, t);
        return;
    }
    r->waits_for = t;
    cs_link_before(&t->waiting, &r->waiting);
    cs_ask_send_old(t->req, r);
}

void cs_tasks_old_cancel(struct cs_req *r)
{
    struct cs_task *t = cs_task_wanted(r, CS_RECALL_CANCEL);
    if (!t)
        return;
    if (!t->req) {
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "the task is over and cannot be cancelled",
                     (struct cs_str){0});
        return;
    }
    cs_task_cancel(t);
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_task_put_old(t, &w);
    cs_json_close(&w, '}');
    cs_mcp_result(&r->call, cs_buf_str(&out));
}

/* A cursor is the id of the last one shown. */
void cs_tasks_old_list(struct cs_req *r)
{
    struct cs_mcp *m = r->call.mcp;
    struct cs_json_val cursor = cs_json_get(r->call.params, "cursor");
    struct cs_link *l = m->tasks.next;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    if (cs_json_type(cursor) != CS_JSON_NONE) {
        struct cs_task *last =
            cs_task_find(m, &r->call.caller, cs_json_str(cursor, &r->call.arena));
        if (!last) {
            cs_mcp_error(&r->call, CS_RPC_PARAMS, "params.cursor is none of ours, or too old",
                         (struct cs_str){0});
            return;
        }
        l = last->link.next;
    }
    const struct cs_task *last = NULL;
    size_t count = 0;
    cs_json_open(&w, '{');
    cs_json_key(&w, "tasks");
    cs_json_open(&w, '[');
    for (; l != &m->tasks; l = l->next) {
        const struct cs_task *t = CS_OF(l, struct cs_task, link);
        if (!cs_caller_same(&t->caller, &r->call.caller))
            continue;
        if (count++ == PAGE)
            break;
        last = t;
        cs_json_open(&w, '{');
        cs_task_put_old(t, &w);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    if (count > PAGE && last) {
        cs_json_key(&w, "nextCursor");
        cs_json_put_z(&w, last->id);
    }
    cs_json_close(&w, '}');
    cs_mcp_result(&r->call, cs_buf_str(&out));
}
