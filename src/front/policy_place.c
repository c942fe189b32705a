#include "front/policy_place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "front/settings.h"
#include "tools/tools.h"

#define POLICY_BYTES (1u << 20)

CS_DEFINE_CLEANUP(struct cs_policy, cs_policy_unref)

/* A path of the configuration is seen from there. */
static int beside(const char *config, struct cs_str name, char path[CS_DATA_PATH],
                  struct cs_err *err)
{
    const char *slash = strrchr(config, '/');
    int dir = name.at[0] == '/' || !slash ? 0 : (int)(slash - config) + 1;
    int n = snprintf(path, CS_DATA_PATH, "%.*s%.*s", dir, config, CS_STR_ARG(name));
    if (n < 0 || n >= CS_DATA_PATH)
        return cs_fail(err, CS_INVALID, "%s: policy: the path is too long", config);
    return 0;
}

static int of_configuration(const char *config, struct cs_json_val value, const char *other,
                            struct cs_policy_place *place, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    place->inside = cs_json_type(value) == CS_JSON_OBJECT;
    if (place->inside) {
        if (snprintf(place->path, CS_DATA_PATH, "%s", config) >= CS_DATA_PATH)
            return cs_fail(err, CS_INVALID, "the path of the configuration is too long");
    } else {
        struct cs_str name = cs_json_str(value, &arena);
        if (cs_json_type(value) != CS_JSON_STRING || !name.len)
            return cs_fail(err, CS_INVALID, "%s: policy: wants an object, or the path of a file",
                           config);
        if (beside(config, name, place->path, err) < 0)
            return -1;
    }
    if (*other && strcmp(other, place->path) != 0)
        return cs_fail(err, CS_INVALID,
                       "there are two policies: `policy` in %s, and %s; keep one of them", config,
                       other);
    return 0;
}

int cs_policy_place_find(const char *given, const char *config, struct cs_policy_place *place,
                         struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf member = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    const char *variable = getenv("CAISSON_POLICY");
    char usual[CS_DATA_PATH];
    *place = (struct cs_policy_place){.inside = false};
    if (cs_data_policy(given, config, usual, err) < 0)
        return -1;
    bool named = given || (variable && *variable);
    if (!named && (cs_settings_policy(config, &member, err) < 0 ||
                   (member.len && cs_json_parse(cs_buf_str(&member), NULL, &doc, err) < 0)))
        return cs_wrap(err, "%s: policy", config);
    if (member.len)
        return of_configuration(config, cs_json_root(&doc), usual, place, err);
    memcpy(place->path, usual, sizeof usual);
    return 0;
}

void cs_policy_place_usual(const char *given, const char *config, char path[CS_DATA_PATH])
{
    const char *variable = getenv("CAISSON_POLICY");
    path[0] = '\0';
    if (!given && !(variable && *variable) && beside(config, CS_STR("policy.json"), path, NULL) < 0)
        path[0] = '\0';
}

int cs_policy_place_text(const struct cs_policy_place *place, struct cs_buf *text,
                         struct cs_err *err)
{
    if (!place->path[0])
        return 0;
    if (place->inside)
        return cs_settings_policy(place->path, text, err);
    if (cs_file_read_regular(place->path, POLICY_BYTES, text, err) < 0)
        return -1;
    return text->len ? 0 : cs_fail(err, CS_INVALID, "it is empty");
}

void cs_policy_place_name(const struct cs_policy_place *place, struct cs_buf *name)
{
    if (place->inside)
        cs_buf_printf(name, "%s: policy", place->path);
    else
        cs_buf_printf(name, "policy %s", place->path);
}

/* ${env:X} and its like. */
static int fetch_secret(const struct cs_policy_place *place, struct cs_policy *policy,
                        struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf value = {0};
    char folder[CS_DATA_PATH];
    struct cs_str secret = cs_policy_approvals(policy).secret;
    const char *slash = strrchr(place->path, '/');
    if (!secret.len || !memmem(secret.at, secret.len, "${", 2))
        return 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - place->path) : 1,
             slash ? place->path : ".");
    if (cs_tools_expand(secret, folder, &value, err) < 0)
        return cs_wrap(err, "approvals.secret");
    if (!value.len)
        return cs_fail(err, CS_INVALID, "approvals.secret: it is empty");
    cs_policy_set_secret(policy, cs_buf_str(&value));
    explicit_bzero(value.at, value.len);
    return 0;
}

int cs_policy_place_load(const struct cs_policy_place *place, struct cs_policy **policy,
                         struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0}, name = {0};
    CS_AUTO(cs_policy_unrefp) struct cs_policy *p = NULL;
    cs_policy_place_name(place, &name);
    if (cs_policy_place_text(place, &text, err) < 0)
        return cs_wrap(err, "%s", cs_buf_cstr(&name));
    if (place->path[0] && !text.len)
        return cs_fail(err, CS_INVALID, "%s: it is not there any more", cs_buf_cstr(&name));
    if (cs_policy_parse(cs_buf_str(&text), cs_buf_cstr(&name), &p, err) < 0)
        return -1;
    if (fetch_secret(place, p, err) < 0)
        return cs_wrap(err, "%s", cs_buf_cstr(&name));
    *policy = CS_TAKE(p);
    return 0;
}
