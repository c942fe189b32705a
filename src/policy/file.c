/* One policy file: which sections there are, and who reads them. */
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"
#include "policy/inside.h"
#include "schema/schema.h"

#define POLICY_BYTES (1u << 20)
#define SECTIONS     "tools, privacy, risk, labels, flows, approvals"

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
    p->privacy = cs_arena_dup(&p->arena, cs_json_raw(cs_json_get(root, "privacy")));
    if (cs_policy_read_tools(p, cs_json_get(root, "tools"), err) < 0 ||
        cs_policy_read_risk(p, cs_json_get(root, "risk"), err) < 0)
        return -1;
    return cs_policy_read_flows(p, cs_json_get(root, "labels"), cs_json_get(root, "flows"), err);
}

int cs_policy_parse(struct cs_str json, const char *name, struct cs_policy **policy,
                    struct cs_err *err)
{
    CS_AUTO(cs_policy_unrefp) struct cs_policy *p = CS_NEW(struct cs_policy);
    CS_AUTO_JSON struct cs_json doc = {0};
    p->refs = 1;
    p->approvals = approval_defaults;
    if (json.len) {
        if (cs_json_parse(json, NULL, &doc, err) < 0)
            return cs_wrap(err, "%s", name);
        cs_sha256(json, p->hash);
        if (cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT)
            return cs_fail(err, CS_INVALID, "%s: must be an object", name);
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
    if (cs_file_read(path, POLICY_BYTES, &text, err) < 0)
        return cs_wrap(err, "policy %s", path);
    if (!text.len)
        return cs_fail(err, CS_INVALID, "policy %s: it is empty", path);
    return cs_policy_parse(cs_buf_str(&text), cs_buf_cstr(&name), policy, err);
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
