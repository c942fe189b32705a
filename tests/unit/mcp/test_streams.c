#include "fake.h"

static struct cs_peer *session(struct fake *f, enum cs_version version)
{
    struct cs_caller caller = {.principal = "ada", .tenant = "default"};
    struct cs_peer *peer = cs_session_new(f->m, &caller);
    peer->version = version;
    return peer;
}

static bool resumes(struct cs_peer *peer, const char *event)
{
    return cs_stream_resume(peer, cs_str(event), NULL);
}

static void so_many_events_are_kept_and_no_more(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11);
    struct cs_stream *s = cs_stream_new(f->m, peer, NULL, true);
    for (unsigned i = 0; i < 3 * CS_EVENTS; i++)
        assert_true(cs_stream_say(s, CS_STR("{}")));
    assert_int_equal(peer->event_count, CS_EVENTS);
    assert_int_equal(peer->event_bytes, 2 * CS_EVENTS);
}

static void so_many_bytes_are_kept_and_the_last_event_always(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11);
    struct cs_stream *s = cs_stream_new(f->m, peer, NULL, true);
    CS_AUTO_BUF struct cs_buf big = {0};
    cs_buf_putc(&big, '"');
    while (big.len < CS_EVENT_BYTES)
        cs_buf_puts(&big, "0123456789abcdef");
    cs_buf_putc(&big, '"');
    for (int i = 0; i < 5; i++)
        cs_stream_say(s, CS_STR("{}"));
    cs_stream_say(s, cs_buf_str(&big));
    assert_int_equal(peer->event_count, 1);
    cs_stream_say(s, CS_STR("{}"));
    assert_int_equal(peer->event_count, 1);
    assert_int_equal(peer->event_bytes, 2);
}

static void a_stream_is_found_by_any_event_of_it_and_nothing_else(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11), *other = session(f, CS_V2025_11);
    struct cs_stream *s = cs_stream_new(f->m, peer, NULL, true);
    assert_false(resumes(peer, "1_0")); /* it has said nothing: there is no such event */
    cs_stream_say(s, CS_STR("{}"));
    static const char *const good[] = {"1_0", "1_1", "1_999"};
    static const char *const bad[] = {"",    "1",    "_1",   "1_",   "2_1",
                                      "1_x", "1_1_", "-1_1", "1 _1", "1_99999999999999999999"};
    for (size_t i = 0; i < CS_COUNT(good); i++)
        assert_true(resumes(peer, good[i]));
    for (size_t i = 0; i < CS_COUNT(bad); i++)
        assert_false(resumes(peer, bad[i]));
    assert_false(resumes(other, "1_1"));
}

static void streams_that_are_over_are_forgotten_oldest_first(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11);
    for (unsigned i = 0; i < CS_OLD_STREAMS + 3; i++) {
        struct cs_stream *s = cs_stream_new(f->m, peer, NULL, true);
        cs_stream_say(s, CS_STR("{}"));
        cs_stream_answer(s, CS_STR("{}"), 200);
    }
    assert_int_equal(peer->old_streams, CS_OLD_STREAMS);
    assert_false(resumes(peer, "3_0"));
    assert_true(resumes(peer, "4_0"));
    struct cs_mcp_figures figures;
    cs_mcp_figures(f->m, &figures);
    assert_int_equal(figures.streams, 0); /* nobody is there to hear them */
    assert_int_equal(figures.sessions, 1);
}

static void a_client_that_takes_no_events_hears_none(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11);
    struct cs_stream *s = cs_stream_new(f->m, peer, NULL, false);
    assert_false(cs_stream_say(s, CS_STR("{}")));
    assert_int_equal(peer->event_count, 0);
}

static void a_session_is_its_callers_and_ends_when_it_is_idle(void **state)
{
    struct fake *f = *state;
    struct cs_peer *peer = session(f, CS_V2025_11);
    char id[44];
    struct cs_caller eve = peer->caller, tenant = peer->caller, other_key = peer->caller;
    struct cs_caller ada = peer->caller;
    memcpy(id, peer->id, sizeof id);
    memcpy(eve.principal, "eve", 4);
    memcpy(tenant.tenant, "b", 2);
    memcpy(other_key.key_id, "k", 2);
    assert_ptr_equal(cs_session_find(f->m, &ada, cs_str(id)), peer);
    assert_null(cs_session_find(f->m, &eve, cs_str(id)));
    assert_null(cs_session_find(f->m, &tenant, cs_str(id)));
    assert_null(cs_session_find(f->m, &other_key, cs_str(id)));
    assert_null(cs_session_find(f->m, &ada, cs_strn(id, 42)));
    assert_null(cs_session_find(f->m, &ada, CS_STR("")));
    cs_peers_tick(f->m, cs_mcp_now() + CS_SESSION_IDLE - 1000);
    assert_non_null(cs_session_find(f->m, &ada, cs_str(id)));
    cs_peers_tick(f->m, cs_mcp_now() + CS_SESSION_IDLE + 1000);
    assert_null(cs_session_find(f->m, &ada, cs_str(id)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(so_many_events_are_kept_and_no_more, fake_open, fake_close),
        CS_TEST_WITH(so_many_bytes_are_kept_and_the_last_event_always, fake_open, fake_close),
        CS_TEST_WITH(a_stream_is_found_by_any_event_of_it_and_nothing_else, fake_open, fake_close),
        CS_TEST_WITH(streams_that_are_over_are_forgotten_oldest_first, fake_open, fake_close),
        CS_TEST_WITH(a_client_that_takes_no_events_hears_none, fake_open, fake_close),
        CS_TEST_WITH(a_session_is_its_callers_and_ends_when_it_is_idle, fake_open, fake_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
