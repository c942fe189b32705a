/*
 * Inside of front/: a question of a server (the params of elicitation/create) as fields that a
 * person fills in line by line. Pure: it reads and prints nothing itself.
 *
 * Owner:   the form owns a copy of what it was made from.
 * Limits:  CS_FORM_BYTES of text, CS_FORM_FIELDS fields; beyond that the question is no question
 *          for a person (CS_LIMIT). What is shown of a text is cut.
 * Failure: a schema that cannot be used costs its check, not the question; the server checks too.
 *
 * All texts are the server's: whoever prints them makes control characters visible.
 */
#ifndef CS_FRONT_FORM_H
#define CS_FRONT_FORM_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_FORM_BYTES  (256u << 10)
#define CS_FORM_FIELDS 100u

struct cs_form;

int cs_form_new(struct cs_str params, struct cs_form **form, struct cs_err *err);
void cs_form_free(struct cs_form *form);

struct cs_str cs_form_message(const struct cs_form *form);
struct cs_str cs_form_url(const struct cs_form *form); /* empty: none */
size_t cs_form_count(const struct cs_form *form);

/* What there is to know about a field (description, choices), in lines; and the words before the
 * cursor: "Colour (required) [red]: ". */
void cs_form_details(const struct cs_form *form, size_t field, struct cs_buf *text);
void cs_form_prompt(const struct cs_form *form, size_t field, struct cs_buf *text);

enum cs_form_got {
    CS_FORM_AGAIN = -1, /* `err` says why */
    CS_FORM_VALUE,      /* appended to `value`, as JSON */
    CS_FORM_LEFT_OUT,
};

/* What a line means as the value of a field. An empty one is its default, or leaves it out. */
enum cs_form_got cs_form_take(const struct cs_form *form, size_t field, struct cs_str line,
                              struct cs_buf *value, struct cs_err *err);

/* The object of all values (those that are empty were left out), appended to `content`. CS_INVALID
 * if they do not fit together. */
int cs_form_content(const struct cs_form *form, const struct cs_buf *values, struct cs_buf *content,
                    struct cs_err *err);

/*
 * The host of an address that a person may be shown, as a slice of it. CS_INVALID if it is not
 * http(s), or written so that it can be taken for another: a user before the host, characters that
 * a browser would read differently.
 */
int cs_form_host(struct cs_str url, struct cs_str *host, struct cs_err *err);

#endif
