/*
 * A file of the source tree as bytes inside the program.
 *
 *     CS_EMBED(prelude_js, "src/worker/prelude.js");   ->   struct cs_str prelude_js(void)
 *
 * CMake rebuilds the including file when the embedded one changes.
 */
#ifndef CS_BASE_EMBED_H
#define CS_BASE_EMBED_H

#include "base/str.h"

/* One that the build makes: CS_EMBED_BUILT(table, "table.bin"), of the build directory. */
#define CS_EMBED_BUILT(name, path) CS_EMBED_AT(name, CS_BUILD_DIR "/" path)
#define CS_EMBED(name, path)       CS_EMBED_AT(name, CS_SOURCE_DIR "/" path)

/* The labels are global (hidden) because of the linker for arm64, which takes two local labels of
 * one section for the same when code is position independent. */
#define CS_EMBED_AT(name, path)                                                    \
    __asm__(".pushsection .rodata\n"                                               \
            ".balign 16\n"                                                         \
            ".globl cs_embed_" #name ", cs_embed_" #name "_end\n"                  \
            ".hidden cs_embed_" #name ", cs_embed_" #name "_end\n"                 \
            "cs_embed_" #name ":\n"                                                \
            ".incbin \"" path "\"\n"                                               \
            "cs_embed_" #name "_end:\n"                                            \
            ".byte 0\n"                                                            \
            ".popsection\n");                                                      \
    extern const char cs_embed_##name[];                                           \
    extern const char cs_embed_##name##_end[];                                     \
    static inline struct cs_str name(void)                                         \
    {                                                                              \
        return (struct cs_str){cs_embed_##name,                                    \
                               (size_t)(cs_embed_##name##_end - cs_embed_##name)}; \
    }

#endif
