/*
 * Private keys: PEM, with its lines broken in all the ways in which people write them down, and the
 * base64 of a PEM, or of the bytes of a key.
 *
 * A search ends at the next five dashes, so that many beginnings without an end cost no more than
 * one look at each byte.
 */
#include "privacy/secret.h"

#include <openssl/evp.h>

#define PEM_MAX  16384
#define BODY_MIN 64 /* bytes of base64 */

static size_t dashes(const struct cs_view *view, size_t at, size_t end)
{
    if (end > view->len)
        end = view->len;
    if (at >= end)
        return end;
    const char *found = memmem(view->at + at, end - at, "-----", 5);
    return found ? (size_t)(found - view->at) : end;
}

/* "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"; where the dashes after it end. 0: no private key. */
static size_t label_end(const struct cs_view *view, size_t at)
{
    size_t end = at;
    while (end < view->len && end - at < 48 &&
           ((view->at[end] >= 'A' && view->at[end] <= 'Z') || cs_is_digit(view->at[end]) ||
            view->at[end] == ' '))
        end++;
    if (end + 5 > view->len || memcmp(view->at + end, "-----", 5) != 0 ||
        !memmem(view->at + at, end - at, "PRIVATE KEY", 11))
        return 0;
    return end + 5;
}

/* What stands between the lines of a key, in files, strings and programs. */
static bool is_between(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\\' || c == '"' || c == '\'' ||
           c == ',' || c == ';' || c == '>' || c == '|' || c == '.' || c == '#' || c == '*' ||
           c == '`' || c == '&' || c == '$';
}

/* Counts the base64 from `at` on; `stop` is where something else begins. */
static size_t body(const struct cs_view *view, size_t at, size_t end, size_t *stop)
{
    size_t count = 0, last = at;
    while (at < end) {
        char c = view->at[at];
        if (cs_is_class(c, CS_C_BASE64)) {
            /* The n of a \n that nobody has undone is none of it. */
            bool escape = at && view->at[at - 1] == '\\' && (c == 'n' || c == 'r' || c == 't');
            count += !escape && c != '=' && c != '+' ? 1 : 0;
            last = at + 1;
        } else if (c == ':' || c == '-' || c == '(' || c == ')' || c == '@' || c == '<' ||
                   c == '_') {
            /* Lines like "Proc-Type: 4,ENCRYPTED" stand before the body. */
            if (count > 200)
                break;
        } else if (!is_between(c)) {
            break;
        }
        at++;
    }
    *stop = last;
    return count;
}

size_t cs_find_pem(struct cs_view *view, size_t at)
{
    static const char begin[] = "-----BEGIN ", finish[] = "-----END ";
    const size_t n = sizeof begin - 1, m = sizeof finish - 1;
    if (view->len - at < n || memcmp(view->at + at, begin, n) != 0)
        return at + 1;
    size_t from = label_end(view, at + n);
    if (from == 0)
        return at + n;
    size_t most = at + PEM_MAX < view->len ? at + PEM_MAX : view->len;
    size_t end = dashes(view, from, most);
    size_t stop = from;
    size_t count = body(view, from, end, &stop);
    bool closed = end + m <= view->len && memcmp(view->at + end, finish, m) == 0;
    size_t over = closed ? label_end(view, end + m) : 0;
    if (over && over - at <= PEM_MAX) {
        if (count < BODY_MIN || memmem(view->at + from, end - from, "...", 3))
            return over;
        cs_hit(view, CS_PII_PRIVATE_KEY, at, over);
        return over;
    }
    /* Cut off: what is there of it is secret all the same. */
    if (count >= 2 * BODY_MIN) {
        cs_hit(view, CS_PII_PRIVATE_KEY, at, stop);
        return stop;
    }
    return from;
}

/* Decodes up to 63 bytes of what stands there. */
static size_t decoded(const struct cs_view *view, size_t at, size_t end, unsigned char out[64])
{
    size_t n = (end - at < 84 ? end - at : 84) / 4 * 4;
    unsigned char plain[96];
    int got = n ? EVP_DecodeBlock(plain, (const unsigned char *)view->at + at, (int)n) : 0;
    size_t size = got > 0 ? (size_t)got : 0;
    if (size > 63)
        size = 63;
    memcpy(out, plain, size);
    return size;
}

size_t cs_find_pem64(struct cs_view *view, size_t at, size_t after)
{
    size_t end = cs_class_end(view, after, at + PEM_MAX, CS_C_BASE64);
    unsigned char plain[64];
    size_t n = decoded(view, at, end, plain);
    if (end - at < 100 || !memmem(plain, n, "PRIVATE KEY", 11))
        return end;
    cs_hit(view, CS_PII_PRIVATE_KEY, at, end);
    return end;
}

/* PKCS#1, PKCS#8 and SEC1 keys without their armour: a sequence that begins with a small version,
 * where certificates and public keys have a sequence. */
size_t cs_find_der(struct cs_view *view, size_t at, size_t after)
{
    size_t end = cs_class_end(view, after, at + PEM_MAX, CS_C_BASE64);
    if (end - at < 60 || cs_is_class(cs_view_at(view, at ? at - 1 : view->len), CS_C_BASE64))
        return end;
    unsigned char plain[64];
    size_t n = decoded(view, at, end, plain);
    if (n < 24 || plain[0] != 0x30)
        return 0;
    size_t i = plain[1] < 0x80 ? 2 : plain[1] == 0x81 ? 3 : plain[1] == 0x82 ? 4 : 0;
    if (i == 0 || plain[i] != 2 || plain[i + 1] != 1 || plain[i + 2] > 1)
        return end;
    /* Then a large number, an octet string, or a sequence with the algorithm. */
    unsigned char next = plain[i + 3];
    if (next != 2 && next != 4 && next != 0x30)
        return end;
    /* Lines of 64 belong together. */
    while (cs_view_at(view, end) == '\n' || cs_view_at(view, end) == '\r') {
        size_t line = cs_class_end(view, end + 1, at + PEM_MAX, CS_C_BASE64);
        if (line - end < 20 && cs_view_at(view, end) == '\n')
            break;
        end = line;
    }
    cs_hit(view, CS_PII_PRIVATE_KEY, at, end);
    return end;
}

/* PuTTY writes its keys down as lines of base64, and how many there are. */
size_t cs_find_putty(struct cs_view *view, size_t at, size_t after)
{
    size_t end = after, most = at + PEM_MAX < view->len ? at + PEM_MAX : view->len;
    while (end < most && (view->at[end] == ' ' || cs_is_digit(view->at[end])))
        end++;
    size_t start = end;
    while (start < most && (view->at[start] == '\n' || view->at[start] == '\r'))
        start++;
    end = start;
    for (size_t line = start; line < most;) {
        size_t stop = cs_class_end(view, line, most, CS_C_BASE64);
        if (stop - line < 4)
            break;
        end = stop;
        while (stop < most && (view->at[stop] == '\n' || view->at[stop] == '\r'))
            stop++;
        if (stop == end ||
            (stop < most && most - stop > 11 && memcmp(view->at + stop, "Private-MAC", 11) == 0))
            break;
        line = stop;
    }
    if (end - start < BODY_MIN)
        return 0;
    cs_hit(view, CS_PII_PRIVATE_KEY, start, end);
    return end;
}
