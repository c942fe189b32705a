/* Text of a server, made fit to stand inside a comment. */
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "tools/types.h"

bool cs_text_is_hidden(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1F},          {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
        {0x180E, 0x180E},   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
        {0xFE00, 0xFE0E},   {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A},
        {0xE0000, 0xE0FFF},
    };
    for (size_t i = 0; i < CS_COUNT(hidden); i++) {
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    }
    return false;
}

uint32_t cs_text_char(struct cs_str s, size_t *len)
{
    int n = cs_utf8_len(s.at, s.len);
    *len = (size_t)(n < 0 ? -n : n);
    return n > 0 ? cs_utf8_get(s.at, n) : 0xFFFD;
}

static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x2028 ||
           c == 0x2029 || c == 0x3000;
}

static bool ends_line(uint32_t c)
{
    return c == '\n' || c == '\r';
}

/* Takes one line from `text`: without hidden characters, spaces single, none at the ends. Stops
 * after `max` bytes; what is left of the line stays in `text`. */
static void clean_line(struct cs_str *text, size_t max, bool whole, struct cs_buf *out)
{
    size_t start = out->len;
    bool space = false;
    while (text->len > 0 && out->len - start <= max) {
        size_t n;
        uint32_t c = cs_text_char(*text, &n);
        struct cs_str bytes = c == 0xFFFD ? CS_STR(CS_UTF8_BAD) : cs_strn(text->at, n);
        text->at += n;
        text->len -= n;
        if (ends_line(c) && !whole)
            return;
        if (is_space(c) || ends_line(c)) {
            space = out->len > start;
        } else if (!cs_text_is_hidden(c)) {
            if (space)
                cs_buf_putc(out, ' ');
            space = false;
            cs_buf_putstr(out, bytes);
        }
    }
}

/* Where to cut a text that is too long: behind the last sentence of its second half, else before
 * its last word, else anywhere between two characters. */
static size_t cut_at(struct cs_str s, size_t max, bool *sentence)
{
    *sentence = false;
    if (s.len <= max)
        return s.len;
    size_t room = max > 3 ? max - 3 : 0, word = 0;
    for (size_t i = room; i > room / 2; i--) {
        if (s.at[i - 1] == '.' && s.at[i] == ' ') {
            *sentence = true;
            return i;
        }
        if (!word && s.at[i] == ' ')
            word = i;
    }
    if (word)
        return word;
    while (room > 0 && ((unsigned char)s.at[room] & 0xC0) == 0x80)
        room--;
    return room;
}

static void put_cut(struct cs_str s, size_t max, struct cs_buf *out)
{
    bool sentence;
    size_t n = cut_at(s, max, &sentence);
    cs_buf_put(out, s.at, n);
    if (n < s.len)
        cs_buf_puts(out, sentence ? " \xE2\x80\xA6" : "\xE2\x80\xA6");
}

/* Neither the end of the comment nor the start of a tag. */
static void put_safe(struct cs_str s, struct cs_buf *out)
{
    if (s.len && s.at[0] == '@')
        cs_buf_putc(out, '\\');
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '/' && i > 0 && s.at[i - 1] == '*')
            cs_buf_putc(out, '\\');
        cs_buf_putc(out, s.at[i]);
    }
}

void cs_comment_line(struct cs_str text, size_t max, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf line = {0}, cut = {0};
    clean_line(&text, max + 8, true, &line);
    if (line.len == 0)
        return;
    put_cut(cs_buf_str(&line), max, &cut);
    put_safe(cs_buf_str(&cut), out);
}

void cs_comment_text(struct cs_str text, size_t max, const char *prefix, struct cs_buf *out)
{
    size_t used = 0;
    CS_AUTO_BUF struct cs_buf line = {0}, cut = {0};
    while (text.len > 0 && used < max) {
        cs_buf_clear(&line);
        cs_buf_clear(&cut);
        clean_line(&text, max - used + 8, false, &line);
        if (line.len == 0)
            continue;
        bool last = line.len > max - used;
        if (last && max - used < 40) {
            cs_buf_printf(out, "%s\xE2\x80\xA6\n", prefix);
            return;
        }
        put_cut(cs_buf_str(&line), max - used, &cut);
        cs_buf_puts(out, prefix);
        put_safe(cs_buf_str(&cut), out);
        cs_buf_putc(out, '\n');
        if (last)
            return;
        used += line.len + 1;
    }
    /* Only white space may be left unsaid. */
    for (size_t n; text.len > 0; text.at += n, text.len -= n) {
        if (!is_space(cs_text_char(text, &n))) {
            cs_buf_printf(out, "%s\xE2\x80\xA6\n", prefix);
            return;
        }
    }
}

/* --- the first sentence --- */

static bool is_abbreviation(struct cs_str s, size_t dot)
{
    static const char *const words[] = {"e.g", "i.e", "etc", "vs", "cf", "approx", "Dr", "St"};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        size_t n = strlen(words[i]);
        if (dot >= n && strncasecmp(s.at + dot - n, words[i], n) == 0 &&
            (dot == n || s.at[dot - n - 1] == ' ' || s.at[dot - n - 1] == '('))
            return true;
    }
    return false;
}

static size_t sentence_end(struct cs_str s)
{
    static const char full_stop[] = "\xE3\x80\x82"; /* of Chinese and Japanese */
    for (size_t i = 0; i + 1 < s.len; i++) {
        bool mark = s.at[i] == '.' || s.at[i] == '!' || s.at[i] == '?';
        if (mark && s.at[i + 1] == ' ' && !is_abbreviation(s, i))
            return i + 1;
        if (i + 3 <= s.len && memcmp(s.at + i, full_stop, 3) == 0)
            return i + 3;
    }
    return s.len;
}

void cs_declare_summary(struct cs_str description, size_t max, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf line = {0};
    while (description.len > 0 && line.len == 0)
        clean_line(&description, max + 8, false, &line);
    if (line.len == 0)
        return;
    struct cs_str s = cs_buf_str(&line);
    s.len = sentence_end(s);
    put_cut(s, max, out);
}
