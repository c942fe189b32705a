/* Where our own files are: $CAISSON_DATA, or $XDG_DATA_HOME/caisson, or ~/.local/share/caisson. */
#ifndef CS_FRONT_DATA_H
#define CS_FRONT_DATA_H

#include <stddef.h>

#include "base/err.h"

/* The directory for workspaces, made if need be (mode 0700). */
int cs_data_scratch(char *path, size_t size, struct cs_err *err);

#endif
