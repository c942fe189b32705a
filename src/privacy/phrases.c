/* Words and phrases of the user's own. */
#include "privacy/phrases.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

struct entry {
    uint32_t at, next; /* in `bytes`; of the chain, 0: none */
    uint16_t len;
};

struct cs_phrases {
    struct cs_buf bytes;
    struct entry *entries; /* from 1 on */
    uint32_t *heads;
    uint32_t mask, count;
    bool signs[256]; /* phrases that begin with no letter begin with these */
};

static bool of_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c >= 0x80 || c == '_';
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Of the first word, or sign. */
static uint32_t hash(const char *at, size_t len, size_t *word)
{
    uint32_t h = 2166136261u;
    size_t i = 0;
    do
        h = (h ^ (unsigned char)fold(at[i++])) * 16777619u;
    while (i < len && of_word((unsigned char)at[0]) && of_word((unsigned char)at[i]));
    *word = i;
    return h ^ h >> 15;
}

void cs_phrases_free(struct cs_phrases *w)
{
    if (!w)
        return;
    cs_buf_done(&w->bytes);
    free(w->entries);
    free(w->heads);
    free(w);
}

CS_DEFINE_CLEANUP(struct cs_phrases, cs_phrases_free)

static void add(struct cs_phrases *w, struct cs_str word)
{
    struct entry *e = &w->entries[++w->count];
    e->at = (uint32_t)w->bytes.len;
    for (size_t i = 0; i < word.len; i++)
        if (!blank(word.at[i]))
            cs_buf_putc(&w->bytes, fold(word.at[i]));
        else if (!blank(word.at[i - 1]))
            cs_buf_putc(&w->bytes, ' ');
    e->len = (uint16_t)(w->bytes.len - e->at);
    size_t first;
    uint32_t *head = &w->heads[hash(w->bytes.at + e->at, e->len, &first) & w->mask];
    e->next = *head;
    *head = w->count;
    if (!of_word((unsigned char)word.at[0]))
        w->signs[(unsigned char)word.at[0]] = true;
}

/* Phrases with the same first word are compared one by one. */
#define CHAIN 2000

static bool too_long(const struct cs_phrases *w)
{
    for (uint32_t i = 0; i <= w->mask; i++) {
        unsigned n = 0;
        for (uint32_t e = w->heads[i]; e; e = w->entries[e].next)
            if (++n > CHAIN)
                return true;
    }
    return false;
}

int cs_phrases_new(const struct cs_str *words, size_t count, struct cs_phrases **made,
                   struct cs_err *err)
{
    CS_AUTO(cs_phrases_freep) struct cs_phrases *w = CS_NEW(struct cs_phrases);
    uint32_t room = 16;
    while (room < 2 * count)
        room *= 2;
    w->mask = room - 1;
    w->heads = cs_calloc(room, sizeof *w->heads);
    w->entries = cs_calloc(count + 1, sizeof *w->entries);
    for (size_t i = 0; i < count; i++) {
        struct cs_str s = words[i];
        while (s.len && blank(s.at[0])) {
            s.at++;
            s.len--;
        }
        while (s.len && blank(s.at[s.len - 1]))
            s.len--;
        if (s.len == 0 || s.len > CS_WORD_MAX)
            return cs_fail(err, CS_INVALID, "word %zu is %s", i + 1,
                           s.len ? "longer than 256 bytes" : "empty");
        add(w, s);
    }
    if (too_long(w))
        return cs_fail(err, CS_LIMIT, "more than %d phrases begin with the same word", CHAIN);
    *made = CS_TAKE(w);
    return 0;
}

/* Does the phrase stand at `i`? Where it ends, or 0. */
static size_t stands(const struct cs_phrases *w, const struct entry *e, struct cs_str text,
                     size_t i)
{
    const char *p = w->bytes.at + e->at;
    for (size_t k = 0; k < e->len; k++) {
        if (i >= text.len)
            return 0;
        if (p[k] == ' ') {
            if (!blank(text.at[i]))
                return 0;
            for (unsigned n = 0; n < 32 && i < text.len && blank(text.at[i]); n++)
                i++;
        } else if (fold(text.at[i++]) != p[k]) {
            return 0;
        }
    }
    if (i < text.len && of_word((unsigned char)p[e->len - 1]) && of_word((unsigned char)text.at[i]))
        return 0;
    return i;
}

bool cs_phrases_next(const struct cs_phrases *w, struct cs_str text, size_t *at, size_t *end)
{
    size_t i = *at;
    while (i < text.len) {
        unsigned char c = (unsigned char)text.at[i];
        bool begins = of_word(c) ? i == 0 || !of_word((unsigned char)text.at[i - 1]) : w->signs[c];
        if (!begins) {
            i++;
            continue;
        }
        size_t word, most = 0;
        uint32_t n = w->heads[hash(text.at + i, text.len - i, &word) & w->mask];
        for (; n; n = w->entries[n].next) {
            size_t to = stands(w, &w->entries[n], text, i);
            most = to > most ? to : most;
        }
        if (most) {
            *at = i;
            *end = most;
            return true;
        }
        i += word;
    }
    return false;
}
