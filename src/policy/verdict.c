/* A verdict as JSON: one member list for the card, `caisson assess -o json` and the record. */
#include "base/json.h"
#include "base/utf8.h"
#include "policy/judge.h"

static const char *const actions[] = {"allow", "ask", "deny"};

static void put(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_place(struct cs_json_writer *w, uint32_t line, uint32_t column)
{
    if (!line)
        return;
    cs_json_key(w, "line");
    cs_json_put_u64(w, line);
    cs_json_key(w, "column");
    cs_json_put_u64(w, column);
}

static void put_list(struct cs_json_writer *w, const char *key, const struct cs_str *list,
                     uint32_t count)
{
    cs_json_key(w, key);
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < count; i++)
        cs_json_put_str(w, list[i]);
    cs_json_close(w, ']');
}

static void put_findings(struct cs_json_writer *w, const struct cs_verdict *v)
{
    cs_json_key(w, "findings");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count; i++) {
        const struct cs_finding *f = &v->findings[i];
        cs_json_open(w, '{');
        put(w, "id", f->id);
        cs_json_key(w, "level");
        cs_json_put_z(w, cs_risk_name(f->level));
        put_place(w, f->line, f->column);
        put(w, "module", f->module);
        put(w, "reason", f->reason);
        put(w, "mitigation", f->mitigation);
        put(w, "what", f->what);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_labels(struct cs_json_writer *w, unsigned labels)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_json_key(w, "labels");
    cs_json_open(w, '[');
    for (unsigned bit = 1; bit <= CS_LABEL_INTERNAL; bit <<= 1) {
        if (!(labels & bit))
            continue;
        cs_buf_clear(&text);
        cs_labels_text(bit, &text);
        cs_json_put_str(w, cs_buf_str(&text));
    }
    cs_json_close(w, ']');
}

static void put_tools(struct cs_json_writer *w, const struct cs_verdict *v)
{
    static const char *const standings[] = {"known", "young", "changed"};
    cs_json_key(w, "tools");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->tool_count; i++) {
        const struct cs_reached *t = &v->tools[i];
        cs_json_open(w, '{');
        put(w, "server", t->tool.target.server);
        put(w, "tool", t->tool.target.tool);
        put_labels(w, t->labels);
        cs_json_key(w, "grant");
        cs_json_put_z(w, actions[t->grant]);
        cs_json_key(w, "standing");
        cs_json_put_z(w, standings[t->tool.standing]);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    cs_json_key(w, "any_tool");
    cs_json_put_bool(w, v->any_tool);
}

static void put_flows(struct cs_json_writer *w, const struct cs_verdict *v)
{
    cs_json_key(w, "flows");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->flow_count; i++) {
        cs_json_open(w, '{');
        put(w, "from", v->flows[i].from);
        put(w, "to", v->flows[i].to);
        put_place(w, v->flows[i].line, v->flows[i].column);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

void cs_verdict_json(const struct cs_verdict *v, struct cs_buf *out)
{
    struct cs_json_writer writer = CS_JSON_WRITER(out), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "level");
    cs_json_put_z(w, cs_risk_name(v->risk));
    cs_json_key(w, "action");
    cs_json_put_z(w, actions[v->action]);
    put(w, "rule", v->rule);
    put_findings(w, v);
    put_list(w, "reasons", v->reasons, v->reason_count);
    put_list(w, "mitigations", v->mitigations, v->mitigation_count);
    put_list(w, "permissions", v->permissions, v->permission_count);
    put_tools(w, v);
    put_flows(w, v);
    cs_json_key(w, "limits");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        cs_json_key(w, cs_limit_name((enum cs_limit)i));
        cs_json_put_u64(w, cs_limit_get(&v->limits, (enum cs_limit)i));
    }
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}
