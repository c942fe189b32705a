#include "base/base64.h"

#include <limits.h>
#include <openssl/evp.h>

void cs_base64(struct cs_str bytes, struct cs_buf *out)
{
    if (bytes.len == 0)
        return;
    /* EVP_EncodeBlock writes a NUL as well. */
    char *to = cs_buf_room(out, (bytes.len + 2) / 3 * 4 + 1);
    int n = EVP_EncodeBlock((unsigned char *)to, (const unsigned char *)bytes.at, (int)bytes.len);
    cs_buf_added(out, (size_t)n);
}

int cs_base64_read(struct cs_str text, struct cs_buf *out)
{
    size_t padding = 0;
    if (text.len % 4 || text.len > INT_MAX)
        return -1;
    if (!text.len)
        return 0;
    while (padding < 2 && text.at[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < text.len - padding; i++) {
        char c = text.at[i];
        if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '+' ||
              c == '/'))
            return -1;
    }
    char *to = cs_buf_room(out, text.len / 4 * 3);
    int n = EVP_DecodeBlock((unsigned char *)to, (const unsigned char *)text.at, (int)text.len);
    if (n < 0)
        return -1;
    cs_buf_added(out, (size_t)n - padding);
    return 0;
}

void cs_base64url(struct cs_str bytes, struct cs_buf *out)
{
    size_t start = out->len;
    cs_base64(bytes, out);
    while (out->len > start && out->at[out->len - 1] == '=')
        out->len--;
    for (size_t i = start; i < out->len; i++)
        out->at[i] = out->at[i] == '+' ? '-' : out->at[i] == '/' ? '_' : out->at[i];
}
