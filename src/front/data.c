#include "front/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Below the variable of our own, the one of the desktop, or the home directory. */
static int choose(char *path, size_t size, const char *name, struct cs_err *err)
{
    const char *own = getenv("CAISSON_DATA"), *xdg = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    int n;
    if (own && *own)
        n = snprintf(path, size, "%s%s", own, name);
    else if (xdg && *xdg == '/')
        n = snprintf(path, size, "%s/caisson%s", xdg, name);
    else if (home && *home == '/')
        n = snprintf(path, size, "%s/.local/share/caisson%s", home, name);
    else
        return cs_fail(err, CS_SYSTEM,
                       "no place for data: set CAISSON_DATA to a directory that can be written");
    return n < (int)size ? 0 : cs_fail(err, CS_SYSTEM, "the data directory's path is too long");
}

static int make(char *path, size_t size, const char *name, struct cs_err *err)
{
    if (choose(path, size, name, err) < 0)
        return -1;
    struct cs_err why = {0};
    if (cs_dir_make(path, 0700, &why) < 0 || access(path, W_OK) < 0) {
        if (why.sys)
            errno = why.sys;
        cs_fail_errno(err, "the data directory '%s' cannot be used", path);
        return cs_wrap(err, "set CAISSON_DATA to a directory that can be written");
    }
    return 0;
}

int cs_data_dir(char *path, size_t size, struct cs_err *err)
{
    return make(path, size, "", err);
}

int cs_data_scratch(char *path, size_t size, struct cs_err *err)
{
    return make(path, size, "/scratch", err);
}

int cs_data_config(const char *given, char *path, size_t size, struct cs_err *err)
{
    const char *own = getenv("CAISSON_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    struct stat st;
    int n;
    if (given || (own && *own)) {
        n = snprintf(path, size, "%s", given ? given : own);
    } else if (stat("caisson.json", &st) == 0) {
        if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & S_IWOTH))
            return cs_fail(err, CS_DENIED,
                           "the caisson.json of this folder %s; if you trust what it starts, say "
                           "--config ./caisson.json",
                           st.st_mode & S_IWOTH ? "can be written by anyone"
                                                : "belongs to another user");
        n = snprintf(path, size, "./caisson.json");
    } else if (xdg && *xdg == '/') {
        n = snprintf(path, size, "%s/caisson/caisson.json", xdg);
    } else if (home && *home == '/') {
        n = snprintf(path, size, "%s/.config/caisson/caisson.json", home);
    } else {
        return cs_fail(err, CS_SYSTEM, "no place for a configuration: name one with --config");
    }
    return n < (int)size ? 0 : cs_fail(err, CS_SYSTEM, "the configuration's path is too long");
}
