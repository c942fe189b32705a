/*
 * Inside of front/: a file that is looked at every second, which need not be there. Unlike
 * uv_fs_poll what is compared with is known from the moment it is set, and another file may be set
 * at any time, also by the one who is told.
 *
 * Runs in: daemon, loop thread. Blocks for one stat.
 */
#ifndef CS_FRONT_FILE_WATCH_H
#define CS_FRONT_FILE_WATCH_H

#include <sys/stat.h>
#include <uv.h>

#include "front/data.h"

struct cs_file_watch {
    uv_timer_t timer;
    char path[CS_DATA_PATH]; /* "": none */
    struct stat seen;        /* all zero: it is not there */
    void (*changed)(void *ctx);
    void *ctx;
};

/* How the file is now is what later looks are compared with. The same path again changes nothing.
 */
void cs_file_watch_set(struct cs_file_watch *w, const char *path);
/* Begins to look; `changed`: it is another one, has appeared, or is gone. */
void cs_file_watch_start(struct cs_file_watch *w, uv_loop_t *loop, void (*changed)(void *ctx),
                         void *ctx);
void cs_file_watch_close(struct cs_file_watch *w);

#endif
