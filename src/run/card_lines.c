#include "run/card_lines.h"

#include <string.h>

#include "base/utf8.h"

struct reading {
    struct cs_card_lines *lines;
    struct cs_arena *arena;
    uint32_t *marks; /* lines that something was found in, the worst first */
    size_t cap;
};

static uint32_t number(struct cs_json_val object, const char *key)
{
    int64_t n = 0;
    return cs_json_i64(cs_json_get(object, key), &n) && n > 0 && n < INT32_MAX ? (uint32_t)n : 0;
}

static void find_marks(struct reading *r, struct cs_json_val list)
{
    struct cs_json_iter it = {0};
    struct cs_json_val one;
    while (cs_json_next(list, &it, NULL, &one)) {
        uint32_t line = number(one, "line");
        if (line && cs_json_type(cs_json_get(one, "module")) == CS_JSON_NONE)
            r->marks[r->lines->marks++] = line;
    }
}

/* What was found first in this line, from 1 on; 0: nothing. */
static uint32_t mark_of(const struct reading *r, struct cs_card_line *line)
{
    uint32_t mark = 0;
    for (uint32_t i = 0; i < r->lines->marks; i++) {
        uint32_t m = r->marks[i];
        if (line->number + CS_LINES_AROUND >= m && line->number <= m + CS_LINES_AROUND)
            line->near = true;
        if (m == line->number && !mark)
            mark = i + 1;
    }
    return mark;
}

static void add(struct reading *r, struct cs_card_line line, bool marked)
{
    struct cs_card_lines *l = r->lines;
    if (l->count == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        struct cs_card_line *more = cs_arena_alloc(r->arena, r->cap * sizeof *more);
        if (l->count)
            memcpy(more, l->at, l->count * sizeof *more);
        l->at = more;
    }
    uint32_t mark = mark_of(r, &line);
    line.mark = marked ? mark : 0;
    l->at[l->count++] = line;
}

/* The parts up to this line; they are in order. `here`: false, those before it only. True: there
 * was one of that line. */
static bool add_parts(struct reading *r, struct cs_json_val list, struct cs_json_iter *it,
                      struct cs_json_val *part, uint32_t to, bool here)
{
    bool any = false;
    for (; cs_json_type(*part) == CS_JSON_OBJECT && number(*part, "line") <= to;) {
        bool marked = false;
        cs_json_bool(cs_json_get(*part, "marked"), &marked);
        struct cs_card_line line = {
            .number = number(*part, "line"),
            .text = cs_json_str(cs_json_get(*part, "text"), r->arena),
            .before = number(*part, "bytes_before"),
            .after = number(*part, "bytes_after"),
        };
        if (here) {
            any = true;
            add(r, line, marked);
        }
        if (!cs_json_next(list, it, NULL, part))
            *part = (struct cs_json_val){0};
    }
    return any;
}

static void read_lines(struct reading *r, struct cs_json_val program, size_t width, bool script)
{
    struct cs_json_val parts = cs_json_get(program, "lines"), part = {0};
    struct cs_json_iter it = {0};
    struct cs_str code = cs_json_str(cs_json_get(program, "code"), r->arena), text;
    uint32_t cut = number(program, "code_line_cut");
    struct cs_card_line line = {0};
    if (!cs_json_next(parts, &it, NULL, &part))
        part = (struct cs_json_val){0};
    while (cs_line_next(&code, script, &text)) {
        line.number++;
        line.text = width ? cs_utf8_cut(text, width) : text;
        line.after = text.len - line.text.len + (code.len ? 0 : cut);
        /* Of a long one what matters; it may be behind what the card has of it otherwise. */
        if (line.after && width && add_parts(r, parts, &it, &part, line.number, true))
            continue;
        add(r, line, true);
        add_parts(r, parts, &it, &part, line.number, line.after > 0);
    }
    add_parts(r, parts, &it, &part, INT32_MAX, true);
}

void cs_card_lines_read(struct cs_json_val card, size_t width, struct cs_arena *arena,
                        struct cs_card_lines *lines)
{
    struct cs_json_val program = cs_json_get(card, "program"), risk = cs_json_get(card, "risk");
    struct cs_json_val findings = cs_json_get(risk, "findings"), flows = cs_json_get(risk, "flows");
    *lines = (struct cs_card_lines){0};
    struct reading r = {.lines = lines, .arena = arena};
    size_t most = (size_t)cs_json_count(findings) + cs_json_count(flows);
    r.marks = cs_arena_alloc(arena, (most + 1) * sizeof *r.marks);
    find_marks(&r, findings);
    find_marks(&r, flows);
    read_lines(&r, program, width, cs_json_is(cs_json_get(card, "language"), "typescript"));
    lines->total = number(program, "code_lines");
    uint32_t last = lines->count ? lines->at[lines->count - 1].number : 0;
    if (lines->total < last)
        lines->total = last;
}

uint32_t cs_card_lines_gap(const struct cs_card_lines *lines, size_t i)
{
    uint32_t before = i ? lines->at[i - 1].number : 0;
    uint32_t here = i < lines->count ? lines->at[i].number : lines->total + 1;
    return here > before + 1 ? here - before - 1 : 0;
}

const char *cs_card_title(struct cs_json_val card, struct cs_str kind)
{
    if (cs_card_sent(card))
        return "a call may have been made already; is it sent again?";
    return cs_str_is(kind, "call") ? "a program asks to call a tool" : "a program asks to run";
}

bool cs_card_sent(struct cs_json_val card)
{
    return cs_json_type(cs_json_get(cs_json_get(card, "call"), "sent_at")) == CS_JSON_STRING;
}
