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

/* Does what stands right before it say so: "Chrome/100.0.12.110", "lib-1.2.3.4", "==1.2.3.4"? */
static bool joined_version(char second, char before)
{
    if (before == '/')
        return cs_is_alnum(second);
    if (before == '-' || before == '+')
        return cs_is_letter(second);
    if (before == '=')
        return cs_one_of(second, "=><~");
    return cs_one_of(before, "^~#");
}

/* Is there nothing before it on its line but blanks, the sign of a comment, a tag? */
static bool begins_line(const struct cs_view *view, size_t at)
{
    size_t i = at;
    while (i > 0 && at - i < 12 && cs_one_of(view->at[i - 1], " \t/#*"))
        i--;
    return i == 0 || view->at[i - 1] == '\n' || view->at[i - 1] == '>';
}

/* " Text", ". Text" */
static bool behind_heading(const struct cs_view *view, size_t end)
{
    if (cs_view_at(view, end) == '.')
        end++;
    size_t i = end;
    while (i - end < 3 && cs_view_at(view, i) == ' ')
        i++;
    return i > end && cs_is_letter(cs_view_at(view, i));
}

/* Things that are written the same: versions, numbers of headings. */
static bool is_version(const struct cs_view *view, size_t at, size_t end, const unsigned octets[4])
{
    char before = at > 0 ? view->at[at - 1] : '\n';
    if (joined_version(at > 1 ? view->at[at - 2] : '\0', before))
        return true;
    if (octets[0] == 0 && octets[1] + octets[2] + octets[3] > 0)
        return true;
    bool small = octets[0] < 32 && octets[1] < 32 && octets[2] < 32 && octets[3] < 32;
    if (small && begins_line(view, at) && behind_heading(view, end))
        return true;
    unsigned says = cs_cues_before(view, at, CUE_BACK, CS_CUE_VERSION | CS_CUE_HOST);
    return (says & CS_CUE_VERSION) != 0 && !(says & CS_CUE_HOST);
}

/* This machine, no machine, a mask: nobody's. */
static bool is_nobody(const struct cs_view *view, const unsigned octets[4])
{
    if (view->level == CS_PRIVACY_HIGH)
        return false;
    return octets[0] == 127 || (octets[0] == 255 && octets[1] == 255) ||
           octets[0] + octets[1] + octets[2] + octets[3] == 0;
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
    return is_nobody(view, octets) || is_version(view, at, i, octets) ? 0 : i;
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

/* Hex digits and colons around a colon. */
struct run {
    size_t start, end;
    unsigned colons;
    bool twice, dotted, digits;
};

static void read_run(const struct cs_view *view, size_t at, struct run *r)
{
    *r = (struct run){.start = at};
    while (r->start > 0 && at - r->start < IP6_LONGEST && is_hex(view->at[r->start - 1]))
        r->start--;
    for (r->end = r->start; r->end < view->len && r->end - r->start <= IP6_LONGEST; r->end++) {
        char c = view->at[r->end];
        if (!is_hex(c) && c != ':' && !(c == '.' && r->colons > 1))
            return;
        r->twice = r->twice || (c == ':' && r->end > r->start && view->at[r->end - 1] == ':');
        r->colons += c == ':';
        r->dotted = r->dotted || c == '.';
        r->digits = r->digits || cs_is_digit(c);
    }
}

/* Does a word, or more of the same, stand before or behind? */
static bool is_inside(const struct cs_view *view, const struct run *r)
{
    if (cs_is_wordy(view, r->end) || cs_view_at(view, r->end) == ':')
        return true;
    return r->start > 0 &&
           (cs_is_wordy(view, r->start - 1) || cs_one_of(view->at[r->start - 1], ":."));
}

size_t cs_find_ip6(struct cs_view *view, size_t at)
{
    struct run r;
    read_run(view, at, &r);
    /* With one colon it is a key and its value, who knows of what. */
    if (r.colons < 2 || r.end <= at)
        return at + 1;
    size_t go_on = r.end;
    /* A dot, or one colon, at the end is the sentence's. */
    while (r.end > r.start + 1 && (view->at[r.end - 1] == '.' ||
                                   (view->at[r.end - 1] == ':' && view->at[r.end - 2] != ':')))
        r.end--;
    if (view->level < CS_PRIVACY_MEDIUM || is_inside(view, &r))
        return go_on;
    if (r.colons != 7 && !r.twice && !(r.dotted && r.colons == 6)) /* a time, a machine's MAC */
        return go_on;
    if (!r.digits && r.colons < 4) /* "::" of a language, "Foo::Bee" */
        return go_on;
    bool nobody = r.end - r.start <= 3 && view->level < CS_PRIVACY_HIGH; /* "::1" */
    bool card = r.colons == 7 && r.end - r.start == 23;                  /* eight pairs */
    if (!nobody && !card && is_ip6(view->at + r.start, r.end - r.start))
        cs_hit(view, CS_PII_IP_ADDRESS, r.start, r.end);
    return go_on;
}

size_t cs_ip_keyed(const struct cs_view *view, size_t start, size_t end)
{
    struct cs_view part = {.at = view->at, .len = end, .level = view->level};
    size_t stop = cs_ip4_end(&part, start);
    if (stop > 0)
        return stop;
    for (stop = start;
         stop < end && (is_hex(view->at[stop]) || view->at[stop] == ':' || view->at[stop] == '.');)
        stop++;
    bool nobody = stop - start <= 3 && view->level < CS_PRIVACY_HIGH;
    return !nobody && is_ip6(view->at + start, stop - start) ? stop : 0;
}
