/* Inside of tools/config*.c: where in a file the servers are. */
#ifndef CS_TOOLS_CONFIG_DOC_H
#define CS_TOOLS_CONFIG_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

#define CS_PLACES 4

/* The objects whose members are servers; of two of the same name, that of the later one counts. */
struct cs_places {
    struct cs_json_val at[CS_PLACES];
    size_t count;
    size_t top;       /* how many of them do not belong to a folder; those come first */
    size_t elsewhere; /* servers that belong to other folders (Claude Code's `projects`) */
};

int cs_places_find(struct cs_json_val root, struct cs_places *places, struct cs_err *err);

/* The last member of that name, over all places. */
bool cs_places_get(const struct cs_places *places, struct cs_str name, size_t *place,
                   struct cs_json_val *key, struct cs_json_val *entry);

/* Does this command start Caisson itself? `args` may be NULL. */
bool cs_is_self(const char *command, const char *const *args);

#endif
