#include "front/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "front/text.h"

/* Safe, and in one line. */
static char *cell(struct cs_str text)
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    if (!f)
        return cs_strdup("");
    const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
    if (end)
        text.len = (size_t)(end - text.at);
    cs_text_safe(f, text);
    fclose(f);
    for (char *c = out; *c; c++)
        if (*c == '\t')
            *c = ' ';
    return out;
}

void cs_table_add(struct cs_table *t, const struct cs_str *cells, const char *style)
{
    if (t->rows == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->cells = cs_realloc(t->cells, t->cap * t->columns, sizeof *t->cells);
        t->styles = cs_realloc(t->styles, t->cap, sizeof *t->styles);
    }
    for (size_t i = 0; i < t->columns; i++)
        t->cells[t->rows * t->columns + i] = cell(cells[i]);
    t->styles[t->rows++] = style;
}

void cs_table_done(struct cs_table *t)
{
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t->styles);
    *t = (struct cs_table){0};
}

size_t cs_table_width(FILE *f)
{
    struct winsize size;
    if (ioctl(fileno(f), TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

/* Characters, each taken for a column wide. */
static size_t columns_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* As many of the first bytes as have `columns` characters. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t i = 0;
    for (; text[i]; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80 && columns-- == 0)
            break;
    return i;
}

void cs_table_print(const struct cs_table *t, FILE *f, size_t width)
{
    size_t widths[CS_TABLE_COLUMNS] = {0};
    bool colour = cs_text_colour(f);
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++) {
            size_t n = columns_of(t->cells[r * t->columns + c]);
            widths[c] = n > widths[c] ? n : widths[c];
        }
    for (size_t r = 0; r < t->rows; r++) {
        size_t at = 0, filled = t->columns;
        while (filled > 1 && !*t->cells[r * t->columns + filled - 1])
            filled--;
        for (size_t c = 0; c < filled; c++) {
            const char *text = t->cells[r * t->columns + c];
            bool last = c + 1 == filled;
            size_t n = columns_of(text), room = width > at ? width - at : 0;
            const char *style = r == 0 ? "\033[2m" : c == 1 ? t->styles[r] : "";
            if (width && last && n > room && room > 1)
                n = room - 1;
            bool cut = text[bytes_of(text, n)] != '\0';
            fprintf(f, "%s%.*s%s%s", cs_text_style(colour, style), (int)bytes_of(text, n), text,
                    cut ? "…" : "", cs_text_style(colour && *style, "\033[0m"));
            if (!last)
                fprintf(f, "%*s", (int)(widths[c] - n + 2), "");
            at += widths[c] + 2;
        }
        fputc('\n', f);
    }
}
