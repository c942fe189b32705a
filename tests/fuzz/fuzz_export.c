/*
 * Exports of the ledger, as anybody may hand them to `caisson audit verify`: plain or compressed,
 * and lines alone. What is read must be written the same way.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ledger/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void read_line(struct cs_str line)
{
    CS_AUTO_BUF struct cs_buf again = {0};
    struct cs_checkpoint_row row;
    struct cs_export_head head;
    struct cs_entry_parts parts;
    if (cs_entry_read(line, &parts))
        must(parts.event.len > 0 && parts.seq <= CS_LEDGER_NUMBER);
    if (cs_checkpoint_read(line, &row)) {
        cs_checkpoint_line(&again, &row);
        must(cs_str_eq(cs_buf_str(&again), line));
    }
    cs_buf_clear(&again);
    if (cs_export_head_read(line, &head)) {
        cs_export_head_put(&again, &head);
        must(cs_str_eq(cs_buf_str(&again), line));
    }
    cs_checkpoint_parse(line, &row, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str bytes = cs_strn((const char *)data, size), rest = bytes;
    struct cs_ledger_check check;
    struct cs_err err = {0};
    if (cs_export_verify(bytes, NULL, (struct cs_str){0}, &check, &err) < 0)
        must(err.code == CS_CONFLICT && err.msg[0]);
    while (rest.len) {
        const char *end = memchr(rest.at, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.at) : rest.len;
        read_line(cs_strn(rest.at, n));
        rest = cs_strn(rest.at + n + (end != NULL), rest.len - n - (end != NULL));
    }
    return 0;
}
