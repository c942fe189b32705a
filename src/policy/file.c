/* One policy file: which sections there are, and who reads them. */
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/jsonc.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/own.h"
#include "policy/inside.h"
#include "policy/risk.h"
#include "schema/schema.h"

#define POLICY_BYTES (1u << 20)
#define SECTIONS     "tools, privacy, risk, labels, flows, approvals"
#define KNOWN_MOST   32 /* keys of one object */
#define TEXT_MOST    2000
#define TIMEOUT_MOST (30u * 24 * 3600)
#define WAITING_MOST 100000u

static const struct cs_approval_rules approval_defaults = {
    .timeout_s = 30,
    .durable_timeout_s = 24 * 3600,
    .four_eyes = CS_RISK_CRITICAL,
    .most_waiting = 100,
};

struct cs_policy *cs_policy_ref(struct cs_policy *policy)
{
    if (policy)
        policy->refs++;
    return policy;
}

void cs_policy_unref(struct cs_policy *policy)
{
    if (!policy || --policy->refs)
        return;
    for (size_t i = 0; i < policy->rule_count; i++)
        cs_schema_free(policy->rules[i].parameters);
    cs_risk_rules_free(policy->risk);
    cs_flow_rules_free(policy->flows);
    cs_arena_done(&policy->arena);
    free(policy);
}

CS_DEFINE_CLEANUP(struct cs_policy, cs_policy_unref)

/* --- what is wrong --- */

/* The one of "a, b, c" that was probably meant. */
static const char *nearest(struct cs_arena *arena, struct cs_str word, const char *known)
{
    const char *names[KNOWN_MOST];
    size_t count = 0;
    while (*known && count < KNOWN_MOST) {
        size_t len = strcspn(known, ",");
        names[count++] = cs_arena_dup(arena, cs_strn(known, len)).at;
        known += len;
        known += strspn(known, ", ");
    }
    return cs_nearest(cs_arena_dup(arena, word).at, names, count);
}

int cs_policy_unknown(struct cs_json_val key, const char *where, const char *known,
                      struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str word = cs_json_str(key, &arena);
    const char *near = nearest(&arena, word, known);
    return cs_fail(err, CS_INVALID, "%s: there is no setting '%.*s'; %s%s%sthere are: %s", where,
                   word.len > 60 ? 60 : (int)word.len, word.at, near ? "did you mean '" : "",
                   near ? near : "", near ? "'? " : "", known);
}

/* --- approvals --- */

static int read_seconds(struct cs_json_val from, const char *name, uint32_t most, uint32_t *into,
                        struct cs_err *err)
{
    int64_t n;
    if (!cs_json_i64(from, &n) || n < 1 || n > (int64_t)most)
        return cs_fail(err, CS_INVALID, "approvals.%s: must be a whole number from 1 to %u", name,
                       most);
    *into = (uint32_t)n;
    return 0;
}

static int read_text(struct cs_policy *p, struct cs_json_val from, const char *name, bool url,
                     struct cs_str *into, struct cs_err *err)
{
    struct cs_str text = cs_json_str(from, &p->arena);
    bool good = cs_json_type(from) == CS_JSON_STRING && text.len && text.len <= TEXT_MOST &&
                !memchr(text.at, 0, text.len);
    if (!good)
        return cs_fail(err, CS_INVALID, "approvals.%s: must be a text, not longer than %u", name,
                       TEXT_MOST);
    if (url && !cs_str_starts(text, "https://") && !cs_str_starts(text, "http://"))
        return cs_fail(err, CS_INVALID, "approvals.%s: must be a URL like https://example.org/%s",
                       name, name);
    *into = cs_arena_dup(&p->arena, text);
    return 0;
}

static int read_four_eyes(struct cs_json_val from, struct cs_approval_rules *a, struct cs_err *err)
{
    static const char *const names[] = {"high", "critical", "off"};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str word = cs_json_str(from, &arena);
    size_t i = 0;
    while (i < CS_COUNT(names) && !cs_str_is(word, names[i]))
        i++;
    if (i == CS_COUNT(names)) {
        const char *near = nearest(&arena, word, "off, high, critical");
        return cs_fail(err, CS_INVALID,
                       "approvals.four_eyes: must be \"off\", \"high\" or \"critical\"%s%s%s",
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    a->four_eyes_off = i == 2;
    a->four_eyes = i == 0 ? CS_RISK_HIGH : CS_RISK_CRITICAL;
    return 0;
}

static int read_approvals(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    struct cs_approval_rules *a = &p->approvals;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "approvals: must be an object");
    while (cs_json_next(from, &it, &key, &item)) {
        int status;
        if (cs_json_is(key, "timeout_s"))
            status = read_seconds(item, "timeout_s", TIMEOUT_MOST, &a->timeout_s, err);
        else if (cs_json_is(key, "durable_timeout_s"))
            status =
                read_seconds(item, "durable_timeout_s", TIMEOUT_MOST, &a->durable_timeout_s, err);
        else if (cs_json_is(key, "most_waiting"))
            status = read_seconds(item, "most_waiting", WAITING_MOST, &a->most_waiting, err);
        else if (cs_json_is(key, "four_eyes"))
            status = read_four_eyes(item, a, err);
        else if (cs_json_is(key, "webhook"))
            status = read_text(p, item, "webhook", true, &a->webhook, err);
        else if (cs_json_is(key, "secret"))
            status = read_text(p, item, "secret", false, &a->secret, err);
        else if (cs_json_is(key, "public_url"))
            status = read_text(p, item, "public_url", true, &a->public_url, err);
        else
            return cs_policy_unknown(key, "approvals",
                                     "timeout_s, durable_timeout_s, four_eyes, most_waiting, "
                                     "webhook, secret, public_url",
                                     err);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* --- the file --- */

static bool has_nul(struct cs_json_val v)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str text = {0};
    if (cs_json_type(v) == CS_JSON_STRING)
        text = cs_json_str(v, &arena);
    return text.len && memchr(text.at, 0, text.len);
}

/* Whatever comes after a NUL would be there for those who look, and not for those who decide. The
 * text is not told: it may be a secret. */
static int refuse_nul(struct cs_json_val v, const char *where, struct cs_err *err)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool object = cs_json_type(v) == CS_JSON_OBJECT;
    if (has_nul(v))
        return cs_fail(err, CS_INVALID, "%s: has a NUL in it (\\u0000)", where);
    if (!object && cs_json_type(v) != CS_JSON_ARRAY)
        return 0;
    for (size_t i = 0; cs_json_next(v, &it, object ? &key : NULL, &item); i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        char inner[CS_PLACE_BYTES];
        if (object && has_nul(key))
            return cs_fail(err, CS_INVALID, "%s: a name has a NUL in it (\\u0000)",
                           *where ? where : "the file");
        if (object)
            cs_risk_place(inner, "%s%s%.*s", where, *where ? "." : "",
                          CS_STR_ARG(cs_json_str(key, &arena)));
        else
            cs_risk_place(inner, "%s[%zu]", where, i);
        if (refuse_nul(item, inner, err) < 0)
            return -1;
    }
    return 0;
}

static int refuse_nuls(struct cs_str text, struct cs_json_val root, struct cs_err *err)
{
    static const char written[] = "\\u0000";
    return memmem(text.at, text.len, written, sizeof written - 1) ? refuse_nul(root, "", err) : 0;
}

static int read_sections(struct cs_policy *p, struct cs_json_val root, struct cs_err *err)
{
    static const char *const known[] = {"tools", "privacy", "risk", "labels", "flows", "approvals"};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(root, &it, &key, &item)) {
        bool found = false;
        for (size_t i = 0; !found && i < CS_COUNT(known); i++)
            found = cs_json_is(key, known[i]);
        if (!found)
            return cs_policy_unknown(key, "the file", SECTIONS, err);
    }
    struct cs_json_val privacy = cs_json_get(root, "privacy");
    if (cs_json_type(privacy) != CS_JSON_NONE && cs_json_type(privacy) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "privacy: must be an object");
    p->privacy = cs_arena_dup(&p->arena, cs_json_raw(privacy));
    /* The first mistake of each of them, so that they need not be found one by one. */
    struct cs_err wrong[4] = {{0}};
    cs_policy_read_tools(p, cs_json_get(root, "tools"), &wrong[0]);
    cs_policy_read_risk(p, cs_json_get(root, "risk"), &wrong[1]);
    read_approvals(p, cs_json_get(root, "approvals"), &wrong[2]);
    cs_policy_read_flows(p, cs_json_get(root, "labels"), cs_json_get(root, "flows"), &wrong[3]);
    CS_AUTO_BUF struct cs_buf said = {0};
    enum cs_code code = CS_OK;
    for (size_t i = 0; i < CS_COUNT(wrong); i++) {
        if (!wrong[i].code)
            continue;
        code = code ? code : wrong[i].code;
        cs_buf_printf(&said, "%s%s", said.len ? "; and " : "", wrong[i].msg);
    }
    return code ? cs_fail(err, code, "%s", cs_buf_cstr(&said)) : 0;
}

int cs_policy_parse(struct cs_str json, const char *name, struct cs_policy **policy,
                    struct cs_err *err)
{
    CS_AUTO(cs_policy_unrefp) struct cs_policy *p = CS_NEW(struct cs_policy);
    CS_AUTO_JSON struct cs_json doc = {0};
    p->refs = 1;
    p->approvals = approval_defaults;
    if (json.len) {
        /* Comments may be there; the same key twice may not: one of them would count for nothing.
         */
        CS_AUTO_JSONC struct cs_jsonc text = {0};
        if (cs_jsonc_parse(json, &text, err) < 0)
            return cs_wrap(err, "%s", name);
        p->text = cs_arena_dup(&p->arena, cs_buf_str(&text.plain));
        if (cs_json_parse(p->text, NULL, &doc, err) < 0)
            return cs_wrap(err, "%s", name);
        cs_sha256(json, p->hash);
        if (cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT)
            return cs_fail(err, CS_INVALID, "%s: must be an object", name);
        if (refuse_nuls(p->text, cs_json_root(&doc), err) < 0)
            return cs_wrap(err, "%s", name);
    }
    struct cs_json_val none = {0};
    if (read_sections(p, json.len ? cs_json_root(&doc) : none, err) < 0)
        return cs_wrap(err, "%s", name);
    *policy = CS_TAKE(p);
    return 0;
}

int cs_policy_load(const char *path, struct cs_policy **policy, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0}, name = {0};
    if (!path)
        return cs_policy_parse((struct cs_str){0}, "policy", policy, err);
    cs_buf_printf(&name, "policy %s", path);
    if (cs_file_read_regular(path, POLICY_BYTES, &text, err) < 0)
        return cs_wrap(err, "policy %s", path);
    if (!text.len)
        return cs_fail(err, CS_INVALID, "policy %s: it is empty", path);
    return cs_policy_parse(cs_buf_str(&text), cs_buf_cstr(&name), policy, err);
}

void cs_policy_set_secret(struct cs_policy *policy, struct cs_str secret)
{
    policy->approvals.secret = cs_arena_dup(&policy->arena, secret);
}

struct cs_str cs_policy_text(const struct cs_policy *policy)
{
    return policy->text;
}

const unsigned char *cs_policy_hash(const struct cs_policy *policy)
{
    return policy->hash;
}

struct cs_str cs_policy_privacy(const struct cs_policy *policy)
{
    return policy->privacy;
}

struct cs_approval_rules cs_policy_approvals(const struct cs_policy *policy)
{
    return policy ? policy->approvals : approval_defaults;
}
