/* What the conformance suite wants to see. */
#include "mcp/inside.h"

static const struct cs_mcp_method methods[] = {{0}};

const struct cs_mcp_offer cs_mcp_fixtures = {.title = "Fixtures", .methods = methods};
