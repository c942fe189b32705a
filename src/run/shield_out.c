/*
 * Towards the model: logs, streams, results, errors. What the program has put together itself is
 * looked at like everything else, and gets tokens of its own.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/shield.h"

#define HELD_MOST  (64u << 10) /* of a stream, until it is known how it goes on */
#define NOT_SHOWN  "(a text that could not be protected is not shown)"
#define KEY_BEGINS "-----BEGIN"
#define KEY_ENDS   "-----END"

static struct cs_passage said(struct cs_run *run, enum cs_form form, struct cs_masked *sum)
{
    return (struct cs_passage){
        .level = run->shield ? run->shield->level : CS_PRIVACY_OFF,
        .form = form,
        .origin = CS_FROM_PROGRAM,
        .sum = sum,
    };
}

static struct cs_str mask_said(struct cs_run *run, enum cs_form form, struct cs_str text,
                               struct cs_masked *sum, struct cs_buf *buf)
{
    struct cs_err err = {0};
    const struct cs_passage how = said(run, form, sum);
    int n = cs_shield_mask(run, &how, text, buf, &err);
    if (n < 0) {
        cs_buf_clear(buf);
        cs_buf_puts(buf, form == CS_FORM_JSON ? "{\"message\":\"" NOT_SHOWN "\"}" : NOT_SHOWN);
    }
    return n ? cs_buf_str(buf) : text;
}

struct cs_str cs_shield_said(struct cs_run *run, enum cs_form form, struct cs_str text,
                             struct cs_buf *buf)
{
    return mask_said(run, form, text, &run->result.protection.outputs, buf);
}

/* --- streams, while they come --- */

/* How much of it can be told: whole lines, and no private key that is not whole yet. */
static size_t tellable(struct cs_str held)
{
    const char *newline = held.len ? memrchr(held.at, '\n', held.len) : NULL;
    size_t whole = newline ? (size_t)(newline - held.at) + 1 : 0;
    if (held.len > HELD_MOST) { /* a key is not that long, and a line need not be */
        const char *blank = memrchr(held.at, ' ', held.len);
        size_t words = blank ? (size_t)(blank - held.at) + 1 : held.len;
        return held.len - whole > HELD_MOST && words > whole ? words : whole;
    }
    const char *begins = memmem(held.at, whole, KEY_BEGINS, strlen(KEY_BEGINS)), *last = begins;
    while (begins && (size_t)(begins - held.at) < whole) {
        last = begins;
        size_t rest = whole - (size_t)(begins + 1 - held.at);
        begins = memmem(begins + 1, rest, KEY_BEGINS, strlen(KEY_BEGINS));
    }
    if (last && !memmem(last, whole - (size_t)(last - held.at), KEY_ENDS, strlen(KEY_ENDS)))
        whole = (size_t)(last - held.at);
    return whole;
}

/* The stream as a whole is masked, and counted, in the end. */
static void tell(struct cs_run *run, bool is_stderr, size_t len)
{
    struct cs_buf *held = &run->shield->held[is_stderr];
    CS_AUTO_BUF struct cs_buf buf = {0};
    struct cs_masked masked = {0};
    if (!len)
        return;
    cs_seats_output(run, is_stderr,
                    mask_said(run, CS_FORM_TEXT, cs_strn(held->at, len), &masked, &buf));
    cs_buf_drop(held, len);
    run->result.protection.outputs.fresh += masked.fresh; /* they are not new in the end */
}

void cs_shield_output(struct cs_run *run, bool is_stderr, struct cs_str bytes)
{
    struct cs_shield *sh = run->shield;
    if (!sh || sh->level == CS_PRIVACY_OFF) {
        cs_seats_output(run, is_stderr, bytes);
        return;
    }
    struct cs_buf *held = &sh->held[is_stderr];
    cs_buf_putstr(held, bytes);
    if (held->len > HELD_MOST || memchr(bytes.at, '\n', bytes.len))
        tell(run, is_stderr, tellable(cs_buf_str(held)));
}

void cs_shield_flush(struct cs_run *run)
{
    for (int i = 0; run->shield && i < 2; i++)
        tell(run, i, run->shield->held[i].len);
}

/* --- when it is over --- */

static struct cs_str *output_at(struct cs_run *run, unsigned i)
{
    struct cs_result *r = &run->result;
    struct cs_error *e = &r->error;
    struct cs_str *const all[] = {&r->value, &e->message, &e->suggestion, &e->snippet, &e->stack,
                                  &e->name,  &e->file,    &r->out,        &r->err};
    return i < CS_COUNT(all) ? all[i] : NULL;
}

static enum cs_form form_of(unsigned i)
{
    return i == 0 ? CS_FORM_JSON : CS_FORM_TEXT;
}

/* Of the error, as its parts stand in output_at(). */
static bool is_error(unsigned i)
{
    return i >= 1 && i <= 6;
}

static void take_output(struct cs_run *run, unsigned i, const struct cs_look *look)
{
    CS_AUTO_BUF struct cs_buf masked = {0};
    struct cs_err err = {0};
    struct cs_look doubted = {0};
    struct cs_str *text = output_at(run, i);
    struct cs_passage how = said(run, form_of(i), &run->result.protection.outputs);
    how.look = look;
    if (!look && is_error(i) && cs_shield_doubt(run, *text, &doubted.spans))
        how.look = &doubted;
    int n = cs_shield_mask(run, &how, *text, &masked, &err);
    cs_spans_done(&doubted.spans);
    if (n > 0)
        *text = cs_arena_dup(&run->arena, cs_buf_str(&masked));
    if (n >= 0)
        return;
    *text = i == 0 ? (struct cs_str){0} : CS_STR(NOT_SHOWN);
    cs_wrap(&err, "what the program answered could not be protected, and is not shown");
    if (!run->result.failed)
        cs_settle_fault(run, &err);
}

static void on_output(void *ctx, struct cs_look *look)
{
    struct cs_run *run = ctx;
    run->shield->look = NULL;
    take_output(run, run->shield->output++, look);
    cs_run_go(run);
}

int cs_step_mask(struct cs_run *run, struct cs_err *err)
{
    struct cs_shield *sh = run->shield;
    struct cs_str *text;
    (void)err;
    if (!sh || sh->level == CS_PRIVACY_OFF || run->result.cached_from.len ||
        run->result.earlier.len)
        return CS_ON;
    while ((text = output_at(run, sh->output))) {
        if (text->len > CS_SCAN_HERE) {
            run->step--; /* it comes back for the next one */
            sh->look = cs_look_start(run->runner->loop, sh->detector, sh->level,
                                     form_of(sh->output), *text, on_output, run);
            return CS_LATER;
        }
        take_output(run, sh->output++, NULL);
    }
    return CS_ON;
}

/* --- values, for a caller who has the right to see them --- */

static enum cs_may always(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    (void)ctx, (void)kind, (void)name, (void)from;
    return CS_MAY;
}

/* What cannot be put in stays a token. */
static struct cs_str reveal_json(struct cs_run *run, struct cs_str json, uint32_t *put)
{
    struct cs_shield *sh = run->shield;
    const struct cs_unmask how = {
        .vault = cs_shield_known(sh), .may = always, .literals_only_known = true};
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (!json.len || cs_unmask(&how, json, &out, &unmasked, &err) <= 0)
        return json;
    for (int i = 0; i < CS_PII_COUNT; i++)
        put[i] += unmasked.put[i];
    return cs_arena_dup(&sh->revealed_texts, cs_buf_str(&out));
}

static struct cs_str reveal_text(struct cs_run *run, struct cs_str text, uint32_t *put)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (!cs_token_like(text))
        return text;
    cs_json_put_str(&w, text);
    struct cs_str revealed = reveal_json(run, cs_buf_str(&json), put);
    const struct cs_json_limits limits = {.bytes = revealed.len + 1};
    if (revealed.at == json.at || cs_json_parse(revealed, &limits, &doc, NULL) < 0)
        return text;
    struct cs_arena *arena = &run->shield->revealed_texts;
    return cs_arena_dup(arena, cs_json_str(cs_json_root(&doc), arena));
}

void cs_shield_prepare(struct cs_run *run)
{
    struct cs_shield *sh = run->shield;
    const struct cs_result *r = &run->result;
    uint32_t put[CS_PII_COUNT] = {0};
    if (!sh || !run->request.reveal || !cs_shield_known(sh) || run->again || r->refused ||
        r->earlier.len)
        return;
    struct cs_result *revealed = sh->revealed =
        cs_arena_alloc(&sh->revealed_texts, sizeof *revealed);
    struct cs_log *logs = cs_arena_alloc(&sh->revealed_texts, (r->log_count + 1) * sizeof *logs);
    *revealed = *r;
    revealed->value = reveal_json(run, r->value, put);
    for (size_t i = 0; i < r->log_count; i++)
        logs[i] = (struct cs_log){r->logs[i].level, reveal_text(run, r->logs[i].text, put)};
    revealed->logs = logs;
    revealed->out = reveal_text(run, r->out, put);
    revealed->err = reveal_text(run, r->err, put);
    cs_shield_note_revealed(run, put);
}

const struct cs_result *cs_shield_reveal(struct cs_run *run)
{
    struct cs_shield *sh = run->shield;
    if (!sh || !sh->revealed || run->result.failed || run->result.refused)
        return &run->result;
    struct cs_result *r = sh->revealed, said = *r;
    *r = run->result;
    r->value = said.value;
    r->logs = said.logs;
    r->out = said.out;
    r->err = said.err;
    r->envelope = (struct cs_str){0}; /* what is kept has tokens: it is written anew */
    return r;
}
