/* Inside of tools/: the servers and what is known about each, as tools.c, learned.c and find.c
 * share it. */
#ifndef CS_TOOLS_INSIDE_H
#define CS_TOOLS_INSIDE_H

#include "search/search.h"
#include "tools/catalogue.h"
#include "tools/client.h"
#include "tools/declare.h"
#include "tools/oauth.h"

/* A configuration as it was read; freed when no server stands on it any more. */
struct cs_config_box {
    struct cs_config config;
    unsigned refs;
};

/* What has been learned about one tool's results. */
struct cs_lesson {
    char *tool;
    struct cs_buf schema;
    uint64_t count, shown; /* shown: the count that the files name */
};

struct cs_server {
    struct cs_tools *tools;
    char name[65], ident[CS_IDENT_MAX + 1];
    struct cs_config_box *box;
    const struct cs_server_config *config; /* in the box */
    uint64_t raw_hash;                     /* of the entry as it is written */
    bool expanded;                         /* the entry's values are known; a client can be made */
    bool wanted;                           /* connect as soon as they are */
    bool retired;          /* no longer configured; freed when its client is closed */
    struct cs_err trouble; /* why no client could be made; code CS_OK: none */

    struct cs_client *client; /* NULL: nobody needed it yet */
    struct cs_offer *offer;   /* NULL: disabled */
    struct cs_buf listed;     /* tools/list as it came; empty: never */
    struct cs_buf instructions, version, protocol, logs;
    struct cs_buf target; /* command or URL as written, for people */
    int64_t listed_at;
    bool fresh; /* listed by this very process */
    bool unsaved;
    bool stale; /* more was learned since its offer was made */

    struct cs_lesson *lessons;
    size_t lesson_count;

    struct cs_seen *seen;     /* NULL: there is no store */
    struct cs_seeing *seeing; /* the store is asked about its tools; NULL: it is not */
    bool see_again;           /* ... and has to be asked again, */
    bool look_again;          /* or at least about those that stand out */
};

/* A question that our asker has not answered yet. */
struct cs_open_ask {
    struct cs_open_ask *next;
    uint64_t id, inner; /* ours, and the client's */
    struct cs_server *server;
};

struct cs_await {
    struct cs_tools *tools;
    struct cs_await *next;
    char server[65]; /* "": all */
    bool fresh;
    uv_timer_t timer;
    void (*then)(void *ctx);
    void *ctx;
};

struct cs_tools {
    uv_loop_t *loop;
    char *config_path, *data_dir;
    bool eager, closing;
    struct cs_server **servers; /* sorted by name */
    size_t count;
    unsigned retired; /* servers that wait for their client to close */
    struct cs_catalogue *catalogue;
    struct cs_err publish_err;
    bool unpublished; /* a list or the configuration changed; the catalogue will follow */

    struct cs_fetcher *http;
    struct cs_oauth *oauth;
    struct cs_model *model;
    struct cs_search *search;
    struct cs_catalogue *indexed; /* what `search` holds; NULL: nothing yet */

    struct cs_load *load; /* the file is being read, in the thread pool */
    bool reload;          /* ... and changed meanwhile */
    uv_fs_event_t watch;
    uv_timer_t watch_timer, publish_timer, save_timer, seen_timer;
    struct cs_store *store; /* NULL: none */
    unsigned handles;
    bool http_stopped;

    struct cs_tool_call *calls;
    struct cs_await *awaits;
    void (*changed)(void *ctx); /* NULL: nobody is told */
    void *changed_ctx;
    struct cs_asker asker;
    struct cs_open_ask *asks;
    uint64_t next_ask;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

struct cs_server *cs_tools_server(struct cs_tools *tools, struct cs_str name);

/* servers.c. `written` is the entry before its values were expanded; it may be `config` itself. */
struct cs_server *cs_server_new(struct cs_tools *tools, struct cs_config_box *box,
                                const struct cs_server_config *config,
                                const struct cs_server_config *written);
void cs_server_free(struct cs_server *server);
void cs_server_save(struct cs_server *server);
void cs_box_unref(struct cs_config_box *box);

/* Whoever waits for servers goes on if they are there. */
void cs_tools_check_awaits(struct cs_tools *tools);
/* Connects to it, if that has not been done yet and can be done. */
void cs_server_need(struct cs_server *server);
void cs_tools_maybe_closed(struct cs_tools *tools);

/* send.c: those that wait for the configuration get an error, or begin. */
void cs_calls_fail(struct cs_server *server, const struct cs_err *err);
void cs_calls_start(struct cs_tools *tools);
/* `ctx` of the one call, or (NULL) of all that the server has; how many they are. */
size_t cs_calls_ctx(const struct cs_server *server, const struct cs_tool_call *only,
                    struct cs_arena *arena, void ***ctx);

/* passing.c: questions on their way from a server to our asker. `ctx` is the server. */
bool cs_server_asks(void *ctx, const struct cs_client_ask *ask);
void cs_server_withdraws(void *ctx, uint64_t inner);

/* The server's offer, made anew from what was listed and learned. */
void cs_server_offer(struct cs_server *server);
void cs_server_trim_logs(struct cs_server *server); /* after adding to them */
/* The catalogue follows soon; nobody waits for what was only learned. */
void cs_tools_publish_soon(struct cs_tools *tools, bool learned);

/* load.c: the file is read in the thread pool; `cs_tools_loaded` is called on the loop. */
void cs_tools_load(struct cs_tools *tools);
void cs_tools_loaded(struct cs_tools *tools, struct cs_config_box *written,
                     struct cs_config_box *expanded, const struct cs_err *err);

/* seen.c: it has been listed; the store is asked how its tools stand. */
void cs_server_see(struct cs_server *server);
void cs_server_unsee(struct cs_server *server); /* it is about to be freed */
/* Is the store being asked how its tools stand? Then its offer waits, and who waits for it. */
bool cs_server_seeing(const struct cs_server *server);

/* learned.c */
void cs_lessons_read(struct cs_server *server, const struct cs_cached *cached);
struct cs_learned *cs_lessons_write(const struct cs_server *server, struct cs_arena *arena);
void cs_lessons_done(struct cs_server *server);

#endif
