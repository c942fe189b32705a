/*
 * Chat systems hear of questions to persons: posted when they are asked, and when they are over, to
 * the address and signed with the secret that the policy names. What is posted has tokens instead
 * of values, as the card has, and nothing of the program's text or of arguments. Answers come back
 * over REST, with a key of their own.
 *
 * Limits: 1,000 posts wait; a text has TEXT_BYTES.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "run/approvals.h"
#include "watch/inside.h"

#define POSTS      1000
#define TEXT_BYTES 3000

static const char *const states[] = {"approved", "denied", "expired", "withdrawn"};

struct cs_herald {
    struct cs_watch *watch;
    struct cs_poster *poster;
    uint64_t asked, over[sizeof states / sizeof *states];
    uint64_t waited_ms; /* of all that are over */
    bool unsigned_told;
    void (*closed)(struct cs_watch *watch);
};

/* The policy may have changed since the last one. */
static bool to_be_posted(struct cs_herald *a, const struct cs_approval_rules *rules)
{
    CS_AUTO_BUF struct cs_buf url = {0}, secret = {0};
    if (rules->webhook.len && !rules->secret.len && !a->unsigned_told) {
        a->unsigned_told = true;
        cs_log_line(CS_LOG_WARN, "approvals",
                    "approvals.webhook: nothing is posted without approvals.secret, by which the "
                    "other end knows that it comes from here");
    }
    bool posted = rules->webhook.len && rules->secret.len;
    if (posted) {
        cs_buf_putstr(&url, rules->webhook);
        cs_buf_putstr(&secret, rules->secret);
        cs_poster_sign(a->poster, cs_buf_cstr(&secret));
    }
    cs_poster_set(a->poster, posted ? cs_buf_cstr(&url) : NULL);
    return posted;
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

/* What a chat shows. */
static void put_words(const struct cs_approval_row *row, bool over, struct cs_buf *out)
{
    if (!over) {
        cs_approval_text(row, true, TEXT_BYTES, out);
        return;
    }
    cs_buf_printf(out, "Approval %.*s was %.*s", CS_STR_ARG(row->id), CS_STR_ARG(row->state));
    if (row->by.len)
        cs_buf_printf(out, " by %.*s (%.*s)", CS_STR_ARG(row->by), CS_STR_ARG(row->channel));
    if (row->reason.len)
        cs_buf_printf(out, ": %.*s", CS_STR_ARG(row->reason));
}

static void post(struct cs_herald *a, const struct cs_approval_row *row, bool over)
{
    struct cs_approval_rules rules = cs_policy_approvals(cs_runner_policy(a->watch->o.runner));
    CS_AUTO_BUF struct cs_buf approval = {0}, text = {0}, url = {0};
    struct cs_buf body = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&body);
    char now[CS_TIME_TEXT];
    if (!to_be_posted(a, &rules))
        return;
    cs_approval_json(row, false, &approval);
    put_words(row, over, &text);
    cs_json_open(&w, '{');
    put_text(&w, "event", over ? CS_STR("approval.over") : CS_STR("approval.asked"));
    put_text(&w, "time", cs_str(cs_time_text(cs_time_ms(), now)));
    put_text(&w, "tenant", row->tenant);
    cs_json_key(&w, "approval");
    cs_json_put_raw(&w, cs_buf_str(&approval));
    put_text(&w, "text", cs_buf_str(&text));
    if (rules.public_url.len) {
        cs_approval_url(&rules, row->id, &url);
        put_text(&w, "url", cs_buf_str(&url));
    }
    cs_json_close(&w, '}');
    cs_poster_send(a->poster, &body, 1);
}

static void on_asked(void *ctx, const struct cs_approval_row *row)
{
    struct cs_herald *a = ctx;
    a->asked++;
    post(a, row, false);
}

static void on_over(void *ctx, const struct cs_approval_row *row)
{
    struct cs_herald *a = ctx;
    for (size_t i = 0; i < CS_COUNT(states); i++)
        a->over[i] += cs_str_is(row->state, states[i]);
    if (row->decided > row->created)
        a->waited_ms += (uint64_t)(row->decided - row->created);
    post(a, row, true);
}

struct cs_herald *cs_herald_new(struct cs_watch *w)
{
    struct cs_herald *a = CS_NEW(struct cs_herald);
    a->watch = w;
    a->poster = cs_poster_new(w, "approvals", POSTS);
    const struct cs_approval_watcher watcher = {on_asked, on_over, a};
    if (w->o.runner)
        cs_approvals_watch(w->o.runner, &watcher);
    return a;
}

void cs_herald_metrics(const struct cs_herald *a, struct cs_buf *out)
{
    uint64_t over = 0;
    cs_metrics_counter(out, "caisson_approvals_asked_total", "Questions to persons.", a->asked);
    cs_metrics_head(out, "caisson_approvals_total", "counter", "Those that are over, and how.");
    for (size_t i = 0; i < CS_COUNT(states); i++) {
        over += a->over[i];
        cs_buf_printf(out, "caisson_approvals_total{state=\"%s\"} %llu\n", states[i],
                      (unsigned long long)a->over[i]);
    }
    cs_metrics_head(out, "caisson_approvals_pending", "gauge", "Those that are open now.");
    cs_buf_printf(out, "caisson_approvals_pending %llu\n",
                  (unsigned long long)(a->asked > over ? a->asked - over : 0));
    cs_metrics_head(out, "caisson_approvals_waited_seconds_total", "counter",
                    "How long executions waited for persons, all together.");
    cs_buf_printf(out, "caisson_approvals_waited_seconds_total %.3f\n",
                  (double)a->waited_ms / 1000);
    cs_metrics_counter(out, "caisson_approval_posts_total", "Posts that the webhook has taken.",
                       cs_poster_sent(a->poster));
    cs_metrics_counter(out, "caisson_approval_posts_dropped_total",
                       "Posts that could not be delivered to the webhook.",
                       cs_poster_dropped(a->poster));
}

static void on_poster_closed(struct cs_watch *w)
{
    struct cs_herald *a = w->herald;
    void (*closed)(struct cs_watch *) = a->closed;
    free(a);
    closed(w);
}

void cs_herald_close(struct cs_herald *a, void (*closed)(struct cs_watch *watch))
{
    a->closed = closed;
    if (a->watch->o.runner)
        cs_approvals_watch(a->watch->o.runner, &(struct cs_approval_watcher){0});
    cs_poster_close(a->poster, on_poster_closed);
}
