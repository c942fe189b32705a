/*
 * Hostile programs in a worker without its jail: what the runtime itself must withstand. The files
 * are those of tests/escape, where they meet the whole product.
 */
#include "worker/cases.h"

struct attack {
    const char *file;
    const char *types; /* the errors it may end in, if it ends in one */
    int limit_ms;      /* it is allowed to run into the time limit */
};

static const struct attack attacks[] = {
    {"D04-never-resolves.ts", "runtime_error", 0},
    {"D05-thenable-never-calls.ts", "runtime_error", 0},
    {"D06-timer-flood.ts", "runtime_error resource_error", 0},
    {"D08-deep-recursion.ts", "runtime_error", 0},
    {"D13-deep-json-result.ts", "resource_error", 0},
    {"D14-wide-result.ts", "resource_error", 0},
    {"D15-console-flood.ts", "", 0},
    {"D16-sparse-array-result.ts", "resource_error", 0},
    {"D17-odd-values.ts", "validation_error", 0},
    {"D21-proxy-endless-result.ts", "validation_error resource_error", 0},
    {"D22-tojson-loop.ts", "", 300},
    {"D23-console-getter-loop.ts", "", 300},
    {"D25-giant-error.ts", "runtime_error", 0},
    {"D27-wasm-memory-and-loop.ts", "", 0},
    {"E01-constructor-constructor.ts", "runtime_error", 0},
    {"E02-split-eval.ts", "runtime_error permission_error", 0},
    {"E03-unicode-escapes.ts", "runtime_error syntax_error", 0},
    {"E04-comment-tricks.ts", "runtime_error syntax_error", 0},
    {"E05-wrapper-breakout-arrow.ts", "syntax_error", 0},
    {"E06-caller-introspection.ts", "runtime_error syntax_error type_error", 0},
    {"E07-async-function-ctor.ts", "runtime_error permission_error", 0},
    {"E38-wrapper-breakout-function.ts", "syntax_error", 0},
    {"I07-node-and-friends.ts", "runtime_error", 0},
    {"I08-engine-shell-functions.ts", "runtime_error", 0},
    {"I09-import-absolute.ts", "runtime_error permission_error", 0},
    {"I10-import-traversal.ts", "runtime_error permission_error", 0},
    {"I11-import-url.ts", "runtime_error permission_error", 0},
    {"I12-fetch-loopback.ts", "runtime_error permission_error", 0},
    {"I13-stack-paths.ts", "", 0},
    {"I15-global-walk.ts", "", 0},
    {"I32-fine-clocks.ts", "", 0},
    {"R01-log-line-forging.ts", "runtime_error", 0},
    {"R08-source-url-directive.ts", "runtime_error", 0},
    {"S01-stdout-forged-frame.ts", "", 0},
    {"S11-envelope-lookalike.ts", "", 0},
    {"S12-error-lookalike.ts", "runtime_error", 0},
    {"T02-intrinsics-overwrite.ts", "runtime_error validation_error", 0},
    {"T03-tools-object-tamper.ts", "runtime_error", 0},
};

static char *read_text(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/escape/cases/%s", CS_SOURCE_DIR, name);
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s is not there", path);
    CS_AUTO_BUF struct cs_buf b = {0};
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        cs_buf_put(&b, part, n);
    fclose(f);
    return cs_strndup(b.at, b.len);
}

static void withstand(void **state)
{
    const struct attack *a = *state;
    struct talk *t = cs_calloc(1, sizeof *t);
    CS_AUTO_FREE char *source = read_text(a->file);
    t->source = source;
    t->step_us = 1000;
    t->limit_ms = a->limit_ms;
    talk_run(t);
    const char *answer = cs_buf_cstr(&t->answer), *logs = cs_buf_cstr(&t->logs);
    const char *secrets[] = {"ESCAPED", CS_SOURCE_DIR, "/home/", "root:x:0:0"};
    for (size_t i = 0; i < CS_COUNT(secrets); i++) {
        if (strstr(answer, secrets[i]) || strstr(logs, secrets[i]))
            fail_msg("%s gave %s\n%s", secrets[i], answer, logs);
    }
    if (t->outcome == -2 && a->limit_ms) {
        talk_done(t);
        free(t);
        return;
    }
    if (t->outcome < 0)
        fail_msg("no answer (%d, status %#x)", t->outcome, t->status);
    if (t->outcome == CS_OUTCOME_ERROR) {
        char type[40] = "";
        if (sscanf(answer, "{\"type\":\"%39[a-z_]", type) != 1 || !strstr(a->types, type))
            fail_msg("ended in %s", answer);
    }
    assert_true(t->logs.len < 2 * CS_MIB);
    talk_done(t);
    free(t);
}

int main(void)
{
    struct cs_err err = {0};
    if (cs_worker_warm(false, &err) < 0) {
        fprintf(stderr, "warm: %s\n", err.msg);
        return 1;
    }
    struct CMUnitTest tests[CS_COUNT(attacks)];
    for (size_t i = 0; i < CS_COUNT(attacks); i++)
        tests[i] = (struct CMUnitTest){
            .name = attacks[i].file, .test_func = withstand, .initial_state = (void *)&attacks[i]};
    return cmocka_run_group_tests_name("worker_hostile", tests, NULL, NULL);
}
