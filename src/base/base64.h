/* Bytes as base64 text, and back. Over libcrypto; not for the worker. */
#ifndef CS_BASE_BASE64_H
#define CS_BASE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

void cs_base64(struct cs_str bytes, struct cs_buf *out);
void cs_base64url(struct cs_str bytes, struct cs_buf *out); /* without padding */
/* -1: it is not base64, with its padding and nothing else; nothing was appended. */
int cs_base64_read(struct cs_str text, struct cs_buf *out);

#endif
