/* Reading the configuration may run commands and read files, so it happens in the thread pool. */
#include "base/mem.h"
#include "tools/inside.h"

struct cs_load {
    uv_work_t work;
    struct cs_tools *tools;
    struct cs_config_box *written, *expanded;
    struct cs_err err;
    int status;
};

static void read_file(uv_work_t *work)
{
    struct cs_load *l = work->data;
    const char *path = l->tools->config_path;
    l->status = cs_config_peek(path, &l->written->config, &l->err);
    if (l->status == 0)
        l->status = cs_config_load(path, &l->expanded->config, &l->err);
}

static void box_free(struct cs_config_box *box)
{
    cs_config_done(&box->config);
    free(box);
}

static void on_read(uv_work_t *work, int status)
{
    (void)status;
    struct cs_load *l = work->data;
    struct cs_tools *t = l->tools;
    t->load = NULL;
    cs_tools_loaded(t, l->written, l->expanded, l->status < 0 ? &l->err : NULL);
    box_free(l->written);
    if (l->expanded->refs == 0)
        box_free(l->expanded);
    free(l);
}

void cs_tools_load(struct cs_tools *t)
{
    if (t->load) {
        t->reload = true;
        return;
    }
    struct cs_load *l = CS_NEW(struct cs_load);
    l->tools = t;
    l->written = CS_NEW(struct cs_config_box);
    l->expanded = CS_NEW(struct cs_config_box);
    l->work.data = l;
    t->load = l;
    uv_queue_work(t->loop, &l->work, read_file, on_read);
}
