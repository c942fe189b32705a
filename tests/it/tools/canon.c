/* Each line of stdin, JSON, in its canonical form on a line of stdout; or "!" and why not. */
#include <stdio.h>

#include "base/canon.h"

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        CS_AUTO_BUF struct cs_buf out = {0};
        struct cs_err err = {0};
        if (cs_canon(cs_strn(line, (size_t)n), &out, &err) < 0)
            printf("! %s\n", err.msg);
        else
            printf("%s\n", cs_buf_cstr(&out));
    }
    free(line);
    return 0;
}
