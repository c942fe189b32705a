#include "http/inside.h"

/*
 * All that wait for the same wait equally long, so a list in order of arrival is one in order of
 * deadlines: to enter and to leave costs nothing, and one timer serves ten thousand connections.
 */

static void leave(struct cs_http *http, struct cs_waiter *w)
{
    if (w->wait == CS_WAIT_NOTHING)
        return;
    struct cs_waiters *list = &http->waiters[w->wait];
    *(w->before ? &w->before->after : &list->first) = w->after;
    *(w->after ? &w->after->before : &list->last) = w->before;
    w->before = w->after = NULL;
    w->wait = CS_WAIT_NOTHING;
}

static void arm(struct cs_http *http, uint64_t due)
{
    uint64_t now = uv_now(http->loop);
    http->armed = due;
    uv_timer_start(&http->timer, cs_http_on_timer, due > now ? due - now : 0, 0);
}

void cs_http_wait(struct cs_http *http, struct cs_waiter *w, enum cs_wait wait)
{
    leave(http, w);
    if (wait == CS_WAIT_NOTHING || http->closing)
        return;
    struct cs_waiters *list = &http->waiters[wait];
    w->wait = wait;
    w->due = uv_now(http->loop) + list->ms;
    w->before = list->last;
    *(list->last ? &list->last->after : &list->first) = w;
    list->last = w;
    if (http->armed == 0 || w->due < http->armed)
        arm(http, w->due);
}

void cs_http_on_timer(uv_timer_t *timer)
{
    struct cs_http *http = timer->data;
    uint64_t now = uv_now(http->loop), next = 0;
    http->armed = 0;
    for (enum cs_wait wait = CS_WAIT_IDLE; wait < CS_WAITS; wait++) {
        struct cs_waiters *list = &http->waiters[wait];
        while (list->first && list->first->due <= now) {
            struct cs_waiter *w = list->first;
            leave(http, w);
            cs_http_on_due((struct cs_connection *)w, wait);
        }
        if (list->first && (next == 0 || list->first->due < next))
            next = list->first->due;
    }
    if (next && !http->closing && (http->armed == 0 || next < http->armed))
        arm(http, next);
}
