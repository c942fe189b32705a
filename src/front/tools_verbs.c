/* `caisson tools list`, `search`, `show` and `tree`. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "front/errand.h"
#include "front/table.h"
#include "front/text.h"
#include "search/search.h"

#define SUMMARY_MAX 120

struct asking {
    struct cs_errand session;
    struct cs_words operands;
    bool json;
    /* search */
    uint64_t limit, offset;
    const char *server, *detail, *catalogue, *queries;
};

static void asking_done(struct asking *a)
{
    cs_words_done(&a->operands);
}

#define AUTO_ASKING CS_AUTO(asking_done) struct asking

static int take(const struct cs_verb *verb, int argc, char **argv, struct asking *a, size_t most,
                struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"timeout", CS_BIND_TIME, &a->session.timeout_ms},
        {"output", CS_BIND_JSON, &a->json},
        {"config", CS_BIND_TEXT, &a->session.config},
        {"limit", CS_BIND_NUMBER, &a->limit},
        {"offset", CS_BIND_NUMBER, &a->offset},
        {"server", CS_BIND_TEXT, &a->server},
        {"detail", CS_BIND_TEXT, &a->detail},
        {"catalogue", CS_BIND_TEXT, &a->catalogue},
        {"queries", CS_BIND_TEXT, &a->queries},
        {"model", CS_BIND_TEXT, &a->session.model},
        {NULL, 0, NULL},
    };
    a->session.ctx = a;
    if (cs_args_bind(verb, argc, argv, binds, &a->operands, err) < 0)
        return -1;
    if (a->operands.count > most)
        return cs_fail(err, CS_INVALID, "there is '%s' too much", a->operands.at[most]);
    return 0;
}

static void print_pretty(struct cs_str json)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(json, &pretty);
    fwrite(pretty.at, 1, pretty.len, stdout);
    putchar('\n');
}

/* Who has not answered, or failed: then something may be missing from what was printed. */
static void print_missing(void *ctx, const struct cs_server_state *state)
{
    const struct cs_errand *s = ctx;
    if (s->server && !cs_str_is(state->name, s->server))
        return;
    bool failed = strcmp(state->state, "failed") == 0 || strcmp(state->state, "waiting") == 0 ||
                  strcmp(state->state, "login") == 0;
    if (!failed && strcmp(state->state, "connecting") != 0)
        return;
    fprintf(stderr, "%.*s: ", CS_STR_ARG(state->name));
    if (strcmp(state->state, "connecting") == 0)
        fputs("has not answered yet", stderr);
    else
        cs_text_safe(stderr, cs_errand_error(state));
    fputc('\n', stderr);
}

static void end(struct cs_errand *s, int status)
{
    fflush(stdout);
    if (s->tools)
        cs_tools_servers(s->tools, print_missing, s);
    cs_errand_end(s, status);
}

/* Without a configuration there is nothing to say but that; true if it was said. */
static bool nothing_there(struct cs_errand *s)
{
    if (s->tools)
        return false;
    struct cs_err err = {0};
    cs_fail(&err, CS_MISSING,
            "there are no servers yet (%s); 'caisson help add' says how to add one", s->path);
    cs_errand_end(s, cs_verb_failed(s->verb, &err));
    return true;
}

/* --- list --- */

static const char *const risks[] = {
    [CS_TOOL_LOW] = "low", [CS_TOOL_MEDIUM] = "medium", [CS_TOOL_HIGH] = "high"};

/* The first line, or the first sentence of it. */
static struct cs_str summary(const struct cs_tool *t)
{
    struct cs_str text = t->description.len ? t->description : t->title;
    while (text.len && strchr(" \t\r\n", text.at[0])) {
        text.at++;
        text.len--;
    }
    const char *line = text.len ? memchr(text.at, '\n', text.len) : NULL;
    if (line)
        text.len = (size_t)(line - text.at);
    const char *stop = text.len ? memmem(text.at, text.len, ". ", 2) : NULL;
    return stop ? cs_strn(text.at, (size_t)(stop - text.at) + 1) : text;
}

static void put_flag(struct cs_json_writer *w, const char *name, bool value)
{
    cs_json_key(w, name);
    cs_json_put_bool(w, value);
}

static void put_tool(struct cs_json_writer *w, const struct cs_tool *t)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_json_open(w, '{');
    cs_buf_printf(&text, "%.*s.%.*s", CS_STR_ARG(t->server_ident), CS_STR_ARG(t->ident));
    cs_json_key(w, "tool");
    cs_json_put_str(w, cs_buf_str(&text));
    cs_buf_clear(&text);
    cs_json_key(w, "server");
    cs_json_put_str(w, t->server);
    cs_json_key(w, "name");
    cs_json_put_str(w, t->name);
    cs_buf_printf(&text, "/mcp-servers/%.*s/%.*s.ts", CS_STR_ARG(t->server), CS_STR_ARG(t->ident));
    cs_json_key(w, "path");
    cs_json_put_str(w, cs_buf_str(&text));
    cs_json_key(w, "description");
    cs_json_put_str(w, t->description);
    cs_json_key(w, "risk");
    cs_json_put_z(w, risks[t->risk]);
    cs_json_key(w, "standing");
    cs_json_put_z(w, cs_tool_standing_name(cs_tool_standing(t)));
    put_flag(w, "read_only", t->read_only);
    put_flag(w, "destructive", t->destructive);
    cs_json_key(w, "learned");
    cs_json_put_u64(w, t->learned);
    cs_json_close(w, '}');
}

static bool wanted(const struct asking *a, const struct cs_tool *t)
{
    return !a->operands.count || cs_str_is(t->server, a->operands.at[0]);
}

static void list_json(const struct asking *a, const struct cs_catalogue *c)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "tools");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < cs_catalogue_count(c); i++)
        if (wanted(a, cs_catalogue_at(c, i)))
            put_tool(&w, cs_catalogue_at(c, i));
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    print_pretty(cs_buf_str(&out));
}

static void list_text(const struct asking *a, const struct cs_catalogue *c)
{
    static const struct cs_str heads[] = {{"tool", 4}, {"risk", 4}, {"what it does", 12}};
    static const char *const styles[] = {
        [CS_TOOL_LOW] = "", [CS_TOOL_MEDIUM] = "\033[33m", [CS_TOOL_HIGH] = "\033[31m"};
    CS_AUTO(cs_table_done) struct cs_table table = {.columns = CS_COUNT(heads)};
    bool changed = false;
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < cs_catalogue_count(c); i++) {
        const struct cs_tool *t = cs_catalogue_at(c, i);
        if (!wanted(a, t))
            continue;
        CS_AUTO_BUF struct cs_buf name = {0};
        cs_buf_printf(&name, "%.*s.%.*s", CS_STR_ARG(t->server_ident), CS_STR_ARG(t->ident));
        enum cs_tool_standing standing = cs_tool_standing(t);
        const char *risk =
            standing == CS_TOOL_KNOWN ? risks[t->risk] : cs_tool_standing_name(standing);
        struct cs_str cells[] = {cs_buf_str(&name), cs_str(risk), summary(t)};
        cs_table_add(&table, cells, standing == CS_TOOL_KNOWN ? styles[t->risk] : "\033[1;31m");
        changed |= standing == CS_TOOL_CHANGED;
    }
    size_t width = cs_table_width(stdout);
    if (table.rows > 1)
        cs_table_print(&table, stdout, width ? width : SUMMARY_MAX);
    else
        fprintf(stderr, "no tools are known\n");
    if (changed)
        fprintf(stderr, "'caisson tools look SERVER/TOOL' shows what changed\n");
}

static void then_list(struct cs_errand *s)
{
    struct asking *a = s->ctx;
    if (nothing_there(s))
        return;
    (a->json ? list_json : list_text)(a, s->catalogue);
    end(s, CS_EXIT_OK);
}

/* How tools stand is in the store, if there is one; nothing is made for that. */
static const struct cs_settings *take_settings(const char *config, struct cs_settings *settings)
{
    char path[CS_DATA_PATH + 16], file[CS_DATA_PATH];
    struct cs_err err = {0};
    if (cs_data_dir(file, &err) < 0)
        return NULL;
    snprintf(path, sizeof path, "%s/caisson.db", file);
    if (access(path, R_OK | W_OK) < 0 || cs_data_config(config, file, &err) < 0 ||
        cs_settings_load(file, NULL, settings, &err) < 0)
        return NULL;
    return settings;
}

int cs_verb_tools_list(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASKING a = {.session = {.wait = CS_WAIT_KNOWN, .then = then_list}};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &a, 1, &err) < 0)
        return cs_usage_error(verb, &err);
    a.session.server = a.operands.count ? a.operands.at[0] : NULL;
    struct cs_settings settings = {0};
    a.session.settings = take_settings(a.session.config, &settings);
    int status = cs_errand_run(verb, &a.session);
    cs_settings_done(&settings);
    return status;
}

/* --- search --- */

static void print_hits(struct cs_str json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    struct cs_err err = {0};
    bool colour = cs_text_colour(stdout);
    if (cs_json_parse(json, NULL, &doc, &err) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc), tools = cs_json_get(root, "tools");
    while (cs_json_next(tools, &it, NULL, &item)) {
        struct cs_str definition = cs_json_str(cs_json_get(item, "definition"), &arena);
        fputs(cs_text_style(colour, "\033[1m"), stdout);
        cs_text_safe(stdout, cs_json_str(cs_json_get(item, "tool"), &arena));
        fputs(cs_text_style(colour, "\033[0m"), stdout);
        putchar('\n');
        cs_text_lines(stdout, "    ", cs_json_str(cs_json_get(item, "summary"), &arena));
        cs_text_lines(stdout, "    ", definition);
    }
    int64_t total = 0;
    cs_json_i64(cs_json_get(root, "total"), &total);
    uint32_t shown = cs_json_count(tools);
    if (total > shown)
        fprintf(stderr, "%u of %lld; --limit and --offset show others\n", shown, (long long)total);
    it = (struct cs_json_iter){0};
    while (cs_json_next(cs_json_get(root, "servers"), &it, NULL, &item)) {
        int64_t count = 0;
        cs_json_i64(cs_json_get(item, "tools"), &count);
        cs_text_safe(stdout, cs_json_str(cs_json_get(item, "server"), &arena));
        printf(": %lld tool%s\n", (long long)count, count == 1 ? "" : "s");
    }
}

static void then_search(struct cs_errand *s)
{
    struct asking *a = s->ctx;
    CS_AUTO_BUF struct cs_buf json = {0}, query = {0};
    if (nothing_there(s))
        return;
    for (size_t i = 0; i < a->operands.count; i++)
        cs_buf_printf(&query, "%s%s", i ? " " : "", a->operands.at[i]);
    char first = a->detail ? a->detail[0] : 's';
    struct cs_find find = {
        .query = cs_buf_str(&query),
        .server = cs_str(a->server),
        .limit = (size_t)a->limit,
        .offset = (size_t)a->offset,
        .detail = first == 'n'   ? CS_DETAIL_NAME
                  : first == 'f' ? CS_DETAIL_FULL
                                 : CS_DETAIL_SUMMARY,
    };
    cs_tools_find(s->tools, s->catalogue, &find, &json);
    (a->json ? print_pretty : print_hits)(cs_buf_str(&json));
    end(s, CS_EXIT_OK);
}

/* Nothing is connected to: files in, rankings out. */
static int rank(const struct cs_verb *verb, const struct asking *a)
{
    struct cs_model *model = NULL;
    struct cs_err err = {0};
    if (!a->catalogue || !a->queries || a->operands.count) {
        cs_fail(&err, CS_INVALID, "--catalogue and --queries go together, and without a QUERY");
        return cs_usage_error(verb, &err);
    }
    int status = a->session.model ? cs_model_open(a->session.model, &model, &err) : 0;
    if (status == 0)
        status = cs_search_rank(a->catalogue, a->queries, model, (size_t)a->limit, stdout, &err);
    cs_model_free(model);
    return status < 0 ? cs_verb_failed(verb, &err) : CS_EXIT_OK;
}

int cs_verb_tools_search(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASKING a = {.session = {.wait = CS_WAIT_KNOWN, .then = then_search}};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &a, SIZE_MAX, &err) < 0)
        return cs_usage_error(verb, &err);
    if (a.catalogue || a.queries)
        return rank(verb, &a);
    return cs_errand_run(verb, &a.session);
}

/* --- show --- */

static void then_show(struct cs_errand *s)
{
    struct asking *a = s->ctx;
    CS_AUTO_BUF struct cs_buf text = {0}, json = {0};
    struct cs_err err = {0};
    struct cs_str path = cs_str(a->operands.at[0]);
    if (nothing_there(s))
        return;
    if (cs_tools_read(s->tools, s->catalogue, path, NULL, NULL, &text, &err) < 0) {
        end(s, cs_verb_failed(s->verb, &err));
        return;
    }
    if (a->json) {
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_json_open(&w, '{');
        cs_json_key(&w, "path");
        cs_json_put_str(&w, path);
        cs_json_key(&w, "text");
        cs_json_put_str(&w, cs_buf_str(&text));
        cs_json_close(&w, '}');
        print_pretty(cs_buf_str(&json));
    } else if (isatty(STDOUT_FILENO)) {
        cs_text_safe(stdout, cs_buf_str(&text));
    } else {
        fwrite(text.at, 1, text.len, stdout);
    }
    cs_errand_end(s, CS_EXIT_OK);
}

int cs_verb_tools_show(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASKING a = {.session = {.wait = CS_WAIT_KNOWN, .then = then_show}};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &a, 1, &err) == 0 && !a.operands.count)
        cs_fail(&err, CS_INVALID, "which tool? SERVER.TOOL or a path");
    if (err.code)
        return cs_usage_error(verb, &err);
    a.session.tool = a.operands.at[0];
    return cs_errand_run(verb, &a.session);
}

/* --- tree --- */

struct growing {
    struct cs_json_writer *writer; /* or NULL: text */
    size_t directories, files;
};

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* The directory is ours, two levels deep. */
static void grow(struct growing *g, const char *path, const char *inside, const char *indent,
                 const char *only)
{
    struct dirent **names;
    int count = scandir(path, &names, visible, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        CS_AUTO_BUF struct cs_buf below = {0}, shown = {0}, deeper = {0};
        cs_buf_printf(&below, "%s/%s", path, name);
        cs_buf_printf(&shown, "%s/%s", inside, name);
        struct stat st;
        bool skip = (only && strcmp(name, only) != 0) || stat(cs_buf_cstr(&below), &st) < 0;
        bool directory = !skip && S_ISDIR(st.st_mode), last = i + 1 == count;
        if (!skip && !g->writer) {
            printf("%s%s", indent, last || only ? "└── " : "├── ");
            cs_text_safe(stdout, cs_str(name));
            putchar('\n');
        } else if (!skip && !directory) {
            cs_json_put_str(g->writer, cs_buf_str(&shown));
        }
        g->directories += directory;
        g->files += !skip && !directory;
        cs_buf_printf(&deeper, "%s%s", indent, last || only ? "    " : "│   ");
        if (directory && strlen(indent) < 40)
            grow(g, cs_buf_cstr(&below), cs_buf_cstr(&shown), cs_buf_cstr(&deeper), NULL);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

static void then_tree(struct cs_errand *s)
{
    struct asking *a = s->ctx;
    struct growing g = {0};
    if (nothing_there(s))
        return;
    const char *path = cs_catalogue_path(s->catalogue);
    if (!a->json) {
        printf("%s\n", path);
        grow(&g, path, "/mcp-servers", "", s->server);
        fprintf(stderr, "%zu servers, %zu files; programs see it as /mcp-servers\n", g.directories,
                g.files);
        end(s, CS_EXIT_OK);
        return;
    }
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    g.writer = &w;
    cs_json_open(&w, '{');
    cs_json_key(&w, "path");
    cs_json_put_z(&w, path);
    cs_json_key(&w, "files");
    cs_json_open(&w, '[');
    grow(&g, path, "/mcp-servers", "", s->server);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    print_pretty(cs_buf_str(&out));
    end(s, CS_EXIT_OK);
}

int cs_verb_tools_tree(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASKING a = {.session = {.wait = CS_WAIT_KNOWN, .then = then_tree}};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &a, 1, &err) < 0)
        return cs_usage_error(verb, &err);
    a.session.server = a.operands.count ? a.operands.at[0] : NULL;
    return cs_errand_run(verb, &a.session);
}
