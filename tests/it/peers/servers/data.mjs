// A small company's data, the same at every start: who works there, what they commit, file and say.
// Dates are counted back from NOW, so that "the last week" is always the same commits.

export const NOW = Date.parse('2026-06-30T12:00:00Z');
const DAY = 86400000;

// mulberry32: the same numbers on every machine.
export function random(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

export const people = [
    ['ada', 'Ada Okafor'], ['bruno', 'Bruno Keller'], ['chen', 'Chen Wei'], ['dalia', 'Dalia Haddad'],
    ['emil', 'Emil Novak'], ['farah', 'Farah Siddiqui'], ['goran', 'Goran Petrov'], ['hana', 'Hana Sato'],
].map(([login, name], i) => ({ login, name, email: `${login}@harbour.example`, id: 4100 + i }));

const areas = ['billing', 'search', 'login', 'export', 'mobile', 'api', 'docs', 'build'];
const verbs = ['fix', 'add', 'remove', 'speed up', 'rename', 'test', 'document', 'guard'];
const things = ['the retry loop', 'invoice totals', 'empty results', 'session expiry', 'CSV columns', 'the cache key',
    'rate limits', 'time zones', 'the upload form', 'error texts'];

const hex = (next, n) => Array.from({ length: n }, () => Math.floor(next() * 16).toString(16)).join('');
const pick = (next, list) => list[Math.floor(next() * list.length)];

// As GitHub's API answers: most of it is links that nobody reads.
function commit(next, i, owner, repo) {
    const who = pick(next, people), sha = hex(next, 40), tree = hex(next, 40), parent = hex(next, 40);
    const date = new Date(NOW - i * 0.06 * DAY - Math.floor(next() * 3600000)).toISOString();
    const area = pick(next, areas);
    const base = `https://api.github.example/repos/${owner}/${repo}`;
    const user = {
        login: who.login, id: who.id, node_id: hex(next, 20), avatar_url: `https://avatars.github.example/u/${who.id}?v=4`, gravatar_id: '',
        url: `https://api.github.example/users/${who.login}`, html_url: `https://github.example/${who.login}`,
        followers_url: `https://api.github.example/users/${who.login}/followers`,
        following_url: `https://api.github.example/users/${who.login}/following{/other_user}`,
        type: 'User', site_admin: false,
    };
    return {
        sha, node_id: hex(next, 32),
        commit: {
            author: { name: who.name, email: who.email, date }, committer: { name: who.name, email: who.email, date },
            message: `${area}: ${pick(next, verbs)} ${pick(next, things)}\n\nRefs HAR-${100 + Math.floor(next() * 400)}`,
            tree: { sha: tree, url: `${base}/git/trees/${tree}` }, url: `${base}/git/commits/${sha}`, comment_count: Math.floor(next() * 3),
            verification: { verified: next() < 0.9, reason: 'valid', signature: null, payload: null },
        },
        url: `${base}/commits/${sha}`, html_url: `https://github.example/${owner}/${repo}/commit/${sha}`,
        comments_url: `${base}/commits/${sha}/comments`, author: user, committer: user,
        parents: [{ sha: parent, url: `${base}/commits/${parent}` }],
        stats: { additions: Math.floor(next() * 200), deletions: Math.floor(next() * 120) },
    };
}

export function commits(owner, repo, count = 1000) {
    const next = random(7);
    return Array.from({ length: count }, (_, i) => commit(next, i, owner, repo));
}

export const tickets = (() => {
    const next = random(11);
    return Array.from({ length: 400 }, (_, i) => ({
        key: `HAR-${100 + i}`,
        fields: {
            summary: `${pick(next, areas)}: ${pick(next, verbs)} ${pick(next, things)}`,
            status: { name: pick(next, ['To Do', 'In Progress', 'In Review', 'Done']) },
            priority: { name: pick(next, ['Low', 'Medium', 'High', 'Highest']) },
            assignee: next() < 0.85 ? { accountId: `acc-${Math.floor(next() * 8)}`, displayName: pick(next, people).name } : null,
            created: new Date(NOW - next() * 90 * DAY).toISOString(), labels: [pick(next, areas)], storyPoints: Math.ceil(next() * 8),
        },
    }));
})();

export const channels = ['general', 'releases', 'incidents', 'random'].map((name, i) => ({
    id: `C0${100 + i}`, name, is_private: false, num_members: 8 - i, topic: { value: `all about ${name}` },
}));

export const messages = (() => {
    const next = random(13);
    return Object.fromEntries(channels.map((c) => [c.id, Array.from({ length: 200 }, (_, i) => ({
        type: 'message', user: pick(next, people).login, ts: ((NOW - i * 0.1 * DAY) / 1000).toFixed(6),
        text: `${pick(next, verbs)} ${pick(next, things)}? see HAR-${100 + Math.floor(next() * 400)}`,
        reactions: next() < 0.2 ? [{ name: 'eyes', count: 1 + Math.floor(next() * 4) }] : [],
    }))]));
})();
