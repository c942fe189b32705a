#include "base/visible.h"

#include "base/utf8.h"

struct range {
    uint32_t first, last;
};

static bool among(uint32_t c, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    }
    return false;
}

#define AMONG(c, ranges) among(c, ranges, sizeof(ranges) / sizeof *(ranges))

bool cs_invisible(uint32_t c)
{
    /* What Unicode 16 has for default-ignorable, and what moves text or ends a line unseen. */
    static const struct range ranges[] = {
        {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f},   {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };
    return c >= 0xad && AMONG(c, ranges);
}

/* The character at `at`, which starts there; 0 behind the end and for what is none. */
static uint32_t char_at(struct cs_str s, size_t at)
{
    if (at >= s.len)
        return 0;
    int n = cs_utf8_len(s.at + at, s.len - at);
    return n > 0 ? cs_utf8_get(s.at + at, n) : 0;
}

static size_t before(struct cs_str s, size_t at)
{
    while (at > 0 && ((unsigned char)s.at[--at] & 0xc0) == 0x80) {
    }
    return at;
}

static bool is_emoji(uint32_t c)
{
    static const struct range ranges[] = {{0x23, 0x23},      {0x2a, 0x2a}, {0x30, 0x39},
                                          {0xa9, 0xa9},      {0xae, 0xae}, {0x203c, 0x3299},
                                          {0x1f000, 0x1faff}};
    return AMONG(c, ranges) && !cs_invisible(c);
}

static bool is_ideograph(uint32_t c)
{
    static const struct range ranges[] = {
        {0x2e80, 0x2fdf}, {0x3007, 0x3007}, {0x3400, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3ffff}};
    return AMONG(c, ranges);
}

static bool goes_left(uint32_t c)
{
    static const struct range ranges[] = {
        {0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefc}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    return AMONG(c, ranges) && !cs_invisible(c);
}

/* Letters that are joined, or kept apart, by characters that are not seen. */
static bool joins(uint32_t c)
{
    return c >= 0x600 && c <= 0x1cff && !cs_invisible(c);
}

/* A tag that belongs to a flag: U+1F3F4 and at most seven of them. */
static bool in_flag(struct cs_str s, size_t at)
{
    for (int i = 0; i < 7 && at > 0; i++) {
        at = before(s, at);
        uint32_t c = char_at(s, at);
        if (c == 0x1f3f4)
            return true;
        if (c < 0xe0020 || c > 0xe007e)
            return false;
    }
    return false;
}

static bool between(uint32_t c, uint32_t first, uint32_t last)
{
    return c >= first && c <= last;
}

/* A selector of another form of the character before it. */
static bool selects(uint32_t c, uint32_t last)
{
    if (c == 0xfe0e || c == 0xfe0f)
        return is_emoji(last);
    return is_ideograph(last) || (c <= 0xfe0d && between(last, 0x2200, 0x22ff));
}

static bool is_joined(uint32_t c, uint32_t last, uint32_t next)
{
    if (c == 0x200d && (is_emoji(last) || last == 0xfe0f) && is_emoji(next))
        return true;
    return joins(last) && (joins(next) || c == 0x200d);
}

/* Fillers and vowels of scripts that have such. */
static bool in_script(uint32_t c, uint32_t last, uint32_t next)
{
    if (c == 0x115f || c == 0x1160)
        return between(last, 0x1100, 0x11ff) || between(next, 0x1100, 0x11ff);
    if (between(c, 0x17b4, 0x180f))
        return between(last, 0x1780, 0x18af) && !cs_invisible(last);
    return c == 0x34f && last >= 0x300;
}

bool cs_hidden(struct cs_str text, size_t at)
{
    uint32_t c = char_at(text, at);
    if (!cs_invisible(c))
        return false;
    uint32_t last = at > 0 ? char_at(text, before(text, at)) : 0;
    uint32_t next = char_at(text, at + (c < 0x800 ? 2 : c < 0x10000 ? 3 : 4));
    if (c == 0xfeff)
        return at > 0;
    if (between(c, 0xfe00, 0xfe0f) || between(c, 0xe0100, 0xe01ef))
        return !selects(c, last);
    if (between(c, 0xe0020, 0xe007f))
        return !in_flag(text, at);
    if (c == 0x200c || c == 0x200d)
        return !is_joined(c, last, next);
    if (c == 0x200e || c == 0x200f || c == 0x61c)
        return !goes_left(last) && !goes_left(next);
    return !in_script(c, last, next);
}

void cs_visible(struct cs_str text, bool lines, struct cs_buf *out)
{
    for (size_t i = 0; i < text.len;) {
        size_t plain = i;
        while (plain < text.len && text.at[plain] >= ' ' && text.at[plain] < 0x7f)
            plain++;
        cs_buf_put(out, text.at + i, plain - i);
        if ((i = plain) == text.len)
            return;
        int n = cs_utf8_len(text.at + i, text.len - i);
        unsigned char byte = (unsigned char)text.at[i];
        if (n < 0) {
            cs_buf_printf(out, "<0x%02X>", byte);
            i++;
            continue;
        }
        uint32_t c = char_at(text, i);
        bool kept = lines && (c == '\n' || c == '\t');
        /* A line end of two characters is one. */
        bool ends = lines && c == '\r' && char_at(text, i + 1) == '\n';
        if (!kept && !ends && (c < 0x20 || (c >= 0x7f && c < 0xa0) || cs_hidden(text, i)))
            cs_buf_printf(out, "<U+%04X>", (unsigned)c);
        else if (!ends)
            cs_buf_put(out, text.at + i, (size_t)n);
        i += (size_t)n;
    }
}
