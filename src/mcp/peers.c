/* Who speaks: a client at the end of two pipes, a session, or everybody who shows the same key. */
#include "base/mem.h"
#include "mcp/proto.h"

#include <openssl/crypto.h>

bool cs_caller_same(const struct cs_caller *a, const struct cs_caller *b)
{
    return strcmp(a->principal, b->principal) == 0 && strcmp(a->tenant, b->tenant) == 0 &&
           strcmp(a->key_id, b->key_id) == 0;
}

struct cs_peer *cs_peer_new(struct cs_mcp *m, enum cs_peer_kind kind,
                            const struct cs_caller *caller)
{
    struct cs_peer *peer = CS_NEW(struct cs_peer);
    peer->mcp = m;
    peer->kind = kind;
    peer->caller = *caller;
    peer->version = CS_VNONE;
    peer->level = 8;
    peer->used = cs_mcp_now();
    cs_link_init(&peer->reqs);
    cs_link_init(&peer->streams);
    cs_link_init(&peer->events);
    cs_link_before(kind == CS_PEER_CROWD ? &m->crowds : &m->peers, &peer->link);
    return peer;
}

static struct cs_peer **bucket(struct cs_mcp *m, const char *id)
{
    /* Random letters, so any of them spread. */
    return &m->buckets[((unsigned char)id[0] * 37u + (unsigned char)id[1]) % CS_COUNT(m->buckets)];
}

static void forget_session(struct cs_peer *peer)
{
    struct cs_peer **at = bucket(peer->mcp, peer->id);
    while (*at && *at != peer)
        at = &(*at)->chain;
    if (*at)
        *at = peer->chain;
    peer->mcp->sessions--;
}

void cs_peer_close(struct cs_peer *peer)
{
    peer->closing = true;
    if (peer->kind == CS_PEER_SESSION)
        forget_session(peer);
    /* Each may take others with it. */
    while (!cs_link_alone(&peer->reqs))
        cs_req_cancel(CS_OF(peer->reqs.next, struct cs_req, link));
    cs_ask_peer_gone(peer);
    cs_streams_close(peer);
    cs_sub_free(peer);
    cs_link_off(&peer->link);
    free(peer);
}

struct cs_peer *cs_peer_crowd(struct cs_mcp *m, const struct cs_caller *caller)
{
    for (struct cs_link *l = m->crowds.next; l != &m->crowds; l = l->next) {
        struct cs_peer *peer = CS_OF(l, struct cs_peer, link);
        if (cs_caller_same(&peer->caller, caller)) {
            peer->caller = *caller; /* its role may be another by now */
            peer->used = cs_mcp_now();
            return peer;
        }
    }
    return cs_peer_new(m, CS_PEER_CROWD, caller);
}

/* --- sessions --- */

static bool is_busy(const struct cs_peer *peer)
{
    if (!cs_link_alone(&peer->reqs))
        return true;
    for (struct cs_link *l = peer->streams.next; l != &peer->streams; l = l->next)
        if (CS_OF(l, struct cs_stream, link)->x)
            return true;
    return false;
}

/* The one that was not used for longest makes place. */
static bool make_place(struct cs_mcp *m, const struct cs_caller *caller)
{
    struct cs_peer *idle = NULL;
    uint32_t count = 0;
    for (struct cs_link *l = m->peers.next; l != &m->peers; l = l->next) {
        struct cs_peer *peer = CS_OF(l, struct cs_peer, link);
        if (peer->kind != CS_PEER_SESSION || !cs_caller_same(&peer->caller, caller))
            continue;
        count++;
        if (!is_busy(peer) && (!idle || peer->used < idle->used))
            idle = peer;
    }
    if (count < CS_CALLER_PEERS && m->sessions < CS_PEERS)
        return true;
    if (idle)
        cs_peer_close(idle);
    return idle != NULL;
}

struct cs_peer *cs_session_new(struct cs_mcp *m, const struct cs_caller *caller)
{
    if (!make_place(m, caller))
        return NULL;
    struct cs_peer *peer = cs_peer_new(m, CS_PEER_SESSION, caller);
    cs_random_id(peer->id);
    struct cs_peer **at = bucket(m, peer->id);
    peer->chain = *at;
    *at = peer;
    m->sessions++;
    return peer;
}

struct cs_peer *cs_session_find(struct cs_mcp *m, const struct cs_caller *caller, struct cs_str id)
{
    if (id.len != sizeof(((struct cs_peer *)0)->id) - 1)
        return NULL;
    for (struct cs_peer *peer = *bucket(m, id.at); peer; peer = peer->chain) {
        if (CRYPTO_memcmp(peer->id, id.at, id.len) != 0)
            continue;
        if (!cs_caller_same(&peer->caller, caller))
            return NULL;
        peer->caller = *caller;
        peer->used = cs_mcp_now();
        return peer;
    }
    return NULL;
}

static void forget_idle(struct cs_link *list, uint64_t now)
{
    for (struct cs_link *l = list->next, *next; l != list; l = next) {
        struct cs_peer *peer = CS_OF(l, struct cs_peer, link);
        next = l->next;
        if (peer->kind == CS_PEER_LINES)
            continue;
        if (is_busy(peer))
            peer->used = now;
        else if (now - peer->used > CS_SESSION_IDLE)
            cs_peer_close(peer);
    }
}

void cs_peers_tick(struct cs_mcp *m, uint64_t now)
{
    forget_idle(&m->peers, now);
    forget_idle(&m->crowds, now);
}

void cs_peer_tell(struct cs_peer *peer, struct cs_str json)
{
    if (peer->kind == CS_PEER_LINES)
        peer->send(peer, json, false);
    else if (peer->own)
        cs_stream_say(peer->own, json);
}
