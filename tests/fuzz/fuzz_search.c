/*
 * Servers and a caller as attackers. The input is lines: the first is the query, each other one
 * "group<tab>name<tab>description<tab>schema". Whatever they say, an answer is a page of one fixed
 * order, nothing comes twice, and groups that went away are gone.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "search/search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DOCS 64

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Takes what is before the next `end` (or all of it) off the front. */
static struct cs_str take(struct cs_str *s, char end)
{
    const char *at = s->len ? memchr(s->at, end, s->len) : NULL;
    struct cs_str part = cs_strn(s->at, at ? (size_t)(at - s->at) : s->len);
    size_t used = at ? part.len + 1 : part.len;
    *s = cs_strn(s->at + used, s->len - used);
    return part;
}

static void check_pages(struct cs_search *index, struct cs_str query, size_t docs)
{
    struct cs_search_hit all[DOCS], page[3];
    size_t total = 0;
    struct cs_search_options options = {.limit = DOCS};
    size_t count = cs_search_find(index, query, &options, all, &total);
    must(count == total && count <= docs);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            must(all[i].tag != all[k].tag);
    options.limit = 3;
    for (options.offset = 0; options.offset < count; options.offset += 3) {
        size_t n = cs_search_find(index, query, &options, page, NULL);
        must(n == (count - options.offset < 3 ? count - options.offset : 3));
        for (size_t i = 0; i < n; i++)
            must(page[i].tag == all[options.offset + i].tag);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str rest = cs_strn((const char *)data, size);
    struct cs_str query = take(&rest, '\n'), groups[DOCS];
    struct cs_search_doc docs[DOCS];
    struct cs_search *index = cs_search_new(NULL);
    size_t lines = 0;
    while (rest.len > 0 && lines < DOCS) {
        struct cs_str line = take(&rest, '\n');
        groups[lines] = take(&line, '\t');
        docs[lines] = (struct cs_search_doc){.name = take(&line, '\t')};
        docs[lines].description = take(&line, '\t');
        docs[lines].schema = line;
        docs[lines].tag = &docs[lines];
        lines++;
    }
    /* Neighbours with the same group are put together; a later run of it replaces the first. */
    for (size_t first = 0, end; first < lines; first = end) {
        for (end = first; end < lines && cs_str_eq(groups[end], groups[first]);)
            end++;
        must(cs_search_put(index, groups[first], docs + first, end - first, NULL) == 0);
    }
    check_pages(index, query, lines);
    for (size_t i = 0; i < lines && i < 4; i++) {
        struct cs_search_hit hit = {0};
        struct cs_search_options only = {.limit = 1, .group = groups[i]};
        cs_search_find(index, docs[i].name, &only, &hit, NULL);
        cs_search_find(index, docs[i].description, NULL, (struct cs_search_hit[5]){{0}}, NULL);
    }
    for (size_t i = 0; i < lines; i += 2)
        cs_search_remove(index, groups[i]);
    check_pages(index, query, lines);
    for (size_t i = 0; i < lines; i++)
        cs_search_remove(index, groups[i]);
    struct cs_search_hit hits[5];
    must(cs_search_find(index, query, NULL, hits, NULL) == 0);
    cs_search_free(index);
    return 0;
}
