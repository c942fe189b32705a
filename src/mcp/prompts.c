#include "mcp/house.h"

void cs_house_prompts(struct cs_mcp_call *call)
{
    cs_mcp_result(call, CS_STR("{\"prompts\":[]}"));
}

void cs_house_prompt(struct cs_mcp_call *call)
{
    cs_mcp_error(call, CS_RPC_PARAMS, "there is no such prompt", (struct cs_str){0});
}
