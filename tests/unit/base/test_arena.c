#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/mem.h"

static void zeroed_is_empty_and_done_is_harmless(void **state)
{
    (void)state;
    struct cs_arena a = {0};
    cs_arena_done(&a);
    cs_arena_done(&a);
    assert_null(a.blocks);
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    unsigned char *before = NULL;
    size_t before_size = 0;
    for (size_t i = 0; i < 5000; i++) {
        size_t size = i % 97;
        unsigned char *p = cs_arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xFF, size);
        for (size_t k = 0; k < before_size; k++)
            assert_int_equal(before[k], 0xEE);
        memset(p, 0xEE, size);
        before = p;
        before_size = size;
    }
}

static void a_big_one_leaves_the_current_block_in_use(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    char *first = cs_arena_alloc(&a, 16);
    char *big = cs_arena_alloc(&a, 1 << 20);
    memset(big, 1, 1 << 20);
    char *second = cs_arena_alloc(&a, 16);
    assert_ptr_equal(second, first + 16);
}

static void every_size_around_a_block_fits(void **state)
{
    (void)state;
    for (size_t size = 2000; size < 2100; size++) {
        CS_AUTO_ARENA struct cs_arena a = {0};
        for (int i = 0; i < 10; i++)
            memset(cs_arena_alloc(&a, size), 0xAA, size);
    }
    for (size_t size = 8150; size < 8220; size++) {
        CS_AUTO_ARENA struct cs_arena a = {0};
        memset(cs_arena_alloc(&a, size), 0xAA, size);
    }
}

static void dup_copies_and_ends_in_nul(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    char text[] = "abc";
    struct cs_str copy = cs_arena_dup(&a, cs_strn(text, 2));
    text[0] = 'x';
    assert_int_equal(copy.len, 2);
    assert_string_equal(copy.at, "ab");
    struct cs_str none = cs_arena_dup(&a, (struct cs_str){0});
    assert_int_equal(none.len, 0);
    assert_string_equal(none.at, "");
}

static void printf_fits_its_text(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    assert_string_equal(cs_arena_printf(&a, "%s-%d", "x", 5), "x-5");
    assert_string_equal(cs_arena_printf(&a, "%s", ""), "");
    assert_int_equal(strlen(cs_arena_printf(&a, "%5000d", 1)), 5000);
}

static void heap_memory_is_zeroed_and_grows(void **state)
{
    (void)state;
    CS_AUTO_FREE unsigned char *p = cs_calloc(100, 3);
    for (int i = 0; i < 300; i++)
        assert_int_equal(p[i], 0);
    p[299] = 9;
    p = cs_realloc(p, 1000, 3);
    assert_int_equal(p[299], 9);
    CS_AUTO_FREE void *nothing = cs_calloc(0, 0);
    assert_non_null(nothing);
    CS_AUTO_FREE void *none = cs_realloc(NULL, 0, 8);
    assert_non_null(none);
}

static void strdups_copy(void **state)
{
    (void)state;
    CS_AUTO_FREE char *a = cs_strdup("abc");
    CS_AUTO_FREE char *b = cs_strndup("abcdef", 2);
    CS_AUTO_FREE char *c = cs_strndup(NULL, 0);
    assert_string_equal(a, "abc");
    assert_string_equal(b, "ab");
    assert_string_equal(c, "");
}

static void overflow_realloc(void)
{
    cs_realloc(NULL, SIZE_MAX / 2, 3);
}

static void impossible_arena(void)
{
    struct cs_arena a = {0};
    cs_arena_alloc(&a, SIZE_MAX - 3);
}

/* Runs `fn` in a child and returns the signal that ended it. */
static int signal_of(void (*fn)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        /* cmocka and the sanitizer have handlers; the test wants the plain death. */
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        fn();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_size_that_overflows_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(signal_of(overflow_realloc), SIGABRT);
}

/* The sanitizer's allocator ends the process itself, with a status of its own. */
static void a_size_that_cannot_be_ends_the_process(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    assert_int_equal(signal_of(impossible_arena), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_is_empty_and_done_is_harmless),
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_big_one_leaves_the_current_block_in_use),
        cmocka_unit_test(every_size_around_a_block_fits),
        cmocka_unit_test(dup_copies_and_ends_in_nul),
        cmocka_unit_test(printf_fits_its_text),
        cmocka_unit_test(heap_memory_is_zeroed_and_grows),
        cmocka_unit_test(strdups_copy),
        cmocka_unit_test(a_size_that_overflows_ends_the_process),
        cmocka_unit_test(a_size_that_cannot_be_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
