#include "front/file_watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 1000

static struct stat look(const char *path)
{
    struct stat st;
    if (!*path || stat(path, &st) < 0)
        memset(&st, 0, sizeof st);
    return st;
}

static bool same_moment(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mode == b->st_mode && same_moment(a->st_mtim, b->st_mtim) &&
           same_moment(a->st_ctim, b->st_ctim);
}

void cs_file_watch_set(struct cs_file_watch *w, const char *path)
{
    if (strcmp(w->path, path) == 0)
        return;
    snprintf(w->path, sizeof w->path, "%s", path);
    w->seen = look(w->path);
}

static void on_tick(uv_timer_t *t)
{
    struct cs_file_watch *w = t->data;
    struct stat now = look(w->path);
    if (same(&w->seen, &now))
        return;
    w->seen = now; /* before it is read: what changes meanwhile is seen next time */
    w->changed(w->ctx);
}

void cs_file_watch_start(struct cs_file_watch *w, uv_loop_t *loop, void (*changed)(void *ctx),
                         void *ctx)
{
    w->changed = changed;
    w->ctx = ctx;
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    uv_timer_start(&w->timer, on_tick, LOOK_MS, LOOK_MS);
}

void cs_file_watch_close(struct cs_file_watch *w)
{
    if (!uv_is_closing((uv_handle_t *)&w->timer))
        uv_close((uv_handle_t *)&w->timer, NULL);
}
