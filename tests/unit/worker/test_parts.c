/* The parts of the worker that need no engine: specifiers, digests, randomness, suggestions. */
#include "test.h"

#include "base/own.h"
#include "worker/digest.h"
#include "worker/host.h"
#include "worker/resolve.h"
#include "worker/text.h"

#define MAIN CS_PROGRAM_PATH

static void specifiers_become_paths(void **state)
{
    (void)state;
    static const struct {
        const char *from, *specifier, *path;
    } cases[] = {
        {MAIN, "./a.ts", "/workspace/a.ts"},
        {MAIN, "../workspace/a.ts", "/workspace/a.ts"},
        {MAIN, "./lib/../a.ts", "/workspace/a.ts"},
        {MAIN, "./mcp-servers/x/y.ts", "/mcp-servers/x/y.ts"},
        {MAIN, "././skills/a.ts", "/skills/a.ts"},
        {MAIN, "mcp-servers/x.ts", "/mcp-servers/x.ts"},
        {MAIN, "skills/a", "/skills/a"},
        {MAIN, "/tmp/a.ts", "/tmp/a.ts"},
        {MAIN, "//tmp//a.ts", "/tmp/a.ts"},
        {MAIN, "/tmp/./x/../a.ts", "/tmp/a.ts"},
        {MAIN, "./a%2e%2e.ts", "/workspace/a%2e%2e.ts"},
        {MAIN, "./a.ts?x=1", "/workspace/a.ts?x=1"},
        {"/skills/tidy/index.ts", "./util.ts", "/skills/tidy/util.ts"},
        {"/skills/tidy/index.ts", "../other.ts", "/skills/other.ts"},
        {"/skills/tidy/index.ts", "../../tmp/x.ts", "/tmp/x.ts"},
        {"/skills/tidy/index.ts", "./tmp/x.ts", "/skills/tidy/tmp/x.ts"},
        {"/skills/tidy/index.ts", "tmp/x.ts", "/tmp/x.ts"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        char path[CS_RESOLVE_MAX];
        enum cs_resolved r =
            cs_module_resolve(cs_str(cases[i].from), cs_str(cases[i].specifier), path);
        if (r != CS_RESOLVED_PATH || strcmp(path, cases[i].path) != 0)
            fail_msg("%s from %s: %d %s", cases[i].specifier, cases[i].from, r, path);
    }
}

static void builtins_have_one_name(void **state)
{
    (void)state;
    static const char *const names[] = {"path",   "node:path", "util",        "node:util",
                                        "crypto", "buffer",    "fs/promises", "node:fs/promises"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        char path[CS_RESOLVE_MAX];
        assert_int_equal(cs_module_resolve(CS_STR(MAIN), cs_str(names[i]), path),
                         CS_RESOLVED_BUILTIN);
        assert_true(strncmp(path, "node:", 5) == 0);
    }
}

static void everything_else_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        ".",
        "..",
        "/",
        "/etc/passwd",
        "../etc/passwd",
        "./../../etc/passwd",
        "/workspace",
        "/workspace/",
        "/workspace/../etc/x",
        "/tmp/../../etc/x",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "http://x/y",
        "https://x",
        "data:text/javascript,1",
        "blob:x",
        "node:fs",
        "fs",
        "node:process",
        "process",
        "child_process",
        "bun:ffi",
        "std",
        "os",
        "system",
        "left-pad",
        "@scope/pkg",
        "./a\\b",
        "a\nb",
        "\x7f",
        "/proc/self/environ",
        "/mcp-serversx/a",
        "/Tmp/a",
        "mcp-servers",
        "./mcp-servers/../../x",
    };
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        char path[CS_RESOLVE_MAX];
        enum cs_resolved r = cs_module_resolve(CS_STR(MAIN), cs_str(names[i]), path);
        if (r != CS_RESOLVED_REFUSED)
            fail_msg("'%s' became %s", names[i], path);
    }
    char nul[CS_RESOLVE_MAX], long_name[2000];
    assert_int_equal(cs_module_resolve(CS_STR(MAIN), cs_strn("./a\0b", 5), nul),
                     CS_RESOLVED_REFUSED);
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name, "./", 2);
    assert_int_equal(cs_module_resolve(CS_STR(MAIN), cs_strn(long_name, sizeof long_name), nul),
                     CS_RESOLVED_REFUSED);
}

static void hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void digests_match_the_standards_examples(void **state)
{
    (void)state;
    static const char two_blocks[] =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlm"
        "nopqrsmnopqrstnopqrstu";
    static const struct {
        const char *name, *text, *digest;
    } cases[] = {
        {"md5", "", "d41d8cd98f00b204e9800998ecf8427e"},
        {"md5", "message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"sha-1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"sha-1", "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"sha-256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"sha-256", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"sha-384", "abc",
         "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca13"
         "4c825a7"},
        {"sha-512", two_blocks,
         "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec"
         "4b5433ac7d329eeb6dd26545e96e55b874be909"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        unsigned char out[CS_DIGEST_MAX];
        char text[2 * CS_DIGEST_MAX + 1];
        size_t n = cs_hash(cs_str(cases[i].name), cs_str(cases[i].text), out);
        hex(out, n, text);
        assert_string_equal(text, cases[i].digest);
    }
    unsigned char none[CS_DIGEST_MAX];
    assert_int_equal(cs_hash(CS_STR("sha-3"), CS_STR(""), none), 0);
}

static void digests_pad_at_every_length(void **state)
{
    (void)state;
    /* The digest of all digests of 0 to 299 letters; any wrong padding shows. */
    CS_AUTO_BUF struct cs_buf all = {0};
    char letters[300];
    memset(letters, 'a', sizeof letters);
    for (size_t n = 0; n < sizeof letters; n++) {
        unsigned char out[CS_DIGEST_MAX];
        size_t len = cs_hash(CS_STR("sha-512"), cs_strn(letters, n), out);
        cs_buf_put(&all, out, len);
        len = cs_hash(CS_STR("sha-256"), cs_strn(letters, n), out);
        cs_buf_put(&all, out, len);
    }
    unsigned char out[CS_DIGEST_MAX];
    char text[2 * CS_DIGEST_MAX + 1];
    hex(out, cs_hash(CS_STR("sha-256"), cs_buf_str(&all), out), text);
    assert_string_equal(text, "72df1ef83f4a936951447122731f7a5cc2c4c805c17b482dd4218fb47470bf65");
}

static void random_bytes_depend_on_the_seed_alone(void **state)
{
    (void)state;
    struct cs_random a, b, c;
    const uint64_t seed[2] = {1, 2}, other[2] = {1, 3};
    cs_random_seed(&a, seed);
    cs_random_seed(&b, seed);
    cs_random_seed(&c, other);
    unsigned char x[200], y[200], z[200];
    cs_random_fill(&a, x, sizeof x);
    for (size_t i = 0; i < sizeof y; i++)
        cs_random_fill(&b, y + i, 1);
    cs_random_fill(&c, z, sizeof z);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_not_equal(x, z, sizeof x);
}

static void suggestions_fit_their_buffer(void **state)
{
    (void)state;
    char out[CS_SUGGEST_MAX], message[5000];
    memset(message, 'x', sizeof message);
    memcpy(message, "Can't find variable: ", 21);
    cs_suggest(CS_STR("ReferenceError"), cs_strn(message, sizeof message), CS_STR(""), out);
    assert_true(strlen(out) < CS_SUGGEST_MAX);
    assert_contains(out, "is not defined here");
    cs_suggest(CS_STR("Error"), CS_STR("nothing anybody knows"), CS_STR(""), out);
    assert_string_equal(out, "");
    cs_suggest(CS_STR("Error"), cs_strn(NULL, 0), cs_strn(NULL, 0), out);
    assert_string_equal(out, "");
}

static void text_survives_the_border(void **state)
{
    (void)state;
    cs_text_init();
    char big[1000];
    memset(big, 'a', sizeof big);
    static const struct cs_str texts[] = {CS_STR(""), CS_STR("ascii"), CS_STR("é€😀"),
                                          CS_STR("a\0b")};
    for (size_t i = 0; i <= CS_COUNT(texts); i++) {
        struct cs_str in = i < CS_COUNT(texts) ? texts[i] : cs_strn(big, sizeof big);
        JSStringRef s = cs_text_string(in);
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_text_put(&out, s);
        assert_int_equal(JSStringGetLength(s), cs_text_units(in));
        assert_true(cs_str_eq(cs_buf_str(&out), in));
        JSStringRelease(s);
    }
    assert_true(cs_text_valid(CS_STR("é")));
    assert_false(cs_text_valid(CS_STR("\xc3")));
}

static void what_is_no_text_becomes_replacement_characters(void **state)
{
    (void)state;
    JSStringRef s = cs_text_string(CS_STR("a\xff\xe2\x82z"));
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_text_put(&out, s);
    assert_str_is(cs_buf_str(&out), "a\xef\xbf\xbd\xef\xbf\xbdz");
    JSStringRelease(s);

    const JSChar lone[] = {'x', 0xd800, 'y', 0xdc00};
    s = JSStringCreateWithCharacters(lone, 4);
    cs_buf_clear(&out);
    cs_text_put(&out, s);
    assert_str_is(cs_buf_str(&out), "x\xef\xbf\xbdy\xef\xbf\xbd");
    JSStringRelease(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(specifiers_become_paths),
        CS_TEST(builtins_have_one_name),
        CS_TEST(everything_else_is_refused),
        CS_TEST(digests_match_the_standards_examples),
        CS_TEST(digests_pad_at_every_length),
        CS_TEST(random_bytes_depend_on_the_seed_alone),
        CS_TEST(suggestions_fit_their_buffer),
        CS_TEST(text_survives_the_border),
        CS_TEST(what_is_no_text_becomes_replacement_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
