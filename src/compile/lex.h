/* Private to compile/: what the lexer shares with its tables. */
#ifndef CS_COMPILE_LEX_H
#define CS_COMPILE_LEX_H

#include <stdint.h>

#include "base/str.h"

struct cs_parser;

uint32_t cs_utf8_decode(const char *at, uint32_t *size);
uint32_t cs_intern_hashed(struct cs_parser *p, struct cs_str text, uint32_t hash);

#endif
