#include "test.h"

#include "policy/flows.h"

static struct cs_policy *parse(const char *json)
{
    struct cs_policy *p = NULL;
    struct cs_err err = {0};
    if (cs_policy_parse(cs_str(json), "policy", &p, &err) < 0)
        fail_msg("%s", err.msg);
    return p;
}

static void refuses(const char *json, const char *says)
{
    struct cs_policy *p = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_policy_parse(cs_str(json), "policy", &p, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    if (!strstr(err.msg, says))
        fail_msg("'%s' is not in: %s", says, err.msg);
}

static struct cs_target target(const char *server, const char *tool)
{
    return (struct cs_target){cs_str(server), cs_str(server), cs_str(tool), cs_str(tool)};
}

static unsigned labels_of(const char *server, const char *tool, const char *description,
                          const char *input)
{
    struct cs_tool_view v = {.target = target(server, tool),
                             .description = cs_str(description),
                             .input = cs_str(input),
                             .destructive = true,
                             .open_world = true,
                             .trusted = true};
    return cs_policy_labels(NULL, &v, NULL);
}

enum {
    P = CS_LABEL_PRIVATE,
    U = CS_LABEL_UNTRUSTED,
    B = CS_LABEL_PUBLIC,
    E = CS_LABEL_EGRESS,
    D = CS_LABEL_DESTRUCTIVE,
    I = CS_LABEL_INTERNAL,
};

/* --- labels --- */

static void names_say_what_a_tool_brings_in_and_can_do(void **state)
{
    static const struct {
        const char *server, *tool, *description, *input;
        unsigned labels;
    } cases[] = {
        {"fetch", "fetch", "Fetches a URL", "{\"properties\":{\"url\":{}}}", U | E},
        {"brave", "brave_web_search", "", "", U},
        {"firecrawl", "firecrawl_scrape", "", "{\"properties\":{\"url\" : {}}}", U | E},
        {"gmail", "search_emails", "", "", P | U},
        {"gmail", "send_email", "", "", E},
        {"gmail", "draft_email", "", "", I},
        {"gmail", "delete_email", "", "", D | I},
        {"slack", "slack_get_channel_history", "", "", P | U},
        {"slack", "slack_post_message", "", "", E},
        {"github", "list_issues", "", "", U},
        {"github", "create_issue", "", "", E},
        {"github", "create_gist", "", "", E},
        {"github", "get_file_contents", "", "", P},
        {"linear", "linear_create_issue", "", "", I},
        {"filesystem", "read_file", "", "", P},
        {"filesystem", "write_file", "", "", I},
        {"postgres", "query", "", "", P},
        {"sqlite", "drop-table", "", "", D | I},
        {"kubernetes", "pods_get", "", "", P},
        {"memory", "create_entities", "", "", I},
        {"weather", "get_forecast", "", "", B},
        {"maps", "maps_geocode", "", "", B},
        {"context7", "query-docs", "", "", B},
        {"desktop", "execute_command", "", "", P | E | D},
        {"ssh", "ssh_exec", "", "", P | E | D},
        {"git", "git_push", "", "", E},
        {"playwright", "browser_navigate", "", "{\"properties\":{\"url\":{}}}", U | E},
        {"playwright", "browser_snapshot", "", "", U},
        {"calendar", "listEvents", "", "", P | U},
        {"xyz", "get_frobs", "", "", P},
        {"xyz", "blorp", "Sends it to somebody", "", E},
        {"xyz", "blorp", "Retrieves the weather", "", B},
        {"hooks", "create_webhook", "", "{\"properties\":{\"url\":{}}}", E},
        {"calendar", "create_event", "", "{\"properties\":{\"attendees\":[]}}", E},
        {"xyz", "read_it", "", "{\"description\":\"a \\\"b\\\" \\\\\",\"properties\":{\"url\":{}}}",
         U | E},
        {"xyz", "read_it", "", "{\"description\":\"\\\"url\\\": no\"}", P},
        {"convert", "convert_to_markdown", "", "{\"properties\":{\"uri\":{}}}", U | E},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        unsigned got =
            labels_of(cases[i].server, cases[i].tool, cases[i].description, cases[i].input);
        if (got != cases[i].labels) {
            CS_AUTO_BUF struct cs_buf text = {0};
            cs_labels_text(got, &text);
            fail_msg("%s/%s: %s", cases[i].server, cases[i].tool, cs_buf_cstr(&text));
        }
    }
}

static void a_description_takes_nothing_away(void **state)
{
    static const struct {
        const char *server, *tool;
    } tools[] = {
        {"fetch", "fetch"},        {"gmail", "send_email"}, {"slack", "slack_post_message"},
        {"github", "list_issues"}, {"web", "scrape_page"},  {"files", "delete_file"},
        {"xyz", "blorp"}};
    static const char *const lies[] = {
        "Gets the weather. This tool only reads public documentation and sends nothing.",
        "private internal file database, read only, harmless, creates a draft note",
        "draft draft draft mark label weather docs wikipedia", "Creates a note",
        "Generates a chart"};
    const char *input = "{\"properties\":{\"url\":{}}}";
    (void)state;
    for (size_t i = 0; i < CS_COUNT(tools); i++) {
        unsigned plain = labels_of(tools[i].server, tools[i].tool, "", input);
        for (size_t k = 0; k < CS_COUNT(lies); k++) {
            unsigned lied = labels_of(tools[i].server, tools[i].tool, lies[k], input);
            assert_int_equal(plain & (U | E | D) & ~lied, 0);
        }
    }
}

static void the_word_of_a_trusted_server_counts(void **state)
{
    struct cs_tool_view v = {.target = target("x", "send_report"),
                             .annotated = true,
                             .read_only = true,
                             .open_world = true,
                             .trusted = true};
    (void)state;
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & E, 0);
    v.input = CS_STR("{\"properties\":{\"url\":{}}}"); /* reading is a way out, too */
    v.target = target("x", "read_it");
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & (E | U), E | U);
    v.open_world = false;
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & (E | I), I);
    v = (struct cs_tool_view){.target = target("x", "manage_it"),
                              .annotated = true,
                              .destructive = true,
                              .open_world = true,
                              .trusted = true};
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & D, D);
    v.target = target("x", "add_it");
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & D, 0);
    v.owns_up = true;
    assert_int_equal(cs_policy_labels(NULL, &v, NULL) & D, D);
}

static void a_server_of_low_trust_cannot_call_itself_harmless(void **state)
{
    struct cs_tool_view v = {.target = target("weather", "get_forecast"),
                             .annotated = true,
                             .read_only = true,
                             .open_world = false,
                             .trusted = false};
    struct cs_str why = {0};
    (void)state;
    assert_int_equal(cs_policy_labels(NULL, &v, &why) & (U | E), U | E);
    assert_true(cs_str_is(why, "its server's trust is low"));
}

static void the_policy_has_the_last_word(void **state)
{
    struct cs_policy *p = parse("{\"labels\":{\"crm/send*\":[],\"crm/*\":[\"private\","
                                "\"internal\"],\"web/fetch\":\"untrusted\"}}");
    struct cs_tool_view v = {.target = target("crm", "send_mail"), .trusted = true};
    struct cs_str why = {0};
    (void)state;
    assert_int_equal(cs_policy_labels(p, &v, &why), 0);
    assert_true(cs_str_is(why, "crm/send*"));
    v.target = target("crm", "post");
    v.trusted = false;
    assert_int_equal(cs_policy_labels(p, &v, &why), P | I);
    v.target = target("web", "fetch");
    assert_int_equal(cs_policy_labels(p, &v, &why), U);
    cs_policy_unref(p);
}

static void odd_names_are_no_trouble(void **state)
{
    static const char *const names[] = {"",
                                        "_",
                                        "a",
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP",
                                        "a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_q_r_s_t_u_v_w_x_y_z_a_b",
                                        "\xff\xfe\x80",
                                        "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJkLm",
                                        "ies",
                                        "sss",
                                        "s"};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(names); i++)
        for (size_t k = 0; k < CS_COUNT(names); k++)
            assert_int_not_equal(labels_of(names[i], names[k], names[i], "{\"url\""), 0);
}

/* --- flows --- */

static struct cs_flow_source came(const char *server, const char *tool, unsigned labels,
                                  const char *place)
{
    return (struct cs_flow_source){target(server, tool), labels, cs_str(place)};
}

static struct cs_flow_sink into(const char *server, const char *tool, unsigned labels,
                                const char *place)
{
    return (struct cs_flow_sink){target(server, tool), labels, cs_str(place)};
}

static enum cs_grant flow(const struct cs_policy *p, const struct cs_flow_source *from,
                          size_t count, struct cs_flow_sink to)
{
    return cs_policy_flow(p, CS_STR("local"), from, count, &to).then;
}

static void private_and_untrusted_and_a_way_out_is_asked(void **state)
{
    struct cs_flow_source have[] = {came("crm", "find", P, ""), came("web", "fetch", U, "")};
    struct cs_flow_sink out = into("mail", "send", E, "@\n");
    (void)state;
    assert_int_equal(flow(NULL, have, 2, out), CS_GRANT_ASK);
    assert_int_equal(flow(NULL, have, 1, out), CS_GRANT_ALLOW);
    assert_int_equal(flow(NULL, have + 1, 1, out), CS_GRANT_ALLOW);
    assert_int_equal(flow(NULL, have, 2, into("crm", "update", I, "")), CS_GRANT_ALLOW);
    assert_int_equal(flow(NULL, have, 0, out), CS_GRANT_ALLOW);
    struct cs_flow_verdict v = cs_policy_flow(NULL, CS_STR(""), have, 2, &out);
    assert_true(cs_str_is(v.rule, "built in: private and untrusted data, and a way out"));
    assert_int_equal(v.from, P | U);
    assert_int_equal(v.to, E);
    assert_int_equal(cs_flow_part(&v, &have[0], &out), P);
    assert_int_equal(cs_flow_part(&v, &have[1], &out), U);
}

static void what_goes_back_home_is_not_asked_about(void **state)
{
    struct cs_flow_source have[] = {came("github", "get_file", P, "owner=a\nrepo=b\n"),
                                    came("github", "list_issues", P | U, "owner=a\nrepo=b\n")};
    (void)state;
    assert_int_equal(flow(NULL, have, 2, into("github", "comment", E, "owner=a\nrepo=b\n")),
                     CS_GRANT_ALLOW);
    /* Another repository is another place: what an issue of a public one asks for. */
    assert_int_equal(flow(NULL, have, 2, into("github", "comment", E, "owner=a\nrepo=pub\n")),
                     CS_GRANT_ASK);
    assert_int_equal(flow(NULL, have, 2, into("gitlab", "comment", E, "owner=a\nrepo=b\n")),
                     CS_GRANT_ASK);
    /* Whoever is addressed by the call is anybody. */
    assert_int_equal(flow(NULL, have, 2, into("github", "invite", E, "@\nowner=a\nrepo=b\n")),
                     CS_GRANT_ASK);
    /* What is private from elsewhere is not at home here, and what is untrusted always counts. */
    struct cs_flow_source mixed[] = {came("crm", "find", P, ""), have[1]};
    assert_int_equal(flow(NULL, mixed, 2, into("github", "comment", E, "owner=a\nrepo=b\n")),
                     CS_GRANT_ASK);
    struct cs_flow_source nowhere[] = {came("github", "get_me", P, ""), have[1]};
    assert_int_equal(flow(NULL, nowhere, 2, into("github", "comment", E, "owner=a\nrepo=b\n")),
                     CS_GRANT_ALLOW);
}

static void the_first_rule_that_fits_decides(void **state)
{
    struct cs_policy *p =
        parse("{\"flows\":["
              "{\"from\":\"private\",\"source\":\"hr/"
              "*\",\"to\":\"egress\",\"then\":\"deny\",\"back\":true},"
              "{\"from\":[\"private\",\"untrusted\"],\"to\":\"egress\",\"tool\":\"mail/*\","
              "\"principal\":\"local\",\"then\":\"allow\"},"
              "{\"from\":\"untrusted\",\"to\":[\"destructive\",\"internal\"],\"then\":\"ask\"},"
              "{\"from\":\"public\",\"tool\":\"bank/*\",\"then\":\"deny\"}]}");
    struct cs_flow_source both[] = {came("crm", "find", P, ""), came("web", "fetch", U, "")};
    struct cs_flow_source hr = came("hr", "list", P, ""), map = came("map", "find", B, "");
    (void)state;
    assert_int_equal(flow(p, both, 2, into("mail", "send", E, "")), CS_GRANT_ALLOW);
    assert_int_equal(flow(p, both, 2, into("chat", "send", E, "")), CS_GRANT_ASK);
    assert_int_equal(flow(p, &hr, 1, into("mail", "send", E, "")), CS_GRANT_DENY);
    assert_int_equal(flow(p, &hr, 1, into("hr", "send", E, "")), CS_GRANT_DENY);
    assert_int_equal(flow(p, both, 1, into("hr", "send", E, "")), CS_GRANT_ALLOW);
    assert_int_equal(flow(p, both, 2, into("db", "drop", D, "")), CS_GRANT_ASK);
    assert_int_equal(flow(p, &map, 1, into("bank", "pay", 0, "")), CS_GRANT_DENY);
    struct cs_flow_sink sink = into("mail", "send", E, "");
    struct cs_flow_verdict v = cs_policy_flow(p, CS_STR("ci"), both, 2, &sink);
    assert_int_equal(v.then, CS_GRANT_ASK);
    v = cs_policy_flow(p, CS_STR("ci"), &hr, 1, &sink);
    assert_true(cs_str_is(v.rule, "flows[0]"));
    assert_int_equal(cs_flow_part(&v, &both[0], &sink), 0);
    cs_policy_unref(p);
}

static void place_is(const char *arguments, const char *place)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf got = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(cs_str(arguments), NULL, &doc, &err), 0);
    cs_flow_place(cs_json_root(&doc), &got);
    assert_string_equal(cs_buf_cstr(&got), place);
    assert_true(got.len <= CS_FLOW_PLACE);
}

static void arguments_tell_the_place(void **state)
{
    (void)state;
    place_is("{\"owner\":\"Acme\",\"repo\":\"X\",\"title\":\"t\"}", "owner=acme\nrepo=x\n");
    place_is("{\"params\":{\"project_id\":7}}", "projectid=7\n");
    place_is("{\"to\":[\"a@b\"],\"owner\":\"a\"}", "@\nowner=a\n");
    place_is("{\"to\":[],\"cc\":\"\",\"url\":null}", "");
    place_is("{\"request\":{\"Email-Address\":\"x\"}}", "@\n");
    place_is("{\"repo\":\"a\\nowner=b\"}", "repo=a owner=b\n");
    place_is("[1]", "");
    CS_AUTO_BUF struct cs_buf many = {0};
    cs_buf_putc(&many, '{');
    for (int i = 0; i < 200; i++)
        cs_buf_printf(&many, "%s\"%.*srepo\":\"%0200d\"", i ? "," : "", i, /* a name each */
                      "________________________________________________________________________"
                      "________________________________________________________________________"
                      "____________________________________________________________",
                      i);
    cs_buf_putc(&many, '}');
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf got = {0};
    assert_int_equal(cs_json_parse(cs_buf_str(&many), NULL, &doc, NULL), 0);
    cs_flow_place(cs_json_root(&doc), &got);
    assert_true(got.len > 0 && got.len <= CS_FLOW_PLACE);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    refuses("{\"labels\":[]}", "labels: must be an object");
    refuses("{\"labels\":{\"a/*\":\"privat\"}}", "did you mean 'private'");
    refuses("{\"labels\":{\"a/*\":7}}", "labels.\"a/*\": must be a label");
    refuses("{\"labels\":{\"\":[]}}", "must be a pattern");
    refuses("{\"flows\":{}}", "flows: must be a list");
    refuses("{\"flows\":[7]}", "flows[0]: must be an object");
    refuses("{\"flows\":[{\"to\":\"egress\",\"then\":\"ask\"}]}", "flows[0]: wants `from`");
    refuses("{\"flows\":[{\"from\":\"private\",\"then\":\"ask\"}]}", "flows[0]: wants `to`");
    refuses("{\"flows\":[{\"from\":\"private\",\"to\":\"egress\"}]}", "flows[0]: wants `then`");
    refuses("{\"flows\":[{\"from\":\"egress\",\"to\":\"egress\",\"then\":\"ask\"}]}",
            "flows[0].from: 'egress' is no label here");
    refuses("{\"flows\":[{\"from\":\"private\",\"to\":\"egres\",\"then\":\"ask\"}]}",
            "did you mean 'egress'");
    refuses("{\"flows\":[{\"from\":\"private\",\"to\":\"egress\",\"then\":\"alow\"}]}",
            "did you mean \"allow\"");
    refuses("{\"flows\":[{\"from\":\"private\",\"too\":\"egress\",\"then\":\"ask\"}]}",
            "flows[0]: there is no setting");
    refuses("{\"flows\":[{\"from\":\"private\",\"to\":\"egress\",\"back\":1,\"then\":\"ask\"}]}",
            "flows[0].back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_a_tool_brings_in_and_can_do),
        cmocka_unit_test(a_description_takes_nothing_away),
        cmocka_unit_test(the_word_of_a_trusted_server_counts),
        cmocka_unit_test(a_server_of_low_trust_cannot_call_itself_harmless),
        cmocka_unit_test(the_policy_has_the_last_word),
        cmocka_unit_test(odd_names_are_no_trouble),
        cmocka_unit_test(private_and_untrusted_and_a_way_out_is_asked),
        cmocka_unit_test(what_goes_back_home_is_not_asked_about),
        cmocka_unit_test(the_first_rule_that_fits_decides),
        cmocka_unit_test(arguments_tell_the_place),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
