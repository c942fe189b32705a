/* Turns: how many at once, who is next, and what those who are refused are told. */
#include "test.h"

#include "base/buf.h"
#include "run/inside.h"

/* Places of tenants 'a', 'b', ...; what was served, as letters and digits in the order of turns. */
static struct {
    struct cs_queue queue;
    struct cs_place places[26][10];
    struct cs_buf served;
} f;

static void on_turn(struct cs_place *place)
{
    size_t i = (size_t)(place - &f.places[0][0]);
    cs_buf_printf(&f.served, "%c%zu ", (char)('a' + i / 10), i % 10);
}

static int setup(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    f.queue = (struct cs_queue){.most = 2, .go = on_turn};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_null(f.queue.last);
    assert_int_equal(f.queue.waiting, 0);
    assert_int_equal(f.queue.running, 0);
    cs_buf_done(&f.served);
    return 0;
}

static bool enter(char tenant, unsigned n)
{
    return cs_queue_enter(&f.queue, cs_strn(&tenant, 1), &f.places[tenant - 'a'][n]);
}

static void quit(char tenant, unsigned n)
{
    cs_queue_quit(&f.queue, &f.places[tenant - 'a'][n]);
}

/* Ends whoever has a turn, oldest names first, until nobody waits. */
static void drain(void)
{
    for (unsigned round = 0; round < 1000 && f.queue.running; round++)
        for (struct cs_place *p = &f.places[0][0]; p < &f.places[25][9]; p++)
            if (p->has_turn) {
                cs_queue_quit(&f.queue, p);
                break;
            }
}

static void so_many_at_once_and_the_others_in_order(void **state)
{
    (void)state;
    assert_true(enter('a', 0));
    assert_true(enter('a', 1));
    assert_false(enter('a', 2));
    assert_false(enter('a', 3));
    assert_false(enter('a', 4));
    assert_int_equal(f.queue.running, 2);
    assert_int_equal(f.queue.waiting, 3);
    quit('a', 1);
    assert_string_equal(cs_buf_cstr(&f.served), "a2 ");
    quit('a', 0);
    quit('a', 2);
    assert_string_equal(cs_buf_cstr(&f.served), "a2 a3 a4 ");
    drain();
}

static void tenants_take_turns(void **state)
{
    (void)state;
    f.queue.most = 1;
    assert_true(enter('z', 0));
    for (unsigned i = 0; i < 6; i++)
        enter('a', i);
    enter('b', 0);
    enter('b', 1);
    enter('c', 0);
    quit('z', 0);
    drain();
    /* The six of `a` came first, and delay the others by one each. */
    assert_string_equal(cs_buf_cstr(&f.served), "a0 b0 c0 a1 b1 a2 a3 a4 a5 ");
}

static void a_tenant_that_comes_back_goes_to_the_end(void **state)
{
    (void)state;
    f.queue.most = 1;
    enter('z', 0);
    enter('a', 0);
    enter('b', 0);
    enter('b', 1);
    quit('z', 0); /* a0 */
    enter('a', 1);
    quit('a', 0); /* b0 */
    quit('b', 0);
    drain();
    assert_string_equal(cs_buf_cstr(&f.served), "a0 b0 a1 b1 ");
}

static void who_waits_can_leave(void **state)
{
    (void)state;
    f.queue.most = 1;
    enter('z', 0);
    for (unsigned i = 0; i < 4; i++)
        enter('a', i);
    enter('b', 0);
    quit('a', 3); /* the last */
    quit('a', 1); /* one in the middle */
    quit('b', 0); /* the only one of its line */
    quit('b', 0); /* and again */
    enter('a', 4);
    assert_int_equal(f.queue.waiting, 3);
    quit('z', 0);
    drain();
    assert_string_equal(cs_buf_cstr(&f.served), "a0 a2 a4 ");
}

static void nobody_overtakes_those_that_wait(void **state)
{
    (void)state;
    f.queue.most = 1;
    enter('a', 0);
    enter('b', 0);
    f.queue.most = 2; /* there is room now, but b0 was first */
    assert_false(enter('c', 0));
    quit('a', 0);
    assert_string_equal(cs_buf_cstr(&f.served), "b0 c0 ");
    drain();
}

static void seconds_follow_what_was_seen(void **state)
{
    (void)state;
    assert_int_equal(cs_queue_seconds(&f.queue, 1000), 1); /* nothing yet */
    f.queue.turn_s = 0.5;
    assert_int_equal(cs_queue_seconds(&f.queue, 10), 3); /* 10 turns of 0.5 s, two at once */
    assert_int_equal(cs_queue_seconds(&f.queue, 100000), 60);
    enter('a', 0);
    f.places[0][0].since_ns -= 10500000000u;
    quit('a', 0);
    assert_true(f.queue.turn_s > 1.4 && f.queue.turn_s < 1.6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(so_many_at_once_and_the_others_in_order, setup, teardown),
        CS_TEST_WITH(tenants_take_turns, setup, teardown),
        CS_TEST_WITH(a_tenant_that_comes_back_goes_to_the_end, setup, teardown),
        CS_TEST_WITH(who_waits_can_leave, setup, teardown),
        CS_TEST_WITH(nobody_overtakes_those_that_wait, setup, teardown),
        CS_TEST_WITH(seconds_follow_what_was_seen, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
