#include "http/mhd.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "base/own.h"
#include "base/str.h"

static int fill(struct cs_mhd *table, void *library, struct cs_err *err)
{
    const struct {
        const char *name;
        void *slot;
    } wanted[] = {
#define X(name) {"MHD_" #name, &table->name},
        CS_MHD_FUNCTIONS(X)
#undef X
    };
    for (size_t i = 0; i < CS_COUNT(wanted); i++) {
        void *function = dlsym(library, wanted[i].name);
        if (!function)
            return cs_fail(err, CS_MISSING,
                           "libmicrohttpd has no %s: it is too old; install Debian's "
                           "libmicrohttpd12 (0.9.75)",
                           wanted[i].name);
        memcpy(wanted[i].slot, &function, sizeof function);
    }
    return 0;
}

int cs_mhd_load(const struct cs_mhd **mhd, struct cs_err *err)
{
    static struct cs_mhd table;
    static bool loaded;
    if (!loaded) {
        void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return cs_fail(err, CS_MISSING,
                           "serving HTTP needs libmicrohttpd: install the package "
                           "libmicrohttpd12 (%s)",
                           dlerror());
        if (fill(&table, library, err) < 0)
            return -1;
        loaded = true;
    }
    *mhd = &table;
    return 0;
}
