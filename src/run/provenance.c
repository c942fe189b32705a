/* Where a result comes from: what ran, on whose word, with which tools, and what came out of it. */
#include "base/canon.h"
#include "base/hash.h"
#include "base/time.h"
#include "run/inside.h"

void cs_provenance_begin(struct cs_run *run)
{
    struct cs_provenance *p = &run->result.provenance;
    const struct cs_request *r = &run->request;
    cs_sha256(r->code, p->code_hash);
    p->actor_id = run->principal;
    p->actor_type = r->actor_type.len ? cs_arena_dup(&run->arena, r->actor_type) : CS_STR("local");
}

void cs_provenance_inputs(struct cs_run *run)
{
    struct cs_str inputs = run->request.inputs;
    cs_canon_hash(inputs.len ? inputs : CS_STR("{}"), run->result.provenance.inputs_hash);
}

static bool same_tool(const struct cs_call *a, const struct cs_call *b)
{
    return cs_str_eq(a->tool, b->tool) && cs_str_eq(a->server, b->server);
}

/* Programs call few tools often: each is compared with the first call of each of the others. */
static void gather_tools(struct cs_run *run)
{
    struct cs_result *r = &run->result;
    struct cs_provenance *p = &r->provenance;
    uint32_t *firsts = cs_arena_alloc(&run->arena, (r->tool_calls + 1) * sizeof *firsts);
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        uint32_t at = 0;
        while (at < count && !same_tool(&r->calls[firsts[at]], &r->calls[i]))
            at++;
        if (at == count)
            firsts[count++] = i;
    }
    struct cs_str *ids = cs_arena_alloc(&run->arena, (count + 1) * sizeof *ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_call *c = &r->calls[firsts[i]];
        ids[i] = cs_str(
            cs_arena_printf(&run->arena, "%.*s/%.*s", CS_STR_ARG(c->server), CS_STR_ARG(c->tool)));
    }
    p->tool_ids = ids;
    p->tool_count = count;
}

void cs_provenance_fill(struct cs_run *run)
{
    struct cs_result *r = &run->result;
    struct cs_provenance *p = &r->provenance;
    p->timestamp = cs_time_ms();
    if (r->cached_from.len && !r->failed)
        return; /* the rest is that of the answer which it was given */
    gather_tools(run);
    if (r->failed) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "%s: %.*s", cs_error_type_name(r->error.type),
                      CS_STR_ARG(r->error.message));
        cs_sha256(cs_buf_str(&text), p->outputs_hash);
    } else {
        cs_canon_hash(r->value.len ? r->value : CS_STR("null"), p->outputs_hash);
    }
}
