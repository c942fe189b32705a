#include "front/data.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* The path, if it fits. */
static int fill(char path[CS_DATA_PATH], struct cs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fill(char path[CS_DATA_PATH], struct cs_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, CS_DATA_PATH, fmt, ap);
    va_end(ap);
    return n >= 0 && n < CS_DATA_PATH ? 0 : cs_fail(err, CS_SYSTEM, "a path is too long: %s", path);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* An absolute path of the environment; others are ignored, as the XDG rules say. */
static const char *absolute(const char *name)
{
    const char *value = variable(name);
    return value && *value == '/' ? value : NULL;
}

static int usable(const char *path, struct cs_err *err)
{
    if (cs_dir_make(path, 0700, err) == 0 && access(path, W_OK) == 0)
        return 0;
    cs_fail_errno(err, "the data directory '%s' cannot be used", path);
    return cs_wrap(err, "set CAISSON_DATA to a directory that can be written");
}

int cs_data_dir(char path[CS_DATA_PATH], struct cs_err *err)
{
    const char *own = variable("CAISSON_DATA"), *xdg = absolute("XDG_DATA_HOME"),
               *home = absolute("HOME");
    int found = own    ? fill(path, err, "%s", own)
                : xdg  ? fill(path, err, "%s/caisson", xdg)
                : home ? fill(path, err, "%s/.local/share/caisson", home)
                       : cs_fail(err, CS_SYSTEM,
                                 "no place for data: set CAISSON_DATA to a directory that can be "
                                 "written");
    return found < 0 ? -1 : usable(path, err);
}

int cs_data_scratch(char path[CS_DATA_PATH], struct cs_err *err)
{
    char data[CS_DATA_PATH];
    if (cs_data_dir(data, err) < 0 || fill(path, err, "%s/scratch", data) < 0)
        return -1;
    return usable(path, err);
}

/* It names programs to start. */
static int trusted(const struct stat *st, struct cs_err *err)
{
    if ((st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & S_IWOTH))
        return 0;
    return cs_fail(err, CS_DENIED,
                   "the caisson.json of this folder %s; if you trust what it starts, say "
                   "--config ./caisson.json",
                   st->st_mode & S_IWOTH ? "can be written by anyone" : "belongs to another user");
}

int cs_data_config(const char *given, char path[CS_DATA_PATH], struct cs_err *err)
{
    const char *xdg = absolute("XDG_CONFIG_HOME"), *home = absolute("HOME");
    if (!given)
        given = variable("CAISSON_CONFIG");
    struct stat st;
    if (!given && stat("caisson.json", &st) == 0) {
        if (trusted(&st, err) < 0)
            return -1;
        given = "./caisson.json";
    }
    return given  ? fill(path, err, "%s", given)
           : xdg  ? fill(path, err, "%s/caisson/caisson.json", xdg)
           : home ? fill(path, err, "%s/.config/caisson/caisson.json", home)
                  : cs_fail(err, CS_SYSTEM,
                            "no place for a configuration: set HOME, or CAISSON_CONFIG to a file "
                            "and CAISSON_DATA to a directory that can be written");
}

int cs_data_policy(const char *given, const char *config, char path[CS_DATA_PATH],
                   struct cs_err *err)
{
    if (!given)
        given = variable("CAISSON_POLICY");
    if (given)
        return fill(path, err, "%s", given);
    const char *slash = strrchr(config, '/');
    int dir = slash ? (int)(slash - config) + 1 : 0;
    if (fill(path, err, "%.*spolicy.json", dir, config) < 0)
        return -1;
    if (access(path, F_OK) < 0)
        path[0] = '\0';
    return 0;
}
