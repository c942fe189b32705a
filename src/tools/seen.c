/* Tools as they were seen before: known, young, or changed since somebody looked. */
#include "base/canon.h"
#include "tools/inside.h"

void cs_tool_definition_hash(const struct cs_tool *tool, unsigned char hash[32])
{
    cs_canon_hash(tool->definition, hash);
}
