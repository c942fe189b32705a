/* A judgement as SARIF 2.1.0, which editors and code scanning read. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "front/assess_verb.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static const char *const levels[] = {"note", "warning", "error", "error"};
static const char *const severities[] = {"2.0", "5.0", "8.0", "9.5"};

static void put(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_message(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_open(w, '{');
    put(w, "text", text);
    cs_json_close(w, '}');
}

/* The reason of a rule as it is without a program: "makes code at run time (...)". */
static void put_general(struct cs_str reason, struct cs_buf *out)
{
    while (reason.len) {
        const char *open = memchr(reason.at, '{', reason.len);
        const char *end = open ? memchr(open, '}', reason.len - (size_t)(open - reason.at)) : NULL;
        size_t plain = end ? (size_t)(open - reason.at) : reason.len;
        cs_buf_put(out, reason.at, plain);
        if (!end)
            return;
        cs_buf_puts(out, "...");
        reason = cs_strn(end + 1, reason.len - (size_t)(end + 1 - reason.at));
    }
}

static void put_rules(struct cs_json_writer *w, const struct cs_policy *policy)
{
    struct cs_rule_view r;
    cs_json_key(w, "rules");
    cs_json_open(w, '[');
    for (size_t i = 0; cs_risk_rule_at(policy, i, &r); i++) {
        cs_json_open(w, '{');
        put(w, "id", r.id);
        CS_AUTO_BUF struct cs_buf reason = {0};
        put_general(r.reason, &reason);
        put_message(w, "shortDescription", cs_buf_str(&reason));
        put_message(w, "help", r.mitigation.len ? r.mitigation : r.reason);
        cs_json_key(w, "defaultConfiguration");
        cs_json_open(w, '{');
        cs_json_key(w, "enabled");
        cs_json_put_bool(w, !r.off);
        cs_json_key(w, "level");
        cs_json_put_z(w, levels[r.level]);
        cs_json_close(w, '}');
        cs_json_key(w, "properties");
        cs_json_open(w, '{');
        cs_json_key(w, "risk");
        cs_json_put_z(w, cs_risk_name(r.level));
        cs_json_key(w, "security-severity");
        cs_json_put_z(w, severities[r.level]);
        cs_json_close(w, '}');
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static int64_t index_of(const struct cs_policy *policy, struct cs_str id)
{
    struct cs_rule_view r;
    for (size_t i = 0; cs_risk_rule_at(policy, i, &r); i++)
        if (cs_str_eq(r.id, id))
            return (int64_t)i;
    return -1;
}

/* A path as a relative or absolute reference. */
static void put_uri(struct cs_json_writer *w, struct cs_str path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/!$&'()*+,;=@";
    CS_AUTO_BUF struct cs_buf uri = {0};
    for (size_t i = 0; i < path.len; i++) {
        if (path.at[i] && strchr(plain, path.at[i]))
            cs_buf_putc(&uri, path.at[i]);
        else
            cs_buf_printf(&uri, "%%%02X", (unsigned char)path.at[i]);
    }
    put(w, "uri", cs_buf_str(&uri));
}

static void put_location(struct cs_json_writer *w, const struct cs_assess_args *a,
                         const struct cs_finding *f)
{
    struct cs_str file = CS_STR("program.ts");
    if (f->module.len)
        file = f->module;
    else if (a->file && strcmp(a->file, "-") != 0)
        file = cs_str(a->file);
    cs_json_key(w, "locations");
    cs_json_open(w, '[');
    cs_json_open(w, '{');
    cs_json_key(w, "physicalLocation");
    cs_json_open(w, '{');
    cs_json_key(w, "artifactLocation");
    cs_json_open(w, '{');
    put_uri(w, file);
    cs_json_close(w, '}');
    cs_json_key(w, "region");
    cs_json_open(w, '{');
    cs_json_key(w, "startLine");
    cs_json_put_u64(w, f->line ? f->line : 1);
    if (f->column) {
        cs_json_key(w, "startColumn");
        cs_json_put_u64(w, f->column);
    }
    cs_json_close(w, '}');
    cs_json_close(w, '}');
    cs_json_close(w, '}');
    cs_json_close(w, ']');
}

static void put_results(struct cs_json_writer *w, const struct cs_assess_args *a,
                        const struct cs_policy *policy, const struct cs_verdict *v)
{
    cs_json_key(w, "results");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count; i++) {
        const struct cs_finding *f = &v->findings[i];
        int64_t index = index_of(policy, f->id);
        cs_json_open(w, '{');
        put(w, "ruleId", f->id);
        if (index >= 0) {
            cs_json_key(w, "ruleIndex");
            cs_json_put_i64(w, index);
        }
        cs_json_key(w, "level");
        cs_json_put_z(w, levels[f->level]);
        put_message(w, "message", f->reason);
        put_location(w, a, f);
        cs_json_key(w, "properties");
        cs_json_open(w, '{');
        cs_json_key(w, "risk");
        cs_json_put_z(w, cs_risk_name(f->level));
        cs_json_close(w, '}');
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

void cs_assess_sarif(const struct cs_assess_args *a, const struct cs_policy *policy,
                     const struct cs_verdict *v, struct cs_buf *out)
{
    static const char *const actions[] = {"allow", "ask", "deny"};
    struct cs_json_writer writer = CS_JSON_WRITER(out), *w = &writer;
    cs_json_open(w, '{');
    put(w, "$schema", CS_STR(SCHEMA));
    put(w, "version", CS_STR("2.1.0"));
    cs_json_key(w, "runs");
    cs_json_open(w, '[');
    cs_json_open(w, '{');
    cs_json_key(w, "tool");
    cs_json_open(w, '{');
    cs_json_key(w, "driver");
    cs_json_open(w, '{');
    put(w, "name", CS_STR("caisson"));
    put(w, "version", CS_STR(CS_VERSION));
    put_rules(w, policy);
    cs_json_close(w, '}');
    cs_json_close(w, '}');
    put(w, "columnKind", CS_STR("utf16CodeUnits"));
    put_results(w, a, policy, v);
    cs_json_key(w, "properties");
    cs_json_open(w, '{');
    cs_json_key(w, "risk");
    cs_json_put_z(w, cs_risk_name(v->risk));
    cs_json_key(w, "action");
    cs_json_put_z(w, actions[v->action]);
    cs_json_close(w, '}');
    cs_json_close(w, '}');
    cs_json_close(w, ']');
    cs_json_close(w, '}');
}
