/*
 * How much masking costs besides the scan: an answer of 1 MB with 2,000 addresses and numbers, some
 * of its texts with escapes. The scan of the same answer is the measure, in the same run; what is
 * known besides is looked for at more than 500 MB/s, as a note.
 *
 * Prints `name value unit` lines. Exits 1 if masking without the scan takes more than a third of
 * the scan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/own.h"
#include "privacy/vault.h"

#define ROUNDS 9
#define HITS   2000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make(struct cs_buf *b, bool values)
{
    cs_buf_putc(b, '[');
    for (int i = 0; i < HITS / 2; i++) {
        cs_buf_printf(
            b, "%s{\"id\":%d,\"created_at\":\"2024-03-%02dT10:%02d:00Z\",\"login\":\"user%d\"",
            i ? "," : "", 1000 + i, 1 + i % 28, i % 60, i);
        if (values)
            cs_buf_printf(b,
                          ",\"mail\":\"person%d@mail%d.example.org\",\"phone\":\"+1 415 555 %04d\"",
                          i, i % 7, i);
        cs_buf_puts(b, ",\"html_url\":\"https://forge.example.org/some/repository/commit/");
        for (int k = 0; k < 5; k++)
            cs_buf_printf(b, "%08x", (unsigned)(i * 2654435761u + (unsigned)k * 40503u));
        cs_buf_puts(b,
                    "\",\"message\":\"a change of the parser that makes it read numbers with a "
                    "sign\\n\\nThe sign was lost when the number stood at the end of a line; see "
                    "\\\"docs/numbers.md\\\" for how it is meant. ");
        while (b->len < (size_t)(i + 1) * (1 << 20) / (HITS / 2) - 8)
            cs_buf_puts(b, "More of the same text, so that there is something to read. ");
        cs_buf_puts(b, "\"}");
    }
    cs_buf_putc(b, ']');
}

int main(void)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    CS_AUTO_BUF struct cs_buf empty = {0};
    struct cs_detector *detector;
    double scan = 1e9, mask = 1e9, again = 1e9, unmask = 1e9, clean = 1e9;
    size_t hits = 0;
    make(&text, true);
    make(&empty, false);
    if (cs_detector_new(NULL, 0, &detector, NULL) < 0)
        return 2;
    for (int i = 0; i < ROUNDS; i++) {
        struct cs_vault *vault = cs_vault_new(CS_TOKEN_BRACKET);
        struct cs_mask how = {.detector = detector,
                              .vault = vault,
                              .level = CS_PRIVACY_MEDIUM,
                              .form = CS_FORM_JSON,
                              .literals = true,
                              .server = CS_STR("forge")};
        CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
        CS_AUTO_BUF struct cs_buf out = {0};
        CS_AUTO_BUF struct cs_buf back = {0};
        struct cs_masked masked = {0};
        double t0 = now();
        cs_scan(detector, how.level, how.form, cs_buf_str(&text), &spans);
        double t1 = now();
        cs_mask_spans(&how, cs_buf_str(&text), &spans, &out, &masked, NULL);
        double t2 = now();
        cs_buf_clear(&out);
        cs_mask_spans(&how, cs_buf_str(&text), &spans, &out, &masked, NULL);
        double t3 = now();
        struct cs_unmask give = {.vault = vault};
        if (cs_unmask(&give, cs_buf_str(&out), &back, NULL, NULL) < 0 ||
            !cs_str_eq(cs_buf_str(&back), cs_buf_str(&text)))
            return 2;
        double t4 = now();
        spans.count = 0;
        cs_mask_spans(&how, cs_buf_str(&empty), &spans, &out, &masked, NULL);
        double t5 = now();
        hits = cs_vault_count(vault);
        scan = t1 - t0 < scan ? t1 - t0 : scan;
        mask = t2 - t1 < mask ? t2 - t1 : mask;
        again = t3 - t2 < again ? t3 - t2 : again;
        unmask = t4 - t3 < unmask ? t4 - t3 : unmask;
        clean = t5 - t4 < clean ? t5 - t4 : clean;
        cs_vault_free(vault);
    }
    double mb = (double)text.len / 1e6;
    printf("mask.text %.2f MB\nmask.values %zu n\n", mb, hits);
    printf("mask.scan %.0f MB/s\nmask.first %.0f MB/s\nmask.again %.0f MB/s\n", mb / scan,
           mb / mask, mb / again);
    printf("mask.unmask %.0f MB/s\nmask.nothing_known_there %.0f MB/s\n", mb / unmask,
           (double)empty.len / 1e6 / clean);
    printf("mask.beside_scan %.3f ratio (at most 0.333)\n", mask / scan);
    cs_detector_unref(detector);
    return mask / scan > 0.333;
}
