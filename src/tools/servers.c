/* One server: what is known about it, in memory and on disk. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tools/inside.h"

void cs_box_unref(struct cs_config_box *box)
{
    if (--box->refs > 0)
        return;
    cs_config_done(&box->config);
    free(box);
}

static void raw_hash_hex(const struct cs_server *s, char hex[20])
{
    snprintf(hex, 20, "%016" PRIx64, s->raw_hash);
}

void cs_server_save(struct cs_server *s)
{
    s->unsaved = false;
    if (!s->listed.len)
        return;
    char hex[20];
    raw_hash_hex(s, hex);
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_cached cached = {
        .config = cs_str(hex),
        .tools = cs_buf_str(&s->listed),
        .instructions = cs_buf_str(&s->instructions),
        .server_version = cs_buf_str(&s->version),
        .protocol = cs_buf_str(&s->protocol),
        .listed_at = s->listed_at,
        .learned = cs_lessons_write(s, &arena),
        .learned_count = s->lesson_count,
    };
    struct cs_err err = {0};
    /* Without it the server is asked again next time: no more is lost. */
    cs_cache_write(s->tools->data_dir, cs_str(s->name), &cached, &err);
}

/* What it offered last time, if its entry is still the same. */
static void remember(struct cs_server *s)
{
    struct cs_cached cached;
    struct cs_err err = {0};
    char hex[20];
    raw_hash_hex(s, hex);
    if (cs_cache_read(s->tools->data_dir, cs_str(s->name), &cached, &err) < 0)
        return;
    if (cs_str_is(cached.config, hex)) {
        cs_buf_putstr(&s->listed, cached.tools);
        cs_buf_putstr(&s->instructions, cached.instructions);
        cs_buf_putstr(&s->version, cached.server_version);
        cs_buf_putstr(&s->protocol, cached.protocol);
        s->listed_at = cached.listed_at;
        cs_lessons_read(s, &cached);
    }
    cs_cached_done(&cached);
}

#define LOGS_KEPT (16u << 10)

void cs_server_trim_logs(struct cs_server *s)
{
    if (s->logs.len > LOGS_KEPT)
        cs_buf_drop(&s->logs, s->logs.len - LOGS_KEPT / 2);
}

void cs_server_offer(struct cs_server *s)
{
    cs_offer_unref(s->offer);
    s->offer = NULL;
    bool again = s->stale; /* then the list is the same, and so are the warnings */
    s->stale = false;
    if (!s->config->enabled)
        return;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf warnings = {0};
    struct cs_offer_spec spec = {
        .config = s->config,
        .entry_hash = s->raw_hash,
        .ident = cs_str(s->ident),
        .tools = cs_buf_str(&s->listed),
        .instructions = cs_buf_str(&s->instructions),
        .learned = cs_lessons_write(s, &arena),
        .learned_count = s->lesson_count,
        .seen = s->seen,
    };
    struct cs_err err = {0};
    if (cs_offer_new(&spec, &s->offer, &warnings, &err) == 0) {
        if (!again) {
            cs_buf_putstr(&s->logs, cs_buf_str(&warnings));
            cs_server_see(s);
        }
        cs_server_trim_logs(s);
        return;
    }
    /* A list that cannot be read is an empty one, and says why. */
    s->trouble = err;
    spec.tools = CS_STR("[]");
    cs_offer_new(&spec, &s->offer, &warnings, &err);
}

/* As it is written in the file: an expanded value may be a secret. */
static void name_target(struct cs_server *s, const struct cs_server_config *written)
{
    if (written->is_http) {
        cs_buf_puts(&s->target, written->url ? written->url : "");
        return;
    }
    cs_buf_puts(&s->target, written->command ? written->command : "");
    for (const char **arg = written->args; arg && *arg; arg++)
        cs_buf_printf(&s->target, " %s", *arg);
}

struct cs_server *cs_server_new(struct cs_tools *t, struct cs_config_box *box,
                                const struct cs_server_config *config,
                                const struct cs_server_config *written)
{
    struct cs_server *s = CS_NEW(struct cs_server);
    s->tools = t;
    snprintf(s->name, sizeof s->name, "%s", config->name);
    s->box = box;
    box->refs++;
    s->config = config;
    s->raw_hash = written->hash;
    s->expanded = config != written;
    s->seen = t->store ? cs_seen_new() : NULL;
    name_target(s, written);
    if (config->enabled)
        remember(s);
    return s;
}

void cs_server_free(struct cs_server *s)
{
    cs_lessons_done(s);
    cs_server_unsee(s);
    cs_offer_unref(s->offer);
    cs_buf_done(&s->listed);
    cs_buf_done(&s->instructions);
    cs_buf_done(&s->version);
    cs_buf_done(&s->protocol);
    cs_buf_done(&s->logs);
    cs_buf_done(&s->target);
    cs_box_unref(s->box);
    free(s);
}

static const char *state_of(const struct cs_server *s)
{
    if (!s->config->enabled)
        return "disabled";
    if (s->config->problem.code || s->trouble.code)
        return "failed";
    if (!s->client)
        return "idle";
    return cs_client_state_name(cs_client_info(s->client)->state);
}

static void describe(const struct cs_server *s, struct cs_server_state *state)
{
    const struct cs_server_config *c = s->config;
    *state = (struct cs_server_state){
        .name = cs_str(s->name),
        .kind = c->is_http ? CS_STR("http") : CS_STR("stdio"),
        .state = state_of(s),
        .target = cs_buf_str(&s->target),
        .version = cs_buf_str(&s->version),
        .protocol = cs_buf_str(&s->protocol),
        .tools = s->offer ? cs_offer_count(s->offer) : 0,
        .log_tail = cs_buf_str(&s->logs),
        .listed_at = s->listed_at,
    };
    if (s->client) {
        const struct cs_client_info *info = cs_client_info(s->client);
        state->error = cs_str(info->last_error.msg);
        state->stderr_tail = info->stderr_tail;
        state->restarts = info->restarts;
    }
    if (c->problem.code)
        state->error = cs_str(c->problem.msg);
    else if (s->trouble.code)
        state->error = cs_str(s->trouble.msg);
}

void cs_tools_servers(struct cs_tools *t, void (*each)(void *ctx, const struct cs_server_state *),
                      void *ctx)
{
    for (size_t i = 0; i < t->count; i++) {
        struct cs_server_state state;
        describe(t->servers[i], &state);
        each(ctx, &state);
    }
}
