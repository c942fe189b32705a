/* Towards the program and the tools: inputs, arguments, results. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "run/journal.h"
#include "run/paths.h"
#include "run/shield.h"

#define RULES      8 /* of one call, on record */
#define RULE_BYTES 80
#define ERR_TEXT   (sizeof((struct cs_err *)0)->msg - 1) /* a text of so many bytes was cut */

/* Where values come from that a caller wrote into the arguments of one call. */
#define BY_HAND "/caller"

/* --- inputs --- */

static void on_admitted(void *ctx, const struct cs_err *err)
{
    struct cs_waits *w = ctx;
    struct cs_run *run = w->run;
    struct cs_err why = *err;
    free(w);
    if (!run)
        return;
    run->shield->waits = NULL;
    if (run->settling)
        return;
    if (why.code != CS_OK)
        cs_run_refuse(run, &why);
    else
        cs_run_go(run);
}

/* They are on record now, if it is: a durable one is not told to have begun before. */
static int inputs_there(struct cs_run *run)
{
    if (!run->request.session.len || !run->on_record)
        return CS_ON;
    struct cs_waits *w = CS_NEW(struct cs_waits);
    w->run = run;
    if (!cs_journal_admit_late(run, on_admitted, w)) {
        free(w);
        return CS_ON;
    }
    run->shield->waits = w;
    return CS_LATER;
}

static int take_inputs(struct cs_run *run, const struct cs_look *look, struct cs_err *err)
{
    const struct cs_passage how = {
        .level = run->shield->level,
        .form = CS_FORM_JSON,
        .origin = CS_FROM_WORLD,
        .server = run->request.by_hand ? CS_STR(BY_HAND) : (struct cs_str){0},
        .look = look,
        .sum = &run->result.protection.inputs,
    };
    CS_AUTO_BUF struct cs_buf masked = {0};
    int n = cs_shield_mask(run, &how, run->request.inputs, &masked, err);
    if (n < 0)
        return cs_wrap(err, "the inputs could not be protected");
    if (n > 0)
        run->request.inputs = cs_arena_dup(&run->arena, cs_buf_str(&masked));
    cs_provenance_inputs(run);
    return inputs_there(run);
}

static void on_inputs(void *ctx, struct cs_look *look)
{
    struct cs_run *run = ctx;
    struct cs_err err = {0};
    run->shield->look = NULL;
    if (run->settling)
        return;
    int next = take_inputs(run, look, &err);
    if (next < 0)
        cs_run_refuse(run, &err);
    else if (next == CS_ON)
        cs_run_go(run);
}

static int mask_inputs(struct cs_run *run, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    struct cs_str inputs = run->request.inputs;
    if (inputs.len <= CS_SCAN_HERE)
        return take_inputs(run, NULL, err);
    sh->look = cs_look_start(run->runner->loop, sh->detector, sh->level, CS_FORM_JSON, inputs,
                             on_inputs, run);
    return CS_LATER;
}

/* What a record says is masked already. */
static bool has_inputs(const struct cs_run *run)
{
    return run->shield && !run->again && !run->resume && run->request.inputs.len;
}

bool cs_shield_waits_for_session(const struct cs_run *run)
{
    return run->shield && run->shield->inputs_wait;
}

/* Those that hold nothing are what they are; the others get tokens of their session. */
static void judge_inputs(struct cs_run *run, const struct cs_spans *spans)
{
    run->shield->inputs_wait = spans->count > 0;
    if (!spans->count)
        cs_provenance_inputs(run);
}

static void on_judged(void *ctx, struct cs_look *look)
{
    struct cs_run *run = ctx;
    run->shield->look = NULL;
    if (run->settling)
        return;
    judge_inputs(run, &look->spans);
    cs_run_go(run);
}

int cs_step_inputs(struct cs_run *run, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    struct cs_str inputs = run->request.inputs;
    struct cs_spans spans = {0};
    if (cs_shield_customs(run, err) < 0)
        return -1;
    if (!has_inputs(run)) {
        cs_provenance_inputs(run);
        return CS_ON;
    }
    if (!run->request.session.len)
        return mask_inputs(run, err);
    if (inputs.len > CS_SCAN_HERE) {
        sh->look = cs_look_start(run->runner->loop, sh->detector, sh->level, CS_FORM_JSON, inputs,
                                 on_judged, run);
        return CS_LATER;
    }
    cs_scan(sh->detector, sh->level, CS_FORM_JSON, inputs, &spans);
    judge_inputs(run, &spans);
    cs_spans_done(&spans);
    return CS_ON;
}

/* --- what its session, or the process before this one, has in its vault --- */

static int vault_there(struct cs_run *run, struct cs_err *err)
{
    if (!cs_shield_waits_for_session(run))
        return CS_ON;
    return mask_inputs(run, err);
}

static int open_parts(struct cs_run *run, const struct cs_str *sealed, size_t count,
                      struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    CS_AUTO_BUF struct cs_buf owner = {0};
    size_t known = sh->safe ? sh->safe->known : 0;
    if (count <= known)
        return 0;
    struct cs_vault *vault = cs_shield_vault(run);
    cs_shield_owner(run, &owner);
    for (size_t i = known; i < count; i++)
        if (cs_vault_open(vault, &run->runner->vault_key, cs_buf_str(&owner), sealed[i], err) < 0)
            return cs_wrap(err, "its vault cannot be opened with the key that is there now "
                                "(privacy.key, CAISSON_PRIVACY_KEY)");
    sh->is_sealed = true;
    if (sh->safe)
        sh->safe->known = count;
    return 0;
}

static void on_parts(void *ctx, const struct cs_err *err, const struct cs_str *sealed, size_t count)
{
    struct cs_waits *w = ctx;
    struct cs_run *run = w->run;
    struct cs_err why = *err;
    free(w);
    if (!run)
        return;
    run->shield->waits = NULL;
    if (run->settling)
        return;
    int next = why.code == CS_OK ? open_parts(run, sealed, count, &why) : -1;
    if (next < 0 && run->shield->safe) /* what was read of it is not used again */
        cs_safe_leave(run->runner->sessions, run->shield->safe);
    if (next == 0)
        next = vault_there(run, &why);
    if (next < 0 && run->resume)
        cs_run_end_early(run, CS_ENDED_FAILED, &why);
    else if (next < 0)
        cs_run_refuse(run, &why);
    else if (next == CS_ON)
        cs_run_go(run);
}

int cs_step_vault(struct cs_run *run, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    CS_AUTO_BUF struct cs_buf owner = {0};
    if (!sh || run->again)
        return CS_ON;
    if (run->hold && run->runner->sessions)
        sh->safe = cs_safe_get(run->runner->sessions, run->tenant, run->request.session);
    if ((!sh->safe && !run->resume) || !run->runner->has_vault_key || !cs_run_store(run))
        return vault_there(run, err);
    struct cs_waits *w = sh->waits = CS_NEW(struct cs_waits);
    w->run = run;
    cs_store_vault_get(run->runner->store, cs_shield_owner(run, &owner), on_parts, w);
    return CS_LATER;
}

static void on_sealed(void *ctx, const struct cs_err *err)
{
    struct cs_run *run = ctx;
    if (err->code != CS_OK) {
        struct cs_err why = *err;
        cs_wrap(&why, "the vault of the session");
        cs_safe_leave(run->runner->sessions, run->shield->safe);
        if (!run->result.failed)
            cs_settle_fault(run, &why);
    }
    cs_run_go(run);
}

int cs_step_seal(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    cs_shield_detach(run);
    /* A durable one has sent it along with its journal. */
    if (!run->shield || !run->shield->safe || !run->hold)
        return CS_ON;
    return cs_shield_seal(run, on_sealed, run) ? CS_LATER : CS_ON;
}

/* --- one call --- */

static size_t names_of(const struct cs_tool *tool, struct cs_buf *text, struct cs_str names[2])
{
    cs_buf_printf(text, "%.*s/%.*s", CS_STR_ARG(tool->server), CS_STR_ARG(tool->name));
    size_t first = text->len;
    cs_buf_printf(text, "%.*s/%.*s", CS_STR_ARG(tool->server_ident), CS_STR_ARG(tool->ident));
    names[0] = cs_strn(text->at, first);
    names[1] = cs_strn(text->at + first, text->len - first);
    return 2;
}

enum cs_privacy_level cs_shield_level(struct cs_gate_call *c)
{
    const struct cs_shield *sh = c->run->shield;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str names[2];
    if (!sh)
        return CS_PRIVACY_OFF;
    size_t count = names_of(c->tool, &text, names);
    return cs_privacy_level_of(sh->privacy, names, count, sh->asked);
}

static const struct cs_own *own_of(struct cs_gate_call *c)
{
    if (!c->own && c->arguments.len > strlen("{}"))
        c->own = cs_own_of(c->run->shield->detector, cs_buf_str(&c->arguments));
    return c->own;
}

static int mask_answer(struct cs_gate_call *c, struct cs_str text, enum cs_form form,
                       const struct cs_look *look, struct cs_buf *out, struct cs_err *err)
{
    struct cs_run *run = c->run;
    struct cs_masked found = {0};
    if (!run->shield)
        return 0;
    const struct cs_passage how = {
        .level = cs_shield_level(c),
        .form = form,
        .origin = CS_FROM_WORLD,
        .literals = true,
        .server = c->tool->server,
        .own = own_of(c),
        .revealed = c->revealed,
        .look = look,
        .sum = &found,
    };
    if (how.level == CS_PRIVACY_OFF)
        cs_shield_unprotected(c);
    int n = cs_shield_mask(run, &how, text, out, err);
    cs_masked_add(&run->result.protection.results, &found);
    cs_shield_count(c, found.total);
    return n < 0 ? cs_wrap(err, "the answer of the tool could not be protected") : n;
}

int cs_shield_result(struct cs_gate_call *c, struct cs_str value, bool is_json,
                     const struct cs_look *look, struct cs_buf *out, struct cs_err *err)
{
    return mask_answer(c, value, is_json ? CS_FORM_JSON : CS_FORM_GUESS, look, out, err);
}

int cs_shield_question(struct cs_gate_call *c, struct cs_str json, struct cs_buf *out,
                       struct cs_err *err)
{
    return mask_answer(c, json, CS_FORM_JSON, NULL, out, err);
}

int cs_shield_artifact(struct cs_run *run, bool is_own, struct cs_str json, struct cs_buf *out,
                       struct cs_err *err)
{
    struct cs_masked *sum = &run->result.protection.results;
    const struct cs_passage how = {
        .level = run->shield ? run->shield->level : CS_PRIVACY_OFF,
        .form = CS_FORM_JSON,
        .origin = CS_FROM_WORLD,
        .literals = !is_own,
        .sum = sum,
    };
    int n = cs_shield_mask(run, &how, json, out, err);
    return n < 0 ? cs_wrap(err, "the artifact could not be protected") : n;
}

/* --- words of errors --- */

static void hide_data(struct cs_str text, struct cs_str dir, struct cs_buf *out)
{
    const char *at;
    while (dir.len > 1 && text.len && (at = memmem(text.at, text.len, dir.at, dir.len))) {
        size_t n = (size_t)(at - text.at);
        cs_buf_put(out, text.at, n);
        cs_buf_puts(out, "<data>");
        text = cs_strn(at + dir.len, text.len - n - dir.len);
    }
    cs_buf_putstr(out, text);
}

/* What was cut off may end within a value that nobody would find any more. */
static struct cs_str whole_words(struct cs_str text)
{
    static const char more[] = "\xE2\x80\xA6";
    if (text.len < ERR_TEXT && !cs_str_ends(text, more))
        return text;
    const char *blank = memrchr(text.at, ' ', text.len);
    return blank ? cs_strn(text.at, (size_t)(blank - text.at)) : text;
}

/* Without places of this machine, but for those that the caller has named. */
static void hide_places(const struct cs_run *run, struct cs_str message, struct cs_str known,
                        struct cs_buf *out)
{
    const char *data = run->runner->data_dir;
    CS_AUTO_BUF struct cs_buf homeless = {0};
    if (cs_hide_paths(message, known, &homeless))
        message = cs_buf_str(&homeless);
    hide_data(message, data ? cs_str(data) : (struct cs_str){0}, out);
}

void cs_shield_words(struct cs_run *run, struct cs_str server, struct cs_str message,
                     struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf clean = {0};
    struct cs_err err = {0};
    if (!run->shield) {
        cs_buf_putstr(out, message);
        return;
    }
    const struct cs_passage how = {
        .level = run->shield->level,
        .form = CS_FORM_TEXT,
        .origin = CS_FROM_WORLD,
        .literals = true,
        .server = server,
        .sum = &run->result.protection.results,
    };
    hide_places(run, whole_words(message), (struct cs_str){0}, &clean);
    int n = cs_shield_mask(run, &how, cs_buf_str(&clean), out, &err);
    if (n == 0)
        cs_buf_putstr(out, cs_buf_str(&clean));
    else if (n < 0)
        cs_buf_puts(out, "it cannot be used; what it said could not be protected");
}

struct cs_str cs_shield_error(struct cs_gate_call *c, struct cs_str message, struct cs_arena *arena)
{
    CS_AUTO_BUF struct cs_buf clean = {0}, masked = {0};
    struct cs_err err = {0};
    if (!c->run->shield || !c->tool)
        return message;
    hide_places(c->run, whole_words(message), cs_buf_str(&c->arguments), &clean);
    int n = mask_answer(c, cs_buf_str(&clean), CS_FORM_TEXT, NULL, &masked, &err);
    if (n < 0)
        return CS_STR("the tool failed; what it said could not be protected, and is not shown");
    return cs_arena_dup(arena, cs_buf_str(n ? &masked : &clean));
}

/* --- arguments, as the tool gets them --- */

struct asking {
    const struct cs_shield *shield;
    bool by_hand, approved;
    struct cs_str names[2];
    size_t count;
    struct cs_str rules[RULES];
    size_t rule_count;
    struct cs_str refused_by;
};

static enum cs_may may(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    struct asking *a = ctx;
    struct cs_str why = CS_STR("written by the caller");
    enum cs_may answer = CS_MAY;
    if (kind == CS_PII_LITERAL)
        return CS_MAY; /* it never was a token */
    if (!a->by_hand || !cs_str_is(from, BY_HAND))
        answer = cs_privacy_may(a->shield->privacy, a->names, a->count, kind, name, &why);
    if (answer == CS_MAY_ASK && a->approved) {
        answer = CS_MAY;
        why = CS_STR("approved");
    }
    if (answer != CS_MAY)
        a->refused_by = why;
    size_t i = 0;
    while (i < a->rule_count && !cs_str_eq(a->rules[i], why))
        i++;
    if (why.len && i == a->rule_count && i < RULES)
        a->rules[a->rule_count++] = cs_utf8_cut(why, RULE_BYTES);
    return answer;
}

static int put_values(struct cs_gate_call *c, struct cs_str json, bool approved, struct cs_buf *out,
                      struct cs_unmasked *unmasked, struct cs_err *err)
{
    struct cs_run *run = c->run;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct asking asking = {
        .shield = run->shield, .by_hand = run->request.by_hand, .approved = approved};
    if (!run->shield || !cs_token_like(json))
        return 0;
    asking.count = names_of(c->tool, &text, asking.names);
    if (!c->revealed)
        c->revealed = cs_revealed_new();
    const struct cs_unmask how = {
        .vault = cs_shield_known(run->shield),
        .may = may,
        .ctx = &asking,
        .revealed = c->revealed,
    };
    int n = cs_unmask(&how, json, out, unmasked, err);
    if (n > 0)
        cs_shield_note_restored(c, unmasked, asking.rules, asking.rule_count);
    if (n < 0 && err->code == CS_DENIED) {
        struct cs_str token = cs_utf8_cut(unmasked->refused, RULE_BYTES);
        cs_fail(err, CS_DENIED, "%sthe value of %.*s is not for '%.*s'%s%.*s",
                unmasked->ask ? "approval required: " : "", CS_STR_ARG(token),
                CS_STR_ARG(asking.names[0]), asking.refused_by.len ? ": " : "",
                CS_STR_ARG(asking.refused_by));
    }
    return n;
}

int cs_shield_arguments(struct cs_gate_call *c, struct cs_buf *out, struct cs_unmasked *unmasked,
                        struct cs_err *err)
{
    return put_values(c, cs_buf_str(&c->arguments), c->approved, out, unmasked, err);
}

static enum cs_may always(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    (void)ctx, (void)kind, (void)name, (void)from;
    return CS_MAY;
}

int cs_shield_value(const struct cs_gate_call *c, struct cs_str json, struct cs_buf *out)
{
    const struct cs_shield *sh = c->run->shield;
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    if (!sh || !cs_token_like(json))
        return 0;
    const struct cs_unmask how = {.vault = cs_shield_known(sh), .may = always};
    return cs_unmask(&how, json, out, &unmasked, &err);
}

/* --- what a person is asked about --- */

struct counting {
    struct asking asking;
    bool all; /* those that it may have, too */
    bool never;
    struct cs_token_row *rows;
    size_t count;
};

/* Nothing is written: every answer is that somebody has to be asked. */
static enum cs_may count_one(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    struct counting *n = ctx;
    if (kind == CS_PII_LITERAL)
        return CS_MAY;
    enum cs_may answer = may(&n->asking, kind, name, from);
    n->never = n->never || answer == CS_MAY_NOT;
    if (!n->all && answer != CS_MAY_ASK)
        return answer;
    size_t i = 0;
    while (i < n->count && !(cs_str_eq(n->rows[i].name, name) && cs_str_eq(n->rows[i].from, from)))
        i++;
    if (i < CS_TOKEN_ROWS) {
        n->count += i == n->count;
        n->rows[i].from = from;
        n->rows[i].name = name;
        n->rows[i].count++;
    }
    return CS_MAY_ASK;
}

static void count_tokens(struct cs_gate_call *c, struct counting *n)
{
    struct cs_run *run = c->run;
    struct cs_str json = cs_buf_str(&c->arguments);
    CS_AUTO(cs_buf_wipe) struct cs_buf values = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    if (!run->shield || !cs_token_like(json))
        return;
    n->asking = (struct asking){.shield = run->shield, .by_hand = run->request.by_hand};
    n->asking.count = names_of(c->tool, &text, n->asking.names);
    const struct cs_unmask how = {
        .vault = cs_shield_known(run->shield), .may = count_one, .ctx = n};
    if (cs_unmask(&how, json, &values, &unmasked, &err) < 0 && err.code != CS_DENIED)
        n->never = true; /* it is refused, whatever somebody says */
}

size_t cs_shield_tokens(struct cs_gate_call *c, struct cs_token_row rows[CS_TOKEN_ROWS])
{
    struct counting n = {.all = true, .rows = rows};
    memset(rows, 0, CS_TOKEN_ROWS * sizeof *rows);
    count_tokens(c, &n);
    return n.count;
}

bool cs_shield_asks(struct cs_gate_call *c, struct cs_buf *which)
{
    struct cs_token_row rows[CS_TOKEN_ROWS] = {0};
    struct counting n = {.rows = rows};
    count_tokens(c, &n);
    if (n.never || !n.count)
        return false;
    for (size_t i = 0; i < n.count; i++)
        cs_buf_printf(which, "%s%.*s x %u", i ? ", " : "", CS_STR_ARG(rows[i].name), rows[i].count);
    return true;
}

struct cs_str cs_shield_reply(struct cs_gate_call *c, struct cs_str json, struct cs_buf *out)
{
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    int n = put_values(c, json, false, out, &unmasked, &err);
    return n < 0 ? (struct cs_str){0} : n > 0 ? cs_buf_str(out) : json;
}
