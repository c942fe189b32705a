/* Refusals on record are bounded, and none goes uncounted. */
#include "front/events.h"
#include "ledger/ledger.h"
#include "store/fixture.h"

struct counted {
    uint64_t entries, left_out;
};

static bool on_entry(void *ctx, const struct cs_entry_row *row)
{
    struct counted *c = ctx;
    char text[1024];
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(row->text));
    const char *more = strstr(text, "\"left_out\":");
    c->entries++;
    c->left_out += more ? strtoull(more + strlen("\"left_out\":"), NULL, 10) : 0;
    return true;
}

static struct counted count(struct fixture *f)
{
    struct counted c = {0};
    struct cs_ledger_filter all = {0};
    struct cs_err err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    if (cs_store_ledger_read(path, &all, NULL, on_entry, &c, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

static void a_flood_is_counted(void **state)
{
    struct fixture *f = *state;
    struct cs_ledger *ledger = NULL;
    assert_int_equal(cs_ledger_open(f->dir, &ledger, NULL), 0);
    cs_store_set_chain(f->store, cs_ledger_chain(ledger));
    struct cs_refusals *r = cs_refusals_new(f->store);
    struct cs_caller one = {.principal = "one", .tenant = "default"};
    int64_t now = 1000000;
    for (int i = 0; i < 1000; i++)
        cs_refusals_note(r, "request.limited", &one, CS_STR("id"), "rate", now + i);
    /* Nobody who comes under many names is heard more. */
    for (int i = 0; i < 1000; i++) {
        struct cs_caller other = {.tenant = "default"};
        snprintf(other.principal, sizeof other.principal, "n%d", i);
        cs_refusals_note(r, "request.denied", &other, CS_STR(""), "role", now + 2000 + i);
    }
    /* The next minute tells what was left out of the one before. */
    cs_refusals_note(r, "request.limited", &one, CS_STR("id"), "rate", now + 70000);
    cs_refusals_free(r);
    assert_int_equal(F(f, cs_store_keys, f_keys), CS_OK); /* what was asked for before is done */
    f_close(f);
    struct counted c = count(f);
    assert_true(c.entries <= CS_REFUSALS_ALL + 2);
    assert_true(c.entries >= CS_REFUSALS_EACH + 2);
    /* All are written, counted by a later one, or counted at the end. */
    assert_int_equal(c.entries - 1 + c.left_out, 2001);
    cs_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(a_flood_is_counted, f_setup, f_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
