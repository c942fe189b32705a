/* The catalogue as a directory of TypeScript files. What is there already is not made again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "tools/catalogue.h"
#include "tools/declare.h"

/* Others may be reading: guests run under another user id. */
#define DIR_MODE  0755
#define FILE_MODE 0444

void cs_hash_hex(const struct cs_str *parts, size_t count, char hex[CS_HASH_HEX + 1])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
        abort(); /* no memory */
    for (size_t i = 0; i < count; i++) {
        uint64_t len = parts[i].len;
        EVP_DigestUpdate(ctx, &len, sizeof len);
        EVP_DigestUpdate(ctx, parts[i].at, parts[i].len);
    }
    EVP_DigestFinal_ex(ctx, digest, NULL);
    EVP_MD_CTX_free(ctx);
    for (size_t i = 0; i < CS_HASH_HEX / 2; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static int put_file(int dir, const char *name, struct cs_str content, struct cs_err *err)
{
    CS_AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return cs_fail_errno(err, "%s", name);
    while (content.len) {
        ssize_t n = write(fd, content.at, content.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cs_fail_errno(err, "%s", name);
        content.at += n;
        content.len -= (size_t)n;
    }
    /* The mode is what we say, whatever the umask is. */
    if (fchmod(fd, FILE_MODE) < 0)
        return cs_fail_errno(err, "%s", name);
    return 0;
}

static int make_dir(int at, const char *name, int *dir, struct cs_err *err)
{
    if (mkdirat(at, name, DIR_MODE) < 0)
        return cs_fail_errno(err, "%s", name);
    CS_AUTO_FD int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchmod(fd, DIR_MODE) < 0)
        return cs_fail_errno(err, "%s", name);
    *dir = CS_TAKE_FD(fd);
    return 0;
}

/* --- one server's files --- */

static const char *category_of(const struct cs_tool *t)
{
    return t->read_only ? "read" : t->destructive ? "destructive" : "write";
}

static const char *risk_of(const struct cs_tool *t)
{
    return t->risk == CS_TOOL_LOW ? "low" : t->risk == CS_TOOL_MEDIUM ? "medium" : "high";
}

static struct cs_declaration declaration_of(const struct cs_tool *t)
{
    return (struct cs_declaration){
        .server = t->server,
        .name = t->name,
        .ident = t->ident,
        .title = t->title,
        .description = t->description,
        .input = t->input,
        .output = t->output.len ? t->output : t->learned_output,
        .learned = t->learned,
        .category = category_of(t),
        .risk = risk_of(t),
    };
}

int cs_tool_declare(const struct cs_tool *tool, struct cs_buf *out, struct cs_err *err)
{
    struct cs_declaration declaration = declaration_of(tool);
    return cs_declare_tool(&declaration, out, err);
}

static int write_server(int dir, const struct cs_offer *offer, struct cs_err *err)
{
    size_t count = cs_offer_count(offer), written = 0;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_declaration *tools = cs_arena_alloc(&arena, sizeof *tools * (count + 1));
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t i = 0; i < count; i++) {
        struct cs_err bad = {0};
        char name[CS_IDENT_MAX + 4];
        tools[written] = declaration_of(cs_offer_at(offer, i));
        snprintf(name, sizeof name, "%.*s.ts", CS_STR_ARG(tools[written].ident));
        cs_buf_clear(&text);
        /* One bad schema costs one file; the tool can still be called by name. */
        if (cs_declare_tool(&tools[written], &text, &bad) < 0)
            continue;
        if (put_file(dir, name, cs_buf_str(&text), err) < 0)
            return -1;
        written++;
    }
    cs_buf_clear(&text);
    cs_declare_index(cs_offer_server(offer), cs_offer_instructions(offer), tools, written, &text);
    return put_file(dir, "index.ts", cs_buf_str(&text), err);
}

/* A name for what is still being made; unique among processes and within one. */
static void temporary_name(char name[64])
{
    static unsigned number;
    snprintf(name, 64, ".new-%ld-%u", (long)getpid(), number++);
}

/* Somebody else was faster: theirs is as good. */
static int settle(int at, const char *made, const char *name, struct cs_err *err)
{
    if (renameat(at, made, at, name) == 0)
        return 0;
    int reason = errno;
    cs_dir_remove(at, made);
    errno = reason;
    if (reason == EEXIST || reason == ENOTEMPTY)
        return 0;
    return cs_fail_errno(err, "%s", name);
}

static int make_server(int servers, const struct cs_offer *offer, const char *name,
                       struct cs_err *err)
{
    char made[64];
    temporary_name(made);
    CS_AUTO_FD int dir = -1;
    if (make_dir(servers, made, &dir, err) < 0)
        return -1;
    if (write_server(dir, offer, err) < 0) {
        cs_dir_remove(servers, made);
        return -1;
    }
    return settle(servers, made, name, err);
}

/* An open and locked directory that is still the one of that name; -1 and errno otherwise. */
static int lock_dir(int at, const char *name)
{
    CS_AUTO_FD int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat mine, now;
    if (dir < 0 || flock(dir, LOCK_SH) < 0 || fstat(dir, &mine) < 0 ||
        fstatat(at, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (mine.st_ino != now.st_ino) {
        errno = ENOENT;
        return -1;
    }
    return CS_TAKE_FD(dir);
}

/* Another process may remove what we are about to lock; then it is made once more. */
#define TRIES 10

/* Locked until its files are linked. */
static int need_server(int servers, const struct cs_offer *offer, const char *name, int *dir,
                       struct cs_err *err)
{
    CS_AUTO_FD int fd = -1;
    for (unsigned tries = 0; tries < TRIES && (fd = lock_dir(servers, name)) < 0; tries++)
        if (make_server(servers, offer, name, err) < 0)
            return -1;
    if (fd < 0)
        return cs_fail_errno(err, "%s", name);
    *dir = CS_TAKE_FD(fd);
    return 0;
}

static DIR *list_dir(int at)
{
    int copy = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0)
        close(copy);
    return list;
}

/* --- the whole --- */

static int link_files(int from, int into, struct cs_err *err)
{
    DIR *list = list_dir(from);
    if (!list)
        return cs_fail_errno(err, "the files of a server");
    int result = 0;
    for (struct dirent *e; result == 0 && (e = readdir(list));)
        if (e->d_name[0] != '.' && linkat(from, e->d_name, into, e->d_name, 0) < 0)
            result = cs_fail_errno(err, "%s", e->d_name);
    closedir(list);
    return result;
}

static void server_dir(const struct cs_offer *offer, char name[128])
{
    snprintf(name, 128, "%.*s@%s", CS_STR_ARG(cs_offer_server(offer)), cs_offer_hash(offer));
}

static int write_root(int dir, struct cs_offer *const *offers, size_t count, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_declare_server *servers = cs_arena_alloc(&arena, sizeof *servers * (count + 1));
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        CS_AUTO_BUF struct cs_buf about = {0};
        if (!cs_offer_listed(offers[i]))
            continue;
        cs_declare_summary(cs_offer_instructions(offers[i]), 120, &about);
        servers[listed++] = (struct cs_declare_server){
            .name = cs_offer_server(offers[i]),
            .ident = cs_offer_ident(offers[i]),
            .about = cs_arena_dup(&arena, cs_buf_str(&about)),
            .tools = cs_offer_count(offers[i]),
        };
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_declare_readme(servers, listed, &text);
    if (put_file(dir, "README.md", cs_buf_str(&text), err) < 0)
        return -1;
    cs_buf_clear(&text);
    cs_declare_globals(servers, listed, &text);
    return put_file(dir, "caisson.d.ts", cs_buf_str(&text), err);
}

static int write_tree(int servers, int dir, struct cs_offer *const *offers, size_t count,
                      struct cs_err *err)
{
    for (size_t i = 0; i < count; i++) {
        char made[128], name[128];
        /* What nobody knows yet is not there, so that an import of it asks the server. */
        if (!cs_offer_listed(offers[i]))
            continue;
        server_dir(offers[i], made);
        snprintf(name, sizeof name, "%.*s", CS_STR_ARG(cs_offer_server(offers[i])));
        CS_AUTO_FD int from = -1, into = -1;
        if (need_server(servers, offers[i], made, &from, err) < 0 ||
            make_dir(dir, name, &into, err) < 0 || link_files(from, into, err) < 0)
            return cs_wrap(err, "%s", made);
    }
    return write_root(dir, offers, count, err);
}

#define FORGOTTEN_S 600 /* so long nobody takes to make or link a directory */

static bool forgotten(int at, const char *name)
{
    struct stat st;
    return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - st.st_ctime > FORGOTTEN_S;
}

enum standing { STRANGER, CURRENT, OUTDATED };

static enum standing standing_of(const char *name, struct cs_offer *const *offers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char mine[128];
        server_dir(offers[i], mine);
        if (strcmp(mine, name) == 0)
            return CURRENT;
        size_t len = strlen(mine);
        if (strlen(name) == len && strncmp(mine, name, len - CS_HASH_HEX) == 0)
            return OUTDATED;
    }
    return STRANGER;
}

/* A tree has links of its own to the files, so these are needed only while one is being made. */
static void sweep_servers(int servers, struct cs_offer *const *offers, size_t count)
{
    DIR *list = list_dir(servers);
    for (struct dirent *e; list && (e = readdir(list));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        enum standing standing = standing_of(e->d_name, offers, count);
        if (standing == CURRENT || (standing == STRANGER && !forgotten(servers, e->d_name)))
            continue;
        CS_AUTO_FD int dir = openat(servers, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
            cs_dir_remove(servers, e->d_name);
    }
    if (list)
        closedir(list);
}

/* What nobody uses any more: trees that nobody has locked, and what a process left that died while
 * it made one. */
static void sweep_trees(int tree, const char *keep)
{
    DIR *list = list_dir(tree);
    for (struct dirent *e; list && (e = readdir(list));) {
        bool is_tree = strlen(e->d_name) == CS_HASH_HEX && strcmp(e->d_name, keep) != 0;
        bool is_rest = strncmp(e->d_name, ".new-", 5) == 0 && forgotten(tree, e->d_name);
        if (!is_tree && !is_rest)
            continue;
        CS_AUTO_FD int dir = openat(tree, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
            cs_dir_remove(tree, e->d_name);
    }
    if (list)
        closedir(list);
}

static void point_at(const char *data_dir, const char *hash)
{
    char link[4096], target[64], now[64], temporary[4200], name[64];
    temporary_name(name);
    snprintf(link, sizeof link, "%s/mcp-servers", data_dir);
    snprintf(temporary, sizeof temporary, "%s/%s", data_dir, name);
    snprintf(target, sizeof target, "tree/%s", hash);
    ssize_t n = readlink(link, now, sizeof now);
    if (n > 0 && cs_str_is(cs_strn(now, (size_t)n), target))
        return;
    if (symlink(target, temporary) < 0 || rename(temporary, link) < 0)
        unlink(temporary); /* for people only: programs are given the directory itself */
}

static int make_tree(int tree, int servers, const char *hash, struct cs_offer *const *offers,
                     size_t count, struct cs_err *err)
{
    char made[64];
    temporary_name(made);
    CS_AUTO_FD int dir = -1;
    if (make_dir(tree, made, &dir, err) < 0)
        return -1;
    if (write_tree(servers, dir, offers, count, err) < 0) {
        cs_dir_remove(tree, made);
        return -1;
    }
    return settle(tree, made, hash, err);
}

int cs_tree_open(const char *data_dir, struct cs_offer *const *offers, size_t count,
                 struct cs_tree *tree, struct cs_err *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tree/servers", data_dir);
    if (cs_dir_make(path, 0700, err) < 0)
        return -1;
    CS_AUTO_FD int servers = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    path[strlen(path) - strlen("/servers")] = '\0';
    CS_AUTO_FD int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (servers < 0 || top < 0)
        return cs_fail_errno(err, "%s", path);

    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str *parts = cs_arena_alloc(&arena, sizeof *parts * (count + 1));
    for (size_t i = 0; i < count; i++)
        parts[i] = cs_str(cs_offer_hash(offers[i]));
    char hash[CS_HASH_HEX + 1];
    cs_hash_hex(parts, count, hash);

    CS_AUTO_FD int dir = -1;
    bool made = false;
    for (unsigned tries = 0; tries < TRIES && (dir = lock_dir(top, hash)) < 0; tries++) {
        if (make_tree(top, servers, hash, offers, count, err) < 0)
            return cs_wrap(err, "%s", path);
        made = true;
    }
    if (dir < 0)
        return cs_fail_errno(err, "%s/%s", path, hash);
    point_at(data_dir, hash);
    if (made) {
        sweep_trees(top, hash);
        sweep_servers(servers, offers, count);
    }
    snprintf(tree->path, sizeof tree->path, "%s/%s", path, hash);
    tree->dir = CS_TAKE_FD(dir);
    return 0;
}

void cs_tree_close(struct cs_tree *tree)
{
    cs_closep(&tree->dir);
}
