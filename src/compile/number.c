/* Numbers as they are written. */
#include "compile/fold.h"

/* Decimal digits and nothing else, as most numbers are. */
static bool plain_number(const char *s, double *v)
{
    size_t n = 0;
    for (*v = 0; s[n] >= '0' && s[n] <= '9' && n < 15; n++)
        *v = *v * 10 + (s[n] - '0');
    return n < 15 && !strchr("._xXeEbBoO", s[n] ? s[n] : ';');
}

/* 0b101, 0o17 */
static double in_base(const char *s, double base)
{
    double v = 0;
    for (; (*s >= '0' && *s <= '7') || *s == '_'; s++)
        v = *s == '_' ? v : v * base + (*s - '0');
    return v;
}

struct cs_folded cs_fold_number(const struct cs_parser *p, uint32_t pos)
{
    const char *s = p->src + pos;
    struct cs_folded v = {.sort = FOLD_NUMBER};
    char digits[64], second = (char)(s[0] == '0' ? s[1] | 0x20 : 0);
    size_t n = 0;
    if (plain_number(s, &v.number))
        return v;
    if (second == 'b' || second == 'o') {
        v.number = in_base(s + 2, second == 'b' ? 2 : 8);
        return v;
    }
    for (; n < sizeof digits - 1; s++) {
        if (*s && strchr("0123456789abcdefABCDEF.xX", *s))
            digits[n++] = *s;
        else if (*s != '_')
            break;
    }
    digits[n] = 0;
    v.number = strtod(digits, NULL);
    return v;
}
