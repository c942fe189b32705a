/*
 * Writes the TypeScript tree of toolset files (`{"server", "tools": [...]}`), as the daemon would:
 * a directory per server with a file per tool and index.ts, README.md and caisson.d.ts at the root.
 * Each file is also put through the compiler, and the engine must take what comes out.
 *
 * declare_tree OUT FILE...     OUT "-" writes nothing
 *
 * Prints `refused SERVER TOOL: why` for each tool that has no file, then `servers N tools N refused
 * N bytes N`. Status 1 if a file was not accepted.
 */
#include <JavaScriptCore/JavaScript.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "compile/compile.h"
#include "tools/declare.h"

struct tree {
    const char *out;
    JSGlobalContextRef js;
    struct cs_arena arena;
    struct cs_declare_server *servers;
    size_t count, tools, refused, bytes, wrong;
};

static void read_file(const char *path, struct cs_buf *text)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    for (size_t n; (n = fread(cs_buf_room(text, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(text, n);
    fclose(f);
}

static void write_file(struct tree *t, struct cs_str dir, const char *name, const char *ending,
                       const struct cs_buf *text)
{
    t->bytes += text->len;
    if (strcmp(t->out, "-") == 0)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%.*s", t->out, CS_STR_ARG(dir));
    if (mkdir(path, 0777) < 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    snprintf(path, sizeof path, "%s/%.*s/%s%s", t->out, CS_STR_ARG(dir), name, ending);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text->at, 1, text->len, f) != text->len || fclose(f) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
}

/* The compiler must take it, and the engine what the compiler made of it. */
static void check(struct tree *t, struct cs_str server, const char *name, struct cs_str text)
{
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    if (cs_compile(CS_COMPILE_MODULE, text, &c, &d) < 0) {
        printf("wrong %.*s/%s:%u:%u: %s\n", CS_STR_ARG(server), name, d.line, d.column, d.message);
        t->wrong++;
        return;
    }
    JSStringRef js = JSStringCreateWithUTF8CString(cs_buf_cstr(&c.js));
    if (!JSCheckScriptSyntax(t->js, js, NULL, 1, NULL)) {
        printf("wrong %.*s/%s: the engine refuses it\n", CS_STR_ARG(server), name);
        t->wrong++;
    }
    JSStringRelease(js);
    cs_compiled_done(&c);
}

static struct cs_str raw(struct cs_json_val v, const char *key)
{
    return cs_json_raw(cs_json_get(v, key));
}

static const char *category(struct cs_json_val tool)
{
    struct cs_json_val notes = cs_json_get(tool, "annotations");
    bool yes = false;
    if (cs_json_bool(cs_json_get(notes, "readOnlyHint"), &yes) && yes)
        return "read";
    return cs_json_bool(cs_json_get(notes, "destructiveHint"), &yes) && yes ? "destructive"
                                                                            : "write";
}

static size_t declare_all(struct tree *t, struct cs_str server, struct cs_json_val tools,
                          struct cs_declaration *declared)
{
    size_t count = cs_json_count(tools), n = 0, made = 0;
    struct cs_str *names = cs_arena_alloc(&t->arena, (count + 1) * sizeof *names);
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&t->arena, (count + 1) * sizeof *idents);
    struct cs_json_iter it = {0};
    struct cs_json_val tool;
    while (cs_json_next(tools, &it, NULL, &tool))
        names[n++] = cs_json_str(cs_json_get(tool, "name"), &t->arena);
    cs_idents(names, count, idents);
    it = (struct cs_json_iter){0};
    for (size_t i = 0; cs_json_next(tools, &it, NULL, &tool); i++) {
        struct cs_declaration d = {
            .server = server,
            .name = names[i],
            .ident = cs_str(idents[i]),
            .title = cs_json_str(cs_json_get(tool, "title"), &t->arena),
            .description = cs_json_str(cs_json_get(tool, "description"), &t->arena),
            .input = raw(tool, "inputSchema"),
            .output = raw(tool, "outputSchema"),
            .category = category(tool),
            .risk = "low",
        };
        int64_t learned;
        if (cs_json_i64(cs_json_get(tool, "learned"), &learned))
            d.learned = (uint64_t)learned;
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_err err = {0};
        if (cs_declare_tool(&d, &text, &err) < 0) {
            printf("refused %.*s %.*s: %s\n", CS_STR_ARG(server), CS_STR_ARG(names[i]), err.msg);
            t->refused++;
            continue;
        }
        check(t, server, idents[i], cs_buf_str(&text));
        write_file(t, server, idents[i], ".ts", &text);
        declared[made++] = d;
    }
    return made;
}

static void add_server(struct tree *t, const char *path)
{
    CS_AUTO_BUF struct cs_buf file = {0}, index = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    read_file(path, &file);
    struct cs_json_limits limits = {.depth = 10000, .allow_duplicate = true};
    if (cs_json_parse(cs_buf_str(&file), &limits, &doc, &err) < 0) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        exit(2);
    }
    struct cs_json_val root = cs_json_root(&doc), tools = cs_json_get(root, "tools");
    struct cs_str server = cs_json_str(cs_json_get(root, "server"), &t->arena);
    /* Three collections have servers of the same name. */
    char *name = cs_arena_printf(&t->arena, "%.*s", CS_STR_ARG(server));
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '-' : *c;
    for (size_t i = 0; i < t->count; i++) {
        if (cs_str_is(t->servers[i].name, name))
            name = cs_arena_printf(&t->arena, "%s-%zu", name, t->count);
    }
    server = cs_str(name);
    struct cs_declaration *declared =
        cs_arena_alloc(&t->arena, (cs_json_count(tools) + 1) * sizeof *declared);
    size_t made = declare_all(t, server, tools, declared);
    cs_declare_index(server, cs_json_str(cs_json_get(root, "instructions"), &t->arena), declared,
                     made, &index);
    check(t, server, "index", cs_buf_str(&index));
    write_file(t, server, "index", ".ts", &index);
    t->servers[t->count++] = (struct cs_declare_server){.name = server, .tools = made};
    t->tools += made;
}

static void write_root(struct tree *t)
{
    CS_AUTO_BUF struct cs_buf readme = {0}, globals = {0};
    struct cs_str *names = cs_arena_alloc(&t->arena, (t->count + 1) * sizeof *names);
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&t->arena, (t->count + 1) * sizeof *idents);
    for (size_t i = 0; i < t->count; i++)
        names[i] = t->servers[i].name;
    cs_idents(names, t->count, idents);
    for (size_t i = 0; i < t->count; i++)
        t->servers[i].ident = cs_str(idents[i]);
    cs_declare_readme(t->servers, t->count, &readme);
    cs_declare_globals(t->servers, t->count, &globals);
    write_file(t, CS_STR("."), "README", ".md", &readme);
    write_file(t, CS_STR("."), "caisson.d", ".ts", &globals);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: declare_tree OUT FILE...\n");
        return 2;
    }
    struct tree t = {.out = argv[1], .js = JSGlobalContextCreate(NULL)};
    t.servers = cs_calloc((size_t)argc, sizeof *t.servers);
    for (int i = 2; i < argc; i++)
        add_server(&t, argv[i]);
    write_root(&t);
    printf("servers %zu tools %zu refused %zu bytes %zu\n", t.count, t.tools, t.refused, t.bytes);
    free(t.servers);
    cs_arena_done(&t.arena);
    JSGlobalContextRelease(t.js);
    return t.wrong ? 1 : 0;
}
