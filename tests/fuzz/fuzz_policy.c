/*
 * A policy file, and tools that call themselves anything. Whatever it is: it is refused with one
 * clear line, or every question gets an answer; what is denied to all is denied to each, and no
 * description takes away what the name of a tool says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/flows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void ask(const struct cs_policy *p, struct cs_str text)
{
    struct cs_str name = cs_strn(text.at, text.len < 80 ? text.len : 80);
    struct cs_target target = {CS_STR("crm"), CS_STR("crm"), name, name};
    struct cs_tool_view tool = {
        .target = target, .description = text, .input = text, .open_world = true, .trusted = true};
    struct cs_str why = {0};
    unsigned labels = cs_policy_labels(p, &tool, &why);
    CS_AUTO_BUF struct cs_buf said = {0}, place = {0};
    cs_labels_text(labels, &said);
    tool.description = (struct cs_str){0};
    unsigned bare = cs_policy_labels(NULL, &tool, NULL);
    tool.description = CS_STR("Gets the weather from public documentation, a harmless draft.");
    unsigned lied = cs_policy_labels(NULL, &tool, NULL);
    must(!(bare & ~lied & (CS_LABEL_EGRESS | CS_LABEL_UNTRUSTED | CS_LABEL_DESTRUCTIVE)));
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(text, NULL, &doc, &err) == 0)
        cs_flow_place(cs_json_root(&doc), &place);
    must(place.len <= CS_FLOW_PLACE);
    struct cs_flow_source came[] = {{target, CS_LABEL_PRIVATE, cs_buf_str(&place)},
                                    {target, CS_LABEL_UNTRUSTED | labels, cs_buf_str(&place)}};
    struct cs_flow_sink sink = {target, labels | CS_LABEL_EGRESS, cs_buf_str(&place)};
    struct cs_flow_verdict v = cs_policy_flow(p, CS_STR("local"), came, 2, &sink);
    must(!v.from == !v.rule.len && (v.then == CS_GRANT_ALLOW || v.from));
    cs_policy_grant(p, CS_STR("local"), &target, &why);
    cs_policy_call_limits(p, &target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = cs_strn((const char *)data, size);
    struct cs_policy *p = NULL;
    struct cs_err err = {0};
    if (size > 1 << 16)
        return 0;
    if (cs_policy_parse(text, "policy", &p, &err) < 0) {
        must(err.code != CS_BUG && strncmp(err.msg, "policy", 6) == 0);
        must(cs_policy_parse((struct cs_str){0}, "policy", &p, &err) == 0);
    }
    ask(p, text);
    struct cs_approval_rules a = cs_policy_approvals(p);
    must(a.timeout_s && a.durable_timeout_s && a.most_waiting);
    cs_policy_unref(p);
    return 0;
}
