/* Inside of front/settings*.c and config_verbs.c: the rows of the table, and one value at a time.
 */
#ifndef CS_FRONT_SETTINGS_INSIDE_H
#define CS_FRONT_SETTINGS_INSIDE_H

#include <stddef.h>

#include "base/json.h"
#include "front/settings.h"

#define CS_SETTING_NAME  64 /* names of settings and variables are shorter */
#define CS_MISTAKES_MOST 100

struct cs_setting {
    char kind; /* one of TLNBDFC */
    bool live;
    const char *name, *def, *older, *help;
    uint64_t least, most;
    const char *words; /* of C; else "" */
    size_t at;         /* offset of the field */
};

extern const struct cs_setting cs_setting_rows[CS_SETTING_COUNT];

/* NULL: there is none of that name. */
const struct cs_setting *cs_setting_find(struct cs_str name);
size_t cs_setting_id(const struct cs_setting *row);

/* The variable: "server.port" -> "CAISSON_SERVER_PORT". */
void cs_setting_variable(const char *name, char variable[CS_SETTING_NAME]);
/* "CAISSON_PORT" and "port" for server.port; NULL: it has no short one. */
const char *cs_setting_short(const struct cs_setting *row);
const char *cs_setting_short_flag(const struct cs_setting *row);

/* --- a value (settings_value.c) --- */

/* Both put the value where it belongs; CS_INVALID says what is wanted. */
int cs_setting_parse(const struct cs_setting *row, const char *text, struct cs_settings *into,
                     struct cs_err *err);
int cs_setting_take(const struct cs_setting *row, struct cs_json_val v, struct cs_settings *into,
                    struct cs_err *err);

/* As one would write it in a variable, with passwords masked. */
void cs_setting_print(const struct cs_setting *row, const struct cs_settings *from,
                      struct cs_buf *out);
void cs_setting_put(const struct cs_setting *row, const struct cs_settings *from,
                    struct cs_json_writer *w);
/* "a whole number from 0 to 65535" */
void cs_setting_wanted(const struct cs_setting *row, struct cs_buf *out);
bool cs_setting_equal(const struct cs_setting *row, const struct cs_settings *a,
                      const struct cs_settings *b);
/* A copy in the arena of `into`. */
void cs_setting_copy(const struct cs_setting *row, struct cs_settings *into,
                     const struct cs_settings *from);

/* --- mistakes --- */

struct cs_mistakes {
    struct cs_buf *text;
    size_t count; /* those beyond CS_MISTAKES_MOST are counted only */
};
/* A line "where: ..." */
void cs_mistake(struct cs_mistakes *m, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* --- the file (settings_file.c) --- */

/* Takes the settings of this text. What cannot be read as JSON is a mistake too. */
void cs_settings_take_text(struct cs_str text, const char *path, struct cs_settings *into,
                           struct cs_mistakes *m);

#endif
