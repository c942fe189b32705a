/*
 * What a tool without an output schema answers, learned from what it answered: a JSON Schema that
 * every result seen so far fits, and that stays small.
 *
 * Runs in: daemon; pure. Results are foreign: at most CS_LEARN_NODES values of one are looked at,
 * of a long array its first and last. Deeper than 12 levels or more than 4 alternatives become
 * unknown. An object with more than 60 keys is a map, and so is one whose keys are data: addresses,
 * paths, dates, numbers.
 */
#ifndef CS_TOOLS_LEARN_H
#define CS_TOOLS_LEARN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define CS_LEARN_NODES 5000u
#define CS_LEARN_BYTES (64u << 10)

/*
 * The smallest sensible schema that what `schema` (empty: nothing yet) allows fits, and `value`
 * too: types merged, a property optional unless always there, integer + number = number, null kept,
 * differing kinds as anyOf. `schema` is one that this function made; anything else is CS_INVALID.
 * No example values get in: the schema may be shown to a model, and values may be personal. The
 * order of keys does not matter, and `merged` is at most CS_LEARN_BYTES more.
 */
int cs_learn(struct cs_str schema, struct cs_json_val value, struct cs_buf *merged,
             struct cs_err *err);

#endif
