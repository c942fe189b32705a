/* Patterns and words of the user's own, and the detector that holds them. */
#include "base/mem.h"
#include "privacy/find.h"

struct cs_detector {
    unsigned refs;
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

void cs_hit_custom(struct cs_view *view, unsigned custom, size_t start, size_t end)
{
    (void)custom;
    cs_hit(view, CS_PII_CUSTOM, start, end);
}
