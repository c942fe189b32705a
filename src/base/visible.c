#include "base/visible.h"

#include "base/utf8.h"

bool cs_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

bool cs_hidden(struct cs_str text, size_t at)
{
    (void)text;
    (void)at;
    return true;
}

void cs_visible(struct cs_str text, bool lines, struct cs_buf *out)
{
    (void)lines;
    cs_buf_putstr(out, text);
}
