/*
 * Runs the official JSON Schema test suite: a directory with tests/ and remotes/.
 *
 *     schema_suite DIRECTORY [WORD]     only the files whose path contains WORD
 *
 * Every test of draft 7 and 2020-12 has to pass, and of the optional ones those that are not named
 * in `unsupported`, which says why. The last line is `N passed, N failed, N skipped`.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "schema/schema.h"

#define DOCUMENTS 1000

static const struct {
    const char *file, *why;
} unsupported[] = {
    {"optional/format/idn-hostname.json", "internationalised host names are not checked"},
    {"draft7/optional/content.json", "contentEncoding and contentMediaType are annotations"},
};

struct suite {
    struct cs_arena arena;
    struct cs_schema_document documents[DOCUMENTS];
    size_t document_count;
    const char *word;
    int passed, failed, skipped;
};

struct counts {
    int passed, failed;
};

static struct cs_str read_file(struct suite *s, const char *path)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "schema_suite: cannot read %s\n", path);
        exit(2);
    }
    for (size_t n; (n = fread(cs_buf_room(&text, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(&text, n);
    fclose(f);
    return cs_arena_dup(&s->arena, cs_buf_str(&text));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef void (*visit)(struct suite *s, const char *path, const char *rel);

/* The JSON files of a directory, in order; with `deep`, those of its directories too. */
static void walk(struct suite *s, const char *path, const char *rel, bool deep, visit one)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, by_name);
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        CS_AUTO_BUF struct cs_buf full = {0}, below = {0};
        cs_buf_printf(&full, "%s/%s", path, name);
        cs_buf_printf(&below, "%s%s%s", rel, *rel ? "/" : "", name);
        struct stat st;
        if (name[0] != '.' && stat(cs_buf_cstr(&full), &st) == 0) {
            if (S_ISDIR(st.st_mode) && deep)
                walk(s, cs_buf_cstr(&full), cs_buf_cstr(&below), deep, one);
            else if (S_ISREG(st.st_mode) && cs_str_ends(cs_str(name), ".json"))
                one(s, cs_buf_cstr(&full), cs_buf_cstr(&below));
        }
        free(names[i]);
    }
    free(names);
}

static void add_document(struct suite *s, const char *path, const char *rel)
{
    if (s->document_count == DOCUMENTS) {
        fprintf(stderr, "schema_suite: more than %d remotes\n", DOCUMENTS);
        exit(2);
    }
    s->documents[s->document_count++] = (struct cs_schema_document){
        cs_str(cs_arena_printf(&s->arena, "http://localhost:1234/%s", rel)), read_file(s, path)};
}

static const char *why_unsupported(const char *rel)
{
    for (size_t i = 0; i < CS_COUNT(unsupported); i++)
        if (strstr(rel, unsupported[i].file))
            return unsupported[i].why;
    return NULL;
}

static void run_test(struct cs_schema *schema, struct cs_json_val group, struct cs_json_val test,
                     const char *rel, struct counts *counts)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault faults[3];
    struct cs_err err = {0};
    bool valid = false;
    cs_json_bool(cs_json_get(test, "valid"), &valid);
    struct cs_json_val data = cs_json_get(test, "data");
    int found = cs_schema_check(schema, data, &arena, faults, 3, &err);
    int quick = cs_schema_check(schema, data, NULL, NULL, 0, &err);
    if (found >= 0 && (found == 0) == valid && (quick == 0) == valid) {
        counts->passed++;
        return;
    }
    counts->failed++;
    printf("%s %s: %.*s: %.*s: %s", why_unsupported(rel) ? "unsupported" : "FAIL", rel,
           CS_STR_ARG(cs_json_str(cs_json_get(group, "description"), &arena)),
           CS_STR_ARG(cs_json_str(cs_json_get(test, "description"), &arena)),
           found < 0 ? err.msg
           : valid   ? "refused"
                     : "accepted");
    CS_AUTO_BUF struct cs_buf why = {0};
    cs_schema_explain(faults, found > 0 ? found : 0, &why);
    printf(" %.*s\n", CS_STR_ARG(cs_buf_str(&why)));
}

static void run_group(struct suite *s, struct cs_json_val group, const char *rel,
                      struct counts *counts)
{
    struct cs_schema_options options = {
        .dialect = cs_str_starts(cs_str(rel), "draft7") ? CS_DRAFT_7 : CS_DRAFT_2020_12,
        .assert_format = strstr(rel, "/format/") || strstr(rel, "ecmascript-regex"),
        .documents = s->documents,
        .document_count = s->document_count};
    struct cs_schema *schema = NULL;
    struct cs_err err = {0};
    struct cs_json_val tests = cs_json_get(group, "tests"), test;
    struct cs_str text = cs_json_raw(cs_json_get(group, "schema"));
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_schema_new(text, &options, &schema, &err) < 0) {
        printf("FAIL %s: %.*s: does not compile: %s\n", rel,
               CS_STR_ARG(cs_json_str(cs_json_get(group, "description"), &arena)), err.msg);
        counts->failed += (int)cs_json_count(tests);
        return;
    }
    struct cs_json_iter it = {0};
    while (cs_json_next(tests, &it, NULL, &test))
        run_test(schema, group, test, rel, counts);
    cs_schema_free(schema);
}

static void run_file(struct suite *s, const char *path, const char *rel)
{
    if (s->word && !strstr(rel, s->word))
        return;
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(read_file(s, path), NULL, &doc, &err) < 0) {
        fprintf(stderr, "schema_suite: %s: %s\n", path, err.msg);
        exit(2);
    }
    struct counts counts = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val group;
    const char *why = why_unsupported(rel);
    while (cs_json_next(cs_json_root(&doc), &it, NULL, &group))
        run_group(s, group, rel, &counts);
    s->passed += counts.passed;
    *(why ? &s->skipped : &s->failed) += counts.failed;
    if (strstr(rel, "optional/"))
        printf("%s%s: %d passed, %d %s%s%s\n", why ? "skip " : "", rel, counts.passed,
               counts.failed, why ? "skipped" : "failed", why ? ": " : "", why ? why : "");
}

int main(int argc, char **argv)
{
    static const char *const folders[] = {
        "draft7",       "draft7/optional",       "draft7/optional/format",
        "draft2020-12", "draft2020-12/optional", "draft2020-12/optional/format",
    };
    if (argc < 2) {
        fprintf(stderr, "usage: schema_suite DIRECTORY [WORD]\n");
        return 2;
    }
    struct suite *s = CS_NEW(struct suite);
    s->word = argc > 2 ? argv[2] : NULL;
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/remotes", argv[1]);
    walk(s, cs_buf_cstr(&path), "", true, add_document);
    for (size_t i = 0; i < CS_COUNT(folders); i++) {
        cs_buf_clear(&path);
        cs_buf_printf(&path, "%s/tests/%s", argv[1], folders[i]);
        walk(s, cs_buf_cstr(&path), folders[i], false, run_file);
    }
    int passed = s->passed, failed = s->failed, skipped = s->skipped;
    cs_arena_done(&s->arena);
    free(s);
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0 || passed == 0;
}
