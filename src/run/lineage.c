/*
 * What an execution has read and heard, so that what it leaves behind can be traced back to it.
 *
 * An artifact that was opened is put down at once: should this process die, whoever goes on with
 * the execution does not open it again. Inputs and calls are put down when it is over, and only if
 * there is something to trace.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "run/inside.h"

#define CALLS_MOST 1000 /* those after them are not traced */
#define READS_MOST 1000

struct cs_lineage {
    struct cs_str *read; /* ids of artifacts, in the run's arena */
    uint32_t count, cap;
};

static bool seen_before(struct cs_run *run, struct cs_str id)
{
    struct cs_lineage *l = run->lineage;
    for (uint32_t i = 0; l && i < l->count; i++)
        if (cs_str_eq(l->read[i], id))
            return true;
    return false;
}

static bool note_read(struct cs_run *run, struct cs_str id)
{
    if (!run->lineage)
        run->lineage = CS_NEW(struct cs_lineage);
    struct cs_lineage *l = run->lineage;
    if (l->count == READS_MOST)
        return false;
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->read = cs_realloc(l->read, l->cap, sizeof *l->read);
    }
    l->read[l->count++] = cs_arena_dup(&run->arena, id);
    return true;
}

void cs_lineage_read(struct cs_run *run, const struct cs_artifact_row *row)
{
    if (!run->on_record || seen_before(run, row->id) || !note_read(run, row->id))
        return;
    struct cs_source source = {.kind = CS_STR("artifact"), .name = row->id};
    memcpy(source.hash, row->hash, sizeof source.hash);
    cs_store_sources_add(run->runner->store, run->tenant, cs_str(run->result.execution_id), &source,
                         1, NULL, NULL);
}

/* Empty ones are not worth a line. */
static bool has_inputs(const struct cs_run *run)
{
    static const unsigned char none[32];
    unsigned char empty[32];
    cs_sha256(CS_STR("{}"), empty);
    const unsigned char *hash = run->result.provenance.inputs_hash;
    return memcmp(hash, none, sizeof none) != 0 && memcmp(hash, empty, sizeof empty) != 0;
}

static bool was_answered(const struct cs_call *c)
{
    return c->status == CS_CALL_OK || c->status == CS_CALL_ERROR;
}

static size_t gather(struct cs_run *run, struct cs_source *sources)
{
    const struct cs_result *r = &run->result;
    size_t count = 0;
    if (r->session_id.len)
        sources[count++] = (struct cs_source){.kind = CS_STR("session"), .name = r->session_id};
    if (has_inputs(run)) {
        struct cs_source *s = &sources[count++];
        *s = (struct cs_source){.kind = CS_STR("input"), .name = CS_STR("inputs")};
        memcpy(s->hash, r->provenance.inputs_hash, sizeof s->hash);
    }
    for (uint32_t i = 0; i < r->tool_calls && count < CALLS_MOST; i++) {
        const struct cs_call *c = &r->calls[i];
        if (!was_answered(c))
            continue;
        struct cs_source *s = &sources[count++];
        *s = (struct cs_source){
            .kind = CS_STR("call"),
            .name = cs_str(cs_arena_printf(&run->arena, "%.*s/%.*s#%u", CS_STR_ARG(c->server),
                                           CS_STR_ARG(c->tool), i + 1)),
        };
        memcpy(s->hash, c->result_hash, sizeof s->hash);
        memcpy(s->arguments, c->argument_hash, sizeof s->arguments);
    }
    return count;
}

int cs_step_trace(struct cs_run *run, struct cs_err *err)
{
    const struct cs_result *r = &run->result;
    (void)err;
    if (!run->on_record || r->refused || r->cached_from.len ||
        (!r->artifact_count && !run->lineage))
        return CS_ON;
    CS_AUTO_FREE struct cs_source *sources = cs_calloc(CALLS_MOST + 2, sizeof *sources);
    size_t count = gather(run, sources);
    if (count)
        cs_store_sources_add(run->runner->store, run->tenant, cs_str(r->execution_id), sources,
                             count, NULL, NULL);
    return CS_ON;
}

void cs_lineage_done(struct cs_run *run)
{
    if (run->lineage)
        free(run->lineage->read);
    free(run->lineage);
}
