/* The verbs and their options: the rows that parsing, help, the man page and completion read. */
#include <stddef.h>

#include "front/settings.h"
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
#define POLICY                                                                           \
    {                                                                                    \
        "policy", 0, "FILE", "the file that says which tools may be called", NULL, false \
    }
#define OUTPUT                                                                \
    {                                                                         \
        "output", 'o', "FORMAT", "text (default) or json", "text json", false \
    }
#define NO_PRIVACY                                                                             \
    {                                                                                          \
        "no-pii-protection", 0, NULL, "programs and answers see personal data as it is", NULL, \
            false                                                                              \
    }
#define REVEAL                                                                                 \
    {                                                                                          \
        "reveal", 0, NULL, "print values, not tokens such as [EMAIL_1]; it is recorded", NULL, \
            false                                                                              \
    }
#define WAIT                                                                                   \
    {                                                                                          \
        "timeout", 't', "TIME", "how long to wait for servers: 10, 500ms (default 10s)", NULL, \
            false                                                                              \
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
    POLICY,
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
    {"no-record", 0, NULL, "keep nothing of it: no entry in the ledger, no replay", NULL, false},
    {"clock", 0, "KIND", "events (default); live: time runs as outside, no replay", "events live",
     false},
    {"durable", 0, NULL, "if it is killed, the next 'caisson serve' goes on with it", NULL, false},
    {"cache", 0, "MODE", "an answer that is known: use, off (default), only, refresh",
     "use off only refresh", false},
    REVEAL,
    NO_PRIVACY,
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

static const struct cs_option list_options[] = {
    WAIT,   {"no-connect", 0, NULL, "start nothing: what is known from last time", NULL, false},
    OUTPUT, CONFIG,
    END,
};

static const struct cs_option login_options[] = {
    {"no-browser", 0, NULL, "print the address, open nothing", NULL, false},
    {"redirect", 0, "URL", "where the answer comes to (default http://127.0.0.1 and a free port)",
     NULL, false},
    {"client-document", 0, "URL", "a client id metadata document to present", NULL, false},
    {"timeout", 't', "TIME", "how long to wait for the person (default 5m)", NULL, false},
    CONFIG,
    END,
};

static const struct cs_option tools_list_options[] = {WAIT, OUTPUT, CONFIG, END};

static const struct cs_option look_options[] = {
    {"accept", 0, NULL, "you have looked at it: it may be called again as before", NULL, false},
    WAIT,
    OUTPUT,
    CONFIG,
    END};

static const struct cs_option search_options[] = {
    {"limit", 'n', "N", "how many tools (default 5, at most 50)", NULL, false},
    {"offset", 0, "N", "how many of the best to skip", NULL, false},
    {"server", 's', "NAME", "only tools of this server; other words are a hint", NULL, false},
    {"detail", 'd', "LEVEL", "name, summary (default) or full: with the TypeScript",
     "name summary full", false},
    {"catalogue", 0, "FILE", "rank the tools of this file (JSON lines) instead", NULL, false},
    {"queries", 0, "FILE", "with --catalogue: queries (JSON lines); rankings go to stdout", NULL,
     false},
    {"model", 0, "DIR", "vectors of a static model", NULL, false},
    WAIT,
    OUTPUT,
    CONFIG,
    END,
};

static const struct cs_option tools_call_options[] = {
    POLICY,
    {"verbose", 'v', NULL, "also the figures", NULL, false},
    {"timeout", 't', "TIME", "of the call (default: what the server's entry says)", NULL, false},
    {"no-record", 0, NULL, "keep nothing of it: no entry in the ledger, no replay", NULL, false},
    REVEAL,
    NO_PRIVACY,
    OUTPUT,
    CONFIG,
    END,
};

static const struct cs_option replay_options[] = {
    {"diff", 0, NULL, "show what is different: result, logs, calls", NULL, false},
    {"code", 0, "FILE", "run this program in the recorded world; - reads stdin", NULL, false},
    {"all", 0, NULL, "every execution that is on record", NULL, false},
    {"tenant", 0, "NAME", "whose execution it is (default default)", NULL, false},
    {"verbose", 'v', NULL, "also the result", NULL, false},
    OUTPUT,
    CONFIG,
    {"policy", 0, "FILE", "the file that says whether the program of --code may run", NULL, false},
    END,
};

static const struct cs_option show_options[] = {
    {"all", 'a', NULL, "also those that have their default", NULL, false},
    OUTPUT,
    CONFIG,
    CS_SETTING_HIDDEN_OPTIONS END,
};

static const struct cs_option no_options[] = {END};

static const struct cs_option daemon_options[] = {
    CONFIG,
    POLICY,
    {"isolation", 0, "LEVEL", "light (default), or full: every run gets all namespaces anew",
     "light full", false},
    {"strict", 0, NULL, "no just-in-time compiler: no executable memory in the worker", NULL,
     false},
    {"allow-weak-isolation", 0, "WALLS", "run although these walls are missing (see doctor)", NULL,
     false},
    {"no-cgroups", 0, NULL, "limits by polling, not by control groups", NULL, false},
    NO_PRIVACY,
    {"conformance-fixtures", 0, NULL, "offer what the conformance suite asks for", NULL, true},
    CS_SETTING_OPTIONS END,
};

#define EXPIRES(help)                           \
    {                                           \
        "expires", 0, "TIME", help, NULL, false \
    }

static const struct cs_option keys_create_options[] = {
    {"role", 'r', "ROLE", "what it may do; each may do what those before it may (default execute)",
     "execute approve admin", false},
    {"tenant", 0, "NAME", "whose executions, sessions and files it sees (default default)", NULL,
     false},
    EXPIRES("how long it is valid: 12h, 30d, 1y, or never (default never)"),
    {"reveal", 0, NULL, "its requests may ask for values instead of tokens", NULL, false},
    OUTPUT,
    END,
};

static const struct cs_option stats_options[] = {
    {"window", 'w', "TIME", "how far back (24h)", "1h 24h 7d 30d all", false},
    {"tenant", 0, "NAME", "only this one; otherwise all", NULL, false},
    OUTPUT,
    END,
};

static const struct cs_option keys_list_options[] = {OUTPUT, END};

static const struct cs_option keys_rotate_options[] = {
    EXPIRES("how long the new one is valid (default: as long as the old one was)"),
    OUTPUT,
    END,
};

static const struct cs_verb keys_verbs[] = {
    {"keys create", "NAME", "make a key, and show it once",
     "Prints the key to stdout, and nothing else there. Only a hash of it is kept, so that it "
     "cannot be shown again.\n"
     "\n"
     "The role execute is enough to run programs, call tools and read what came of them; nothing "
     "asks for more so far. Keys of one tenant share executions, sessions and files, and see "
     "none of another's.\n"
     "\n"
     "With --reveal it may say \"reveal\": true to POST /executions, and gets personal data as it "
     "is instead of tokens. For programs of people who may see them, never for a model.\n"
     "\n"
     "Examples:\n"
     "  caisson keys create ci --role execute --expires 90d\n"
     "  KEY=$(caisson keys create acme-app --tenant acme)\n",
     keys_create_options, cs_verb_keys_create, NULL, NULL},
    {"keys list", "", "the keys, without their secrets", "", keys_list_options, cs_verb_keys_list,
     NULL, NULL},
    {"keys revoke", "NAME", "make a key invalid, at once and for good",
     "By its name or its id. Requests that are under way end as they would have.\n", no_options,
     cs_verb_keys_revoke, NULL, NULL},
    {"keys rotate", "NAME", "give a key another secret, and show it once",
     "Name, role, tenant and rights stay; the old secret is invalid at once.\n",
     keys_rotate_options, cs_verb_keys_rotate, NULL, NULL},
    LAST,
};

#define ASKERS                                                                              \
    {                                                                                       \
        "tenant", 0, "NAME", "whose execution asks or asked (default default)", NULL, false \
    }

static const struct cs_option approve_options[] = {
    {"session", 0, NULL, "for the rest of its session, not only this once", NULL, false},
    {"always", 0, NULL, "exactly this program, whenever it comes again", NULL, false},
    {"tool", 0, NULL, "calls of this tool with such arguments, until a date", NULL, false},
    {"until", 0, "TIME", "with --tool: 2h, 7d, 2026-12-31 (default 30d)", NULL, false},
    {"arguments", 0, "JSON",
     "with --tool: members that must be equal, or any (default: exactly these)", NULL, false},
    {"reason", 'r', "TEXT", "kept with the answer", NULL, false},
    {"yes", 'y', NULL, "do not show it and ask: it was read", NULL, false},
    ASKERS,
    OUTPUT,
    CONFIG,
    POLICY,
    END,
};

static const struct cs_option deny_options[] = {
    {"reason", 'r', "TEXT", "the program, and whoever waits for it, are told", NULL, false},
    ASKERS,
    OUTPUT,
    CONFIG,
    POLICY,
    END,
};

#define LEDGER_FILTERS                                                                        \
    {"tenant", 0, "NAME", "only of this tenant", NULL, false},                                \
        {"execution", 'x', "ID", "only of this execution", NULL, false},                      \
        {"principal", 0, "NAME", "only what this one did", NULL, false},                      \
    {                                                                                         \
        "event", 'e', "NAME", "only these: execution.settled, or execution. for all of them", \
            NULL, false                                                                       \
    }

static const struct cs_option audit_list_options[] = {
    LEDGER_FILTERS,
    {"since", 0, "TIME", "not before: 2h, 3d (ago), or 2026-01-31T08:00:00Z", NULL, false},
    {"until", 0, "TIME", "not after", NULL, false},
    {"limit", 'n', "N", "how many, the newest first (default 50)", NULL, false},
    OUTPUT,
    END,
};

static const struct cs_option audit_show_options[] = {OUTPUT, END};

static const struct cs_option audit_tail_options[] = {
    {"lines", 'n', "N", "how many (default 20)", NULL, false},
    {"follow", 'f', NULL, "go on with what happens from now on", NULL, false},
    LEDGER_FILTERS,
    OUTPUT,
    END,
};

static const struct cs_option audit_export_options[] = {
    {"from", 0, "SEQ", "begin with this entry (default: the first there is)", NULL, false},
    {"to", 0, "SEQ", "end with this entry (default: the last)", NULL, false},
    END,
};

static const struct cs_option audit_verify_options[] = {
    {"key", 'k', "FILE", "the public key that must have signed (default: this machine's)", NULL,
     false},
    {"checkpoint", 0, "TEXT|@FILE", "a checkpoint kept elsewhere, which must be part of it", NULL,
     false},
    OUTPUT,
    END,
};

static const struct cs_verb audit_verbs[] = {
    {"audit list", "", "entries of the ledger, newest first",
     "Examples:\n"
     "  caisson audit list --event request. --since 1d\n"
     "  caisson audit list --principal ci --limit 10 -o json\n",
     audit_list_options, cs_verb_audit_list, NULL, NULL},
    {"audit show", "SEQ | ex_ID", "one entry, or all of an execution", "", audit_show_options,
     cs_verb_audit_show, NULL, NULL},
    {"audit tail", "", "the last entries, and what comes after them",
     "Examples:\n"
     "  caisson audit tail -f --event call.\n",
     audit_tail_options, cs_verb_audit_tail, NULL, NULL},
    {"audit export", "[FILE]", "write the ledger to a file that can be checked without us",
     "Lines of canonical JSON, with the signed end in the first one; to stdout, or to a FILE that "
     "is not there yet, compressed if its name ends in .zst. A ledger that does not fit is not "
     "exported.\n"
     "\n"
     "Examples:\n"
     "  caisson audit export ledger.jsonl.zst\n"
     "  caisson audit export --from 1000 | tail -n +2 | jq .event\n",
     audit_export_options, cs_verb_audit_export, NULL, NULL},
    {"audit verify", "[FILE]", "check the ledger, an export, or a copied database",
     "Without a FILE the ledger of this machine. Reads all of it, offline, and names the first "
     "entry that does not fit: changed, removed, inserted, moved, cut off, or signed by a foreign "
     "key. Only a checkpoint that was kept elsewhere shows that the end was cut off together with "
     "its signatures.\n"
     "\n"
     "The exit status is 0 if it fits, 1 if it does not.\n"
     "\n"
     "Examples:\n"
     "  caisson audit verify\n"
     "  caisson audit verify ledger.jsonl.zst --key ledger.pub --checkpoint @yesterday.json\n",
     audit_verify_options, cs_verb_audit_verify, NULL, NULL},
    {"audit checkpoint", "", "sign the ledger as it is now",
     "Prints one line. Keep it where whoever could change the ledger cannot reach.\n", no_options,
     cs_verb_audit_checkpoint, NULL, NULL},
    {"audit key", "", "the public key of the ledger", "", audit_show_options, cs_verb_audit_key,
     NULL, NULL},
    LAST,
};

#define TENANT                                                      \
    {                                                               \
        "tenant", 0, "NAME", "whose (default default)", NULL, false \
    }

static const struct cs_option executions_list_options[] = {
    {"session", 's', "ID", "only of this session", NULL, false},
    {"status", 0, "STATUS", "only those that are so",
     "running awaiting_approval completed failed denied cancelled", false},
    {"limit", 'n', "N", "how many, the newest first (default 20)", NULL, false},
    TENANT,
    OUTPUT,
    END,
};

static const struct cs_option executions_show_options[] = {TENANT, OUTPUT, END};

static const struct cs_option executions_provenance_options[] = {
    {"attest", 0, NULL, "signed: an in-toto statement in a DSSE envelope", NULL, false},
    TENANT,
    OUTPUT,
    END,
};

static const struct cs_verb executions_verbs[] = {
    {"executions list", "", "what ran, newest first", "", executions_list_options,
     cs_verb_executions_list, NULL, NULL},
    {"executions show", "ID", "all that is known about one: its envelope", "",
     executions_show_options, cs_verb_executions_show, NULL, NULL},
    {"executions provenance", "ID", "where its result comes from",
     "Hashes of code, inputs and outputs, the tools it called, on whose word, and the hash of its "
     "last entry in the ledger. With --attest it is signed with the key of the ledger "
     "('caisson audit key').\n",
     executions_provenance_options, cs_verb_executions_provenance, NULL, NULL},
    LAST,
};

static const struct cs_option artifacts_list_options[] = {
    {"session", 's', "ID", "only those of this session", NULL, false},
    {"execution", 'e', "ID", "only those of this execution", NULL, false},
    {"limit", 'n', "N", "how many (default 50, at most 1000)", NULL, false},
    TENANT,
    OUTPUT,
    END,
};

static const struct cs_option artifacts_get_options[] = {
    {"to", 'O', "FILE", "write it to this file instead of stdout", NULL, false},
    {"offset", 0, "N", "from this byte on", NULL, false},
    {"length", 0, "N", "at most so many bytes", NULL, false},
    TENANT,
    END,
};

static const struct cs_option artifacts_lineage_options[] = {
    {"direction", 'd', "WAY", "up: what it was made from (default); down: what was made from it",
     "up down both", false},
    {"depth", 0, "N", "how many executions away (default 32)", NULL, false},
    TENANT,
    {"output", 'o', "FORMAT", "text (default), json, or dot for Graphviz", "text json dot", false},
    END,
};

static const struct cs_option artifacts_remove_options[] = {TENANT, END};

static const struct cs_verb artifacts_verbs[] = {
    {"artifacts list", "", "what is kept, newest first", "", artifacts_list_options,
     cs_verb_artifacts_list, NULL, NULL},
    {"artifacts get", "ID", "print the content of one, or write it to a file",
     "Examples:\n"
     "  caisson artifacts get art_0123456789abcdef0123456789abcdef -O report.csv\n",
     artifacts_get_options, cs_verb_artifacts_get, NULL, NULL},
    {"artifacts lineage", "ID", "where one comes from: executions, artifacts, inputs and calls",
     "What was removed is still named, as long as something that was made from it is kept.\n"
     "\n"
     "Examples:\n"
     "  caisson artifacts lineage art_0123456789abcdef0123456789abcdef\n"
     "  caisson artifacts lineage art_0123456789abcdef0123456789abcdef -o dot | dot -Tsvg\n",
     artifacts_lineage_options, cs_verb_artifacts_lineage, NULL, NULL},
    {"artifacts remove", "ID", "remove the content of one", "", artifacts_remove_options,
     cs_verb_artifacts_remove, NULL, NULL},
    LAST,
};

static const struct cs_option cache_clear_options[] = {
    {"tenant", 0, "NAME", "only this one's; otherwise all", NULL, false},
    END,
};

static const struct cs_verb cache_verbs[] = {
    {"cache clear", "", "forget the answers that are kept",
     "Those in the data directory, and what servers that use it have in memory.\n",
     cache_clear_options, cs_verb_cache_clear, NULL, NULL},
    LAST,
};

static const struct cs_option privacy_scan_options[] = {
    {"level", 'l', "LEVEL", "how much is looked for (default: as the policy or settings say)",
     "low medium high", false},
    {"mask", 'm', NULL, "print it with tokens, as a program would see it", NULL, false},
    {"jsonl", 0, NULL, "lines {\"id\", \"text\"} in, lines {\"id\", \"spans\"} out", NULL, false},
    {"fail", 0, NULL, "exit with 1 if anything was found", NULL, false},
    {"verbose", 'v', NULL, "also how long it took", NULL, false},
    POLICY,
    OUTPUT,
    CONFIG,
    END,
};

static const struct cs_option privacy_test_options[] = {POLICY, CONFIG, END};

static const struct cs_verb privacy_verbs[] = {
    {"privacy scan", "FILE | -", "show what would be masked in a text",
     "Prints the text with everything that was found in marks, [EMAIL: ada@example.com], and to "
     "stderr how much there was of what. What is JSON is looked at as JSON.\n"
     "\n"
     "With --jsonl each line is an object with a \"text\", and is answered with the places of what "
     "was found in it, {\"start\", \"end\", \"type\"}: bytes of the UTF-8 of the text, the end not "
     "included.\n"
     "\n"
     "The exit status is 0, whether anything was found or not; with --fail it is 1 if something "
     "was.\n"
     "\n"
     "Examples:\n"
     "  caisson privacy scan letter.txt\n"
     "  git diff --cached | caisson privacy scan - --fail >/dev/null\n",
     privacy_scan_options, cs_verb_privacy_scan, NULL, NULL},
    {"privacy test", "", "try every rule on its own examples",
     "Then the patterns and words of the policy file on the `examples` and `not` that it has for "
     "them. Says which are not found as they should be. The exit status is 0, or 1 if there is "
     "one.\n",
     privacy_test_options, cs_verb_privacy_test, NULL, NULL},
    LAST,
};

static const struct cs_verb config_verbs[] = {
    {"config show", "", "the settings as they count here, and where each comes from",
     "Shows what differs from the defaults. A setting comes from a flag of 'caisson serve', the "
     "environment, the configuration, or is the default. Passwords are masked.\n",
     show_options, cs_verb_config_show, NULL, NULL},
    {"config check", "[FILE]", "look for mistakes in the configuration",
     "Reads the settings, the servers and the policy that would be used, starts nothing, and tells "
     "every mistake with its place. With a FILE, that file alone, whatever the environment says. "
     "The exit status is 0, or 2 if there is a mistake.\n",
     config_options, cs_verb_config_check, NULL, NULL},
    {"config explain", "[NAME]", "what a setting is, or all of them",
     "Examples:\n"
     "  caisson config explain server.port\n",
     config_options, cs_verb_config_explain, NULL, NULL},
    LAST,
};

static const struct cs_verb tools_verbs[] = {
    {"tools list", "[SERVER]", "the tools of all servers, or of one", "", tools_list_options,
     cs_verb_tools_list, NULL, NULL},
    {"tools search", "QUERY | --catalogue FILE --queries FILE", "find tools by a few words",
     "Finds tools by what they do, in the words of their servers or others. An empty QUERY lists "
     "the servers.\n"
     "\n"
     "With --catalogue and --queries nothing is connected to. Each line of the catalogue is a "
     "tool: {\"server\", \"name\", \"title\"?, \"description\"?, \"inputSchema\"?}. Each line of "
     "the queries, {\"query_id\", \"query\"}, is answered with {\"query_id\", \"ranking\"}: a list "
     "of \"server/name\", best first (--limit of them, 10 by default).\n"
     "\n"
     "Examples:\n"
     "  caisson tools search 'create an issue'\n"
     "  caisson tools search commits --server github --detail full\n",
     search_options, cs_verb_tools_search, NULL, NULL},
    {"tools show", "SERVER.TOOL | PATH", "print a tool's TypeScript",
     "Prints what a program would import: types, description and an example.\n"
     "\n"
     "Examples:\n"
     "  caisson tools show github.listCommits\n"
     "  caisson tools show /mcp-servers/github/index.ts\n",
     tools_list_options, cs_verb_tools_show, NULL, NULL},
    {"tools look", "SERVER/TOOL", "what has become of a tool since somebody looked",
     "A tool whose definition is another one than it was when its server was first listed, or when "
     "somebody last looked, is asked for before every call. This prints the difference; --accept "
     "says that you have looked, and it is known again.\n"
     "\n"
     "Examples:\n"
     "  caisson tools look mail/send\n"
     "  caisson tools look mail/send --accept\n",
     look_options, cs_verb_tools_look, NULL, NULL},
    {"tools call", "SERVER.TOOL [JSON | @FILE | @- | NAME=VALUE...]", "call one tool",
     "Calls a tool through the same gate as a program's call: policy, schema, size and time. "
     "Arguments are an object in JSON (from a file with @FILE, from stdin with @-), or NAME=VALUE "
     "pairs: the tool's schema says whether a VALUE is a text, a number or true; NAME:=JSON is "
     "taken as it is. What the server asks meanwhile is put to you, if you are at a terminal.\n"
     "\n"
     "The exit status is 0; 1 if the tool or its server failed; 2 for wrong arguments; 3 if it was "
     "denied; 4 if a limit was reached.\n"
     "\n"
     "Examples:\n"
     "  caisson tools call everything.getSum a=40 b=2\n"
     "  caisson tools call filesystem.read_text_file '{\"path\": \"/tmp/x\"}'\n",
     tools_call_options, cs_verb_tools_call, NULL, NULL},
    {"tools tree", "[SERVER]", "where the TypeScript files are, and which",
     "Prints the directory with the files that programs see as /mcp-servers, and what is in it.\n",
     tools_list_options, cs_verb_tools_tree, NULL, NULL},
    LAST,
};

const struct cs_verb cs_verbs[] = {
    {"run", "FILE | -e CODE | -", "run a program in the jail and print its result",
     "Runs TypeScript (or Python, bash, node) in an operating-system jail without files, network "
     "or any other process in sight. What the program returns, exports by default, or ends with "
     "as its last expression is its result.\n"
     "\n"
     "The result goes to stdout and logs to stderr. The exit status is 0; 1 if the program "
     "failed; 2 for a wrong command line; 3 if it was denied; 4 if it reached a limit; 5 if "
     "Caisson itself failed. What a tool's server asks meanwhile is put to you, if you are at a "
     "terminal and not --quiet.\n"
     "\n"
     "Examples:\n"
     "  caisson run -e 'return 6 * 7'\n"
     "  caisson run report.ts --input @data.json --timeout 5s\n"
     "  echo 'print(1 + 1)' | caisson run - --language python\n"
     "  caisson run tidy.ts --workspace ./notes -o json\n",
     run_options, cs_verb_run, "Programs", NULL},
    {"assess", "FILE | -e CODE | -", "what the judge thinks of a program, without running it",
     "Compiles the program in the jail, judges what it can reach by the rules of the policy, and "
     "prints each finding with its line. The exit status is 0 if it would run; 3 if a person "
     "would be asked, or if it would be refused; 2 for a wrong command line; 5 if Caisson itself "
     "failed.\n"
     "\n"
     "Examples:\n"
     "  caisson assess report.ts\n"
     "  caisson assess -e 'return eval(inputs.code)' -o json\n"
     "  caisson assess tidy.ts --environment prod -o sarif > tidy.sarif\n",
     cs_assess_options, cs_verb_assess, NULL, NULL},
    {"serve", "", "open the doors: MCP over HTTP, and REST",
     "Listens on http://127.0.0.1:8002: MCP at /mcp, REST at /executions, /tools, /sessions and so "
     "on (GET /openapi.json describes it). Callers on this machine need no key, others do: "
     "'caisson keys create'. Settings are in the configuration, in the environment, or options; "
     "'caisson config explain' lists them.\n"
     "\n"
     "SIGTERM: no new requests, and executions that run get server.grace to end; a second one "
     "ends them now. SIGHUP, or a changed file: what can change while it runs is read anew.\n"
     "\n"
     "Examples:\n"
     "  caisson serve\n"
     "  caisson serve --port 9000 --config team.json\n"
     "  caisson serve --host 0.0.0.0 --tls.cert cert.pem --tls.key key.pem\n",
     daemon_options, cs_verb_serve, "Doors", NULL},
    {"mcp", "", "speak MCP over stdin and stdout, for one client",
     "What an MCP client starts: an entry of its mcpServers with the command 'caisson' and the "
     "argument 'mcp'. Ends when its stdin is closed.\n"
     "\n"
     "Examples:\n"
     "  claude mcp add caisson -- caisson mcp\n"
     "  caisson mcp --config team.json\n",
     daemon_options, cs_verb_mcp, NULL, NULL},
    {"openapi", "", "print the description of the REST routes (OpenAPI 3.1)",
     "The same that GET /openapi.json answers.\n"
     "\n"
     "Examples:\n"
     "  caisson openapi > openapi.json\n",
     no_options, cs_verb_openapi, NULL, NULL},
    {"tools", "VERB", "find, read and call the tools of all servers", "", no_options, cs_verb_tools,
     "Tools", tools_verbs},
    {"list", "[NAME]", "the MCP servers, and how each of them is doing",
     "Connects to all servers at once and shows what came of it. With a NAME, everything that is "
     "known about that one, with the end of its stderr.\n",
     list_options, cs_verb_list, "Servers", NULL},
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
     add_options, cs_verb_add, NULL, NULL},
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
    {"login", "NAME", "log in to a server that wants it",
     "Opens the address where you say yes in a browser, waits for the answer, and keeps the tokens "
     "in the data directory, for you alone to read.\n",
     login_options, cs_verb_login, NULL, NULL},
    {"logout", "NAME", "forget the tokens of a server", "", config_options, cs_verb_logout, NULL,
     NULL},
    {"approvals", "[VERB]", "what waits for a person's word, and what they said",
     "A program or a call that is risky waits until a person says yes or no. Without a VERB what "
     "waits now. It works on the data directory, beside whatever waits for the answer: 'caisson "
     "serve', 'caisson mcp' or 'caisson run'. docs/approvals.md explains it.\n",
     cs_approvals_options, cs_verb_approvals, "Persons", cs_approvals_verbs},
    {"approve", "ID", "let a program or a call go on",
     "Shows who asks for what and why, the code with the findings marked, the call and which data "
     "would go where, and waits for a key: yes once, for the session, always, this tool until a "
     "date, no. What is given with options is what y means.\n"
     "\n"
     "Without a terminal --yes is needed: nobody can have read it here. What is CRITICAL needs "
     "somebody else than the one who asked (approvals.four_eyes of the policy).\n"
     "\n"
     "The exit status is 0 if it was answered; 3 if you may not answer it; 2 if somebody was "
     "first, or its time was over.\n"
     "\n"
     "Examples:\n"
     "  caisson approve ap_0193c2d7a1f0c0ffee00c0ffee00c0ff\n"
     "  caisson approve ap_0193c2d7a1f0c0ffee00c0ffee00c0ff --session --yes\n"
     "  caisson approve ap_0193c2d7a1f0c0ffee00c0ffee00c0ff --tool --until 7d \\\n"
     "      --arguments '{\"to\": \"team@example.com\"}' --yes\n",
     approve_options, cs_verb_approve, NULL, NULL},
    {"deny", "ID", "refuse it; the program is told why",
     "Examples:\n"
     "  caisson deny ap_0193c2d7a1f0c0ffee00c0ffee00c0ff --reason 'not to customers'\n",
     deny_options, cs_verb_deny, NULL, NULL},
    {"executions", "VERB", "what ran, and where its results come from",
     "From the data directory, with or without a server that runs.\n", no_options, cs_verb_tools,
     "The record", executions_verbs},
    {"replay", "ID | --all", "run an execution again, from the record",
     "Runs an execution again in a fresh jail with no tool connected: it hears what it heard then, "
     "at the same times, and must come to the same result. If it does not, it says at which call "
     "they part. With --code another program runs in the world that was recorded, which shows "
     "what a change would have answered; it is judged like any program, and where a person would "
     "have to approve it, it is denied. Nothing is kept but an entry in the ledger.\n"
     "\n"
     "The exit status is 0 if the outputs are the same, 1 if they differ or it cannot be replayed. "
     "Executions of 'caisson run -v' say their ID; 'caisson audit list' and GET /executions list "
     "them.\n"
     "\n"
     "Examples:\n"
     "  caisson replay ex_0193c2d7a1f0c0ffee00c0ffee00c0ff --diff\n"
     "  caisson replay ex_0193c2d7a1f0c0ffee00c0ffee00c0ff --code mended.ts --diff\n",
     replay_options, cs_verb_replay, NULL, NULL},
    {"audit", "VERB", "the ledger: what happened, and the proof of it",
     "Every execution, call, key, session, change of configuration and refused request is an entry "
     "of one chain of hashes, signed with the key of this data directory. docs/ledger.md explains "
     "it.\n",
     no_options, cs_verb_tools, NULL, audit_verbs},
    {"artifacts", "VERB", "what executions left behind: files, large results, stored values",
     "Files that programs leave in /workspace/out, results that are too large for an answer, and "
     "what caisson.storage.put was given. They are kept in the data directory as long as their "
     "executions, and up to artifacts.quota.\n",
     no_options, cs_verb_tools, NULL, artifacts_verbs},
    {"cache", "VERB", "answers of executions that are kept",
     "An execution that is asked for again within cache.ttl is answered with what the first one "
     "answered, if all it did was to read.\n",
     no_options, cs_verb_tools, NULL, cache_verbs},
    {"policy", "VERB", "who may do what: check it, explain it, test it",
     "The policy says which tools may be called, which programs are risky, what may go where, and "
     "how persons are asked. docs/policy.md describes it.\n",
     no_options, cs_verb_tools, "Policy and privacy", cs_policy_verbs},
    {"privacy", "VERB", "what is personal or secret in a text",
     "What tools answer is looked through before a program sees it: it gets tokens such as "
     "[EMAIL_1], and tools get the values back. docs/privacy.md explains it.\n",
     no_options, cs_verb_tools, NULL, privacy_verbs},
    {"stats", "", "figures of what ran: how much, how fast, how well",
     "From the data directory, whether anything runs or not: executions, errors, time, memory, "
     "calls of tools, answers from the cache, tokens saved. Figures are kept by the hour: all "
     "hours that the window touches count.\n"
     "\n"
     "Examples:\n"
     "  caisson stats --window 7d\n"
     "  caisson stats --tenant acme -o json\n",
     stats_options, cs_verb_stats, NULL, NULL},
    {"backup", "FILE", "copy the store to a file, while it is in use",
     "One tar file of one moment: the database (executions, sessions with their state, keys, the "
     "ledger), artifacts and journals, the archives, and the keys of the ledger. Keep it where "
     "nobody else can read it. FILE must not be there yet. To go back to it, unpack it into an "
     "empty data directory.\n"
     "\n"
     "Not in it: the files of sessions (copy sessions/ of the data directory, best while nothing "
     "runs), and privacy.key, without which tokens have no values any more (keep it apart).\n"
     "\n"
     "Examples:\n"
     "  caisson backup monday.tar\n"
     "  tar xf monday.tar caisson.db && caisson audit verify caisson.db\n",
     no_options, cs_verb_backup, NULL, NULL},
    {"keys", "VERB", "API keys: who may use 'caisson serve'",
     "A caller on this machine needs none, unless server.require_key is set. They are kept in the "
     "data directory, for all that use it.\n",
     no_options, cs_verb_tools, "This program", keys_verbs},
    {"config", "VERB", "the settings: show them, check them, explain them",
     "Settings are in the same file as the servers (see 'caisson help add'): "
     "{\"server\": {\"port\": 8002}}. Each of them is a variable (CAISSON_SERVER_PORT) and a flag "
     "of 'caisson serve' (--server.port) too; a flag comes before a variable, a variable before "
     "the file.\n",
     no_options, cs_verb_config, NULL, config_verbs},
    {"doctor", "", "try every wall of the jail on this machine",
     "Tries each wall for real and says what holds, what does not, and what to do about it. The "
     "exit status is 0 if programs can run fully walled in, 3 if a required wall is missing.\n",
     doctor_options, cs_verb_doctor, NULL, NULL},
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
