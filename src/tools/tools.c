/*
 * The servers of one configuration: each is started when it is first needed, what it lists becomes
 * its offer, and the offers together become the catalogue.
 *
 *     file --peek--> servers --cache--> offers --> catalogue        at once, nothing is started
 *     file --load--> values known --connect--> listed --> offers    later, when somebody needs it
 */
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "tools/inside.h"

/* Lists that come in together make one catalogue; what is learned may take its time. */
#define PUBLISH_MS 20
#define SAVE_MS    500
#define WATCH_MS   100
#define LINE_KEPT  (4u << 10)

static int compare_servers(const void *a, const void *b)
{
    const struct cs_server *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

struct cs_server *cs_tools_server(struct cs_tools *t, struct cs_str name)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *at = t->servers[middle]->name;
        size_t len = strlen(at), n = name.len < len ? name.len : len;
        int order = memcmp(name.at, at, n);
        if (order == 0 && name.len == len)
            return t->servers[middle];
        bool less = order < 0 || (order == 0 && name.len < len);
        *(less ? &high : &low) = less ? middle : middle + 1;
    }
    return NULL;
}

/* --- the catalogue --- */

static void publish(struct cs_tools *t)
{
    struct cs_offer **offers = cs_calloc(t->count + 1, sizeof(struct cs_offer *));
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->servers[i]->stale)
            cs_server_offer(t->servers[i]);
        if (t->servers[i]->offer)
            offers[count++] = t->servers[i]->offer;
    }
    struct cs_catalogue *next = NULL;
    struct cs_err err = {0};
    if (cs_catalogue_new(t->data_dir, offers, count, &next, &err) == 0) {
        cs_catalogue_unref(t->catalogue);
        t->catalogue = next;
    }
    t->publish_err = err; /* the old one stays in use */
    t->unpublished = false;
    free(offers);
    cs_tools_check_awaits(t);
    if (next && t->changed)
        t->changed(t->changed_ctx);
}

void cs_tools_set_watcher(struct cs_tools *t, void (*changed)(void *ctx), void *ctx)
{
    t->changed = changed;
    t->changed_ctx = ctx;
}

/* What has just been listed is shown when it is known how it stands. */
static void on_publish(uv_timer_t *timer)
{
    struct cs_tools *t = timer->data;
    bool waits = false;
    for (size_t i = 0; i < t->count; i++)
        waits |= cs_server_seeing(t->servers[i]);
    if (waits)
        uv_timer_start(timer, on_publish, PUBLISH_MS, 0);
    else
        publish(t);
}

static void on_save(uv_timer_t *timer)
{
    struct cs_tools *t = timer->data;
    for (size_t i = 0; i < t->count; i++)
        if (t->servers[i]->unsaved)
            cs_server_save(t->servers[i]);
}

void cs_tools_publish_soon(struct cs_tools *t, bool learned)
{
    if (t->closing)
        return;
    uint64_t ms = learned ? SAVE_MS : PUBLISH_MS;
    t->unpublished |= !learned;
    if (!uv_is_active((uv_handle_t *)&t->publish_timer) ||
        uv_timer_get_due_in(&t->publish_timer) > ms)
        uv_timer_start(&t->publish_timer, on_publish, ms, 0);
    if (!uv_is_active((uv_handle_t *)&t->save_timer))
        uv_timer_start(&t->save_timer, on_save, SAVE_MS, 0);
}

/* --- connections --- */

static void on_changed(void *ctx)
{
    struct cs_server *s = ctx;
    if (!s->retired && !s->tools->closing)
        cs_tools_check_awaits(s->tools);
}

static void set_text(struct cs_buf *buf, struct cs_str text)
{
    cs_buf_clear(buf);
    cs_buf_putstr(buf, text);
}

static void on_listed(void *ctx, struct cs_str tools)
{
    struct cs_server *s = ctx;
    if (s->retired || s->tools->closing)
        return;
    const struct cs_client_info *info = cs_client_info(s->client);
    bool same = cs_str_eq(cs_buf_str(&s->listed), tools) &&
                cs_str_eq(cs_buf_str(&s->instructions), info->instructions);
    s->fresh = true;
    s->listed_at = (int64_t)time(NULL);
    s->trouble = (struct cs_err){0};
    set_text(&s->version, info->server_version);
    set_text(&s->protocol, info->protocol);
    s->unsaved = true;
    if (!same) {
        set_text(&s->listed, tools);
        set_text(&s->instructions, info->instructions);
        cs_server_offer(s);
        cs_tools_publish_soon(s->tools, false);
    } else if (!uv_is_active((uv_handle_t *)&s->tools->save_timer)) {
        uv_timer_start(&s->tools->save_timer, on_save, SAVE_MS, 0);
    }
    cs_tools_check_awaits(s->tools);
}

static void on_log(void *ctx, struct cs_str level, struct cs_str text)
{
    struct cs_server *s = ctx;
    if (text.len > LINE_KEPT)
        text.len = LINE_KEPT;
    cs_buf_printf(&s->logs, "%.*s: ", CS_STR_ARG(level));
    cs_buf_putstr(&s->logs, text);
    cs_buf_putc(&s->logs, '\n');
    cs_server_trim_logs(s);
}

static const struct cs_client_events client_events = {
    .changed = on_changed,
    .listed = on_listed,
    .log = on_log,
    .ask = cs_server_asks,
    .withdrawn = cs_server_withdraws,
};

static int need_http(struct cs_tools *t, struct cs_err *err)
{
    if (!t->http && cs_fetcher_start(t->loop, &t->http, err) < 0)
        return -1;
    if (!t->oauth && cs_oauth_new(t->http, t->data_dir, &t->oauth, err) < 0)
        return -1;
    return 0;
}

void cs_server_need(struct cs_server *s)
{
    struct cs_tools *t = s->tools;
    if (s->client || !s->config->enabled || s->config->problem.code || t->closing)
        return;
    if (!s->expanded) {
        s->wanted = true;
        return;
    }
    if (s->config->is_http && need_http(t, &s->trouble) < 0)
        return;
    struct cs_client_options options = {
        .http = t->http,
        .oauth = t->oauth,
        .can_elicit = t->asker.kinds & 1u << CS_ASK_FORM,
        .can_elicit_url = t->asker.kinds & 1u << CS_ASK_URL,
        .can_sample = t->asker.kinds & 1u << CS_ASK_SAMPLE,
    };
    s->client = cs_client_new(t->loop, s->config, &options, &client_events, s);
    cs_client_connect(s->client);
}

/* --- waiting for servers --- */

static bool settled(const struct cs_server *s, bool fresh)
{
    if (!s->config->enabled || s->config->problem.code || s->trouble.code)
        return true;
    if (fresh ? s->fresh : s->listed.len > 0)
        return !s->tools->unpublished && !cs_server_seeing(s);
    if (!s->client)
        return false;
    enum cs_client_state state = cs_client_info(s->client)->state;
    return state == CS_CLIENT_WAITING || state == CS_CLIENT_FAILED || state == CS_CLIENT_LOGIN;
}

static bool all_settled(struct cs_tools *t, const char *server, bool fresh)
{
    if (*server) {
        struct cs_server *s = cs_tools_server(t, cs_str(server));
        return !s || settled(s, fresh);
    }
    for (size_t i = 0; i < t->count; i++)
        if (!settled(t->servers[i], fresh))
            return false;
    return true;
}

static void on_await_closed(uv_handle_t *handle)
{
    struct cs_await *a = handle->data;
    struct cs_tools *t = a->tools;
    free(a);
    t->handles--;
    cs_tools_maybe_closed(t);
}

void cs_await_cancel(struct cs_await *a)
{
    for (struct cs_await **at = &a->tools->awaits; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            uv_close((uv_handle_t *)&a->timer, on_await_closed);
            return;
        }
}

static void on_await(uv_timer_t *timer)
{
    struct cs_await *a = timer->data;
    void (*then)(void *) = a->then;
    void *ctx = a->ctx;
    cs_await_cancel(a);
    then(ctx);
}

static bool waits_for(const struct cs_await *a, const struct cs_server *s)
{
    return !*a->server || strcmp(a->server, s->name) == 0;
}

/* Starts what it waits for. */
static void need_servers(struct cs_await *a)
{
    struct cs_tools *t = a->tools;
    for (size_t i = 0; i < t->count; i++)
        if (waits_for(a, t->servers[i]) && !settled(t->servers[i], a->fresh))
            cs_server_need(t->servers[i]);
}

void cs_tools_check_awaits(struct cs_tools *t)
{
    for (struct cs_await *a = t->awaits; a; a = a->next)
        if (all_settled(t, a->server, a->fresh))
            uv_timer_start(&a->timer, on_await, 0, 0);
}

struct cs_await *cs_tools_await(struct cs_tools *t, struct cs_str server, bool fresh, uint32_t ms,
                                void (*then)(void *ctx), void *ctx)
{
    struct cs_await *a = CS_NEW(struct cs_await);
    a->tools = t;
    a->fresh = fresh;
    a->then = then;
    a->ctx = ctx;
    snprintf(a->server, sizeof a->server, "%.*s", CS_STR_ARG(server));
    uv_timer_init(t->loop, &a->timer);
    a->timer.data = a;
    t->handles++;
    a->next = t->awaits;
    t->awaits = a;
    need_servers(a);
    uv_update_time(t->loop); /* so long from now, however long the start has taken */
    uv_timer_start(&a->timer, on_await, all_settled(t, a->server, fresh) ? 0 : ms, 0);
    return a;
}

bool cs_tools_waiting(struct cs_tools *t)
{
    return !all_settled(t, "", false);
}

/* --- servers come and go --- */

static void on_retired(void *ctx)
{
    struct cs_server *s = ctx;
    struct cs_tools *t = s->tools;
    cs_server_free(s);
    t->retired--;
    cs_tools_maybe_closed(t);
}

/* It is no longer in the list of servers. Its calls under way are told by its client. */
static void retire(struct cs_server *s)
{
    struct cs_tools *t = s->tools;
    if (s->unsaved)
        cs_server_save(s);
    s->retired = true;
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "the configuration of the server '%s' changed", s->name);
    cs_calls_fail(s, &err);
    if (!s->client) {
        cs_server_free(s);
        return;
    }
    t->retired++;
    cs_client_close(s->client, on_retired, s);
}

static void name_servers(struct cs_tools *t)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str *names = cs_arena_alloc(&arena, sizeof *names * (t->count + 1));
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&arena, sizeof *idents * (t->count + 1));
    for (size_t i = 0; i < t->count; i++)
        names[i] = cs_str(t->servers[i]->name);
    cs_idents(names, t->count, idents);
    for (size_t i = 0; i < t->count; i++) {
        struct cs_server *s = t->servers[i];
        if (strcmp(s->ident, idents[i]) == 0)
            continue;
        snprintf(s->ident, sizeof s->ident, "%s", idents[i]);
        cs_server_offer(s);
    }
}

/* The same entry, now with its values: nothing was started for it yet. */
static void adopt(struct cs_server *s, struct cs_config_box *box,
                  const struct cs_server_config *config)
{
    box->refs++;
    cs_box_unref(s->box);
    s->box = box;
    s->config = config;
    s->expanded = true;
}

/* Servers as the file has them; those that stay as they were are not touched. */
static void apply(struct cs_tools *t, const struct cs_config *written, struct cs_config_box *box)
{
    const struct cs_config *config = &box->config;
    struct cs_server **next = cs_calloc(config->count + 1, sizeof(struct cs_server *));
    size_t count = 0;
    for (size_t i = 0; i < config->count; i++) {
        const struct cs_server_config *entry = &config->servers[i];
        const struct cs_server_config *raw = cs_config_find(written, cs_str(entry->name));
        if (!raw) /* the file changed between two readings: the next one will tell */
            continue;
        struct cs_server *s = cs_tools_server(t, cs_str(entry->name));
        if (s && s->expanded ? s->config->hash == entry->hash : s && s->raw_hash == raw->hash) {
            if (!s->expanded)
                adopt(s, box, entry);
            next[count++] = s;
        } else {
            next[count++] = cs_server_new(t, box, entry, raw);
        }
    }
    if (count)
        qsort(next, count, sizeof(struct cs_server *), compare_servers);
    struct cs_server **before = t->servers;
    size_t before_count = t->count;
    t->servers = next;
    t->count = count;
    for (size_t i = 0; i < before_count; i++)
        if (cs_tools_server(t, cs_str(before[i]->name)) != before[i])
            retire(before[i]);
    free(before);
    name_servers(t);
}

void cs_tools_loaded(struct cs_tools *t, struct cs_config_box *written,
                     struct cs_config_box *expanded, const struct cs_err *err)
{
    if (t->closing) {
        cs_tools_maybe_closed(t);
        return;
    }
    if (err) {
        /* The file is broken now: what was there goes on, and what never started says why. */
        for (size_t i = 0; i < t->count; i++)
            if (!t->servers[i]->expanded)
                t->servers[i]->trouble = *err;
    } else {
        apply(t, &written->config, expanded);
        cs_tools_publish_soon(t, false);
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->servers[i]->wanted || t->eager)
            cs_server_need(t->servers[i]);
    for (struct cs_await *a = t->awaits; a; a = a->next)
        need_servers(a); /* those that have just come, too */
    cs_calls_start(t);
    cs_tools_check_awaits(t);
    if (t->reload) {
        t->reload = false;
        cs_tools_load(t);
    }
}

/* --- the file changes --- */

static void on_watch_timer(uv_timer_t *timer)
{
    cs_tools_load(timer->data);
}

/* The directory is watched, as editors replace the file. */
static void on_watch(uv_fs_event_t *watch, const char *name, int events, int status)
{
    (void)events;
    struct cs_tools *t = watch->data;
    const char *slash = strrchr(t->config_path, '/');
    if (status == 0 && name && strcmp(name, slash ? slash + 1 : t->config_path) == 0)
        uv_timer_start(&t->watch_timer, on_watch_timer, WATCH_MS, 0);
}

static void start_watch(struct cs_tools *t)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", t->config_path);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    /* Where a directory cannot be watched, the file is read once. */
    if (uv_fs_event_start(&t->watch, on_watch, slash ? dir : ".", 0) == 0)
        uv_unref((uv_handle_t *)&t->watch);
}

/* --- begin and end --- */

static void add_timer(struct cs_tools *t, uv_timer_t *timer)
{
    uv_timer_init(t->loop, timer);
    timer->data = t;
    t->handles++;
}

static void tools_free(struct cs_tools *t)
{
    free(t->servers);
    cs_catalogue_unref(t->catalogue);
    cs_catalogue_unref(t->indexed);
    cs_search_free(t->search);
    cs_model_free(t->model);
    free(t->config_path);
    free(t->data_dir);
    free(t);
}

int cs_tools_new(uv_loop_t *loop, const struct cs_tools_options *options, struct cs_tools **tools,
                 struct cs_err *err)
{
    struct cs_tools *t = CS_NEW(struct cs_tools);
    t->loop = loop;
    t->data_dir = cs_strdup(options->data_dir);
    t->config_path = options->config_path ? cs_strdup(options->config_path) : NULL;
    t->eager = options->eager;
    t->store = options->store;
    struct cs_config_box *box = CS_NEW(struct cs_config_box);
    box->refs = 1;
    int status = t->config_path ? cs_config_peek(t->config_path, &box->config, err) : 0;
    if (status < 0 && err->code == CS_MISSING)
        status = 0; /* a file that does not exist names no servers */
    if (status == 0 && options->model_dir)
        status = cs_model_open(options->model_dir, &t->model, err);
    if (status < 0) {
        cs_box_unref(box);
        tools_free(t);
        return -1;
    }
    add_timer(t, &t->publish_timer);
    add_timer(t, &t->save_timer);
    add_timer(t, &t->watch_timer);
    add_timer(t, &t->seen_timer);
    uv_unref((uv_handle_t *)&t->seen_timer);
    uv_fs_event_init(loop, &t->watch);
    t->watch.data = t;
    t->handles++;
    apply(t, &box->config, box);
    cs_box_unref(box);
    publish(t);
    if (!t->catalogue) {
        *err = t->publish_err;
        t->closed = NULL;
        cs_tools_close(t, NULL, NULL);
        return -1;
    }
    /* What has changed since it was looked at is read once more; what changes now is noticed. */
    if (t->config_path && options->watch)
        start_watch(t);
    if ((t->count || (t->config_path && options->watch)) && !options->peek)
        cs_tools_load(t);
    *tools = t;
    return 0;
}

static void on_http_stopped(void *ctx)
{
    struct cs_tools *t = ctx;
    t->http = NULL;
    cs_tools_maybe_closed(t);
}

void cs_tools_maybe_closed(struct cs_tools *t)
{
    if (!t->closing || t->handles || t->retired || t->load)
        return;
    if (t->http) {
        if (!t->http_stopped) {
            t->http_stopped = true;
            cs_oauth_free(t->oauth);
            cs_fetcher_stop(t->http, on_http_stopped, t);
        }
        return;
    }
    void (*closed)(void *) = t->closed;
    void *ctx = t->closed_ctx;
    tools_free(t);
    if (closed)
        closed(ctx);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct cs_tools *t = handle->data;
    t->handles--;
    cs_tools_maybe_closed(t);
}

void cs_tools_close(struct cs_tools *t, void (*closed)(void *ctx), void *ctx)
{
    t->closing = true;
    t->closed = closed;
    t->closed_ctx = ctx;
    while (t->calls)
        cs_tool_call_cancel(t->calls);
    while (t->awaits)
        cs_await_cancel(t->awaits);
    size_t count = t->count;
    t->count = 0;
    for (size_t i = 0; i < count; i++)
        retire(t->servers[i]);
    uv_close((uv_handle_t *)&t->publish_timer, on_handle_closed);
    uv_close((uv_handle_t *)&t->save_timer, on_handle_closed);
    uv_close((uv_handle_t *)&t->watch_timer, on_handle_closed);
    uv_close((uv_handle_t *)&t->seen_timer, on_handle_closed);
    uv_close((uv_handle_t *)&t->watch, on_handle_closed);
}

struct cs_catalogue *cs_tools_current(struct cs_tools *t)
{
    return cs_catalogue_ref(t->catalogue);
}
