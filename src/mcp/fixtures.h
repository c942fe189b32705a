/*
 * What the conformance suite wants to see: inside of fixtures*.c. Never offered by a server that
 * does work.
 */
#ifndef CS_MCP_FIXTURES_H
#define CS_MCP_FIXTURES_H

#include "mcp/proto.h"

/* One call that takes several steps: a timer that strikes, questions that are answered. */
struct cs_fixture {
    struct cs_mcp_call *call; /* NULL: it is over */
    uv_timer_t timer;
    unsigned step;
    struct cs_mcp *mcp;
    bool ended;
    void (*strike)(struct cs_fixture *f);
    struct cs_buf text; /* gathered */
    unsigned open;      /* questions */
};
struct cs_fixture *cs_fixture_new(struct cs_mcp_call *call);
void cs_fixture_wait(struct cs_fixture *f, uint64_t ms, void (*strike)(struct cs_fixture *f));
/* Each answers the call and ends it. */
void cs_fixture_say(struct cs_fixture *f, struct cs_str text, bool error);
void cs_fixture_say_prompt(struct cs_fixture *f, struct cs_str text);
void cs_fixture_fail(struct cs_fixture *f, int code, const char *message);

struct cs_fixture_tool {
    const char *name; /* NULL ends the table */
    void (*call)(struct cs_mcp_call *call);
};
extern const struct cs_fixture_tool cs_fixtures_asking[], cs_fixtures_slow[];
struct cs_json_val cs_fixture_list(const struct cs_mcp *mcp, const char *what);
bool cs_fixture_become_task(struct cs_mcp_call *call);
/* The prompt that asks first. */
void cs_fixture_asking_prompt(struct cs_mcp_call *call);

#endif
