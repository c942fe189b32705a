#include "worker/text.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/*
 * The public API has no constructor for 8-bit strings, and parsing 16-bit JSON takes a third
 * longer. WTF has one, exported under its C++ name. It returns its object through a hidden pointer;
 * a C function that returns a struct of more than 16 bytes is called the same way on both of our
 * architectures, which is what the padding is for.
 */
struct returned {
    void *object;
    void *padding[3];
};

struct span {
    unsigned char *at;
    size_t len;
};

static struct {
    struct returned (*uninitialized)(size_t len, struct span *chars);
    struct returned (*borrow)(const char *chars, size_t len);
    struct returned (*wrap)(void **string);
} wtf;

void cs_text_init(void)
{
    *(void **)&wtf.uninitialized =
        dlsym(RTLD_DEFAULT,
              "_ZN3WTF10StringImpl19createUninitializedEmRSt4spanIhLm18446744073709551615EE");
    *(void **)&wtf.borrow =
        dlsym(RTLD_DEFAULT, "_ZN3WTF10StringImpl28createWithoutCopyingNonEmptyESt4spanIKhLm"
                            "18446744073709551615EE");
    *(void **)&wtf.wrap = dlsym(RTLD_DEFAULT, "_ZN14OpaqueJSString9tryCreateEON3WTF6StringE");
}

static bool is_ascii(struct cs_str s)
{
    size_t i = 0;
    uint64_t any = 0;
    for (; i + 32 <= s.len; i += 32) {
        uint64_t w[4];
        memcpy(w, s.at + i, sizeof w);
        any |= w[0] | w[1] | w[2] | w[3];
    }
    for (; i < s.len; i++)
        any |= (unsigned char)s.at[i];
    return (any & 0x8080808080808080u) == 0;
}

/* Decodes one character; what is no character is U+FFFD, in the portions that browsers use. */
static uint32_t decode(const char *s, size_t left, size_t *used)
{
    int n = cs_utf8_len(s, left);
    *used = (size_t)(n < 0 ? -n : n);
    if (n < 0)
        return 0xfffd;
    if (n == 1)
        return (unsigned char)s[0];
    uint32_t v = (unsigned char)s[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++)
        v = v << 6 | ((unsigned char)s[i] & 0x3fu);
    return v;
}

bool cs_text_valid(struct cs_str s)
{
    for (size_t i = 0; i < s.len;) {
        int n = cs_utf8_len(s.at + i, s.len - i);
        if (n < 0)
            return false;
        i += (size_t)n;
    }
    return true;
}

static size_t widen(struct cs_str s, JSChar *to)
{
    size_t n = 0, i = 0;
    while (i < s.len) {
        while (i + 8 <= s.len) {
            uint64_t w;
            memcpy(&w, s.at + i, sizeof w);
            if (w & 0x8080808080808080u)
                break;
            for (int k = 0; k < 8; k++)
                to[n++] = (unsigned char)s.at[i++];
        }
        if (i >= s.len)
            break;
        size_t used;
        uint32_t c = decode(s.at + i, s.len - i, &used);
        i += used;
        if (c >= 0x10000) {
            to[n++] = (JSChar)(0xd800 + ((c - 0x10000) >> 10));
            to[n++] = (JSChar)(0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            to[n++] = (JSChar)c;
        }
    }
    return n;
}

static JSStringRef make_8bit(struct cs_str s)
{
    struct span chars = {0};
    struct returned string = wtf.uninitialized(s.len, &chars);
    if (!string.object || !chars.at)
        return NULL;
    memcpy(chars.at, s.at, s.len);
    return wtf.wrap(&string.object).object;
}

JSStringRef cs_text_string(struct cs_str s)
{
    JSChar few[256];
    if (s.len > CS_COUNT(few) && wtf.uninitialized && wtf.wrap && is_ascii(s)) {
        JSStringRef made = make_8bit(s);
        if (made)
            return made;
    }
    if (s.len <= CS_COUNT(few))
        return JSStringCreateWithCharacters(few, widen(s, few));
    /* The engine keeps the pointer for as long as the string lives, which may be to the end. */
    JSChar *many = cs_realloc(NULL, s.len, sizeof *many);
    return JSStringCreateWithCharactersNoCopy(many, widen(s, many));
}

JSStringRef cs_text_borrow(struct cs_str s)
{
    if (s.len > 256 && wtf.borrow && wtf.wrap && is_ascii(s)) {
        struct returned string = wtf.borrow(s.at, s.len);
        return wtf.wrap(&string.object).object;
    }
    return cs_text_string(s);
}

JSValueRef cs_text_value(JSContextRef ctx, struct cs_str utf8)
{
    JSStringRef s = cs_text_string(utf8);
    JSValueRef v = JSValueMakeString(ctx, s);
    JSStringRelease(s);
    return v;
}

void cs_text_put(struct cs_buf *out, JSStringRef s)
{
    size_t len = JSStringGetLength(s);
    const JSChar *chars = JSStringGetCharactersPtr(s);
    size_t i = 0;
    while (i < len) {
        /* In steps, so that a long ASCII text does not reserve three times its size. */
        size_t end = len - i > 4096 ? i + 4096 : len;
        char *to = cs_buf_room(out, (end - i) * 3 + 4);
        size_t n = 0;
        while (i < end) {
            uint32_t c = chars[i++];
            if (c < 0x80) {
                to[n++] = (char)c;
                continue;
            }
            if (c >= 0xd800 && c < 0xe000) {
                bool pair = c < 0xdc00 && i < len && (chars[i] & 0xfc00) == 0xdc00;
                c = pair ? 0x10000 + ((c - 0xd800) << 10) + (chars[i++] - 0xdc00u) : 0xfffd;
            }
            n += cs_utf8_put(to + n, c);
        }
        cs_buf_added(out, n);
    }
}

bool cs_text_put_value(JSContextRef ctx, struct cs_buf *out, JSValueRef v)
{
    if (!v || !JSValueIsString(ctx, v))
        return false;
    JSStringRef s = JSValueToStringCopy(ctx, v, NULL);
    if (!s)
        return false;
    cs_text_put(out, s);
    JSStringRelease(s);
    return true;
}

size_t cs_text_units(struct cs_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        n += (c & 0xc0) != 0x80;
        n += c >= 0xf0;
    }
    return n;
}
