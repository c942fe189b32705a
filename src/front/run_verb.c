/* `caisson run`: from words to a request, from a result to text. */
#include "front/run_verb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "front/approving.h"
#include "front/asking.h"
#include "front/data.h"
#include "front/print.h"
#include "front/text.h"

/* --- words --- */

/* "-" is stdin. */
static int read_path(const char *path, size_t max, struct cs_buf *out, struct cs_err *err)
{
    CS_AUTO_FD int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cs_fail_errno(err, "'%s'", path);
        err->code = CS_INVALID;
        return -1;
    }
    if (cs_file_read_fd(fd, max, out, err) < 0) {
        err->code = CS_INVALID;
        return cs_wrap(err, "'%s'", path);
    }
    return 0;
}

static int take_input(struct cs_run_args *a, const char *value, struct cs_err *err)
{
    cs_buf_clear(&a->inputs);
    if (value[0] == '@')
        return read_path(value + 1, CS_INPUTS_MAX, &a->inputs, err);
    cs_buf_puts(&a->inputs, value);
    return 0;
}

static int take_number(const char *value, uint32_t *number, struct cs_err *err)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    if (*end || end == value || n < 1 || n > 64)
        return cs_fail(err, CS_INVALID, "--jobs: '%s' is not a number from 1 to 64", value);
    *number = (uint32_t)n;
    return 0;
}

/* A bare number is of seconds, as for every --timeout of the field. */
static int take_timeout(struct cs_run_args *a, const char *value, struct cs_err *err)
{
    char seconds[32];
    bool bare = value[strspn(value, "0123456789.")] == '\0';
    snprintf(seconds, sizeof seconds, "%s%s", value, bare ? "s" : "");
    return cs_limit_parse(CS_LIMIT_WALL_CLOCK, seconds, &a->limits.wall_clock, err);
}

/* Those that share their first letter with others. False: it is none of them. */
static bool take_record_option(struct cs_run_args *a, const char *name, const char *value)
{
    if (strcmp(name, "no-record") == 0)
        a->no_record = true;
    else if (strcmp(name, "durable") == 0)
        a->durable = true;
    else if (strcmp(name, "clock") == 0)
        a->clock = value[0] == 'l' ? CS_CLOCK_LIVE : CS_CLOCK_EVENTS;
    else if (strcmp(name, "cache") == 0)
        cs_cache_mode_parse(cs_str(value), &a->cache);
    else if (strcmp(name, "no-pii-protection") == 0)
        a->no_privacy = true;
    else if (strcmp(name, "reveal") == 0)
        a->reveal = true;
    else
        return false;
    return true;
}

static int take_option(struct cs_run_args *a, const struct cs_option *o, const char *value,
                       struct cs_err *err)
{
    switch (o->letter ? o->letter : o->name[0]) {
    case 'e':
        cs_buf_clear(&a->code);
        cs_buf_puts(&a->code, value);
        a->has_code = true;
        return 0;
    case 'i':
        if (o->letter)
            return take_input(a, value, err);
        a->sandbox.full_isolation = value[0] == 'f';
        return 0;
    case 'l':
        if (!o->letter)
            return cs_limits_assign(&a->limits, value, err);
        a->has_language = true;
        return cs_language_parse(cs_str(value), &a->language, err);
    case 't':
        return take_timeout(a, value, err);
    case 'm':
        return cs_limit_parse(CS_LIMIT_MEMORY, value, &a->limits.memory, err);
    case 'w':
        a->workspace = value;
        return 0;
    case 'o':
        a->json = value[0] == 'j';
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    case 'v':
        a->verbose = true;
        return 0;
    case 's':
        a->sandbox.no_jit = true;
        return 0;
    case 'a':
        return cs_walls_parse(value, &a->sandbox.allow_weak, err);
    case 'n':
        a->sandbox.no_cgroups = true;
        return 0;
    case 'c':
        a->config = value;
        return 0;
    case 'p':
        a->policy = value;
        return 0;
    case 'b':
        a->batch = true;
        return 0;
    case 'j':
        return take_number(value, &a->jobs, err);
    default:
        return cs_fail(err, CS_BUG, "option --%s has no meaning", o->name);
    }
}

static enum cs_language by_name(const char *file)
{
    struct cs_str name = cs_str(file);
    if (cs_str_ends(name, ".py"))
        return CS_PYTHON;
    if (cs_str_ends(name, ".sh") || cs_str_ends(name, ".bash"))
        return CS_BASH;
    return CS_TYPESCRIPT;
}

static int take_words(struct cs_run_args *a, const struct cs_verb *verb, int argc, char **argv,
                      struct cs_err *err)
{
    struct cs_args args = {.verb = verb, .argc = argc, .argv = argv};
    const struct cs_option *option;
    const char *value;
    int got;
    while ((got = cs_args_next(&args, &option, &value, err)) > 0) {
        if (option && !take_record_option(a, option->name, value) &&
            take_option(a, option, value, err) < 0)
            return -1;
        if (!option && a->file)
            return cs_fail(err, CS_INVALID, "one program at a time, but there are '%s' and '%s'",
                           a->file, value);
        if (!option)
            a->file = value;
    }
    if (got < 0)
        return -1;
    if (a->batch)
        return 0;
    if (a->has_code == (a->file != NULL))
        return cs_fail(err, CS_INVALID,
                       a->file ? "either a FILE or -e CODE, not both"
                               : "what to run? Name a FILE, '-' for stdin, or -e CODE");
    if (a->file && read_path(a->file, CS_CODE_MAX, &a->code, err) < 0)
        return -1;
    if (a->file && !a->has_language)
        a->language = by_name(a->file);
    struct stat st;
    if (a->workspace && (stat(a->workspace, &st) < 0 || !S_ISDIR(st.st_mode)))
        return cs_fail(err, CS_INVALID, "--workspace: '%s' is not a directory", a->workspace);
    if (cs_policy_admit(cs_buf_str(&a->code), cs_buf_str(&a->inputs), &a->limits, err) < 0)
        return -1;
    return cs_policy_inputs(cs_buf_str(&a->inputs), &a->limits, err);
}

/* --- text --- */

struct session {
    struct cs_run_args *args;
    struct cs_world world;
    struct cs_run *run;
    struct cs_asking *asking; /* NULL: nobody is there to be asked */
    struct cs_approving *approving;
    unsigned asked; /* questions that a person has not answered */
    uv_timer_t spinner;
    uv_signal_t interrupts[3];
    uint64_t started;
    bool colour, live; /* live: a progress line is on the terminal */
    bool terminal;
    char progress[120];
    int exit_status;
};

static void clear_line(struct session *s)
{
    if (s->live)
        fputs("\r\033[K", stderr);
    s->live = false;
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    static const char *const codes[] = {"\033[2m", "", "\033[33m", "\033[31m"};
    struct session *s = ctx;
    if (s->args->quiet || s->args->json)
        return;
    clear_line(s);
    cs_asking_aside(s->asking);
    fputs(cs_text_style(s->colour, codes[level]), stderr);
    cs_text_lines(stderr, "", text.len ? text : CS_STR("\n"));
    fputs(cs_text_style(s->colour && *codes[level], "\033[0m"), stderr);
    cs_asking_back(s->asking);
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    struct session *s = ctx;
    bool is_result = !is_stderr && s->args->language == CS_BASH;
    if (s->args->quiet || s->args->json || is_result)
        return;
    clear_line(s);
    cs_asking_aside(s->asking);
    cs_text_safe(stderr, bytes);
    cs_asking_back(s->asking);
}

static void on_progress(void *ctx, struct cs_str json)
{
    struct session *s = ctx;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(json, NULL, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc);
    double done = 0, total = 0;
    cs_json_f64(cs_json_get(root, "progress"), &done);
    bool has_total = cs_json_f64(cs_json_get(root, "total"), &total);
    struct cs_str message = cs_json_str(cs_json_get(root, "message"), &arena);
    if (has_total)
        snprintf(s->progress, sizeof s->progress, " %g/%g %.*s", done, total,
                 (int)(message.len < 60 ? message.len : 60), message.at);
    else
        snprintf(s->progress, sizeof s->progress, " %g %.*s", done,
                 (int)(message.len < 60 ? message.len : 60), message.at);
}

static void on_spin(uv_timer_t *t)
{
    struct session *s = t->data;
    if (cs_asking_busy(s->asking))
        return;
    clear_line(s);
    fprintf(stderr, "\033[2m%s, %.0f s", s->asked ? "waiting for a person" : "running",
            (double)(uv_now(t->loop) - s->started) / 1000);
    cs_text_safe(stderr, cs_str(s->progress));
    fputs("\033[0m", stderr);
    fflush(stderr);
    s->live = true;
}

/* --- questions of servers --- */

static bool on_ask(void *ctx, const struct cs_tool_ask *ask)
{
    struct session *s = ctx;
    if (!s->asking)
        return false;
    clear_line(s);
    return cs_asking_take(s->asking, ask);
}

static void on_withdrawn(void *ctx, uint64_t ask)
{
    struct session *s = ctx;
    if (s->asking)
        cs_asking_withdraw(s->asking, ask);
}

static void on_answer(void *ctx, uint64_t ask, struct cs_str result)
{
    struct session *s = ctx;
    if (s->run)
        cs_run_answer(s->run, ask, result);
}

/* --- questions of the guard --- */

static void on_approval(void *ctx, const struct cs_approval_row *row)
{
    struct session *s = ctx;
    clear_line(s);
    s->asked++;
    cs_approving_asked(s->approving, row);
}

static void on_approval_over(void *ctx, const struct cs_approval_row *row)
{
    struct session *s = ctx;
    clear_line(s);
    s->asked -= s->asked > 0;
    cs_approving_over(s->approving, row);
}

static void on_decided(void *ctx, struct cs_str id, const struct cs_choice *choice)
{
    struct session *s = ctx;
    cs_approving_decide(s->approving, id, choice);
}

/* --- the run --- */

static void on_done(void *ctx, const struct cs_result *r)
{
    struct session *s = ctx;
    s->run = NULL;
    s->exit_status = cs_exit_of(r);
    clear_line(s);
    cs_asking_close(s->asking);
    cs_approving_close(s->approving);
    struct cs_print print = {.json = s->args->json,
                             .quiet = s->args->quiet,
                             .verbose = s->args->verbose,
                             .colour = s->colour};
    cs_print_result(&print, r);
    uv_close((uv_handle_t *)&s->spinner, NULL);
    for (size_t i = 0; i < CS_COUNT(s->interrupts); i++)
        uv_close((uv_handle_t *)&s->interrupts[i], NULL);
    cs_world_close(&s->world, NULL, NULL);
}

static void on_interrupt(uv_signal_t *h, int number)
{
    (void)number;
    struct session *s = h->data;
    if (s->run)
        cs_run_cancel(s->run);
}

static int run_one(struct cs_run_args *a, struct cs_err *err)
{
    uv_loop_t *loop = uv_default_loop();
    struct session s = {.args = a, .colour = cs_text_colour(stderr)};
    s.terminal = cs_text_colour(stderr) && !a->quiet && !a->json;
    struct cs_world_options world = {
        .config = a->config,
        .policy = a->policy,
        .sandbox = &a->sandbox,
        .asks = a->quiet ? 0 : cs_asking_kinds(),
        .settings = &a->settings,
        .no_record = a->no_record,
        .no_privacy = a->no_privacy,
    };
    /* Before anything is made that an end must remove: whoever is told meanwhile is heard later. */
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < CS_COUNT(numbers); i++) {
        uv_signal_init(loop, &s.interrupts[i]);
        s.interrupts[i].data = &s;
        uv_signal_start(&s.interrupts[i], on_interrupt, numbers[i]);
        uv_unref((uv_handle_t *)&s.interrupts[i]);
    }
    if (cs_world_open(loop, &world, &s.world, err) < 0)
        return -1;
    if (world.asks)
        s.asking = cs_asking_new(loop, on_answer, &s);
    if (s.asking)
        cs_asking_on_decision(s.asking, on_decided);
    s.approving = cs_approving_new(s.world.store, s.world.policy, s.asking, "run");
    uv_timer_init(loop, &s.spinner);
    s.spinner.data = &s;
    s.started = uv_now(loop);
    if (s.terminal)
        uv_timer_start(&s.spinner, on_spin, 1000, 250);
    struct cs_request request = {
        .language = a->language,
        .code = cs_buf_str(&a->code),
        .inputs = cs_buf_str(&a->inputs),
        .limits = a->limits,
        .workspace = a->workspace,
        .durable = a->durable,
        .clock = a->clock,
        .cache = a->cache,
        .reveal = a->reveal,
    };
    struct cs_run_watch watch = {.log = on_log,
                                 .output = on_output,
                                 .progress = on_progress,
                                 .ask = on_ask,
                                 .withdrawn = on_withdrawn,
                                 .approval = on_approval,
                                 .approval_over = on_approval_over};
    s.run = cs_run_start(s.world.runner, &request, &watch, on_done, &s);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    return s.exit_status;
}

/* What is kept, and for how long, is a matter of the settings. */
static int take_settings(struct cs_run_args *a, struct cs_err *err)
{
    char path[CS_DATA_PATH];
    if (a->no_record && a->durable)
        return cs_fail(err, CS_INVALID, "--durable needs the record: leave out --no-record");
    if (cs_data_config(a->config, path, err) < 0 ||
        cs_settings_load(path, NULL, &a->settings, err) < 0)
        return -1;
    a->no_record = a->no_record || !a->settings.record_enabled;
    return 0;
}

int cs_verb_run(const struct cs_verb *verb, int argc, char **argv)
{
    struct cs_run_args a = {.limits = cs_limits_default(), .jobs = 1, .cache = CS_CACHE_OFF};
    struct cs_err err = {0};
    int status;
    if (take_words(&a, verb, argc, argv, &err) < 0) {
        status = cs_usage_error(verb, &err);
    } else if (cs_data_scratch(a.data_dir, &err) < 0 || take_settings(&a, &err) < 0) {
        status = cs_verb_failed(verb, &err);
    } else {
        a.sandbox.scratch_dir = a.data_dir;
#ifdef CS_TEST_HOOKS
        const char *weak = getenv("CAISSON_TEST_WEAK_JAIL");
        a.sandbox.weak_for_test = weak && weak[0] == '1';
#endif
        status = a.batch ? cs_run_batch(&a, &err) : run_one(&a, &err);
        if (status < 0)
            status = cs_verb_failed(verb, &err);
    }
    cs_buf_done(&a.code);
    cs_buf_done(&a.inputs);
    cs_settings_done(&a.settings);
    return status;
}
