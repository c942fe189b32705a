/*
 * What a worker says about a program, unchecked: whatever it is, the judge comes to a verdict, the
 * verdict is valid JSON, and what could not be read is asked for.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "policy/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool one_tool(void *ctx, size_t i, struct cs_tool_view *view)
{
    (void)ctx;
    *view = (struct cs_tool_view){
        .target = {CS_STR("crm"), CS_STR("crm"), CS_STR("find"), CS_STR("find")},
        .annotated = true,
        .destructive = true};
    return i == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cs_policy *policy;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0}, facts = {0};
    struct cs_err err = {0};
    struct cs_verdict v;
    if (!policy)
        must(cs_policy_load(NULL, &policy, &err) == 0);
    struct cs_circumstances c = {.principal = CS_STR("local"),
                                 .language = "typescript",
                                 .intent = CS_STR("sum up"),
                                 .tool = one_tool};
    struct cs_limits asked = cs_limits_default();
    struct cs_str text = cs_strn((const char *)data, size);
    cs_judge(policy, text, &c, &asked, &arena, &v);
    cs_verdict_json(&v, &json);
    must(cs_json_parse(cs_buf_str(&json), NULL, &doc, &err) == 0);
    must(v.finding_count == 0 || v.findings[0].level == v.risk);
    if (cs_json_parse(text, NULL, &facts, &err) < 0)
        must(v.action != CS_GRANT_ALLOW);
    /* The same as a guest's text. */
    c.source = text;
    c.language = "python";
    cs_judge(policy, (struct cs_str){0}, &c, &asked, &arena, &v);
    must(v.risk >= CS_RISK_MEDIUM);
    /* And as the arguments of a call. */
    struct cs_target box = {CS_STR("box"), CS_STR("box"), CS_STR("run"), CS_STR("run")};
    struct cs_command command;
    bool stops = cs_judge_command(policy, CS_STR("local"), &box, text, &arena, &command);
    must(stops == (command.then != CS_GRANT_ALLOW) && (!stops || command.rule.len));
    return 0;
}
