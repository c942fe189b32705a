/* `caisson doctor`: every wall, tried. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/json.h"
#include "front/text.h"
#include "front/verbs.h"
#include "run/run.h"
#include "sandbox/launch.h"

/* Starts a server that ends at once in the jail of servers; -1 says why that does not work. */
static int try_server(struct cs_err *err)
{
    const char *const argv[] = {"/usr/bin/env", NULL}, *const hosts[] = {"example.org", NULL};
    struct cs_launch launch = {.argv = argv, .jail = true, .hosts = hosts};
    struct cs_child child;
    uv_loop_t loop;
    siginfo_t info;
    if (uv_loop_init(&loop) != 0)
        return cs_fail(err, CS_SYSTEM, "no event loop");
    int r = cs_launch(&loop, &launch, &child, err);
    if (r == 0) {
        while (waitid(P_PIDFD, (id_t)child.pidfd, &info, WEXITED) < 0 && errno == EINTR)
            ;
        cs_child_done(&child);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return r;
}

static void as_text(const struct cs_wall_state states[CS_WALL_COUNT], bool all)
{
    bool colour = cs_text_colour(stdout);
    for (int i = 0; i < CS_WALL_COUNT; i++) {
        enum cs_wall wall = (enum cs_wall)i;
        const struct cs_wall_state *s = &states[i];
        const char *code = s->holds ? "\033[32m" : cs_wall_required(wall) ? "\033[31m" : "\033[33m";
        const char *word = s->holds ? "holds" : cs_wall_required(wall) ? "MISSING" : "absent";
        printf("%s%-8s%s %-18s %s%s%s\n", cs_text_style(colour, code), word,
               cs_text_style(colour, "\033[0m"), cs_wall_name(wall), cs_wall_purpose(wall),
               s->how[0] ? ": " : "", s->how);
        if (s->remedy[0])
            cs_text_wrap(stdout, 28, s->remedy);
    }
    static const enum cs_language languages[] = {CS_PYTHON, CS_BASH, CS_NODE};
    for (size_t i = 0; i < CS_COUNT(languages); i++) {
        const char *missing = cs_language_missing(languages[i]);
        printf("%-8s %-18s %s\n", missing ? "absent" : "there", cs_language_name(languages[i]),
               missing ? missing : "programs in this language can run");
    }
    struct cs_err err = {0};
    bool servers = try_server(&err) == 0;
    printf("%-8s %-18s %s\n", servers ? "there" : "absent", "jailed servers",
           servers ? "tool servers with \"jail\" can run" : err.msg);
    printf("\n%s\n", all ? "Programs run fully walled in."
                         : "A required wall is missing: programs are refused unless it is named "
                           "with --allow-weak-isolation.");
}

static void as_json(const struct cs_wall_state states[CS_WALL_COUNT], bool all)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "ok");
    cs_json_put_bool(&w, all);
    cs_json_key(&w, "walls");
    cs_json_open(&w, '[');
    for (int i = 0; i < CS_WALL_COUNT; i++) {
        enum cs_wall wall = (enum cs_wall)i;
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_z(&w, cs_wall_name(wall));
        cs_json_key(&w, "holds");
        cs_json_put_bool(&w, states[i].holds);
        cs_json_key(&w, "required");
        cs_json_put_bool(&w, cs_wall_required(wall));
        cs_json_key(&w, "purpose");
        cs_json_put_z(&w, cs_wall_purpose(wall));
        cs_json_key(&w, "how");
        cs_json_put_z(&w, states[i].how);
        cs_json_key(&w, "remedy");
        cs_json_put_z(&w, states[i].remedy);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_key(&w, "languages");
    cs_json_open(&w, '{');
    for (int i = CS_TYPESCRIPT; i <= CS_NODE; i++) {
        cs_json_key(&w, cs_language_name((enum cs_language)i));
        cs_json_put_bool(&w, cs_language_missing((enum cs_language)i) == NULL);
    }
    cs_json_close(&w, '}');
    cs_json_key(&w, "jailed_servers");
    cs_json_put_bool(&w, try_server(NULL) == 0);
    cs_json_close(&w, '}');
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(cs_buf_str(&out), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

int cs_verb_doctor(const struct cs_verb *verb, int argc, char **argv)
{
    struct cs_args args = {.verb = verb, .argc = argc, .argv = argv};
    const struct cs_option *option;
    const char *value;
    struct cs_err err = {0};
    bool json = false;
    int got;
    while ((got = cs_args_next(&args, &option, &value, &err)) > 0) {
        if (!option) {
            cs_fail(&err, CS_INVALID, "it takes no operand, but there is '%s'", value);
            return cs_usage_error(verb, &err);
        }
        json = value[0] == 'j';
    }
    if (got < 0)
        return cs_usage_error(verb, &err);
    struct cs_wall_state states[CS_WALL_COUNT];
    if (cs_walls_probe(states, &err) < 0) {
        fprintf(stderr, "caisson doctor: %s\n", err.msg);
        return CS_EXIT_OURS;
    }
    bool all = true;
    for (int i = 0; i < CS_WALL_COUNT; i++)
        all &= states[i].holds || !cs_wall_required((enum cs_wall)i);
    (json ? as_json : as_text)(states, all);
    return all ? CS_EXIT_OK : CS_EXIT_DENIED;
}
