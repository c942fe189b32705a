/* `caisson assess`: what the judge thinks of a program, without running it. */
#include "front/assess_verb.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/visible.h"
#include "front/data.h"
#include "front/text.h"
#include "front/verbs.h"

#define CONTEXT_BYTES 160 /* of a line that is shown */

const struct cs_option cs_assess_options[] = {
    {"eval", 'e', "CODE", "assess this code instead of a file", NULL, false},
    {"language", 'l', "NAME", "language of the program; otherwise taken from the file's name",
     "typescript python bash node ts py sh js", false},
    {"principal", 0, "NAME", "as if this one had sent it (default local)", NULL, false},
    {"intent", 0, "TEXT", "as if this had been said about what it is for", NULL, false},
    {"environment", 0, "NAME", "as if it were to run there, like prod (default: the policy's)",
     NULL, false},
    {"output", 'o', "FORMAT", "text (default), json, or sarif, which editors show",
     "text json sarif", false},
    {"jsonl", 0, NULL, "programs from stdin, verdicts to stdout, one JSON per line", NULL, true},
    {"config", 'c', "FILE", "the file that names the servers; see 'caisson help add'", NULL, false},
    {"policy", 0, "FILE", "the file that says what is risky", NULL, false},
    {NULL, 0, NULL, NULL, NULL, false},
};

/* --- text --- */

static const char *const level_styles[] = {"\033[2m", "\033[33m", "\033[31m", "\033[1;31m"};

static struct cs_str line_at(struct cs_str text, uint32_t line)
{
    for (uint32_t n = 1; n < line; n++) {
        const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
        if (!end)
            return (struct cs_str){0};
        size_t skip = (size_t)(end - text.at) + 1;
        text = cs_strn(text.at + skip, text.len - skip);
    }
    const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
    size_t len = end ? (size_t)(end - text.at) : text.len;
    return cs_strn(text.at, len && text.at[len - 1] == '\r' ? len - 1 : len);
}

/* The byte of a column, which counts UTF-16 units from 1. */
static size_t byte_of(struct cs_str line, uint32_t column)
{
    size_t i = 0;
    uint32_t at = 1;
    while (i < line.len && at < column) {
        at += (unsigned char)line.at[i] >= 0xf0 ? 2 : 1;
        i++;
        while (i < line.len && ((unsigned char)line.at[i] & 0xc0) == 0x80)
            i++;
    }
    return i;
}

static size_t characters(struct cs_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

/* Tabs as one space each, so that the mark below stands where it should. */
static void put_visible(struct cs_str text, struct cs_buf *out)
{
    while (text.len) {
        const char *tab = memchr(text.at, '\t', text.len);
        size_t n = tab ? (size_t)(tab - text.at) : text.len;
        cs_visible(cs_strn(text.at, n), false, out);
        if (tab)
            cs_buf_putc(out, ' ');
        text = cs_strn(text.at + n + (tab != NULL), text.len - n - (tab != NULL));
    }
}

/*   12 | return eval(text)
 *      |        ^           */
static void print_line(struct cs_str code, uint32_t line, uint32_t column, bool colour,
                       const char *style)
{
    CS_AUTO_BUF struct cs_buf before = {0}, after = {0};
    struct cs_str text = line_at(code, line);
    size_t at = byte_of(text, column), start = 0;
    if (at > CONTEXT_BYTES / 2)
        start = at - CONTEXT_BYTES / 2;
    while (start > 0 && start < text.len && ((unsigned char)text.at[start] & 0xc0) == 0x80)
        start++;
    size_t end = text.len - start > CONTEXT_BYTES ? start + CONTEXT_BYTES : text.len;
    while (end < text.len && ((unsigned char)text.at[end] & 0xc0) == 0x80)
        end++;
    if (at < start)
        at = start;
    put_visible(cs_strn(text.at + start, at - start), &before);
    put_visible(cs_strn(text.at + at, end > at ? end - at : 0), &after);
    const char *lead = start ? "..." : "";
    printf("%s%6u |%s %s%s%s%s\n", cs_text_style(colour, "\033[2m"), line,
           cs_text_style(colour, "\033[0m"), lead, cs_buf_cstr(&before), cs_buf_cstr(&after),
           end < text.len ? "..." : "");
    printf("%s       |%s %*s%s^%s\n", cs_text_style(colour, "\033[2m"),
           cs_text_style(colour, "\033[0m"), (int)(strlen(lead) + characters(cs_buf_str(&before))),
           "", cs_text_style(colour, style), cs_text_style(colour, "\033[0m"));
}

static void print_finding(const struct cs_assess_args *a, const struct cs_finding *f, bool colour)
{
    const char *style = level_styles[f->level];
    printf("%s%s%s  ", cs_text_style(colour, style), cs_risk_name(f->level),
           cs_text_style(colour, "\033[0m"));
    cs_text_safe(stdout, f->id);
    if (f->module.len) {
        fputs("  ", stdout);
        cs_text_safe(stdout, f->module);
    }
    if (f->line)
        printf("  line %u, column %u", f->line, f->column);
    fputs("\n  ", stdout);
    cs_text_safe(stdout, f->reason);
    putchar('\n');
    if (f->line && !f->module.len)
        print_line(cs_buf_str(&a->code), f->line, f->column, colour, style);
    if (f->mitigation.len) {
        printf("  %sinstead:%s ", cs_text_style(colour, "\033[36m"),
               cs_text_style(colour, "\033[0m"));
        cs_text_safe(stdout, f->mitigation);
        putchar('\n');
    }
    putchar('\n');
}

static void print_list(const char *head, const struct cs_str *list, uint32_t count)
{
    if (!count)
        return;
    printf("%s", head);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : " ", stdout);
        cs_text_safe(stdout, list[i]);
    }
    putchar('\n');
}

static void print_reach(const struct cs_verdict *v)
{
    for (uint32_t i = 0; i < v->tool_count; i++) {
        CS_AUTO_BUF struct cs_buf labels = {0};
        const struct cs_target *t = &v->tools[i].tool.target;
        cs_labels_text(v->tools[i].labels, &labels);
        fputs(i ? "      " : "tools ", stdout);
        cs_text_safe(stdout, t->server);
        putchar('/');
        cs_text_safe(stdout, t->tool);
        if (labels.len)
            printf(" (%s)", cs_buf_cstr(&labels));
        putchar('\n');
    }
    for (uint32_t i = 0; i < v->flow_count; i++) {
        fputs(i ? "      " : "flows ", stdout);
        cs_text_safe(stdout, v->flows[i].from);
        fputs(" -> ", stdout);
        cs_text_safe(stdout, v->flows[i].to);
        if (v->flows[i].line)
            printf(", line %u", v->flows[i].line);
        putchar('\n');
    }
}

void cs_assess_print(const struct cs_assess_args *a, const struct cs_verdict *v)
{
    static const char *const actions[] = {"it may run", "a person is asked before it runs",
                                          "it is refused"};
    bool colour = cs_text_colour(stdout);
    for (uint32_t i = 0; i < v->finding_count; i++)
        print_finding(a, &v->findings[i], colour);
    print_reach(v);
    print_list("permissions", v->permissions, v->permission_count);
    printf("%s%s%s: %s (", cs_text_style(colour, level_styles[v->risk]), cs_risk_name(v->risk),
           cs_text_style(colour, "\033[0m"),
           v->unread ? "it cannot run as it is" : actions[v->action]);
    cs_text_safe(stdout, v->rule);
    puts(")");
    print_list("limits:", v->mitigations,
               v->mitigation_count - (v->action == CS_GRANT_ASK && v->mitigation_count ? 1 : 0));
}

/* --- words --- */

struct words {
    struct cs_assess_args args;
    const char *eval, *language, *output, *config, *policy;
    bool lines;
};

static enum cs_language by_name(const char *file)
{
    struct cs_str name = cs_str(file);
    if (cs_str_ends(name, ".py"))
        return CS_PYTHON;
    return cs_str_ends(name, ".sh") || cs_str_ends(name, ".bash") ? CS_BASH : CS_TYPESCRIPT;
}

static int read_code(struct words *w, struct cs_err *err)
{
    struct cs_assess_args *a = &w->args;
    if (w->eval) {
        cs_buf_puts(&a->code, w->eval);
        return 0;
    }
    CS_AUTO_FD int fd = strcmp(a->file, "-") == 0 ? dup(0) : open(a->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        cs_fail_errno(err, "'%s'", a->file);
    else if (cs_file_read_fd(fd, CS_CODE_MAX, &a->code, err) == 0)
        return 0;
    else if (err->code == CS_LIMIT) { /* what was read is more than the judge takes: he says so */
        *err = (struct cs_err){0};
        return 0;
    }
    err->code = CS_INVALID;
    return -1;
}

static int take_words(struct words *w, const struct cs_verb *verb, int argc, char **argv,
                      struct cs_err *err)
{
    struct cs_assess_args *a = &w->args;
    CS_AUTO_WORDS struct cs_words operands = {0};
    const struct cs_bind binds[] = {{"eval", CS_BIND_TEXT, &w->eval},
                                    {"language", CS_BIND_TEXT, &w->language},
                                    {"principal", CS_BIND_TEXT, &a->principal},
                                    {"intent", CS_BIND_TEXT, &a->intent},
                                    {"environment", CS_BIND_TEXT, &a->environment},
                                    {"output", CS_BIND_TEXT, &w->output},
                                    {"jsonl", CS_BIND_FLAG, &w->lines},
                                    {"config", CS_BIND_TEXT, &w->config},
                                    {"policy", CS_BIND_TEXT, &w->policy},
                                    {NULL, CS_BIND_TEXT, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, err) < 0)
        return -1;
    if (w->output && strcmp(w->output, "text") != 0)
        a->form = strcmp(w->output, "json") == 0 ? CS_ASSESS_JSON : CS_ASSESS_SARIF;
    if (w->language && cs_language_parse(cs_str(w->language), &a->language, err) < 0)
        return -1;
    if (w->lines)
        return 0;
    if (operands.count > 1)
        return cs_fail(err, CS_INVALID, "one program at a time, but there are '%s' and '%s'",
                       operands.at[0], operands.at[1]);
    if ((operands.count == 1) == (w->eval != NULL))
        return cs_fail(err, CS_INVALID,
                       w->eval ? "either a FILE or -e CODE, not both"
                               : "what to assess? Name a FILE, '-' for stdin, or -e CODE");
    a->file = operands.count ? operands.at[0] : NULL;
    if (a->file && !w->language)
        a->language = by_name(a->file);
    return read_code(w, err);
}

/* --- the judgement --- */

struct asking {
    struct words *words;
    struct cs_world world;
    struct cs_err err;
    int status;
};

static int status_of(const struct cs_verdict *v)
{
    return v->action == CS_GRANT_ALLOW ? CS_EXIT_OK : CS_EXIT_DENIED;
}

static void on_assessed(void *ctx, const struct cs_err *err, const struct cs_verdict *v)
{
    struct asking *s = ctx;
    const struct cs_assess_args *a = &s->words->args;
    CS_AUTO_BUF struct cs_buf line = {0}, pretty = {0};
    s->err = *err;
    if (!err->code && a->form == CS_ASSESS_TEXT)
        cs_assess_print(a, v);
    else if (!err->code) {
        if (a->form == CS_ASSESS_JSON)
            cs_verdict_json(v, &line);
        else
            cs_assess_sarif(a, s->world.policy, v, &line);
        cs_json_pretty(cs_buf_str(&line), &pretty);
        puts(cs_buf_cstr(&pretty));
    }
    s->status = err->code ? -1 : status_of(v);
    cs_world_close(&s->world, NULL, NULL);
}

static int assess(struct words *w, const struct cs_settings *settings, const char *scratch,
                  struct cs_err *err)
{
    uv_loop_t *loop = uv_default_loop();
    struct asking s = {.words = w};
    struct cs_sandbox_options sandbox = {.scratch_dir = scratch, .pool = w->lines ? 3 : 0};
#ifdef CS_TEST_HOOKS
    const char *weak = getenv("CAISSON_TEST_WEAK_JAIL");
    sandbox.weak_for_test = weak && weak[0] == '1';
#endif
    struct cs_world_options world = {.config = w->config,
                                     .policy = w->policy,
                                     .sandbox = &sandbox,
                                     .settings = settings,
                                     .no_record = true};
    if (cs_world_open(loop, &world, &s.world, err) < 0)
        return -1;
    if (w->lines) {
        int status = cs_assess_lines(&w->args, &s.world, loop, err);
        uv_loop_close(loop);
        return status;
    }
    const struct cs_assess_args *a = &w->args;
    struct cs_assess_request request = {
        .language = a->language,
        .code = cs_buf_str(&a->code),
        .principal = cs_str(a->principal),
        .intent = cs_str(a->intent),
        .environment = cs_str(a->environment),
        .limits = cs_limits_default(),
    };
    cs_assess(s.world.runner, &request, on_assessed, &s);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    if (s.status < 0)
        *err = s.err;
    return s.status;
}

int cs_verb_assess(const struct cs_verb *verb, int argc, char **argv)
{
    struct words w = {.args = {.language = CS_TYPESCRIPT}};
    struct cs_settings settings = {0};
    struct cs_err err = {0};
    char scratch[CS_DATA_PATH], config[CS_DATA_PATH];
    int status;
    if (take_words(&w, verb, argc, argv, &err) < 0) {
        status = cs_usage_error(verb, &err);
    } else if (cs_data_scratch(scratch, &err) < 0 || cs_data_config(w.config, config, &err) < 0 ||
               cs_settings_load(config, NULL, &settings, &err) < 0) {
        status = cs_verb_failed(verb, &err);
    } else {
        status = assess(&w, &settings, scratch, &err);
        if (status < 0)
            status = cs_verb_failed(verb, &err);
    }
    cs_buf_done(&w.args.code);
    cs_settings_done(&settings);
    return status;
}
