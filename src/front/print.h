/*
 * Inside of front/: the result of an execution as a person reads it. The value goes to stdout, and
 * everything else to stderr.
 */
#ifndef CS_FRONT_PRINT_H
#define CS_FRONT_PRINT_H

#include <stdbool.h>

#include "run/run.h"

struct cs_print {
    bool json; /* the whole envelope to stdout */
    bool quiet, verbose;
    bool no_place; /* the program is ours: where in it something went wrong says nothing */
    bool colour;   /* stderr is a terminal that wants it */
};

void cs_print_result(const struct cs_print *print, const struct cs_result *result);

/* The exit status that a result stands for. */
int cs_exit_of(const struct cs_result *result);

#endif
