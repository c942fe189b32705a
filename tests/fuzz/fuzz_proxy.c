/*
 * A jailed server as an attacker of its proxy: the first byte says how many bytes come at a time.
 * The end of a head does not depend on how it was cut; a name that is accepted is one; what is sent
 * to the host is one head, whose host is the one that was asked for, and reads the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/proxy_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static size_t count_heads(struct cs_str text)
{
    size_t n = 0;
    for (size_t at = 0; at + 4 <= text.len; at++)
        n += memcmp(text.at + at, "\r\n\r\n", 4) == 0;
    return n;
}

static void check_name(const char *name)
{
    size_t len = strlen(name);
    must(len > 0 && len < CS_PROXY_NAME);
    for (size_t i = 0; i < len; i++)
        must((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
             strchr("-_.:", name[i]));
}

static void check_request(struct cs_str head, const struct cs_proxy_request *r)
{
    check_name(r->name);
    must(r->port > 0);
    if (r->tunnel)
        return;
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_proxy_rewrite(head, r, &out);
    struct cs_str text = cs_buf_str(&out);
    must(count_heads(text) == 1 && cs_str_ends(text, "\r\n\r\n"));
    must(text.len < head.len + 2 * CS_PROXY_NAME);
    must(cs_str_starts(text, "GET ") || cs_str_starts(text, "HEAD ") ||
         cs_str_starts(text, "POST ") || cs_str_starts(text, "PUT ") ||
         cs_str_starts(text, "PATCH ") || cs_str_starts(text, "DELETE ") ||
         cs_str_starts(text, "OPTIONS "));
    must(memmem(text.at, text.len, "\r\nConnection: close\r\n", 21) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > CS_PROXY_HEAD)
        return 0;
    size_t step = (size_t)data[0] + 1;
    struct cs_str all = cs_strn((const char *)data + 1, size - 1);
    size_t whole = cs_proxy_head_end(all, 0), cut = 0;
    for (size_t have = 0; have < all.len && !cut;) {
        size_t before = have;
        have = have + step < all.len ? have + step : all.len;
        cut = cs_proxy_head_end(cs_strn(all.at, have), before);
    }
    must(cut == whole);
    struct cs_proxy_request r;
    struct cs_str head = whole ? cs_strn(all.at, whole) : all;
    if (cs_proxy_parse(head, &r)) {
        if (whole)
            check_request(head, &r);
    } else {
        must(r.status >= 400 && r.status < 600 && r.why);
    }
    /* The same bytes as an entry of the configuration. */
    char entry[300];
    size_t len = all.len < sizeof entry - 1 ? all.len : sizeof entry - 1;
    memcpy(entry, all.at, len);
    entry[len] = '\0';
    const char *const list[] = {entry, NULL};
    struct cs_hosts hosts;
    struct cs_err err;
    if (cs_hosts_parse(list, &hosts, &err) == 0) {
        check_name(hosts.all[0].name);
        if (!hosts.all[0].suffix)
            must(cs_hosts_allow(&hosts, hosts.all[0].name,
                                hosts.all[0].port ? hosts.all[0].port : 443));
        cs_hosts_done(&hosts);
    }
    return 0;
}
