/* Where our own files are: $CAISSON_DATA, or $XDG_DATA_HOME/caisson, or ~/.local/share/caisson. */
#ifndef CS_FRONT_DATA_H
#define CS_FRONT_DATA_H

#include <stddef.h>

#include "base/err.h"

/* The directory itself, made if need be (mode 0700). */
int cs_data_dir(char *path, size_t size, struct cs_err *err);

/* The directory for workspaces, made if need be (mode 0700). */
int cs_data_scratch(char *path, size_t size, struct cs_err *err);

/*
 * The file that names the servers; it need not exist. `given` (what --config says) or NULL:
 * $CAISSON_CONFIG, or ./caisson.json if there is one, or $XDG_CONFIG_HOME/caisson/caisson.json, or
 * ~/.config/caisson/caisson.json. CS_DENIED: the ./caisson.json is another user's, or anyone can
 * write to it: it names programs to start, so it is used only if somebody says so.
 */
int cs_data_config(const char *given, char *path, size_t size, struct cs_err *err);

#endif
