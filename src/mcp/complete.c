#include "mcp/house.h"

void cs_house_complete(struct cs_mcp_call *call)
{
    cs_mcp_result(call, CS_STR("{\"completion\":{\"values\":[]}}"));
}
