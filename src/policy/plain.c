/*
 * A text as others read it: the eye, which takes letters of other alphabets for Latin ones and does
 * not see some characters at all, and a shell, for which quotes and backslashes are not there.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "policy/risk.h"

#define SPREAD_LEAST 5 /* letters, each for itself, that are a word */
#define UNSEEN_RUN   3 /* characters that are not seen, in a row: they hold something */
#define SENTENCE     4 /* words */

/* --- letters that look like others --- */

struct alike {
    uint16_t from;
    char to;
};

/* Of another alphabet: in a Latin word they are there to deceive. */
static const struct alike foreign[] = {
    {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'},
    {0x039A, 'K'}, {0x039C, 'M'}, {0x039D, 'N'}, {0x039F, 'O'}, {0x03A1, 'P'}, {0x03A4, 'T'},
    {0x03A5, 'Y'}, {0x03A7, 'X'}, {0x03B1, 'a'}, {0x03B9, 'i'}, {0x03BD, 'v'}, {0x03BF, 'o'},
    {0x03C1, 'p'}, {0x03C5, 'u'}, {0x0405, 'S'}, {0x0406, 'I'}, {0x0408, 'J'}, {0x0410, 'A'},
    {0x0412, 'B'}, {0x0415, 'E'}, {0x041A, 'K'}, {0x041C, 'M'}, {0x041D, 'H'}, {0x041E, 'O'},
    {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'}, {0x0423, 'Y'}, {0x0425, 'X'}, {0x0430, 'a'},
    {0x0435, 'e'}, {0x043E, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'},
    {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x04BB, 'h'}, {0x04CF, 'l'}, {0x0501, 'd'},
    {0x051B, 'q'}, {0x051D, 'w'}, {0x0578, 'n'}, {0x057D, 'u'}, {0x0585, 'o'},
};

/* Of the Latin alphabet in another dress: small capitals, letters of formulas. */
static const struct alike dressed[] = {
    {0x0251, 'a'}, {0x0261, 'g'}, {0x0262, 'G'}, {0x026A, 'I'}, {0x0274, 'N'},  {0x0280, 'R'},
    {0x028F, 'Y'}, {0x0299, 'B'}, {0x029C, 'H'}, {0x029F, 'L'}, {0x1D00, 'A'},  {0x1D04, 'C'},
    {0x1D05, 'D'}, {0x1D07, 'E'}, {0x1D0A, 'J'}, {0x1D0B, 'K'}, {0x1D0D, 'M'},  {0x1D0F, 'O'},
    {0x1D18, 'P'}, {0x1D1B, 'T'}, {0x1D1C, 'U'}, {0x1D20, 'V'}, {0x1D21, 'W'},  {0x1D22, 'Z'},
    {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2018, '\''}, {0x2019, '\''},
    {0x201C, '"'}, {0x201D, '"'}, {0x2044, '/'}, {0x2102, 'C'}, {0x210A, 'g'},  {0x210B, 'H'},
    {0x210C, 'H'}, {0x210D, 'H'}, {0x210E, 'h'}, {0x2110, 'I'}, {0x2111, 'I'},  {0x2112, 'L'},
    {0x2113, 'l'}, {0x2115, 'N'}, {0x2119, 'P'}, {0x211A, 'Q'}, {0x211B, 'R'},  {0x211C, 'R'},
    {0x211D, 'R'}, {0x2124, 'Z'}, {0x2128, 'Z'}, {0x212A, 'K'}, {0x212C, 'B'},  {0x212D, 'C'},
    {0x212F, 'e'}, {0x2130, 'E'}, {0x2131, 'F'}, {0x2133, 'M'}, {0x2134, 'o'},  {0x2139, 'i'},
    {0x2212, '-'}, {0x2215, '/'}, {0xA730, 'F'}, {0xA731, 'S'},
};

static char in_table(uint32_t c, const struct alike *table, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle].from == c)
            return table[middle].to;
        if (table[middle].from < c)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static char letter(uint32_t n)
{
    return (char)(n < 26 ? 'A' + n : 'a' + n - 26);
}

/* Alphabets in a row: full width, of formulas, in circles and squares. */
static char in_row(uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E)
        return (char)(c - 0xFF01 + 0x21);
    if (c == 0x00A0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x3000)
        return ' ';
    if (c >= 0x249C && c <= 0x24B5)
        return letter(c - 0x249C + 26);
    if (c >= 0x24B6 && c <= 0x24E9)
        return letter(c - 0x24B6);
    if (c >= 0x1D400 && c <= 0x1D6A3)
        return letter((c - 0x1D400) % 52);
    if (c >= 0x1D7CE && c <= 0x1D7FF)
        return (char)('0' + (c - 0x1D7CE) % 10);
    if (c >= 0x1F130 && c <= 0x1F189)
        return (c - 0x1F130) % 32 < 26 ? letter((c - 0x1F130) % 32) : 0;
    return 0;
}

/* Letters with marks. */
static char unmarked(uint32_t c)
{
    static const char letters[] =
        "AAAAAA CEEEEIIII NOOOOO OUUUUY  aaaaaa ceeeeiiii nooooo ouuuuy y"
        "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi  JjKk LlLlLlL"
        "lLlNnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
    char to = c >= 0xC0 && c <= 0x17F ? letters[c - 0xC0] : ' ';
    return to == ' ' ? 0 : to;
}

/* What it looks like; 0: nothing else. */
static char latin(uint32_t c)
{
    char to = in_row(c);
    if (!to)
        to = in_table(c, foreign, CS_COUNT(foreign));
    if (!to)
        to = in_table(c, dressed, CS_COUNT(dressed));
    return to ? to : unmarked(c);
}

/* A mark over, under or through the letter before it. */
static bool is_mark(uint32_t c)
{
    return (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) ||
           (c >= 0x20D0 && c <= 0x20FF);
}

/* --- words that are written letter by letter --- */

static bool parts(char c)
{
    return c == ' ' || c == '.' || c == '-' || c == '_' || c == '*';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How many letters stand there one by one, from `i` on: "i g n o r e". */
static size_t spread(const char *at, size_t len, size_t i)
{
    size_t count = 1;
    if (!is_letter(at[i]) || (i && isalnum((unsigned char)at[i - 1])))
        return 0;
    char gap = i + 1 < len ? at[i + 1] : 0;
    while (i + 2 < len && parts(gap) && at[i + 1] == gap && is_letter(at[i + 2]) &&
           (i + 3 == len || !isalnum((unsigned char)at[i + 3]))) {
        i += 2;
        count++;
    }
    return count;
}

/* Such words are put together; two gaps or more are one between words. Returns the new length. */
static size_t draw_together(char *at, size_t len, bool *changed)
{
    size_t n = 0, least = SPREAD_LEAST;
    for (size_t i = 0; i < len;) {
        size_t count = spread(at, len, i);
        if (count < least) {
            at[n++] = at[i++];
            continue;
        }
        *changed = true;
        least = 2; /* where one is, short ones are too */
        for (; count > 0; count--, i += 2)
            at[n++] = at[i];
        i--;
        while (i + 1 < len && parts(at[i]) && parts(at[i + 1]))
            i++;
    }
    return n;
}

static bool may_be_spread(struct cs_str text)
{
    for (size_t i = 0; i + 4 < text.len; i++)
        if (parts(text.at[i]) && parts(text.at[i + 2]) && parts(text.at[i + 4]) &&
            is_letter(text.at[i + 1]) && is_letter(text.at[i + 3]))
            return true;
    return false;
}

/* --- figures for letters --- */

static char figure(char c)
{
    static const char figures[] = "013457@$", letters[] = "oieastas";
    const char *at = c ? strchr(figures, c) : NULL;
    return at ? letters[at - figures] : 0;
}

static bool between_letters(const char *at, size_t len, size_t i)
{
    return i && i + 1 < len && figure(at[i]) && is_letter(at[i - 1]) && is_letter(at[i + 1]);
}

/* "1gn0re prev1ous": two words or more of a sentence have figures within. */
static bool has_figures(struct cs_str text)
{
    size_t words = 0, blanks = 0;
    bool counted = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == ' ') {
            blanks++;
            counted = false;
        } else if (!counted && between_letters(text.at, text.len, i)) {
            words++;
            counted = true;
        }
    }
    return words > 1 && blanks > 2;
}

static void put_letters(char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (figure(at[i]) && ((i && is_letter(at[i - 1])) || (i + 1 < len && is_letter(at[i + 1]))))
            at[i] = figure(at[i]);
}

struct cs_str cs_words_plain(struct cs_str text, struct cs_arena *arena)
{
    size_t i = 0, n = 0;
    bool apart = may_be_spread(text), figures = has_figures(text);
    while (i < text.len && (unsigned char)text.at[i] < 0x80)
        i++;
    if (i == text.len && !apart && !figures)
        return (struct cs_str){0};
    char *out = cs_arena_alloc(arena, text.len + 1);
    bool changed = false;
    for (i = 0; i < text.len;) {
        int len = cs_utf8_len(text.at + i, text.len - i);
        uint32_t c = len > 1 ? cs_utf8_get(text.at + i, len) : 0;
        char plain = len > 1 ? latin(c) : 0;
        bool unseen = len > 1 && (cs_invisible(c) || is_mark(c));
        size_t bytes = (size_t)(len < 0 ? -len : len);
        if (plain) {
            out[n++] = plain;
        } else if (!unseen) {
            memcpy(out + n, text.at + i, bytes);
            n += bytes;
        }
        changed = changed || plain || unseen;
        i += bytes;
    }
    if (apart)
        n = draw_together(out, n, &changed);
    if (figures)
        put_letters(out, n);
    changed = changed || figures;
    return changed ? cs_strn(out, n) : (struct cs_str){0};
}

/* --- as a shell reads it --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool starts(struct cs_str text, size_t at, const char *with)
{
    return cs_str_starts(cs_strn(text.at + at, text.len - at), with);
}

/* The length of what a shell makes a blank of: $IFS, ${IFS}, ${IFS:0:1}; 0: it is none. */
static size_t separator(struct cs_str text, size_t at)
{
    if (starts(text, at, "$IFS"))
        return starts(text, at, "$IFS$9") ? 6 : 4;
    if (!starts(text, at, "${IFS"))
        return 0;
    for (size_t i = at + 5; i < text.len && i < at + 16; i++)
        if (text.at[i] == '}')
            return i + 1 - at;
    return 0;
}

/* Where the quotes end that begin here and are around one word; 0: there is more within. */
static size_t quoted(struct cs_str text, size_t at)
{
    for (size_t i = at + 1; i < text.len && i < at + 200; i++) {
        if (text.at[i] == text.at[at])
            return i;
        if (is_blank(text.at[i]) || text.at[i] == '\n')
            return 0;
    }
    return 0;
}

/* The length of what a shell makes nothing of: $@, ``, a backslash before a letter or at the end of
 * a line. */
static size_t nothing(struct cs_str text, size_t at)
{
    char c = text.at[at], next = at + 1 < text.len ? text.at[at + 1] : 0;
    if (c == '$' && (next == '\'' || next == '"'))
        return 1;
    if (c == '$' && (next == '@' || next == '*'))
        return 2;
    if (c == '`' && next == '`' && !starts(text, at, "```"))
        return 2;
    if (c != '\\')
        return 0;
    if (next == '\n')
        return 2;
    return isalnum((unsigned char)next) || next == '/' || next == '-' ? 1 : 0;
}

/* A letter that is written as a number: \x72, \162, \u0072. Its length; 0: it is none. */
static size_t numbered(struct cs_str text, size_t at, char *letter)
{
    static const struct {
        char mark;
        size_t skip, digits;
        int base;
    } ways[] = {{'x', 2, 2, 16}, {'u', 2, 4, 16}, {0, 1, 3, 8}};
    if (text.at[at] != '\\' || at + 4 > text.len)
        return 0;
    for (size_t i = 0; i < CS_COUNT(ways); i++) {
        char digits[8] = "";
        if ((ways[i].mark && text.at[at + 1] != ways[i].mark) ||
            at + ways[i].skip + ways[i].digits > text.len)
            continue;
        memcpy(digits, text.at + at + ways[i].skip, ways[i].digits);
        char *end;
        unsigned long value = strtoul(digits, &end, ways[i].base);
        if (end != digits + ways[i].digits || value <= ' ' || value >= 0x7F)
            continue;
        *letter = (char)value;
        return ways[i].skip + ways[i].digits;
    }
    return 0;
}

/* {rm,-rf,/home}: where it ends; 0: it is no such list. */
static size_t list_end(struct cs_str text, size_t at)
{
    bool commas = false;
    if (text.at[at] != '{' || (at && (text.at[at - 1] == '$' || text.at[at - 1] == '/')))
        return 0;
    for (size_t i = at + 1; i < text.len && i < at + 200; i++) {
        char c = text.at[i];
        if (c == '}')
            return commas ? i : 0;
        if (is_blank(c) || c == '\n' || c == '{' || c == ':' || c == '"')
            return 0;
        commas = commas || c == ',';
    }
    return 0;
}

/* Is there anything that a shell reads otherwise? */
static bool is_special(struct cs_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if ((c && strchr("\"'\\$`{", c)) ||
            (is_blank(c) && (c != ' ' || (i && is_blank(text.at[i - 1])))))
            return true;
    }
    return false;
}

struct reading {
    struct cs_str text;
    size_t at;
    size_t list;  /* where the list ends that we are in; 0: in none */
    size_t quote; /* and the quotes */
};

/* A blank, or what stands for one: its length. */
static size_t gap(struct reading *r)
{
    size_t len = separator(r->text, r->at);
    char c = r->text.at[r->at];
    if (!r->list)
        r->list = list_end(r->text, r->at);
    if (r->list && (c == '{' || c == ',' || r->at == r->list)) {
        if (r->at == r->list)
            r->list = 0;
        return 1;
    }
    return is_blank(c) ? 1 : len;
}

/* What is not there for a shell: its length. */
static size_t dropped(struct reading *r)
{
    char c = r->text.at[r->at];
    if (r->quote && r->at == r->quote) {
        r->quote = 0;
        return 1;
    }
    if (!r->quote && (c == '"' || c == '\'')) {
        r->quote = quoted(r->text, r->at);
        return r->quote ? 1 : 0;
    }
    return nothing(r->text, r->at);
}

struct cs_str cs_words_shell(struct cs_str text, struct cs_arena *arena)
{
    struct reading r = {.text = text};
    size_t n = 0, len;
    if (!is_special(text))
        return (struct cs_str){0};
    char *out = cs_arena_alloc(arena, text.len + 1);
    while (r.at < text.len) {
        char c = text.at[r.at];
        if ((len = numbered(text, r.at, &c))) {
            out[n++] = c;
        } else if ((len = gap(&r))) {
            if (n && out[n - 1] != ' ')
                out[n++] = ' ';
        } else if (!(len = dropped(&r))) {
            out[n++] = c;
            len = 1;
        }
        r.at += len;
    }
    return cs_str_eq(cs_strn(out, n), text) ? (struct cs_str){0} : cs_strn(out, n);
}

/* --- how it looks --- */

static struct cs_str next_word(struct cs_str *rest)
{
    size_t i = 0, start;
    while (i < rest->len && is_blank(rest->at[i]))
        i++;
    for (start = i; i < rest->len && !is_blank(rest->at[i]);)
        i++;
    struct cs_str word = cs_strn(rest->at + start, i - start);
    *rest = cs_strn(rest->at + i, rest->len - i);
    return word;
}

/* Letters and figures, with a mark behind them or not. */
static bool is_word(struct cs_str word)
{
    size_t len = word.len;
    while (len && strchr(".!?:,)*", word.at[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)word.at[i]) && !strchr("'.(*", word.at[i]) &&
            (unsigned char)word.at[i] < 0x80)
            return false;
    return len > 0;
}

/* Does the line begin with a sentence? Comments of a script, and what one prints, do not count. */
static bool is_sentence(struct cs_str line)
{
    size_t words = 0;
    struct cs_str word = next_word(&line);
    /* A mark of a list, a quotation, a question. */
    if (word.len && word.len < 4 && (!is_word(word) || strchr(".:)", word.at[word.len - 1])) &&
        !strchr("#:/", word.at[0]))
        word = next_word(&line);
    if (!word.len || !(isupper((unsigned char)word.at[0]) || (unsigned char)word.at[0] >= 0x80))
        return false;
    for (; word.len && is_word(word); word = next_word(&line)) {
        bool ends = strchr(".!?:", word.at[word.len - 1]) != NULL;
        if (++words >= SENTENCE && ends)
            return true;
        if (ends)
            return false;
    }
    return false;
}

/* 1. `ls -l`, - `ls -l` */
static bool is_listed(struct cs_str line)
{
    size_t i = 0;
    while (i < line.len && is_blank(line.at[i]))
        i++;
    size_t mark = i;
    while (i < line.len && isdigit((unsigned char)line.at[i]))
        i++;
    if (i < line.len && (i > mark ? line.at[i] == '.' : line.at[i] == '-' || line.at[i] == '*'))
        return i + 2 < line.len && line.at[i + 1] == ' ' && line.at[i + 2] == '`';
    return false;
}

/* Is it for people: sentences, or a list of commands as they are shown to them? */
static bool is_prose(struct cs_str text)
{
    size_t listed = 0;
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        struct cs_str line = cs_strn(text.at, end ? (size_t)(end - text.at) : text.len);
        listed += is_listed(line);
        if (listed > 1 || is_sentence(line))
            return true;
        size_t taken = line.len + (end != NULL);
        text = cs_strn(text.at + taken, text.len - taken);
    }
    return false;
}

/* What rewrites a line in a terminal. Escapes that colour a text are usual; others move about,
 * clear the screen, or answer. */
static bool is_control(struct cs_str text, size_t at)
{
    unsigned char c = (unsigned char)text.at[at];
    if (c == '\b')
        return true;
    if (c != 0x1B)
        return false;
    size_t i = at + 1;
    if (i < text.len && text.at[i] == '[')
        for (i++; i < text.len && (isdigit((unsigned char)text.at[i]) || text.at[i] == ';'); i++) {
        }
    return i >= text.len || text.at[i] != 'm';
}

static bool turns(uint32_t c)
{
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

unsigned cs_words_looks(struct cs_str text)
{
    unsigned looks = is_prose(text) ? CS_LOOKS_PROSE : 0;
    size_t latins = 0, alikes = 0, unseen = 0;
    for (size_t i = 0; i < text.len;) {
        int len = cs_utf8_len(text.at + i, text.len - i);
        uint32_t c = len > 1 ? cs_utf8_get(text.at + i, len) : 0;
        bool ours = len == 1 && is_letter(text.at[i]);
        bool theirs = len == 2 && in_table(c, foreign, CS_COUNT(foreign));
        if (len == 1 && is_control(text, i))
            looks |= CS_LOOKS_CONTROL;
        unseen = len > 1 && cs_hidden(text, i) ? unseen + 1 : 0;
        if (unseen >= UNSEEN_RUN || turns(c))
            looks |= CS_LOOKS_UNSEEN;
        latins = ours ? latins + 1 : theirs ? latins : 0;
        alikes = theirs ? alikes + 1 : ours ? alikes : 0;
        if (latins > 1 && alikes)
            looks |= CS_LOOKS_MIXED;
        i += (size_t)(len < 0 ? -len : len);
    }
    return looks;
}

/* --- names of tools that run commands --- */

static const char runners[] =
    " exec shell bash sh zsh terminal command commands cmd ssh script scripts powershell pwsh "
    "subprocess spawn repl console sandbox desktop ";
static const char asked[] = " sql query queries pipeline workflow search statement soql tool ";

static bool among(const char *words, const char *word, size_t len)
{
    for (const char *at = words; (at = strstr(at, word)); at++)
        if (at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

bool cs_words_runs(struct cs_str name)
{
    bool runs = false, executes = false, asks = false;
    if (cs_str_is(name, "*"))
        return true;
    for (size_t i = 0; i < name.len;) {
        char word[16];
        size_t len = 0;
        while (i < name.len && !is_letter(name.at[i]))
            i++;
        size_t start = i;
        for (; i < name.len && is_letter(name.at[i]); i++) {
            bool upper = name.at[i]<'a', before = i> start && name.at[i - 1] >= 'a';
            if (upper && before)
                break;
            if (len + 1 < sizeof word)
                word[len++] = (char)tolower((unsigned char)name.at[i]);
        }
        word[len] = 0;
        if (!len)
            break;
        runs = runs || among(runners, word, len);
        executes = executes || among(" execute run process ", word, len);
        asks = asks || among(asked, word, len);
    }
    return (runs || executes) && !asks;
}
