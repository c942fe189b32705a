/*
 * `caisson policy test`: a file of expectations, JSON with comments:
 *
 *     [{"name": "...", "call": {"tool": "mail/send", "arguments": {}}, "after": ["crm/find"],
 *       "principal": "ci-7", "expect": {"action": "ask", "rule": "flows[0]"}},
 *      {"name": "...", "code": "return eval(x)", "expect": {"action": "ask", "risk": "HIGH"}}]
 *
 * or {"tools": [...], "tests": [...]}, where `tools` says what the tools are like that are not
 * connected here.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/glob.h"
#include "base/jsonc.h"
#include "base/mem.h"
#include "front/policy_verb.h"
#include "front/text.h"

#define FILE_MOST  (8u << 20)
#define TESTS_MOST 10000u

struct testing {
    struct cs_policy_house house;
    const char *file;
    struct cs_jsonc doc;
    struct cs_json_val tools, tests;
    struct cs_json_iter at;
    struct cs_arena arena; /* of one test */
    struct cs_buf code;
    struct cs_tool_view *views; /* of `tools` */
    size_t view_count;
    struct cs_arena views_arena;
    struct cs_json_val test; /* that is under way */
    size_t number;
    uv_timer_t soon;
    bool json;
    struct cs_buf out; /* JSON, item after item */
    size_t passed, failed;
    struct cs_err err; /* ends it */
};

/* --- one test --- */

static struct cs_str text_in(struct testing *t, struct cs_json_val from, const char *key)
{
    return cs_json_str(cs_json_get(from, key), &t->arena);
}

static int wrong(struct testing *t, const char *what)
{
    struct cs_jsonc_place place = cs_jsonc_where(&t->doc, t->test);
    return cs_fail(&t->err, CS_INVALID, "%s:%zu:%zu: %s", t->file, place.line, place.column, what);
}

static int check_keys(struct testing *t, struct cs_json_val object, const char *const *names,
                      size_t count)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item)) {
        size_t i = 0;
        while (i < count && !cs_json_is(key, names[i]))
            i++;
        if (i < count)
            continue;
        const char *word = cs_arena_dup(&t->arena, cs_json_str(key, &t->arena)).at;
        const char *near = cs_nearest(word, names, count);
        return wrong(t, cs_arena_printf(&t->arena, "there is no '%.40s' here%s%s%s", word,
                                        near ? "; did you mean '" : "", near ? near : "",
                                        near ? "'?" : ""));
    }
    return 0;
}

static int check_word(struct testing *t, const char *key, struct cs_json_val v,
                      const char *const *known, size_t count)
{
    const char *word = cs_arena_dup(&t->arena, cs_json_str(v, &t->arena)).at;
    if (cs_json_type(v) == CS_JSON_NONE)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (cs_json_is(v, known[i]))
            return 0;
    const char *near = cs_nearest(word, known, count);
    CS_AUTO_BUF struct cs_buf said = {0};
    cs_buf_printf(&said, "`%s`: '%.40s' is none%s%s%s; there are:", key, word,
                  near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (size_t i = 0; i < count; i++)
        cs_buf_printf(&said, "%s %s", i ? "," : "", known[i]);
    return wrong(t, cs_buf_cstr(&said));
}

/* What never comes about would fail for another reason than it looks like, or be taken for none. */
static int check_expect(struct testing *t, struct cs_json_val expect)
{
    static const char *const actions[] = {"allow", "ask", "deny"};
    static const char *const risks[] = {"LOW", "MEDIUM", "HIGH", "CRITICAL"};
    static const char *const labels[] = {"private", "untrusted", "public",
                                         "egress",  "internal",  "destructive"};
    struct cs_json_val list = cs_json_get(expect, "labels"), item;
    struct cs_json_iter it = {0};
    if (cs_json_type(expect) == CS_JSON_STRING)
        return check_word(t, "expect", expect, actions, CS_COUNT(actions));
    if (check_word(t, "action", cs_json_get(expect, "action"), actions, CS_COUNT(actions)) < 0 ||
        check_word(t, "risk", cs_json_get(expect, "risk"), risks, CS_COUNT(risks)) < 0)
        return -1;
    if (cs_json_type(list) != CS_JSON_NONE && cs_json_type(list) != CS_JSON_ARRAY)
        return wrong(t, "`labels` must be a list");
    while (cs_json_next(list, &it, NULL, &item))
        if (check_word(t, "labels", item, labels, CS_COUNT(labels)) < 0)
            return -1;
    return 0;
}

static int check_form(struct testing *t)
{
    static const char *const names[] = {"name",     "call",      "program", "code",
                                        "language", "principal", "intent",  "environment",
                                        "after",    "arguments", "expect"};
    static const char *const expects[] = {"action", "risk", "rule", "labels", "finding"};
    struct cs_json_val expect = cs_json_get(t->test, "expect");
    if (cs_json_type(t->test) != CS_JSON_OBJECT)
        return wrong(t, "a test must be an object");
    if (check_keys(t, t->test, names, CS_COUNT(names)) < 0)
        return -1;
    unsigned kinds = 0;
    for (size_t i = 1; i < 4; i++)
        kinds += cs_json_type(cs_json_get(t->test, names[i])) != CS_JSON_NONE;
    if (kinds != 1)
        return wrong(t, "wants one of `call`, `program` (a file) and `code`");
    if (cs_json_type(expect) != CS_JSON_OBJECT && cs_json_type(expect) != CS_JSON_STRING)
        return wrong(t, "wants `expect`: \"allow\", \"ask\", \"deny\", or an object");
    if (cs_json_type(expect) == CS_JSON_OBJECT && !cs_json_count(expect))
        return wrong(t, "`expect` says nothing");
    if (cs_json_type(expect) == CS_JSON_OBJECT &&
        check_keys(t, expect, expects, CS_COUNT(expects)) < 0)
        return -1;
    return check_expect(t, expect);
}

/* "ask", or {"action": "ask"}; empty: it does not matter. */
static struct cs_str wanted(struct testing *t, const char *key)
{
    struct cs_json_val expect = cs_json_get(t->test, "expect");
    if (cs_json_type(expect) == CS_JSON_STRING)
        return strcmp(key, "action") == 0 ? cs_json_str(expect, &t->arena) : (struct cs_str){0};
    return text_in(t, expect, key);
}

/* One thing that is wanted; what came instead goes to `said`. */
static void compare(struct testing *t, const char *key, struct cs_str got, struct cs_buf *said)
{
    struct cs_str want = wanted(t, key);
    if (want.len && !cs_glob(want, got))
        cs_buf_printf(said, "%s%s: wanted %.*s, but it is %.*s", said->len ? "; " : "", key,
                      CS_STR_ARG(want), got.len ? (int)got.len : 4, got.len ? got.at : "none");
}

static void tell(struct testing *t, const struct cs_buf *said)
{
    struct cs_str name = text_in(t, t->test, "name");
    t->passed += !said->len;
    t->failed += said->len != 0;
    if (t->json) {
        struct cs_json_writer w = CS_JSON_WRITER(&t->out);
        if (t->number > 1)
            cs_buf_putc(&t->out, ',');
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_str(&w, name);
        cs_json_key(&w, "passed");
        cs_json_put_bool(&w, !said->len);
        cs_json_key(&w, "instead");
        cs_json_put_str(&w, cs_buf_str(said));
        cs_json_close(&w, '}');
    } else if (said->len) {
        struct cs_jsonc_place place = cs_jsonc_where(&t->doc, t->test);
        printf("%s:%zu: ", t->file, place.line);
        cs_text_safe(stdout, name.len ? name : CS_STR("(no name)"));
        fputs("\n    ", stdout);
        cs_text_safe(stdout, cs_buf_str(said));
        putchar('\n');
    }
}

/* --- a call --- */

static int find_call(struct testing *t, struct cs_json_val v, struct cs_policy_call *call)
{
    static const char *const names[] = {"tool", "arguments"};
    bool object = cs_json_type(v) == CS_JSON_OBJECT;
    if (!object && cs_json_type(v) != CS_JSON_STRING)
        return wrong(t, "a call is \"server/tool\", or {\"tool\", \"arguments\"}");
    if (object && check_keys(t, v, names, CS_COUNT(names)) < 0)
        return -1;
    struct cs_str name = object ? text_in(t, v, "tool") : cs_json_str(v, &t->arena);
    struct cs_json_val arguments = cs_json_get(object ? v : t->test, "arguments");
    return cs_policy_call_find(name, cs_json_raw(arguments), t->tools, t->house.catalogue,
                               &t->arena, call, &t->err);
}

static void compare_labels(struct testing *t, unsigned got, struct cs_buf *said)
{
    struct cs_json_val list = cs_json_get(cs_json_get(t->test, "expect"), "labels"), item;
    struct cs_json_iter it = {0};
    unsigned want = 0;
    if (cs_json_type(list) == CS_JSON_NONE)
        return;
    while (cs_json_next(list, &it, NULL, &item))
        want |= cs_label_parse(cs_json_str(item, &t->arena));
    if (want == got)
        return;
    cs_buf_printf(said, "%slabels: wanted ", said->len ? "; " : "");
    cs_labels_text(want, said);
    cs_buf_puts(said, ", but it is ");
    cs_labels_text(got, said);
}

static int try_call(struct testing *t)
{
    CS_AUTO_BUF struct cs_buf said = {0};
    struct cs_policy_case *c = cs_arena_alloc(&t->arena, sizeof *c);
    struct cs_policy_said got;
    struct cs_json_val after = cs_json_get(t->test, "after"), item;
    struct cs_json_iter it = {0};
    if (find_call(t, cs_json_get(t->test, "call"), &c->call) < 0)
        return -1;
    if (cs_json_count(after) > CS_POLICY_AFTER)
        return wrong(t, "too many calls in `after`");
    while (cs_json_next(after, &it, NULL, &item))
        if (find_call(t, item, &c->after[c->after_count++]) < 0)
            return -1;
    c->principal = text_in(t, t->test, "principal");
    if (!c->principal.len)
        c->principal = CS_STR("local");
    if (cs_policy_explain(t->house.world.policy, c, &t->arena, &got, &t->err) < 0)
        return -1;
    compare(t, "action", cs_str(cs_grant_name(got.action)), &said);
    compare(t, "rule", got.rule, &said);
    compare_labels(t, c->call.labels, &said);
    if (wanted(t, "risk").len || wanted(t, "finding").len)
        return wrong(t, "a call has no `risk` and no `finding`: programs have");
    tell(t, &said);
    return 0;
}

/* --- a program --- */

static void next(struct testing *t);

static void on_soon(uv_timer_t *timer)
{
    next(timer->data);
}

static void compare_finding(struct testing *t, const struct cs_verdict *v, struct cs_buf *said)
{
    struct cs_str want = wanted(t, "finding");
    for (uint32_t i = 0; i < v->finding_count && want.len; i++)
        if (cs_glob(want, v->findings[i].id))
            return;
    if (!want.len)
        return;
    cs_buf_printf(said, "%sfinding: wanted %.*s, but there are:", said->len ? "; " : "",
                  CS_STR_ARG(want));
    for (uint32_t i = 0; i < v->finding_count && i < 10; i++)
        cs_buf_printf(said, " %.*s", CS_STR_ARG(v->findings[i].id));
}

static void on_assessed(void *ctx, const struct cs_err *err, const struct cs_verdict *v)
{
    struct testing *t = ctx;
    CS_AUTO_BUF struct cs_buf said = {0};
    if (err->code) {
        t->err = *err;
        return;
    }
    compare(t, "action", cs_str(cs_grant_name(v->action)), &said);
    compare(t, "risk", cs_str(cs_risk_name(v->risk)), &said);
    compare(t, "rule", v->rule, &said);
    compare_finding(t, v, &said);
    tell(t, &said);
    uv_timer_start(&t->soon, on_soon, 0, 0);
}

/* A path is seen from the file. */
static int read_program(struct testing *t, struct cs_str name)
{
    char path[CS_DATA_PATH];
    const char *slash = strrchr(t->file, '/');
    int dir = !name.len || name.at[0] == '/' || !slash ? 0 : (int)(slash - t->file) + 1;
    if (!name.len ||
        snprintf(path, sizeof path, "%.*s%.*s", dir, t->file, CS_STR_ARG(name)) >= (int)sizeof path)
        return wrong(t, "`program` must be the path of a file");
    return cs_file_read(path, CS_CODE_MAX, &t->code, &t->err);
}

static int start_program(struct testing *t)
{
    struct cs_json_val code = cs_json_get(t->test, "code");
    cs_buf_clear(&t->code);
    if (cs_json_type(code) == CS_JSON_STRING)
        cs_buf_putstr(&t->code, cs_json_str(code, &t->arena));
    else if (read_program(t, text_in(t, t->test, "program")) < 0)
        return -1;
    struct cs_str name = text_in(t, t->test, "program"), language = text_in(t, t->test, "language");
    struct cs_assess_request request = {
        .language = cs_str_ends(name, ".py")   ? CS_PYTHON
                    : cs_str_ends(name, ".sh") ? CS_BASH
                                               : CS_TYPESCRIPT,
        .code = cs_buf_str(&t->code),
        .principal = text_in(t, t->test, "principal"),
        .intent = text_in(t, t->test, "intent"),
        .environment = text_in(t, t->test, "environment"),
        .limits = cs_limits_default(),
        .tools = t->views,
        .tool_count = t->view_count,
    };
    if (language.len && cs_language_parse(language, &request.language, &t->err) < 0)
        return -1;
    cs_assess(t->house.world.runner, &request, on_assessed, t);
    return 0;
}

/* --- all of them --- */

static void next(struct testing *t)
{
    while (!t->err.code && cs_json_next(t->tests, &t->at, NULL, &t->test)) {
        cs_arena_done(&t->arena);
        t->arena = (struct cs_arena){0};
        t->number++;
        if (check_form(t) < 0)
            return;
        if (cs_json_type(cs_json_get(t->test, "call")) == CS_JSON_NONE) {
            start_program(t); /* on_assessed goes on */
            return;
        }
        try_call(t);
    }
}

static bool has_programs(const struct testing *t)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(t->tests, &it, NULL, &item))
        if (cs_json_type(cs_json_get(item, "call")) == CS_JSON_NONE)
            return true;
    return false;
}

static int read_tests(struct testing *t, const struct cs_buf *text)
{
    if (cs_jsonc_parse(cs_buf_str(text), &t->doc, &t->err) < 0)
        return cs_wrap(&t->err, "%s", t->file);
    struct cs_json_val root = cs_json_root(&t->doc.doc), item;
    bool list = cs_json_type(root) == CS_JSON_ARRAY;
    t->tests = list ? root : cs_json_get(root, "tests");
    t->tools = cs_json_get(root, "tools");
    if (cs_json_type(t->tests) != CS_JSON_ARRAY || cs_json_count(t->tests) > TESTS_MOST)
        return cs_fail(&t->err, CS_INVALID,
                       "%s: must be a list of at most %u tests, or {\"tools\": [], \"tests\": []}",
                       t->file, TESTS_MOST);
    if (cs_json_type(t->tools) == CS_JSON_NONE)
        return 0;
    struct cs_json_iter it = {0};
    t->views = cs_arena_alloc(&t->views_arena, (cs_json_count(t->tools) + 1) * sizeof *t->views);
    while (cs_json_next(t->tools, &it, NULL, &item))
        cs_assess_tool(item, &t->views_arena, &t->views[t->view_count++]);
    return 0;
}

static void run(struct testing *t)
{
    if (cs_policy_house_open(&t->house, has_programs(t), &t->err) == 0) {
        uv_timer_init(t->house.loop, &t->soon);
        t->soon.data = t;
        uv_timer_start(&t->soon, on_soon, 0, 0);
        while (!t->err.code && t->passed + t->failed < cs_json_count(t->tests) &&
               uv_run(t->house.loop, UV_RUN_ONCE))
            ;
        uv_close((uv_handle_t *)&t->soon, NULL);
    }
    cs_policy_house_close(&t->house);
}

static int report(struct testing *t)
{
    if (t->json)
        printf("{\"tests\":[%s],\"passed\":%zu,\"failed\":%zu}\n", cs_buf_cstr(&t->out), t->passed,
               t->failed);
    else
        printf("%zu passed, %zu failed\n", t->passed, t->failed);
    return t->failed ? CS_EXIT_PROGRAM : CS_EXIT_OK;
}

int cs_verb_policy_test(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct testing t = {.json = false};
    int status;
    const struct cs_bind binds[] = {{"output", CS_BIND_JSON, &t.json},
                                    {"config", CS_BIND_TEXT, &t.house.config},
                                    {"policy", CS_BIND_TEXT, &t.house.policy},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &t.err) == 0 && operands.count != 1)
        cs_fail(&t.err, CS_INVALID, "wanted is one FILE of tests");
    if (t.err.code)
        return cs_usage_error(verb, &t.err);
    t.file = operands.at[0];
    if (cs_file_read_regular(t.file, FILE_MOST, &text, &t.err) < 0)
        t.err.code = CS_INVALID;
    else if (read_tests(&t, &text) == 0)
        run(&t);
    status = t.err.code ? cs_verb_failed(verb, &t.err) : report(&t);
    cs_jsonc_done(&t.doc);
    cs_arena_done(&t.arena);
    cs_arena_done(&t.views_arena);
    cs_buf_done(&t.code);
    cs_buf_done(&t.out);
    return status;
}
