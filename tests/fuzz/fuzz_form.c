/*
 * The first line is what a server asks, the others are what a person types. Whatever they are:
 * every field can be asked, a value that is taken is JSON, and what is sent is an object of them;
 * prompts and complaints are one line, and an address that is shown has its host in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "front/form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct cs_str take_line(struct cs_str *text)
{
    const char *end = text->len ? memchr(text->at, '\n', text->len) : NULL;
    size_t len = end ? (size_t)(end - text->at) + 1 : text->len;
    struct cs_str line = cs_strn(text->at, len);
    text->at += len;
    text->len -= len;
    return line;
}

static void must_be_json(struct cs_str text, enum cs_json_type type)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    must(cs_json_parse(text, NULL, &doc, NULL) == 0);
    must(type == CS_JSON_NONE || cs_json_type(cs_json_root(&doc)) == type);
}

static void ask(const struct cs_form *form, struct cs_str lines)
{
    size_t count = cs_form_count(form);
    must(count <= CS_FORM_FIELDS);
    struct cs_buf *values = cs_calloc(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        CS_AUTO_BUF struct cs_buf prompt = {0}, details = {0};
        struct cs_err err = {0};
        cs_form_prompt(form, i, &prompt);
        cs_form_details(form, i, &details);
        must(prompt.len && prompt.len < 20000 && !memchr(prompt.at, '\n', prompt.len));
        enum cs_form_got got = cs_form_take(form, i, take_line(&lines), &values[i], &err);
        must((got == CS_FORM_AGAIN) == (err.code != CS_OK));
        must((got == CS_FORM_VALUE) == (values[i].len > 0));
        if (values[i].len)
            must_be_json(cs_buf_str(&values[i]), CS_JSON_NONE);
    }
    CS_AUTO_BUF struct cs_buf content = {0};
    struct cs_err err = {0};
    if (cs_form_content(form, values, &content, &err) == 0)
        must_be_json(cs_buf_str(&content), CS_JSON_OBJECT);
    else
        must(content.len == 0 && err.msg[0]);
    for (size_t i = 0; i < count; i++)
        cs_buf_done(&values[i]);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = cs_strn((const char *)data, size), host = {0};
    struct cs_str params = take_line(&text);
    struct cs_form *form = NULL;
    struct cs_err err = {0};
    if (cs_form_new(params, &form, &err) < 0) {
        must(err.code == CS_INVALID || err.code == CS_LIMIT);
        must(!form);
        return 0;
    }
    ask(form, text);
    struct cs_str url = cs_form_url(form);
    if (cs_form_host(url, &host, &err) == 0)
        must(host.len && host.at >= url.at && host.at + host.len <= url.at + url.len);
    cs_form_free(form);
    return 0;
}
