/*
 * Compiles the files named on standard input (NUL-separated) in one process, for tests that compare
 * with other compilers. For each file, in order, on standard output:
 *
 *     ok LENGTH\n             and the output, if the compiler took the file
 *     error LINE COLUMN LENGTH\n  and the message, if it did not
 *     engine LENGTH\n         and the engine's message, with --check, if the engine refuses the
 * output
 *
 * compile_files --kind program|module|strip [--check] [--facts] [--time]
 */
#include <JavaScriptCore/JavaScript.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/visible.h"
#include "compile/compile.h"

struct options {
    enum cs_compile_kind kind;
    bool check, facts, time;
    JSGlobalContextRef js;
    double seconds;
    size_t bytes;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool read_file(const char *path, struct cs_buf *text)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    cs_buf_clear(text);
    for (size_t n; (n = fread(cs_buf_room(text, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(text, n);
    fclose(f);
    return true;
}

/* NULL if the engine takes the text, else its message in `text`. */
static const char *engine_error(JSGlobalContextRef js, struct cs_compiled *c, char *text,
                                size_t size)
{
    JSStringRef source = JSStringCreateWithUTF8CString(cs_buf_cstr(&c->js));
    JSValueRef exception = NULL;
    bool good = JSCheckScriptSyntax(js, source, NULL, 1, &exception);
    JSStringRelease(source);
    if (good)
        return NULL;
    JSStringRef message = JSValueToStringCopy(js, exception, NULL);
    JSStringRef name = JSStringCreateWithUTF8CString("line");
    JSValueRef line = JSObjectGetProperty(js, (JSObjectRef)exception, name, NULL);
    size_t at = (size_t)snprintf(text, size, "line %.0f: ", JSValueToNumber(js, line, NULL));
    JSStringGetUTF8CString(message, text + at, size - at);
    JSStringRelease(name);
    JSStringRelease(message);
    return text;
}

static void print_facts(const struct cs_compiled *c)
{
    static const char *const kinds[] = {
#define X(id, word) word,
        CS_FACTS(X)
#undef X
    };
    for (uint32_t i = 0; i < c->fact_count; i++) {
        CS_AUTO_BUF struct cs_buf name = {0};
        cs_visible(c->facts[i].name, false, &name);
        fprintf(stderr, "%u:%u fact %s %s\n", c->facts[i].line, c->facts[i].column,
                kinds[c->facts[i].kind], cs_buf_cstr(&name));
    }
    for (uint32_t i = 0; i < c->import_count; i++)
        fprintf(stderr, "%u:%u import%s %.*s\n", c->imports[i].line, c->imports[i].column,
                c->imports[i].dynamic ? "()" : "", CS_STR_ARG(c->imports[i].specifier));
    fprintf(stderr, "value: %s\n", c->value == CS_VALUE_CALLABLE ? "callable" : "returned");
}

static void one(struct options *o, const char *path, struct cs_buf *text)
{
    struct cs_compiled c = {0};
    struct cs_diag diag = {0};
    char message[1024];
    if (!read_file(path, text)) {
        fprintf(stderr, "compile_files: cannot read %s\n", path);
        exit(2);
    }
    double start = now();
    int result = cs_compile(o->kind, cs_buf_str(text), &c, &diag);
    o->seconds += now() - start;
    o->bytes += text->len;
    if (result < 0) {
        int n = snprintf(message, sizeof message, "%s\x1f%s", diag.message, diag.suggestion);
        printf("error %u %u %d\n%s", diag.line, diag.column, n, message);
        return;
    }
    const char *refused = o->check ? engine_error(o->js, &c, message, sizeof message) : NULL;
    if (refused) {
        printf("engine %zu\n%s", strlen(refused), refused);
    } else {
        printf("ok %zu\n", c.js.len);
        fwrite(c.js.at, 1, c.js.len, stdout);
    }
    if (o->facts)
        print_facts(&c);
    cs_compiled_done(&c);
}

int main(int argc, char **argv)
{
    struct options o = {.kind = CS_COMPILE_STRIP};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--kind") == 0 && i + 1 < argc) {
            i++;
            o.kind = argv[i][0] == 'p'   ? CS_COMPILE_PROGRAM
                     : argv[i][0] == 'm' ? CS_COMPILE_MODULE
                                         : CS_COMPILE_STRIP;
        }
        o.check |= strcmp(argv[i], "--check") == 0;
        o.facts |= strcmp(argv[i], "--facts") == 0;
        o.time |= strcmp(argv[i], "--time") == 0;
    }
    if (o.check)
        o.js = JSGlobalContextCreate(NULL);
    CS_AUTO_BUF struct cs_buf text = {0};
    char *path = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getdelim(&path, &cap, 0, stdin)) > 0;) {
        if (path[0])
            one(&o, path, &text);
    }
    free(path);
    if (o.time)
        fprintf(stderr, "%.1f us/KB, %zu KB\n", o.seconds * 1e6 / ((double)o.bytes / 1024),
                o.bytes / 1024);
    return 0;
}
