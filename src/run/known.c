/*
 * An answer as it is kept.
 *
 * In memory it is what a result is made of, so that giving it again copies nothing but its bytes.
 * In the store it is JSON with a sum over all of the row: what was damaged, or put there under
 * another key or for another tenant, is no answer.
 */
#include "base/mem.h"
#include "policy/judge.h"
#include "run/cache.h"

#define VERSION   2
#define DEPTH_MAX 4000
#define HEX       (2 * (size_t)CS_SHA256)

/* --- from a result --- */

static void copy_logs(struct cs_known *a, const struct cs_result *r)
{
    struct cs_shelf_item *item = &a->item;
    a->logs = cs_shelf_alloc(item, r->log_count * sizeof *a->logs);
    for (size_t i = 0; i < r->log_count; i++)
        a->logs[a->log_count++] =
            (struct cs_log){r->logs[i].level, cs_shelf_copy(item, r->logs[i].text)};
}

static void copy_calls(struct cs_known *a, const struct cs_result *r)
{
    struct cs_shelf_item *item = &a->item;
    a->calls = cs_shelf_alloc(item, r->tool_calls * sizeof *a->calls);
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        struct cs_call *c = &a->calls[a->call_count++];
        *c = r->calls[i];
        c->server = cs_shelf_copy(item, c->server);
        c->tool = cs_shelf_copy(item, c->tool);
        c->error = cs_shelf_copy(item, c->error);
        c->drift = cs_shelf_copy(item, c->drift);
    }
}

static void copy_artifacts(struct cs_known *a, const struct cs_result *r)
{
    struct cs_shelf_item *item = &a->item;
    a->artifacts = cs_shelf_alloc(item, r->artifact_count * sizeof *a->artifacts);
    for (uint32_t i = 0; i < r->artifact_count; i++) {
        struct cs_artifact *to = &a->artifacts[a->artifact_count++];
        *to = r->artifacts[i];
        to->id = cs_shelf_copy(item, to->id);
        to->name = cs_shelf_copy(item, to->name);
        to->media_type = cs_shelf_copy(item, to->media_type);
        to->kind = CS_KNOWN_KIND;
    }
}

static struct cs_str *copy_texts(struct cs_known *a, const struct cs_str *texts, uint32_t count)
{
    struct cs_str *copies = cs_shelf_alloc(&a->item, count * sizeof *copies);
    for (uint32_t i = 0; i < count; i++)
        copies[i] = cs_shelf_copy(&a->item, texts[i]);
    return copies;
}

/* What an envelope says of it. */
static void copy_verdict(struct cs_known *a, const struct cs_verdict *v)
{
    struct cs_finding *findings = cs_shelf_alloc(&a->item, v->finding_count * sizeof *findings);
    for (uint32_t i = 0; i < v->finding_count; i++) {
        const struct cs_finding *f = &v->findings[i];
        findings[i] = (struct cs_finding){
            .id = cs_shelf_copy(&a->item, f->id),
            .level = f->level,
            .line = f->line,
            .column = f->column,
            .module = cs_shelf_copy(&a->item, f->module),
            .reason = cs_shelf_copy(&a->item, f->reason),
            .mitigation = cs_shelf_copy(&a->item, f->mitigation),
        };
    }
    a->verdict = (struct cs_verdict){
        .allowed = true,
        .risk = v->risk,
        .limits = v->limits,
        .findings = findings,
        .finding_count = v->finding_count,
        .reasons = copy_texts(a, v->reasons, v->reason_count),
        .reason_count = v->reason_count,
        .mitigations = copy_texts(a, v->mitigations, v->mitigation_count),
        .mitigation_count = v->mitigation_count,
    };
}

struct cs_known *cs_known_new(const unsigned char key[CS_SHA256], struct cs_str tenant,
                              const struct cs_result *r)
{
    struct cs_known *a = cs_shelf_item_new(sizeof *a, key, tenant);
    const struct cs_provenance *p = &r->provenance;
    a->item.is_answer = true;
    a->execution = cs_shelf_copy(&a->item, cs_str(r->execution_id));
    a->value = cs_shelf_copy(&a->item, r->value);
    copy_logs(a, r);
    copy_calls(a, r);
    copy_artifacts(a, r);
    a->tool_ids = copy_texts(a, p->tool_ids, p->tool_count);
    a->tool_id_count = p->tool_count;
    memcpy(a->outputs_hash, p->outputs_hash, CS_SHA256);
    copy_verdict(a, &r->verdict);
    a->limits = r->limits;
    return a;
}

/* --- to one --- */

void cs_known_give(const struct cs_known *a, struct cs_result *r)
{
    struct cs_provenance *p = &r->provenance;
    r->status = CS_STATUS_COMPLETED;
    r->failed = false;
    r->value = a->value;
    r->logs = a->logs;
    r->log_count = a->log_count;
    r->calls = a->calls;
    r->tool_calls = a->call_count;
    r->artifacts = a->artifacts;
    r->artifact_count = a->artifact_count;
    r->verdict = a->verdict;
    r->limits = a->limits;
    r->cached_from = a->execution;
    p->tool_ids = a->tool_ids;
    p->tool_count = a->tool_id_count;
    memcpy(p->outputs_hash, a->outputs_hash, CS_SHA256);
}

/* --- as JSON --- */

static void put_str(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_u64(struct cs_json_writer *w, const char *key, uint64_t n)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, n);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char *hash)
{
    char hex[HEX + 1];
    cs_hex(hash, CS_SHA256, hex);
    put_str(w, key, cs_strn(hex, HEX));
}

static void put_texts(struct cs_json_writer *w, const char *key, const struct cs_str *texts,
                      uint32_t count)
{
    cs_json_key(w, key);
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < count; i++)
        cs_json_put_str(w, texts[i]);
    cs_json_close(w, ']');
}

static void put_logs(struct cs_json_writer *w, const struct cs_known *a)
{
    cs_json_key(w, "logs");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < a->log_count; i++) {
        cs_json_put_u64(w, a->logs[i].level);
        cs_json_put_str(w, a->logs[i].text);
    }
    cs_json_close(w, ']');
}

static void put_calls(struct cs_json_writer *w, const struct cs_known *a)
{
    cs_json_key(w, "calls");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < a->call_count; i++) {
        const struct cs_call *c = &a->calls[i];
        cs_json_open(w, '{');
        put_str(w, "server", c->server);
        put_str(w, "tool", c->tool);
        put_u64(w, "us", c->us);
        put_u64(w, "start_us", c->start_us);
        put_u64(w, "argument_bytes", c->argument_bytes);
        put_u64(w, "result_bytes", c->result_bytes);
        put_hash(w, "argument_hash", c->argument_hash);
        put_hash(w, "result_hash", c->result_hash);
        put_u64(w, "cached", c->cached);
        put_str(w, "drift", c->drift);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_artifacts(struct cs_json_writer *w, const struct cs_known *a)
{
    cs_json_key(w, "artifacts");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < a->artifact_count; i++) {
        cs_json_open(w, '{');
        put_str(w, "id", a->artifacts[i].id);
        put_str(w, "name", a->artifacts[i].name);
        put_str(w, "media_type", a->artifacts[i].media_type);
        put_hash(w, "hash", a->artifacts[i].hash);
        put_u64(w, "size", a->artifacts[i].size);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_used(struct cs_json_writer *w, const struct cs_known *a)
{
    cs_json_key(w, "used");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < a->used_count; i++) {
        cs_json_open(w, '{');
        put_str(w, "server", a->used[i].server);
        put_str(w, "tool", a->used[i].tool);
        put_hash(w, "hash", a->used[i].hash);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_findings(struct cs_json_writer *w, const struct cs_verdict *v)
{
    cs_json_key(w, "findings");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count; i++) {
        const struct cs_finding *f = &v->findings[i];
        cs_json_open(w, '{');
        put_str(w, "id", f->id);
        put_u64(w, "level", f->level);
        put_u64(w, "line", f->line);
        put_u64(w, "column", f->column);
        put_str(w, "module", f->module);
        put_str(w, "reason", f->reason);
        put_str(w, "mitigation", f->mitigation);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_answer(struct cs_json_writer *w, const struct cs_known *a)
{
    cs_json_open(w, '{');
    put_u64(w, "version", VERSION);
    cs_json_key(w, "result");
    if (a->value.len)
        cs_json_put_raw(w, a->value);
    else
        cs_json_put_null(w);
    put_u64(w, "has_result", a->value.len > 0);
    put_logs(w, a);
    put_calls(w, a);
    put_artifacts(w, a);
    put_texts(w, "tool_ids", a->tool_ids, a->tool_id_count);
    put_hash(w, "outputs_hash", a->outputs_hash);
    put_u64(w, "risk", a->verdict.risk);
    put_findings(w, &a->verdict);
    put_texts(w, "reasons", a->verdict.reasons, a->verdict.reason_count);
    put_texts(w, "mitigations", a->verdict.mitigations, a->verdict.mitigation_count);
    cs_json_key(w, "limits");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        put_u64(w, cs_limit_name((enum cs_limit)i), cs_limit_get(&a->limits, (enum cs_limit)i));
    cs_json_close(w, '}');
    put_used(w, a);
    put_str(w, "catalogue", a->catalogue);
    put_str(w, "principal", a->principal);
    cs_json_close(w, '}');
}

/* Over everything that stands in the row. */
static void sum_of(const struct cs_cached_answer *row, struct cs_str answer, char hex[HEX + 1])
{
    unsigned char parts[4][CS_SHA256], sum[CS_SHA256];
    char times[64];
    int n = snprintf(times, sizeof times, "%lld %lld", (long long)row->created,
                     (long long)row->expires);
    memcpy(parts[0], row->key, CS_SHA256);
    cs_sha256(row->tenant, parts[1]);
    cs_sha256(row->execution, parts[2]);
    cs_sha256(answer, parts[3]);
    CS_AUTO_BUF struct cs_buf all = {0};
    cs_buf_put(&all, parts, sizeof parts);
    cs_buf_put(&all, times, (size_t)n);
    cs_sha256(cs_buf_str(&all), sum);
    cs_hex(sum, CS_SHA256, hex);
}

void cs_known_write(const struct cs_known *a, struct cs_buf *json)
{
    char hex[HEX + 1];
    CS_AUTO_BUF struct cs_buf answer = {0};
    struct cs_json_writer inner = CS_JSON_WRITER(&answer), w = CS_JSON_WRITER(json);
    struct cs_cached_answer row = {.tenant = a->item.tenant,
                                   .execution = a->execution,
                                   .created = a->item.created,
                                   .expires = a->item.expires};
    memcpy(row.key, a->item.key, sizeof row.key);
    put_answer(&inner, a);
    sum_of(&row, cs_buf_str(&answer), hex);
    cs_json_open(&w, '{');
    put_str(&w, "sum", cs_strn(hex, HEX));
    cs_json_key(&w, "answer");
    cs_json_put_raw(&w, cs_buf_str(&answer));
    cs_json_close(&w, '}');
}

/* --- and back --- */

struct reading {
    struct cs_known *a;
    struct cs_arena arena; /* unescaped texts on their way */
    bool wrong;
};

static struct cs_str text_of(struct reading *r, struct cs_json_val v)
{
    r->wrong |= cs_json_type(v) != CS_JSON_STRING;
    return cs_shelf_copy(&r->a->item, cs_json_str(v, &r->arena));
}

static uint64_t number_of(struct reading *r, struct cs_json_val object, const char *key)
{
    int64_t n = 0;
    if (!cs_json_i64(cs_json_get(object, key), &n) || n < 0)
        r->wrong = true;
    return r->wrong ? 0 : (uint64_t)n;
}

static void hash_of(struct reading *r, struct cs_json_val object, const char *key,
                    unsigned char *hash)
{
    if (!cs_hex_read(cs_json_str(cs_json_get(object, key), &r->arena), hash, CS_SHA256))
        r->wrong = true;
}

/* An array of as many as are in `list`, zeroed. */
static void *room_for(struct reading *r, struct cs_json_val list, size_t size)
{
    r->wrong |= cs_json_type(list) != CS_JSON_ARRAY;
    return cs_shelf_alloc(&r->a->item, cs_json_count(list) * size);
}

static struct cs_str *read_texts(struct reading *r, struct cs_json_val list, uint32_t *count)
{
    struct cs_str *texts = room_for(r, list, sizeof *texts);
    struct cs_json_val item;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);)
        texts[(*count)++] = text_of(r, item);
    return texts;
}

static void read_logs(struct reading *r, struct cs_json_val list)
{
    struct cs_known *a = r->a;
    struct cs_json_val item;
    a->logs = room_for(r, list, sizeof *a->logs);
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);) {
        int64_t level = -1;
        if (!cs_json_i64(item, &level) || level < 0 || level > CS_LEVEL_ERROR ||
            !cs_json_next(list, &it, NULL, &item)) {
            r->wrong = true;
            return;
        }
        a->logs[a->log_count++] = (struct cs_log){(enum cs_level)level, text_of(r, item)};
    }
}

static void read_calls(struct reading *r, struct cs_json_val list)
{
    struct cs_known *a = r->a;
    struct cs_json_val item;
    a->calls = room_for(r, list, sizeof *a->calls);
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);) {
        struct cs_call *c = &a->calls[a->call_count++];
        c->server = text_of(r, cs_json_get(item, "server"));
        c->tool = text_of(r, cs_json_get(item, "tool"));
        c->status = CS_CALL_OK;
        c->us = number_of(r, item, "us");
        c->start_us = number_of(r, item, "start_us");
        c->argument_bytes = number_of(r, item, "argument_bytes");
        c->result_bytes = number_of(r, item, "result_bytes");
        hash_of(r, item, "argument_hash", c->argument_hash);
        hash_of(r, item, "result_hash", c->result_hash);
        c->repeatable = true;
        c->cached = number_of(r, item, "cached") != 0;
        c->drift = text_of(r, cs_json_get(item, "drift"));
    }
}

static void read_artifacts(struct reading *r, struct cs_json_val list)
{
    struct cs_known *a = r->a;
    struct cs_json_val item;
    a->artifacts = room_for(r, list, sizeof *a->artifacts);
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);) {
        struct cs_artifact *to = &a->artifacts[a->artifact_count++];
        to->id = text_of(r, cs_json_get(item, "id"));
        to->name = text_of(r, cs_json_get(item, "name"));
        to->media_type = text_of(r, cs_json_get(item, "media_type"));
        to->kind = CS_KNOWN_KIND;
        to->size = number_of(r, item, "size");
        hash_of(r, item, "hash", to->hash);
    }
}

static void read_used(struct reading *r, struct cs_json_val list)
{
    struct cs_known *a = r->a;
    struct cs_json_val item;
    a->used = room_for(r, list, sizeof *a->used);
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);) {
        struct cs_used *u = &a->used[a->used_count++];
        u->server = text_of(r, cs_json_get(item, "server"));
        u->tool = text_of(r, cs_json_get(item, "tool"));
        hash_of(r, item, "hash", u->hash);
    }
}

static void read_findings(struct reading *r, struct cs_json_val list)
{
    struct cs_verdict *v = &r->a->verdict;
    struct cs_finding *findings = room_for(r, list, sizeof *findings);
    struct cs_json_val item;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &item);) {
        struct cs_finding *f = &findings[v->finding_count++];
        uint64_t level = number_of(r, item, "level");
        r->wrong |= level > CS_RISK_CRITICAL;
        f->id = text_of(r, cs_json_get(item, "id"));
        f->level = r->wrong ? CS_RISK_LOW : (enum cs_risk)level;
        f->line = (uint32_t)number_of(r, item, "line");
        f->column = (uint32_t)number_of(r, item, "column");
        f->module = text_of(r, cs_json_get(item, "module"));
        f->reason = text_of(r, cs_json_get(item, "reason"));
        f->mitigation = text_of(r, cs_json_get(item, "mitigation"));
    }
    v->findings = findings;
}

static void read_verdict(struct reading *r, struct cs_json_val root)
{
    struct cs_verdict *v = &r->a->verdict;
    uint64_t risk = number_of(r, root, "risk");
    r->wrong |= risk > CS_RISK_CRITICAL;
    v->allowed = true;
    v->risk = r->wrong ? CS_RISK_LOW : (enum cs_risk)risk;
    read_findings(r, cs_json_get(root, "findings"));
    v->reasons = read_texts(r, cs_json_get(root, "reasons"), &v->reason_count);
    v->mitigations = read_texts(r, cs_json_get(root, "mitigations"), &v->mitigation_count);
    struct cs_json_val limits = cs_json_get(root, "limits");
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        cs_limit_set(&r->a->limits, (enum cs_limit)i,
                     number_of(r, limits, cs_limit_name((enum cs_limit)i)));
    v->limits = r->a->limits;
}

static void read_answer(struct reading *r, struct cs_json_val root)
{
    struct cs_known *a = r->a;
    r->wrong |= number_of(r, root, "version") != VERSION;
    if (number_of(r, root, "has_result"))
        a->value = cs_shelf_copy(&a->item, cs_json_raw(cs_json_get(root, "result")));
    read_logs(r, cs_json_get(root, "logs"));
    read_calls(r, cs_json_get(root, "calls"));
    read_artifacts(r, cs_json_get(root, "artifacts"));
    a->tool_ids = read_texts(r, cs_json_get(root, "tool_ids"), &a->tool_id_count);
    hash_of(r, root, "outputs_hash", a->outputs_hash);
    read_verdict(r, root);
    read_used(r, cs_json_get(root, "used"));
    a->catalogue = text_of(r, cs_json_get(root, "catalogue"));
    a->principal = text_of(r, cs_json_get(root, "principal"));
}

struct cs_known *cs_known_read(const struct cs_cached_answer *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {
        .bytes = row->value.len + 1, .depth = DEPTH_MAX, .allow_duplicate = true};
    char hex[HEX + 1];
    if (cs_json_parse(row->value, &limits, &doc, NULL) < 0)
        return NULL;
    struct cs_json_val answer = cs_json_get(cs_json_root(&doc), "answer");
    sum_of(row, cs_json_raw(answer), hex);
    if (!cs_json_is(cs_json_get(cs_json_root(&doc), "sum"), hex))
        return NULL;
    struct reading r = {.a = cs_shelf_item_new(sizeof *r.a, row->key, row->tenant)};
    r.a->item.is_answer = true;
    r.a->item.created = row->created;
    r.a->item.expires = row->expires;
    r.a->execution = cs_shelf_copy(&r.a->item, row->execution);
    read_answer(&r, answer);
    cs_arena_done(&r.arena);
    if (!r.wrong)
        return r.a;
    cs_shelf_item_unref(&r.a->item);
    return NULL;
}
