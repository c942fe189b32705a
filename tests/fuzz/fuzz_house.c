/*
 * The section "privacy" of a policy, and the same bytes as what a request asks for: whatever is
 * taken answers every question, the same way twice; whatever is not says why.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"
#include "privacy/privacy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fine)
{
    if (!fine)
        abort();
}

static void ask(const struct cs_privacy *p, const struct cs_privacy *same)
{
    const struct cs_str names[] = {CS_STR("mail/send"), CS_STR("crm/find_people")};
    must(memcmp(cs_privacy_hash(p), cs_privacy_hash(same), 32) == 0);
    for (unsigned k = 0; k < CS_PII_COUNT; k++) {
        struct cs_str why = {0};
        enum cs_pii kind = (enum cs_pii)k;
        enum cs_may may = cs_privacy_may(p, names, 2, kind, CS_STR("EMPLOYEE"), &why);
        must(may == cs_privacy_may(same, names, 2, kind, CS_STR("EMPLOYEE"), NULL) && why.len);
    }
    enum cs_privacy_level plain = cs_privacy_level_of(p, names, 2, CS_PRIVACY_OFF);
    must(cs_privacy_level_of(p, names, 2, CS_PRIVACY_HIGH) == CS_PRIVACY_HIGH);
    must(cs_privacy_level_of(p, names, 2, plain) == plain);
}

static void wish(const struct cs_privacy *p, struct cs_str text)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_privacy_wish asked;
    struct cs_err err = {0};
    if (cs_json_parse(text, NULL, &doc, NULL) < 0)
        return;
    if (cs_privacy_wish(p, cs_json_root(&doc), &arena, &asked, &err) < 0)
        must(err.code != CS_OK && err.msg[0]);
    else
        must(asked.level <= CS_PRIVACY_HIGH && !asked.custom_count == !asked.customs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_privacy_options options = {.level = CS_PRIVACY_MEDIUM,
                                         .section = cs_strn((const char *)data, size)};
    struct cs_privacy *p = NULL, *same = NULL;
    struct cs_err err = {0};
    if (cs_privacy_new(&options, &p, &err) < 0) {
        must(err.code != CS_OK && err.msg[0]);
        options.section = CS_STR("");
        must(cs_privacy_new(&options, &p, &err) == 0);
    }
    must(cs_privacy_new(&options, &same, &err) == 0);
    ask(p, same);
    wish(p, cs_strn((const char *)data, size));
    cs_privacy_unref(p);
    cs_privacy_unref(same);
    return 0;
}
