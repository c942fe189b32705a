/* Addresses: URIs (RFC 3986) and IRIs (RFC 3987), hosts, and e-mail (RFC 5321). */
#include <stdint.h>

#include "schema/format.h"

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static bool is_hex(char c)
{
    return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static struct cs_str from(struct cs_str s, size_t at)
{
    return cs_strn(s.at + at, s.len - at);
}

static struct cs_str until(struct cs_str s, const char *stop)
{
    size_t n = 0;
    while (n < s.len && !one_of(s.at[n], stop))
        n++;
    return cs_strn(s.at, n);
}

bool cs_format_ipv4(struct cs_str s)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        size_t first = at;
        int v = 0;
        while (at < s.len && is_digit(s.at[at]) && at - first < 3)
            v = v * 10 + (s.at[at++] - '0');
        if (at == first || v > 255 || (at - first > 1 && s.at[first] == '0'))
            return false;
        if (part < 3 && (at >= s.len || s.at[at++] != '.'))
            return false;
    }
    return at == s.len;
}

bool cs_format_ipv6(struct cs_str s)
{
    int groups = 0;
    bool gap = false;
    size_t at = 0;
    if (cs_str_starts(s, "::")) {
        gap = true;
        at = 2;
    }
    while (at < s.len) {
        struct cs_str rest = from(s, at), group = until(rest, ":");
        if (group.len == rest.len && memchr(group.at, '.', group.len)) {
            groups += 2;
            at = s.len;
            if (!cs_format_ipv4(group))
                return false;
            break;
        }
        if (group.len < 1 || group.len > 4 || ++groups > 8)
            return false;
        for (size_t i = 0; i < group.len; i++)
            if (!is_hex(group.at[i]))
                return false;
        at += group.len;
        if (at == s.len)
            break;
        at++; /* the colon */
        if (at == s.len)
            return false;
        if (s.at[at] == ':') {
            if (gap)
                return false;
            gap = true;
            at++;
        }
    }
    return gap ? groups < 8 : groups == 8;
}

bool cs_format_hostname(struct cs_str s)
{
    if (s.len == 0 || s.len > 253)
        return false;
    for (size_t at = 0; at <= s.len;) {
        struct cs_str label = until(from(s, at), ".");
        if (label.len < 1 || label.len > 63 || label.at[0] == '-' || label.at[label.len - 1] == '-')
            return false;
        for (size_t i = 0; i < label.len; i++)
            if (!is_letter(label.at[i]) && !is_digit(label.at[i]) && label.at[i] != '-')
                return false;
        at += label.len + 1;
    }
    return true;
}

static bool fits_quoted(struct cs_str s)
{
    for (size_t i = 1; i + 1 < s.len; i++) {
        if ((unsigned char)s.at[i] < 0x20 || s.at[i] == '"')
            return false;
        if (s.at[i] == '\\' && ++i + 1 >= s.len)
            return false;
    }
    return s.len > 2 && s.at[s.len - 1] == '"';
}

static bool fits_local(struct cs_str s, bool international)
{
    if (s.len == 0 || s.at[0] == '.' || s.at[s.len - 1] == '.')
        return false;
    if (s.at[0] == '"')
        return fits_quoted(s);
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool plain = is_letter(c) || is_digit(c) || one_of(c, "!#$%&'*+-/=?^_`{|}~");
        if (c == '.' ? s.at[i - 1] == '.' : !plain && !(international && c & 0x80))
            return false;
    }
    return true;
}

static bool fits_email(struct cs_str s, bool international)
{
    size_t at = s.len;
    while (at > 0 && s.at[at - 1] != '@')
        at--;
    if (at < 2 || at == s.len || !fits_local(cs_strn(s.at, at - 1), international))
        return false;
    struct cs_str domain = from(s, at);
    if (domain.at[0] == '[' && domain.at[domain.len - 1] == ']') {
        domain = cs_strn(domain.at + 1, domain.len - 2);
        return cs_str_starts(domain, "IPv6:") ? cs_format_ipv6(from(domain, 5))
                                              : cs_format_ipv4(domain);
    }
    if (!international)
        return cs_format_hostname(domain);
    for (size_t i = 0; i < domain.len; i++)
        if (!(domain.at[i] & 0x80) && !is_letter(domain.at[i]) && !is_digit(domain.at[i]) &&
            !one_of(domain.at[i], "-."))
            return false;
    return true;
}

bool cs_format_email(struct cs_str s)
{
    return fits_email(s, false);
}

bool cs_format_idn_email(struct cs_str s)
{
    return fits_email(s, true);
}

/* Only characters that a URI may have there: unreserved, `more`, escapes; and with
 * `international`, everything beyond ASCII. */
static bool fits_chars(struct cs_str s, const char *more, bool international)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (is_letter(c) || is_digit(c) || one_of(c, "-._~!$&'()*+,;=") || one_of(c, more))
            continue;
        if (c == '%' && i + 2 < s.len && is_hex(s.at[i + 1]) && is_hex(s.at[i + 2]))
            i += 2;
        else if (!(international && c & 0x80))
            return false;
    }
    return true;
}

static bool fits_authority(struct cs_str s, bool international)
{
    const char *user = s.len ? memchr(s.at, '@', s.len) : NULL;
    if (user) {
        size_t n = (size_t)(user - s.at);
        if (!fits_chars(cs_strn(s.at, n), ":", international))
            return false;
        s = from(s, n + 1);
    }
    struct cs_str host;
    if (s.len && s.at[0] == '[') {
        host = until(s, "]");
        if (host.len == s.len)
            return false;
        struct cs_str inside = from(host, 1);
        bool future = inside.len && (inside.at[0] | 0x20) == 'v';
        if (future ? !fits_chars(inside, ":", false) : !cs_format_ipv6(inside))
            return false;
        host.len++;
    } else {
        host = until(s, ":");
        if (!fits_chars(host, "", international))
            return false;
    }
    struct cs_str port = from(s, host.len);
    if (port.len && port.at[0] != ':')
        return false;
    for (size_t i = 1; i < port.len; i++)
        if (!is_digit(port.at[i]))
            return false;
    return true;
}

static bool fits_scheme(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter(s.at[i]) && (i == 0 || (!is_digit(s.at[i]) && !one_of(s.at[i], "+-."))))
            return false;
    return s.len > 0;
}

static bool fits_uri(struct cs_str s, bool reference, bool international)
{
    struct cs_str scheme = until(s, ":/?#");
    bool whole = scheme.len < s.len && s.at[scheme.len] == ':';
    if (whole) {
        if (!fits_scheme(scheme))
            return false;
        s = from(s, scheme.len + 1);
    } else if (!reference) {
        return false;
    }
    if (cs_str_starts(s, "//")) {
        struct cs_str authority = until(from(s, 2), "/?#");
        if (!fits_authority(authority, international))
            return false;
        s = from(s, 2 + authority.len);
    }
    struct cs_str path = until(s, "?#");
    if (!fits_chars(path, ":@/", international))
        return false;
    s = from(s, path.len);
    if (s.len && s.at[0] == '?') {
        struct cs_str query = until(from(s, 1), "#");
        if (!fits_chars(query, ":@/?", international))
            return false;
        s = from(s, 1 + query.len);
    }
    return s.len == 0 || fits_chars(from(s, 1), ":@/?", international);
}

bool cs_format_uri(struct cs_str s)
{
    return fits_uri(s, false, false);
}

bool cs_format_uri_reference(struct cs_str s)
{
    return fits_uri(s, true, false);
}

bool cs_format_iri(struct cs_str s)
{
    return fits_uri(s, false, true);
}

bool cs_format_iri_reference(struct cs_str s)
{
    return fits_uri(s, true, true);
}

/* Expressions in braces that close, with names in them. */
bool cs_format_uri_template(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '{') {
            struct cs_str inside = until(from(s, i + 1), "{}");
            if (inside.len == 0 || i + 1 + inside.len == s.len || inside.at[inside.len] != '}')
                return false;
            if (!fits_chars(inside, ":?#/@|&", false))
                return false;
            i += inside.len + 1;
        } else if ((unsigned char)c <= ' ' || one_of(c, "}\"'<>\\^`|")) {
            return false;
        }
    }
    return true;
}
