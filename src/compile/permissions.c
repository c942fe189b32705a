/* What a program asks for beside tools: files, network, processes, the environment. */
#include "compile/reach.h"

enum { READ = 1, WRITE = 2, NETWORK = 4, PROCESS = 8, ENVIRONMENT = 16 };

static const struct {
    const char *name;
    unsigned mask;
} words[] = {
    {"filesystem.read", READ}, {"filesystem.write", WRITE},  {"network", NETWORK},
    {"process", PROCESS},      {"environment", ENVIRONMENT},
};

struct rule {
    const char *root;
    bool module;
    const char *member; /* NULL: any, and the thing itself */
    unsigned mask;
};

/* Names that start so, in the order in which they are tried. */
static const struct rule rules[] = {
    {"fetch", false, NULL, NETWORK},
    {"XMLHttpRequest", false, NULL, NETWORK},
    {"WebSocket", false, NULL, NETWORK},
    {"EventSource", false, NULL, NETWORK},
    {"Worker", false, NULL, PROCESS},
    {"navigator", false, "sendBeacon", NETWORK},
    {"process", false, "env", ENVIRONMENT},
    {"process", false, "kill", PROCESS},
    {"process", false, "exit", PROCESS},
    {"process", false, "abort", PROCESS},
    {"process", false, "reallyExit", PROCESS},
    {"process", false, "binding", PROCESS},
    {"process", false, "dlopen", PROCESS},
    {"process", false, "chdir", PROCESS},
    {"process", false, "set", PROCESS},
    {"Deno", false, "env", ENVIRONMENT},
    {"Deno", false, "read", READ},
    {"Deno", false, "stat", READ},
    {"Deno", false, "lstat", READ},
    {"Deno", false, "realPath", READ},
    {"Deno", false, "watchFs", READ},
    {"Deno", false, "open", READ | WRITE},
    {"Deno", false, "copyFile", READ | WRITE},
    {"Deno", false, "write", WRITE},
    {"Deno", false, "mkdir", WRITE},
    {"Deno", false, "make", WRITE},
    {"Deno", false, "remove", WRITE},
    {"Deno", false, "rename", WRITE},
    {"Deno", false, "truncate", WRITE},
    {"Deno", false, "create", WRITE},
    {"Deno", false, "chmod", WRITE},
    {"Deno", false, "chown", WRITE},
    {"Deno", false, "symlink", WRITE},
    {"Deno", false, "link", WRITE},
    {"Deno", false, "utime", WRITE},
    {"Deno", false, "connect", NETWORK},
    {"Deno", false, "listen", NETWORK},
    {"Deno", false, "serve", NETWORK},
    {"Deno", false, "resolveDns", NETWORK},
    {"Deno", false, "Command", PROCESS},
    {"Deno", false, "run", PROCESS},
    {"Deno", false, "kill", PROCESS},
    {"Deno", false, "exit", PROCESS},
    {"Deno", false, "dlopen", PROCESS},
    {"Bun", false, "env", ENVIRONMENT},
    {"Bun", false, "file", READ},
    {"Bun", false, "write", WRITE},
    {"Bun", false, "spawn", PROCESS},
    {"Bun", false, "$", PROCESS},
    {"Bun", false, "serve", NETWORK},
    {"Bun", false, "connect", NETWORK},
    {"Bun", false, "listen", NETWORK},
    {"Bun", false, "udpSocket", NETWORK},
    {"fs", true, "constants", 0},
    {"fs", true, "read", READ},
    {"fs", true, "stat", READ},
    {"fs", true, "lstat", READ},
    {"fs", true, "fstat", READ},
    {"fs", true, "access", READ},
    {"fs", true, "exists", READ},
    {"fs", true, "createReadStream", READ},
    {"fs", true, "opendir", READ},
    {"fs", true, "realpath", READ},
    {"fs", true, "watch", READ},
    {"fs", true, "glob", READ},
    {"fs", true, "open", READ | WRITE},
    {"fs", true, "copyFile", READ | WRITE},
    {"fs", true, "cp", READ | WRITE},
    {"fs", true, NULL, WRITE},
    {"child_process", true, NULL, PROCESS},
    {"cluster", true, NULL, PROCESS},
    {"worker_threads", true, NULL, PROCESS},
    {"net", true, NULL, NETWORK},
    {"dgram", true, NULL, NETWORK},
    {"tls", true, NULL, NETWORK},
    {"http", true, NULL, NETWORK},
    {"https", true, NULL, NETWORK},
    {"http2", true, NULL, NETWORK},
    {"dns", true, NULL, NETWORK},
    {"dns/promises", true, NULL, NETWORK},
    {"undici", true, NULL, NETWORK},
    {"axios", true, NULL, NETWORK},
    {"node-fetch", true, NULL, NETWORK},
    {"ws", true, NULL, NETWORK},
};

/* fs of node:fs, fs/promises and fs.promises; process of node:process. */
static struct cs_str plain_root(struct cs_str s, bool *module)
{
    if (!*module)
        return s;
    if (cs_str_starts(s, "node:"))
        s = cs_strn(s.at + 5, s.len - 5);
    if (cs_str_is(s, "fs/promises") || cs_str_is(s, "fs-extra"))
        s.len = 2;
    if (cs_str_is(s, "process"))
        *module = false;
    return s;
}

/* Everything that the root's rules give: it went somewhere as a whole. */
static unsigned all_of(struct cs_str root, bool module)
{
    unsigned mask = 0;
    for (size_t i = 0; i < CS_COUNT(rules); i++) {
        if (rules[i].module == module && cs_str_is(root, rules[i].root))
            mask |= rules[i].mask;
    }
    return mask;
}

uint32_t cs_permission_rules(struct cs_str root, bool module)
{
    root = plain_root(root, &module);
    for (uint32_t i = 0; i < CS_COUNT(rules) && root.len; i++) {
        if (rules[i].root[0] == root.at[0] && rules[i].module == module &&
            cs_str_is(root, rules[i].root))
            return i + 1;
    }
    return 0;
}

static unsigned asked(const struct cs_reach *r, const struct cs_path *path)
{
    if (!path->rules)
        return 0;
    const struct cs_name *names = r->p->names.at;
    const struct cs_path *root = path, *member = NULL;
    while (root->up) {
        struct cs_str name = names[root->atom].text;
        /* The first name behind the root that says something. */
        if (root->atom != K_default && !cs_str_is(name, "promises"))
            member = root;
        root = &r->paths.at[root->up];
    }
    bool module = root->module;
    struct cs_str name = plain_root(names[root->atom].text, &module);
    if (member ? member->atom == K_NONE : path->given)
        return all_of(name, module);
    for (size_t i = path->rules - 1; i < CS_COUNT(rules); i++) {
        const struct rule *rule = &rules[i];
        if (rule->module != module || !cs_str_is(name, rule->root))
            break;
        if (!rule->member && (member || path->called || (module && !cs_str_is(name, "fs"))))
            return rule->mask;
        if (rule->member && member && cs_str_starts(names[member->atom].text, rule->member))
            return rule->mask;
    }
    return 0;
}

void cs_permissions(struct cs_reach *r)
{
    unsigned seen = 0;
    for (uint32_t i = 1; i < r->paths.len; i++) {
        const struct cs_path *path = &r->paths.at[i];
        unsigned mask = asked(r, path) & ~seen;
        seen |= mask;
        for (size_t k = 0; mask && k < CS_COUNT(words); k++) {
            if (mask & words[k].mask)
                cs_fact_add(r->p, CS_FACT_PERMISSION, cs_str(words[k].name), "", CS_STR(""),
                            path->pos);
        }
    }
}
