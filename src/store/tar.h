/*
 * Inside of store/: one file with many in it, as tar writes them (ustar), compressed if its name
 * ends in .zst. It appears under its name when it is whole and on the disk, and not before.
 *
 * Runs in: libuv's pool. Blocks.
 * Order:   open -> dir, file ... -> finish; done in any case, which removes what is not finished.
 */
#ifndef CS_STORE_TAR_H
#define CS_STORE_TAR_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct cs_tar;

/* CS_CONFLICT: there is a file of that name. */
int cs_tar_open(const char *path, struct cs_tar **tar, struct cs_err *err);
/* `name`: at most 99 bytes. */
int cs_tar_dir(struct cs_tar *tar, const char *name, struct cs_err *err);
/* From where `fd` stands; `size` bytes, and it is an error if there are fewer. `moved` grows with
 * what was written. */
int cs_tar_file(struct cs_tar *tar, const char *name, int fd, uint64_t size,
                _Atomic uint64_t *moved, struct cs_err *err);
int cs_tar_finish(struct cs_tar *tar, struct cs_err *err);
void cs_tar_free(struct cs_tar *tar);

/* For something beside it: a new file in the same directory, which the caller removes. */
int cs_tar_beside(struct cs_tar *tar, struct cs_buf *path, struct cs_err *err);

#endif
