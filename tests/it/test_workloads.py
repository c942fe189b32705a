"""What agents do with tools: servers like GitHub, Jira and Slack, and programs as models write them."""

import json

from harness import table
from peers import configure, official, ours

WEEK = """
import { listCommits } from './mcp-servers/github/listCommits.ts';
const commits = await listCommits({ owner: 'harbour', repo: 'web', per_page: 1000 });
const since = new Date('2026-06-23T12:00:00Z').toISOString();
const byAuthor: Record<string, number> = {};
for (const c of commits) {
    if (c.commit.author.date < since) continue;
    byAuthor[c.author.login] = (byAuthor[c.author.login] ?? 0) + 1;
}
return { fetched: commits.length, bytes: JSON.stringify(commits).length, byAuthor };
"""

THREE = """
const [commits, done, history] = await Promise.allSettled([
    tools.github.listCommits({ owner: 'harbour', repo: 'web', per_page: 100 }),
    jira.jiraSearch({ jql: 'status = "Done"', maxResults: 500 }),
    slack.slackGetChannelHistory({ channel_id: 'C0100', limit: 200 }),
]);
const mentioned = new Set<string>();
if (history.status === 'fulfilled')
    for (const m of history.value.messages) for (const key of m.text.match(/HAR-\\d+/g) ?? []) mentioned.add(key);
return {
    commits: commits.status === 'fulfilled' ? commits.value.length : null,
    done: done.status === 'fulfilled' ? done.value.total : null,
    mentioned: history.status === 'fulfilled' ? mentioned.size : history.reason.name + ': ' + history.reason.server,
};
"""


def all_three(**slack):
    return {"github": ours("github"), "jira": ours("jira"), "slack": ours("slack", **slack)}


def completed(t, envelope):
    t.true(envelope["status"] == "completed", "failed: %r" % envelope.get("error"))
    return envelope["result"]


def test_a_thousand_commits_become_less_than_a_kilobyte(t):
    configure(t, {"github": ours("github")})
    e = t.envelope(WEEK)
    result = completed(t, e)
    t.equal(result["fetched"], 1000, "commits fetched")
    t.true(result["bytes"] > 1_000_000, "the answer has only %d bytes" % result["bytes"])
    t.equal(sum(result["byAuthor"].values()), 117, "commits of the last week")
    t.true(len(json.dumps(e["result"])) < 1024, "the result is not small")
    t.equal([(c["tool"], c["status"]) for c in e["calls"]], [("list_commits", "ok")], "calls")
    t.true(e["calls"][0]["result_bytes"] > 1_000_000, "the call's bytes: %r" % e["calls"])


def test_three_servers_in_one_program(t):
    configure(t, all_three())
    result = completed(t, t.envelope(THREE))
    t.equal(result["commits"], 100, "commits")
    t.true(50 < result["done"] < 150, "tickets that are done: %r" % result)
    t.true(result["mentioned"] > 50, "tickets mentioned: %r" % result)


def test_a_server_that_is_down_is_an_error_that_the_program_catches(t):
    configure(t, all_three(env={"SLACK_DIES": "1"}))
    e = t.envelope(THREE)
    result = completed(t, e)
    t.equal(result["commits"], 100, "commits")
    t.equal(result["mentioned"], "ToolError: slack", "what the program caught")
    t.equal({c["server"]: c["status"] for c in e["calls"]}, {"github": "ok", "jira": "ok", "slack": "error"}, "calls")


def test_a_server_that_cannot_be_started_costs_only_itself(t):
    servers = all_three()
    servers["slack"] = {"command": "no-such-command-anywhere"}
    configure(t, servers)
    result = completed(t, t.envelope(THREE))
    t.equal(result["mentioned"], "ToolError: slack", "what the program caught")


@table([
    ("unknown tool", "return await tools.github.listComits({ owner: 'harbour', repo: 'web' })",
     "permission_error", r"no tool 'listComits'", r"github\.listCommits"),
    ("unknown server", "return await tools.gitlab.listCommits({})", "permission_error", r"no server 'gitlab'", r"listCommits"),
    ("unknown import", "import { listComits } from './mcp-servers/github/listComits.ts';\nreturn await listComits({})",
     None, r"listComits", r"listCommits"),
    ("wrong argument name", "return await github.listCommits({ owner: 'harbour', repository: 'web' })",
     "validation_error", r"repo", r"repo \(required\)"),
    ("wrong argument type", "return await github.listCommits({ owner: 'harbour', repo: 'web', per_page: '30' })",
     "validation_error", r"per_page.*(number|integer)", r"per_page"),
    ("wrong enum value", "return await github.listIssues({ owner: 'harbour', repo: 'web', state: 'opened' })",
     "validation_error", r"state.*\"open\".*\"closed\"", r"state"),
    ("missing await", "const commits = github.listCommits({ owner: 'harbour', repo: 'web' });\nreturn commits.map((c) => c.sha)",
     "type_error", r"map", r"await"),
    ("positional arguments", "return await github.listCommits('harbour', 'web')", "validation_error", r"one object", r"readToolDefinition"),
    ("tool error", "return await github.listCommits({ owner: 'nobody', repo: 'nothing' })",
     "upstream_error", r"Not Found: repository nobody/nothing", None),
])
def test_an_agents_usual_mistakes_are_answered_with_how_to_mend_them(t, name, code, kind, message, suggestion):
    configure(t, {"github": ours("github")})
    error = t.envelope(code)["error"]
    if kind:
        t.equal(error["type"], kind, "type of %r" % error)
    t.matches(error["message"] + " " + error.get("suggestion", ""), message, "message")
    if suggestion:
        t.matches(error.get("suggestion", "") + error["message"], suggestion, "suggestion")
    t.true(error.get("line"), "no line: %r" % error)


def test_a_tool_error_has_its_fields(t):
    configure(t, {"github": ours("github")})
    caught = completed(t, t.envelope("""
        const seen = [];
        for (const login of ['nobody', 'busy'])
            try { await github.getUser({ login }) }
            catch (e) { seen.push([e instanceof ToolError, e.server, e.tool, e.message, e.retryable]) }
        return seen"""))
    t.equal(caught, [[True, "github", "getUser", "Not Found: user nobody", False],
                     [True, "github", "getUser", "API rate limit exceeded; try again in 60 s", True]], "what was caught")


def test_names_that_are_no_identifiers_have_one_call_in_all_spellings(t):
    configure(t, {"git-hub": ours("github")})
    result = completed(t, t.envelope("""
        import { createPullRequest } from '/mcp-servers/git-hub/createPullRequest.ts';
        import * as all from 'mcp-servers/git-hub/index.ts';
        const args = { owner: 'harbour', repo: 'web', title: 't', head: 'a', base: 'b' };
        const prs = await Promise.all([
            createPullRequest(args), all.createPullRequest(args), tools.gitHub.createPullRequest(args), gitHub.createPullRequest(args),
            tools['git-hub']['create-pull-request'](args), caisson.callTool('git-hub', 'create-pull-request', args),
        ]);
        return prs.map((p) => p.number)"""))
    t.equal(result, [77] * 6, "pull requests")


def test_calls_in_promise_all_run_in_parallel(t):
    configure(t, {"everything": official("everything")})
    e = t.envelope("""
        const start = performance.now();
        await Promise.all([1, 2, 3, 4].map(() => everything.triggerLongRunningOperation({ duration: 1, steps: 1 })));
        return 1""")
    completed(t, e)
    latencies = [c["latency_ms"] for c in e["calls"]]
    t.true(len(latencies) == 4, "calls: %r" % e["calls"])
    t.true(e["metrics"]["execution_time_ms"] < sum(latencies) * 0.6, "one after the other: %r" % e["metrics"])


def test_images_and_resources_arrive_as_values(t):
    configure(t, {"everything": official("everything")})
    result = completed(t, t.envelope("""
        const image = await everything.getTinyImage({});
        return image.map((b) => [b.type, b.mimeType ?? null, (b.data ?? b.text).length > 10])"""))
    t.true(["image", "image/png", True] in result, "blocks: %r" % result)


def test_the_output_type_is_learned(t):
    configure(t, {"github": ours("github")})
    completed(t, t.envelope("return (await github.getUser({ login: 'ada' })).name"))
    text = t.caisson("tools", "show", "--timeout", "60s", "github.getUser").out
    t.has(text, "@learned from 1 result", "the definition")
    t.matches(text, r"followers: number", "the definition")


def test_policy_denies_and_says_what_is_allowed(t):
    configure(t, {"github": ours("github")}, {"tools": {"deny": ["*/delete*"], "rules": [
        {"tool": "github/create_issue", "parameters": {"title": {"max_length": 20, "pattern": "^[A-Z]"}}}]}})
    denied = t.envelope("return await github.deleteBranch({ owner: 'harbour', repo: 'web', branch: 'x' })")["error"]
    t.equal(denied["type"], "permission_error", "type")
    t.lacks(denied["suggestion"], "deleteBranch", "suggestion")
    ruled = t.envelope("return await github.createIssue({ owner: 'harbour', repo: 'web', title: 'lower case' })")["error"]
    t.equal(ruled["type"], "permission_error", "type")
    t.has(ruled["message"], "title", "message")
    found = completed(t, t.envelope("return (await searchTools('delete a branch')).tools.map((x) => x.tool)"))
    t.true("github.deleteBranch" not in found, "a denied tool is found: %r" % found)


def test_a_policy_that_cannot_be_read_refuses_everything(t):
    configure(t, {"github": ours("github")})
    t.file("policy.json", '{"tools": {"denied": []}}')
    done = t.run("return 1")
    t.true(done.status != 0 and "denied" in done.err and "deny" in done.err, str(done))


def test_too_many_calls_end_the_program(t):
    configure(t, {"github": ours("github")})
    e = t.envelope("for (let i = 0; ; i++) await github.getUser({ login: 'ada' })", "--limit", "tool_calls=20")
    t.equal(e["error"]["type"], "resource_error", "type")
    t.equal(e["error"]["limit"]["name"], "tool_calls", "limit")


def test_guests_call_tools_too(t):
    configure(t, {"github": ours("github")})
    e = t.envelope("import caisson\nprint(caisson.tools.github.get_user(login='ada')['login'])", language="python")
    t.has(e["stdout"], "ada", "stdout of %r" % e.get("error"))
