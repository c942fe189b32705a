/* Offers made from a few lines, and a data directory of their own. */
#ifndef CS_TEST_OFFERS_H
#define CS_TEST_OFFERS_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/catalogue.h"

struct place {
    char dir[64];
};

static inline int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/caisson-it-tools-XXXXXX");
    *state = p;
    return mkdtemp(p->dir) ? 0 : -1;
}

static inline int drop_place(void **state)
{
    struct place *p = *state;
    cs_dir_remove(AT_FDCWD, p->dir);
    free(p);
    return 0;
}

static const char *const no_patterns[] = {NULL};

static inline struct cs_server_config server_config(const char *name)
{
    return (struct cs_server_config){
        .name = name,
        .enabled = true,
        .timeout_ms = 1234,
        .max_result_bytes = 5678,
        .trust = CS_TRUST_NORMAL,
        .allow = (const char **)(uintptr_t)no_patterns,
        .deny = (const char **)(uintptr_t)no_patterns,
    };
}

/* `tools` is the JSON of tools/list; NULL: not listed. */
static inline struct cs_offer *offer_of(const struct cs_server_config *config, const char *ident,
                                        const char *tools, struct cs_buf *warnings)
{
    struct cs_offer_spec spec = {
        .config = config,
        .ident = cs_str(ident),
        .tools = tools ? cs_str(tools) : (struct cs_str){0},
    };
    struct cs_err err = {0};
    struct cs_offer *offer = NULL;
    CS_AUTO_BUF struct cs_buf ignored = {0};
    if (cs_offer_new(&spec, &offer, warnings ? warnings : &ignored, &err) < 0)
        fail_msg("%s", err.msg);
    return offer;
}

static inline struct cs_offer *offer_named(const char *name, const char *tools)
{
    struct cs_server_config config = server_config(name);
    return offer_of(&config, name, tools, NULL);
}

#define TOOL(name)                                         \
    "{\"name\":\"" name "\",\"description\":\"About " name \
    ".\",\"inputSchema\":{\"type\":\"object\"}}"

static inline bool exists(const char *dir, const char *path)
{
    char whole[4096];
    struct stat st;
    snprintf(whole, sizeof whole, "%s/%s", dir, path);
    return lstat(whole, &st) == 0;
}

/* Entries of a directory, without those that begin with a dot. */
static inline size_t entries(const char *dir, const char *path)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/%s", dir, path);
    DIR *list = opendir(whole);
    size_t count = 0;
    for (struct dirent *e; list && (e = readdir(list));)
        count += e->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

#endif
