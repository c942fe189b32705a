#include "mcp/house.h"

void cs_house_resources(struct cs_mcp_call *call)
{
    cs_mcp_result(call, CS_STR("{\"resources\":[]}"));
}

void cs_house_templates(struct cs_mcp_call *call)
{
    cs_mcp_result(call, CS_STR("{\"resourceTemplates\":[]}"));
}

void cs_house_read(struct cs_mcp_call *call)
{
    cs_mcp_error(call, CS_RPC_PARAMS, "there is no such resource", (struct cs_str){0});
}
