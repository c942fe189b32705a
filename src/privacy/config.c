/* The section "privacy" of the policy file. */
#include "base/mem.h"
#include "privacy/privacy.h"

struct cs_privacy {
    unsigned refs;
    struct cs_privacy_options options;
    struct cs_detector *detector;
    unsigned char hash[32];
};

int cs_privacy_new(const struct cs_privacy_options *options, struct cs_privacy **privacy,
                   struct cs_err *err)
{
    struct cs_detector *detector = NULL;
    if (cs_detector_new(NULL, 0, &detector, err) < 0)
        return -1;
    struct cs_privacy *p = CS_NEW(struct cs_privacy);
    p->refs = 1;
    p->options = *options;
    p->detector = detector;
    *privacy = p;
    return 0;
}

struct cs_privacy *cs_privacy_ref(struct cs_privacy *privacy)
{
    privacy->refs++;
    return privacy;
}

void cs_privacy_unref(struct cs_privacy *privacy)
{
    if (!privacy || --privacy->refs)
        return;
    cs_detector_unref(privacy->detector);
    free(privacy);
}

bool cs_privacy_off(const struct cs_privacy *privacy)
{
    return privacy->options.off;
}

struct cs_detector *cs_privacy_detector(const struct cs_privacy *privacy)
{
    return privacy->detector;
}

enum cs_token_style cs_privacy_style(const struct cs_privacy *privacy)
{
    return privacy->options.style;
}

enum cs_privacy_level cs_privacy_level(const struct cs_privacy *privacy)
{
    return privacy->options.level;
}

enum cs_privacy_level cs_privacy_level_of(const struct cs_privacy *privacy,
                                          const struct cs_str names[], size_t count,
                                          enum cs_privacy_level asked)
{
    (void)names;
    (void)count;
    return asked > privacy->options.level ? asked : privacy->options.level;
}

enum cs_may cs_privacy_may(const struct cs_privacy *privacy, const struct cs_str names[],
                           size_t count, enum cs_pii kind, struct cs_str custom, struct cs_str *why)
{
    (void)privacy;
    (void)names;
    (void)count;
    (void)custom;
    (void)why;
    return cs_pii_secret(kind) ? CS_MAY_NOT : CS_MAY;
}

const unsigned char *cs_privacy_hash(const struct cs_privacy *privacy)
{
    return privacy->hash;
}
