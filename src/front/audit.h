/* Inside of front/: what the verbs of `caisson audit` share. */
#ifndef CS_FRONT_AUDIT_H
#define CS_FRONT_AUDIT_H

#include "front/data.h"
#include "front/verbs.h"

/* Of this data directory. */
int cs_audit_database(char path[CS_DATA_PATH], struct cs_err *err);
int cs_audit_failed(const struct cs_verb *verb, const struct cs_err *err);

#endif
