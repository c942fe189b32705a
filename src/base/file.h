/*
 * Whole files: read with a bound, replaced atomically. For configuration and our own data; the
 * files of a jailed program are sandbox/roots.h's business.
 *
 * Runs in: daemon and command line. Blocks on the file system.
 */
#ifndef CS_BASE_FILE_H
#define CS_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the file's content. CS_MISSING: there is none; CS_LIMIT: it is larger than `max`. */
int cs_file_read(const char *path, size_t max, struct cs_buf *out, struct cs_err *err);
/* The same of a file that is one: a pipe or a device is not waited for. */
int cs_file_read_regular(const char *path, size_t max, struct cs_buf *out, struct cs_err *err);
int cs_file_read_fd(int fd, size_t max, struct cs_buf *out, struct cs_err *err);

int cs_file_write_fd(int fd, struct cs_str content); /* all of it; -1 with errno */

/* A new file takes the place of the old one in one step: readers see either. It is on the disk when
 * this returns. */
int cs_file_replace(const char *path, struct cs_str content, mode_t mode, struct cs_err *err);
/* The same, but it is on the disk when the system gets around to it: after a loss of power it may
 * be there with less in it. */
int cs_file_replace_soon(const char *path, struct cs_str content, mode_t mode, struct cs_err *err);

/* A file for nobody else's eyes. CS_SYSTEM: it is no file, or others can read it, which allows them
 * `what` ("sign with it"). The memory of `out` is made at once: the caller wipes it. */
int cs_file_read_private(const char *path, size_t max, const char *what, struct cs_buf *out,
                         struct cs_err *err);
/* A new one, unless it is there: of several who make it at once, one wins, and nobody reads half of
 * it. It is on the disk when this returns. */
int cs_file_make_private(const char *path, struct cs_str content, struct cs_err *err);

/*
 * Opens what is beneath the directory `root`, where somebody hostile may have made and may be
 * making changes: no link, "..", or mount leads out, and nothing blocks. The caller looks what it
 * got: it may be a pipe or a device. -1 with errno. `flags` as for open; a file is made with mode
 * 0600.
 */
int cs_open_beneath(int root, const char *path, int flags);

/* The directory and its parents, those that are missing. */
int cs_dir_make(const char *path, mode_t mode, struct cs_err *err);

/* The directory and everything in it; follows no link. No error if it is not there. */
void cs_dir_remove(int at, const char *name);

#endif
