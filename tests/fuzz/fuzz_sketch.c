/* What is read as a sketch is one: written again it says the same, and it can be added to itself.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/sketch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_sketch s = {0}, again = {0};
    if (!cs_sketch_read(cs_strn((const char *)data, size), &s))
        return 0;
    CS_AUTO_BUF struct cs_buf one = {0}, two = {0};
    cs_sketch_put(&s, &one);
    must(cs_sketch_read(cs_buf_str(&one), &again));
    cs_sketch_put(&again, &two);
    must(cs_str_eq(cs_buf_str(&one), cs_buf_str(&two)));
    must(s.len <= 4096 && cs_sketch_quantile(&s, 0.5) <= (double)s.most);
    cs_sketch_merge(&again, &s);
    must(again.count == 2 * s.count && cs_sketch_quantile(&again, 1) <= (double)s.most);
    cs_sketch_done(&s);
    cs_sketch_done(&again);
    return 0;
}
