/* A tool in a line: what it takes and what it answers, from its schemas. They are foreign, and may
 * be large: only so much of them is looked at. */
#include <string.h>

#include "base/utf8.h"
#include "mcp/house.h"

#define SIGNATURE_BYTES 400
#define ANSWER_BYTES    250
#define ENUM_MOST       6
#define MEMBERS_MOST    100

static void put_type(struct cs_json_val schema, unsigned depth, struct cs_buf *out);

static void put_choice(struct cs_json_val list, struct cs_buf *out)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (uint32_t i = 0; cs_json_next(list, &it, NULL, &item); i++) {
        if (i == ENUM_MOST) {
            cs_buf_puts(out, "|...");
            return;
        }
        if (i)
            cs_buf_putc(out, '|');
        cs_buf_putstr(out, cs_utf8_cut(cs_json_raw(item), 40));
    }
}

static void put_array(struct cs_json_val items, unsigned depth, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf element = {0};
    put_type(items, depth, &element);
    bool choice = element.len && memchr(element.at, '|', element.len);
    cs_buf_printf(out, choice ? "(%.*s)[]" : "%.*s[]", CS_STR_ARG(cs_buf_str(&element)));
}

static void put_members(struct cs_json_val schema, unsigned depth, struct cs_buf *out)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val properties = cs_json_get(schema, "properties");
    struct cs_json_val required = cs_json_get(schema, "required");
    struct cs_json_iter it = {0};
    struct cs_json_val key, value, name;
    bool any = false;
    cs_buf_putc(out, '{');
    /* What must be there first: the line may be cut. */
    for (int wanted = 1; wanted >= 0; wanted--, it = (struct cs_json_iter){0}) {
        unsigned seen = 0;
        while (seen++ < MEMBERS_MOST && cs_json_next(properties, &it, &key, &value)) {
            struct cs_json_iter among = {0};
            bool needed = false;
            for (unsigned i = 0; !needed && i < MEMBERS_MOST; i++)
                if (cs_json_next(required, &among, NULL, &name))
                    needed = cs_str_eq(cs_json_raw(name), cs_json_raw(key));
            if (needed != (wanted == 1))
                continue;
            cs_buf_printf(out, "%s%.*s%s: ", any ? ", " : "",
                          CS_STR_ARG(cs_utf8_cut(cs_json_str(key, &arena), 60)), needed ? "" : "?");
            put_type(value, depth + 1, out);
            any = true;
        }
    }
    cs_buf_putc(out, '}');
}

static void put_type(struct cs_json_val schema, unsigned depth, struct cs_buf *out)
{
    struct cs_json_val type = cs_json_get(schema, "type"), choice = cs_json_get(schema, "enum");
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_type(choice) == CS_JSON_ARRAY)
        put_choice(choice, out);
    else if (cs_json_type(cs_json_get(schema, "const")) != CS_JSON_NONE)
        cs_buf_putstr(out, cs_utf8_cut(cs_json_raw(cs_json_get(schema, "const")), 40));
    else if (cs_json_is(type, "object") && depth < 2 &&
             cs_json_count(cs_json_get(schema, "properties")))
        put_members(schema, depth, out);
    else if (cs_json_is(type, "array") && depth < 3)
        put_array(cs_json_get(schema, "items"), depth + 1, out);
    else if (cs_json_is(type, "integer"))
        cs_buf_puts(out, "number");
    else if (cs_json_type(type) == CS_JSON_STRING)
        cs_buf_putstr(out, cs_utf8_cut(cs_json_str(type, &arena), 20));
    else
        cs_buf_puts(out, "any");
}

/* Cut between two members. */
static void put_short(struct cs_str type, size_t most, struct cs_buf *out)
{
    struct cs_str cut = cs_utf8_cut(type, most);
    while (cut.len && cut.len < type.len && cut.at[cut.len - 1] != ' ')
        cut.len--;
    cs_buf_printf(out, "%.*s%s", CS_STR_ARG(cut), cut.len < type.len ? "..." : "");
}

void cs_house_signature(const struct cs_tool *tool, struct cs_buf *out)
{
    struct cs_str output = tool->output.len ? tool->output : tool->learned_output;
    CS_AUTO_JSON struct cs_json in = {0}, back = {0};
    CS_AUTO_BUF struct cs_buf members = {0}, answer = {0};
    cs_buf_printf(out, "%.*s.%.*s(", CS_STR_ARG(tool->server_ident), CS_STR_ARG(tool->ident));
    if (cs_json_parse(tool->input, NULL, &in, NULL) == 0)
        put_members(cs_json_root(&in), 0, &members);
    if (members.len > 2)
        put_short(cs_buf_str(&members), SIGNATURE_BYTES, out);
    cs_buf_putc(out, ')');
    if (!output.len || cs_json_parse(output, NULL, &back, NULL) < 0)
        return;
    put_type(cs_json_root(&back), 0, &answer);
    cs_buf_puts(out, ": ");
    put_short(cs_buf_str(&answer), ANSWER_BYTES, out);
}
