#include "tools/curl.h"

#include <dlfcn.h>

#include "base/own.h"
#include "base/str.h"

static int fill(struct cs_curl *table, void *library, struct cs_err *err)
{
    const struct {
        const char *name;
        void *slot;
    } wanted[] = {
#define X(name) {"curl_" #name, &table->name},
        CS_CURL_FUNCTIONS(X)
#undef X
    };
    for (size_t i = 0; i < CS_COUNT(wanted); i++) {
        void *function = dlsym(library, wanted[i].name);
        if (!function)
            return cs_fail(err, CS_MISSING,
                           "libcurl has no %s: it is too old; install Debian's libcurl4 (7.88)",
                           wanted[i].name);
        memcpy(wanted[i].slot, &function, sizeof function);
    }
    return 0;
}

int cs_curl_load(const struct cs_curl **curl, struct cs_err *err)
{
    static struct cs_curl table;
    static bool loaded;
    if (!loaded) {
        void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return cs_fail(err, CS_MISSING,
                           "MCP servers over HTTP need libcurl: install the package libcurl4 (%s)",
                           dlerror());
        if (fill(&table, library, err) < 0)
            return -1;
        CURLcode code = table.global_init(CURL_GLOBAL_DEFAULT);
        if (code != CURLE_OK)
            return cs_fail(err, CS_SYSTEM, "libcurl: %s", table.easy_strerror(code));
        loaded = true;
    }
    *curl = &table;
    return 0;
}
