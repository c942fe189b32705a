/*
 * The callbacks the prelude is built on. They are properties of one object that the prelude gets as
 * an argument and that no program can reach.
 *
 * Each takes values of the types it says and nothing else: the prelude converts. A wrong type is
 * answered with undefined.
 */
#include <string.h>

#include "base/mem.h"
#include "worker/clock.h"
#include "worker/host.h"
#include "worker/text.h"

#define NATIVE(name)                                                                        \
    static JSValueRef name(JSContextRef ctx, JSObjectRef fn, JSObjectRef self, size_t argc, \
                           const JSValueRef argv[], JSValueRef *exception)

/* Every callback has the same parameters; most need only some. */
#define UNUSED_PARAMETERS \
    (void)fn;             \
    (void)self;           \
    (void)argc;           \
    (void)argv;           \
    (void)exception

#define UNDEFINED JSValueMakeUndefined(ctx)

static double number_at(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t i)
{
    return i < argc && JSValueIsNumber(ctx, argv[i]) ? JSValueToNumber(ctx, argv[i], NULL) : 0;
}

/* The bytes of a string (as UTF-8, appended to `text`) or of a typed array. */
static bool bytes_at(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t i,
                     struct cs_buf *text, struct cs_str *out)
{
    if (i >= argc)
        return false;
    if (JSValueIsString(ctx, argv[i])) {
        size_t before = text->len;
        if (!cs_text_put_value(ctx, text, argv[i]))
            return false;
        *out = cs_strn(text->at + before, text->len - before);
        return true;
    }
    if (JSValueGetTypedArrayType(ctx, argv[i], NULL) == kJSTypedArrayTypeNone)
        return false;
    JSObjectRef array = (JSObjectRef)argv[i];
    size_t len = JSObjectGetTypedArrayByteLength(ctx, array, NULL);
    char *at = JSObjectGetTypedArrayBytesPtr(ctx, array, NULL);
    if (at) /* it is the start of the whole buffer */
        at += JSObjectGetTypedArrayByteOffset(ctx, array, NULL);
    *out = cs_strn(at, at ? len : 0);
    return true;
}

static void free_bytes(void *bytes, void *context)
{
    (void)context;
    free(bytes);
}

static JSValueRef make_bytes(JSContextRef ctx, struct cs_str data)
{
    char *copy = cs_strndup(data.at ? data.at : "", data.len);
    return JSObjectMakeTypedArrayWithBytesNoCopy(ctx, kJSTypedArrayTypeUint8Array, copy, data.len,
                                                 free_bytes, NULL, NULL);
}

/* log(level, text, own): `own` lines are the runtime's and pass even after the program's end */
NATIVE(native_log)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str line;
    bool own = argc > 2 && JSValueToBoolean(ctx, argv[2]);
    if ((cs_worker.running || own) && bytes_at(ctx, argc, argv, 1, &text, &line))
        cs_bridge_log((enum cs_level)number_at(ctx, argc, argv, 0), line);
    return UNDEFINED;
}

/* logOpen(): will the next line be sent? Saves the formatting if not. */
NATIVE(native_log_open)
{
    UNUSED_PARAMETERS;
    return JSValueMakeBoolean(ctx, cs_worker.running && !cs_worker.log_cut);
}

/* now(): milliseconds since the epoch, with fractions */
NATIVE(native_now)
{
    UNUSED_PARAMETERS;
    return JSValueMakeNumber(ctx, (double)cs_clock_now() / 1000);
}

/* origin(): milliseconds at the program's start */
NATIVE(native_origin)
{
    UNUSED_PARAMETERS;
    return JSValueMakeNumber(ctx, (double)cs_clock_origin() / 1000);
}

/* timer(delay, repeat): id; -1 when there are too many */
NATIVE(native_timer)
{
    UNUSED_PARAMETERS;
    bool repeat = argc > 1 && JSValueToBoolean(ctx, argv[1]);
    return JSValueMakeNumber(ctx, cs_timer_add(number_at(ctx, argc, argv, 0), repeat));
}

/* cancel(id) */
NATIVE(native_cancel)
{
    UNUSED_PARAMETERS;
    cs_timer_cancel((uint32_t)number_at(ctx, argc, argv, 0));
    return UNDEFINED;
}

/* call(server, tool, json): id; -1 too many at once, -2 too large */
NATIVE(native_call)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf a = {0};
    CS_AUTO_BUF struct cs_buf b = {0};
    CS_AUTO_BUF struct cs_buf c = {0};
    struct cs_str server, tool, json;
    if (!bytes_at(ctx, argc, argv, 0, &a, &server) || !bytes_at(ctx, argc, argv, 1, &b, &tool) ||
        !bytes_at(ctx, argc, argv, 2, &c, &json))
        return JSValueMakeNumber(ctx, -1);
    return JSValueMakeNumber(ctx, cs_bridge_call(server, tool, json));
}

/* file(op, path, data, flags, want): id, as above */
NATIVE(native_file)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf path_text = {0};
    CS_AUTO_BUF struct cs_buf data_text = {0};
    struct cs_str path, data = {0};
    if (!bytes_at(ctx, argc, argv, 1, &path_text, &path))
        return JSValueMakeNumber(ctx, -1);
    bytes_at(ctx, argc, argv, 2, &data_text, &data);
    double op = number_at(ctx, argc, argv, 0), want = number_at(ctx, argc, argv, 4);
    return JSValueMakeNumber(ctx, cs_bridge_file((enum cs_file_op)op, path, data,
                                                 (uint32_t)number_at(ctx, argc, argv, 3),
                                                 (enum cs_want)want));
}

/* progress(json) */
NATIVE(native_progress)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str json;
    if (!cs_worker.running || !bytes_at(ctx, argc, argv, 0, &text, &json) || json.len > 60000)
        return UNDEFINED;
    struct cs_buf *b = &cs_worker.out;
    size_t mark = cs_frame_begin(b, CS_MSG_PROGRESS, 0, 0);
    cs_put_str(b, json);
    cs_frame_end(b, mark);
    cs_bridge_send(b);
    return UNDEFINED;
}

/* random(typed array): fills it */
NATIVE(native_random)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf none = {0};
    struct cs_str bytes;
    if (argc > 0 && JSValueIsObject(ctx, argv[0]) && bytes_at(ctx, argc, argv, 0, &none, &bytes) &&
        bytes.len)
        cs_random_fill(&cs_worker.random, (void *)bytes.at, bytes.len);
    return UNDEFINED;
}

/* digest(name, text or bytes): Uint8Array, or undefined if there is no such digest */
NATIVE(native_digest)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf name_text = {0};
    CS_AUTO_BUF struct cs_buf data_text = {0};
    struct cs_str name, data;
    unsigned char out[CS_DIGEST_MAX];
    if (!bytes_at(ctx, argc, argv, 0, &name_text, &name) ||
        !bytes_at(ctx, argc, argv, 1, &data_text, &data))
        return UNDEFINED;
    size_t n = cs_hash(name, data, out);
    return n ? make_bytes(ctx, cs_strn((char *)out, n)) : UNDEFINED;
}

/* encode(string): Uint8Array of UTF-8 */
NATIVE(native_encode)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str bytes;
    return bytes_at(ctx, argc, argv, 0, &text, &bytes) ? make_bytes(ctx, bytes) : UNDEFINED;
}

/* decode(bytes, fatal): string; undefined if it is fatal and invalid */
NATIVE(native_decode)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf none = {0};
    struct cs_str bytes;
    if (!bytes_at(ctx, argc, argv, 0, &none, &bytes))
        return UNDEFINED;
    bool fatal = argc > 1 && JSValueToBoolean(ctx, argv[1]);
    if (fatal && !cs_text_valid(bytes))
        return UNDEFINED;
    return cs_text_value(ctx, bytes);
}

/* proxyTarget(object): what a Proxy stands for, so that showing it runs no trap; else undefined */
NATIVE(native_proxy_target)
{
    UNUSED_PARAMETERS;
    if (argc < 1 || !JSValueIsObject(ctx, argv[0]))
        return UNDEFINED;
    JSObjectRef target = JSObjectGetProxyTarget((JSObjectRef)argv[0]);
    return target ? target : UNDEFINED;
}

/* settled(module, ok, value) */
NATIVE(native_settled)
{
    UNUSED_PARAMETERS;
    if (argc >= 3)
        cs_modules_settled((uint32_t)number_at(ctx, argc, argv, 0), JSValueToBoolean(ctx, argv[1]),
                           argv[2]);
    return UNDEFINED;
}

/* import(module, specifier, resolve, reject) */
NATIVE(native_import)
{
    UNUSED_PARAMETERS;
    if (argc < 4 || !JSValueIsString(ctx, argv[1]))
        return UNDEFINED;
    JSStringRef specifier = JSValueToStringCopy(ctx, argv[1], NULL);
    if (!specifier)
        return UNDEFINED;
    cs_modules_import((uint32_t)number_at(ctx, argc, argv, 0), specifier, (JSObjectRef)argv[2],
                      (JSObjectRef)argv[3]);
    JSStringRelease(specifier);
    return UNDEFINED;
}

/* frames(stack): "\n    at f (program.ts:1:2)" per frame that is the program's own */
NATIVE(native_frames)
{
    UNUSED_PARAMETERS;
    CS_AUTO_BUF struct cs_buf text = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_str stack;
    if (!bytes_at(ctx, argc, argv, 0, &text, &stack))
        return UNDEFINED;
    cs_report_frames(stack, "\n    at ", &out);
    return cs_text_value(ctx, cs_buf_str(&out));
}

/* refused(): how often memory was refused */
NATIVE(native_refused)
{
    UNUSED_PARAMETERS;
    return JSValueMakeNumber(ctx, cs_memory_refused());
}

static const struct {
    const char *name;
    JSObjectCallAsFunctionCallback function;
} natives[] = {
    {"log", native_log},           {"logOpen", native_log_open},
    {"now", native_now},           {"origin", native_origin},
    {"timer", native_timer},       {"cancel", native_cancel},
    {"call", native_call},         {"file", native_file},
    {"progress", native_progress}, {"random", native_random},
    {"digest", native_digest},     {"encode", native_encode},
    {"decode", native_decode},     {"proxyTarget", native_proxy_target},
    {"settled", native_settled},   {"importModule", native_import},
    {"frames", native_frames},     {"refused", native_refused},
};

void cs_natives_install(JSObjectRef host)
{
    for (size_t i = 0; i < CS_COUNT(natives); i++) {
        JSStringRef name = JSStringCreateWithUTF8CString(natives[i].name);
        JSObjectRef fn = JSObjectMakeFunctionWithCallback(cs_worker.ctx, name, natives[i].function);
        JSObjectSetProperty(cs_worker.ctx, host, name, fn, kJSPropertyAttributeNone, NULL);
        JSStringRelease(name);
    }
}
