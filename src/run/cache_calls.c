/*
 * Results of tools that the policy says are good for a while: the section `cache` of its tools.
 * They stand on the same shelf as answers, under the tenant, the tool as it is, and the arguments.
 * They are as the tool gave them, in memory alone; whoever gets one has it masked for himself.
 */
#include "base/canon.h"
#include "base/time.h"
#include "run/cache.h"

#define FORMAT    "caisson result 1\n"
#define VALUE_MAX (4u << 20)

struct kept_result {
    struct cs_shelf_item item;
    enum cs_answer answer;
    struct cs_str value;
};

static void key_of(struct cs_gate_call *c)
{
    const struct cs_run *run = c->run;
    unsigned char part[CS_SHA256];
    CS_AUTO_BUF struct cs_buf all = {0};
    cs_buf_puts(&all, FORMAT);
    cs_sha256(run->tenant, part);
    cs_buf_put(&all, part, sizeof part);
    cs_cache_tool_hash(c->tool, part);
    cs_buf_put(&all, part, sizeof part);
    cs_buf_put(&all, cs_policy_hash(run->policy), CS_SHA256);
    cs_canon_hash(cs_buf_str(&c->arguments), part);
    cs_buf_put(&all, part, sizeof part);
    cs_sha256(cs_buf_str(&all), c->cache_key);
}

bool cs_cache_call(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    struct cs_runner *r = run->runner;
    enum cs_cache_mode mode = run->request.cache;
    struct cs_target target = cs_gate_target(c->tool);
    c->keep_ms = 0;
    if (mode == CS_CACHE_OFF || !cs_cache_is_on(r))
        return false;
    if (run->shield && cs_token_like(cs_buf_str(&c->arguments)))
        return false; /* the same tokens are other values elsewhere */
    c->keep_ms = cs_policy_keep_ms(c->run->policy, &target);
    if (!c->keep_ms)
        return false;
    key_of(c);
    if (mode == CS_CACHE_REFRESH)
        return false;
    const struct kept_result *k =
        (struct kept_result *)cs_shelf_find(cs_cache_shelf(r), c->cache_key, cs_time_ms());
    /* A guest gets no text that it would have to look into itself. */
    if (!k || !cs_str_eq(k->item.tenant, run->tenant) || k->value.len > c->limits.result ||
        (run->result.is_guest && k->answer != CS_ANSWER_OK))
        return false;
    run->records[c->record].cached = true;
    c->keep_ms = 0;
    cs_gate_deliver(c, k->answer, k->value, (struct cs_json_val){0});
    return true;
}

void cs_cache_called(struct cs_gate_call *c, enum cs_answer answer, struct cs_str value)
{
    struct cs_runner *r = c->run->runner;
    if (!c->keep_ms || value.len > VALUE_MAX || !cs_cache_is_on(r))
        return;
    struct kept_result *k = cs_shelf_item_new(sizeof *k, c->cache_key, c->run->tenant);
    k->answer = answer;
    k->value = cs_shelf_copy(&k->item, value);
    k->item.created = cs_time_ms();
    k->item.expires = k->item.created + c->keep_ms;
    cs_shelf_put(cs_cache_shelf(r), &k->item);
    cs_shelf_item_unref(&k->item);
}
