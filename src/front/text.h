/*
 * Text for people: colours only on a terminal, and nothing of a program's text can drive that
 * terminal.
 */
#ifndef CS_FRONT_TEXT_H
#define CS_FRONT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

/* Is `f` a terminal that wants colours (NO_COLOR, TERM=dumb)? */
bool cs_text_colour(FILE *f);

/* "\033[31m" and the like, or "" without colour. */
const char *cs_text_style(bool colour, const char *code);

/* Writes text with every control character but line feed and tab, every bidirectional override and
 * invisible character, and every invalid byte made visible. */
void cs_text_safe(FILE *f, struct cs_str text);

/* The same, each line behind `indent`. */
void cs_text_lines(FILE *f, const char *indent, struct cs_str text);

/* Wrapped at 80 columns behind `indent`; a line that begins with two spaces stays as it is. */
void cs_text_wrap(FILE *f, int indent, const char *text);

#endif
