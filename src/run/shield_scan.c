/* A large text is looked at in the thread pool; what is done about it happens on the loop. */
#include "base/mem.h"
#include "run/shield.h"

static void look_work(uv_work_t *w)
{
    struct cs_look *l = w->data;
    uint64_t start = uv_hrtime();
    cs_scan(l->detector, l->level, l->form, cs_buf_str(&l->text), &l->spans);
    l->us = (uv_hrtime() - start) / 1000;
}

static void look_done(uv_work_t *w, int status)
{
    struct cs_look *l = w->data;
    (void)status;
    if (l->ctx)
        l->done(l->ctx, l);
    cs_detector_unref(l->detector);
    cs_spans_done(&l->spans);
    cs_buf_wipe(&l->text); /* it held values */
    free(l);
}

struct cs_look *cs_look_start(uv_loop_t *loop, struct cs_detector *detector,
                              enum cs_privacy_level level, enum cs_form form, struct cs_str text,
                              void (*done)(void *ctx, struct cs_look *look), void *ctx)
{
    struct cs_look *l = CS_NEW(struct cs_look);
    l->detector = cs_detector_ref(detector);
    l->level = level;
    l->form = form;
    l->done = done;
    l->ctx = ctx;
    l->work.data = l;
    cs_buf_putstr(&l->text, text);
    uv_queue_work(loop, &l->work, look_work, look_done);
    return l;
}
