/* Which tools a program reaches, as far as chains and imports show. */
#include "compile/facts.h"

static void add(struct cs_parser *p, struct cs_str server, struct cs_str tool, const char *via,
                uint32_t pos)
{
    struct cs_str name = CS_STR("*");
    if (server.len)
        name = cs_str(cs_textf(p, "%.*s.%.*s", CS_STR_ARG(server), CS_STR_ARG(tool)));
    cs_fact_add(p, CS_FACT_TOOL, name, via, CS_STR(""), pos);
}

static struct cs_str part(const struct cs_parser *p, uint32_t atom)
{
    return atom == CS_PART_ANY ? (struct cs_str){0} : p->names.at[atom].text;
}

void cs_tool_chain(struct cs_parser *p, uint32_t link, uint32_t pos)
{
    uint32_t atoms[3], n = cs_chain_atoms(p, link, atoms, CS_COUNT(atoms));
    if (cs_chain_root(p, link)->root != ROOT_FREE || atoms[0] != K_tools)
        return;
    struct cs_str server = n > 1 ? part(p, atoms[1]) : (struct cs_str){0};
    struct cs_str tool = n > 2 ? part(p, atoms[2]) : (struct cs_str){0};
    add(p, server, tool.len ? tool : CS_STR("*"), "chain", pos);
}

/* /mcp-servers/S/T.ts, ./mcp-servers/S/T.ts or mcp-servers/S/T: the tool S.T. */
void cs_tool_import(struct cs_parser *p, struct cs_str s, uint32_t pos)
{
    while (s.len && (s.at[0] == '/' || s.at[0] == '.')) {
        s.at++;
        s.len--;
    }
    if (!cs_str_starts(s, "mcp-servers/"))
        return;
    s.at += 12;
    s.len -= 12;
    const char *slash = s.len ? memchr(s.at, '/', s.len) : NULL;
    struct cs_str server = {s.at, slash ? (size_t)(slash - s.at) : s.len};
    struct cs_str tool = {0};
    if (slash)
        tool = cs_strn(slash + 1, s.len - server.len - 1);
    if (cs_str_ends(tool, ".ts") || cs_str_ends(tool, ".js"))
        tool.len -= 3;
    if (tool.len == 0 || cs_str_is(tool, "index"))
        tool = CS_STR("*");
    if (server.len)
        add(p, server, tool, "import", pos);
}
