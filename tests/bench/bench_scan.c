/*
 * How fast privacy/ looks at text, beside five naive regexes (mail, phone, SSN, card, IPv4: what
 * everybody would write) that PCRE2 runs one after another with its JIT in the same run, as text
 * (the ratio that counts, since the message is UTF-8) and as bytes: the
 * answer of an API that lists a thousand commits, 2 MB, and texts that were made to be slow. One
 * core; the best of several rounds, taken in turns.
 *
 *     bench_scan [FILE...]     these files instead of the made-up answer
 *
 * Prints `name value unit` lines. Exits 1 if a ratio is missed; the absolute figures are a note,
 * since they say as much about the machine.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcre2.h>

#include "base/file.h"
#include "base/mem.h"
#include "privacy/privacy.h"

#define ROUNDS         9
#define HOSTILE_BYTES  (1u << 20)
#define TARGET_RATIO   5.0
#define TARGET_MB_S    150.0
#define TARGET_NAMES   40.0
#define TARGET_HOSTILE 3.0

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* the machine may be busy */
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- the answer --- */

static const char *const logins[] = {"ada", "bruno", "chen", "dalia", "emil", "farah"};
static const char *const people[] = {"Ada Okafor",   "Bruno Keller", "Chen Wei",
                                     "Dalia Haddad", "Emil Novak",   "Farah Siddiqui"};

static void hex(char *to, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = "0123456789abcdef"[random_below(16)];
    to[n] = '\0';
}

static void put_user(struct cs_buf *b, uint32_t who)
{
    const char *l = logins[who];
    char id[21];
    hex(id, 20);
    cs_buf_printf(
        b,
        "{\"login\":\"%s\",\"id\":%u,\"node_id\":\"%s\","
        "\"avatar_url\":\"https://avatars.github.example/u/%u?v=4\",\"gravatar_id\":\"\","
        "\"url\":\"https://api.github.example/users/%s\","
        "\"html_url\":\"https://github.example/%s\","
        "\"followers_url\":\"https://api.github.example/users/%s/followers\","
        "\"following_url\":\"https://api.github.example/users/%s/following{/other_user}\","
        "\"type\":\"User\",\"site_admin\":false}",
        l, 4100 + who, id, 4100 + who, l, l, l, l);
}

static void put_commit(struct cs_buf *b)
{
    static const char base[] = "https://api.github.example/repos/harbour/web";
    char sha[41], tree[41], parent[41], id[33], date[32];
    uint32_t who = random_below(CS_COUNT(logins));
    hex(sha, 40);
    hex(tree, 40);
    hex(parent, 40);
    hex(id, 32);
    snprintf(date, sizeof date, "2026-%02u-%02uT%02u:%02u:%02u.%03uZ", 1 + random_below(12),
             1 + random_below(28), random_below(24), random_below(60), random_below(60),
             random_below(1000));
    cs_buf_printf(b, "{\"sha\":\"%s\",\"node_id\":\"%s\",\"commit\":{", sha, id);
    for (unsigned i = 0; i < 2; i++)
        cs_buf_printf(b,
                      "\"%s\":{\"name\":\"%s\",\"email\":\"%s@harbour.example\",\"date\":\"%s\"},",
                      i ? "committer" : "author", people[who], logins[who], date);
    cs_buf_printf(b,
                  "\"message\":\"build: speed up session expiry\\n\\nRefs HAR-%u\","
                  "\"tree\":{\"sha\":\"%s\",\"url\":\"%s/git/trees/%s\"},"
                  "\"url\":\"%s/git/commits/%s\",\"comment_count\":%u,\"verification\":"
                  "{\"verified\":true,\"reason\":\"valid\",\"signature\":null,\"payload\":null}},",
                  random_below(400), tree, base, tree, base, sha, random_below(3));
    cs_buf_printf(
        b,
        "\"url\":\"%s/commits/%s\",\"html_url\":\"https://github.example/harbour/web/commit/"
        "%s\",\"comments_url\":\"%s/commits/%s/comments\",\"author\":",
        base, sha, sha, base, sha);
    put_user(b, who);
    cs_buf_puts(b, ",\"committer\":");
    put_user(b, who);
    cs_buf_printf(b,
                  ",\"parents\":[{\"sha\":\"%s\",\"url\":\"%s/commits/%s\"}],"
                  "\"stats\":{\"additions\":%u,\"deletions\":%u}}",
                  parent, base, parent, random_below(200), random_below(120));
}

static void make_commits(struct cs_buf *b)
{
    cs_buf_putc(b, '[');
    for (unsigned i = 0; i < 1000; i++) {
        if (i)
            cs_buf_putc(b, ',');
        put_commit(b);
    }
    cs_buf_putc(b, ']');
}

/* The same as servers send it: JSON in a string of JSON. */
static void make_wrapped(struct cs_str inner, struct cs_buf *b)
{
    cs_buf_puts(b, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    for (size_t i = 0; i < inner.len; i++) {
        if (inner.at[i] == '"' || inner.at[i] == '\\')
            cs_buf_putc(b, '\\');
        cs_buf_putc(b, inner.at[i]);
    }
    cs_buf_puts(b, "\"}]}");
}

static void make_prose(struct cs_buf *b, size_t bytes)
{
    static const char *const words[] = {
        "the",    "invoice", "of",     "last",  "month",   "was",     "sent",  "to",
        "Berlin", "Ada",     "Okafor", "and",   "she",     "said",    "that",  "order",
        "4711",   "would",   "be",     "late,", "see",     "ticket",  "HAR-7", "which",
        "we",     "close",   "on",     "12:30", "Monday.", "Please:", "call"};
    while (b->len < bytes) {
        cs_buf_puts(b, words[random_below(CS_COUNT(words))]);
        cs_buf_putc(b, random_below(14) ? ' ' : '\n');
    }
}

/* --- ours --- */

static size_t found;

static double scan(const struct cs_detector *d, enum cs_privacy_level level, enum cs_form form,
                   struct cs_str text)
{
    struct cs_spans spans = {0};
    double from = now();
    cs_scan(d, level, form, text, &spans);
    double took = now() - from;
    found = spans.count;
    cs_spans_done(&spans);
    return took;
}

static double best_scan(const struct cs_detector *d, enum cs_privacy_level level, enum cs_form form,
                        struct cs_str text, unsigned rounds)
{
    double best = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        double t = scan(d, level, form, text);
        best = t < best ? t : best;
    }
    return best;
}

/* --- theirs --- */

static const char *const seeds[] = {
    "[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}",
    "(?:\\+?1[-. ]?)?\\(?\\d{3}\\)?[-. ]?\\d{3}[-. ]?\\d{4}",
    "\\b\\d{3}-\\d{2}-\\d{4}\\b",
    "\\b(?:\\d[ -]?){13,16}\\b",
    "\\b(?:\\d{1,3}\\.){3}\\d{1,3}\\b",
};

/* As bytes, and as text: what \\d and \\b mean in most languages. */
static pcre2_code *codes[2][CS_COUNT(seeds)];

static void compile(void)
{
    for (size_t i = 0; i < CS_COUNT(seeds); i++) {
        int error;
        PCRE2_SIZE at;
        for (unsigned unicode = 0; unicode < 2; unicode++) {
            pcre2_code *code =
                pcre2_compile((PCRE2_SPTR)seeds[i], PCRE2_ZERO_TERMINATED,
                              unicode ? PCRE2_UTF | PCRE2_UCP : 0, &error, &at, NULL);
            if (!code || pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) < 0)
                abort();
            codes[unicode][i] = code;
        }
    }
}

static double match(struct cs_str text, bool unicode)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    double from = now();
    for (size_t i = 0; i < CS_COUNT(seeds); i++)
        for (size_t at = 0; at < text.len;) {
            int n = pcre2_jit_match(codes[unicode][i], (PCRE2_SPTR)text.at, text.len, at, 0, data,
                                    NULL);
            if (n < 0)
                break;
            at = pcre2_get_ovector_pointer(data)[1];
        }
    double took = now() - from;
    pcre2_match_data_free(data);
    return took;
}

/* --- figures --- */

static bool missed;

static double mb_s(size_t bytes, double seconds)
{
    return (double)bytes / 1e6 / seconds;
}

static void figures(const char *name, const struct cs_detector *all, const struct cs_detector *bare,
                    struct cs_str text, bool judged)
{
    double ours = 1e9, named = 1e9, bytes = 1e9, theirs = 1e9;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double a = scan(bare, CS_PRIVACY_MEDIUM, CS_FORM_GUESS, text), b = match(text, false),
               c = scan(all, CS_PRIVACY_MEDIUM, CS_FORM_GUESS, text), e = match(text, true);
        ours = a < ours ? a : ours;
        bytes = b < bytes ? b : bytes;
        theirs = e < theirs ? e : theirs;
        named = c < named ? c : named;
    }
    double ratio = theirs / ours;
    printf("scan_%s %.1f MB/s, %zu bytes, %zu found%s\n", name, mb_s(text.len, ours), text.len,
           found, judged && mb_s(text.len, ours) < TARGET_MB_S ? " (target: 150, missed)" : "");
    printf("scan_%s_names %.1f MB/s%s\n", name, mb_s(text.len, named),
           judged && mb_s(text.len, named) < TARGET_NAMES ? " (target: 40, missed)" : "");
    printf("scan_%s_pcre2 %.1f MB/s, as bytes %.1f\n", name, mb_s(text.len, theirs),
           mb_s(text.len, bytes));
    printf("scan_%s_ratio %.2f x, as bytes %.2f%s\n", name, ratio, bytes / ours,
           judged && ratio < TARGET_RATIO ? " MISSED (target: 5)" : "");
    missed = missed || (judged && ratio < TARGET_RATIO);
}

static void fill(struct cs_buf *b, const char *with)
{
    while (b->len < HOSTILE_BYTES)
        cs_buf_puts(b, with);
}

/* How much slower than ordinary text. */
static double hostile(const struct cs_detector *d, const char *head, const char *with,
                      double ordinary)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_puts(&b, head);
    fill(&b, with);
    double worst = 0;
    for (enum cs_form form = CS_FORM_TEXT; form <= CS_FORM_JSON; form++) {
        double t = best_scan(d, CS_PRIVACY_HIGH, form, cs_buf_str(&b), 3) / (double)b.len;
        worst = t > worst ? t : worst;
    }
    return worst / ordinary;
}

static void all_hostile(const struct cs_detector *d)
{
    static const struct {
        const char *name, *head, *with;
    } texts[] = {
        {"at", "", "@"},
        {"digits", "", "7"},
        {"digit-groups", "", "123-45-"},
        {"digit-blanks", "", "1 2 3 "},
        {"dots", "", "1.2.3.4."},
        {"brackets", "", "["},
        {"braces", "", "{\"a\":"},
        {"backslashes", "", "\\"},
        {"escapes", "\"", "\\u0041"},
        {"quotes", "", "\""},
        {"plus", "", "+"},
        {"plus-digit", "", "+1"},
        {"jwt", "", "eyJ"},
        {"jwt-words", "", "eyJ "},
        {"jwt-dots", "", "eyJhbGciOi."},
        {"colons", "", "a:a:"},
        {"double-colons", "", "::"},
        {"equals", "", "password="},
        {"keys", "", "password: "},
        {"urls", "", "://a:"},
        {"pem", "", "-----BEGIN "},
        {"dashes", "", "-"},
        {"word", "", "word"},
        {"hex", "", "0123456789abcdef"},
        {"mails", "", "a@b."},
        {"commas", "name,email\n", ",\n"},
        {"bars", "", "|a"},
        {"capitals", "", "Ada Okafor "},
        {"streets", "", "12 Main Street, "},
        {"nbsp", "", "\xC2\xA0"},
        {"tags", "", "<name>"},
    };
    CS_AUTO_BUF struct cs_buf b = {0};
    make_prose(&b, HOSTILE_BYTES);
    double ordinary =
        best_scan(d, CS_PRIVACY_HIGH, CS_FORM_TEXT, cs_buf_str(&b), 3) / (double)b.len;
    printf("scan_ordinary_high %.1f MB/s\n", 1e-6 / ordinary);
    double worst = 0;
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        double ratio = hostile(d, texts[i].head, texts[i].with, ordinary);
        worst = ratio > worst ? ratio : worst;
        if (ratio > 1)
            printf("scan_hostile_%s %.2f x\n", texts[i].name, ratio);
    }
    printf("scan_hostile_worst %.2f x%s\n", worst,
           worst > TARGET_HOSTILE ? " MISSED (target: 3)" : "");
    missed = missed || worst > TARGET_HOSTILE;
}

int main(int argc, char **argv)
{
    struct cs_detector *all = NULL, *bare = NULL;
    struct cs_err err = {0};
    if (cs_detector_new(NULL, 0, &all, &err) < 0 || cs_detector_new(NULL, 0, &bare, &err) < 0)
        return 2;
    cs_detector_without(bare, CS_PII_PERSON);
    compile();
    cs_mem_keep(); /* as the daemon does */
    CS_AUTO_BUF struct cs_buf commits = {0}, wrapped = {0}, prose = {0};
    for (int i = 1; i < argc; i++) {
        CS_AUTO_BUF struct cs_buf file = {0};
        if (cs_file_read(argv[i], SIZE_MAX / 2, &file, &err) < 0)
            return 2;
        figures(argv[i], all, bare, cs_buf_str(&file), false);
    }
    if (argc == 1) {
        make_commits(&commits);
        make_wrapped(cs_buf_str(&commits), &wrapped);
        make_prose(&prose, commits.len);
        figures("commits", all, bare, cs_buf_str(&commits), true);
        figures("wrapped", all, bare, cs_buf_str(&wrapped), false);
        figures("prose", all, bare, cs_buf_str(&prose), false);
        all_hostile(all);
    }
    cs_detector_unref(all);
    cs_detector_unref(bare);
    for (size_t i = 0; i < CS_COUNT(seeds); i++) {
        pcre2_code_free(codes[0][i]);
        pcre2_code_free(codes[1][i]);
    }
    return missed ? 1 : 0;
}
