/*
 * Vendors and the shapes of their keys, by first byte; where prefixes begin alike, the longer one
 * stands first. Keys that anybody may see (pk_, publishable, application ids) have no row.
 */
#include "privacy/vendors.h"

#include "base/own.h"

#define DIGIT CS_V_DIGIT
#define MIXED CS_V_MIXED

/* R(rule, prefix, shape, proofs, find) */
#define VENDORS_0(R)                               \
    R("salesforce", "00D", "x12-15!t60-200", 0, 0) \
    R("asana", "0/", "d15-17:h32", 0, 0)

#define VENDORS_1(R)                     \
    R("google", "1//0", "b38-200", 0, 0) \
    R("asana", "1/", "d15-17:h32", 0, 0)

#define VENDORS_A(R)                                          \
    R("twitter", "AAAAAAAAAAAAAAAAAAAA", "p60-120", MIXED, 0) \
    R("age", "AGE-SECRET-KEY-1", "u50-70", 0, 0)              \
    R("cue", "Authorization", 0, 0, cs_cue_secret)            \
    R("age", "AGE-PLUGIN-", "u1-30-1u20-200", 0, 0)           \
    R("cue", "AccountKey", 0, 0, cs_cue_secret)               \
    R("astra", "AstraCS:", "x20-30:h64", 0, 0)                \
    R("mercadopago", "APP_USR-", "d16-d6-h32-d6-12", 0, 0)    \
    R("atlassian", "ATATT3", "T80-300", 0, 0)                 \
    R("atlassian", "ATCTT3", "T80-300", 0, 0)                 \
    R("cue", "Access", 0, 0, cs_cue_secret)                   \
    R("octopus", "API-", "u26", DIGIT, 0)                     \
    R("tencent", "AKID", "x32", MIXED, 0)                     \
    R("volcengine", "AKLT", "b40-60", MIXED, 0)               \
    R("aws", "ABSK", "B100-300", MIXED, 0)                    \
    R("aws", "AKIA", 0, 0, cs_find_aws)                       \
    R("aws", "ASIA", 0, 0, cs_find_aws)                       \
    R("aws", "ABIA", 0, 0, cs_find_aws)                       \
    R("aws", "ACCA", 0, 0, cs_find_aws)                       \
    R("google", "AIza", "b35", 0, 0)                          \
    R("artifactory", "AKCp", "x60-80", DIGIT, 0)              \
    R("atlassian", "ATBB", "x32", MIXED, 0)                   \
    R("trello", "ATTA", "h64(x8)", 0, 0)                      \
    R("firebase", "AAAA", "b7:b120-180", MIXED, 0)            \
    R("yandex", "AQVN", "b35-38", MIXED, 0)                   \
    R("cue", "Auth", 0, 0, cs_cue_secret)                     \
    R("aws", "A3T", 0, 0, cs_find_aws)                        \
    R("1password", "A3-", "u6-u6-u5-u5-u5-u5", 0, 0)          \
    R("1password", "A3-", "u6-u11-u5-u5-u5", 0, 0)            \
    R("cue", "API", 0, 0, cs_cue_secret)                      \
    R("cue", "Api", 0, 0, cs_cue_secret)                      \
    R("telegram", "AA", 0, 0, cs_find_bot)

#define VENDORS_B(R)                           \
    R("cue", "BasicAuth", 0, 0, cs_cue_second) \
    R("cue", "Bearer", 0, 0, cs_cue_bearer)    \
    R("bitbucket", "BBDC-", "B40-60", 0, 0)    \
    R("cue", "Basic", 0, 0, cs_cue_basic)      \
    R("brave", "BSA", "b24-29", MIXED, 0)

#define VENDORS_C(R)                                       \
    R("cue", "ConvertTo-SecureString", 0, 0, cs_cue_first) \
    R("clojars", "CLOJARS_", "h60", 0, 0)                  \
    R("circleci", "CCIPAT_", "x22_h40", 0, 0)              \
    R("circleci", "CCIPRJ_", "x22_h40", 0, 0)              \
    R("cockroach", "CCDB1_", "x22_x40", 0, 0)              \
    R("contentful", "CFPAT-", "b43", 0, 0)                 \
    R("cue", "Credentials", 0, 0, cs_cue_login)            \
    R("cue", "Client", 0, 0, cs_cue_secret)

#define VENDORS_E(R)                     \
    R("easypost", "EZAK", "x54", 0, 0)   \
    R("easypost", "EZTK", "x54", 0, 0)   \
    R("square", "EAAA", "b60", MIXED, 0) \
    R("facebook", "EAA", "x60-400", MIXED, 0)

#define VENDORS_F(R)                                       \
    R("flutterwave", "FLWSECK_TEST-", "x12-32(-x1)", 0, 0) \
    R("aws", "FwoGZXIvYXdz", "B150-2000", 0, 0)            \
    R("flutterwave", "FLWSECK_TEST", "x12-32", 0, 0)       \
    R("flutterwave", "FLWSECK-", "x12-32(-x1)", 0, 0)

#define VENDORS_G(R)                         \
    R("gitlab", "GR1348941", "b20-40", 0, 0) \
    R("google", "GOCSPX-", "b20-40", 0, 0)

#define VENDORS_H(R)                               \
    R("cue", "HTTPBasicAuth", 0, 0, cs_cue_second) \
    R("heroku", "HRKU-", "b36-70", 0, 0)

#define VENDORS_I(R)                                \
    R("aws", "IQoJb3JpZ2lu", "B150-2000", 0, 0)     \
    R("cue", "IDENTIFIED", 0, 0, cs_cue_identified) \
    R("instagram", "IGQV", "b80-300", MIXED, 0)     \
    R("instagram", "IGAA", "b80-300", MIXED, 0)

#define VENDORS_K(R)                        \
    R("kaggle", "KGAT_", "h32", 0, 0)       \
    R("telnyx", "KEY", "u32_x22", DIGIT, 0) \
    R("backblaze", "K00", "d1B27", MIXED, 0)

#define VENDORS_L(R)                                  \
    R("pem64", "LS0tLS1CRUdJTi", 0, 0, cs_find_pem64) \
    R("cue", "Login", 0, 0, cs_cue_login)             \
    R("alibaba", "LTAI", "x16-24", MIXED, 0)

#define VENDORS_M(R)                                 \
    R("der", "MC4CAQAwBQYDK2V", 0, 0, cs_find_der)   \
    R("der", "MIGHAgEAMBMG", 0, 0, cs_find_der)      \
    R("der", "MHcCAQEE", 0, 0, cs_find_der)          \
    R("der", "MHQCAQEE", 0, 0, cs_find_der)          \
    R("mapillary", "MLY|", "d10-20|h32", DIGIT, 0)   \
    R("der", "MII", 0, 0, cs_find_der)               \
    R("discord", "MT", "b20-26.b6.b25-40", MIXED, 0) \
    R("discord", "Mj", "b20-26.b6.b25-40", MIXED, 0) \
    R("discord", "Mz", "b20-26.b6.b25-40", MIXED, 0)

#define VENDORS_N(R)                                   \
    R("cue", "NetworkCredential", 0, 0, cs_cue_second) \
    R("newrelic", "NRAK-", "u27", 0, 0)                \
    R("newrelic", "NRII-", "b32", 0, 0)                \
    R("newrelic", "NRIQ-", "b32", 0, 0)                \
    R("newrelic", "NRRA-", "h40-42", 0, 0)             \
    R("newrelic", "NRAL-", "x36", 0, 0)                \
    R("newrelic", "NRSP-", "x20-60", 0, 0)             \
    R("discord", "ND", "b20-26.b6.b25-40", MIXED, 0)   \
    R("discord", "NT", "b20-26.b6.b25-40", MIXED, 0)   \
    R("discord", "Nj", "b20-26.b6.b25-40", MIXED, 0)   \
    R("discord", "Nz", "b20-26.b6.b25-40", MIXED, 0)

#define VENDORS_O(R)                                 \
    R("discord", "OD", "b20-26.b6.b25-40", MIXED, 0) \
    R("discord", "OT", "b20-26.b6.b25-40", MIXED, 0)

#define VENDORS_P(R)                                  \
    R("putty", "Private-Lines:", 0, 0, cs_find_putty) \
    R("cue", "PGPASSWORD", 0, 0, cs_cue_password)     \
    R("cue", "Password", 0, 0, cs_cue_password)       \
    R("cue", "PASSWORD", 0, 0, cs_cue_password)       \
    R("cue", "Passwort", 0, 0, cs_cue_password)       \
    R("cue", "PASSWD", 0, 0, cs_cue_password)         \
    R("cue", "PsExec", 0, 0, cs_cue_option)           \
    R("cue", "PSEXEC", 0, 0, cs_cue_option)           \
    R("cue", "PSExec", 0, 0, cs_cue_option)           \
    R("cue", "Psexec", 0, 0, cs_cue_option)           \
    R("postman", "PMAK-", "h24-h34", 0, 0)            \
    R("postman", "PMAT-", "u26", 0, 0)                \
    R("cue", "PASS", 0, 0, cs_cue_password)           \
    R("cue", "Pass", 0, 0, cs_cue_password)           \
    R("cue", "PWD", 0, 0, cs_cue_password)            \
    R("cue", "Pwd", 0, 0, cs_cue_password)

#define VENDORS_R(R) R("riot", "RGAPI-", "U", 0, 0)

#define VENDORS_S(R)                                       \
    R("cue", "SharedAccessSignature", 0, 0, cs_cue_secret) \
    R("cue", "SharedAccessKey", 0, 0, cs_cue_secret)       \
    R("docker", "SWMTKN-1-", "l40-60-l20-30", 0, 0)        \
    R("cue", "Secret", 0, 0, cs_cue_secret)                \
    R("cue", "SECRET", 0, 0, cs_cue_secret)                \
    R("cue", "SSWS", 0, 0, cs_cue_bearer)                  \
    R("sendgrid", "SG.", "b22.b43", 0, 0)                  \
    R("twilio", "SK", "h32", DIGIT, 0)

#define VENDORS_T(R)                       \
    R("cue", "Token", 0, 0, cs_cue_secret) \
    R("cue", "TOKEN", 0, 0, cs_cue_secret)

#define VENDORS_V(R) R("voiceflow", "VF.DM.", "x24.x10-40", 0, 0)

#define VENDORS_X(R)                           \
    R("cue", "X-Api-Key", 0, 0, cs_cue_secret) \
    R("cue", "X-API-Key", 0, 0, cs_cue_secret)

#define VENDORS_Y(R) R("yandex", "YC", "b38", MIXED, 0)

#define VENDORS_a(R)                                       \
    R("plaid", "access-development-", "U", 0, 0)           \
    R("plaid", "access-production-", "U", 0, 0)            \
    R("amazon", "amzn1.oa2-cs.v1.", "h64", 0, 0)           \
    R("plaid", "access-sandbox-", "U", 0, 0)               \
    R("braintree", "access_token$", "l2-12$x16$h32", 0, 0) \
    R("cue", "authorization", 0, 0, cs_cue_secret)         \
    R("cue", "access_token", 0, 0, cs_cue_secret)          \
    R("apify", "apify_api_", "x30-50", 0, 0)               \
    R("cue", "accountKey", 0, 0, cs_cue_secret)            \
    R("amazon", "amzn.mws.", "U", 0, 0)                    \
    R("huggingface", "api_org_", "a34", 0, 0)              \
    R("cue", "api_key", 0, 0, cs_cue_secret)               \
    R("cue", "api-key", 0, 0, cs_cue_secret)               \
    R("cue", "auth=(", 0, 0, cs_cue_second)                \
    R("alchemy", "alcht_", "b30-36", 0, 0)                 \
    R("arcjet", "ajkey_", "x20-40", 0, 0)                  \
    R("cue", "apikey", 0, 0, cs_cue_secret)                \
    R("cue", "access", 0, 0, cs_cue_secret)                \
    R("close", "api_", "x22.x22", MIXED, 0)                \
    R("adafruit", "aio_", "x28", 0, 0)                     \
    R("launchdarkly", "api-", "U", 0, 0)                   \
    R("cue", "auth", 0, 0, cs_cue_secret)                  \
    R("asana", "ap_", "x40-64", 0, 0)                      \
    R("cue", "api", 0, 0, cs_cue_secret)

#define VENDORS_b(R)                             \
    R("baidu", "bce-v3/ALTAK-", "x21/h40", 0, 0) \
    R("browserbase", "bb_live_", "b24-36", 0, 0) \
    R("blynk", "bl_live_", "x30-60", 0, 0)       \
    R("cue", "bearer", 0, 0, cs_cue_bearer)      \
    R("buildkite", "bkua_", "h40", 0, 0)         \
    R("buildkite", "bkat_", "x40-80", 0, 0)      \
    R("cue", "basic", 0, 0, cs_cue_basic)        \
    R("bitwarden", "bws_", "x30-60", MIXED, 0)

#define VENDORS_c(R)                               \
    R("cue", "client_secret", 0, 0, cs_cue_secret) \
    R("cue", "credentials", 0, 0, cs_cue_login)    \
    R("calcom", "cal_live_", "h32", 0, 0)          \
    R("jfrog", "cmVmdGtu", "x56", 0, 0)            \
    R("codesandbox", "csb_v1_", "b40-60", 0, 0)    \
    R("cue", "creds", 0, 0, cs_cue_login)          \
    R("composio", "comp_", "x30-60", MIXED, 0)     \
    R("cloudflare", "cfat_", "x40h8", 0, 0)        \
    R("cloudflare", "cfut_", "x40h8", 0, 0)        \
    R("cerebras", "csk-", "l48", DIGIT, 0)         \
    R("cloudflare", "cfk_", "x40h8", 0, 0)         \
    R("cue", "curl", 0, 0, cs_cue_user)            \
    R("checkly", "cu_", "h32", DIGIT, 0)           \
    R("crates", "cio", "x32", MIXED, 0)

#define VENDORS_d(R)                             \
    R("duffel", "duffel_live_", "b43", 0, 0)     \
    R("duffel", "duffel_test_", "b43", 0, 0)     \
    R("devcycle", "dvc_server_", "w20-60", 0, 0) \
    R("docker", "dckr_pat_", "b27", 0, 0)        \
    R("docker", "dckr_oat_", "b32", 0, 0)        \
    R("doppler", "dp.audit.", "x40-44", 0, 0)    \
    R("doppler", "dp.scim.", "x40-44", 0, 0)     \
    R("doppler", "dp.said.", "x40-44", 0, 0)     \
    R("cue", "default", 0, 0, cs_cue_default)    \
    R("digitalocean", "dop_v1_", "h64", 0, 0)    \
    R("digitalocean", "doo_v1_", "h64", 0, 0)    \
    R("digitalocean", "dor_v1_", "h64", 0, 0)    \
    R("dynatrace", "dt0c01.", "u24.u64", 0, 0)   \
    R("dynatrace", "dt0s01.", "u8-24.u64", 0, 0) \
    R("dynatrace", "dt0s02.", "u8-24.u64", 0, 0) \
    R("dynatrace", "dt0s16.", "u8-24.u64", 0, 0) \
    R("defined", "dnkey-", "b26-b52", 0, 0)      \
    R("doppler", "dp.st.", "b2-35.x40-44", 0, 0) \
    R("doppler", "dp.st.", "x40-44", 0, 0)       \
    R("doppler", "dp.pt.", "x40-44", 0, 0)       \
    R("doppler", "dp.ct.", "x40-44", 0, 0)       \
    R("doppler", "dp.sa.", "x40-44", 0, 0)       \
    R("cue", "docker", 0, 0, cs_cue_option)      \
    R("dbt", "dbtu_", "x32-60", 0, 0)            \
    R("dbt", "dbtc_", "x32-60", 0, 0)            \
    R("dbt", "dbts_", "x32-60", 0, 0)            \
    R("intercom", "dG9rO", "B50-70", 0, 0)       \
    R("deepsource", "dsp_", "h40", 0, 0)         \
    R("databricks", "dapi", "H32(-d1)", 0, 0)    \
    R("databricks", "dose", "h32", 0, 0)         \
    R("databricks", "dkea", "h32", 0, 0)         \
    R("appsync", "da2-", "l26", DIGIT, 0)

#define VENDORS_e(R)                       \
    R("elastic", "essu_", "B30-120", 0, 0) \
    R("e2b", "e2b_", "h40", 0, 0)          \
    R("jwt", "eyJ", 0, 0, cs_find_jwt)

#define VENDORS_f(R)                       \
    R("frameio", "fio-u-", "b64", 0, 0)    \
    R("figma", "figd_", "b38-64", 0, 0)    \
    R("figma", "figo_", "b38-64", 0, 0)    \
    R("figma", "figu_", "b38-64", 0, 0)    \
    R("flyio", "fm1a_", "T90-700", 0, 0)   \
    R("flyio", "fm1r_", "T90-700", 0, 0)   \
    R("flyio", "fo1_", "b43", 0, 0)        \
    R("flyio", "fm2_", "T60-700", 0, 0)    \
    R("fauna", "fnA", "b37-45", MIXED, 0)  \
    R("firecrawl", "fc-", "h32", DIGIT, 0) \
    R("fireworks", "fw_", "x22-30", MIXED, 0)

#define VENDORS_g(R)                                \
    R("github", "github_pat_", "x22_x59", 0, 0)     \
    R("github", "github_pat_", "w50-120", MIXED, 0) \
    R("gitlab", "glagent-", "b40-70", 0, 0)         \
    R("gitlab", "glsoat-", "b20-60", 0, 0)          \
    R("gitlab", "glffct-", "b20-60", 0, 0)          \
    R("grafana", "glc_eyJ", "B40-500", 0, 0)        \
    R("gitlab", "glpat-", "b20", 0, 0)              \
    R("gitlab", "glpat-", "b27-300.l2.l7-9", 0, 0)  \
    R("gitlab", "glrtr-", "b20-60", 0, 0)           \
    R("gitlab", "glcbt-", "b20-70", 0, 0)           \
    R("gitlab", "glptt-", "h40", 0, 0)              \
    R("gitlab", "glimt-", "b20-60", 0, 0)           \
    R("gitlab", "gloas-", "b50-80", 0, 0)           \
    R("gitlab", "gldt-", "b20-60", 0, 0)            \
    R("gitlab", "glrt-", "b20-60", 0, 0)            \
    R("gitlab", "glft-", "b20-60", 0, 0)            \
    R("grafana", "glsa_", "x32_h8", 0, 0)           \
    R("github", "ghp_", "x36", 0, 0)                \
    R("github", "gho_", "x36", 0, 0)                \
    R("github", "ghu_", "x36", 0, 0)                \
    R("github", "ghs_", "x36", 0, 0)                \
    R("github", "ghs_", "t60-900", 0, 0)            \
    R("github", "ghr_", "x36-255", 0, 0)            \
    R("groq", "gsk_", "x52", 0, 0)

#define VENDORS_h(R)                         \
    R("honeycomb", "hcaik_", "x58", 0, 0)    \
    R("honeycomb", "hcamk_", "x58", 0, 0)    \
    R("stackhawk", "hawk.", "x20.x20", 0, 0) \
    R("vault", "hvs.", "b24-300", 0, 0)      \
    R("vault", "hvb.", "b24-400", 0, 0)      \
    R("vault", "hvr.", "b24-300", 0, 0)      \
    R("huggingface", "hf_", "a34", 0, 0)

#define VENDORS_i(R)                                \
    R("cue", "identified", 0, 0, cs_cue_identified) \
    R("infracost", "ico-", "x32", 0, 0)             \
    R("ionic", "ion_", "x42", 0, 0)

#define VENDORS_j(R) R("jina", "jina_", "w50-70", 0, 0)

#define VENDORS_k(R)                      \
    R("branch", "key_live_", "x32", 0, 0) \
    R("kit", "kit_", "h32", DIGIT, 0)     \
    R("mailgun", "key-", "l32", DIGIT, 0) \
    R("cue", "key ", 0, 0, cs_cue_key)

#define VENDORS_l(R)                            \
    R("linear", "lin_oauth_", "x30-80", 0, 0)   \
    R("linear", "lin_api_", "x40", 0, 0)        \
    R("langsmith", "lsv2_pt_", "h32_h10", 0, 0) \
    R("langsmith", "lsv2_sk_", "h32_h10", 0, 0) \
    R("litellm", "litellm_", "x30-60", 0, 0)    \
    R("cue", "login", 0, 0, cs_cue_login)       \
    R("mollie", "live_", "x30", MIXED, 0)       \
    R("twitch", "live_", "d6-12_x30", DIGIT, 0) \
    R("lob", "live_", "h35", DIGIT, 0)          \
    R("gocardless", "live_", "b40", MIXED, 0)   \
    R("cue", "ldap", 0, 0, cs_cue_option)       \
    R("llamacloud", "llx-", "x40-56", MIXED, 0) \
    R("langsmith", "ls__", "h32", 0, 0)

#define VENDORS_m(R)                       \
    R("cue", "mongo", 0, 0, cs_cue_option) \
    R("cue", "mysql", 0, 0, cs_cue_option) \
    R("mem0", "m0-", "x40", MIXED, 0)      \
    R("mandrill", "md-", "b22", MIXED, 0)

#define VENDORS_n(R)                        \
    R("nvidia", "nvapi-", "b64", 0, 0)      \
    R("neon", "napi_", "x40-70", DIGIT, 0)  \
    R("npm", "npm_", "x36", 0, 0)           \
    R("notion", "ntn_", "d11x35", 0, 0)     \
    R("notion", "ntn_", "x40-60", MIXED, 0) \
    R("netlify", "nfp_", "b36-40", 0, 0)    \
    R("netlify", "nfc_", "b36-40", 0, 0)

#define VENDORS_o(R)                             \
    R("1password", "ops_eyJ", "T200-1500", 0, 0) \
    R("ory", "ory_at_", "T40-120", 0, 0)         \
    R("ory", "ory_st_", "b30-60", 0, 0)          \
    R("twitch", "oauth:", "l30", DIGIT, 0)       \
    R("dependencytrack", "odt_", "x32", 0, 0)    \
    R("nuget", "oy2", "l43", DIGIT, 0)

#define VENDORS_p(R)                                  \
    R("paddle", "pdl_live_apikey_", "w40-80", 0, 0)   \
    R("paddle", "pdl_sdbx_apikey_", "w40-80", 0, 0)   \
    R("planetscale", "pscale_oauth_", "t30-64", 0, 0) \
    R("planetscale", "pscale_tkn_", "t30-64", 0, 0)   \
    R("polar", "polar_pat_", "x30-60", 0, 0)          \
    R("planetscale", "pscale_pw_", "t30-64", 0, 0)    \
    R("polar", "polar_oat_", "x30-60", 0, 0)          \
    R("cue", "passphrase", 0, 0, cs_cue_password)     \
    R("pypi", "pypi-AgE", "b50-500", 0, 0)            \
    R("hubspot", "pat-na1-", "U", 0, 0)               \
    R("hubspot", "pat-na2-", "U", 0, 0)               \
    R("hubspot", "pat-eu1-", "U", 0, 0)               \
    R("hubspot", "pat-ap1-", "U", 0, 0)               \
    R("cue", "password", 0, 0, cs_cue_password)       \
    R("cue", "passwort", 0, 0, cs_cue_password)       \
    R("cue", "passcode", 0, 0, cs_cue_password)       \
    R("pixie", "px-api-", "U", 0, 0)                  \
    R("pixie", "px-dep-", "U", 0, 0)                  \
    R("cue", "podman", 0, 0, cs_cue_option)           \
    R("cue", "passwd", 0, 0, cs_cue_password)         \
    R("cue", "psexec", 0, 0, cs_cue_option)           \
    R("cue", "psExec", 0, 0, cs_cue_option)           \
    R("perplexity", "pplx-", "x48", DIGIT, 0)         \
    R("pinecone", "pcsk_", "w50-90", 0, 0)            \
    R("harness", "pat.", "b22.x24.x20", 0, 0)         \
    R("pulumi", "pul-", "h40", 0, 0)                  \
    R("posthog", "phx_", "x40-60", 0, 0)              \
    R("prefect", "pnu_", "x36", 0, 0)                 \
    R("prefect", "pnb_", "x36", 0, 0)                 \
    R("adobe", "p8e-", "x32", DIGIT, 0)               \
    R("cue", "pass", 0, 0, cs_cue_password)           \
    R("clickup", "pk_", "d5-10_u32", 0, 0)            \
    R("klaviyo", "pk_", "h34", DIGIT, 0)              \
    R("airtable", "pat", "x14.h64", 0, 0)             \
    R("voyage", "pa-", "b43", MIXED, 0)               \
    R("cue", "pwd", 0, 0, cs_cue_password)            \
    R("cue", "pw", 0, 0, cs_cue_password)

#define VENDORS_r(R)                                \
    R("cue", "requirepass", 0, 0, cs_cue_password)  \
    R("cue", "redis-cli", 0, 0, cs_cue_option)      \
    R("razorpay", "rzp_live_", "x14-24", 0, 0)      \
    R("razorpay", "rzp_test_", "x14-24", 0, 0)      \
    R("rubygems", "rubygems_", "h48", 0, 0)         \
    R("ramp", "ramp_sec_", "x40-60", 0, 0)          \
    R("stripe", "rk_live_", "x24-250", CS_V_ANY, 0) \
    R("stripe", "rk_test_", "x24-250", CS_V_ANY, 0) \
    R("stripe", "rk_prod_", "x24-250", 0, 0)        \
    R("readme", "rdme_", "l70", 0, 0)               \
    R("render", "rnd_", "x24-36", MIXED, 0)         \
    R("runpod", "rpa_", "x36-50", MIXED, 0)         \
    R("replicate", "r8_", "x37", 0, 0)              \
    R("resend", "re_", "x8_x22-28", MIXED, 0)

#define VENDORS_s(R)                                   \
    R("square", "sandbox-sq0csb-", "b43", 0, 0)        \
    R("inngest", "signkey-prod-", "h64", 0, 0)         \
    R("inngest", "signkey-test-", "h64", 0, 0)         \
    R("helicone", "sk-helicone-", "b20-60", 0, 0)      \
    R("anthropic", "sk-ant-admin", "d2-b80-120", 0, 0) \
    R("shippo", "shippo_live_", "h40", 0, 0)           \
    R("shippo", "shippo_test_", "h40", 0, 0)           \
    R("stytch", "secret-live-", "b36", 0, 0)           \
    R("stytch", "secret-test-", "b36", 0, 0)           \
    R("openai", "sk-svcacct-", "b40-250", 0, 0)        \
    R("anthropic", "sk-ant-api", "d2-b80-120", 0, 0)   \
    R("anthropic", "sk-ant-oat", "d2-b80-120", 0, 0)   \
    R("anthropic", "sk-ant-sid", "d2-b80-120", 0, 0)   \
    R("sourcegraph", "sgp_local_", "h40", 0, 0)        \
    R("supabase", "sb_secret_", "b20-60", 0, 0)        \
    R("intra42", "s-s4t2af-", "h64", 0, 0)             \
    R("openai", "sk-admin-", "b40-250", 0, 0)          \
    R("openrouter", "sk-or-v1-", "h64", 0, 0)          \
    R("intra42", "s-s4t2ud-", "h64", 0, 0)             \
    R("snyk", "snyk_uat.", "t20-200", 0, 0)            \
    R("snyk", "snyk_sat.", "t20-200", 0, 0)            \
    R("gocardless", "sandbox_", "b40", MIXED, 0)       \
    R("checkout", "sk_sbox_", "l26-30", 0, 0)          \
    R("stripe", "sk_live_", "x24-250", CS_V_ANY, 0)    \
    R("stripe", "sk_test_", "x24-250", CS_V_ANY, 0)    \
    R("stripe", "sk_prod_", "x24-250", 0, 0)           \
    R("openai", "sk-proj-", "b40-250", 0, 0)           \
    R("openai", "sk-None-", "b40-250", 0, 0)           \
    R("settlemint", "sm_aat_", "x16", 0, 0)            \
    R("settlemint", "sm_pat_", "x16", 0, 0)            \
    R("settlemint", "sm_sat_", "x16", 0, 0)            \
    R("statsig", "secret-", "x43", MIXED, 0)           \
    R("anthropic", "sk-ant-", "b80-200", 0, 0)         \
    R("shopify", "shptka_", "x32", 0, 0)               \
    R("square", "sq0atp-", "b22", 0, 0)                \
    R("square", "sq0csp-", "b43", 0, 0)                \
    R("square", "sq0csb-", "b43", 0, 0)                \
    R("sentry", "sntrys_", "B40-600(_b20-60)", 0, 0)   \
    R("sentry", "sntryu_", "h64", 0, 0)                \
    R("sentry", "sntrya_", "h64", 0, 0)                \
    R("notion", "secret_", "x43", MIXED, 0)            \
    R("openshift", "sha256~", "b43", 0, 0)             \
    R("cue", "sshpass", 0, 0, cs_cue_option)           \
    R("langfuse", "sk-lf-", "U", 0, 0)                 \
    R("mapbox", "sk.eyJ", "b30-200.b15-60", 0, 0)      \
    R("shopify", "shpat_", "x32", 0, 0)                \
    R("shopify", "shpca_", "x32", 0, 0)                \
    R("shopify", "shpca_", "x38", 0, 0)                \
    R("shopify", "shppa_", "x32", 0, 0)                \
    R("shopify", "shppa_", "x38", 0, 0)                \
    R("shopify", "shpss_", "x32", 0, 0)                \
    R("shopify", "shpua_", "x32", 0, 0)                \
    R("cue", "secret", 0, 0, cs_cue_secret)            \
    R("dropbox", "sl.u.", "b60-2000", MIXED, 0)        \
    R("openai", "sess-", "x40", MIXED, 0)              \
    R("harness", "sat.", "b22.x24.x20", 0, 0)          \
    R("sourcegraph", "sgp_", "x16_h40", 0, 0)          \
    R("sourcegraph", "sgp_", "h40", 0, 0)              \
    R("segment", "sgp_", "x64", 0, 0)                  \
    R("sourcegraph", "slk_", "h64", 0, 0)              \
    R("sourcegraph", "sgd_", "h64", 0, 0)              \
    R("sonarqube", "squ_", "h40", 0, 0)                \
    R("sonarqube", "sqp_", "h40", 0, 0)                \
    R("sonarqube", "sqa_", "h40", 0, 0)                \
    R("supabase", "sbp_", "h40", 0, 0)                 \
    R("launchdarkly", "sdk-", "U", 0, 0)               \
    R("infisical", "st.", "h24.h32.h32", 0, 0)         \
    R("openai", "sk-", "x48", DIGIT, 0)                \
    R("openai", "sk-", "x32", DIGIT, 0)                \
    R("openai", "sk-", "x64", DIGIT, 0)                \
    R("openai", "sk-", "b40-200", MIXED, 0)            \
    R("elevenlabs", "sk_", "h48", DIGIT, 0)            \
    R("clerk", "sk_", "x32-80", MIXED, 0)              \
    R("dropbox", "sl.", "b60-2000", MIXED, 0)          \
    R("vault", "s.", "x24", MIXED, 0)

#define VENDORS_t(R)                                                          \
    R("trigger", "tr_prod_", "x18-30", 0, 0)                                  \
    R("trigger", "tr_dev_", "x18-30", 0, 0)                                   \
    R("together", "tgp_v1_", "b40-50", 0, 0)                                  \
    R("scalingo", "tk-us-", "b48", 0, 0)                                      \
    R("tailscale", "tskey-", "l3-12-x10-24-x20-40", CS_V_GLUED | CS_V_ANY, 0) \
    R("mapbox", "tk.eyJ", "b30-200.b15-60", 0, 0)                             \
    R("lob", "test_", "h35", DIGIT, 0)                                        \
    R("mollie", "test_", "x30", MIXED, 0)                                     \
    R("tavily", "tvly-dev-", "b30-40", 0, 0)                                  \
    R("tavily", "tvly-", "b32", 0, 0)                                         \
    R("cue", "token", 0, 0, cs_cue_secret)                                    \
    R("typeform", "tfp_", "b40-80", 0, 0)                                     \
    R("yandex", "t1.", "b60-300.b80-120", MIXED, 0)

#define VENDORS_v(R)                               \
    R("vercel", "vercel_blob_rw_", "w30-70", 0, 0) \
    R("cue", "value", 0, 0, cs_cue_attribute)      \
    R("cloudflare", "v1.0-", "h24-h146", 0, 0)     \
    R("vercel", "vcp_", "x40-60", 0, 0)            \
    R("vercel", "vci_", "x40-60", 0, 0)            \
    R("vercel", "vca_", "x40-60", 0, 0)            \
    R("vercel", "vcr_", "x40-60", 0, 0)            \
    R("vercel", "vck_", "x40-60", 0, 0)            \
    R("thingsboard", "v1/", 0, 0, cs_find_device)  \
    R("github", "v1.", "h40", 0, 0)

#define VENDORS_w(R)                         \
    R("wandb", "wandb_v1_", "w40-120", 0, 0) \
    R("stripe", "whsec_", "B24-100", 0, 0)   \
    R("wakatime", "waka_", "U", 0, 0)

#define VENDORS_x(R)                           \
    R("slack", "xoxe.xoxp-", "b20-300", 0, 0)  \
    R("slack", "xoxe.xoxb-", "b20-300", 0, 0)  \
    R("brevo", "xsmtpsib-", "h64-x16", 0, 0)   \
    R("cue", "x-api-key", 0, 0, cs_cue_secret) \
    R("brevo", "xkeysib-", "h64-x16", 0, 0)    \
    R("slack", "xapp-", "T20-300", 0, 0)       \
    R("slack", "xoxb-", "d8-14-b15-200", 0, 0) \
    R("slack", "xoxp-", "d8-14-b15-200", 0, 0) \
    R("slack", "xoxa-", "b10-255", 0, 0)       \
    R("slack", "xoxr-", "b10-255", 0, 0)       \
    R("slack", "xoxs-", "d8-14-b15-200", 0, 0) \
    R("slack", "xoxo-", "d8-14-b15-200", 0, 0) \
    R("slack", "xoxc-", "b20-255", 0, 0)       \
    R("slack", "xoxd-", "p20-400", 0, 0)       \
    R("slack", "xoxe-", "b20-300", 0, 0)       \
    R("xai", "xai-", "x80", MIXED, 0)          \
    R("xata", "xau_", "x30-60", MIXED, 0)

#define VENDORS_y(R)                          \
    R("google", "ya29.", "b20-300", MIXED, 0) \
    R("yandex", "y0_", "b50-80", MIXED, 0)

#define VENDORS_z(R) R("zuplo", "zpka_", "x32_x8", 0, 0)

#define VENDORS_4(R) R("clickhouse", "4b1d", "x38", MIXED, 0)

#define VENDORS_Z(R) R("jwt", "ZXlK", 0, 0, cs_find_jwt64)

#define ROW(rule, prefix, shape, flags, find)    {rule, prefix, shape, sizeof prefix - 1, flags, find},
#define SECOND(rule, prefix, shape, flags, find) | 1u << (prefix[1] & 31)
/* A prefix of two bytes goes on with anything. */
#define THIRD(rule, prefix, shape, flags, find) | (prefix[2] ? 1u << (prefix[2] & 31) : ~0u)
#define BOTH(rule, prefix, shape, flags, find) \
    | (prefix[2] ? UINT64_C(1) << ((prefix[1] * 5 + prefix[2]) & 63) : ~UINT64_C(0))

static const struct cs_vendor rows_0[] = {VENDORS_0(ROW)};
static const struct cs_vendor rows_1[] = {VENDORS_1(ROW)};
static const struct cs_vendor rows_A[] = {VENDORS_A(ROW)};
static const struct cs_vendor rows_B[] = {VENDORS_B(ROW)};
static const struct cs_vendor rows_C[] = {VENDORS_C(ROW)};
static const struct cs_vendor rows_E[] = {VENDORS_E(ROW)};
static const struct cs_vendor rows_F[] = {VENDORS_F(ROW)};
static const struct cs_vendor rows_G[] = {VENDORS_G(ROW)};
static const struct cs_vendor rows_H[] = {VENDORS_H(ROW)};
static const struct cs_vendor rows_I[] = {VENDORS_I(ROW)};
static const struct cs_vendor rows_K[] = {VENDORS_K(ROW)};
static const struct cs_vendor rows_L[] = {VENDORS_L(ROW)};
static const struct cs_vendor rows_M[] = {VENDORS_M(ROW)};
static const struct cs_vendor rows_N[] = {VENDORS_N(ROW)};
static const struct cs_vendor rows_O[] = {VENDORS_O(ROW)};
static const struct cs_vendor rows_P[] = {VENDORS_P(ROW)};
static const struct cs_vendor rows_R[] = {VENDORS_R(ROW)};
static const struct cs_vendor rows_S[] = {VENDORS_S(ROW)};
static const struct cs_vendor rows_T[] = {VENDORS_T(ROW)};
static const struct cs_vendor rows_V[] = {VENDORS_V(ROW)};
static const struct cs_vendor rows_X[] = {VENDORS_X(ROW)};
static const struct cs_vendor rows_Y[] = {VENDORS_Y(ROW)};
static const struct cs_vendor rows_a[] = {VENDORS_a(ROW)};
static const struct cs_vendor rows_b[] = {VENDORS_b(ROW)};
static const struct cs_vendor rows_c[] = {VENDORS_c(ROW)};
static const struct cs_vendor rows_d[] = {VENDORS_d(ROW)};
static const struct cs_vendor rows_e[] = {VENDORS_e(ROW)};
static const struct cs_vendor rows_f[] = {VENDORS_f(ROW)};
static const struct cs_vendor rows_g[] = {VENDORS_g(ROW)};
static const struct cs_vendor rows_h[] = {VENDORS_h(ROW)};
static const struct cs_vendor rows_i[] = {VENDORS_i(ROW)};
static const struct cs_vendor rows_j[] = {VENDORS_j(ROW)};
static const struct cs_vendor rows_k[] = {VENDORS_k(ROW)};
static const struct cs_vendor rows_l[] = {VENDORS_l(ROW)};
static const struct cs_vendor rows_m[] = {VENDORS_m(ROW)};
static const struct cs_vendor rows_n[] = {VENDORS_n(ROW)};
static const struct cs_vendor rows_o[] = {VENDORS_o(ROW)};
static const struct cs_vendor rows_p[] = {VENDORS_p(ROW)};
static const struct cs_vendor rows_r[] = {VENDORS_r(ROW)};
static const struct cs_vendor rows_s[] = {VENDORS_s(ROW)};
static const struct cs_vendor rows_t[] = {VENDORS_t(ROW)};
static const struct cs_vendor rows_v[] = {VENDORS_v(ROW)};
static const struct cs_vendor rows_w[] = {VENDORS_w(ROW)};
static const struct cs_vendor rows_x[] = {VENDORS_x(ROW)};
static const struct cs_vendor rows_y[] = {VENDORS_y(ROW)};
static const struct cs_vendor rows_z[] = {VENDORS_z(ROW)};
static const struct cs_vendor rows_4[] = {VENDORS_4(ROW)};
static const struct cs_vendor rows_Z[] = {VENDORS_Z(ROW)};

#define LEAD(x)                                                                    \
    {                                                                              \
        rows_##x, CS_COUNT(rows_##x), 0 VENDORS_##x(SECOND), 0 VENDORS_##x(THIRD), \
            0 VENDORS_##x(BOTH)                                                    \
    }

const struct cs_vendor_lead cs_vendor_leads[128] = {
    ['0'] = LEAD(0), ['1'] = LEAD(1), ['A'] = LEAD(A), ['B'] = LEAD(B), ['C'] = LEAD(C),
    ['E'] = LEAD(E), ['F'] = LEAD(F), ['G'] = LEAD(G), ['H'] = LEAD(H), ['I'] = LEAD(I),
    ['K'] = LEAD(K), ['L'] = LEAD(L), ['M'] = LEAD(M), ['N'] = LEAD(N), ['O'] = LEAD(O),
    ['P'] = LEAD(P), ['R'] = LEAD(R), ['S'] = LEAD(S), ['T'] = LEAD(T), ['V'] = LEAD(V),
    ['X'] = LEAD(X), ['Y'] = LEAD(Y), ['a'] = LEAD(a), ['b'] = LEAD(b), ['c'] = LEAD(c),
    ['d'] = LEAD(d), ['e'] = LEAD(e), ['f'] = LEAD(f), ['g'] = LEAD(g), ['h'] = LEAD(h),
    ['i'] = LEAD(i), ['j'] = LEAD(j), ['k'] = LEAD(k), ['l'] = LEAD(l), ['m'] = LEAD(m),
    ['n'] = LEAD(n), ['o'] = LEAD(o), ['p'] = LEAD(p), ['r'] = LEAD(r), ['s'] = LEAD(s),
    ['t'] = LEAD(t), ['v'] = LEAD(v), ['w'] = LEAD(w), ['x'] = LEAD(x), ['y'] = LEAD(y),
    ['z'] = LEAD(z), ['4'] = LEAD(4), ['Z'] = LEAD(Z),
};
