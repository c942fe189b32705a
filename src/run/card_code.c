/*
 * The program on its card: its beginning, and around everything that was found in it, or that flows
 * in it, the lines that matter. However long the program is, these are there.
 */
#include <string.h>

#include "base/mem.h"
#include "run/card_in.h"
#include "run/card_lines.h"

#define CODE_SHOWN (64u << 10)
#define BEFORE     400 /* bytes of a part before what was found, */
#define BEHIND     800 /* and behind */
#define NO_LINE    SIZE_MAX

struct spot {
    uint32_t line, column;
    size_t at; /* in the code; NO_LINE: there is no such line */
};

struct part {
    size_t start, end;
};

struct code {
    struct cs_str text;
    bool script;
    size_t *starts; /* of all lines, and behind the last */
    uint32_t lines;
    struct spot *spots;
    size_t spot_count;
    struct cs_json_writer *w;
};

static void find_lines(struct code *c)
{
    struct cs_str rest = c->text, line;
    c->lines = cs_lines_count(c->text, c->script);
    c->starts = cs_calloc((size_t)c->lines + 1, sizeof *c->starts);
    for (uint32_t i = 0; cs_line_next(&rest, c->script, &line); i++)
        c->starts[i] = (size_t)(line.at - c->text.at);
    c->starts[c->lines] = c->text.len;
}

/* Without its end. */
static struct cs_str line_at(const struct code *c, uint32_t number)
{
    struct cs_str rest =
        cs_strn(c->text.at + c->starts[number - 1], c->starts[number] - c->starts[number - 1]);
    struct cs_str line = {0};
    cs_line_next(&rest, c->script, &line);
    return line;
}

static int by_place(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void add_spot(struct code *c, uint32_t line, uint32_t column)
{
    if (!line || line > c->lines)
        return;
    size_t at = c->starts[line - 1] + cs_line_offset(line_at(c, line), column);
    c->spots[c->spot_count++] = (struct spot){line, column, at};
}

static void find_spots(struct code *c, const struct cs_verdict *v)
{
    c->spots = cs_calloc((size_t)v->finding_count + v->flow_count + 1, sizeof *c->spots);
    for (uint32_t i = 0; i < v->finding_count; i++)
        if (!v->findings[i].module.len)
            add_spot(c, v->findings[i].line, v->findings[i].column);
    for (uint32_t i = 0; i < v->flow_count; i++)
        add_spot(c, v->flows[i].line, v->flows[i].column);
    qsort(c->spots, c->spot_count, sizeof *c->spots, by_place);
}

/* The lines around it, as far as they are not too long. */
static struct part part_of(const struct code *c, const struct spot *s)
{
    uint32_t first = s->line > CS_LINES_AROUND ? s->line - CS_LINES_AROUND : 1;
    uint32_t last = c->lines - s->line > CS_LINES_AROUND ? s->line + CS_LINES_AROUND : c->lines;
    struct part p = {c->starts[first - 1], c->starts[last]};
    if (s->at - p.start > BEFORE)
        p.start = cs_text_aligned(c->text, s->at - BEFORE);
    if (p.end - s->at > BEHIND)
        p.end = cs_text_aligned(c->text, s->at + BEHIND);
    return p;
}

static uint32_t line_of(const struct code *c, size_t at)
{
    uint32_t low = 0, high = c->lines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (c->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

static void put_number(struct cs_json_writer *w, const char *key, uint64_t n)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, n);
}

static bool is_marked(const struct code *c, size_t from, size_t to)
{
    for (size_t i = 0; i < c->spot_count; i++)
        if (c->spots[i].at >= from && c->spots[i].at <= to)
            return true;
    return false;
}

/* One line after the other; the mask has left their number as it was. */
static void put_part(struct code *c, const struct part *p, struct cs_str masked)
{
    struct cs_str text;
    for (uint32_t n = line_of(c, p->start); cs_line_next(&masked, c->script, &text); n++) {
        if (n > c->lines)
            return;
        struct cs_str line = line_at(c, n);
        size_t start = c->starts[n - 1], end = start + line.len;
        size_t from = start > p->start ? start : p->start, to = end < p->end ? end : p->end;
        cs_json_open(c->w, '{');
        put_number(c->w, "line", n);
        cs_json_key(c->w, "text");
        cs_json_put_str(c->w, text);
        if (from > start)
            put_number(c->w, "bytes_before", from - start);
        if (to < end)
            put_number(c->w, "bytes_after", end - to);
        if (is_marked(c, from, to)) {
            cs_json_key(c->w, "marked");
            cs_json_put_bool(c->w, true);
        }
        cs_json_close(c->w, '}');
    }
}

static void put_parts(struct code *c, const struct cs_run *run, struct cs_card_names *names)
{
    cs_json_key(c->w, "lines");
    cs_json_open(c->w, '[');
    for (size_t i = 0; i < c->spot_count;) {
        struct part p = part_of(c, &c->spots[i++]), next;
        while (i < c->spot_count && (next = part_of(c, &c->spots[i])).start <= p.end) {
            p.end = next.end > p.end ? next.end : p.end;
            i++;
        }
        CS_AUTO_BUF struct cs_buf masked = {0};
        cs_card_mask(run, names, CS_FORM_TEXT, c->text, p.start, p.end, &masked);
        put_part(c, &p, cs_buf_str(&masked));
    }
    cs_json_close(c->w, ']');
}

void cs_card_code(const struct cs_run *run, struct cs_card_names *names, struct cs_json_writer *w)
{
    struct code c = {
        .text = run->code_shown, .script = run->request.language == CS_TYPESCRIPT, .w = w};
    CS_AUTO_BUF struct cs_buf masked = {0};
    find_lines(&c);
    find_spots(&c, &run->result.verdict);
    size_t end = c.text.len, cut = 0;
    if (end > CODE_SHOWN) {
        uint32_t line = line_of(&c, CODE_SHOWN);
        end = line > 1 ? c.starts[line - 1] : cs_text_aligned(c.text, CODE_SHOWN);
        cut = line > 1 ? 0 : line_at(&c, 1).len - end;
    }
    cs_card_mask(run, names, CS_FORM_TEXT, c.text, 0, end, &masked);
    cs_json_key(w, "code");
    cs_json_put_str(w, cs_buf_str(&masked));
    if (end < c.text.len)
        put_number(w, "code_cut_from_bytes", c.text.len);
    if (cut)
        put_number(w, "code_line_cut", cut);
    put_number(w, "code_lines", c.lines);
    put_parts(&c, run, names);
    free(c.starts);
    free(c.spots);
}

/* --- what it imports --- */

static void put_str(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

/* The line that a finding is about: at its column, or any part of it. */
static const struct cs_imported_line *line_for(const struct cs_verdict *v,
                                               const struct cs_finding *f)
{
    const struct cs_imported_line *any = NULL;
    for (uint32_t i = 0; i < v->line_count; i++) {
        const struct cs_imported_line *l = &v->lines[i];
        if (l->line != f->line || !cs_str_eq(l->module, f->module))
            continue;
        if (l->column == f->column)
            return l;
        any = any ? any : l;
    }
    return any;
}

static void put_file_line(const struct cs_run *run, struct cs_card_names *names,
                          struct cs_json_writer *w, const struct cs_finding *f)
{
    const struct cs_imported_line *line = line_for(&run->result.verdict, f);
    CS_AUTO_BUF struct cs_buf masked = {0};
    cs_json_open(w, '{');
    put_str(w, "file", f->module);
    put_number(w, "line", f->line);
    if (line) {
        cs_card_mask_text(run, names, line->text, &masked);
        put_str(w, "text", cs_buf_str(&masked));
    }
    if (line && line->before)
        put_number(w, "bytes_before", line->before);
    if (line && line->after)
        put_number(w, "bytes_after", line->after);
    cs_json_close(w, '}');
}

void cs_card_files(const struct cs_run *run, struct cs_card_names *names, struct cs_json_writer *w)
{
    const struct cs_verdict *v = &run->result.verdict;
    cs_json_key(w, "files");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->file_count; i++) {
        cs_json_open(w, '{');
        put_str(w, "name", v->files[i].name);
        put_number(w, "bytes", v->files[i].bytes);
        put_number(w, "lines", v->files[i].lines);
        put_str(w, "hash", v->files[i].hash);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    if (v->files_more)
        put_number(w, "files_more", v->files_more);
    cs_json_key(w, "file_lines");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count; i++)
        if (v->findings[i].module.len && v->findings[i].line)
            put_file_line(run, names, w, &v->findings[i]);
    cs_json_close(w, ']');
}
