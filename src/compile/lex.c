/* From bytes to tokens, one at a time, as the parser asks for them. */
#include "compile/lex.h"
#include "base/utf8.h"

#include <stdio.h>

#include "base/utf8.h"
#include "compile/parser.h"

enum { ID_START = 1, ID_PART = 2, DIGIT = 4, BLANK = 8 };

#define S (ID_START | ID_PART)
#define D (ID_PART | DIGIT)
static const uint8_t class_of[256] = {
    ['\t'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK, [' '] = BLANK, ['$'] = S, ['_'] = S, ['0'] = D,
    ['1'] = D,      ['2'] = D,      ['3'] = D,      ['4'] = D,     ['5'] = D, ['6'] = D, ['7'] = D,
    ['8'] = D,      ['9'] = D,      ['A'] = S,      ['B'] = S,     ['C'] = S, ['D'] = S, ['E'] = S,
    ['F'] = S,      ['G'] = S,      ['H'] = S,      ['I'] = S,     ['J'] = S, ['K'] = S, ['L'] = S,
    ['M'] = S,      ['N'] = S,      ['O'] = S,      ['P'] = S,     ['Q'] = S, ['R'] = S, ['S'] = S,
    ['T'] = S,      ['U'] = S,      ['V'] = S,      ['W'] = S,     ['X'] = S, ['Y'] = S, ['Z'] = S,
    ['a'] = S,      ['b'] = S,      ['c'] = S,      ['d'] = S,     ['e'] = S, ['f'] = S, ['g'] = S,
    ['h'] = S,      ['i'] = S,      ['j'] = S,      ['k'] = S,     ['l'] = S, ['m'] = S, ['n'] = S,
    ['o'] = S,      ['p'] = S,      ['q'] = S,      ['r'] = S,     ['s'] = S, ['t'] = S, ['u'] = S,
    ['v'] = S,      ['w'] = S,      ['x'] = S,      ['y'] = S,     ['z'] = S,
};
#undef S
#undef D

uint32_t cs_utf8_decode(const char *at, uint32_t *size)
{
    unsigned char first = (unsigned char)*at;
    *size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return cs_utf8_get(at, (int)*size);
}

static bool is_line_end(uint32_t c)
{
    return c == 0x2028 || c == 0x2029;
}

/* What the engine takes for white space beyond ASCII: category Zs and the byte order mark. */
static bool is_space(uint32_t c)
{
    return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f ||
           c == 0x3000 || c == 0xfeff;
}

/*
 * Beyond ASCII every letter is taken, without tables: the engine has them and refuses the rest.
 * Punctuation and symbols are refused here, since a person meant something else by them.
 */
static bool is_letter(uint32_t c)
{
    static const uint32_t symbols[][2] = {
        {0x80, 0xa9},     {0xab, 0xab},     {0xad, 0xad},     {0xbb, 0xbb},     {0xd7, 0xd7},
        {0xf7, 0xf7},     {0x37e, 0x37e},   {0x1680, 0x1680}, {0x2000, 0x200b}, {0x200e, 0x203e},
        {0x2041, 0x2053}, {0x2055, 0x206f}, {0x2190, 0x2bff}, {0x3000, 0x3004}, {0xe000, 0xf8ff},
        {0xfeff, 0xfeff}, {0xff00, 0xff0f},
    };
    for (size_t i = 0; i < CS_COUNT(symbols) && c >= symbols[i][0]; i++) {
        if (c <= symbols[i][1])
            return false;
    }
    return true;
}

static const char *fix_for(uint32_t c)
{
    static const struct {
        uint32_t code;
        const char *fix;
    } fixes[] = {
        {0x201c, "use plain double quotes: \""}, {0x201d, "use plain double quotes: \""},
        {0xab, "use plain double quotes: \""},   {0xbb, "use plain double quotes: \""},
        {0x2018, "use plain single quotes: '"},  {0x2019, "use plain single quotes: '"},
        {0x201b, "use plain single quotes: '"},  {0x2013, "use a plain minus: -"},
        {0x2014, "use a plain minus: -"},        {0x2212, "use a plain minus: -"},
        {0x2026, "use three dots: ..."},         {0x37e, "use a plain semicolon: ;"},
        {0xff1b, "use a plain semicolon: ;"},
    };
    for (size_t i = 0; i < CS_COUNT(fixes); i++) {
        if (fixes[i].code == c)
            return fixes[i].fix;
    }
    return "remove it";
}

static void bad_character(struct cs_parser *p, uint32_t pos)
{
    uint32_t size, c = cs_utf8_decode(p->src + pos, &size);
    if (c == '#')
        cs_syntax_error(p, pos, "comments start with //; private names look like #name",
                        "unexpected '#'");
    if (c == '\\')
        cs_syntax_error(p, pos, "check the escapes: the code seems to be escaped twice",
                        "unexpected '\\'");
    if (c < 0x20 || c == 0x7f || c == 0xad || c == 0x200b || c == 0x2060)
        cs_syntax_error(p, pos, fix_for(c), "invisible character U+%04X", c);
    cs_syntax_error(p, pos, fix_for(c), "unexpected character '%.*s' (U+%04X)", (int)size,
                    p->src + pos, c);
}

static uint32_t line_comment(struct cs_parser *p, uint32_t pos)
{
    const char *s = p->src;
    /* The engine obeys sourceURL and sourceMappingURL in such comments; the agent must not. */
    if (s[pos + 2] == '#' || s[pos + 2] == '@')
        cs_blank(p, pos + 2, pos + 3);
    uint32_t start = pos;
    for (;; pos++) {
        unsigned char c = (unsigned char)s[pos];
        if (c == '\n' || c == '\r' || (c == 0 && pos >= p->len))
            break;
        if (c == 0xe2 && (unsigned char)s[pos + 1] == 0x80 &&
            ((unsigned char)s[pos + 2] | 1) == 0xa9)
            break;
    }
    cs_note_seen(p, start, pos, K_NONE);
    return pos;
}

static uint32_t block_comment(struct cs_parser *p, uint32_t pos, bool *nl)
{
    const char *s = p->src;
    uint32_t start = pos;
    for (pos += 2;; pos++) {
        unsigned char c = (unsigned char)s[pos];
        if (c == '*' && s[pos + 1] == '/') {
            cs_note_seen(p, start, pos + 2, K_NONE);
            return pos + 2;
        }
        if (c == '\n' || c == '\r')
            *nl = true;
        else if (c == 0xe2 && (unsigned char)s[pos + 1] == 0x80 &&
                 ((unsigned char)s[pos + 2] | 1) == 0xa9)
            *nl = true;
        else if (c == 0 && pos >= p->len)
            cs_syntax_error(p, start, "end the comment with */", "this comment has no end");
    }
}

static uint32_t skip_space(struct cs_parser *p, uint32_t pos, bool *nl)
{
    const char *s = p->src;
    for (;;) {
        unsigned char c = (unsigned char)s[pos];
        if (class_of[c] & BLANK) {
            pos++;
        } else if (c == '\n' || c == '\r') {
            *nl = true;
            pos++;
        } else if (c == '/' && s[pos + 1] == '/') {
            pos = line_comment(p, pos);
        } else if (c == '/' && s[pos + 1] == '*') {
            pos = block_comment(p, pos, nl);
        } else if (c >= 0x80) {
            uint32_t size, u = cs_utf8_decode(s + pos, &size);
            if (is_line_end(u))
                *nl = true;
            else if (!is_space(u))
                return pos;
            pos += size;
        } else {
            return pos;
        }
    }
}

static uint32_t hex_digit(unsigned char c)
{
    unsigned char low = c | 0x20;
    if (c >= '0' && c <= '9')
        return c - (uint32_t)'0';
    return low >= 'a' && low <= 'f' ? low - (uint32_t)'a' + 10 : 99;
}

/* \u0061 or \u{61} at pos: the code point, and where it ends. */
static uint32_t unicode_escape(struct cs_parser *p, uint32_t pos, uint32_t *end)
{
    const char *s = p->src;
    uint32_t value = 0, at = pos + 2, digits = 0;
    bool braces = s[at] == '{';
    at += braces;
    for (;; at++, digits++) {
        uint32_t d = hex_digit((unsigned char)s[at]);
        if (d == 99 || value > 0x10ffff || (!braces && digits == 4))
            break;
        value = value * 16 + d;
    }
    if (s[pos + 1] != 'u' || digits == 0 || value > 0x10ffff ||
        (braces ? s[at] != '}' : digits != 4)) {
        if (!p->lenient)
            bad_character(p, pos);
        *end = pos + 2;
        return '?';
    }
    *end = at + braces;
    return value;
}

static uint32_t utf8_encode(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* One character of a name at pos; its size in the text, or 0 if the name ends here. */
static uint32_t name_part(struct cs_parser *p, uint32_t pos, bool first, uint32_t *u)
{
    unsigned char c = (unsigned char)p->src[pos];
    uint32_t size = 1;
    *u = c;
    if (c == '\\') {
        *u = unicode_escape(p, pos, &size);
        size -= pos;
    } else if (c >= 0x80) {
        *u = cs_utf8_decode(p->src + pos, &size);
    }
    bool fits = *u < 0x80 ? (class_of[*u] & (first ? ID_START : ID_PART)) != 0 : is_letter(*u);
    if (!fits && (first || c == '\\'))
        bad_character(p, pos);
    return fits ? size : 0;
}

/* A name with escapes or letters beyond ASCII. */
static void slow_name(struct cs_parser *p, struct cs_token *t, uint32_t start)
{
    uint32_t end = start, u;
    for (uint32_t size; (size = name_part(p, end, end == start, &u)) > 0; end += size)
        t->esc |= p->src[end] == '\\';
    struct cs_str text = cs_strn(p->src + start, end - start);
    if (t->esc) {
        /* An escape is never shorter than what it stands for. */
        char *name = cs_arena_alloc(&p->scratch, end - start + 1);
        uint32_t len = 0;
        for (uint32_t pos = start; pos < end;) {
            pos += name_part(p, pos, pos == start, &u);
            len += utf8_encode(name + len, u);
        }
        text = cs_strn(name, len);
    }
    t->end = end;
    t->atom = cs_intern(p, text);
    if (t->esc && t->atom < K_RESERVED_END)
        cs_syntax_error(p, start, "", "a keyword cannot be written with escapes");
    if (t->esc)
        cs_note_seen(p, start, end, t->atom);
}

static inline void lex_name(struct cs_parser *p, struct cs_token *t, uint32_t start)
{
    const char *s = p->src;
    uint32_t pos = start, h = 2166136261u;
    unsigned char c;
    while (class_of[c = (unsigned char)s[pos]] & ID_PART) {
        h = (h ^ c) * 16777619u;
        pos++;
    }
    if (c == '\\' || c >= 0x80) {
        uint32_t size, u = c == '\\' ? 'a' : cs_utf8_decode(s + pos, &size);
        if (c == '\\' || (!is_space(u) && !is_line_end(u))) {
            slow_name(p, t, start);
            return;
        }
    }
    t->end = pos;
    t->atom = cs_intern_hashed(p, cs_strn(s + start, pos - start), h);
}

static uint32_t digits(const char *s, uint32_t pos)
{
    while ((class_of[(unsigned char)s[pos]] & DIGIT) || s[pos] == '_')
        pos++;
    return pos;
}

static uint32_t lex_number(struct cs_parser *p, uint32_t start)
{
    const char *s = p->src;
    uint32_t pos = start;
    char second = (char)(s[start + 1] | 0x20);
    if (s[start] == '0' && (second == 'x' || second == 'o' || second == 'b')) {
        pos += 2;
        while (class_of[(unsigned char)s[pos]] & ID_PART)
            pos++;
        return pos;
    }
    if (s[start] == '0' && (class_of[(unsigned char)s[start + 1]] & DIGIT))
        cs_syntax_error(p, start, "octal numbers are written 0o17",
                        "a number cannot start with 0 followed by a digit");
    pos = digits(s, pos);
    if (s[pos] == '.')
        pos = digits(s, pos + 1);
    if ((s[pos] | 0x20) == 'e') {
        pos++;
        if (s[pos] == '+' || s[pos] == '-')
            pos++;
        if (!(class_of[(unsigned char)s[pos]] & DIGIT))
            cs_syntax_error(p, start, "", "the exponent of this number is missing");
        pos = digits(s, pos);
    } else if (s[pos] == 'n') {
        pos++;
    }
    if ((class_of[(unsigned char)s[pos]] & ID_PART) || s[pos] == '\\')
        cs_syntax_error(p, pos, "a name cannot start with a digit",
                        "unexpected letter after a number");
    return pos;
}

static uint32_t lex_string(struct cs_parser *p, uint32_t start)
{
    const char *s = p->src;
    char quote = s[start];
    for (uint32_t pos = start + 1;; pos++) {
        char c = s[pos];
        if (c == quote) {
            cs_note_inside(p, start, pos, INSIDE_STRING);
            return pos + 1;
        }
        if (c == '\\' && pos + 1 < p->len) {
            pos++;
            if (s[pos] == '\r' && s[pos + 1] == '\n')
                pos++;
        } else if (c == '\n' || c == '\r' || (c == 0 && pos >= p->len) || c == '\\') {
            cs_syntax_error(p, start,
                            "close it on the same line, or use `backticks` for text of many lines",
                            "this string has no closing %c", quote);
        }
    }
}

static const struct {
    char text[5];
    uint8_t len, kind;
} operators[] = {
    /* Longest first for each first character. */
    {"...", 3, T_ELLIPSIS}, {".", 1, T_DOT},         {"=>", 2, T_ARROW},    {"===", 3, T_BINOP},
    {"==", 2, T_BINOP},     {"=", 1, T_ASSIGN},      {"!==", 3, T_BINOP},   {"!=", 2, T_BINOP},
    {"!", 1, T_BANG},       {"++", 2, T_INCDEC},     {"+=", 2, T_OPASSIGN}, {"+", 1, T_PLUS},
    {"--", 2, T_INCDEC},    {"-=", 2, T_OPASSIGN},   {"-", 1, T_MINUS},     {"**=", 3, T_OPASSIGN},
    {"**", 2, T_BINOP},     {"*=", 2, T_OPASSIGN},   {"*", 1, T_STAR},      {"/=", 2, T_SLASHEQ},
    {"/", 1, T_SLASH},      {"%=", 2, T_OPASSIGN},   {"%", 1, T_BINOP},     {"&&=", 3, T_OPASSIGN},
    {"&&", 2, T_BINOP},     {"&=", 2, T_OPASSIGN},   {"&", 1, T_AMP},       {"||=", 3, T_OPASSIGN},
    {"||", 2, T_BINOP},     {"|=", 2, T_OPASSIGN},   {"|", 1, T_PIPE},      {"^=", 2, T_OPASSIGN},
    {"^", 1, T_BINOP},      {"?\?=", 3, T_OPASSIGN}, {"??", 2, T_BINOP},    {"?.", 2, T_QDOT},
    {"?", 1, T_QUESTION},
};

static void lex_operator(struct cs_parser *p, struct cs_token *t, uint32_t pos)
{
    const char *s = p->src + pos;
    /* Where the operators of this first character start, plus one. */
    static const uint8_t first[128] = {
        ['.'] = 1,  ['='] = 3,  ['!'] = 7,  ['+'] = 10, ['-'] = 13, ['*'] = 16,
        ['/'] = 20, ['%'] = 22, ['&'] = 24, ['|'] = 28, ['^'] = 32, ['?'] = 34};
    size_t from = (unsigned char)s[0] < 128 ? first[(unsigned char)s[0]] : 0;
    if (from == 0)
        bad_character(p, pos);
    for (size_t i = from - 1; i < CS_COUNT(operators); i++) {
        if (operators[i].len > 1 && (operators[i].text[1] != s[1] ||
                                     (operators[i].len > 2 && operators[i].text[2] != s[2])))
            continue;
        if (operators[i].kind == T_QDOT && (class_of[(unsigned char)s[2]] & DIGIT))
            continue;
        t->kind = operators[i].kind;
        t->end = pos + operators[i].len;
        return;
    }
}

static const uint8_t single[128] = {
    ['{'] = T_LBRACE, ['}'] = T_RBRACE, ['('] = T_LPAREN, [')'] = T_RPAREN,  ['['] = T_LBRACK,
    [']'] = T_RBRACK, [';'] = T_SEMI,   [','] = T_COMMA,  [':'] = T_COLON,   ['<'] = T_LT,
    ['>'] = T_GT,     ['~'] = T_TILDE,  ['@'] = T_AT,     ['`'] = T_TEMPLATE};

/* size: one test for each kind of first character, the common ones first */
static void lex(struct cs_parser *p, uint32_t from, struct cs_token *t)
{
    const char *s = p->src;
    t->nl = false;
    t->esc = false;
    t->atom = K_NONE;
    uint32_t pos = skip_space(p, from, &t->nl);
    unsigned char c = (unsigned char)s[pos];
    t->start = pos;
    if ((class_of[c] & ID_START) || c >= 0x80 || c == '\\') {
        t->kind = T_NAME;
        lex_name(p, t, pos);
    } else if (c < 0x80 && single[c]) {
        t->kind = single[c];
        t->end = pos + 1;
        /* Scripts know "<!--" as a comment, modules do not. */
        if (c == '<' && s[pos + 1] == '!' && s[pos + 2] == '-' && s[pos + 3] == '-' &&
            p->kind != CS_COMPILE_STRIP)
            cs_insert_text(p, pos + 1, " ");
    } else if (c == '"' || c == '\'') {
        t->kind = T_STR;
        t->end = lex_string(p, pos);
    } else if ((class_of[c] & DIGIT) ||
               (c == '.' && (class_of[(unsigned char)s[pos + 1]] & DIGIT))) {
        t->kind = T_NUM;
        t->end = lex_number(p, pos);
    } else if (c == 0 && pos >= p->len) {
        t->kind = T_EOF;
        t->end = pos;
    } else if (c == '#' && ((class_of[(unsigned char)s[pos + 1]] & ID_START) ||
                            s[pos + 1] == '\\' || (unsigned char)s[pos + 1] >= 0x80)) {
        t->kind = T_PRIVATE;
        lex_name(p, t, pos + 1);
    } else {
        lex_operator(p, t, pos);
    }
}

void cs_lex_start(struct cs_parser *p, uint32_t pos)
{
    p->prev_end = pos;
    lex(p, pos, &p->tok);
}

void cs_next(struct cs_parser *p)
{
    p->prev_end = p->tok.end;
    lex(p, p->tok.end, &p->tok);
}

struct cs_token cs_peek(struct cs_parser *p)
{
    struct cs_token t;
    lex(p, p->tok.end, &t);
    return t;
}

void cs_lex_join(struct cs_parser *p)
{
    const char *s = p->src;
    char c = s[p->tok.start];
    uint32_t pos = p->tok.start + 1;
    while (s[pos] == c && pos < p->tok.start + (c == '>' ? 3 : 2))
        pos++;
    bool assigns = s[pos] == '=' && pos > p->tok.start + 1;
    if (s[pos] == '=')
        pos++;
    p->tok.kind = assigns ? T_OPASSIGN : T_BINOP;
    p->tok.end = pos;
}

void cs_lex_regex(struct cs_parser *p)
{
    const char *s = p->src;
    bool in_class = false;
    for (uint32_t pos = p->tok.start + 1;; pos++) {
        unsigned char c = (unsigned char)s[pos];
        if (c == '\\')
            c = (unsigned char)s[++pos];
        else if (c == '[')
            in_class = true;
        else if (c == ']')
            in_class = false;
        else if (c == '/' && !in_class) {
            pos++;
            while (class_of[(unsigned char)s[pos]] & ID_PART)
                pos++;
            cs_note_inside(p, p->tok.start, pos, INSIDE_STRING);
            p->tok.kind = T_NUM;
            p->tok.end = pos;
            return;
        }
        uint32_t size;
        if (c == '\n' || c == '\r' || (c == 0 && pos >= p->len) ||
            (c == 0xe2 && is_line_end(cs_utf8_decode(s + pos, &size))))
            cs_syntax_error(p, p->tok.start, "end it with /, and write \\/ for a slash inside",
                            "this regular expression has no end");
    }
}

bool cs_lex_template(struct cs_parser *p, uint32_t pos, uint32_t *end)
{
    const char *s = p->src;
    uint32_t start = pos;
    for (;; pos++) {
        char c = s[pos];
        if (c == '`' || (c == '$' && s[pos + 1] == '{')) {
            cs_note_inside(p, start, pos, INSIDE_STRING);
            *end = pos + (c == '`' ? 1 : 2);
            return c == '`';
        }
        if (c == '\\' && pos + 1 < p->len)
            pos++;
        else if (c == '\\' || (c == 0 && pos >= p->len))
            cs_syntax_error(p, start ? start - 1 : 0, "close it with a backtick: `",
                            "this template has no end");
    }
}

static uint32_t hex(const char *s, uint32_t n)
{
    uint32_t v = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = hex_digit((unsigned char)s[i]);
        if (d == 99)
            return UINT32_MAX;
        v = v * 16 + d;
    }
    return v;
}

/* One escape of a string, from the character behind the backslash; where the next one starts. */
static uint32_t string_escape(struct cs_parser *p, uint32_t pos, char *out, uint32_t *len)
{
    static const char from[] = "nrtbfv0", to[] = "\n\r\t\b\f\v";
    const char *s = p->src;
    const char *hit = s[pos] ? strchr(from, s[pos]) : NULL;
    if (hit) {
        out[(*len)++] = to[hit - from];
        return pos + 1;
    }
    if (s[pos] == 'x' && hex(s + pos + 1, 2) != UINT32_MAX) {
        uint32_t c = hex(s + pos + 1, 2);
        *len += utf8_encode(out + *len, c);
        p->letters_escaped |= c < 0x80 && (class_of[c] & ID_PART);
        return pos + 3;
    }
    if (s[pos] == 'u') {
        uint32_t end, c = unicode_escape(p, pos - 1, &end);
        /* A pair of surrogates is one character; half of one becomes U+FFFD. */
        if (c >= 0xd800 && c < 0xdc00 && s[end] == '\\' && s[end + 1] == 'u') {
            uint32_t end2, low = unicode_escape(p, end, &end2);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                end = end2;
            }
        }
        if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd;
        p->letters_escaped |= c < 0x80 && (class_of[c] & ID_PART);
        *len += utf8_encode(out + *len, c);
        return end;
    }
    if (s[pos] == '\r' && s[pos + 1] == '\n')
        return pos + 2;
    if (s[pos] != '\n' && s[pos] != '\r')
        out[(*len)++] = s[pos];
    return pos + 1;
}

uint32_t cs_lex_value(struct cs_parser *p, uint32_t start, uint32_t end)
{
    const char *s = p->src;
    start++;
    end--;
    p->letters_escaped = false;
    if (!memchr(s + start, '\\', end - start))
        return cs_intern(p, cs_strn(s + start, end - start));
    /* An escape is never shorter than what it stands for. */
    char *value = cs_arena_alloc(&p->scratch, end - start + 1);
    uint32_t len = 0;
    for (uint32_t pos = start; pos < end;) {
        if (s[pos] == '\\')
            pos = string_escape(p, pos + 1, value, &len);
        else
            value[len++] = s[pos++];
    }
    return cs_intern(p, cs_strn(value, len));
}
