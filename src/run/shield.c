#include "run/shield.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run/journal.h"

/* --- the runner --- */

void cs_runner_set_privacy(struct cs_runner *r, struct cs_privacy *privacy)
{
    if (privacy)
        cs_privacy_ref(privacy);
    cs_privacy_unref(r->privacy);
    r->privacy = privacy;
}

const struct cs_privacy *cs_runner_privacy(const struct cs_runner *r)
{
    return r->privacy;
}

int cs_runner_mask(struct cs_runner *r, struct cs_str text, struct cs_buf *out, struct cs_err *err)
{
    if (!r->privacy || cs_privacy_off(r->privacy) || !text.len ||
        cs_privacy_level(r->privacy) == CS_PRIVACY_OFF)
        return 0;
    /* Tokens that nobody could take for those of a session. */
    struct cs_vault *vault = cs_vault_new(CS_TOKEN_HASH);
    const struct cs_mask how = {
        .detector = cs_privacy_detector(r->privacy),
        .vault = vault,
        .level = cs_privacy_level(r->privacy),
        .form = CS_FORM_GUESS,
        .origin = CS_FROM_PROGRAM,
    };
    struct cs_masked masked = {0};
    int n = cs_mask(&how, text, out, &masked, err);
    cs_vault_free(vault);
    return n;
}

/* --- one execution --- */

static enum cs_privacy_level higher(enum cs_privacy_level a, enum cs_privacy_level b)
{
    return a > b ? a : b;
}

static void open_shield(struct cs_run *run, enum cs_privacy_level asked,
                        enum cs_privacy_level level)
{
    struct cs_shield *sh = run->shield = CS_NEW(struct cs_shield);
    struct cs_protection *p = &run->result.protection;
    sh->privacy = cs_privacy_ref(run->runner->privacy);
    sh->detector = cs_detector_ref(cs_privacy_detector(sh->privacy));
    sh->asked = asked;
    sh->level = level;
    p->is_protected = true;
    p->level = level;
}

void cs_shield_open(struct cs_run *run)
{
    struct cs_privacy *privacy = run->runner->privacy;
    struct cs_protection *p = &run->result.protection;
    const struct cs_request *q = &run->request;
    if (!privacy)
        return;
    p->is_known = true;
    if (run->again) { /* as it was then, whatever holds now */
        const struct cs_journal_doc *doc = cs_again_doc(run);
        if (doc->is_protected)
            open_shield(run, doc->level, doc->level);
        if (run->shield)
            run->shield->played = doc->made;
        return;
    }
    bool has_tokens = run->on_record && !q->no_privacy; /* one that goes on, and had protection */
    if (cs_privacy_off(privacy) && !has_tokens)
        p->why = "switched off (--no-pii-protection, privacy.enabled)";
    else if (q->no_privacy)
        p->why = "the request wants none";
    else
        open_shield(run, q->privacy, higher(cs_privacy_level(privacy), q->privacy));
}

void cs_shield_fingerprint(struct cs_run *run)
{
    const struct cs_runner *r = run->runner;
    struct cs_request *q = &run->request;
    unsigned char both[sizeof r->vault_key.bytes + CS_SHA256], hash[CS_SHA256];
    char hex[2 * CS_SHA256 + 1];
    if (!r->has_vault_key || !q->fingerprint.len)
        return;
    memcpy(both, r->vault_key.bytes, sizeof r->vault_key.bytes);
    cs_sha256(q->fingerprint, both + sizeof r->vault_key.bytes);
    cs_sha256(cs_strn((const char *)both, sizeof both), hash);
    explicit_bzero(both, sizeof both);
    cs_hex(hash, sizeof hash, hex);
    q->fingerprint = cs_arena_dup(&run->arena, cs_strn(hex, 2 * (size_t)CS_SHA256));
}

int cs_shield_customs(struct cs_run *run, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    const struct cs_request *q = &run->request;
    struct cs_detector *with = NULL;
    if (!sh || !q->custom_count)
        return 0;
    if (q->durable)
        return cs_fail(err, CS_INVALID,
                       "a durable execution cannot have patterns of its own: they would be unknown "
                       "when it goes on; put them into the section \"privacy\" of the policy");
    if (cs_detector_with(sh->detector, q->customs, q->custom_count, &with, err) < 0)
        return -1;
    cs_detector_unref(sh->detector);
    sh->detector = with;
    run->request.customs = NULL;
    return 0;
}

void cs_shield_detach(struct cs_run *run)
{
    if (run->shield && run->shield->is_recorded)
        cs_vault_record(run->shield->vault, NULL);
    if (run->shield)
        run->shield->is_recorded = false;
}

void cs_shield_done(struct cs_run *run)
{
    cs_shield_detach(run);
    struct cs_shield *sh = CS_TAKE(run->shield);
    if (!sh)
        return;
    if (sh->waits)
        sh->waits->run = NULL;
    if (sh->look)
        sh->look->ctx = NULL;
    if (!sh->safe)
        cs_vault_free(sh->vault);
    cs_safe_unref(sh->safe);
    cs_buf_done(&sh->made);
    cs_buf_done(&sh->held[0]);
    cs_buf_done(&sh->held[1]);
    free(sh->tools);
    free(sh->unprotected);
    cs_arena_done(&sh->revealed_texts);
    cs_detector_unref(sh->detector);
    cs_privacy_unref(sh->privacy);
    free(sh);
}

/* --- its vault --- */

struct cs_vault *cs_shield_vault(struct cs_run *run)
{
    struct cs_shield *sh = run->shield;
    if (sh->vault)
        return sh->vault;
    if (sh->safe && sh->safe->vault)
        sh->vault = sh->safe->vault;
    else
        sh->vault = cs_vault_new(cs_privacy_style(sh->privacy));
    if (sh->safe)
        sh->safe->vault = sh->vault;
    sh->is_recorded = !run->again;
    if (run->again)
        cs_vault_play(sh->vault, sh->played);
    else
        cs_vault_record(sh->vault, &sh->made);
    return sh->vault;
}

struct cs_str cs_shield_owner(const struct cs_run *run, struct cs_buf *text)
{
    struct cs_str whose =
        run->shield->safe ? cs_str(run->shield->safe->id) : cs_str(run->result.execution_id);
    cs_buf_printf(text, "%.*s/%.*s", CS_STR_ARG(run->tenant), CS_STR_ARG(whose));
    return cs_buf_str(text);
}

bool cs_shield_seal(struct cs_run *run, cs_stored *done, void *ctx)
{
    struct cs_shield *sh = run->shield;
    struct cs_store *store = cs_run_store(run);
    CS_AUTO_BUF struct cs_buf sealed = {0}, owner = {0};
    struct cs_err err = {0};
    if (!sh || !sh->vault || !store || !run->runner->has_vault_key ||
        (!sh->safe && !run->request.durable))
        return false;
    int n = cs_vault_seal(sh->vault, &run->runner->vault_key, cs_shield_owner(run, &owner), &sealed,
                          &err);
    if (n < 0 && run->record_error.code == CS_OK) {
        cs_wrap(&err, "the vault of the execution");
        run->record_error = err; /* its tokens would be nobody's */
    }
    if (n < 0 || !sealed.len)
        return false;
    sh->is_sealed = true;
    if (sh->safe)
        sh->safe->known++;
    cs_store_vault_add(store, cs_buf_str(&owner), cs_buf_str(&sealed), done, ctx);
    return true;
}

void cs_shield_wipe(struct cs_run *run)
{
    const struct cs_shield *sh = run->shield;
    CS_AUTO_BUF struct cs_buf owner = {0};
    if (sh && !sh->safe && (sh->is_sealed || run->request.durable) && run->runner->store)
        cs_store_vault_wipe(run->runner->store, cs_shield_owner(run, &owner), NULL, NULL);
}

/* --- a text is masked --- */

int cs_shield_mask(struct cs_run *run, const struct cs_passage *how, struct cs_str text,
                   struct cs_buf *out, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    struct cs_spans spans = {0};
    struct cs_masked masked = {0};
    bool off = how->level == CS_PRIVACY_OFF, strange = how->literals && cs_token_like(text);
    /* Of a tool that is not protected: what it was given, and what only looks like a token, all the
     * same. */
    if (!sh || !text.len || (off && !strange && !how->revealed))
        return 0;
    const struct cs_spans *found = how->look ? &how->look->spans : NULL;
    uint64_t us = how->look ? how->look->us : 0;
    struct cs_vault *known = cs_shield_known(sh);
    /* Most have nothing to hide, and no vault is made for them. With tokens in it a text is looked
     * at as if there were one: a replay has none. */
    if (!known && !found && !off && !cs_token_like(text)) {
        uint64_t start = uv_hrtime();
        cs_scan(sh->detector, how->level, how->form, text, &spans);
        us = (uv_hrtime() - start) / 1000;
        found = &spans;
    }
    int n = 0;
    if (known || !found || found->count || strange) {
        const struct cs_mask mask = {
            .detector = sh->detector,
            .vault = cs_shield_vault(run),
            .level = how->level,
            .form = how->form,
            .origin = how->origin,
            .literals = how->literals,
            .server = how->server,
            .own = how->own,
            .revealed = how->revealed,
        };
        n = found ? cs_mask_spans(&mask, text, found, out, &masked, err)
                  : cs_mask(&mask, text, out, &masked, err);
    } else {
        masked.bytes = text.len;
    }
    masked.us += us;
    cs_masked_add(how->sum, &masked);
    cs_spans_done(&spans);
    return n;
}
