/*
 * Inside of what we offer: our tools, resources and prompts, each in a file of its own.
 *
 *     offer.c      the tables; tools/list, tools/call and the check of arguments
 *     execute.c    execute_code, call_tool: an execution that belongs to a call
 *     review.c     get_execution: an execution that runs, or that is on record
 *     discover.c   search_tools, and what a failed program probably wanted
 *     resources.c  the tree of tools and executions as resources
 *     prompts.c, complete.c
 */
#ifndef CS_MCP_HOUSE_H
#define CS_MCP_HOUSE_H

#include "mcp/inside.h"
#include "schema/schema.h"

struct cs_job_of_call;

/* How much of the text of an answer is for what. */
#define CS_MCP_ANSWER_TOKENS 6000u
#define CS_MCP_TIMEOUT_MS    30000u

struct cs_house {
    struct cs_mcp *mcp;
    struct cs_buf list;            /* the answer to tools/list */
    struct cs_schema *schemas[8];  /* of the arguments of each tool, in the order of the table */
    struct cs_job_of_call *jobs;   /* executions of calls, under way */
    struct cs_follower *followers; /* executions that somebody has read about */
};

struct cs_house *cs_house_of(const struct cs_mcp_call *call);

/* --- answers --- */

/* Ends the call with one text block. */
void cs_house_answer(struct cs_mcp_call *call, struct cs_str text, bool is_error);
/* The same for something that the model can mend. */
void cs_house_complain(struct cs_mcp_call *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
uint64_t cs_house_tokens(const struct cs_mcp_call *call);

/* --- the tools; `arguments` fits the schema, and is NONE if there were none --- */

void cs_house_search(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_execute(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_call(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_review(struct cs_mcp_call *call, struct cs_json_val arguments);

/* --- other methods --- */

void cs_house_resources(struct cs_mcp_call *call);
void cs_house_templates(struct cs_mcp_call *call);
void cs_house_read(struct cs_mcp_call *call);
void cs_house_prompts(struct cs_mcp_call *call);
void cs_house_prompt(struct cs_mcp_call *call);
void cs_house_complete(struct cs_mcp_call *call);

#endif
