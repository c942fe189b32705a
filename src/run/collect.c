/*
 * Files of /workspace/out become artifacts, one after the other: read in the pool, given to the
 * store, and not waited for before the next one is read, unless they are large. What the store
 * refuses is left out, and the envelope says so.
 */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/shield.h"

#define BYTES_UNDER_WAY (32u << 20)

struct collect {
    struct cs_run *run;
    struct cs_harvest *harvest;
    uv_work_t work;
    bool working;
    uint32_t next;         /* file to be read */
    struct cs_buf content; /* of the one that was read; */
    struct cs_str media_type;
    struct cs_err err;
    uint64_t bytes; /* given to the store and not answered yet */
    uint32_t under_way;
    uint32_t first;                   /* of the run's artifacts that are ours, */
    uint32_t files[CS_HARVEST_FILES]; /* and which file each of them is */
};

struct given {
    struct collect *collect;
    uint32_t file;
};

static void go_on(struct collect *c);

static void free_work(uv_work_t *w)
{
    struct collect *c = w->data;
    cs_harvest_free(CS_TAKE(c->harvest));
}

static void free_done(uv_work_t *w, int status)
{
    struct collect *c = w->data;
    struct cs_run *run = c->run;
    (void)status;
    cs_buf_done(&c->content);
    free(c);
    cs_run_go(run);
}

static void leave_out(struct collect *c, uint32_t file, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf why = {0}, buf = {0};
    struct cs_str name = cs_shield_name(c->run, c->harvest->files[file].name, &buf);
    cs_buf_printf(&why, "'%.*s': %s", CS_STR_ARG(name), err->msg);
    cs_artifact_left_out(c->run, cs_buf_str(&why));
}

/* Answers come as they come; the artifacts are in the order of their files all the same. */
static void put_in_order(struct collect *c, uint32_t file)
{
    uint32_t at = c->run->result.artifact_count - c->first - 1;
    struct cs_artifact *list = c->run->artifacts + c->first, last = list[at];
    for (; at && c->files[at - 1] > file; at--) {
        list[at] = list[at - 1];
        c->files[at] = c->files[at - 1];
    }
    list[at] = last;
    c->files[at] = file;
}

static void on_added(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                     size_t count, struct cs_str content)
{
    struct given given = *(struct given *)ctx;
    struct collect *c = given.collect;
    (void)content;
    free(ctx);
    c->under_way--;
    c->bytes -= c->harvest->files[given.file].size;
    if (err->code == CS_OK && count) {
        cs_artifact_kept(c->run, rows);
        put_in_order(c, given.file);
    } else {
        leave_out(c, given.file, err);
    }
    go_on(c);
}

static void give(struct collect *c, uint32_t file)
{
    struct given *given = CS_NEW(struct given);
    *given = (struct given){c, file};
    c->under_way++;
    c->bytes += c->harvest->files[file].size;
    struct cs_artifact_want want = {.name = c->harvest->files[file].name,
                                    .media_type = c->media_type,
                                    .content = cs_buf_str(&c->content),
                                    .kind = "file"};
    cs_artifact_keep(c->run, &want, on_added, given);
}

static void read_work(uv_work_t *w)
{
    struct collect *c = w->data;
    CS_AUTO_FD int fd = cs_harvest_open(c->harvest, c->next);
    cs_buf_clear(&c->content);
    c->err = (struct cs_err){0};
    if (fd < 0)
        cs_fail_errno(&c->err, "it cannot be read");
    else if (cs_file_read_fd(fd, CS_HARVEST_BYTES, &c->content, &c->err) == 0)
        c->media_type = cs_media_type(c->harvest->files[c->next].name, cs_buf_str(&c->content));
}

static void read_done(uv_work_t *w, int status)
{
    struct collect *c = w->data;
    (void)status;
    uint32_t file = c->next++;
    c->working = false;
    if (c->err.code)
        leave_out(c, file, &c->err);
    else
        give(c, file);
    go_on(c);
}

static void in_pool(struct collect *c, uv_work_cb work, uv_after_work_cb done)
{
    c->working = true;
    c->work.data = c;
    uv_queue_work(c->run->runner->loop, &c->work, work, done);
}

static void go_on(struct collect *c)
{
    if (c->working)
        return;
    if (c->next < c->harvest->count && c->bytes < BYTES_UNDER_WAY)
        in_pool(c, read_work, read_done);
    else if (!c->under_way)
        in_pool(c, free_work, free_done);
}

int cs_step_collect(struct cs_run *run, struct cs_err *err)
{
    struct cs_harvest *h = CS_TAKE(run->harvest);
    (void)err;
    if (!h)
        return CS_ON;
    struct collect *c = CS_NEW(struct collect);
    c->run = run;
    c->harvest = h;
    c->first = run->result.artifact_count;
    for (uint32_t i = 0; i < h->note_count; i++)
        cs_artifact_left_out(run, cs_str(h->notes[i]));
    run->result.left_out_count += h->left_out - h->note_count;
    if (!run->on_record || run->result.refused)
        c->next = h->count; /* nothing is kept of it */
    go_on(c);
    return CS_LATER;
}
