#include "tools/config_doc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

/* Is `folder` the current directory, or above it? Then how long its name is; else 0. */
static size_t holds_us(struct cs_str folder, const char *here)
{
    while (folder.len > 1 && folder.at[folder.len - 1] == '/')
        folder.len--;
    if (!folder.len || strncmp(here, folder.at, folder.len) != 0)
        return 0;
    char next = here[folder.len];
    return next == '\0' || next == '/' || folder.len == 1 ? folder.len : 0;
}

/* Claude Code keeps servers per folder: those of the nearest folder around us are ours. */
static struct cs_json_val of_project(struct cs_json_val root, size_t *elsewhere)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    struct cs_json_val projects = cs_json_get(root, "projects"), key, item, best = {0};
    struct cs_json_iter it = {0};
    size_t longest = 0, all = 0;
    while (cs_json_next(projects, &it, &key, &item)) {
        struct cs_json_val servers = cs_json_get(item, "mcpServers");
        if (cs_json_type(servers) != CS_JSON_OBJECT)
            continue;
        all += cs_json_count(servers);
        size_t len = holds_us(cs_json_str(key, &arena), here);
        if (len > longest) {
            longest = len;
            best = servers;
        }
    }
    *elsewhere = all - (longest ? cs_json_count(best) : 0);
    return best;
}

static void put(struct cs_places *places, struct cs_json_val object)
{
    if (object.doc && cs_json_type(object) == CS_JSON_OBJECT)
        places->at[places->count++] = object;
}

int cs_places_find(struct cs_json_val root, struct cs_places *places, struct cs_err *err)
{
    *places = (struct cs_places){0};
    if (cs_json_type(root) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "an object is wanted: {\"mcpServers\": {...}}");
    struct cs_json_val servers = cs_json_get(root, "mcpServers");
    enum cs_json_type type = cs_json_type(servers);
    if (type != CS_JSON_NONE && type != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "'mcpServers' must be an object: a name and an entry for "
                       "each server");
    put(places, servers);
    put(places, cs_json_get(root, "servers"));
    put(places, cs_json_get(cs_json_get(root, "mcp"), "servers"));
    places->top = places->count;
    put(places, of_project(root, &places->elsewhere));
    return 0;
}

bool cs_places_get(const struct cs_places *places, struct cs_str name, size_t *place,
                   struct cs_json_val *key, struct cs_json_val *entry)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    for (size_t i = places->count; i-- > 0;) {
        struct cs_json_iter it = {0};
        struct cs_json_val k, v;
        bool found = false;
        while (cs_json_next(places->at[i], &it, &k, &v)) {
            if (!cs_str_eq(cs_json_str(k, &arena), name))
                continue;
            found = true;
            *place = i;
            *key = k;
            *entry = v;
        }
        if (found)
            return true;
    }
    return false;
}

static bool same_file(const char *path, const char *own)
{
    char real[PATH_MAX];
    return realpath(path, real) && strcmp(real, own) == 0;
}

bool cs_is_self(const char *command, const char *const *args)
{
    char own[PATH_MAX], path[PATH_MAX];
    const char *slash = strrchr(command, '/'), *base = slash ? slash + 1 : command;
    bool serves = args && args[0] && (strcmp(args[0], "mcp") == 0 || strcmp(args[0], "serve") == 0);
    if (strcmp(base, "caisson") == 0 && serves)
        return true;
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n <= 0)
        return false;
    own[n] = '\0';
    if (slash)
        return same_file(command, own);
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t len = strcspn(at, ":");
        int wrote = snprintf(path, sizeof path, "%.*s/%s", (int)len, at, command);
        if (wrote < (int)sizeof path && access(path, X_OK) == 0)
            return same_file(path, own);
        at += len + (at[len] == ':');
    }
    return false;
}
