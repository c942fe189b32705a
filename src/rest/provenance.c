/* Where the result of an execution comes from; with ?attest=true, signed for others. */
#include "ledger/ledger.h"
#include "rest/inside.h"

static void answer(struct cs_visit *v, struct cs_str provenance)
{
    CS_AUTO_BUF struct cs_buf dsse = {0};
    struct cs_err err = {0};
    if (!cs_str_is(v->query, "true")) {
        cs_visit_reply(v, 200, "application/json", provenance);
        return;
    }
    if (!v->rest->o.ledger)
        cs_visit_failf(v, 0, CS_SYSTEM, "there is no ledger to sign with");
    else if (cs_ledger_attest(v->rest->o.ledger, provenance, &dsse, &err) < 0)
        cs_visit_fail(v, 0, &err);
    else
        cs_visit_json(v, 200, &dsse);
}

static void on_row(struct cs_visit *v, const struct cs_execution_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {.depth = 4000};
    if (!row->envelope.len) {
        cs_visit_failf(v, 0, CS_CONFLICT, "the execution is not over: ask again when it is");
        return;
    }
    struct cs_json_val found = {0};
    if (cs_json_parse(row->envelope, &limits, &doc, NULL) == 0)
        found = cs_json_get(cs_json_root(&doc), "provenance");
    if (cs_json_type(found) == CS_JSON_OBJECT)
        answer(v, cs_json_raw(found));
    else
        cs_visit_failf(v, 0, CS_MISSING, "this execution has no provenance: it is older than that");
}

void cs_rest_get_provenance(struct cs_visit *v)
{
    v->query = cs_visit_query(v, "attest");
    if (v->query.len && !cs_str_is(v->query, "true") && !cs_str_is(v->query, "false"))
        cs_visit_failf(v, 0, CS_INVALID, "attest must be true or false");
    else
        cs_visit_find(v, on_row);
}
