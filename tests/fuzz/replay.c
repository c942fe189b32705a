/*
 * Runs a fuzz target over files instead of under a fuzzer: each file of the directories (not
 * deeper) and each file named as an argument is one input. 77 (skipped) if there is none.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return -1;
}

/* 1 if it was a file, 0 if it was something else. */
static int replay_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return fail(path);
    if (!S_ISREG(st.st_mode))
        return 0;
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(path);
    /* A block of exactly that size, so that the sanitizer sees one byte too many. */
    size_t size = (size_t)st.st_size;
    CS_AUTO_FREE uint8_t *data = malloc(size ? size : 1);
    size_t got = data ? fread(data, 1, size, f) : 0;
    fclose(f);
    if (got != size)
        return fail(path);
    /* A crash leaves this as the last line. */
    fprintf(stderr, "%s\r", path);
    LLVMFuzzerTestOneInput(data, size);
    return 1;
}

static int replay_directory(const char *path, DIR *d)
{
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        CS_AUTO_BUF struct cs_buf full = {0};
        cs_buf_printf(&full, "%s/%s", path, e->d_name);
        int n = replay_file(cs_buf_cstr(&full));
        if (n < 0)
            return -1;
        count += n;
    }
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        /* A target may have no corpus yet: its directory is then missing. */
        if (!d && errno == ENOENT)
            continue;
        int n = d ? replay_directory(argv[i], d) : replay_file(argv[i]);
        if (d)
            closedir(d);
        if (n < 0)
            return 1;
        count += n;
    }
    printf("%d inputs\n", count);
    return count ? 0 : 77;
}
