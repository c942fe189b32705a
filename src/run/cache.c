/*
 * Is the answer of an execution known already, and is it worth keeping?
 *
 * An answer is looked for in memory, then in the store where that can know more. One that is given
 * has no worker and no turn, but it is an execution like others: with its own id, row, entry in the
 * ledger and provenance.
 *
 * Kept is what another execution of the same program would answer: it completed, all its calls were
 * of tools that may be asked again, and it left nothing behind. It asks neither for the time nor
 * for chance, as far as its text shows: what it wants of those is not what somebody else got.
 */
#include <dirent.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/time.h"
#include "run/cache.h"
#include "run/guard.h"
#include "run/shield.h"

#define FORMAT      "caisson answer 1"
#define TTL_DEFAULT (5ll * 60 * 1000)
#define ANSWER_MAX  (4u << 20)
#define CALLS_MAX   1000u
#define SWEEP_MS    60000
#define TOOLS_ROOT  "/mcp-servers/"

bool cs_cache_mode_parse(struct cs_str name, enum cs_cache_mode *mode)
{
    static const char *const names[] = {"use", "off", "only", "refresh"};
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (cs_str_is(name, names[i])) {
            *mode = (enum cs_cache_mode)i;
            return true;
        }
    return false;
}

/* --- of a runner --- */

void cs_runner_set_cache(struct cs_runner *r, uint64_t bytes, int64_t ms)
{
    if (!r->cache) {
        r->cache = CS_NEW(struct cs_cache);
        r->cache->mark = r->store ? cs_store_cache_mark(r->store) : 0;
    }
    if (bytes > SIZE_MAX / 2)
        bytes = SIZE_MAX / 2;
    r->cache->ms = !bytes ? 0 : ms ? ms : TTL_DEFAULT;
    r->cache->inherited = cs_time_ms() + r->cache->ms;
    cs_shelf_bound(&r->cache->shelf, (size_t)bytes);
}

bool cs_cache_is_on(const struct cs_runner *r)
{
    return r->cache && r->cache->ms > 0;
}

/* What others of its tenants lose is in the store. */
struct cs_shelf *cs_cache_shelf(struct cs_runner *r)
{
    struct cs_cache *c = r->cache;
    uint64_t mark = r->store ? cs_store_cache_mark(r->store) : 0;
    if (mark != c->mark) {
        c->mark = mark;
        c->inherited = cs_time_ms() + c->ms;
        cs_shelf_clear(&c->shelf, (struct cs_str){0});
    }
    return &c->shelf;
}

void cs_cache_free(struct cs_cache *cache)
{
    if (cache)
        cs_shelf_done(&cache->shelf);
    free(cache);
}

void cs_runner_clear_cache(struct cs_runner *r, struct cs_str tenant, cs_stored *done, void *ctx)
{
    if (r->cache)
        cs_shelf_clear(&r->cache->shelf, tenant);
    if (r->store)
        cs_store_cache_forget(r->store, tenant, 0, done, ctx);
}

/* --- can it be kept at all? --- */

static bool has_files(const char *path)
{
    DIR *dir = path ? opendir(path) : NULL;
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));)
        found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return found;
}

static bool says(struct cs_str text, const char *word)
{
    return text.len && memmem(text.at, text.len, word, strlen(word));
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at;
}

/* "Date()", or "new Date" without anything: the time it is now. With arguments it is any time. */
static bool says_now(struct cs_str text)
{
    static const char date[] = "Date";
    const char *at = text.at, *end = text.at + text.len;
    while (at && (at = memmem(at, (size_t)(end - at), date, sizeof date - 1))) {
        const char *before = at, *next;
        at += sizeof date - 1;
        next = skip_space(at, end);
        if (next < end && *next == '(') {
            next = skip_space(next + 1, end);
            if (next < end && *next == ')')
                return true;
            continue;
        }
        while (before > text.at && strchr(" \t\r\n", before[-1]))
            before--;
        if (before - text.at >= 3 && memcmp(before - 3, "new", 3) == 0)
            return true;
    }
    return false;
}

static bool wants_time_or_chance(struct cs_str code)
{
    static const char *const words[] = {"Date.now",        "performance.now", "Math.random",
                                        "getRandomValues", "randomUUID",      "timeOrigin"};
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (says(code, words[i]))
            return true;
    return says_now(code);
}

static const char *why_never(const struct cs_run *run)
{
    const struct cs_request *q = &run->request;
    if (q->language != CS_TYPESCRIPT)
        return "only answers of TypeScript programs are kept";
    if (q->durable)
        return "answers of durable executions are not kept";
    if (q->clock != CS_CLOCK_EVENTS)
        return "a program with a live clock answers differently each time";
    if (q->workspace || has_files(run->workspace))
        return "answers of programs that work on files are not kept";
    if (run->shield && (q->custom_count || (!q->session.len && cs_token_like(q->inputs))))
        return "answers about personal data are kept within a session alone";
    if (wants_time_or_chance(q->code))
        return "a program that asks for the time or for chance answers differently each time";
    return NULL;
}

/* --- the key --- */

/* How personal values are masked; an answer never crosses that. In a session whose vault has
 * something in it the answer is of that session alone. */
static void put_privacy(const struct cs_run *run, struct cs_buf *out)
{
    const struct cs_shield *sh = run->shield;
    if (!sh) {
        cs_buf_puts(out, "none");
        return;
    }
    cs_buf_printf(out, "%d %d %s ", (int)sh->level, (int)sh->asked, cs_detector_version());
    cs_buf_put(out, cs_privacy_hash(sh->privacy), CS_SHA256);
    if (sh->safe && sh->safe->vault)
        cs_buf_putstr(out, run->request.session);
}

static void put_hash(struct cs_buf *out, struct cs_str part)
{
    unsigned char hash[CS_SHA256];
    cs_sha256(part, hash);
    cs_buf_put(out, hash, sizeof hash);
}

static void globals_of(const struct cs_run *run, unsigned char hash[CS_SHA256])
{
    struct cs_tools *tools = run->runner->tools;
    struct cs_catalogue *c = tools ? cs_tools_current(tools) : NULL;
    cs_sha256(c ? cs_catalogue_globals(c) : (struct cs_str){0}, hash);
    cs_catalogue_unref(c);
}

/* Every part has a length of its own, as a hash, so no two requests are the same text. Inputs are
 * compared as they are written: a program can see the order of their members. */
static void key_of(const struct cs_run *run, struct cs_keep *keep)
{
    const struct cs_request *q = &run->request;
    const struct cs_policy *policy = run->policy;
    CS_AUTO_BUF struct cs_buf all = {0};
    cs_buf_printf(&all, FORMAT "\n%s\n", CS_VERSION);
    put_privacy(run, &all);
    cs_buf_printf(&all, "\n%d %d %d\n", (int)q->language, (int)q->clock, q->session.len > 0);
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        cs_buf_printf(&all, "%llu ",
                      (unsigned long long)cs_limit_get(&q->limits, (enum cs_limit)i));
    put_hash(&all, run->tenant);
    put_hash(&all, q->code);
    put_hash(&all, q->inputs);
    put_hash(&all, run->state);
    if (policy)
        cs_buf_put(&all, cs_policy_hash(policy), CS_SHA256);
    globals_of(run, keep->globals);
    cs_buf_put(&all, keep->globals, sizeof keep->globals);
    cs_sha256(cs_buf_str(&all), keep->key);
}

/* --- is an answer that was found this one's? --- */

void cs_cache_tool_hash(const struct cs_tool *tool, unsigned char hash[CS_SHA256])
{
    CS_AUTO_BUF struct cs_buf all = {0};
    cs_buf_printf(&all, "%llx ", (unsigned long long)tool->server_hash);
    put_hash(&all, tool->server);
    put_hash(&all, tool->name);
    put_hash(&all, tool->definition);
    cs_sha256(cs_buf_str(&all), hash);
}

/* The tool is there as it was, and this principal may call it. */
static bool still_there(const struct cs_run *run, const struct cs_catalogue *catalogue,
                        const struct cs_used *used)
{
    unsigned char hash[CS_SHA256];
    const struct cs_policy *policy = run->policy;
    const struct cs_tool *tool = cs_catalogue_find(catalogue, used->server, used->tool);
    if (!tool)
        return false;
    struct cs_target target = cs_gate_target(tool);
    if (policy && cs_policy_grant(policy, run->principal, &target, NULL) != CS_GRANT_ALLOW)
        return false;
    cs_cache_tool_hash(tool, hash);
    return memcmp(hash, used->hash, sizeof hash) == 0;
}

static bool same_tools(const struct cs_run *run, const struct cs_known *a)
{
    if (!a->used_count && !a->catalogue.len)
        return true;
    if (!run->runner->tools)
        return false;
    struct cs_catalogue *c = cs_tools_current(run->runner->tools);
    bool same = !a->catalogue.len || (cs_str_is(a->catalogue, cs_catalogue_path(c)) &&
                                      cs_str_eq(a->principal, run->principal));
    for (uint32_t i = 0; same && i < a->used_count; i++)
        same = still_there(run, c, &a->used[i]);
    cs_catalogue_unref(c);
    return same;
}

static bool fits(const struct cs_run *run, const struct cs_known *a)
{
    int64_t now = cs_time_ms(), age = now - a->item.created;
    return age >= 0 && age < run->runner->cache->ms && now < a->item.expires &&
           cs_str_eq(a->item.tenant, run->tenant) && same_tools(run, a);
}

/* --- looked for --- */

static int unknown(struct cs_run *run, const char *why)
{
    struct cs_err err = {0};
    run->runner->figures.cache_misses++;
    if (run->request.cache != CS_CACHE_ONLY)
        return CS_ON;
    cs_fail(&err, CS_MISSING,
            "no answer is known for this request, and cache \"only\" runs nothing%s%s",
            why ? ": " : "; leave it out to run it", why ? why : "");
    cs_run_end_early(run, CS_ENDED_FAILED, &err);
    return CS_LATER;
}

static int give(struct cs_keep *keep)
{
    struct cs_run *run = keep->run;
    struct cs_result *r = &run->result;
    int64_t age = cs_time_ms() - keep->found->item.created;
    cs_known_give(keep->found, r);
    r->cached_age_ms = age > 0 ? (uint64_t)age : 0;
    r->not_replayable = cs_str(cs_arena_printf(
        &run->arena, "its answer is that of %.*s: replay that one", CS_STR_ARG(r->cached_from)));
    r->wall_us = (uv_hrtime() - keep->start_ns) / 1000;
    cs_flows_known(run);
    run->runner->figures.cache_hits++;
    return cs_run_known(run);
}

static int check_artifacts(struct cs_keep *keep);

static void forget_found(struct cs_keep *keep)
{
    if (keep->found)
        cs_shelf_item_unref(&keep->found->item);
    keep->found = NULL;
}

static void free_keep(struct cs_keep *keep)
{
    cs_shelf_item_unref(keep->found ? &keep->found->item : NULL);
    cs_shelf_item_unref(keep->made ? &keep->made->item : NULL);
    free(keep->used);
    free(keep);
}

/* The run that asked the store; NULL: nobody wants to know any more. */
static struct cs_run *asker_of(struct cs_keep *keep)
{
    struct cs_run *run = keep->run;
    keep->is_asking = false;
    if (run)
        return run->settling ? NULL : run;
    free_keep(keep);
    return NULL;
}

static void on_artifact(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                        size_t count, struct cs_str content)
{
    struct cs_keep *keep = ctx;
    struct cs_run *run = asker_of(keep);
    (void)content;
    if (!run)
        return;
    int next;
    if (err->code == CS_OK && count && !rows->gone) {
        keep->artifacts_there++;
        next = check_artifacts(keep);
    } else {
        forget_found(keep);
        next = unknown(run, NULL);
    }
    if (next == CS_ON)
        cs_run_go(run);
}

/* A handle in an answer must be one that can be opened. */
static int check_artifacts(struct cs_keep *keep)
{
    struct cs_run *run = keep->run;
    const struct cs_known *a = keep->found;
    if (keep->artifacts_there == a->artifact_count)
        return give(keep);
    if (!run->runner->store) {
        forget_found(keep);
        return unknown(run, NULL);
    }
    keep->is_asking = true;
    cs_store_artifact_get(run->runner->store, run->tenant, a->artifacts[keep->artifacts_there].id,
                          0, 0, on_artifact, keep);
    return CS_LATER;
}

static void on_stored(void *ctx, const struct cs_err *err, const struct cs_cached_answer *row)
{
    struct cs_keep *keep = ctx;
    struct cs_run *run = asker_of(keep);
    if (!run)
        return;
    struct cs_known *a = err->code == CS_OK && row ? cs_known_read(row) : NULL;
    bool ours = a && memcmp(a->item.key, keep->key, sizeof keep->key) == 0;
    int next;
    if (ours && fits(run, a)) {
        cs_shelf_put(&run->runner->cache->shelf, &a->item);
        keep->found = CS_TAKE(a);
        next = check_artifacts(keep);
    } else {
        next = unknown(run, NULL);
    }
    cs_shelf_item_unref(a ? &a->item : NULL);
    if (next == CS_ON)
        cs_run_go(run);
}

static bool store_may_know(const struct cs_runner *r, int64_t now)
{
    return r->store && (now < r->cache->inherited || now < r->cache->shelf.gone);
}

static int look_for(struct cs_keep *keep)
{
    struct cs_run *run = keep->run;
    struct cs_runner *r = run->runner;
    int64_t now = cs_time_ms();
    struct cs_known *a = (struct cs_known *)cs_shelf_find(cs_cache_shelf(r), keep->key, now);
    if (a && fits(run, a)) {
        a->item.refs++;
        keep->found = a;
        return check_artifacts(keep);
    }
    if (a || !store_may_know(r, now))
        return unknown(run, NULL);
    keep->is_asking = true;
    cs_store_cache_get(r->store, run->tenant, keep->key, on_stored, keep);
    return CS_LATER;
}

int cs_step_cache(struct cs_run *run, struct cs_err *err)
{
    enum cs_cache_mode mode = run->request.cache;
    (void)err;
    if (mode == CS_CACHE_OFF || run->player || run->resume || run->again)
        return CS_ON;
    if (!cs_cache_is_on(run->runner))
        return mode == CS_CACHE_ONLY ? unknown(run, "there is no cache here") : CS_ON;
    struct cs_keep *keep = CS_NEW(struct cs_keep);
    keep->run = run;
    keep->start_ns = uv_hrtime();
    run->cache = keep;
    keep->never = why_never(run);
    if (keep->never)
        return unknown(run, keep->never);
    keep->of_session = run->shield && run->shield->safe && run->shield->safe->vault;
    key_of(run, keep);
    cs_cache_shelf(run->runner);
    keep->mark = run->runner->cache->mark;
    return mode == CS_CACHE_REFRESH ? CS_ON : look_for(keep);
}

/* --- noticed on its way --- */

void cs_cache_never(struct cs_run *run, const char *why)
{
    if (run->cache && !run->cache->never)
        run->cache->never = why;
}

void cs_cache_saw_tools(struct cs_run *run)
{
    struct cs_keep *keep = run->cache;
    if (!keep || keep->never || !run->catalogue)
        return;
    struct cs_str path = cs_str(cs_catalogue_path(run->catalogue));
    if (!keep->catalogue.len)
        keep->catalogue = cs_arena_dup(&run->arena, path);
    else if (!cs_str_eq(keep->catalogue, path))
        keep->never = "the tools changed while it ran";
}

void cs_cache_used(struct cs_run *run, const struct cs_tool *tool)
{
    struct cs_keep *keep = run->cache;
    unsigned char hash[CS_SHA256];
    if (!keep || keep->never)
        return;
    cs_cache_tool_hash(tool, hash);
    for (uint32_t i = 0; i < keep->used_count; i++)
        if (memcmp(keep->used[i].hash, hash, sizeof hash) == 0)
            return;
    if (keep->used_count == keep->used_cap) {
        keep->used_cap = keep->used_cap ? 2 * keep->used_cap : 8;
        keep->used = cs_realloc(keep->used, keep->used_cap, sizeof *keep->used);
    }
    struct cs_used *u = &keep->used[keep->used_count++];
    u->server = cs_arena_dup(&run->arena, tool->server);
    u->tool = cs_arena_dup(&run->arena, tool->name);
    memcpy(u->hash, hash, sizeof hash);
}

/* "/mcp-servers/github/listCommits.ts", however it is written, is that tool; everything else down
 * there tells which tools there are. */
static const struct cs_tool *tool_at(const struct cs_run *run, struct cs_str path)
{
    static const char suffix[] = ".ts";
    if (!cs_str_starts(path, TOOLS_ROOT) || !cs_str_ends(path, suffix) || !run->catalogue)
        return NULL;
    struct cs_str rest = cs_strn(path.at + strlen(TOOLS_ROOT), path.len - strlen(TOOLS_ROOT));
    const char *slash = memchr(rest.at, '/', rest.len);
    if (!slash)
        return NULL;
    size_t n = (size_t)(slash - rest.at);
    return cs_catalogue_find(run->catalogue, cs_strn(rest.at, n),
                             cs_strn(slash + 1, rest.len - n - sizeof suffix));
}

void cs_cache_wish(struct cs_run *run, const struct cs_wish *wish)
{
    if (!run->cache || wish->kind == CS_WISH_CALL)
        return;
    const struct cs_tool *tool = wish->kind == CS_WISH_MODULE ? tool_at(run, wish->path) : NULL;
    if (tool)
        cs_cache_used(run, tool);
    else if (says(wish->path, "mcp-servers") || says(wish->data, "mcp-servers"))
        cs_cache_saw_tools(run);
}

void cs_cache_settled(struct cs_run *run)
{
    if (run->cache && run->workspace_out && access(run->workspace_out, F_OK) == 0)
        cs_cache_never(run, "it left files");
}

/* --- kept --- */

static bool calls_repeatable(const struct cs_result *r)
{
    for (uint32_t i = 0; i < r->tool_calls; i++)
        if (r->calls[i].status != CS_CALL_OK || !r->calls[i].repeatable)
            return false;
    return r->tool_calls <= CALLS_MAX;
}

static bool small_enough(const struct cs_result *r)
{
    size_t bytes = r->value.len;
    for (size_t i = 0; i < r->log_count; i++)
        bytes += r->logs[i].text.len;
    return bytes <= ANSWER_MAX;
}

static bool has_tokens(const struct cs_result *r)
{
    bool found = cs_token_like(r->value);
    for (size_t i = 0; !found && i < r->log_count; i++)
        found = cs_token_like(r->logs[i].text);
    return found;
}

/* Its tokens mean something in its session, if that was in its key. */
static bool is_private(const struct cs_run *run, const struct cs_keep *keep)
{
    return run->shield && !keep->of_session && has_tokens(&run->result);
}

static bool worth_keeping(const struct cs_run *run, const struct cs_keep *keep)
{
    const struct cs_result *r = &run->result;
    enum cs_cache_mode mode = run->request.cache;
    unsigned char globals[CS_SHA256];
    if (keep->never || keep->found || (mode != CS_CACHE_USE && mode != CS_CACHE_REFRESH) ||
        !cs_cache_is_on(run->runner))
        return false;
    if (r->refused || r->earlier.len || r->failed || r->status != CS_STATUS_COMPLETED ||
        r->output_cut || r->left_out_count || run->new_state.len || !calls_repeatable(r) ||
        !small_enough(r) || is_private(run, keep))
        return false;
    /* A large result has a handle; whatever else it left behind is made by running. */
    for (uint32_t i = 0; i < r->artifact_count; i++)
        if (strcmp(r->artifacts[i].kind, CS_KNOWN_KIND) != 0)
            return false;
    if (run->runner->store && cs_store_cache_mark(run->runner->store) != keep->mark)
        return false; /* all that was known then is to be forgotten */
    globals_of(run, globals);
    return memcmp(globals, keep->globals, sizeof globals) == 0;
}

static struct cs_known *make_answer(const struct cs_run *run, const struct cs_keep *keep)
{
    struct cs_known *a = cs_known_new(keep->key, run->tenant, &run->result);
    struct cs_shelf_item *item = &a->item;
    item->created = cs_time_ms();
    item->expires = item->created + run->runner->cache->ms;
    a->used = cs_shelf_alloc(item, keep->used_count * sizeof *a->used);
    for (uint32_t i = 0; i < keep->used_count; i++) {
        struct cs_used *u = &a->used[a->used_count++];
        *u = keep->used[i];
        u->server = cs_shelf_copy(item, u->server);
        u->tool = cs_shelf_copy(item, u->tool);
    }
    if (keep->catalogue.len) {
        a->catalogue = cs_shelf_copy(item, keep->catalogue);
        a->principal = cs_shelf_copy(item, run->principal);
    }
    return a;
}

/* What has expired is removed by whoever adds something: answers live shorter than all else. */
static void sweep(struct cs_runner *r, int64_t now)
{
    if (now - r->cache->swept < SWEEP_MS && now >= r->cache->swept)
        return;
    r->cache->swept = now;
    cs_store_cache_forget(r->store, (struct cs_str){0}, now, NULL, NULL);
}

void cs_cache_record(struct cs_run *run)
{
    struct cs_keep *keep = run->cache;
    if (!keep || !worth_keeping(run, keep))
        return;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_known *a = keep->made = make_answer(run, keep);
    cs_known_write(a, &json);
    struct cs_cached_answer row = {.tenant = run->tenant,
                                   .execution = a->execution,
                                   .value = cs_buf_str(&json),
                                   .created = a->item.created,
                                   .expires = a->item.expires};
    memcpy(row.key, keep->key, sizeof row.key);
    cs_store_cache_put(run->runner->store, &row, NULL, NULL);
    sweep(run->runner, row.created);
}

void cs_cache_keep(struct cs_run *run)
{
    struct cs_keep *keep = CS_TAKE(run->cache);
    if (!keep)
        return;
    if (worth_keeping(run, keep)) {
        if (!keep->made)
            keep->made = make_answer(run, keep);
        cs_shelf_put(&run->runner->cache->shelf, &keep->made->item);
    }
    keep->run = NULL;
    if (!keep->is_asking)
        free_keep(keep);
}
