/* search_rank CATALOGUE QUERIES [LIMIT [MODEL]]: cs_search_rank for tests from outside. */
#include <stdio.h>
#include <stdlib.h>

#include "search/search.h"

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 5) {
        fprintf(stderr, "usage: search_rank CATALOGUE QUERIES [LIMIT [MODEL]]\n");
        return 2;
    }
    struct cs_err err = {0};
    struct cs_model *model = NULL;
    int failed = argc == 5 ? cs_model_open(argv[4], &model, &err) : 0;
    if (failed == 0) {
        size_t limit = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
        failed = cs_search_rank(argv[1], argv[2], model, limit, stdout, &err);
    }
    cs_model_free(model);
    if (failed)
        fprintf(stderr, "search_rank: %s\n", err.msg);
    return failed ? 1 : 0;
}
