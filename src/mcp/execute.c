#include "mcp/house.h"

void cs_house_execute(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    (void)arguments;
    cs_house_complain(call, "not there");
}

void cs_house_call(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    (void)arguments;
    cs_house_complain(call, "not there");
}
