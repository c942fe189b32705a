/*
 * Paths as a door gets them: whatever is accepted stays beneath the directory it is opened in, and
 * an id is accepted only in the one form that is made.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/session_disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[CS_SESSION_PATH + 8];
    struct cs_str given = cs_strn((const char *)data, size);
    struct cs_err err = {0};
    if (cs_session_id_ok(given))
        must(size == CS_SESSION_ID && memcmp(data, "ses_", 4) == 0 && !memchr(data, '/', size));
    if (cs_session_path_check(given, &err) < 0) {
        must(err.code == CS_INVALID && err.msg[0]);
        return 0;
    }
    must(size > 0 && size <= CS_SESSION_PATH && data[0] != '/' && data[size - 1] != '/');
    must(!memchr(data, '\0', size));
    text[0] = '/';
    memcpy(text + 1, data, size);
    memcpy(text + 1 + size, "/", 2);
    must(!strstr(text, "//") && !strstr(text, "/./") && !strstr(text, "/../"));
    unsigned levels = 0;
    for (size_t i = 0; i < size; i++)
        levels += data[i] == '/';
    must(levels < CS_SESSION_DEPTH);
    return 0;
}
