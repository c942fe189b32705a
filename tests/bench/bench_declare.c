/*
 * How long the TypeScript tree takes, in memory and on disk, beside reading the same definitions
 * with base/json in the same run. The definitions are those of data/toolsets beside the project
 * (CAISSON_SHARED names another place), else those of tests/it/data/declare. One core; the best of
 * several rounds, taken in turns.
 *
 * Prints `name value unit` lines.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/declare.h"

#define ROUNDS        5
#define TARGET_SECOND 1.0
#define FILES_MAX     2000

struct server {
    struct cs_buf text;
    struct cs_json doc;
    char name[32];
    struct cs_declaration *tools;
    size_t count;
};

struct bench {
    struct cs_arena arena;
    struct server *servers;
    struct cs_declare_server *listed;
    size_t count, tools, bytes;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_declare: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void load_tools(struct bench *b, struct server *s)
{
    struct cs_json_val tools = cs_json_get(cs_json_root(&s->doc), "tools"), tool;
    size_t n = cs_json_count(tools);
    struct cs_str *names = cs_arena_alloc(&b->arena, (n + 1) * sizeof *names);
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&b->arena, (n + 1) * sizeof *idents);
    s->tools = cs_arena_alloc(&b->arena, (n + 1) * sizeof *s->tools);
    struct cs_json_iter it = {0};
    for (; cs_json_next(tools, &it, NULL, &tool); s->count++) {
        struct cs_declaration *d = &s->tools[s->count];
        d->server = cs_str(s->name);
        d->name = names[s->count] = cs_json_str(cs_json_get(tool, "name"), &b->arena);
        d->description = cs_json_str(cs_json_get(tool, "description"), &b->arena);
        d->input = cs_json_raw(cs_json_get(tool, "inputSchema"));
        d->output = cs_json_raw(cs_json_get(tool, "outputSchema"));
        d->category = "write";
        d->risk = "medium";
    }
    cs_idents(names, n, idents);
    for (size_t i = 0; i < s->count; i++)
        s->tools[i].ident = cs_str(idents[i]);
    b->listed[b->count] =
        (struct cs_declare_server){cs_str(s->name), cs_str(s->name), {0}, s->count};
    b->tools += s->count;
}

static void load_file(struct bench *b, const char *path)
{
    struct server *s = &b->servers[b->count];
    FILE *f = fopen(path, "rb");
    if (!f)
        die(path);
    for (size_t n; (n = fread(cs_buf_room(&s->text, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(&s->text, n);
    fclose(f);
    struct cs_err err = {0};
    if (cs_json_parse(cs_buf_str(&s->text), NULL, &s->doc, &err) < 0) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        exit(2);
    }
    snprintf(s->name, sizeof s->name, "server%zu", b->count);
    load_tools(b, s);
    b->bytes += s->text.len;
    b->count++;
}

static void load(struct bench *b, const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) && b->count < FILES_MAX;) {
        char next[4096];
        snprintf(next, sizeof next, "%s/%s", path, e->d_name);
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.')
            continue;
        if (n > 5 && strcmp(e->d_name + n - 5, ".json") == 0)
            load_file(b, next);
        else
            load(b, next);
    }
    closedir(d);
}

/* --- what is measured --- */

static double time_parse(struct bench *b)
{
    double start = now();
    for (size_t i = 0; i < b->count; i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        if (cs_json_parse(cs_buf_str(&b->servers[i].text), NULL, &doc, NULL) < 0)
            exit(2);
    }
    return now() - start;
}

static void write_file(const char *dir, const char *name, const char *ending,
                       const struct cs_buf *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", dir, name, ending);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text->at, 1, text->len, f) != text->len || fclose(f) != 0)
        die(path);
}

/* `root` NULL: nothing is written. */
static double time_tree(struct bench *b, const char *root, size_t *bytes)
{
    double start = now();
    CS_AUTO_BUF struct cs_buf text = {0};
    *bytes = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct server *s = &b->servers[i];
        char dir[4096];
        snprintf(dir, sizeof dir, "%s/%s", root ? root : "", s->name);
        if (root && mkdir(dir, 0777) < 0)
            die(dir);
        for (size_t j = 0; j < s->count; j++) {
            struct cs_err err = {0};
            cs_buf_clear(&text);
            if (cs_declare_tool(&s->tools[j], &text, &err) < 0) {
                fprintf(stderr, "%s\n", err.msg);
                exit(2);
            }
            *bytes += text.len;
            if (root)
                write_file(dir, s->tools[j].ident.at, ".ts", &text);
        }
        cs_buf_clear(&text);
        cs_declare_index(cs_str(s->name), (struct cs_str){0}, s->tools, s->count, &text);
        if (root)
            write_file(dir, "index", ".ts", &text);
    }
    cs_buf_clear(&text);
    cs_declare_readme(b->listed, b->count, &text);
    if (root)
        write_file(root, "README", ".md", &text);
    cs_buf_clear(&text);
    cs_declare_globals(b->listed, b->count, &text);
    if (root)
        write_file(root, "caisson.d", ".ts", &text);
    return now() - start;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static double time_disk(struct bench *b, size_t *bytes)
{
    const char *tmp = getenv("TMPDIR");
    char root[512];
    snprintf(root, sizeof root, "%s/bench_declare.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(root))
        die(root);
    double took = time_tree(b, root, bytes);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return took;
}

int main(void)
{
    struct bench b = {0};
    b.servers = cs_calloc(FILES_MAX, sizeof *b.servers);
    b.listed = cs_calloc(FILES_MAX, sizeof *b.listed);
    const char *shared = getenv("CAISSON_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/data/toolsets",
             shared && *shared ? shared : CS_SOURCE_DIR "/../shared");
    load(&b, path);
    if (b.count == 0)
        load(&b, CS_SOURCE_DIR "/tests/it/data/declare");
    if (b.tools == 0)
        die("no definitions");

    double parse = 1e9, memory = 1e9, disk = 1e9;
    size_t bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_parse(&b);
        parse = t < parse ? t : parse;
        t = time_tree(&b, NULL, &bytes);
        memory = t < memory ? t : memory;
        t = time_disk(&b, &bytes);
        disk = t < disk ? t : disk;
    }
    printf("declare_tools %zu tools\n", b.tools);
    printf("declare_definitions %.2f MB\n", (double)b.bytes / 1e6);
    printf("declare_written %.2f MB\n", (double)bytes / 1e6);
    printf("declare_parse %.1f ms\n", parse * 1e3);
    printf("declare_memory %.1f ms\n", memory * 1e3);
    printf("declare_disk %.1f ms\n", disk * 1e3);
    printf("declare_per_tool %.1f us\n", memory * 1e6 / (double)b.tools);
    printf("declare_ratio %.1f x\n", memory / parse);
    if (disk > TARGET_SECOND)
        printf("note: the tree takes more than %.1f s on this machine, now\n", TARGET_SECOND);
    for (size_t i = 0; i < b.count; i++) {
        cs_json_done(&b.servers[i].doc);
        cs_buf_done(&b.servers[i].text);
    }
    free(b.servers);
    free(b.listed);
    cs_arena_done(&b.arena);
    return 0;
}
