/*
 * What a tool brings in and can do, guessed from what is known about it: the words of its name, of
 * its server's name, of its description, its annotations, the names of its arguments.
 *
 * Measured against real tools: a guess, which the section `labels` of a policy corrects. It errs
 * towards PRIVATE (what nobody knows may be read by everybody), and towards EGRESS where outsiders
 * can read what a call is given: a message, a public place, an address of the caller's choice. A
 * question to a search engine is none: it goes to whoever was configured, and nowhere else. A
 * description can only add to what the names say, or tell what a tool is whose names say nothing.
 */
#include <string.h>

#include "base/mem.h"
#include "policy/inside.h"

#define WORD_MAX    24
#define NAME_WORDS  24
#define SAID_WORDS  40
#define SAID_VERBS  8 /* words of a description in which its verb is */
#define SCHEMA_LOOK (64u << 10)
#define SLOTS       2048u

enum {
    READS = 1,        /* verbs */
    WRITES = 2,       /* */
    SENDS = 4,        /* what goes out reaches somebody */
    DESTROYS = 8,     /* */
    RUNS = 16,        /* */
    MAKES = 32,       /* out of its arguments alone */
    ACTS = 64,        /* in a browser */
    MAYBE = 128,      /* sends, where no other verb is */
    OURS = 256,       /* what it is about: private */
    OPEN = 512,       /* anybody may have written it */
    KNOWN = 1024,     /* everybody can read it */
    LETTERS = 2048,   /* whoever writes one reaches somebody */
    NOTES = 4096,     /* the same in a public house */
    HOUSE = 8192,     /* where outsiders read */
    BROWSER = 16384,  /* */
    CODE = 32768,     /* */
    DATABASE = 65536, /* */
    SHELL = 131072,   /* runs whatever it is told */
    LINK = 262144,    /* goes to an address of the caller's choice */
    ADDS = 524288,    /* and takes nothing away */
    QUIET = 1048576,  /* what is done to a message that nobody gets */
};
#define VERBS (READS | WRITES | SENDS | DESTROYS | RUNS | MAKES | ACTS)
#define ABOUT (OURS | OPEN | KNOWN)

static const struct {
    unsigned is;
    const char *words;
} classes[] = {
    {READS,
     " get list search find read fetch query retrieve describe show view lookup look check "
     "count browse inspect extract download export info status peek poll scan ask lists "
     "detect monitor watch compare diff explore resolve examine identify explain tail head "
     "stat select match filter sample load discover audit estimate predict recommend "
     "preview verify log logs tree snapshot screenshot fetches loads cat ls grep overview "
     "summary details enumerate recall observe whois analyze analyse research reader searcher "
     "crawl scrape spider map "},
    {WRITES, " create update add set put patch edit modify insert upsert write save append rename "
             "move copy assign attach link store register configure enable disable import ingest "
             "sync tag label mark pin star close reopen resolve merge complete start stop apply "
             "manage change replace duplicate clone restore approve reject accept schedule make "
             "new open init commit checkout rebase cherry stash branch fork build deploy provision "
             "upgrade scale restart subscribe follow unfollow lock unlock archive unarchive draft "
             "increment unpublish link unlink toggle grant setup install connect cordon join "
             "extend exclude include promote update adds remember bulk updater writer mute unmute "
             "activate deactivate "},
    {SENDS, " send post publish reply forward share notify tweet invite broadcast dispatch push "
            "upload announce submit dm transmit webhook respond unicast multicast "},
    {DESTROYS, " delete remove drop truncate purge destroy wipe erase kill terminate uninstall "
               "revoke clear reset overwrite discard unregister prune evict cleanup rm del "
               "rmdir shutdown ban empty withdraw transfer swap pay forget flush rollback "},
    {RUNS, " run execute exec eval evaluate invoke trigger launch perform call "},
    {MAKES, " generate convert render calculate compute validate format think draw plan translate "
            "summarize transform encode decode parse echo sum roll sequentialthinking thinking "
            "guess simulate multiply divide subtract round optimize demonstrate demonstrates "
            "provide provides visualize "},
    {ACTS, " navigate goto click type fill press hover drag drop upload select submit scroll "
           "evaluate wait resize key tap swipe back forward act interact handle open new set "
           "put post patch delete get run execute "},
    {MAYBE, " comment message email mail sms tweet text webhook request notification "},
    {OURS, " file files directory folder drive document documents email emails mail gmail inbox "
           "outlook message messages thread channel slack chat discord telegram whatsapp sms dm "
           "conversation calendar event events contact customer client lead deal crm salesforce "
           "hubspot invoice payment account user member employee database db sql postgres mysql "
           "sqlite mongodb redis table record row collection notion confluence wiki note notes "
           "secret credential key password token log metric trace memory graph knowledge task "
           "project workspace repo repository commit branch diff code git bucket storage s3 blob "
           "onedrive dropbox sharepoint vault order transaction balance bank patient health "
           "recording transcript transcription history bookmark photo screenshot config "
           "environment variable session profile phone call meeting obsidian airtable sheet "
           "spreadsheet excel doc presentation board card namespace pod cluster droplet "
           "attachment clipboard desktop window tab subscription team organization member group "
           "permission usage entity entities index vector "},
    {OPEN, " web webpage website html scrape crawl spider internet url rss feed reddit hackernews "
           "twitter tweet bluesky mastodon instagram facebook linkedin youtube tiktok weibo zhihu "
           "bilibili forum comment issue ticket discussion pull review feedback reply replies "
           "email emails mail gmail inbox outlook message messages thread slack chat discord "
           "telegram whatsapp sms conversation newsletter response survey submission news article "
           "brave tavily exa duckduckgo perplexity kagi serper serpapi searxng firecrawl "
           "browserbase hyperbrowser apify jina bing webpages websites stackoverflow event events "
           "meeting calendar transcript social merge mr prs zendesk intercom blog podcast "
           "video videos channel "},
    {KNOWN, " weather forecast map maps geocode geocoding direction directions route place places "
            "timezone time date currency exchange stock stocks crypto cryptocurrency coin "
            "coingecko market price prices ticker news wikipedia arxiv pubmed paper scholar docs "
            "documentation npm pypi crate package packages nasa flight train station hotel airbnb "
            "movie game champion champions lol tft pokemon recipe dictionary icon icons font "
            "whois dns ip nft gas ethereum evm blockchain solana bitcoin trending trends hot "
            "leetcode codeforces holiday sunrise earthquake museum artwork art poi location "
            "location elevation distance transit traffic restaurant song lyrics artist anime "
            "book books quote joke fact emoji color palette template example examples library "
            "libraries framework guide guides tutorial instructions rules version kernel region "
            "regions size sizes plan plans theme themes model models openapi rate rates oscillator "
            "indicator esports sports match matches football nba finance earnings dividend "
            "academic research patent law legislation vulnerability cve census statistics "
            "alphavantage meal meals contract alpha "},
    {LETTERS, " message messages mail email emails sms call dm fax invitation invite broadcast "
              "webhook notification tweet gist campaign newsletter mms whatsapp reply chat "},
    {NOTES,
     " issue comment post pull review discussion release wiki gist file files content contents "
     "note ticket mr thread reply merge commit page repository snippet "},
    {HOUSE, " github gitlab bitbucket gitea codeberg huggingface stackoverflow zendesk intercom "
            "freshdesk reddit twitter bluesky mastodon linkedin youtube wordpress medium ghost "
            "discourse facebook instagram "},
    {BROWSER, " browser playwright puppeteer chrome selenium browserbase hyperbrowser stagehand "
              "chromium firefox "},
    {CODE, " code script command commands javascript python js cmd program dyno container "
           "process notebook cell console kernel "},
    {DATABASE, " sql query cypher statement database db postgres mysql sqlite mongodb soql "},
    {ADDS, " create add insert append new init clone fork star copy duplicate register subscribe "
           "follow comment reply send post invite tag label submit request start open "},
    {QUIET, " draft modify mark archive unarchive move label tag star pin dismiss mute "},
    {SHELL, " shell bash terminal powershell ssh curl zsh "},
    {LINK, " curl http https scrape crawl navigate goto webpage website "},
};

struct words {
    struct cs_label_words *table;
    char at[NAME_WORDS + SAID_WORDS][WORD_MAX];
    unsigned is[NAME_WORDS + SAID_WORDS];
    size_t count;
};

/* --- words --- */

struct slot {
    const char *at;
    unsigned len, is;
};

struct cs_label_words {
    struct slot slots[SLOTS];
};

/* Where a word is, or would be. There are more slots than words. */
static struct slot *slot_of(struct cs_label_words *table, const char *word, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    for (size_t i = (hash ^ hash >> 15) % SLOTS;; i = (i + 1) % SLOTS) {
        struct slot *s = &table->slots[i];
        if (!s->at || (s->len == len && memcmp(s->at, word, len) == 0))
            return s;
    }
}

struct cs_label_words *cs_label_words_new(void)
{
    struct cs_label_words *table = CS_NEW(struct cs_label_words);
    for (size_t i = 0; i < CS_COUNT(classes); i++)
        for (const char *at = classes[i].words; *at; at += *at == ' ') {
            size_t len = strcspn(at, " ");
            struct slot *s = slot_of(table, at, len);
            if (len)
                *s = (struct slot){at, (unsigned)len, s->is | classes[i].is};
            at += len;
        }
    return table;
}

void cs_label_words_free(struct cs_label_words *table)
{
    free(table);
}

static unsigned class_of(struct cs_label_words *table, const char *word, size_t len)
{
    return slot_of(table, word, len)->is;
}

/* "issues" is an issue, "entries" an entry, "sends" means sending. */
static unsigned look_up(struct cs_label_words *table, const char *word, size_t len)
{
    char other[WORD_MAX];
    unsigned is = class_of(table, word, len);
    if (is || len < 4 || word[len - 1] != 's')
        return is;
    if (len > 4 && memcmp(word + len - 3, "ies", 3) == 0) {
        memcpy(other, word, len);
        other[len - 3] = 'y';
        return class_of(table, other, len - 2);
    }
    is = class_of(table, word, len - 1);
    return is || len < 5 || word[len - 2] != 'e' ? is : class_of(table, word, len - 2);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The words of createPullRequest, create-pull-request, HTTPRequest, "Create a pull request". */
static void split(struct cs_str text, size_t most, struct words *w)
{
    size_t i = 0;
    for (size_t taken = 0; i < text.len && taken < most && w->count < CS_COUNT(w->at);) {
        size_t start = i, len = 0;
        while (i < text.len && (is_upper(text.at[i]) || is_lower(text.at[i]))) {
            bool hump =
                i > start && is_upper(text.at[i]) &&
                (is_lower(text.at[i - 1]) || (i + 1 < text.len && is_lower(text.at[i + 1])));
            if (hump)
                break;
            if (len < WORD_MAX - 1)
                w->at[w->count][len++] = (char)(text.at[i] | 0x20);
            i++;
        }
        if (i == start) {
            i++;
            continue;
        }
        w->at[w->count][len] = 0;
        w->is[w->count] = look_up(w->table, w->at[w->count], len);
        w->count++;
        taken++;
    }
}

static unsigned all_of(const struct words *w, size_t from, size_t to)
{
    unsigned is = 0;
    for (size_t i = from; i < to; i++)
        is |= w->is[i];
    return is;
}

/* What the first verb does. A word that is what it is about, too, is a verb only in front. */
static unsigned verb_of(const struct words *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        unsigned verb = w->is[i] & (VERBS & ~(unsigned)ACTS);
        bool thing = (w->is[i] & (ABOUT | LETTERS | NOTES)) != 0;
        if (verb && (!thing || i == from || i + 1 == to))
            return verb;
    }
    return 0;
}

/* --- arguments --- */

static const char *const urls[] = {"url", "urls", "uri", "href", "endpoint"};
static const char *const addressees[] = {"to",         "cc",        "bcc",     "recipient",
                                         "recipients", "attendees", "invitees"};

static bool among(struct cs_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cs_str_is(name, names[i]))
            return true;
    return false;
}

/* Are there arguments of such names, somewhere? A schema is not worth a parser: a name that is
 * found in the wrong place adds a label, and takes none away. */
static void look_for(struct cs_str schema, bool *url, bool *addressed)
{
    const char *at = schema.at, *end = at + (schema.len < SCHEMA_LOOK ? schema.len : SCHEMA_LOOK);
    while (at && at < end) {
        const char *start = memchr(at, '"', (size_t)(end - at));
        const char *quote = start ? ++start : NULL;
        bool escaped = true;
        while (escaped && quote && (quote = memchr(quote, '"', (size_t)(end - quote)))) {
            const char *before = quote;
            while (before > start && before[-1] == '\\')
                before--;
            escaped = (quote - before) % 2 != 0;
            quote += escaped;
        }
        if (!quote)
            return;
        struct cs_str name = cs_strn(start, (size_t)(quote - start));
        at = quote + 1;
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
            at++;
        if (at < end && *at == ':') {
            *url = *url || among(name, urls, CS_COUNT(urls));
            *addressed = *addressed || among(name, addressees, CS_COUNT(addressees));
        }
    }
}

/* --- the guess --- */

struct guess {
    unsigned verb;
    unsigned name, house; /* what the words of tool and server are */
    unsigned about;       /* ABOUT */
    bool url;             /* it takes one */
    bool addressed;       /* it takes somebody to whom it goes */
    const char *why;
};

/* What the names say. */
static void read_names(const struct cs_tool_view *t, struct words *w, struct guess *g)
{
    split(t->target.server, NAME_WORDS / 2, w);
    size_t tool = w->count, first = tool;
    split(t->target.tool, NAME_WORDS - tool, w);
    g->house = all_of(w, 0, tool);
    g->name = all_of(w, tool, w->count);
    /* mail_send of a server that is called mail: its own name says nothing new. */
    while (tool && first + 1 < w->count && strcmp(w->at[first], w->at[0]) == 0)
        first++;
    bool method = first + 1 < w->count && strcmp(w->at[first], "api") == 0 &&
                  strcmp(w->at[first + 1], "post") == 0;
    g->verb = method ? WRITES : verb_of(w, first, w->count);
    if (!g->verb && g->name & MAYBE)
        g->verb = SENDS;
    g->about = g->name & ABOUT;
    g->why = "its name";
    if (!g->about) {
        g->about = g->house & ABOUT;
        g->why = "its server's name";
    }
}

/* What the description says where they say nothing. */
static void read_said(const struct cs_tool_view *t, struct words *w, struct guess *g)
{
    size_t said = w->count;
    split(t->description, SAID_WORDS, w);
    if (!g->verb)
        g->verb = verb_of(w, said, w->count < said + SAID_VERBS ? w->count : said + SAID_VERBS);
    if (g->about)
        return;
    g->about = all_of(w, said, w->count) & ABOUT;
    g->why = g->about ? "its description" : "what is not known is private";
}

static unsigned brought(const struct guess *g)
{
    unsigned labels = 0;
    if (g->about & OPEN)
        labels |= CS_LABEL_UNTRUSTED;
    if (g->about & OURS || !g->about)
        labels |= CS_LABEL_PRIVATE;
    else if (g->about & KNOWN)
        labels |= CS_LABEL_PUBLIC;
    return labels;
}

static unsigned of_browser(const struct guess *g)
{
    unsigned labels = CS_LABEL_UNTRUSTED;
    if (g->url || g->name & (ACTS | CODE))
        labels |= CS_LABEL_EGRESS;
    return labels;
}

static unsigned of_runner(const struct guess *g)
{
    if (g->name & (SHELL | CODE))
        return CS_LABEL_PRIVATE | CS_LABEL_EGRESS | CS_LABEL_DESTRUCTIVE;
    if ((g->name | g->house) & DATABASE || g->name & READS)
        return CS_LABEL_PRIVATE | CS_LABEL_INTERNAL;
    return CS_LABEL_INTERNAL;
}

static unsigned of_writer(const struct guess *g)
{
    bool out = g->addressed || (g->name & LETTERS && !(g->name & QUIET)) ||
               (g->name & NOTES && g->house & HOUSE);
    return out ? CS_LABEL_EGRESS : CS_LABEL_INTERNAL;
}

static unsigned guess_labels(const struct guess *g)
{
    if (g->name & SHELL && !(g->verb & (READS | WRITES | DESTROYS)))
        return of_runner(g);
    if ((g->house & BROWSER || g->name & BROWSER) && g->verb != MAKES)
        return of_browser(g);
    if (g->verb & DESTROYS)
        return CS_LABEL_DESTRUCTIVE | CS_LABEL_INTERNAL;
    if (g->verb & SENDS)
        return CS_LABEL_EGRESS;
    if (g->verb & RUNS)
        return of_runner(g);
    if (g->url && !(g->verb & WRITES))
        return CS_LABEL_UNTRUSTED | CS_LABEL_EGRESS;
    if (g->verb & WRITES)
        return of_writer(g);
    if (g->verb & MAKES)
        return CS_LABEL_PUBLIC;
    unsigned labels = brought(g);
    return labels | (g->verb || labels == CS_LABEL_PUBLIC ? 0 : CS_LABEL_INTERNAL);
}

/* What the annotations add, and what those take away whose word counts. */
static unsigned annotate(const struct cs_tool_view *t, const struct guess *g, unsigned labels)
{
    bool harmless = g->verb & (READS | MAKES) || (g->name & ADDS && !(g->verb & DESTROYS));
    if (t->owns_up || (t->annotated && t->destructive && !t->read_only && !harmless))
        labels |= CS_LABEL_DESTRUCTIVE;
    if (!t->trusted || !t->annotated)
        return labels;
    bool link = g->url || g->name & LINK;
    if (t->read_only)
        labels &= ~(unsigned)(CS_LABEL_DESTRUCTIVE | (link ? 0 : CS_LABEL_EGRESS));
    bool sends = g->addressed && g->verb & (WRITES | SENDS);
    if (!t->open_world)
        labels = (sends ? labels : labels & ~(unsigned)CS_LABEL_EGRESS) | CS_LABEL_INTERNAL;
    return labels;
}

unsigned cs_labels_guess(struct cs_label_words *table, const struct cs_tool_view *t,
                         struct cs_str *why)
{
    const unsigned sticks = CS_LABEL_UNTRUSTED | CS_LABEL_EGRESS | CS_LABEL_DESTRUCTIVE;
    struct words w = {.table = table};
    struct guess g = {.url = false};
    look_for(t->input, &g.url, &g.addressed);
    read_names(t, &w, &g);
    unsigned labels = guess_labels(&g);
    if (!g.verb || !g.about) {
        read_said(t, &w, &g);
        labels = guess_labels(&g) | (labels & sticks);
    }
    labels = annotate(t, &g, labels);
    if (!t->trusted)
        labels |= CS_LABEL_UNTRUSTED | CS_LABEL_EGRESS;
    if (why)
        *why = t->trusted ? cs_str(g.why) : CS_STR("its server's trust is low");
    return labels;
}
