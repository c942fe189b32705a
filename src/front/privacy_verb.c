/*
 * `caisson privacy`: what would be masked, without running anything. The patterns and words of the
 * policy file count as they would in an execution.
 *
 *     scan   a text with what was found in it marked, or JSON lines for programs that measure
 *     test   every rule against its own examples, and those of the policy against theirs
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "front/data.h"
#include "front/settings.h"
#include "front/text.h"
#include "front/verbs.h"
#include "front/world.h"
#include "privacy/privacy.h"

#define LINE_MOST  ((size_t)64 << 20)
#define TEXT_MOST  ((size_t)256 << 20)
#define READ_BYTES ((size_t)256 << 10)
#define OUT_BYTES  ((size_t)64 << 10)

struct scanning {
    const struct cs_detector *detector;
    enum cs_privacy_level level;
    enum cs_token_style style;
    bool json, jsonl, verbose, fail, mask;
    bool colour, terminal;
    uint64_t found[CS_PII_COUNT], total;
    uint64_t bytes, us;
};

/* --- the house --- */

/* Patterns and words of the policy that would be used here. */
static int open_house(const char *config, const char *policy, struct cs_privacy **privacy,
                      struct cs_err *err)
{
    char file[CS_DATA_PATH];
    struct cs_policy_place place;
    struct cs_settings settings = {0};
    struct cs_policy *rules = NULL;
    if (cs_data_config(config, file, err) < 0 || cs_settings_load(file, NULL, &settings, err) < 0)
        return -1;
    int status = cs_policy_place_find(policy, file, &place, err);
    if (status == 0)
        status = cs_policy_place_load(&place, &rules, err);
    if (status == 0)
        status = cs_world_privacy(rules, place.path, &settings, false, privacy, err);
    cs_policy_unref(rules);
    cs_settings_done(&settings);
    return status;
}

CS_DEFINE_CLEANUP(struct cs_privacy, cs_privacy_unref)
CS_DEFINE_CLEANUP(struct cs_vault, cs_vault_free)

static int open_path(const char *path, struct cs_err *err)
{
    int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cs_fail_errno(err, "'%s'", path);
        err->code = CS_INVALID;
    }
    return fd;
}

/* A password is what is secret about a connection string, and what is measured. */
static struct cs_span as_measured(struct cs_span s)
{
    if (s.kind == CS_PII_CONNECTION_STRING) {
        s.kind = CS_PII_PASSWORD;
        s.start = s.core_start;
        s.end = s.core_end;
    }
    return s;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void scan(struct scanning *s, struct cs_str text, struct cs_spans *spans)
{
    uint64_t start = now_us();
    spans->count = 0;
    cs_scan(s->detector, s->level, CS_FORM_GUESS, text, spans);
    s->us += now_us() - start;
    s->bytes += text.len;
    s->total += spans->count;
    for (size_t i = 0; i < spans->count; i++)
        s->found[spans->at[i].kind]++;
}

static const char *name_of(const struct scanning *s, struct cs_span span, struct cs_buf *room)
{
    cs_buf_clear(room);
    cs_buf_putstr(room, cs_detector_name(s->detector, span.kind, span.custom));
    return cs_buf_cstr(room);
}

static void put_spans(const struct scanning *s, struct cs_json_writer *w,
                      const struct cs_spans *spans)
{
    cs_json_key(w, "spans");
    cs_json_open(w, '[');
    for (size_t i = 0; i < spans->count; i++) {
        struct cs_span span = s->jsonl ? as_measured(spans->at[i]) : spans->at[i];
        cs_json_open(w, '{');
        cs_json_key(w, "start");
        cs_json_put_u64(w, span.start);
        cs_json_key(w, "end");
        cs_json_put_u64(w, span.end);
        cs_json_key(w, "type");
        cs_json_put_str(w, cs_detector_name(s->detector, span.kind, span.custom));
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

/* --- lines of JSON --- */

static int scan_line(struct scanning *s, struct cs_str line, struct cs_spans *spans,
                     struct cs_buf *out, struct cs_err *err)
{
    static const struct cs_json_limits limits = {.bytes = LINE_MOST, .allow_duplicate = true};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(line, &limits, &doc, err) < 0)
        return -1;
    struct cs_json_val root = cs_json_root(&doc), text = cs_json_get(root, "text"),
                       id = cs_json_get(root, "id");
    if (cs_json_type(text) != CS_JSON_STRING)
        return cs_fail(err, CS_INVALID, "expected an object with a string \"text\"");
    scan(s, cs_json_str(text, &arena), spans);
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    if (cs_json_type(id) != CS_JSON_NONE) {
        cs_json_key(&w, "id");
        cs_json_put_raw(&w, cs_json_raw(id));
    }
    put_spans(s, &w, spans);
    cs_json_close(&w, '}');
    cs_buf_putc(out, '\n');
    return 0;
}

static int flush(struct cs_buf *out, struct cs_err *err)
{
    if (cs_file_write_fd(STDOUT_FILENO, cs_buf_str(out)) < 0)
        return cs_fail_errno(err, "standard output");
    cs_buf_clear(out);
    return 0;
}

static bool blank(struct cs_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.at[i] != ' ' && line.at[i] != '\t' && line.at[i] != '\r')
            return false;
    return true;
}

/* All whole lines of `in`; at the end of the file the rest is one too. */
static int scan_whole_lines(struct scanning *s, struct cs_buf *in, bool end, uint64_t *number,
                            struct cs_spans *spans, struct cs_buf *out, struct cs_err *err)
{
    size_t at = 0;
    while (at < in->len) {
        const char *feed = memchr(in->at + at, '\n', in->len - at);
        if (!feed && !end)
            break;
        size_t len = feed ? (size_t)(feed - (in->at + at)) : in->len - at;
        struct cs_str line = cs_strn(in->at + at, len);
        ++*number;
        if (!blank(line) && scan_line(s, line, spans, out, err) < 0)
            return cs_wrap(err, "line %llu", (unsigned long long)*number);
        if (out->len > OUT_BYTES && flush(out, err) < 0)
            return -1;
        at += len + (feed != NULL);
    }
    cs_buf_drop(in, at);
    if (in->len > LINE_MOST)
        return cs_fail(err, CS_LIMIT, "line %llu is longer than %zu MB",
                       (unsigned long long)*number + 1, LINE_MOST >> 20);
    return 0;
}

static int scan_lines(struct scanning *s, int fd, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf in = {0}, out = {0};
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    uint64_t number = 0;
    int status = 0;
    for (ssize_t n = 1; n > 0 && status == 0;) {
        /* A long line is not looked through again for each piece of it. */
        size_t before = in.len;
        n = read(fd, cs_buf_room(&in, READ_BYTES), READ_BYTES);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        if (n < 0)
            return cs_fail_errno(err, "read");
        cs_buf_added(&in, (size_t)n);
        if (n == 0 || memchr(in.at + before, '\n', (size_t)n) || in.len > LINE_MOST)
            status = scan_whole_lines(s, &in, n == 0, &number, &spans, &out, err);
    }
    /* What was right before the mistake is told, too. */
    struct cs_err later = {0};
    if (flush(&out, status < 0 ? &later : err) < 0)
        return -1;
    return status;
}

/* --- a text --- */

static void print_json(const struct scanning *s, const struct cs_spans *spans)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_spans(s, &w, spans);
    cs_json_key(&w, "found");
    cs_json_open(&w, '{');
    for (unsigned k = 0; k < CS_PII_COUNT; k++)
        if (s->found[k]) {
            cs_json_key(&w, cs_pii_name((enum cs_pii)k));
            cs_json_put_u64(&w, s->found[k]);
        }
    cs_json_close(&w, '}');
    cs_json_key(&w, "total");
    cs_json_put_u64(&w, s->total);
    cs_json_key(&w, "bytes");
    cs_json_put_u64(&w, s->bytes);
    cs_json_key(&w, "us");
    cs_json_put_u64(&w, s->us);
    cs_json_key(&w, "level");
    cs_json_put_z(&w, cs_privacy_level_name(s->level));
    cs_json_close(&w, '}');
    cs_buf_putc(&json, '\n');
    fwrite(json.at, 1, json.len, stdout);
}

/* A terminal is not to be driven by a text; a file gets it as it is. */
static void print_text(const struct scanning *s, const char *at, size_t len)
{
    if (s->terminal)
        cs_text_safe(stdout, cs_strn(at, len));
    else if (len)
        fwrite(at, 1, len, stdout);
}

static void print_marked(const struct scanning *s, struct cs_str text, const struct cs_spans *spans)
{
    CS_AUTO_BUF struct cs_buf room = {0};
    size_t at = 0;
    for (size_t i = 0; i < spans->count; i++) {
        struct cs_span span = spans->at[i];
        const char *hue = cs_pii_secret((enum cs_pii)span.kind) ? "\033[31m" : "\033[33m";
        print_text(s, text.at + at, span.start - at);
        printf("%s[%s%s%s: ", cs_text_style(s->colour, hue), cs_text_style(s->colour, "\033[1m"),
               name_of(s, span, &room), cs_text_style(s->colour, "\033[22m"));
        print_text(s, text.at + span.start, span.end - span.start);
        printf("]%s", cs_text_style(s->colour, "\033[0m"));
        at = span.end;
    }
    print_text(s, text.at + at, text.len - at);
    if (text.len && text.at[text.len - 1] != '\n')
        putchar('\n');
}

static void print_summary(const struct scanning *s)
{
    fflush(stdout);
    if (!s->total)
        fprintf(stderr, "nothing found");
    for (unsigned k = 0, n = 0; k < CS_PII_COUNT; k++)
        if (s->found[k])
            fprintf(stderr, "%s%llu %s", n++ ? ", " : "", (unsigned long long)s->found[k],
                    cs_pii_name((enum cs_pii)k));
    fprintf(stderr, " in %llu bytes", (unsigned long long)s->bytes);
    if (s->verbose)
        fprintf(stderr, ", %.1f ms, %.1f MB/s", (double)s->us / 1e3,
                s->us ? (double)s->bytes / (double)s->us : 0.0);
    fputc('\n', stderr);
}

/* As a program would see it. */
static int print_masked(const struct scanning *s, struct cs_str text, const struct cs_spans *spans,
                        struct cs_err *err)
{
    CS_AUTO(cs_vault_freep) struct cs_vault *vault = cs_vault_new(s->style);
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_masked masked = {0};
    const struct cs_mask how = {
        .detector = s->detector, .vault = vault, .level = s->level, .literals = true};
    int status = cs_mask_spans(&how, text, spans, &out, &masked, err);
    if (status < 0)
        return -1;
    struct cs_str shown = status ? cs_buf_str(&out) : text;
    print_text(s, shown.at, shown.len);
    return 0;
}

static int scan_text(struct scanning *s, int fd, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    if (cs_file_read_fd(fd, TEXT_MOST, &text, err) < 0)
        return -1;
    scan(s, cs_buf_str(&text), &spans);
    if (s->json)
        print_json(s, &spans);
    else if (s->mask && print_masked(s, cs_buf_str(&text), &spans, err) < 0)
        return -1;
    else if (!s->mask)
        print_marked(s, cs_buf_str(&text), &spans);
    if (!s->json)
        print_summary(s);
    return 0;
}

static int take_scan(const struct cs_verb *verb, int argc, char **argv, struct scanning *s,
                     struct cs_words *operands, struct cs_privacy **house, struct cs_err *err)
{
    const char *level = NULL, *config = NULL, *policy = NULL;
    const struct cs_bind binds[] = {
        {"jsonl", CS_BIND_FLAG, &s->jsonl},
        {"level", CS_BIND_TEXT, &level},
        {"fail", CS_BIND_FLAG, &s->fail},
        {"output", CS_BIND_JSON, &s->json},
        {"verbose", CS_BIND_FLAG, &s->verbose},
        {"mask", CS_BIND_FLAG, &s->mask},
        {"config", CS_BIND_TEXT, &config},
        {"policy", CS_BIND_TEXT, &policy},
        {NULL, CS_BIND_TEXT, NULL},
    };
    if (cs_args_bind(verb, argc, argv, binds, operands, err) < 0)
        return -1;
    if (operands->count > 1 || (!operands->count && isatty(0)))
        return cs_fail(err, CS_INVALID, "expected one file, or - for stdin");
    if (s->mask + s->json + s->jsonl > 1)
        return cs_fail(err, CS_INVALID, "--mask, --jsonl and -o json: one of them");
    if (open_house(config, policy, house, err) < 0)
        return -1;
    s->detector = cs_privacy_detector(*house);
    s->style = cs_privacy_style(*house);
    s->level = cs_privacy_level(*house) ? cs_privacy_level(*house) : CS_PRIVACY_MEDIUM;
    if (level)
        cs_privacy_level_parse(cs_str(level), &s->level);
    return 0;
}

int cs_verb_privacy_scan(const struct cs_verb *verb, int argc, char **argv)
{
    struct scanning s = {.colour = cs_text_colour(stdout), .terminal = isatty(1) == 1};
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO(cs_privacy_unrefp) struct cs_privacy *house = NULL;
    struct cs_err err = {0};
    if (take_scan(verb, argc, argv, &s, &operands, &house, &err) < 0)
        return cs_usage_error(verb, &err);
    CS_AUTO_FD int fd = open_path(operands.count ? operands.at[0] : "-", &err);
    if (fd < 0 || (s.jsonl ? scan_lines : scan_text)(&s, fd, &err) < 0)
        return cs_verb_failed(verb, &err);
    if (s.jsonl && s.verbose)
        print_summary(&s);
    return s.fail && s.total ? CS_EXIT_PROGRAM : CS_EXIT_OK;
}

/* --- examples --- */

struct testing {
    size_t held, failed;
};

static void note(struct testing *t, bool holds, struct cs_str rule, struct cs_str text,
                 struct cs_str why)
{
    t->held += holds;
    t->failed += !holds;
    if (holds)
        return;
    cs_text_safe(stdout, rule);
    printf(": ");
    cs_text_safe(stdout, text);
    printf("\n    ");
    cs_text_safe(stdout, why);
    putchar('\n');
}

static void try_own(const struct cs_detector *detector, struct testing *t)
{
    CS_AUTO_BUF struct cs_buf why = {0};
    size_t count = 0;
    const struct cs_example *examples = cs_examples(&count);
    for (size_t i = 0; i < count; i++) {
        cs_buf_clear(&why);
        bool holds = cs_example_holds(detector, &examples[i], &why);
        note(t, holds, cs_str(examples[i].rule), cs_str(examples[i].text), cs_buf_str(&why));
    }
}

/* Is the pattern or word of this name found in it? */
static bool finds(const struct cs_detector *detector, const struct cs_custom_example *e)
{
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    cs_scan(detector, e->level, CS_FORM_TEXT, e->text, &spans);
    for (size_t i = 0; i < spans.count; i++)
        if (spans.at[i].kind == CS_PII_CUSTOM &&
            cs_str_eq(cs_detector_name(detector, CS_PII_CUSTOM, spans.at[i].custom), e->name))
            return true;
    return false;
}

static void try_house(const struct cs_privacy *house, struct testing *t)
{
    const struct cs_custom_example *examples = NULL;
    size_t count = cs_privacy_examples(house, &examples);
    for (size_t i = 0; i < count; i++) {
        const struct cs_custom_example *e = &examples[i];
        bool holds = finds(cs_privacy_detector(house), e) == e->found;
        note(t, holds, e->name, e->text,
             e->found ? CS_STR("it is not found here") : CS_STR("it is found here"));
    }
}

int cs_verb_privacy_test(const struct cs_verb *verb, int argc, char **argv)
{
    const char *config = NULL, *policy = NULL;
    const struct cs_bind binds[] = {{"config", CS_BIND_TEXT, &config},
                                    {"policy", CS_BIND_TEXT, &policy},
                                    {NULL, CS_BIND_TEXT, NULL}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO(cs_privacy_unrefp) struct cs_privacy *house = NULL;
    CS_AUTO(cs_detector_unrefp) struct cs_detector *plain = NULL;
    struct testing t = {0};
    struct cs_err err = {0};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) == 0 && operands.count)
        cs_fail(&err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
    if (err.code)
        return cs_usage_error(verb, &err);
    if (open_house(config, policy, &house, &err) < 0 || cs_detector_new(NULL, 0, &plain, &err) < 0)
        return cs_verb_failed(verb, &err);
    try_own(plain, &t); /* without the house's, which might find something in them, too */
    try_house(house, &t);
    printf("%zu held, %zu failed\n", t.held, t.failed);
    return t.failed ? CS_EXIT_PROGRAM : CS_EXIT_OK;
}
