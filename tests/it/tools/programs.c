/* Prints a generated program: programs SEED [SERVER]. See tests/lib/programs.h. */
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/programs.h"

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: programs SEED [SERVER]\n");
        return 2;
    }
    struct cs_buf out = {0};
    program_make(strtoull(argv[1], NULL, 10), argc > 2 ? argv[2] : "world", &out);
    fwrite(out.at, 1, out.len, stdout);
    cs_buf_done(&out);
    return 0;
}
