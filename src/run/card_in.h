/* Inside of run/: parts of a card that card.c puts together. */
#ifndef CS_RUN_CARD_IN_H
#define CS_RUN_CARD_IN_H

#include "base/hash.h"
#include "privacy/privacy.h"
#include "run/guard.h"

/* --- card_mask.c --- */

#define CS_CARD_NAMES 500 /* values that are told apart; of further ones only the kind is true */

struct cs_card_name {
    unsigned char kind[CS_SHA256], value[CS_SHA256];
    uint32_t number;
};

/* What stands for what on one card. */
struct cs_card_names {
    struct cs_card_name *at;
    size_t count, cap;
};
void cs_card_names_done(struct cs_card_names *names);

/* From `start` to `end` of it, with what is around looked at, too, so that no half of a value is
 * shown. JSON stays JSON, and lines keep their numbers. */
void cs_card_mask(const struct cs_run *run, struct cs_card_names *names, enum cs_form form,
                  struct cs_str whole, size_t start, size_t end, struct cs_buf *out);
void cs_card_mask_text(const struct cs_run *run, struct cs_card_names *names, struct cs_str text,
                       struct cs_buf *out);

/* --- card_code.c --- */

/* Members "code", "code_cut_from_bytes"?, "code_line_cut"?, "code_lines", "lines". */
void cs_card_code(const struct cs_run *run, struct cs_card_names *names, struct cs_json_writer *w);
/* Members "files", "files_more"?, "file_lines": what it imports, and the lines of those files that
 * something was found in. */
void cs_card_files(const struct cs_run *run, struct cs_card_names *names, struct cs_json_writer *w);

/* --- card_values.c --- */

/* Member "values": of each token in the arguments what it is and where its value comes from. */
void cs_card_values(const struct cs_gate_call *call, struct cs_json_writer *w);

#endif
