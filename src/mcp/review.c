#include "mcp/house.h"

void cs_house_review(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    (void)arguments;
    cs_house_complain(call, "not there");
}
