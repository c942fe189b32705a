#include "privacy/find.h"
#include "privacy/page.h"
#include "test.h"

static enum cs_pii kind(const char *key)
{
    return (enum cs_pii)cs_key_sense(cs_str(key)).kind;
}

static void the_spelling_makes_no_difference(void **state)
{
    (void)state;
    static const char *const same[] = {"date_of_birth", "dateOfBirth",   "DateOfBirth",
                                       "DATE-OF-BIRTH", "Date of Birth", "patient.dateOfBirth",
                                       "DATE_OF_BIRTH"};
    for (size_t i = 0; i < CS_COUNT(same); i++)
        assert_int_equal(kind(same[i]), CS_PII_DATE_OF_BIRTH);
    assert_int_equal(kind("userAPIKey"), CS_PII_API_KEY);
    assert_int_equal(kind("phone2"), CS_PII_PHONE);
    assert_int_equal(kind("X-Api-Key"), CS_PII_API_KEY);
    assert_int_equal(kind("customer's phone number"), CS_PII_PHONE);
}

static void the_end_of_a_key_counts(void **state)
{
    (void)state;
    assert_int_equal(kind("billing_email"), CS_PII_EMAIL);
    assert_int_equal(kind("db_password"), CS_PII_PASSWORD);
    assert_int_equal(kind("client_ip"), CS_PII_IP_ADDRESS);
    assert_int_equal(kind("email_sent"), CS_PII_COUNT);
    assert_int_equal(kind("phone_verified"), CS_PII_COUNT);
    assert_int_equal(kind("zip"), CS_PII_COUNT);
    assert_int_equal(kind("ship"), CS_PII_COUNT);
}

static void exceptions_say_nothing(void **state)
{
    (void)state;
    static const char *const nothing[] = {
        "token_count", "next_token", "nextPageToken", "key_id",     "public_key", "primary_key",
        "etag",        "checksum",   "max_tokens",    "cache_key",  "file_name",  "hostname",
        "mac_address", "sort_key",   "userName",      "table_name", "monkey",     "namespace"};
    for (size_t i = 0; i < CS_COUNT(nothing); i++)
        if (kind(nothing[i]) != CS_PII_COUNT)
            fail_msg("%s says something", nothing[i]);
}

static void some_keys_are_weak(void **state)
{
    (void)state;
    assert_true(cs_key_sense(cs_str("name")).weak);
    assert_true(cs_key_sense(cs_str("author")).weak);
    assert_false(cs_key_sense(cs_str("first_name")).weak);
    assert_false(cs_key_sense(cs_str("password")).weak);
}

static void there_are_sixty_names_at_least(void **state)
{
    (void)state;
    size_t some = 0;
    for (size_t i = 0; i < cs_key_row_count; i++) {
        some += cs_key_rows[i].kind != CS_PII_COUNT;
        if (i > 0 && strcmp(cs_key_rows[i - 1].name, cs_key_rows[i].name) >= 0)
            fail_msg("%s is out of order", cs_key_rows[i].name);
    }
    assert_true(some >= 60);
}

static void odd_keys_are_no_trouble(void **state)
{
    (void)state;
    char big[300];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_int_equal(kind(big), CS_PII_COUNT);
    assert_int_equal(kind(""), CS_PII_COUNT);
    assert_int_equal(kind("123"), CS_PII_COUNT);
    assert_int_equal(kind("___"), CS_PII_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(the_spelling_makes_no_difference), CS_TEST(the_end_of_a_key_counts),
        CS_TEST(exceptions_say_nothing),           CS_TEST(some_keys_are_weak),
        CS_TEST(there_are_sixty_names_at_least),   CS_TEST(odd_keys_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
