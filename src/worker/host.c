/*
 * The engine: started once in the zygote, single-threaded, prelude evaluated, warmed.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/mem.h"
#include "worker/crash.h"
#include "worker/host.h"
#include "worker/hugetext.h"
#include "worker/slim.h"
#include "worker/text.h"
#include "worker/worker.h"

CS_EMBED(prelude_primordials, "src/worker/prelude/00-primordials.js")
CS_EMBED(prelude_errors, "src/worker/prelude/10-errors.js")
CS_EMBED(prelude_inspect, "src/worker/prelude/20-inspect.js")
CS_EMBED(prelude_console, "src/worker/prelude/30-console.js")
CS_EMBED(prelude_events, "src/worker/prelude/40-events.js")
CS_EMBED(prelude_encoding, "src/worker/prelude/50-encoding.js")
CS_EMBED(prelude_url, "src/worker/prelude/55-url.js")
CS_EMBED(prelude_url_objects, "src/worker/prelude/56-url-objects.js")
CS_EMBED(prelude_clone, "src/worker/prelude/60-clone.js")
CS_EMBED(prelude_crypto, "src/worker/prelude/65-crypto.js")
CS_EMBED(prelude_buffer, "src/worker/prelude/70-buffer.js")
CS_EMBED(prelude_files, "src/worker/prelude/75-files.js")
CS_EMBED(prelude_node, "src/worker/prelude/80-node.js")
CS_EMBED(prelude_calls, "src/worker/prelude/84-calls.js")
CS_EMBED(prelude_tools, "src/worker/prelude/85-tools.js")
CS_EMBED(prelude_result, "src/worker/prelude/90-result.js")
CS_EMBED(prelude_modules, "src/worker/prelude/95-modules.js")
CS_EMBED(prelude_main, "src/worker/prelude/99-main.js")

static struct cs_str (*const prelude[])(void) = {
    prelude_primordials, prelude_errors,  prelude_inspect,     prelude_console, prelude_events,
    prelude_encoding,    prelude_url,     prelude_url_objects, prelude_clone,   prelude_crypto,
    prelude_buffer,      prelude_files,   prelude_node,        prelude_calls,   prelude_tools,
    prelude_result,      prelude_modules, prelude_main,
};

struct cs_worker cs_worker;

static const char *const entry_names[] = {
#define X(name) #name,
    CS_ENTRIES(X)
#undef X
};

/* One thread, less surface, a smaller JIT pool; later tier-up, since compiling blocks the only
 * thread. */
static const char *const options[][2] = {
    {"JSC_useConcurrentGC", "0"},
    {"JSC_useConcurrentJIT", "0"},
    {"JSC_numberOfGCMarkers", "1"},
    {"JSC_useWasm", "0"},
    {"JSC_smallHeapSize", "16777216"}, /* no collection while the first megabytes come in */
    {"JSC_mediumHeapSize", "16777216"},
    {"JSC_useTailCalls", "0"}, /* whole stacks, and endless recursion is an error, not a loop */
    {"JSC_jitMemoryReservationSize", "67108864"},
    {"JSC_thresholdForJITAfterWarmUp", "2000"},
    {"JSC_thresholdForJITSoon", "1000"},
    {"JSC_thresholdForOptimizeAfterWarmUp", "20000"},
    {"JSC_thresholdForOptimizeAfterLongWarmUp", "20000"},
    {"JSC_thresholdForOptimizeSoon", "20000"},
    {"GIGACAGE_ENABLED", "0"},
    {"TZ", "UTC"},
    {"LANG", "C.UTF-8"},
};

/* ---- values ---- */

JSValueRef cs_host_number(double v)
{
    return JSValueMakeNumber(cs_worker.ctx, v);
}

JSValueRef cs_host_string(struct cs_str s)
{
    return cs_text_value(cs_worker.ctx, s);
}

JSValueRef cs_host_call(enum cs_entry entry, size_t argc, const JSValueRef argv[],
                        JSValueRef *exception)
{
    return JSObjectCallAsFunction(cs_worker.ctx, cs_worker.entry[entry], NULL, argc, argv,
                                  exception);
}

JSValueRef cs_host_eval(struct cs_str source, const char *name, JSValueRef *exception)
{
    JSStringRef text = cs_text_string(source);
    JSStringRef url = JSStringCreateWithUTF8CString(name);
    JSValueRef v = JSEvaluateScript(cs_worker.ctx, text, NULL, url, 1, exception);
    JSStringRelease(url);
    JSStringRelease(text);
    return v;
}

/* In each byte of the result the top bit says whether that byte of `word` is `c` (or, rarely, may
 * be, above one that is: the lowest is always right). */
static uint64_t bytes_equal(uint64_t word, char c)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t x = word ^ (ones * (unsigned char)c);
    return (x - ones) & ~x & (ones << 7);
}

/* The place behind the string that begins at `p`, or `end`. Most of a document is strings. */
static const char *skip_string(const char *p, const char *end)
{
    while (p < end) {
        uint64_t word;
        while (end - p >= 8) {
            memcpy(&word, p, sizeof word);
            uint64_t found = bytes_equal(word, '"') | bytes_equal(word, '\\');
            p += found ? __builtin_ctzll(found) / 8 : 8;
            if (found)
                break;
        }
        if (p < end && *p == '"')
            return p + 1;
        p += p < end && *p == '\\' ? 2 : 1;
    }
    return end;
}

/* The engine parses a million levels without a word; our limit is checked before. */
static bool too_deep(struct cs_str json, uint32_t depth)
{
    static const signed char step[256] = {['['] = 1, ['{'] = 1, [']'] = -1, ['}'] = -1, ['"'] = 2};
    int64_t level = 0;
    const char *p = json.at, *end = json.at + json.len;
    while (p < end) {
        int s = step[(unsigned char)*p++];
        if (s == 0)
            continue;
        if (s == 2) {
            p = skip_string(p, end);
            continue;
        }
        level += s;
        if (level < 0)
            level = 0;
        if (level > (int64_t)depth)
            return true;
    }
    return false;
}

JSValueRef cs_host_json(struct cs_str json, uint32_t depth, struct cs_err *err)
{
    if (too_deep(json, depth)) {
        cs_fail(err, CS_LIMIT, "the JSON is nested more than %u levels deep", depth);
        return NULL;
    }
    JSStringRef text = cs_text_borrow(json);
    JSValueRef v = JSValueMakeFromJSONString(cs_worker.ctx, text);
    JSStringRelease(text);
    if (!v)
        cs_fail(err, CS_INVALID, "the text is not valid JSON");
    return v;
}

/* ---- starting ---- */

static int set_environment(bool no_jit, struct cs_err *err)
{
    clearenv();
    for (size_t i = 0; i < CS_COUNT(options); i++) {
        if (setenv(options[i][0], options[i][1], 1) < 0)
            return cs_fail_errno(err, "setenv");
    }
    if (no_jit && setenv("JSC_useJIT", "0", 1) < 0)
        return cs_fail_errno(err, "setenv");
    return 0;
}

static int stop_scavenger(struct cs_err *err)
{
    void (*off)(void);
    *(void **)&off = dlsym(RTLD_DEFAULT, "_ZN3WTF20fastDisableScavengerEv");
    if (!off)
        return cs_fail(err, CS_SYSTEM,
                       "this libjavascriptcoregtk cannot be forked safely: it does not export "
                       "WTF::fastDisableScavenger; install version 2.50 or another that does");
    off();
    return 0;
}

void cs_host_let_make_code(bool may)
{
    JSStringRef why = JSStringCreateWithUTF8CString(
        "code is made out of text here in a way that nobody saw when the program was judged; write "
        "it "
        "without, or call eval or Function by their names, so that a person can be asked");
    JSGlobalContextSetEvalEnabled(cs_worker.ctx, may, why);
    JSStringRelease(why);
}

static int evaluate_prelude(struct cs_err *err)
{
    JSGlobalContextRef ctx = cs_worker.ctx;
    JSObjectRef runtime = JSObjectMake(ctx, NULL, NULL);
    JSValueProtect(ctx, runtime);
    JSObjectRef host = JSObjectMake(ctx, NULL, NULL);
    cs_natives_install(host);
    for (size_t i = 0; i < CS_COUNT(prelude); i++) {
        JSValueRef exception = NULL;
        JSValueRef part = cs_host_eval(prelude[i](), CS_RUNTIME_NAME, &exception);
        JSValueRef argv[] = {runtime, host};
        if (part && !exception && JSValueIsObject(ctx, part))
            JSObjectCallAsFunction(ctx, (JSObjectRef)part, NULL, CS_COUNT(argv), argv, &exception);
        if (exception) {
            CS_AUTO_BUF struct cs_buf text = {0};
            JSStringRef s = JSValueToStringCopy(ctx, exception, NULL);
            if (s)
                cs_text_put(&text, s);
            JSValueRef line = NULL;
            JSStringRef key = JSStringCreateWithUTF8CString("line");
            if (JSValueIsObject(ctx, exception))
                line = JSObjectGetProperty(ctx, (JSObjectRef)exception, key, NULL);
            return cs_fail(err, CS_BUG, "prelude part %zu, line %.0f: %s", i,
                           line ? JSValueToNumber(ctx, line, NULL) : 0.0, cs_buf_cstr(&text));
        }
    }
    for (size_t i = 0; i < CS_ENTRY_COUNT; i++) {
        JSStringRef name = JSStringCreateWithUTF8CString(entry_names[i]);
        JSValueRef fn = JSObjectGetProperty(ctx, runtime, name, NULL);
        JSStringRelease(name);
        if (!fn || !JSValueIsObject(ctx, fn))
            return cs_fail(err, CS_BUG, "the prelude offers no %s", entry_names[i]);
        JSValueProtect(ctx, fn);
        cs_worker.entry[i] = (JSObjectRef)fn;
    }
    return 0;
}

/*
 * GLib's wake-up descriptor: the engine writes to it during collections, and nobody reads. With
 * /dev/null in its place a stray write can reach nothing, whatever the number is used for later.
 */
static void blind_eventfds(int null_fd, const bool *was_open, int known)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        char target[64] = "";
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) < 0)
            continue;
        if (strcmp(target, "anon_inode:[eventfd]") == 0 && (fd >= known || !was_open[fd]))
            dup3(null_fd, fd, O_CLOEXEC);
    }
    closedir(dir);
}

static int check_one_thread(struct cs_err *err)
{
#ifndef __SANITIZE_THREAD__
    char line[128];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "re");
    if (!status)
        return cs_fail_errno(err, "/proc/self/status");
    while (fgets(line, sizeof line, status)) {
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    }
    fclose(status);
    if (threads != 1)
        return cs_fail(err, CS_SYSTEM,
                       "the engine has %d threads, so it cannot be forked safely; the version of "
                       "libjavascriptcoregtk is one that was not tested",
                       threads);
#else
    (void)err;
#endif
    return 0;
}

static int start_engine(struct cs_err *err)
{
    /* The engine comments on the switched off Gigacage; its standard error is not ours to show. */
    CS_AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    CS_AUTO_FD int stderr_copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (null_fd < 0)
        return cs_fail_errno(err, "/dev/null");
    bool was_open[256];
    for (int i = 0; i < (int)CS_COUNT(was_open); i++)
        was_open[i] = fcntl(i, F_GETFD) >= 0;
    dup2(null_fd, STDERR_FILENO);
    int failed = stop_scavenger(err);
    if (!failed) {
        cs_worker.ctx = JSGlobalContextCreate(NULL);
        JSGlobalContextSetInspectable(cs_worker.ctx, false);
        cs_text_init();
        failed = evaluate_prelude(err);
        cs_host_let_make_code(false);
    }
    if (stderr_copy >= 0)
        dup2(stderr_copy, STDERR_FILENO);
    else
        close(STDERR_FILENO);
    if (!failed)
        blind_eventfds(null_fd, was_open, (int)CS_COUNT(was_open));
    return failed;
}

static int warm_up(bool thorough, struct cs_err *err)
{
    JSValueRef exception = NULL;
    JSValueRef argv[] = {JSValueMakeBoolean(cs_worker.ctx, thorough)};
    cs_host_call(CS_ENTRY_warm, CS_COUNT(argv), argv, &exception);
    if (!exception)
        return 0;
    CS_AUTO_BUF struct cs_buf json = {0};
    cs_report_exception(exception, &json);
    return cs_fail(err, CS_BUG, "warming up: %.*s", CS_STR_ARG(cs_buf_str(&json)));
}

int cs_worker_warm(bool no_jit, struct cs_err *err)
{
    cs_worker.small_pages = getenv("CAISSON_NO_HUGE_TEXT") != NULL;
    if (set_environment(no_jit, err) < 0 || start_engine(err) < 0)
        return cs_wrap(err, "engine");
    JSGlobalContextSetUnhandledRejectionCallback(cs_worker.ctx, cs_worker.entry[CS_ENTRY_rejected],
                                                 NULL);
    if (warm_up(false, err) < 0)
        return -1;
    cs_crash_install();
    if (check_one_thread(err) < 0)
        return cs_wrap(err, "engine");
    return 0;
}

int cs_worker_polish(struct cs_err *err)
{
    if (warm_up(true, err) < 0)
        return -1;
    if (!cs_worker.small_pages)
        cs_hugetext(dlsym(RTLD_DEFAULT, "JSEvaluateScript"));
    cs_slim();
    JSSynchronousGarbageCollectForDebugging(cs_worker.ctx);
    /* Once more: the collector leaves blocks that have to be swept before anything is allocated in
     * them, which is better done here than in every worker. */
    for (int i = 0; i < 2; i++) {
        if (warm_up(true, err) < 0)
            return -1;
    }
    return check_one_thread(err) < 0 ? cs_wrap(err, "engine") : 0;
}
