/* "expected X but found Y": and what the person probably meant. */
#include <stdio.h>

#include "compile/parser.h"

/* The token at hand, in words. */
static void describe(const struct cs_parser *p, char *text, size_t size)
{
    struct cs_str s = cs_strn(p->src + p->tok.start, p->tok.end - p->tok.start);
    switch (p->tok.kind) {
    case T_EOF:
        snprintf(text, size, "the end of the code");
        break;
    case T_STR:
        snprintf(text, size, "a string");
        break;
    case T_NUM:
        snprintf(text, size, "a number");
        break;
    case T_TEMPLATE:
        snprintf(text, size, "a template");
        break;
    default:
        if (s.len > 40)
            snprintf(text, size, "a long name");
        else
            snprintf(text, size, "'%.*s'", CS_STR_ARG(s));
    }
}

static bool word_before(const struct cs_parser *p, const char *word)
{
    size_t n = strlen(word), end = p->prev_end;
    return end >= n && memcmp(p->src + end - n, word, n) == 0 &&
           (end == n || strchr(" \t\n;{}()", p->src[end - n - 1]));
}

static bool statement_starts_with(const struct cs_parser *p, const char *word)
{
    size_t n = strlen(word);
    return p->listed + n < p->len && memcmp(p->src + p->listed, word, n) == 0 &&
           strchr(" \t(", p->src[p->listed + n]);
}

static const char *for_word(uint32_t atom)
{
    switch (atom) {
    case K_elif:
        return "this is TypeScript: write else if (...) { }";
    case K_def:
        return "this is TypeScript: write function name(...) { }";
    case K_else:
        return "else needs an if before it: check the braces";
    case K_catch:
    case K_finally:
        return "this needs a try { } before it: check the braces";
    case K_case:
    case K_default:
        return "case and default stand inside switch (...) { }";
    default:
        return NULL;
    }
}

/* Words of other languages, and ours where something is missing behind them. */
static const char *for_language(const struct cs_parser *p)
{
    static const struct {
        const char *word, *advice;
    } before[] = {
        {"def", "this is TypeScript: write function name(...) { }"},
        {"fn", "this is TypeScript: write function name(...) { }"},
        {"func", "this is TypeScript: write function name(...) { }"},
        {"elif", "this is TypeScript: write else if (...) { }"},
        {"lambda", "this is TypeScript: write (x) => ..."},
        {"except", "this is TypeScript: write catch (e) { }"},
        {"foreach", "write: for (const x of list) { }"},
        {"print", "write console.log(...)"},
        {"from", "write: import { name } from \"module\""},
        {"not", "write !x"},
        {"await", "make the enclosing function async"},
        {"function", "write: function name(...) { }"},
        {"if", "put the condition in parentheses: if (...) { }"},
        {"while", "put the condition in parentheses: while (...) { }"},
        {"switch", "put the value in parentheses: switch (...) { }"},
        {"for", "write: for (const x of list) { }"},
    };
    for (size_t i = 0; i < CS_COUNT(before); i++) {
        if (word_before(p, before[i].word))
            return before[i].advice;
    }
    for (size_t i = 0; i < 7; i++) {
        if (statement_starts_with(p, before[i].word))
            return before[i].advice;
    }
    return NULL;
}

static const char *for_semicolon(const struct cs_parser *p)
{
    switch (p->tok.kind) {
    case T_NAME:
        return "end the statement before with ; or put an operator or comma between";
    case T_COLON:
        return "an object as a statement needs parentheses: ({ ... })";
    case T_RPAREN:
    case T_RBRACK:
        return "no bracket is open that it could close: remove it";
    default:
        return "";
    }
}

static const char *suggestion(const struct cs_parser *p, const char *expected)
{
    bool expression = strcmp(expected, "an expression") == 0;
    if (p->tok.kind == T_AT)
        return "call the decorating function yourself, after the declaration";
    const char *advice = for_language(p);
    if (!advice && expression && p->tok.kind == T_NAME)
        advice = for_word(p->tok.atom);
    if (advice)
        return advice;
    if (p->tok.kind == T_TEMPLATE && p->src[p->tok.end] == '`')
        return "send the code alone, or in one fence that starts with ```ts";
    if (strcmp(expected, "'from'") == 0)
        return "write: import name from \"module\"";
    if (p->tok.kind == T_EOF)
        return "the code seems to be cut off";
    if (strcmp(expected, "';'") == 0)
        return for_semicolon(p);
    if (expression && (p->tok.kind == T_RPAREN || p->tok.kind == T_RBRACE ||
                       p->tok.kind == T_RBRACK || p->tok.kind == T_SEMI))
        return "something is missing before it";
    return "";
}

static void refuse_decorator(struct cs_parser *p)
{
    if (p->tok.kind == T_AT)
        cs_syntax_error(p, p->tok.start, suggestion(p, ""), "decorators are not supported");
}

void cs_unexpected(struct cs_parser *p, const char *expected)
{
    char found[64];
    refuse_decorator(p);
    describe(p, found, sizeof found);
    cs_syntax_error(p, p->tok.start, suggestion(p, expected), "expected %s but found %s", expected,
                    found);
}

void cs_unclosed(struct cs_parser *p, const char *expected, uint32_t opened)
{
    char found[64], advice[160];
    refuse_decorator(p);
    if (p->trial)
        cs_syntax_error(p, p->tok.start, "", "unclosed");
    describe(p, found, sizeof found);
    struct cs_place at = {.line = 1, .column = 1};
    cs_place_move(&at, p->src, opened);
    const char *more = "";
    if (p->tok.kind == T_NAME || p->tok.kind == T_STR || p->tok.kind == T_NUM)
        more = "; or a comma or operator is missing";
    else if (p->tok.kind == T_SEMI && p->src[opened] == '{')
        more = "; properties are separated by commas";
    snprintf(advice, sizeof advice, "the '%c' at line %u, column %u is still open%s",
             p->src[opened], at.line, at.column, more);
    cs_syntax_error(p, p->tok.start, advice, "expected %s but found %s", expected, found);
}
