/*
 * The model sees tokens, tools see values.
 *
 *     text -> scan (what is personal or secret, and where) -> mask (a token for each, from a vault)
 *     arguments with tokens -> unmask (values from the vault, if the policy lets that tool have
 * them)
 *
 * Runs in: daemon and command line. Scanning is a pure function of its arguments and may run in any
 *          thread; a vault belongs to the loop thread.
 * Limits:  every walk is bounded, so the time is linear in the text, whatever it holds.
 * Failure: what cannot be looked at is not let through. A vault that is full, a text that cannot be
 *          masked, a token that nobody has issued: an error, never the text as it was.
 */
#ifndef CS_PRIVACY_PRIVACY_H
#define CS_PRIVACY_PRIVACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * What there is, in the order in which they win where they meet.
 *
 *   id, name in tokens, is it a secret?, the longest value in bytes
 */
#define CS_PII_KINDS(X)                                   \
    X(LITERAL, "LITERAL", false, 64)                      \
    X(CUSTOM, "CUSTOM", false, 1024)                      \
    X(PRIVATE_KEY, "PRIVATE_KEY", true, 16384)            \
    X(JWT, "JWT", true, 16384)                            \
    X(API_KEY, "API_KEY", true, 4096)                     \
    X(CONNECTION_STRING, "CONNECTION_STRING", true, 2048) \
    X(PASSWORD, "PASSWORD", true, 1024)                   \
    X(IBAN, "IBAN", false, 64)                            \
    X(CREDIT_CARD, "CREDIT_CARD", false, 64)              \
    X(SSN, "SSN", false, 32)                              \
    X(EMAIL, "EMAIL", false, 320)                         \
    X(IP_ADDRESS, "IP_ADDRESS", false, 64)                \
    X(PHONE, "PHONE", false, 64)                          \
    X(PASSPORT, "PASSPORT", false, 32)                    \
    X(LICENCE, "LICENCE", false, 32)                      \
    X(SECRET, "SECRET", true, 4096)                       \
    X(ADDRESS, "ADDRESS", false, 512)                     \
    X(DATE_OF_BIRTH, "DATE_OF_BIRTH", false, 64)          \
    X(PERSON, "PERSON", false, 256)

enum cs_pii {
#define X(id, name, secret, longest) CS_PII_##id,
    CS_PII_KINDS(X)
#undef X
        CS_PII_COUNT /* also: none */
};

const char *cs_pii_name(enum cs_pii kind);
bool cs_pii_parse(struct cs_str name, enum cs_pii *kind); /* also DOB, IP, CARD, DRIVING_LICENCE */
bool cs_pii_secret(enum cs_pii kind);
size_t cs_pii_longest(enum cs_pii kind);

enum cs_privacy_level { CS_PRIVACY_OFF, CS_PRIVACY_LOW, CS_PRIVACY_MEDIUM, CS_PRIVACY_HIGH };

const char *cs_privacy_level_name(enum cs_privacy_level level);
bool cs_privacy_level_parse(struct cs_str name, enum cs_privacy_level *level);

/* --- detector: what is looked for; immutable, counted --- */

/* A pattern (PCRE2 syntax) or words of the user's own; found at every level from `level` on. */
struct cs_custom {
    struct cs_str name; /* [A-Z_]*, at most 24 bytes, none that is built in: tokens are [NAME_1] */
    struct cs_str pattern; /* or empty, and: */
    const struct cs_str *words;
    size_t word_count;
    enum cs_privacy_level level;
    bool secret;
};

struct cs_detector;

/* CS_INVALID: a pattern that is none, that matches nothing at all, or whose cost grows faster than
 * the text. CS_LIMIT: too many. */
int cs_detector_new(const struct cs_custom *customs, size_t count, struct cs_detector **detector,
                    struct cs_err *err);
/* The same with further customs on top, for one request. They find what nothing else finds: else
 * whoever sends a pattern would learn by it what a value is like. */
int cs_detector_with(const struct cs_detector *base, const struct cs_custom *customs, size_t count,
                     struct cs_detector **detector, struct cs_err *err);
struct cs_detector *cs_detector_ref(struct cs_detector *detector);
void cs_detector_unref(struct cs_detector *detector);
/* Before it is shared: this kind is not looked for at any level. */
void cs_detector_without(struct cs_detector *detector, enum cs_pii kind);
CS_DEFINE_CLEANUP(struct cs_detector, cs_detector_unref)
/* The name in tokens of a kind; of a CUSTOM: of that one. */
struct cs_str cs_detector_name(const struct cs_detector *detector, enum cs_pii kind,
                               unsigned custom);
/* Changes with every change of the built-in rules: part of what was decided with it. */
const char *cs_detector_version(void);

/* --- scan --- */

enum cs_form {
    CS_FORM_GUESS, /* JSON if it begins like it, else text */
    CS_FORM_TEXT,
    CS_FORM_JSON, /* one value; what is no JSON is looked at as text */
};

struct cs_span {
    size_t start, end; /* in bytes of the text as it came; inside the quotes of a JSON string */
    uint8_t kind;      /* enum cs_pii */
    uint16_t custom;   /* which one, of a CUSTOM */
    bool is_number;    /* of JSON: a bare number */
    bool is_key;       /* of JSON: (a part of) a member's name */
    uint8_t escapes;   /* of JSON: how often backslashes have to be undone to read it: 0, 1, 2 */
    /* Of a CONNECTION_STRING: the password in it; else the same as start, end. */
    size_t core_start, core_end;
};

struct cs_spans {
    struct cs_span *at; /* disjoint, in order */
    size_t count, cap;
};

void cs_spans_done(struct cs_spans *spans);

/* Appends to `spans`. */
void cs_scan(const struct cs_detector *detector, enum cs_privacy_level level, enum cs_form form,
             struct cs_str text, struct cs_spans *spans);

/* --- vault: tokens and their values, of one session or one execution --- */

enum cs_token_style {
    CS_TOKEN_BRACKET,    /* [EMAIL_1] */
    CS_TOKEN_UNDERSCORE, /* EMAIL_TOKEN_001 */
    CS_TOKEN_HASH,       /* EMAIL_3f9a0c71e2b4d855: keyed, tells nothing about the order */
};

/* Who said it? The program's own values never get the token of a value from the world: else it
 * could find out a value by guessing. */
enum cs_origin { CS_FROM_WORLD, CS_FROM_PROGRAM };

struct cs_vault;

struct cs_vault *cs_vault_new(enum cs_token_style style);
void cs_vault_free(struct cs_vault *vault); /* values are wiped */
size_t cs_vault_count(const struct cs_vault *vault);

/* What is found while something is masked, for the record: never a value. */
struct cs_masked {
    uint32_t found[CS_PII_COUNT];
    uint32_t total, fresh; /* fresh: tokens that were new */
    uint64_t bytes, us;    /* looked at, and how long it took */
};
void cs_masked_add(struct cs_masked *sum, const struct cs_masked *more);

/* Values that are watched for besides what is found: those that a call was given. */
struct cs_revealed;
struct cs_revealed *cs_revealed_new(void);
void cs_revealed_free(struct cs_revealed *revealed);

/* What the program itself wrote into the arguments of a call (tokens and all, as it wrote them):
 * what an answer repeats of that gets no token of the world's, so that no guess is confirmed. */
struct cs_own;
struct cs_own *cs_own_of(const struct cs_detector *detector, struct cs_str arguments);
void cs_own_free(struct cs_own *own);

struct cs_mask {
    const struct cs_detector *detector;
    struct cs_vault *vault;
    enum cs_privacy_level level;
    enum cs_form form;
    enum cs_origin origin;
    /* Token-shaped text: that of a stranger (a tool's result) is masked as LITERAL; that of the
     * program or its caller is left alone. */
    bool literals;
    struct cs_str server;               /* where it comes from; empty: no server */
    const struct cs_own *own;           /* may be NULL */
    const struct cs_revealed *revealed; /* may be NULL */
};

/*
 * 1: `out` has the masked text; 0: there is nothing to mask, and `out` is as it was; -1: it could
 * not be masked, and must not be shown. What was JSON is JSON: a number that is masked has quotes
 * then, and keys that were different stay so.
 *
 * In a text of the world, values that the vault knows are found too, and those that were revealed,
 * whatever they look like. With CS_PRIVACY_OFF, what was revealed and `literals` are still looked
 * after: a tool that may show its own values must neither show those of others nor write tokens.
 */
int cs_mask(const struct cs_mask *how, struct cs_str text, struct cs_buf *out,
            struct cs_masked *masked, struct cs_err *err);
/* The same with spans that were found before (in another thread, say); values that the vault knows
 * are looked for here. */
int cs_mask_spans(const struct cs_mask *how, struct cs_str text, const struct cs_spans *spans,
                  struct cs_buf *out, struct cs_masked *masked, struct cs_err *err);

/* Is there anything like a token in it, or may there be, once escapes are undone? Cheap. */
bool cs_token_like(struct cs_str text);
/* Is this text (of a JSON string, unescaped) exactly one token, or does it hold one? By its form
 * alone, so that whoever asks learns nothing about the vault. */
enum cs_token_form { CS_TOKEN_NONE, CS_TOKEN_INSIDE, CS_TOKEN_WHOLE };
enum cs_token_form cs_token_form(struct cs_str text);

enum cs_may { CS_MAY, CS_MAY_NOT, CS_MAY_ASK };

struct cs_unmask {
    struct cs_vault *vault; /* NULL: every token is unknown */
    /* May whoever it is for have it? `from`: the server that it came from, or empty. */
    enum cs_may (*may)(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from);
    void *ctx;
    struct cs_revealed *revealed; /* gets what was put in; may be NULL */
    /* Unknown tokens, and those that `may` refuses, stay as they are: for texts to be read by
     * people. Such a text need not be JSON. */
    bool literals_only_known;
};

struct cs_unmasked {
    uint32_t put[CS_PII_COUNT];
    uint32_t total;
    struct cs_str refused; /* with CS_DENIED: the token, lent by `json` */
    enum cs_pii kind;      /* of it */
    bool ask;              /* a person could allow it */
};

/*
 * JSON with tokens to JSON with values, in strings and keys at every depth, also inside longer
 * strings. A token that stands alone for what was a number becomes one again. 1: `out` has it; 0:
 * there is no token in it; -1: CS_DENIED it may not have one of them, CS_INVALID one of them is
 * unknown, CS_LIMIT too many. Which values they are makes no difference: what fails, fails by the
 * kinds and the number of its tokens.
 */
int cs_unmask(const struct cs_unmask *how, struct cs_str json, struct cs_buf *out,
              struct cs_unmasked *unmasked, struct cs_err *err);

/* What can be told of a value to a person who is not to see it: "@corp.example" of an address;
 * empty: nothing. Lent by `value`. */
struct cs_str cs_pii_hint(enum cs_pii kind, struct cs_str value);

/* A token in arguments, and what can be told of the value that it stands for. All of it is lent. */
struct cs_token_told {
    struct cs_str token, name; /* "[EMAIL_1]", "EMAIL" */
    struct cs_str from;        /* the server that it came from, or empty */
    struct cs_str hint;
    bool program; /* it is the program's own */
};
/* In the order of the text, at most so many. */
size_t cs_tokens_told(const struct cs_vault *vault, struct cs_str json, struct cs_token_told *told,
                      size_t most);

/* For replays: the tokens that a program's own values got, in their order. */
void cs_vault_record(struct cs_vault *vault, struct cs_buf *tokens); /* NULL: no longer */
void cs_vault_play(struct cs_vault *vault, struct cs_str tokens);    /* lent */

/* --- vaults that outlive a process: sealed with AES-256-GCM --- */

struct cs_vault_key {
    unsigned char bytes[32];
};

/* From the variable CAISSON_PRIVACY_KEY (64 hex digits, or 43 of base64url), else from `printed`,
 * what the command of the settings has printed (cs_tools_command runs it; NULL: there is none),
 * else from the file "privacy.key" in the data directory, which is made, with mode 0600, if it is
 * not there. CS_SYSTEM: others can read that file. */
int cs_vault_key_load(const char *data_dir, const char *printed, struct cs_vault_key *key,
                      struct cs_err *err);

/* A hash that nobody can try values with who has not the key: HMAC-SHA256. False: it cannot be
 * made. */
bool cs_vault_key_mac(const struct cs_vault_key *key, struct cs_str bytes, unsigned char mac[32]);

/* Entries that are new since the last time, sealed. 1: `sealed` has them; 0: there are none.
 * `owner`: whose vault it is ("tenant/session"); what was sealed for one cannot be opened as
 * another's. What was sealed has to be kept: without it, whatever is sealed later cannot be opened.
 */
int cs_vault_seal(struct cs_vault *vault, const struct cs_vault_key *key, struct cs_str owner,
                  struct cs_buf *sealed, struct cs_err *err);
/* Each of what cs_vault_seal gave, in that order, into a new vault. CS_DENIED: it was changed, or
 * is of another; then the vault is no good any more. */
int cs_vault_open(struct cs_vault *vault, const struct cs_vault_key *key, struct cs_str owner,
                  struct cs_str sealed, struct cs_err *err);

/* --- the house's rules: section "privacy" of the policy file --- */

/*
 *     {"privacy": {
 *        "level": "medium",
 *        "rules": [{"tool": "crm/{*}", "level": "high"}, {"tool": "wiki/{*}", "level": "off"}],
 *        "detokenize": [{"tool": "mail/send", "kinds": ["EMAIL", "PERSON"], "then": "allow"},
 *                       {"tool": "{*}", "kinds": ["SSN"], "then": "deny"}],
 *        "patterns": [{"name": "EMPLOYEE", "pattern": "E-[0-9]{6}", "level": "low",
 *                      "secret": false, "examples": ["badge E-123456"], "not": ["E-12"]}],
 *        "words": [{"name": "PROJECT", "values": ["Bluebird"], "file": "projects.txt"}]}}
 *
 * (without the braces around the stars). The first rule that fits counts. `detokenize` may be one
 * word for everything; a rule of it without `kinds` speaks of all of them, secrets included. Where
 * no rule fits: secrets are denied, SSN and CREDIT_CARD ask, the rest is allowed; a LITERAL always
 * is. A `file` has one word per line, and lies beneath the directory of the policy file.
 */
struct cs_privacy;

struct cs_privacy_options {
    bool off;                    /* --no-pii-protection */
    enum cs_privacy_level level; /* of the settings; the section may say another */
    enum cs_token_style style;
    struct cs_str section; /* JSON of "privacy"; empty: none */
    const char *dir;       /* of the policy file, where dictionaries are; NULL: there are none */
};

int cs_privacy_new(const struct cs_privacy_options *options, struct cs_privacy **privacy,
                   struct cs_err *err);
struct cs_privacy *cs_privacy_ref(struct cs_privacy *privacy);
void cs_privacy_unref(struct cs_privacy *privacy);
bool cs_privacy_off(const struct cs_privacy *privacy);
struct cs_detector *cs_privacy_detector(const struct cs_privacy *privacy); /* lent */
enum cs_token_style cs_privacy_style(const struct cs_privacy *privacy);
/* Of everything that no rule speaks of. */
enum cs_privacy_level cs_privacy_level(const struct cs_privacy *privacy);
/* Of what this tool answers, if the request wants `asked`: a request can only raise it. Tools are
 * named in all their spellings: "server/tool", "serverIdent/toolIdent". */
enum cs_privacy_level cs_privacy_level_of(const struct cs_privacy *privacy,
                                          const struct cs_str names[], size_t count,
                                          enum cs_privacy_level asked);
/* `why`: the rule that decided, for a message; may be NULL. */
enum cs_may cs_privacy_may(const struct cs_privacy *privacy, const struct cs_str names[],
                           size_t count, enum cs_pii kind, struct cs_str custom,
                           struct cs_str *why);
/*
 * What one request asks for, its member "privacy": "high", or {"level": "high", "patterns":
 * [{"name", "pattern"}], "words": [{"name", "values"} or a word alone, which is a WORD]}.
 * CS_INVALID, CS_LIMIT: it says what is wrong. Nothing there is nothing asked for. `privacy` may be
 * NULL: it is switched off.
 */
struct cs_arena;
struct cs_json_val;
struct cs_privacy_wish {
    enum cs_privacy_level level;     /* CS_PRIVACY_OFF: none */
    const struct cs_custom *customs; /* in the arena */
    size_t custom_count;
};
int cs_privacy_wish(const struct cs_privacy *privacy, struct cs_json_val from,
                    struct cs_arena *arena, struct cs_privacy_wish *wish, struct cs_err *err);
/* What the house's own patterns must find, or must not. */
struct cs_custom_example {
    struct cs_str name, text;
    enum cs_privacy_level level;
    bool found;
};
size_t cs_privacy_examples(const struct cs_privacy *privacy,
                           const struct cs_custom_example **examples);
/* SHA-256 of everything that decides: part of the cache's key. */
const unsigned char *cs_privacy_hash(const struct cs_privacy *privacy);

/* --- examples: what each rule must find, and what it must not --- */

struct cs_example {
    const char *rule; /* "email", "stripe" */
    const char *text; /* what must be found stands between "<<EMAIL|" and ">>" */
    enum cs_privacy_level level;
};

const struct cs_example *cs_examples(size_t *count);
/* True: exactly what is marked was found. Else `why` says what was found. */
bool cs_example_holds(const struct cs_detector *detector, const struct cs_example *example,
                      struct cs_buf *why);

#endif
