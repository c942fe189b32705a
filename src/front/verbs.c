/* The verbs and their options: the rows that parsing, help, the man page and completion read. */
#include <stddef.h>

#include "front/verbs.h"

#define END                              \
    {                                    \
        NULL, 0, NULL, NULL, NULL, false \
    }
#define LAST                                           \
    {                                                  \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL \
    }

#define CONFIG_HELP "the file that names the servers; see 'caisson help add'"
#define CONFIG                                          \
    {                                                   \
        "config", 'c', "FILE", CONFIG_HELP, NULL, false \
    }

static const struct cs_option run_options[] = {
    {"eval", 'e', "CODE", "run this code instead of a file", NULL, false},
    {"input", 'i', "JSON|@FILE", "what the program sees as `inputs`; @- reads it from stdin", NULL,
     false},
    {"language", 'l', "NAME", "language of the program; otherwise taken from the file's name",
     "typescript python bash node ts py sh js", false},
    {"timeout", 't', "TIME", "wall clock: 30, 500ms, 2m (default 30s)", NULL, false},
    {"memory", 'm', "BYTES", "memory, like 64M, 512M (default 512M, guests 256M)", NULL, false},
    {"limit", 0, "NAME=VALUE", "any other limit; 'caisson help limits' lists them", NULL, false},
    {"workspace", 'w', "DIR", "copied to /workspace before, and copied back afterwards", NULL,
     false},
    CONFIG,
    {"policy", 0, "FILE", "the file that says which tools may be called", NULL, false},
    {"output", 'o', "FORMAT", "text (default), or json: the whole envelope", "text json", false},
    {"quiet", 'q', NULL, "no logs, no progress: the result or the error alone", NULL, false},
    {"verbose", 'v', NULL, "also the stack, the figures and the risk", NULL, false},
    {"isolation", 0, "LEVEL", "light (default), or full: every run gets all namespaces anew",
     "light full", false},
    {"strict", 0, NULL, "no just-in-time compiler: no executable memory in the worker", NULL,
     false},
    {"allow-weak-isolation", 0, "WALLS", "run although these walls are missing (see doctor)", NULL,
     false},
    {"no-cgroups", 0, NULL, "limits by polling, not by control groups", NULL, false},
    {"batch", 0, NULL, "requests from stdin, envelopes to stdout, one JSON per line", NULL, true},
    {"jobs", 0, "N", "with --batch: how many at once", NULL, true},
    {NULL, 0, NULL, NULL, NULL, false},
};

static const struct cs_option doctor_options[] = {
    {"output", 'o', "FORMAT", "text (default) or json", "text json", false},
    {NULL, 0, NULL, NULL, NULL, false},
};

static const struct cs_option add_options[] = {
    {"env", 'e', "NAME[=VALUE]", "for the command; NAME alone is ${env:NAME}", NULL, false},
    {"header", 'H', "NAME: VALUE", "header of each request", NULL, false},
    {"cwd", 0, "DIR", "where the command starts", NULL, false},
    {"trust", 0, "LEVEL", "how far what the server says about its tools is believed",
     "low normal high", false},
    {"timeout", 't', "TIME", "of one call: 30, 500ms, 2m (default 30s)", NULL, false},
    {"jail", 0, NULL, "run the command inside the jail: no files, no network", NULL, false},
    {"disabled", 0, NULL, "only write it down; 'caisson enable' switches it on", NULL, false},
    {"replace", 0, NULL, "take the place of the entry of the same name", NULL, false},
    CONFIG,
    END,
};

static const struct cs_option config_options[] = {CONFIG, END};

static const struct cs_option no_options[] = {END};

const struct cs_verb cs_verbs[] = {
    {"run", "FILE | -e CODE | -", "run a program in the jail and print its result",
     "Runs TypeScript (or Python, bash, node) in an operating-system jail without files, network "
     "or any other process in sight. What the program returns, exports by default, or ends with "
     "as its last expression is its result.\n"
     "\n"
     "The result goes to stdout and logs to stderr. The exit status is 0; 1 if the program "
     "failed; 2 for a wrong command line; 3 if it was denied; 4 if it reached a limit; 5 if "
     "Caisson itself failed.\n"
     "\n"
     "Examples:\n"
     "  caisson run -e 'return 6 * 7'\n"
     "  caisson run report.ts --input @data.json --timeout 5s\n"
     "  echo 'print(1 + 1)' | caisson run - --language python\n"
     "  caisson run tidy.ts --workspace ./notes -o json\n",
     run_options, cs_verb_run, "Programs", NULL},
    {"add", "NAME URL | NAME -- COMMAND ARGS...", "add an MCP server",
     "Writes an entry to the configuration and tries nothing: 'caisson list NAME' does.\n"
     "\n"
     "The file is the one that --config names, or $CAISSON_CONFIG, or ./caisson.json if there is "
     "one, or $XDG_CONFIG_HOME/caisson/caisson.json. It may be the file of another client: any "
     "with mcpServers (Claude, Cursor, .mcp.json) or servers (.vscode/mcp.json). Everything else "
     "in "
     "it stays as it is.\n"
     "\n"
     "Values may have ${env:NAME}, ${NAME}, ${NAME:-default}, ${file:PATH} and ${command:CMD ARGS} "
     "in them, so that no secret has to be in the file. '--env NAME' alone writes ${env:NAME}.\n"
     "\n"
     "Examples:\n"
     "  caisson add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n"
     "  caisson add github https://api.githubcopilot.com/mcp/ \\\n"
     "      -H 'Authorization: Bearer ${env:GITHUB_TOKEN}'\n"
     "  caisson add mine --env API_KEY --jail -- python3 server.py\n",
     add_options, cs_verb_add, "Servers", NULL},
    {"remove", "NAME", "remove an MCP server", "", config_options, cs_verb_remove, NULL, NULL},
    {"enable", "NAME", "switch a server on", "", config_options, cs_verb_enable, NULL, NULL},
    {"disable", "NAME", "switch a server off, and keep its entry", "", config_options,
     cs_verb_enable, NULL, NULL},
    {"import", "FILE", "take over the servers of another client's file",
     "Adds the servers of FILE that are not there yet: Claude Desktop, Claude Code, Cursor, VS "
     "Code, .mcp.json. An entry that is Caisson itself is left out.\n"
     "\n"
     "Examples:\n"
     "  caisson import ~/.claude.json\n"
     "  caisson import .vscode/mcp.json --config ./caisson.json\n",
     config_options, cs_verb_import, NULL, NULL},
    {"doctor", "", "try every wall of the jail on this machine",
     "Tries each wall for real and says what holds, what does not, and what to do about it. The "
     "exit status is 0 if programs can run fully walled in, 3 if a required wall is missing.\n",
     doctor_options, cs_verb_doctor, "This program", NULL},
    {"completion", "bash | zsh | fish", "print a completion script for a shell",
     "Examples:\n"
     "  source <(caisson completion bash)\n"
     "  caisson completion fish > ~/.config/fish/completions/caisson.fish\n",
     no_options, cs_verb_completion, NULL, NULL},
    {"help", "[VERB | limits]", "explain a verb, or the limits", "", no_options, cs_verb_help, NULL,
     NULL},
    {"version", "", "print the version", "", no_options, cs_verb_version, NULL, NULL},
    LAST,
};
