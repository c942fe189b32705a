/*
 * The settings of a file. Whatever it is: each mistake is one line that begins with the path; where
 * there is none, every value is within its range, and printed it is read again as the same value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/settings_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void print_and_read(const struct cs_setting *row, struct cs_settings *s)
{
    CS_AUTO_BUF struct cs_buf printed = {0}, json = {0};
    struct cs_settings again = *s;
    struct cs_err err = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_setting_put(row, s, &w);
    CS_AUTO_JSON struct cs_json doc = {0};
    must(cs_json_parse(cs_buf_str(&json), NULL, &doc, &err) == 0);
    cs_setting_print(row, s, &printed);
    /* A masked text is another one, and an item may have a comma in it. */
    if (strchr("TL", row->kind))
        return;
    must(cs_setting_parse(row, cs_buf_cstr(&printed), &again, &err) == 0);
    s->arena = again.arena;
    must(cs_setting_equal(row, s, &again));
    must(cs_setting_take(row, cs_json_root(&doc), &again, &err) == 0);
    s->arena = again.arena;
    must(cs_setting_equal(row, s, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char path[] = "/x/caisson.json";
    struct cs_settings s;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    struct cs_mistakes m = {&said, 0};
    if (size > 1 << 16)
        return 0;
    must(cs_settings_read(NULL, NULL, true, &s, &said, &err) == 0);
    /* Half of the files have another program's name. */
    cs_settings_take_text(cs_strn((const char *)data, size), size % 2 ? path : "/x/.mcp.json", &s,
                          &m);
    size_t lines = 0;
    for (const char *at = cs_buf_cstr(&said); *at; at = strchr(at, '\n') + 1) {
        must(strncmp(at, "/x/", 3) == 0 && strchr(at, '\n'));
        lines++;
    }
    must(lines == (m.count < CS_MISTAKES_MOST ? m.count : CS_MISTAKES_MOST));
    for (size_t i = 0; i < CS_SETTING_COUNT; i++)
        print_and_read(&cs_setting_rows[i], &s);
    cs_settings_done(&s);
    return 0;
}
