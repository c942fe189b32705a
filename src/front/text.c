#include "front/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 80

bool cs_text_colour(FILE *f)
{
    const char *term = getenv("TERM");
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(f)) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *cs_text_style(bool colour, const char *code)
{
    return colour ? code : "";
}

/* One character of UTF-8: its length, or 0 if the bytes are not one. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *c)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (n == 0 || at[0] > 0xF4 || n > left)
        return 0;
    *c = n == 1 ? at[0] : at[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        *c = *c << 6 | (at[i] & 0x3F);
    }
    return *c < smallest[n] || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000) ? 0 : n;
}

static bool visible(uint32_t c)
{
    if (c == '\n' || c == '\t')
        return true;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0))
        return false;
    bool invisible = c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
                     (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c < 0xE0080);
    return !invisible;
}

void cs_text_safe(FILE *f, struct cs_str text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    size_t left = text.len, plain = 0;
    while (plain < left) {
        uint32_t c = 0;
        size_t n = decode(at + plain, left - plain, &c);
        if (n && visible(c)) {
            plain += n;
            continue;
        }
        fwrite(at, 1, plain, f);
        if (n)
            fprintf(f, "\\u{%x}", (unsigned)c);
        else
            fprintf(f, "\\x%02x", at[plain]);
        at += plain + (n ? n : 1);
        left -= plain + (n ? n : 1);
        plain = 0;
    }
    if (plain)
        fwrite(at, 1, plain, f);
}

void cs_text_lines(FILE *f, const char *indent, struct cs_str text)
{
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        fputs(indent, f);
        cs_text_safe(f, cs_strn(text.at, len));
        fputc('\n', f);
        len += end != NULL;
        text.at += len;
        text.len -= len;
    }
}

void cs_text_wrap(FILE *f, int indent, const char *text)
{
    bool fresh = true;
    int column = 0;
    while (*text) {
        if (fresh && strncmp(text, "  ", 2) == 0) {
            size_t len = strcspn(text, "\n");
            fprintf(f, "%*s%.*s\n", indent, "", (int)len, text);
            text += len + (text[len] == '\n');
            continue;
        }
        if (*text == '\n') {
            fputc('\n', f);
            fresh = true;
            column = 0;
            text++;
            continue;
        }
        size_t len = strcspn(text, " \n");
        if (!fresh && column + 1 + (int)len > WIDTH) {
            fputc('\n', f);
            fresh = true;
            column = 0;
        }
        column += fresh ? fprintf(f, "%*s", indent, "") : fprintf(f, " ");
        column += fprintf(f, "%.*s", (int)len, text);
        fresh = false;
        text += len;
        text += *text == ' ';
    }
    if (!fresh)
        fputc('\n', f);
}
