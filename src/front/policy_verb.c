/* `caisson policy check`, `explain` and `default`: what the policy says, and why. */
#include "front/policy_verb.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "front/text.h"

CS_DEFINE_CLEANUP(struct cs_policy, cs_policy_unref)

static void print_pretty(const struct cs_buf *json)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(cs_buf_str(json), &pretty);
    fwrite(pretty.at, 1, pretty.len, stdout);
    putchar('\n');
}

/* --- check --- */

static size_t count_in(struct cs_json_val section, const char *key)
{
    return cs_json_count(cs_json_get(section, key));
}

struct counts {
    size_t patterns, parameters, principals, labels, flows, risk;
};

static struct counts count(const struct cs_policy *policy)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (!cs_policy_text(policy).len || cs_json_parse(cs_policy_text(policy), NULL, &doc, &err) < 0)
        return (struct counts){0};
    struct cs_json_val root = cs_json_root(&doc), tools = cs_json_get(root, "tools");
    return (struct counts){
        .patterns = count_in(tools, "allow") + count_in(tools, "ask") + count_in(tools, "deny"),
        .parameters = count_in(tools, "rules"),
        .principals = count_in(tools, "principals"),
        .labels = count_in(root, "labels"),
        .flows = count_in(root, "flows"),
        .risk = count_in(cs_json_get(root, "risk"), "rules"),
    };
}

static void put_count(struct cs_json_writer *w, const char *key, size_t n)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, n);
}

static void put_lines(struct cs_json_writer *w, const char *key, const struct cs_buf *lines)
{
    struct cs_str rest = cs_buf_str(lines);
    cs_json_key(w, key);
    cs_json_open(w, '[');
    while (rest.len) {
        const char *end = memchr(rest.at, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.at) : rest.len;
        cs_json_put_str(w, cs_strn(rest.at, len));
        rest = cs_strn(rest.at + len + (end != NULL), rest.len - len - (end != NULL));
    }
    cs_json_close(w, ']');
}

static void check_json(const char *file, const struct cs_policy *policy,
                       const struct cs_buf *warnings, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    char hex[65];
    cs_json_open(&w, '{');
    cs_json_key(&w, "file");
    cs_json_put_z(&w, file);
    cs_json_key(&w, "valid");
    cs_json_put_bool(&w, policy != NULL);
    if (!policy) {
        cs_json_key(&w, "error");
        cs_json_put_z(&w, err->msg);
    } else {
        struct counts n = count(policy);
        cs_hex(cs_policy_hash(policy), 32, hex);
        cs_json_key(&w, "hash");
        cs_json_put_z(&w, hex);
        put_count(&w, "patterns", n.patterns);
        put_count(&w, "parameter_rules", n.parameters);
        put_count(&w, "principals", n.principals);
        put_count(&w, "labels", n.labels);
        put_count(&w, "flows", n.flows);
        put_count(&w, "risk_rules", n.risk);
    }
    put_lines(&w, "warnings", warnings);
    cs_json_close(&w, '}');
    print_pretty(&out);
}

static void check_text(const char *file, const struct cs_policy *policy,
                       const struct cs_buf *warnings)
{
    struct counts n = count(policy);
    cs_text_safe(stdout, cs_str(*file ? file : "there is no policy, the defaults count"));
    printf("%s nothing is wrong\n", *file ? ":" : ":");
    if (*file)
        printf("  tools: %zu patterns, %zu rules for parameters, %zu principals\n"
               "  risk: %zu rules; labels: %zu; flows: %zu\n",
               n.patterns, n.parameters, n.principals, n.risk, n.labels, n.flows);
    cs_text_lines(stdout, "warning: ", cs_buf_str(warnings));
}

/* The file that is named, or the policy that would be used. */
static int find_policy(const char *file, const char *config, struct cs_policy_place *place,
                       struct cs_err *err)
{
    if (!file)
        return cs_policy_place_find(NULL, config, place, err);
    *place = (struct cs_policy_place){.inside = false};
    if (snprintf(place->path, CS_DATA_PATH, "%s", file) >= CS_DATA_PATH)
        return cs_fail(err, CS_INVALID, "the path is too long");
    return 0;
}

/* With what the servers offered last time, as far as that is known; none is started. */
static void look_for_doubts(const struct cs_policy *policy, const char *config,
                            struct cs_buf *warnings)
{
    char data[CS_DATA_PATH];
    struct cs_tools_options options = {.config_path = config, .data_dir = data, .peek = true};
    struct cs_err err = {0};
    struct cs_tools *tools = NULL;
    struct cs_catalogue *catalogue = NULL;
    if (access(config, R_OK) == 0 && cs_data_dir(data, &err) == 0 &&
        cs_tools_new(uv_default_loop(), &options, &tools, &err) == 0)
        catalogue = cs_tools_current(tools);
    cs_policy_warn(policy, config, catalogue, warnings);
    if (catalogue)
        cs_catalogue_unref(catalogue);
    if (tools)
        cs_tools_close(tools, NULL, NULL);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

int cs_verb_policy_check(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO(cs_policy_unrefp) struct cs_policy *policy = NULL;
    CS_AUTO_BUF struct cs_buf warnings = {0};
    const char *given = NULL;
    char config[CS_DATA_PATH];
    bool json = false;
    struct cs_policy_place place = {.inside = false};
    struct cs_privacy *privacy = NULL;
    struct cs_err err = {0};
    const struct cs_bind binds[] = {
        {"config", CS_BIND_TEXT, &given}, {"output", CS_BIND_JSON, &json}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) == 0 && operands.count > 1)
        cs_fail(&err, CS_INVALID, "one FILE at most");
    if (err.code || cs_data_config(given, config, &err) < 0)
        return cs_usage_error(verb, &err);
    if (find_policy(operands.count ? operands.at[0] : NULL, config, &place, &err) == 0 &&
        cs_policy_place_load(&place, &policy, &err) == 0) {
        if (cs_world_privacy(policy, place.path, NULL, false, &privacy, &err) < 0) {
            cs_policy_unref(policy);
            policy = NULL;
        } else {
            look_for_doubts(policy, config, &warnings);
        }
    }
    cs_privacy_unref(privacy);
    if (json)
        check_json(place.path, policy, &warnings, &err);
    else if (policy)
        check_text(place.path, policy, &warnings);
    else
        cs_verb_failed(verb, &err);
    return policy ? CS_EXIT_OK : CS_EXIT_USAGE;
}

/* --- default --- */

int cs_verb_policy_default(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    bool json = false;
    struct cs_err err = {0};
    const struct cs_bind binds[] = {{"output", CS_BIND_JSON, &json}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) == 0 && operands.count)
        cs_fail(&err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
    if (err.code)
        return cs_usage_error(verb, &err);
    struct cs_approval_rules a = cs_policy_approvals(NULL);
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "risk");
    cs_json_put_raw(&w, cs_risk_defaults());
    cs_json_key(&w, "flows");
    cs_policy_default_flows(&w);
    cs_json_key(&w, "approvals");
    cs_json_open(&w, '{');
    put_count(&w, "timeout_s", a.timeout_s);
    put_count(&w, "durable_timeout_s", a.durable_timeout_s);
    put_count(&w, "most_waiting", a.most_waiting);
    cs_json_key(&w, "four_eyes");
    cs_json_put_z(&w, a.four_eyes_off ? "off" : a.four_eyes == CS_RISK_HIGH ? "high" : "critical");
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    print_pretty(&out);
    return CS_EXIT_OK;
}

/* --- the house --- */

int cs_policy_house_open(struct cs_policy_house *h, bool programs, struct cs_err *err)
{
    char config[CS_DATA_PATH];
    h->loop = uv_default_loop();
    if (cs_data_config(h->config, config, err) < 0 ||
        cs_settings_load(config, NULL, &h->settings, err) < 0 ||
        (programs && cs_data_scratch(h->scratch, err) < 0))
        return -1;
    h->sandbox = (struct cs_sandbox_options){.scratch_dir = h->scratch};
#ifdef CS_TEST_HOOKS
    const char *weak = getenv("CAISSON_TEST_WEAK_JAIL");
    h->sandbox.weak_for_test = weak && weak[0] == '1';
#endif
    struct cs_world_options world = {.config = h->config,
                                     .policy = h->policy,
                                     .sandbox = programs ? &h->sandbox : NULL,
                                     .settings = programs ? &h->settings : NULL,
                                     .no_record = true};
    if (cs_world_open(h->loop, &world, &h->world, err) < 0)
        return -1;
    h->catalogue = h->world.tools ? cs_tools_current(h->world.tools) : NULL;
    return 0;
}

void cs_policy_house_close(struct cs_policy_house *h)
{
    if (h->catalogue)
        cs_catalogue_unref(h->catalogue);
    h->catalogue = NULL;
    if (h->world.policy)
        cs_world_close(&h->world, NULL, NULL);
    if (h->loop)
        uv_run(h->loop, UV_RUN_DEFAULT);
    cs_settings_done(&h->settings);
}

/* --- explain --- */

struct explaining {
    struct cs_policy_house house;
    struct cs_assess_args program;
    const char *eval, *tool, *arguments, *principal, *language;
    struct cs_words after;
    bool json;
    struct cs_err err;
    int status;
};

static int explain_call(struct explaining *e, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_policy_case *c = cs_arena_alloc(&arena, sizeof *c);
    struct cs_policy_said said;
    struct cs_json_val none = {0};
    c->principal = cs_str(e->principal ? e->principal : "local");
    if (e->after.count > CS_POLICY_AFTER)
        return cs_fail(err, CS_LIMIT, "--after: at most %d", CS_POLICY_AFTER);
    if (cs_policy_call_find(cs_str(e->tool), cs_str(e->arguments), none, e->house.catalogue, &arena,
                            &c->call, err) < 0)
        return -1;
    for (size_t i = 0; i < e->after.count; i++) {
        /* server/tool, or server/tool={"owner": "a"} */
        const char *word = e->after.at[i], *brace = strstr(word, "={");
        struct cs_str name = cs_strn(word, brace ? (size_t)(brace - word) : strlen(word));
        if (cs_policy_call_find(name, cs_str(brace ? brace + 1 : NULL), none, e->house.catalogue,
                                &arena, &c->after[c->after_count++], err) < 0)
            return -1;
    }
    if (cs_policy_explain(e->house.world.policy, c, &arena, &said, err) < 0)
        return -1;
    if (e->json) {
        CS_AUTO_BUF struct cs_buf out = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&out);
        cs_policy_explain_json(c, &said, &w);
        print_pretty(&out);
    } else {
        cs_policy_explain_print(c, &said);
    }
    e->status = said.action == CS_GRANT_ALLOW ? CS_EXIT_OK : CS_EXIT_DENIED;
    return 0;
}

static void on_assessed(void *ctx, const struct cs_err *err, const struct cs_verdict *v)
{
    struct explaining *e = ctx;
    e->err = *err;
    if (err->code)
        return;
    e->status = v->action == CS_GRANT_ALLOW ? CS_EXIT_OK : CS_EXIT_DENIED;
    if (e->json) {
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_verdict_json(v, &out);
        print_pretty(&out);
    } else {
        cs_assess_print(&e->program, v);
    }
}

static void explain_program(struct explaining *e)
{
    struct cs_assess_request request = {
        .language = e->program.language,
        .code = cs_buf_str(&e->program.code),
        .principal = cs_str(e->principal),
        .limits = cs_limits_default(),
    };
    e->status = -1;
    cs_assess(e->house.world.runner, &request, on_assessed, e);
    while (e->status < 0 && !e->err.code && uv_run(e->house.loop, UV_RUN_ONCE))
        ;
}

static int read_program(struct explaining *e, const struct cs_words *operands, struct cs_err *err)
{
    if (e->language && cs_language_parse(cs_str(e->language), &e->program.language, err) < 0)
        return -1;
    if (e->tool ? operands->count || e->eval : (operands->count == 1) == (e->eval != NULL))
        return cs_fail(err, CS_INVALID, "wanted is --tool SERVER/TOOL, or one FILE, or -e CODE");
    if (!e->tool && (e->arguments || e->after.count))
        return cs_fail(err, CS_INVALID, "--arguments and --after go with --tool");
    if (e->tool)
        return 0;
    if (e->eval) {
        cs_buf_puts(&e->program.code, e->eval);
        return 0;
    }
    e->program.file = operands->at[0];
    struct cs_str name = cs_str(e->program.file);
    if (!e->language && cs_str_ends(name, ".py"))
        e->program.language = CS_PYTHON;
    else if (!e->language && (cs_str_ends(name, ".sh") || cs_str_ends(name, ".bash")))
        e->program.language = CS_BASH;
    return cs_file_read(e->program.file, CS_CODE_MAX, &e->program.code, err);
}

int cs_verb_policy_explain(const struct cs_verb *verb, int argc, char **argv)
{
    struct explaining e = {.program = {.language = CS_TYPESCRIPT}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    struct cs_err err = {0};
    const struct cs_bind binds[] = {
        {"tool", CS_BIND_TEXT, &e.tool},           {"arguments", CS_BIND_TEXT, &e.arguments},
        {"after", CS_BIND_WORDS, &e.after},        {"eval", CS_BIND_TEXT, &e.eval},
        {"language", CS_BIND_TEXT, &e.language},   {"principal", CS_BIND_TEXT, &e.principal},
        {"output", CS_BIND_JSON, &e.json},         {"config", CS_BIND_TEXT, &e.house.config},
        {"policy", CS_BIND_TEXT, &e.house.policy}, {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0 ||
        read_program(&e, &operands, &err) < 0) {
        e.status = cs_usage_error(verb, &err);
    } else {
        if (cs_policy_house_open(&e.house, !e.tool, &err) == 0) {
            if (e.tool)
                explain_call(&e, &err);
            else
                explain_program(&e);
        }
        if (!err.code)
            err = e.err;
        cs_policy_house_close(&e.house);
        if (err.code)
            e.status = cs_verb_failed(verb, &err);
    }
    cs_words_done(&e.after);
    cs_buf_done(&e.program.code);
    return e.status;
}

/* --- rows --- */

#define END                              \
    {                                    \
        NULL, 0, NULL, NULL, NULL, false \
    }
#define CONFIG                                                                                  \
    {                                                                                           \
        "config", 'c', "FILE", "the file that names the servers; see 'caisson help add'", NULL, \
            false                                                                               \
    }
#define POLICY                                                                                \
    {                                                                                         \
        "policy", 0, "FILE", "this policy instead of the one that would be used", NULL, false \
    }
#define OUTPUT                                                                \
    {                                                                         \
        "output", 'o', "FORMAT", "text (default) or json", "text json", false \
    }

static const struct cs_option check_options[] = {OUTPUT, CONFIG, END};
static const struct cs_option default_options[] = {
    {"output", 'o', "FORMAT", "it is JSON either way", "text json", true}, END};
static const struct cs_option test_options[] = {POLICY, OUTPUT, CONFIG, END};
static const struct cs_option explain_options[] = {
    {"tool", 0, "SERVER/TOOL", "a call of this tool, not a program", NULL, false},
    {"arguments", 0, "JSON", "its arguments (default {})", NULL, false},
    {"after", 0, "SERVER/TOOL[=JSON]", "this was answered before, with such arguments; repeatable",
     NULL, false},
    {"eval", 'e', "CODE", "this program instead of a file", NULL, false},
    {"language", 'l', "NAME", "language of the program; otherwise taken from the file's name",
     "typescript python bash node ts py sh js", false},
    {"principal", 0, "NAME", "as if this one had sent it (default local)", NULL, false},
    POLICY,
    OUTPUT,
    CONFIG,
    END,
};

const struct cs_verb cs_policy_verbs[] = {
    {"policy check", "[FILE]", "look for mistakes in the policy",
     "Without a FILE the policy that would be used: $CAISSON_POLICY, `policy` in the "
     "configuration, or policy.json beside it. Says what is wrong, how much is in it, and warns of "
     "what it probably does not mean: patterns that match nothing, tools that their server did not "
     "offer last time, rules that are never reached. The exit status is 0, or 2 if there is a "
     "mistake.\n",
     check_options, cs_verb_policy_check, NULL, NULL},
    {"policy explain", "--tool SERVER/TOOL | FILE | -e CODE",
     "why a call or a program is allowed, asked about or refused",
     "Names the rule that decides. Nothing is called and nothing runs. What a tool is comes from "
     "what its server offered last time; of one that is not known, its name has to do. The exit "
     "status is 0 if it is allowed, 3 if a person is asked or it is refused.\n"
     "\n"
     "Examples:\n"
     "  caisson policy explain --tool mail/send --after crm/find --after web/fetch\n"
     "  caisson policy explain --tool bank/pay --arguments '{\"amount\": 7}' --principal ci-7\n"
     "  caisson policy explain report.ts\n",
     explain_options, cs_verb_policy_explain, NULL, NULL},
    {"policy test", "FILE", "try the policy on a file of expectations",
     "Each is a call or a program, and what is to come of it; docs/policy.md has the form. Prints "
     "those that failed, and how many passed. The exit status is 0, or 1 if one failed.\n"
     "\n"
     "Examples:\n"
     "  caisson policy test policy-tests.json\n",
     test_options, cs_verb_policy_test, NULL, NULL},
    {"policy default", "", "print the rules that are built in",
     "As JSON, in the form of a policy file: rules of risk, flows, approvals.\n", default_options,
     cs_verb_policy_default, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
