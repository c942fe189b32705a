/* JSON Web Tokens, and other base64 of JSON objects that are keys. */
#include "privacy/secret.h"

#include "base/own.h"

#define JWT_MAX    16384
#define BEFORE_MAX 40

/* The base64 of `{"k":` and of what Docker writes down its logins in. */
static bool is_key_object(struct cs_str run)
{
    return cs_str_starts(run, "eyJrIjoi") || cs_str_starts(run, "eyJhdXRocyI6") ||
           cs_str_starts(run, "eyJhdXRoIjoi");
}

size_t cs_find_jwt(struct cs_view *view, size_t at, size_t after)
{
    /* In the middle of something longer? */
    size_t before = at;
    while (before > 0 && at - before < BEFORE_MAX &&
           cs_is_class(view->at[before - 1], CS_C_ALNUM | CS_C_PLUS))
        before--;
    if (at - before == BEFORE_MAX)
        return 0;
    size_t most = at + JWT_MAX;
    size_t head = cs_class_end(view, after, most, CS_C_URL64);
    size_t end = head, third = 0;
    unsigned parts = 1;
    while (parts < 5 && cs_view_at(view, end) == '.') {
        size_t part = cs_class_end(view, end + 1, most, CS_C_URL64);
        if (part == end + 1 && parts > 2)
            break;
        end = part;
        if (++parts == 3)
            third = end;
    }
    /* Three parts if it is signed, five if it is encrypted. */
    if (parts == 4)
        end = third;
    if (parts >= 3 && head - at >= 12 && end - head >= 20) {
        cs_hit(view, CS_PII_JWT, at, end);
        return end;
    }
    size_t run = cs_class_end(view, after, most, CS_C_BASE64 | CS_C_UNDER | CS_C_DASH);
    if (run - at >= 60 && run - at <= 4096 && is_key_object(cs_strn(view->at + at, run - at))) {
        cs_hit(view, CS_PII_API_KEY, at, run);
        return run;
    }
    return end > at ? end : at + 1;
}

size_t cs_find_jwt64(struct cs_view *view, size_t at, size_t after)
{
    size_t end = cs_class_end(view, after, at + JWT_MAX, CS_C_BASE64 | CS_C_UNDER | CS_C_DASH);
    struct cs_str run = {view->at + at, end - at};
    /* "alg", "typ" or "kid" comes first. */
    static const char *const heads[] = {"ZXlKaGJHY2lPaU", "ZXlKMGVYQWlPaUp", "ZXlKcmFXUWlP"};
    for (size_t i = 0; i < CS_COUNT(heads); i++)
        if (run.len >= 80 && cs_str_starts(run, heads[i])) {
            cs_hit(view, CS_PII_JWT, at, end);
            return end;
        }
    return 0;
}
