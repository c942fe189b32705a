/*
 * Where our own files are.
 *
 *   data           $CAISSON_DATA, or $XDG_DATA_HOME/caisson, or ~/.local/share/caisson
 *   configuration  --config, or $CAISSON_CONFIG, or ./caisson.json if it is there, or
 *                  $XDG_CONFIG_HOME/caisson/caisson.json, or ~/.config/caisson/caisson.json
 *   policy         --policy, or $CAISSON_POLICY, or policy.json beside the configuration, if it is
 * there
 */
#ifndef CS_FRONT_DATA_H
#define CS_FRONT_DATA_H

#include <stddef.h>

#include "base/err.h"

#define CS_DATA_PATH 4096

/* The data directory, and the one for workspaces in it: made if need be (mode 0700). */
int cs_data_dir(char path[CS_DATA_PATH], struct cs_err *err);
int cs_data_scratch(char path[CS_DATA_PATH], struct cs_err *err);

/* `given`: what the command line says, or NULL. The file need not exist. CS_DENIED: the
 * ./caisson.json is another user's, or anyone can write to it: it is used only if somebody names
 * it. */
int cs_data_config(const char *given, char path[CS_DATA_PATH], struct cs_err *err);

/* The same; empty if there is none. */
int cs_data_policy(const char *given, const char *config, char path[CS_DATA_PATH],
                   struct cs_err *err);

#endif
