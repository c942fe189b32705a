/*
 * Whatever the compiler accepts as a program is one function to the engine too: it is evaluated
 * (which makes the function and runs nothing of it), and what comes out has to be a function whose
 * text is the whole output. If the engine read the text in another way than our parser, so that
 * something left the function around it, this fails.
 */
#include <JavaScriptCore/JavaScript.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* The engine ends with the process and frees nothing; fuzz_compile looks for leaks of ours. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static JSGlobalContextRef engine(void)
{
    static JSGlobalContextRef js;
    if (!js)
        js = JSGlobalContextCreate(NULL);
    return js;
}

/* The text of the value, or NULL if it is no function. */
static char *function_text(JSGlobalContextRef js, JSValueRef value)
{
    JSObjectRef object = JSValueIsObject(js, value) ? JSValueToObject(js, value, NULL) : NULL;
    if (!object || !JSObjectIsFunction(js, object))
        return NULL;
    JSStringRef text = JSValueToStringCopy(js, value, NULL);
    size_t size = JSStringGetMaximumUTF8CStringSize(text);
    char *utf8 = calloc(1, size);
    JSStringGetUTF8CString(text, utf8, size);
    JSStringRelease(text);
    return utf8;
}

static void check(struct cs_compiled *c)
{
    JSGlobalContextRef js = engine();
    JSStringRef source = JSStringCreateWithUTF8CString(cs_buf_cstr(&c->js));
    JSValueRef exception = NULL;
    /* What is no syntax for the engine is refused before anything runs. */
    bool good = JSCheckScriptSyntax(js, source, NULL, 1, &exception);
    JSValueRef value = good ? JSEvaluateScript(js, source, NULL, NULL, 1, &exception) : NULL;
    JSStringRelease(source);
    if (!good)
        return;
    char *text = value ? function_text(js, value) : NULL;
    if (!text || strlen(text) + 2 != c->js.len || memcmp(text, c->js.at + 1, strlen(text)) != 0) {
        fprintf(stderr, "fuzz_breakout: not one function:\n%s\n", cs_buf_cstr(&c->js));
        abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_compiled c = {0};
    struct cs_diag d;
    if (size == 0 || memchr(data, 0, size))
        return 0;
    for (int kind = CS_COMPILE_PROGRAM; kind <= CS_COMPILE_MODULE; kind++) {
        struct cs_str source = {(const char *)data, size};
        if (cs_compile((enum cs_compile_kind)kind, source, &c, &d) < 0)
            continue;
        check(&c);
        cs_compiled_done(&c);
    }
    return 0;
}
