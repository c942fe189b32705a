#include "front/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int choose(char *path, size_t size, struct cs_err *err)
{
    const char *own = getenv("CAISSON_DATA"), *xdg = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    int n;
    if (own && *own)
        n = snprintf(path, size, "%s/scratch", own);
    else if (xdg && *xdg == '/')
        n = snprintf(path, size, "%s/caisson/scratch", xdg);
    else if (home && *home == '/')
        n = snprintf(path, size, "%s/.local/share/caisson/scratch", home);
    else
        return cs_fail(err, CS_SYSTEM,
                       "no place for data: set CAISSON_DATA to a directory that can be written");
    return n < (int)size ? 0 : cs_fail(err, CS_SYSTEM, "the data directory's path is too long");
}

static int make_dirs(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int made = mkdir(path, 0700);
        *at = '/';
        if (made < 0 && errno != EEXIST)
            return -1;
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

int cs_data_scratch(char *path, size_t size, struct cs_err *err)
{
    if (choose(path, size, err) < 0)
        return -1;
    if (make_dirs(path) < 0 || access(path, W_OK) < 0) {
        cs_fail_errno(err, "the data directory '%s' cannot be used", path);
        return cs_wrap(err, "set CAISSON_DATA to a directory that can be written");
    }
    return 0;
}
