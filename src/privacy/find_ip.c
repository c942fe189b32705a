/* Addresses of machines, of both kinds. */
#include <arpa/inet.h>
#include <string.h>

#include "privacy/personal.h"

#define CUE_BACK    24
#define IP6_LONGEST 45

/* One of the four numbers: 0 to 255, without zeroes before it. */
static size_t octet(const struct cs_view *view, size_t at, unsigned *value)
{
    size_t i = at;
    *value = 0;
    while (i < view->len && i - at < 4 && cs_is_digit(view->at[i]))
        *value = *value * 10 + (unsigned)(view->at[i++] - '0');
    if (i == at || *value > 255 || i - at > 3 || (i - at > 1 && view->at[at] == '0'))
        return 0;
    return i;
}

/* Things that are written the same: "Chrome/100.0.12.110", "lib-1.2.3.4", "==1.2.3.4". */
static bool is_version(const struct cs_view *view, size_t at, size_t end, const unsigned octets[4])
{
    char before = at > 0 ? view->at[at - 1] : '\0';
    char second = at > 1 ? view->at[at - 2] : '\0';
    if (before == '/' && cs_is_alnum(second))
        return true;
    if ((before == '-' || before == '+') && cs_is_letter(second))
        return true;
    if (before == '^' || before == '~' || before == '#')
        return true;
    if (before == '=' && (second == '=' || second == '>' || second == '<' || second == '~'))
        return true;
    bool small = octets[0] < 32 && octets[1] < 32 && octets[2] < 32 && octets[3] < 32;
    if (small && (at == 0 || before == '\n') && cs_view_at(view, end) == ' ' &&
        cs_is_upper(cs_view_at(view, end + 1))) /* a heading's number */
        return true;
    unsigned says = cs_cues_before(view, at, CUE_BACK, CS_CUE_VERSION | CS_CUE_HOST);
    return (says & CS_CUE_VERSION) != 0 && !(says & CS_CUE_HOST);
}

size_t cs_ip4_end(const struct cs_view *view, size_t at)
{
    unsigned octets[4];
    size_t i = at;
    for (unsigned n = 0; n < 4; n++) {
        if (n > 0 && cs_view_at(view, i++) != '.')
            return 0;
        i = octet(view, i, &octets[n]);
        if (i == 0)
            return 0;
    }
    char next = cs_view_at(view, i), then = cs_view_at(view, i + 1);
    if (cs_is_wordy(view, i) || (next == '.' && cs_is_alnum(then)) ||
        (next == '-' && cs_is_letter(then)))
        return 0;
    return is_version(view, at, i, octets) ? 0 : i;
}

static bool is_hex(char c)
{
    return cs_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Is this one, for inet_pton, and does it say more than "nowhere"? */
static bool is_ip6(const char *at, size_t len)
{
    char text[IP6_LONGEST + 1];
    unsigned char bytes[16];
    if (len < 3 || len > IP6_LONGEST)
        return false;
    memcpy(text, at, len);
    text[len] = '\0';
    return inet_pton(AF_INET6, text, bytes) == 1;
}

size_t cs_find_ip6(struct cs_view *view, size_t at)
{
    size_t start = at, end = at;
    unsigned colons = 0;
    bool twice = false, dotted = false;
    while (start > 0 && at - start < IP6_LONGEST && is_hex(view->at[start - 1]))
        start--;
    while (
        end < view->len && end - start <= IP6_LONGEST &&
        (is_hex(view->at[end]) || view->at[end] == ':' || (colons > 1 && view->at[end] == '.'))) {
        if (view->at[end] == ':') {
            twice = twice || (end > start && view->at[end - 1] == ':');
            colons++;
        }
        dotted = dotted || view->at[end] == '.';
        end++;
    }
    /* With one colon it is a key and its value, who knows of what. */
    size_t go_on = colons > 1 && end > at ? end : at + 1;
    /* A dot, or one colon, at the end is the sentence's. */
    while (end > start &&
           (view->at[end - 1] == '.' ||
            (view->at[end - 1] == ':' && end - start > 1 && view->at[end - 2] != ':')))
        end--;
    if (view->level < CS_PRIVACY_MEDIUM || (colons != 7 && !twice && !(dotted && colons == 6)) ||
        colons < 2)
        return go_on;
    char before = start > 0 ? view->at[start - 1] : '\0', behind = cs_view_at(view, end);
    if (before == ':' || before == '.' || before == '_' || cs_is_alnum(before) ||
        (unsigned char)before >= 0x80 || cs_is_wordy(view, end) || behind == ':')
        return go_on;
    if (!is_ip6(view->at + start, end - start))
        return go_on;
    /* "::" in a language, ".foo::bee": hex digits alone make no address there. */
    bool letters_only = true;
    for (size_t i = start; i < end; i++)
        letters_only = letters_only && !cs_is_digit(view->at[i]);
    if (letters_only && colons < 4)
        return go_on;
    cs_hit(view, CS_PII_IP_ADDRESS, start, end);
    return go_on > end ? go_on : end;
}

size_t cs_ip_keyed(const struct cs_view *view, size_t start, size_t end)
{
    struct cs_view part = {.at = view->at, .len = end};
    size_t stop = cs_ip4_end(&part, start);
    if (stop > 0)
        return stop;
    for (stop = start;
         stop < end && (is_hex(view->at[stop]) || view->at[stop] == ':' || view->at[stop] == '.');)
        stop++;
    return is_ip6(view->at + start, stop - start) ? stop : 0;
}
