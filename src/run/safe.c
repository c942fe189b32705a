/*
 * Vaults of sessions. They are kept in memory with their session, and sealed in the store; another
 * process may have been in the session since, so whoever gets in asks the store what is new.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "run/guard.h"
#include "run/session_in.h"
#include "run/shield.h"

static struct cs_safe **find(struct cs_sessions *s, struct cs_str tenant, struct cs_str id)
{
    struct cs_safe **at = &s->safes;
    while (*at && !(cs_str_is(id, (*at)->id) && cs_str_is(tenant, (*at)->tenant)))
        at = &(*at)->next;
    return at;
}

struct cs_safe *cs_safe_get(struct cs_sessions *s, struct cs_str tenant, struct cs_str id)
{
    struct cs_safe *safe = *find(s, tenant, id);
    if (!safe) {
        safe = CS_NEW(struct cs_safe);
        safe->refs = 1;
        snprintf(safe->id, sizeof safe->id, "%.*s", CS_STR_ARG(id));
        snprintf(safe->tenant, sizeof safe->tenant, "%.*s", CS_STR_ARG(tenant));
        safe->next = s->safes;
        s->safes = safe;
    }
    safe->refs++;
    return safe;
}

void cs_safe_unref(struct cs_safe *safe)
{
    if (!safe || --safe->refs)
        return;
    cs_vault_free(safe->vault);
    free(safe);
}

void cs_safe_leave(struct cs_sessions *s, struct cs_safe *safe)
{
    struct cs_safe **at = &s->safes;
    while (*at && *at != safe)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = safe->next;
    cs_safe_unref(safe);
}

void cs_safe_wipe(struct cs_sessions *s, struct cs_str tenant, struct cs_str id)
{
    CS_AUTO_BUF struct cs_buf owner = {0};
    struct cs_safe *safe = *find(s, tenant, id);
    if (safe)
        cs_safe_leave(s, safe);
    cs_flows_forget(s, tenant, id);
    cs_buf_printf(&owner, "%.*s/%.*s", CS_STR_ARG(tenant), CS_STR_ARG(id));
    cs_store_vault_wipe(s->store, cs_buf_str(&owner), NULL, NULL);
}

void cs_safes_done(struct cs_sessions *s)
{
    while (s->safes)
        cs_safe_leave(s, s->safes);
    cs_flows_close(s);
}
