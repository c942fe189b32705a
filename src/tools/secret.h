/*
 * Random text and hashes as OAuth and HTTP headers want them. Over libcrypto.
 */
#ifndef CS_TOOLS_SECRET_H
#define CS_TOOLS_SECRET_H

#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* 43 characters of base64url: 256 random bits. CS_SYSTEM if the system gives none. */
int cs_random_text(struct cs_buf *out, struct cs_err *err);

/* The S256 challenge of PKCE for a verifier. */
void cs_pkce_challenge(struct cs_str verifier, struct cs_buf *out);

/* Equal? In a time that does not tell where they differ. */
bool cs_secret_eq(struct cs_str a, struct cs_str b);

/* Wipes and frees. */
void cs_secret_free(char *z);

#endif
