/* Executions change while they run: those who subscribed to one of their resources are told, now
 * and then. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/house.h"

#define TELL_MS    500 /* between two updates of one execution */
#define EXECUTIONS "caisson://executions/"

struct cs_follower {
    struct cs_follower *next, **link;
    struct cs_house *house;
    struct cs_run_seat *seat; /* NULL: it is over */
    uv_timer_t timer;
    char id[65], tenant[65];
};

static void on_follower_gone(uv_handle_t *h)
{
    free(h->data);
}

static void unfollow(struct cs_follower *f)
{
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    if (f->seat)
        cs_run_leave(f->seat);
    uv_close((uv_handle_t *)&f->timer, on_follower_gone);
}

void cs_followers_close(struct cs_house *house)
{
    while (house->followers)
        unfollow(house->followers);
}

static void tell(struct cs_follower *f, const char *piece)
{
    char uri[128];
    snprintf(uri, sizeof uri, EXECUTIONS "%s%s", f->id, piece);
    cs_mcp_resource_updated(f->house->mcp, cs_str(f->tenant), cs_str(uri));
}

static void on_tell(uv_timer_t *t)
{
    tell(t->data, "/logs");
}

/* The first change starts a clock; what comes until it strikes is told with it. */
static void changed(struct cs_follower *f)
{
    if (!uv_is_active((uv_handle_t *)&f->timer))
        uv_timer_start(&f->timer, on_tell, TELL_MS, 0);
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    (void)level, (void)text;
    changed(ctx);
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    (void)is_stderr, (void)bytes;
    changed(ctx);
}

static void on_end(void *ctx, const struct cs_result *result)
{
    struct cs_follower *f = ctx;
    (void)result;
    f->seat = NULL;
    tell(f, "");
    tell(f, "/logs");
    tell(f, "/result");
    unfollow(f);
}

void cs_house_follow(struct cs_house *house, struct cs_run *run, struct cs_str tenant)
{
    static const struct cs_run_watch watch = {.log = on_log, .output = on_output};
    for (struct cs_follower *f = house->followers; f; f = f->next)
        if (strcmp(f->id, cs_run_id(run)) == 0)
            return;
    struct cs_follower *f = CS_NEW(struct cs_follower);
    f->house = house;
    snprintf(f->id, sizeof f->id, "%s", cs_run_id(run));
    snprintf(f->tenant, sizeof f->tenant, "%.*s", CS_STR_ARG(tenant));
    uv_timer_init(cs_mcp_loop(house->mcp), &f->timer);
    f->timer.data = f;
    f->next = house->followers;
    f->link = &house->followers;
    if (f->next)
        f->next->link = &f->next;
    house->followers = f;
    f->seat = cs_run_join(run, &watch, on_end, f);
}

void cs_house_subscribed(struct cs_mcp *mcp, const struct cs_caller *caller, struct cs_str uri)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_house_uri parts = {0};
    struct cs_str tenant = cs_str(caller->tenant);
    if (!cs_house_uri(uri, &arena, &parts) || !cs_str_is(parts.kind, "executions"))
        return;
    struct cs_run *run = cs_run_find(cs_mcp_options(mcp)->runner, tenant, parts.first);
    if (run)
        cs_house_follow(cs_mcp_own(mcp), run, tenant);
}
