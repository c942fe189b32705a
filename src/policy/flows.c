/* The sections `labels` and `flows`: what tools bring in and can do, and what may go where. */
#include "policy/flows.h"

#include "base/mem.h"
#include "policy/inside.h"

struct cs_flow_rules {
    int none;
};

int cs_policy_read_flows(struct cs_policy *p, struct cs_json_val labels, struct cs_json_val flows,
                         struct cs_err *err)
{
    (void)labels;
    (void)flows;
    (void)err;
    p->flows = CS_NEW(struct cs_flow_rules);
    return 0;
}

void cs_flow_rules_free(struct cs_flow_rules *rules)
{
    free(rules);
}

static const struct {
    const char *word;
    unsigned label;
} words[] = {{"private", CS_LABEL_PRIVATE},   {"untrusted", CS_LABEL_UNTRUSTED},
             {"public", CS_LABEL_PUBLIC},     {"egress", CS_LABEL_EGRESS},
             {"internal", CS_LABEL_INTERNAL}, {"destructive", CS_LABEL_DESTRUCTIVE}};

void cs_labels_text(unsigned labels, struct cs_buf *out)
{
    size_t start = out->len;
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (labels & words[i].label)
            cs_buf_printf(out, "%s%s", out->len > start ? ", " : "", words[i].word);
}

unsigned cs_label_parse(struct cs_str word)
{
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (cs_str_is(word, words[i].word))
            return words[i].label;
    return 0;
}

unsigned cs_policy_labels(const struct cs_policy *policy, const struct cs_tool_view *tool,
                          struct cs_str *why)
{
    (void)policy;
    (void)tool;
    (void)why;
    return 0;
}

void cs_flow_place(struct cs_json_val arguments, struct cs_buf *place)
{
    (void)arguments;
    (void)place;
}

struct cs_flow_verdict cs_policy_flow(const struct cs_policy *policy, struct cs_str principal,
                                      const struct cs_flow_source *came, size_t count,
                                      const struct cs_flow_sink *sink)
{
    (void)policy;
    (void)principal;
    (void)came;
    (void)count;
    (void)sink;
    return (struct cs_flow_verdict){.then = CS_GRANT_ALLOW};
}

unsigned cs_flow_part(const struct cs_flow_verdict *verdict, const struct cs_flow_source *came,
                      const struct cs_flow_sink *sink)
{
    (void)sink;
    return verdict->from & came->labels;
}
