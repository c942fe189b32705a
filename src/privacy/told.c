/*
 * What can be told of a value to somebody who is not to see it, and has to decide where it may go:
 * what it is, where it came from, and of an address its domain.
 */
#include <string.h>

#include "privacy/vault.h"

#define DOMAIN_MOST 80

/* Letters, digits, dots and hyphens alone: nothing of it can be taken for anything else. */
struct cs_str cs_pii_hint(enum cs_pii kind, struct cs_str value)
{
    const char *at = kind == CS_PII_EMAIL && value.len ? memrchr(value.at, '@', value.len) : NULL;
    size_t len = at ? value.len - (size_t)(at + 1 - value.at) : 0;
    if (!len || len > DOMAIN_MOST)
        return (struct cs_str){0};
    for (size_t i = 1; i <= len; i++)
        if (!(at[i] == '.' || at[i] == '-' || (at[i] >= '0' && at[i] <= '9') ||
              ((at[i] | 32) >= 'a' && (at[i] | 32) <= 'z')))
            return (struct cs_str){0};
    return cs_strn(at, len + 1);
}

static bool is_whole(struct cs_str text, const struct cs_token *t)
{
    return t->start > 0 && text.at[t->start - 1] == '"' && t->end < text.len &&
           text.at[t->end] == '"';
}

size_t cs_tokens_told(const struct cs_vault *vault, struct cs_str json, struct cs_token_told *told,
                      size_t most)
{
    struct cs_token t;
    size_t count = 0;
    if (!vault || !cs_token_like(json))
        return 0;
    for (size_t at = 0; count < most && cs_token_next(json, at, cs_vault_named, vault, &t);
         at = t.end) {
        const struct cs_entry *e = cs_vault_of(vault, &t);
        if (!e || e->kind == CS_PII_LITERAL || (t.shape == CS_SHAPE_BARE && !is_whole(json, &t)))
            continue;
        told[count++] = (struct cs_token_told){
            .token = cs_strn(json.at + t.start, t.end - t.start),
            .name = cs_str(vault->names[e->name].text),
            .from = vault->servers[e->server],
            .hint = cs_pii_hint((enum cs_pii)e->kind, e->raw),
            .program = e->program,
        };
    }
    return count;
}
