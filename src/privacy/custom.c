/* Patterns and words of the user's own, and the detector that holds them. */
#include "base/mem.h"
#include "privacy/page.h"

struct cs_detector {
    unsigned refs;
    uint32_t off; /* bits of kinds that are not looked for */
};

int cs_detector_new(const struct cs_custom *customs, size_t count, struct cs_detector **detector,
                    struct cs_err *err)
{
    (void)customs;
    (void)count;
    (void)err;
    *detector = CS_NEW(struct cs_detector);
    (*detector)->refs = 1;
    return 0;
}

int cs_detector_with(const struct cs_detector *base, const struct cs_custom *customs, size_t count,
                     struct cs_detector **detector, struct cs_err *err)
{
    (void)base;
    return cs_detector_new(customs, count, detector, err);
}

struct cs_detector *cs_detector_ref(struct cs_detector *detector)
{
    __atomic_add_fetch(&detector->refs, 1, __ATOMIC_RELAXED);
    return detector;
}

void cs_detector_unref(struct cs_detector *detector)
{
    if (detector && __atomic_sub_fetch(&detector->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(detector);
}

struct cs_str cs_detector_name(const struct cs_detector *detector, enum cs_pii kind,
                               unsigned custom)
{
    (void)detector;
    (void)custom;
    return cs_str(cs_pii_name(kind));
}

const char *cs_detector_version(void)
{
    return "1";
}

void cs_find_custom(const struct cs_detector *detector, struct cs_view *view)
{
    (void)detector;
    (void)view;
}

uint32_t cs_detector_off(const struct cs_detector *detector)
{
    return detector->off;
}

void cs_detector_without(struct cs_detector *detector, enum cs_pii kind)
{
    detector->off |= 1u << kind;
}

bool cs_detector_customs(const struct cs_detector *detector, enum cs_privacy_level level)
{
    (void)detector;
    (void)level;
    return false;
}
