/* What a call says while it works: progress and logs. */
#include <math.h>

#include "mcp/proto.h"

/* A little more: it must grow, whatever the program says. */
static double more(double progress)
{
    double next = (floor(progress * 1000) + 1) / 1000;
    return next > progress ? next : nextafter(progress, INFINITY);
}

static bool hears_progress(const struct cs_req *r)
{
    /* A task of the newest revision has its own words for that. */
    return r->token[0] && (r->id[0] || (r->task && r->task->old));
}

static void say(struct cs_req *r)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = cs_rpc_begin(&out, "notifications/progress");
    r->waits = false;
    r->said = true;
    r->said_at = cs_mcp_now();
    cs_json_key(&w, "progressToken");
    cs_json_put_raw(&w, cs_str(r->token));
    cs_json_key(&w, "progress");
    cs_json_put_f64(&w, r->progress);
    if (r->total >= 0) {
        cs_json_key(&w, "total");
        cs_json_put_f64(&w, r->total);
    }
    if (r->words.len > 0) {
        cs_json_key(&w, "message");
        cs_json_put_str(&w, cs_buf_str(&r->words));
    }
    if (r->task) {
        CS_AUTO_BUF struct cs_buf meta = {0};
        cs_task_put_related(r->task, &meta);
        cs_json_key(&w, "_meta");
        cs_json_open(&w, '{');
        cs_json_put_raw(&w, cs_buf_str(&meta));
        cs_json_close(&w, '}');
    }
    cs_rpc_end(&w);
    cs_req_say(r, cs_buf_str(&out), true);
}

void cs_progress_flush(struct cs_req *r)
{
    if (r->waits && hears_progress(r))
        say(r);
    r->waits = false;
}

void cs_mcp_progress(struct cs_mcp_call *call, double progress, double total, struct cs_str message)
{
    struct cs_req *r = (struct cs_req *)call;
    if (r->ending || r->over || !isfinite(progress))
        return;
    if (r->task && message.len > 0) {
        cs_buf_clear(&r->task->message);
        cs_buf_putstr(&r->task->message, message);
    }
    if (!r->token[0]) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&text);
        if (message.len > 0)
            cs_json_put_str(&w, message);
        else
            cs_json_put_f64(&w, progress);
        cs_mcp_log(call, "info", NULL, cs_buf_str(&text));
        return;
    }
    bool first = !r->said && !r->waits;
    r->progress = first || progress > r->progress ? progress : more(r->progress);
    r->total = isfinite(total) ? total : -1;
    cs_buf_clear(&r->words);
    cs_buf_putstr(&r->words, message);
    if (!hears_progress(r))
        return;
    if (!r->said || cs_mcp_now() - r->said_at >= CS_PROGRESS_PACE) {
        say(r);
        return;
    }
    r->waits = true;
    cs_mcp_later(r->call.mcp);
}

void cs_progress_pace(struct cs_mcp *m)
{
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next)
        cs_progress_flush(CS_OF(l, struct cs_req, all));
}

/* A client that resets its clock by progress must not give up on a call that is well. */
void cs_progress_tick(struct cs_req *r, uint64_t now)
{
    if (r->ending || r->over || r->own || !hears_progress(r) || now - r->said_at < CS_HEARTBEAT)
        return;
    if (!r->said) {
        r->progress = 0;
        r->total = -1;
    } else {
        r->progress = more(r->progress);
    }
    say(r);
}

void cs_mcp_log(struct cs_mcp_call *call, const char *level, const char *logger, struct cs_str data)
{
    struct cs_req *r = (struct cs_req *)call;
    CS_AUTO_BUF struct cs_buf out = {0};
    if (r->ending || !r->peer || !r->id[0])
        return;
    int wanted = r->version == CS_VMODERN ? r->level : r->peer->level;
    if (wanted > 7 || cs_level_find(cs_str(level)) < wanted)
        return;
    uint64_t second = cs_mcp_now() / 1000;
    r->log_count = second == r->log_second ? r->log_count + 1 : 0;
    r->log_second = second;
    if (r->log_count >= CS_LOGS_A_SECOND)
        return;
    struct cs_json_writer w = cs_rpc_begin(&out, "notifications/message");
    cs_json_key(&w, "level");
    cs_json_put_z(&w, level);
    if (logger) {
        cs_json_key(&w, "logger");
        cs_json_put_z(&w, logger);
    }
    cs_json_key(&w, "data");
    cs_json_put_raw(&w, data);
    cs_rpc_end(&w);
    cs_req_say(r, cs_buf_str(&out), true);
}
