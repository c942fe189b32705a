/*
 * Inside of front/: rows in columns, for people. Texts are foreign: they are made safe, and each
 * stays in its line.
 */
#ifndef CS_FRONT_TABLE_H
#define CS_FRONT_TABLE_H

#include <stdio.h>

#include "base/str.h"

#define CS_TABLE_COLUMNS 8

struct cs_table {
    char **cells;        /* owned; row after row */
    const char **styles; /* one for each row: the colour of its second column */
    size_t columns, rows, cap;
};

#define CS_AUTO_TABLE CS_AUTO(cs_table_done)

/* A row of `columns` texts; `style` as for cs_text_style, or "". */
void cs_table_add(struct cs_table *table, const struct cs_str *cells, const char *style);

/* The first row is the heading. Lines are not longer than `width`, unless it is 0. */
void cs_table_print(const struct cs_table *table, FILE *f, size_t width);
void cs_table_done(struct cs_table *table);

/* Columns of the terminal that `f` is; 0 if it is none. */
size_t cs_table_width(FILE *f);

#endif
