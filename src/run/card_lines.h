/*
 * What those who show a card share: the program on it, line by line, and what it is about.
 *
 * A card has the beginning of a program ("code"), and the parts around all that was found
 * ("lines"), wherever they are. Lines end where the compiler says that they do, so that a finding's
 * number is that of its line whatever the text holds.
 */
#ifndef CS_RUN_CARD_LINES_H
#define CS_RUN_CARD_LINES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/lines.h"

#define CS_LINES_AROUND 2 /* shown before and behind one that something was found in */

struct cs_card_line {
    uint32_t number;
    struct cs_str text;     /* of it, or a part: */
    uint64_t before, after; /* bytes of the line that are left out */
    uint32_t mark;          /* the first finding that is about it, from 1 on, the worst first; 0 */
    bool near;              /* to one that is marked */
};

struct cs_card_lines {
    struct cs_card_line *at; /* in order; parts of one line follow each other */
    size_t count;
    uint32_t total; /* lines of the program: those that are not here are left out */
    uint32_t marks;
};

/* All that the card has. `width`: of lines that are longer only the parts around what was found, or
 * so many bytes of their beginning; 0: as they are. */
void cs_card_lines_read(struct cs_json_val card, size_t width, struct cs_arena *arena,
                        struct cs_card_lines *lines);
/* How many lines of the program are left out just before this one; i = count: behind the last. */
uint32_t cs_card_lines_gap(const struct cs_card_lines *lines, size_t i);

/* Is it about a call that was sent before, and may have taken effect? */
bool cs_card_sent(struct cs_json_val card);
/* What is asked, in a line. `kind` is that of its row. */
const char *cs_card_title(struct cs_json_val card, struct cs_str kind);

#endif
