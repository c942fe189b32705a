/*
 * What an execution leaves behind is kept under handles, which later programs open: storage.c.
 * Here: a result or output that is too large for an answer, and what all artifacts have in common.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/guard.h"
#include "run/shield.h"

#define WHY_BYTES 300
#define RECALLED  1000

void cs_artifact_id(const struct cs_run *run, struct cs_str arguments, char id[CS_ID_TEXT])
{
    unsigned char both[CS_ID_TEXT + 32] = {0}, hash[32];
    snprintf((char *)both, CS_ID_TEXT, "%s", run->result.execution_id);
    cs_sha256(arguments, both + CS_ID_TEXT);
    cs_sha256(cs_strn((const char *)both, sizeof both), hash);
    memcpy(id, "art_", 4);
    cs_hex(hash, 16, id + 4);
}

void cs_artifact_keep(struct cs_run *run, const struct cs_artifact_want *want,
                      cs_artifact_found *done, void *ctx)
{
    char id[CS_ID_TEXT];
    CS_AUTO_BUF struct cs_buf came = {0}, name = {0};
    if (!want->id)
        cs_make_id("art_", id);
    cs_flows_put(run, &came);
    struct cs_artifact_row row = {
        .id = cs_str(want->id ? want->id : id),
        .tenant = run->tenant,
        .execution = cs_str(run->result.execution_id),
        .session = run->result.session_id,
        .name = cs_shield_name(run, want->name, &name),
        .media_type = want->media_type,
        .kind = cs_str(want->kind),
        .size = want->content.len,
        .created = cs_time_ms(),
        .quota = run->runner->artifact_quota,
        .came = cs_buf_str(&came),
    };
    cs_store_artifact_add(run->runner->store, &row, want->content, done, ctx);
}

static const char *kind_of(struct cs_str kind)
{
    static const char *const kinds[] = {"result", "stdout", "file", "stored"};
    for (size_t i = 0; i < CS_COUNT(kinds); i++)
        if (cs_str_is(kind, kinds[i]))
            return kinds[i];
    return "result";
}

static bool is_known(const struct cs_run *run, struct cs_str id)
{
    for (uint32_t i = 0; i < run->result.artifact_count; i++)
        if (cs_str_eq(run->artifacts[i].id, id))
            return true;
    return false;
}

void cs_artifact_kept(struct cs_run *run, const struct cs_artifact_row *row)
{
    struct cs_result *r = &run->result;
    if (is_known(run, row->id))
        return;
    if (r->artifact_count == run->artifact_cap) {
        run->artifact_cap = run->artifact_cap ? run->artifact_cap * 2 : 4;
        run->artifacts = cs_realloc(run->artifacts, run->artifact_cap, sizeof *run->artifacts);
    }
    struct cs_artifact *a = &run->artifacts[r->artifact_count++];
    *a = (struct cs_artifact){
        .id = cs_arena_dup(&run->arena, row->id),
        .name = cs_arena_dup(&run->arena, row->name),
        .media_type = cs_arena_dup(&run->arena, row->media_type),
        .kind = kind_of(row->kind),
        .size = row->size,
    };
    memcpy(a->hash, row->hash, sizeof a->hash);
    r->artifacts = run->artifacts;
}

void cs_artifact_left_out(struct cs_run *run, struct cs_str why)
{
    struct cs_result *r = &run->result;
    r->left_out_count++;
    r->left_out = run->left_out;
    if (r->left_out_named == CS_COUNT(run->left_out))
        return;
    /* "'a name' is no file" */
    const char *end = why.len > 1 ? memrchr(why.at + 1, '\'', why.len - 1) : NULL;
    size_t len = end && why.at[0] == '\'' ? (size_t)(end - why.at - 1) : 0;
    CS_AUTO_BUF struct cs_buf text = {0}, name = {0};
    if (len) {
        struct cs_str shown = cs_shield_name(run, cs_strn(why.at + 1, len), &name);
        cs_buf_printf(&text, "'%.*s", CS_STR_ARG(shown));
        cs_buf_put(&text, end, why.len - len - 1);
        why = cs_buf_str(&text);
    }
    run->left_out[r->left_out_named++] = cs_arena_dup(&run->arena, cs_utf8_cut(why, WHY_BYTES));
}

void cs_artifacts_done(struct cs_run *run)
{
    free(run->artifacts);
}

/* --- of an execution that was resumed --- */

/* Values that its program had put are its own; what is made of its end is made once more. */
static void on_recalled(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                        size_t count, struct cs_str content)
{
    struct cs_run *run = ctx;
    (void)content;
    for (size_t i = err->code == CS_OK ? count : 0; i-- > 0;) {
        if (is_known(run, rows[i].id))
            continue;
        if (cs_str_is(rows[i].kind, "stored"))
            cs_artifact_kept(run, &rows[i]);
        else
            cs_store_artifact_remove(run->runner->store, run->tenant, rows[i].id, NULL, NULL);
    }
    cs_run_go(run);
}

int cs_step_recall(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    if (!run->resume || !run->on_record)
        return CS_ON;
    cs_store_artifacts(run->runner->store, run->tenant, (struct cs_str){0},
                       cs_str(run->result.execution_id), RECALLED, on_recalled, run);
    return CS_LATER;
}

/* --- results and streams --- */

/* The first of them that has not been looked at yet; -1: none is left. */
static int next_large(struct cs_run *run, struct cs_artifact_want *want)
{
    const struct cs_result *r = &run->result;
    uint64_t most = run->runner->artifact_bytes;
    while (run->kept < 2) {
        bool is_result = run->kept++ == 0;
        /* What a shell printed is its result. */
        bool there = is_result
                         ? !r->failed
                         : r->is_guest && (r->failed || !r->value.len || r->language != CS_BASH);
        want->content = is_result ? r->value : r->out;
        want->kind = is_result ? "result" : "stdout";
        want->name = cs_str(want->kind);
        want->media_type = is_result ? CS_STR("application/json") : CS_STR("text/plain");
        if (there && want->content.len > most)
            return 0;
    }
    return -1;
}

/* Without a handle the result is as good as before; a store that has failed says so again. */
static void on_kept(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                    size_t count, struct cs_str content)
{
    struct cs_run *run = ctx;
    (void)content;
    if (err->code == CS_OK && count)
        cs_artifact_kept(run, rows);
    else
        cs_artifact_left_out(
            run, cs_str(cs_arena_printf(&run->arena, "'%s': %s",
                                        run->kept == 1 ? "result" : "stdout", err->msg)));
    cs_run_go(run);
}

int cs_step_keep(struct cs_run *run, struct cs_err *err)
{
    struct cs_artifact_want want = {0};
    (void)err;
    if (!run->runner->store || !run->on_record || run->result.refused ||
        run->result.cached_from.len || next_large(run, &want) < 0)
        return CS_ON;
    run->step--; /* there may be another one */
    cs_artifact_keep(run, &want, on_kept, run);
    return CS_LATER;
}
