/* What is too large for an answer is kept under a handle, which a later program opens: storage.c.
 */
#include <stdio.h>

#include "base/time.h"
#include "run/inside.h"

static void on_kept(void *ctx, const struct cs_err *err)
{
    struct cs_run *run = ctx;
    /* Without a handle the result is as good as before; a store that has failed says so again. */
    if (err->code != CS_OK)
        run->result.artifact_count--;
    cs_run_go(run);
}

/* The first of them that has not been looked at yet; -1: none is left. */
static int next_large(struct cs_run *run, struct cs_artifact *a, struct cs_str *content)
{
    const struct cs_result *r = &run->result;
    uint64_t most = run->runner->artifact_bytes;
    while (run->kept < 2) {
        bool is_result = run->kept++ == 0;
        /* What a shell printed is its result. */
        bool there = is_result
                         ? !r->failed
                         : r->is_guest && (r->failed || !r->value.len || r->language != CS_BASH);
        *content = is_result ? r->value : r->out;
        a->name = is_result ? CS_STR("result") : CS_STR("stdout");
        a->media_type = is_result ? CS_STR("application/json") : CS_STR("text/plain");
        if (there && content->len > most)
            return 0;
    }
    return -1;
}

int cs_step_keep(struct cs_run *run, struct cs_err *err)
{
    struct cs_result *r = &run->result;
    struct cs_artifact *a = &run->artifacts[r->artifact_count];
    struct cs_str content;
    (void)err;
    if (!run->runner->store || r->refused || r->cached_from.len || next_large(run, a, &content) < 0)
        return CS_ON;
    char id[CS_ID_TEXT];
    cs_make_id("art_", id);
    a->id = cs_arena_dup(&run->arena, cs_str(id));
    a->size = content.len;
    r->artifacts = run->artifacts;
    r->artifact_count++;
    struct cs_artifact_row row = {
        .id = a->id,
        .tenant = run->tenant,
        .execution = cs_str(r->execution_id),
        .session = r->session_id,
        .name = a->name,
        .media_type = a->media_type,
        .size = a->size,
        .created = cs_time_ms(),
    };
    run->step--; /* there may be another one */
    cs_store_artifact_add(run->runner->store, &row, content, on_kept, run);
    return CS_LATER;
}
