/* An envelope of foreign bytes: whatever is in it, the digest is valid JSON and within its budget.
 */
#include <stdlib.h>

#include "run/run.h"

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    uint64_t tokens = (uint64_t)data[0] * data[1], most = tokens > 200 ? tokens : 200;
    CS_AUTO_BUF struct cs_buf out = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.depth = 5000, .allow_duplicate = true};
    cs_digest(cs_strn((const char *)data + 2, size - 2), tokens, &out);
    if (cs_json_parse(cs_buf_str(&out), &limits, &doc, NULL) < 0 ||
        cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT ||
        cs_token_estimate(cs_buf_str(&out)) > most)
        abort();
    return 0;
}
