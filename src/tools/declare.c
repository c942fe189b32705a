/* The file of a tool, and the index of a server. */
#include "tools/declare.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "tools/types.h"

#define SCHEMA_BYTES      (1u << 20)
#define DESCRIPTION_BYTES 1000u
#define PARAM_BYTES       240u
#define PARAMS_MAX        100u
#define OUTPUT_BYTES      4096u

struct file {
    const struct cs_declaration *tool;
    char ident[CS_IDENT_MAX + 1], type[CS_IDENT_MAX + 1];
    struct cs_arena *arena;
    struct cs_buf *out;
    struct cs_types input, output;
};

/* --- comment --- */

struct params {
    const struct cs_prop *props[PARAMS_MAX];
    size_t count, more;
};

static void add_param(struct params *all, const struct cs_prop *prop)
{
    for (size_t i = 0; i < all->count; i++) {
        if (cs_str_eq(all->props[i]->name, prop->name))
            return;
    }
    if (all->count < PARAMS_MAX)
        all->props[all->count++] = prop;
    else
        all->more++;
}

/* All properties that the input may have, whichever alternative they belong to. */
static void find_params(struct params *all, const struct cs_type *t, unsigned depth)
{
    t = cs_type_real(t);
    if (depth > 8 || all->more)
        return;
    for (size_t i = 0; t->kind == CS_TYPE_OBJECT && i < t->count; i++)
        add_param(all, &t->props[i]);
    bool parts = t->kind == CS_TYPE_UNION || t->kind == CS_TYPE_BOTH;
    for (size_t i = 0; parts && i < t->count; i++)
        find_params(all, t->parts[i], depth + 1);
}

static void put_param(struct file *f, const struct cs_prop *prop)
{
    CS_AUTO_BUF struct cs_buf notes = {0}, text = {0};
    struct cs_str said = cs_prop_description(prop, f->arena);
    cs_type_notes(prop->schema, prop->type, true, said, f->arena, &notes);
    cs_comment_line(said, PARAM_BYTES, &text);
    bool plain = cs_type_key_is_plain(prop->name);
    cs_buf_puts(f->out, plain ? " * @param input." : " * @param input[");
    cs_type_key(prop->name, f->out);
    cs_buf_puts(f->out, plain ? "" : "]");
    if (text.len || notes.len)
        cs_buf_puts(f->out, " - ");
    cs_buf_putstr(f->out, cs_buf_str(&text));
    if (notes.len) {
        cs_buf_puts(f->out, text.len ? " (" : "");
        cs_comment_line(cs_buf_str(&notes), PARAM_BYTES, f->out);
        cs_buf_puts(f->out, text.len ? ")" : "");
    }
    cs_buf_putc(f->out, '\n');
}

static void put_example(struct file *f, bool optional)
{
    bool taken = cs_str_is(cs_str(f->ident), "result");
    cs_buf_printf(f->out, " * @example\n * const %s = await %s(", taken ? "answer" : "result",
                  f->ident);
    if (!optional)
        cs_type_sample(f->input.root, CS_STR("input"), f->arena, f->out);
    cs_buf_puts(f->out, ");\n");
}

static void put_comment(struct file *f, bool optional)
{
    const struct cs_declaration *tool = f->tool;
    struct params *params = cs_arena_alloc(f->arena, sizeof *params);
    cs_buf_puts(f->out, "/**\n");
    cs_comment_text(tool->description.len ? tool->description : tool->title, DESCRIPTION_BYTES,
                    " * ", f->out);
    if (tool->category)
        cs_buf_printf(f->out, " * @category %s\n", tool->category);
    if (tool->risk)
        cs_buf_printf(f->out, " * @riskLevel %s\n", tool->risk);
    if (tool->learned)
        cs_buf_printf(f->out, " * @learned from %" PRIu64 " result%s\n", tool->learned,
                      tool->learned == 1 ? "" : "s");
    find_params(params, f->input.root, 0);
    for (size_t i = 0; i < params->count; i++)
        put_param(f, params->props[i]);
    if (params->more)
        cs_buf_puts(f->out, " * More parameters: see the type of the input.\n");
    put_example(f, optional);
    cs_buf_puts(f->out, " */\n");
}

/* --- types --- */

/* An object without keys takes none; {} says so in the fewest words. */
static bool is_empty(const struct cs_type *t)
{
    return t->kind == CS_TYPE_OBJECT && t->count == 0 &&
           (!t->rest ||
            (t->rest->kind == CS_TYPE_UNKNOWN &&
             cs_json_type(cs_json_get(t->schema, "properties")) == CS_JSON_OBJECT &&
             cs_json_type(cs_json_get(t->schema, "additionalProperties")) == CS_JSON_NONE));
}

static void put_defs(struct file *f, const struct cs_types *types, const char *own,
                     const struct cs_type_style *style)
{
    for (const struct cs_type_def *d = types->defs; d; d = d->next) {
        if (!d->name[0] || cs_str_is(cs_str(own), d->name))
            continue;
        cs_buf_printf(f->out, "export type %s = ", d->name);
        cs_type_print(d->type, style, f->out);
        cs_buf_puts(f->out, ";\n");
    }
}

static void put_input(struct file *f, const char *own)
{
    struct cs_type_style style = {f->arena, .comments = true, .bare = true, .limits = true};
    const struct cs_type *root = f->input.root;
    cs_buf_printf(f->out, "export type %sInput = ", f->type);
    if (is_empty(root))
        cs_buf_puts(f->out, "{}");
    else if (root->kind == CS_TYPE_UNKNOWN)
        cs_buf_puts(f->out, "Record<string, unknown>");
    else
        cs_type_print(root, &style, f->out);
    cs_buf_puts(f->out, ";\n");
    style.bare = false;
    put_defs(f, &f->input, own, &style);
}

/* `any` where nothing is known of the result: a program can use it at once, while `unknown` would
 * ask for casts that check nothing. */
static void print_output(struct file *f, const char *own, bool comments)
{
    struct cs_type_style style = {f->arena, .comments = comments};
    cs_buf_printf(f->out, "export type %sOutput = ", f->type);
    if (!f->output.root || cs_type_real(f->output.root)->kind <= CS_TYPE_NEVER)
        cs_buf_puts(f->out, "any");
    else
        cs_type_print(f->output.root, &style, f->out);
    cs_buf_puts(f->out, ";\n");
    put_defs(f, &f->output, own, &style);
}

/* A large result is told by its names alone: that is what a program needs. */
static void put_output(struct file *f, const char *own)
{
    size_t start = f->out->len;
    print_output(f, own, true);
    if (f->out->len - start <= OUTPUT_BYTES)
        return;
    f->out->len = start;
    print_output(f, own, false);
}

static void put_function(struct file *f, bool optional)
{
    cs_buf_printf(f->out,
                  "export async function %s(input: %sInput%s): Promise<%sOutput> {\n"
                  "  return caisson.callTool(",
                  f->ident, f->type,
                  !optional                            ? ""
                  : cs_type_is_shadowed(f->input.root) ? " = {} as never"
                                                       : " = {}",
                  f->type);
    cs_type_quote(f->tool->server, f->out);
    cs_buf_puts(f->out, ", ");
    cs_type_quote(f->tool->name, f->out);
    cs_buf_puts(f->out, ", input);\n}\n");
}

static int read_types(struct cs_str text, const char *name, const char *prefix,
                      struct cs_arena *arena, struct cs_json *doc, struct cs_types *types,
                      struct cs_err *err)
{
    struct cs_json_limits limits = {.bytes = SCHEMA_BYTES, .allow_duplicate = true};
    if (cs_json_parse(text, &limits, doc, err) < 0 ||
        cs_types_read(cs_json_root(doc), name, prefix, arena, types, err) < 0) {
        if (err)
            err->code = CS_INVALID;
        return -1;
    }
    return 0;
}

static void put_file(struct file *f, const char *input, const char *output)
{
    bool optional = cs_type_takes_nothing(f->input.root);
    put_comment(f, optional);
    put_function(f, optional);
    put_input(f, input);
    put_output(f, output);
    cs_buf_printf(f->out, "export default %s;\n", f->ident);
}

int cs_declare_tool(const struct cs_declaration *tool, struct cs_buf *out, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_JSON struct cs_json input_doc = {0}, output_doc = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct file f = {.tool = tool, .arena = &arena, .out = &text};
    cs_ident_given(tool->ident, tool->name, f.ident);
    cs_ident_type(f.ident, f.type);
    char input[CS_IDENT_MAX + 8], output[CS_IDENT_MAX + 8];
    snprintf(input, sizeof input, "%sInput", f.type);
    snprintf(output, sizeof output, "%sOutput", f.type);

    if (read_types(tool->input.len ? tool->input : CS_STR("{}"), input, f.type, &arena, &input_doc,
                   &f.input, err) < 0)
        return cs_wrap(err, "tool '%.*s', input schema", CS_STR_ARG(tool->name));
    /* Without a usable output schema the tool can still be called. */
    if (tool->output.len &&
        read_types(tool->output, output, output, &arena, &output_doc, &f.output, NULL) < 0)
        f.output = (struct cs_types){0};
    put_file(&f, input, output);
    if (text.len > CS_DECLARE_BYTES)
        return cs_fail(err, CS_INVALID, "tool '%.*s': its types take more than %u bytes",
                       CS_STR_ARG(tool->name), CS_DECLARE_BYTES);
    cs_buf_putstr(out, cs_buf_str(&text));
    return 0;
}

void cs_declare_index(struct cs_str server, struct cs_str instructions,
                      const struct cs_declaration *tools, size_t count, struct cs_buf *out)
{
    cs_buf_puts(out, "/** ");
    cs_comment_line(server, CS_IDENT_MAX, out);
    cs_buf_printf(out, ", %zu tool%s.", count, count == 1 ? "" : "s");
    CS_AUTO_BUF struct cs_buf about = {0};
    cs_comment_line(instructions, 400, &about);
    cs_buf_puts(out, about.len ? " " : "");
    cs_buf_putstr(out, cs_buf_str(&about));
    cs_buf_puts(out, " */\n");
    for (size_t i = 0; i < count; i++) {
        char ident[CS_IDENT_MAX + 1], type[CS_IDENT_MAX + 1];
        cs_ident_given(tools[i].ident, tools[i].name, ident);
        cs_ident_type(ident, type);
        cs_buf_printf(out, "export { %s, type %sInput, type %sOutput } from \"./%s\";\n", ident,
                      type, type, ident);
    }
    if (count == 0)
        cs_buf_puts(out, "export {};\n");
}
