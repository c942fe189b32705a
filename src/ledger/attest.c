/*
 * What is known about an execution, for tools that know nothing of us: an in-toto statement (v1)
 * about its outputs, in a DSSE envelope (v1.0.2) that is signed with the key of the ledger.
 */
#include <openssl/evp.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger/inside.h"

#define STATEMENT "https://in-toto.io/Statement/v1"
#define PREDICATE "urn:caisson:execution-provenance:1"
#define PAYLOAD   "application/vnd.in-toto+json"

static void put_base64(struct cs_json_writer *w, struct cs_str bytes)
{
    CS_AUTO_FREE char *text = cs_calloc(bytes.len / 3 + 2, 4);
    int n = EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)bytes.at, (int)bytes.len);
    cs_json_put_str(w, cs_strn(text, (size_t)n));
}

/* Hashes stand as "sha256:..." or as the digits alone. */
static bool is_digest(struct cs_str *hash)
{
    unsigned char bytes[32];
    if (cs_str_starts(*hash, "sha256:"))
        *hash = cs_strn(hash->at + 7, hash->len - 7);
    return cs_hex_read(*hash, bytes, sizeof bytes);
}

static int put_statement(struct cs_json_val provenance, struct cs_buf *out, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&text);
    struct cs_str id = cs_json_str(cs_json_get(provenance, "execution_id"), &arena),
                  digest = cs_json_str(cs_json_get(provenance, "outputs_hash"), &arena);
    if (!id.len || !is_digest(&digest))
        return cs_fail(err, CS_INVALID, "the provenance has no execution_id or no outputs_hash");
    cs_json_open(&w, '{');
    cs_json_key(&w, "_type");
    cs_json_put_z(&w, STATEMENT);
    cs_json_key(&w, "predicate");
    cs_json_put_raw(&w, cs_json_raw(provenance));
    cs_json_key(&w, "predicateType");
    cs_json_put_z(&w, PREDICATE);
    cs_json_key(&w, "subject");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "digest");
    cs_json_open(&w, '{');
    cs_json_key(&w, "sha256");
    cs_json_put_str(&w, digest);
    cs_json_close(&w, '}');
    cs_json_key(&w, "name");
    cs_json_put_z(&w, cs_arena_printf(&arena, "%.*s/outputs", CS_STR_ARG(id)));
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    return cs_canon(cs_buf_str(&text), out, err);
}

int cs_ledger_attest(const struct cs_ledger *ledger, struct cs_str provenance, struct cs_buf *dsse,
                     struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf statement = {0}, message = {0};
    unsigned char key[32], signature[64];
    char keyid[CS_FINGERPRINT];
    if (cs_json_parse(provenance, NULL, &doc, err) < 0 ||
        put_statement(cs_json_root(&doc), &statement, err) < 0)
        return cs_wrap(err, "attestation");
    cs_buf_printf(&message, "DSSEv1 %zu %s %zu ", strlen(PAYLOAD), PAYLOAD, statement.len);
    cs_buf_putstr(&message, cs_buf_str(&statement));
    if (cs_ledger_sign(ledger, cs_buf_str(&message), signature, err) < 0)
        return -1;
    cs_ledger_public(ledger, key);
    cs_ledger_fingerprint(key, keyid);
    struct cs_json_writer w = CS_JSON_WRITER(dsse);
    cs_json_open(&w, '{');
    cs_json_key(&w, "payload");
    put_base64(&w, cs_buf_str(&statement));
    cs_json_key(&w, "payloadType");
    cs_json_put_z(&w, PAYLOAD);
    cs_json_key(&w, "signatures");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "keyid");
    cs_json_put_z(&w, keyid);
    cs_json_key(&w, "sig");
    put_base64(&w, cs_strn((const char *)signature, sizeof signature));
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    return 0;
}
