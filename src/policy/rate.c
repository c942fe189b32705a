#include "base/mem.h"
#include "policy/keys.h"

struct cs_rates {
    struct cs_rate_limits limits;
};

struct cs_rates *cs_rates_new(struct cs_rate_limits limits)
{
    struct cs_rates *r = CS_NEW(struct cs_rates);
    r->limits = limits;
    return r;
}

void cs_rates_free(struct cs_rates *rates)
{
    free(rates);
}

void cs_rates_set(struct cs_rates *rates, struct cs_rate_limits limits)
{
    rates->limits = limits;
}

struct cs_rate cs_rate_take(struct cs_rates *rates, struct cs_str name, int64_t now_ms)
{
    (void)rates;
    (void)name;
    (void)now_ms;
    return (struct cs_rate){.allowed = true};
}
