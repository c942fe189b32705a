#include "front/deciding.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/time.h"
#include "front/card.h"
#include "front/moment.h"
#include "front/text.h"
#include "run/card_lines.h"

#define REASON_BYTES 500

enum state { KEY, REASON, UNTIL, ARGUMENTS };

struct cs_deciding {
    struct cs_arena arena; /* of the row and of what was said */
    struct cs_approval_row row;
    struct cs_choice given, choice;
    enum state state;
    bool colour, whole; /* whole: there are no further details */
    bool sent;          /* it is about a call that was sent before */
};

static struct cs_str keep(struct cs_deciding *d, struct cs_str text)
{
    return text.len ? cs_arena_dup(&d->arena, text) : (struct cs_str){0};
}

struct cs_deciding *cs_deciding_new(const struct cs_approval_row *row,
                                    const struct cs_choice *given)
{
    struct cs_deciding *d = CS_NEW(struct cs_deciding);
    d->row = *row;
    struct cs_str *texts[] = {&d->row.id,        &d->row.tenant, &d->row.execution, &d->row.session,
                              &d->row.principal, &d->row.actor,  &d->row.kind,      &d->row.risk,
                              &d->row.card,      &d->row.state,  &d->row.answer,    &d->row.by,
                              &d->row.channel,   &d->row.reason, &d->row.bound};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        *texts[i] = keep(d, *texts[i]);
    if (given)
        d->given = *given;
    CS_AUTO_JSON struct cs_json card = {0};
    if (cs_json_parse(d->row.card, NULL, &card, NULL) == 0)
        d->sent = cs_card_sent(cs_json_root(&card));
    d->given.arguments = keep(d, d->given.arguments);
    d->given.reason = keep(d, d->given.reason);
    return d;
}

void cs_deciding_free(struct cs_deciding *d)
{
    if (!d)
        return;
    cs_arena_done(&d->arena);
    free(d);
}

struct cs_str cs_deciding_id(const struct cs_deciding *d)
{
    return d->row.id;
}

bool cs_deciding_wants_key(const struct cs_deciding *d)
{
    return d->state == KEY;
}

bool cs_deciding_denied(const struct cs_deciding *d)
{
    return d->state == REASON;
}

static bool offers(const struct cs_deciding *d, enum cs_approval_answer answer)
{
    return d->given.answer == CS_APPROVE_ONCE &&
           cs_card_offers(&d->row, cs_approval_answer_name(answer));
}

void cs_deciding_show(struct cs_deciding *d, bool colour)
{
    d->colour = colour;
    d->whole = cs_card_print(stderr, colour, false, &d->row);
    fputc('\n', stderr);
}

static const char *meaning(enum cs_approval_answer answer)
{
    static const char *const texts[] = {
        [CS_APPROVE_ONCE] = "yes, this once",
        [CS_APPROVE_SESSION] = "yes, for this session",
        [CS_APPROVE_PROGRAM] = "yes, always for exactly this program",
        [CS_APPROVE_TOOL] = "yes, this tool with such arguments until a date",
        [CS_APPROVE_DENY] = "no",
    };
    return texts[answer];
}

void cs_deciding_prompt(const struct cs_deciding *d, struct cs_buf *out)
{
    switch (d->state) {
    case KEY:
        cs_buf_printf(out, "  [y] %s\n", d->sent ? "yes, send it again" : meaning(d->given.answer));
        if (offers(d, CS_APPROVE_SESSION))
            cs_buf_printf(out, "  [s] %s\n", meaning(CS_APPROVE_SESSION));
        if (offers(d, CS_APPROVE_PROGRAM))
            cs_buf_printf(out, "  [a] %s\n", meaning(CS_APPROVE_PROGRAM));
        if (offers(d, CS_APPROVE_TOOL))
            cs_buf_printf(out, "  [t] %s\n", meaning(CS_APPROVE_TOOL));
        cs_buf_printf(out, "  [n] no   [r] no, and why   [d] %s   [q] leave it to others\nanswer: ",
                      d->whole ? "details" : "all of it");
        break;
    case REASON:
        cs_buf_puts(out, "no: why not? The program is told (Enter sends it): ");
        break;
    case UNTIL:
        cs_buf_puts(out, "until when? 2h, 7d, 2026-12-31 (Enter: 30d): ");
        break;
    case ARGUMENTS:
        cs_buf_puts(
            out, "arguments that must be equal, as a JSON object, or any (Enter: exactly these): ");
        break;
    }
}

static bool decide(struct cs_deciding *d, enum cs_approval_answer answer, struct cs_choice *choice)
{
    d->choice.answer = answer;
    *choice = d->choice;
    return true;
}

/* The prompt that follows says which there are. */
static bool no_key(char key)
{
    if (key > ' ' && key < 127)
        fprintf(stderr, "'%c' is none of the keys:\n", key);
    else
        fputs("that is none of the keys:\n", stderr);
    return false;
}

bool cs_deciding_key(struct cs_deciding *d, char key, struct cs_choice *choice)
{
    switch (key) {
    case 'y':
    case 'Y':
        fputs("yes\n", stderr);
        d->choice = d->given;
        return decide(d, d->given.answer, choice);
    case 's':
        if (!offers(d, CS_APPROVE_SESSION))
            return no_key(key);
        fputs("yes, for this session\n", stderr);
        return decide(d, CS_APPROVE_SESSION, choice);
    case 'a':
        if (!offers(d, CS_APPROVE_PROGRAM))
            return no_key(key);
        fputs("always\n", stderr);
        return decide(d, CS_APPROVE_PROGRAM, choice);
    case 't':
        if (!offers(d, CS_APPROVE_TOOL))
            return no_key(key);
        fputs("this tool\n", stderr);
        d->state = UNTIL;
        return false;
    case 'n':
    case 'N':
        fputs("no\n", stderr);
        return decide(d, CS_APPROVE_DENY, choice);
    case 'r':
    case 'R':
        fputs("no\n", stderr);
        d->state = REASON;
        return false;
    case 'd':
        fputs("\n\n", stderr);
        d->whole = cs_card_print(stderr, d->colour, true, &d->row);
        fputc('\n', stderr);
        return false;
    case 'q':
    case 4: /* Ctrl-D, where the terminal does not make an end of it */
        fputs("left\n", stderr);
        d->choice.left = true;
        return decide(d, CS_APPROVE_DENY, choice);
    default:
        return no_key(key);
    }
}

static void wrong(const struct cs_err *err)
{
    fputs("  ", stderr);
    cs_text_safe(stderr, cs_str(err->msg));
    fputc('\n', stderr);
}

bool cs_deciding_line(struct cs_deciding *d, struct cs_str line, struct cs_choice *choice)
{
    struct cs_err err = {0};
    while (line.len && strchr(" \t\r\n", line.at[line.len - 1]))
        line.len--;
    struct cs_str text = keep(d, line);
    if (d->state == REASON) {
        if (text.len > REASON_BYTES) {
            cs_fail(&err, CS_INVALID, "at most %d bytes", REASON_BYTES);
            wrong(&err);
            return false;
        }
        d->choice.reason = text;
        return decide(d, CS_APPROVE_DENY, choice);
    }
    if (d->state == UNTIL) {
        if (text.len && cs_deciding_until(text.at, &d->choice.until, &err) < 0)
            wrong(&err);
        else
            d->state = ARGUMENTS;
        return false;
    }
    if (cs_deciding_arguments(text, &err) < 0 || cs_approval_arguments(&d->row, text, &err) < 0) {
        wrong(&err);
        return false;
    }
    d->choice.arguments = text;
    return decide(d, CS_APPROVE_TOOL, choice);
}

int cs_deciding_until(const char *text, int64_t *ms, struct cs_err *err)
{
    int64_t until;
    if (!cs_moment_parse(text, true, &until) || until <= cs_time_ms())
        return cs_fail(err, CS_INVALID,
                       "'%s' is no time to come like 2h, 7d, 2026-12-31 or 2026-12-31T08:00:00Z",
                       text);
    *ms = until;
    return 0;
}

int cs_deciding_arguments(struct cs_str text, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!text.len || cs_str_is(text, "any"))
        return 0;
    if (cs_json_parse(text, NULL, &doc, err) < 0)
        return -1;
    if (cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "the arguments are a JSON object, like {\"to\": \"a\"}, or any");
    return 0;
}
