#include "base/visible.h"

bool cs_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

void cs_visible(struct cs_str text, bool lines, struct cs_buf *out)
{
    (void)lines;
    cs_buf_putstr(out, text);
}
