#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "search/model.h"
#include "search/vectors.h"
#include "test.h"

static void assert_ids(const struct cs_model *model, struct cs_str text, const char *want)
{
    uint32_t ids[CS_MODEL_TOKENS];
    size_t n = cs_model_tokens(model, text, ids);
    CS_AUTO_BUF struct cs_buf got = {0};
    for (size_t i = 0; i < n; i++)
        cs_buf_printf(&got, "%s%u", i ? " " : "", ids[i]);
    assert_string_equal(cs_buf_cstr(&got), want);
}

static void words_become_the_ids_of_their_pieces(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_model *m = model_of(&bytes);
    assert_ids(m, CS_STR(""), "");
    assert_ids(m, CS_STR(" \t\n"), "");
    assert_ids(m, CS_STR("play"), "3");
    assert_ids(m, CS_STR("PLAYING plays"), "3 4 3 7");
    assert_ids(m, CS_STR("playin"), "");                      /* a part is no piece */
    assert_ids(m, CS_STR("play.play"), "3 5 3");              /* punctuation stands alone */
    assert_ids(m, CS_STR("Caf\xC3\xA9 CAFE\xCC\x81"), "2 2"); /* accents go */
    assert_ids(m,
               CS_STR("pl\xE2\x80\x8B"
                      "ay pl\x01"
                      "ay"),
               "3 3");                                      /* controls go */
    assert_ids(m, CS_STR("play\xC2\xA0play"), "3 3");       /* a space that does not break */
    assert_ids(m, CS_STR("play\xE4\xB8\xADplay"), "3 6 3"); /* ideographs stand alone */
    assert_ids(m, CS_STR("x[CLS]play[UNK]"), "1 3");
    assert_ids(m, CS_STR("playssssss"), "3 7 7 7 7 7 7");
    assert_ids(m, CS_STR("playsssssss"), ""); /* eleven letters are too many */
    assert_ids(m, CS_STR("\xFF\xC3play \xE4\xB8"), "3");
    cs_model_free(m);
}

static void a_text_is_the_mean_of_its_rows(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_model *m = model_of(&bytes);
    float v[3];
    assert_int_equal(cs_model_width(m), 3);
    cs_model_embed(m, CS_STR("cafe"), v);
    assert_true(v[0] == 1 && v[1] == 0 && v[2] == 0);
    cs_model_embed(m, CS_STR("\xE4\xB8\xAD"), v);
    assert_true(fabsf(v[0] - 0.6f) < 1e-6f && fabsf(v[2] - 0.8f) < 1e-6f);
    cs_model_embed(m, CS_STR("cafe play"), v);
    assert_true(fabsf(v[0] - 0.70710678f) < 1e-6f && fabsf(v[1] - 0.70710678f) < 1e-6f);
    cs_model_embed(m, CS_STR("unheard"), v);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0);
    cs_model_free(m);
}

static void at_most_512_tokens_count(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0}, text = {0};
    struct cs_model *m = model_of(&bytes);
    for (int i = 0; i < 600; i++)
        cs_buf_puts(&text, i < 512 ? "play " : "cafe ");
    uint32_t ids[CS_MODEL_TOKENS];
    assert_int_equal(cs_model_tokens(m, cs_buf_str(&text), ids), 512);
    assert_int_equal(ids[511], 3);
    cs_model_free(m);
}

static void half_floats_give_the_same_vector(void **state)
{
    (void)state;
    static const uint16_t f16[8][3] = {{0}, {0}, {0x3C00, 0xC000, 0x3800}, {0x0001, 0x8001, 0}};
    static const uint16_t bf16[8][3] = {{0}, {0}, {0x3F80, 0xC000, 0x3F00}};
    const struct {
        const char *header;
        const void *data;
    } cases[] = {{HEADER("F16", "[8,3]", "[0,48]"), f16},
                 {HEADER("BF16", "[8,3]", "[0,48]"), bf16}};
    const float length = sqrtf(1 + 4 + 0.25f);
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_BUF struct cs_buf bytes = {0};
        struct cs_model *m = NULL;
        struct cs_err err = {0};
        put_tensors(&bytes, cases[i].header, cases[i].data, 48);
        if (cs_model_read(cs_buf_str(&bytes), cs_str(tokenizer), &m, &err) < 0)
            fail_msg("%s", err.msg);
        float v[3];
        cs_model_embed(m, CS_STR("cafe"), v);
        assert_true(fabsf(v[0] - 1 / length) < 1e-6f);
        assert_true(fabsf(v[1] + 2 / length) < 1e-6f);
        assert_true(fabsf(v[2] - 0.5f / length) < 1e-6f);
        if (i == 0) { /* the smallest numbers there are */
            cs_model_embed(m, CS_STR("play"), v);
            assert_true(v[0] > 0 && v[1] < 0 && v[2] == 0);
        }
        cs_model_free(m);
    }
}

static void values_that_are_no_numbers_give_no_vector(void **state)
{
    (void)state;
    float bad[8][3] = {{0}, {0}, {NAN, 1, 1}, {INFINITY, 1, 1}};
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_model *m = NULL;
    put_tensors(&bytes, HEADER("F32", "[8,3]", "[0,96]"), bad, sizeof bad);
    assert_int_equal(cs_model_read(cs_buf_str(&bytes), cs_str(tokenizer), &m, NULL), 0);
    float v[3];
    cs_model_embed(m, CS_STR("cafe"), v);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0);
    cs_model_embed(m, CS_STR("play"), v);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0);
    cs_model_free(m);
}

static void a_table_that_does_not_fit_the_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *says;
    } cases[] = {
        {HEADER("F32", "[8,3]", "[0,100]"), "data_offsets"},
        {HEADER("F32", "[8,3]", "[4,100]"), "data_offsets"},
        {HEADER("F32", "[8,3]", "[-4,92]"), "data_offsets"},
        {HEADER("F32", "[8,3]", "[96,0]"), "data_offsets"},
        {HEADER("F32", "[8,4]", "[0,96]"), "data_offsets"},
        {HEADER("F32", "[9,3]", "[0,108]"), "data_offsets"},
        {HEADER("F32", "[16777216,4096]", "[0,96]"), "data_offsets"},
        {HEADER("F32", "[16777217,1]", "[0,96]"), "shape"},
        {HEADER("F32", "[0,3]", "[0,0]"), "shape"},
        {HEADER("F32", "[8,3,1]", "[0,96]"), "shape"},
        {HEADER("F32", "24", "[0,96]"), "shape"},
        {HEADER("F64", "[8,3]", "[0,192]"), "F32"},
        {HEADER("I8", "[8,3]", "[0,24]"), "F32"},
        {"{\"layer.0\":{\"dtype\":\"F32\",\"shape\":[8,3],\"data_offsets\":[0,96]}}", "no tensor"},
        {"{\"weights\":{},\"embeddings\":{}}", "weights"},
        {"[]", "no tensor"},
        {"{", "JSON"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_BUF struct cs_buf bytes = {0};
        struct cs_model *m = NULL;
        struct cs_err err = {0};
        put_tensors(&bytes, cases[i].header, table, sizeof table);
        assert_int_equal(cs_model_read(cs_buf_str(&bytes), cs_str(tokenizer), &m, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_contains(err.msg, "model.safetensors");
        assert_contains(err.msg, cases[i].says);
        assert_null(m);
    }
    static const char *const lengths[] = {"", "\1\0\0", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
                                          "\x03\0\0\0\0\0\0\0{}"};
    static const size_t sizes[] = {0, 3, 8, 10};
    for (size_t i = 0; i < CS_COUNT(lengths); i++) {
        struct cs_model *m = NULL;
        struct cs_err err = {0};
        struct cs_str bytes = cs_strn(lengths[i], sizes[i]);
        assert_int_equal(cs_model_read(bytes, cs_str(tokenizer), &m, &err), -1);
        assert_contains(err.msg, "header");
    }
}

#define BERT                                                           \
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true}," \
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"

static void a_tokenizer_that_is_not_understood_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } cases[] = {
        {"", "JSON"},
        {"{}", "WordPiece"},
        {"{\"model\":{\"type\":\"BPE\"}}", "WordPiece"},
        {"{\"model\":{\"type\":\"WordPiece\"}}", "BertNormalizer"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\"}}", "vocab"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\",\"vocab\":{}}}", "unk_token"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":8}}}", "'a'"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":-1}}}", "'a'"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":\"0\"}}}", "'a'"},
        {"{" BERT "\"model\":{\"type\":\"WordPiece\",\"max_input_chars_per_word\":1000000,"
         "\"vocab\":{}}}",
         "max_input_chars_per_word"},
        {"{" BERT "\"added_tokens\":[{\"id\":99,\"content\":\"[X]\"}],\"model\":{\"type\":"
         "\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":1}}}",
         "[X]"},
        {"{\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true,\"strip_accents\":"
         "false},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":"
         "\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":1}}}",
         "accents"},
    };
    CS_AUTO_BUF struct cs_buf bytes = {0};
    put_tensors(&bytes, HEADER("F32", "[8,3]", "[0,96]"), table, sizeof table);
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_model *m = NULL;
        struct cs_err err = {0};
        assert_int_equal(cs_model_read(cs_buf_str(&bytes), cs_str(cases[i].json), &m, &err), -1);
        assert_contains(err.msg, "tokenizer.json");
        assert_contains(err.msg, cases[i].says);
    }
}

static void write_file(const char *dir, const char *name, struct cs_str bytes)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/%s", dir, name);
    FILE *f = fopen(cs_buf_cstr(&path), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.at, 1, bytes.len, f), bytes.len);
    fclose(f);
}

static void open_reads_a_directory(void **state)
{
    (void)state;
    char dir[] = "/tmp/caisson-model-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct cs_model *m = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_model_open(dir, &m, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_contains(err.msg, "model.safetensors");
    CS_AUTO_BUF struct cs_buf bytes = {0};
    put_tensors(&bytes, HEADER("F32", "[8,3]", "[0,96]"), table, sizeof table);
    write_file(dir, "model.safetensors", cs_buf_str(&bytes));
    assert_int_equal(cs_model_open(dir, &m, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_contains(err.msg, "tokenizer.json");
    write_file(dir, "tokenizer.json", cs_str("{"));
    assert_int_equal(cs_model_open(dir, &m, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_contains(err.msg, dir);
    write_file(dir, "tokenizer.json", cs_str(tokenizer));
    assert_int_equal(cs_model_open(dir, &m, &err), 0);
    float v[3];
    cs_model_embed(m, CS_STR("cafe"), v);
    assert_true(v[0] == 1);
    cs_model_free(m);
    write_file(dir, "model.safetensors", cs_strn(bytes.at, bytes.len - 1));
    assert_int_equal(cs_model_open(dir, &m, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/model.safetensors", dir);
    unlink(cs_buf_cstr(&path));
    cs_buf_clear(&path);
    cs_buf_printf(&path, "%s/tokenizer.json", dir);
    unlink(cs_buf_cstr(&path));
    rmdir(dir);
}

static void read_all(const char *path, struct cs_buf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    for (size_t n; (n = fread(cs_buf_room(out, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(out, n);
    fclose(f);
}

static void assert_case(const struct cs_model *m, struct cs_json_val want, struct cs_arena *arena)
{
    struct cs_str text = cs_json_str(cs_json_get(want, "text"), arena);
    uint32_t ids[CS_MODEL_TOKENS];
    size_t count = cs_model_tokens(m, text, ids), i = 0;
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    assert_int_equal(count, cs_json_count(cs_json_get(want, "ids")));
    while (cs_json_next(cs_json_get(want, "ids"), &it, NULL, &item)) {
        int64_t id = -1;
        cs_json_i64(item, &id);
        assert_int_equal(id, ids[i++]);
    }
    CS_AUTO_FREE float *v = cs_calloc(cs_model_width(m), sizeof *v);
    cs_model_embed(m, text, v);
    double dot = 0, square = 0, x;
    it = (struct cs_json_iter){0};
    for (i = 0; cs_json_next(cs_json_get(want, "embedding"), &it, NULL, &item); i++) {
        assert_true(cs_json_f64(item, &x));
        dot += x * (double)v[i];
        square += x * x;
    }
    assert_int_equal(i, cs_model_width(m));
    assert_true(square > 0 ? dot / sqrt(square) >= 0.9999 : count == 0);
}

/* Vectors and ids that the model's own library gave, where the model is there. */
static void a_real_model_gives_the_reference_vectors(void **state)
{
    (void)state;
    const char *shared = getenv("CAISSON_SHARED");
    CS_AUTO_BUF struct cs_buf dir = {0}, path = {0}, text = {0};
    cs_buf_printf(&dir, "%s/data/models/potion-base-2M-int8",
                  shared ? shared : CS_SOURCE_DIR "/../shared");
    cs_buf_printf(&path, "%s/reference.json", cs_buf_cstr(&dir));
    read_all(cs_buf_cstr(&path), &text);
    if (text.len == 0) {
        printf("skip: no reference vectors at %s\n", cs_buf_cstr(&path));
        cs_buf_done(&dir); /* skip() leaves by a jump */
        cs_buf_done(&path);
        skip();
    }
    struct cs_model *m = NULL;
    struct cs_err err = {0};
    if (cs_model_open(cs_buf_cstr(&dir), &m, &err) < 0)
        fail_msg("%s", err.msg);
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    assert_int_equal(cs_json_parse(cs_buf_str(&text), NULL, &doc, &err), 0);
    struct cs_json_val cases = cs_json_get(cs_json_root(&doc), "cases"), one;
    struct cs_json_iter it = {0};
    assert_true(cs_json_count(cases) > 20);
    while (cs_json_next(cases, &it, NULL, &one))
        assert_case(m, one, &arena);
    cs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(words_become_the_ids_of_their_pieces),
        CS_TEST(a_text_is_the_mean_of_its_rows),
        CS_TEST(at_most_512_tokens_count),
        CS_TEST(half_floats_give_the_same_vector),
        CS_TEST(values_that_are_no_numbers_give_no_vector),
        CS_TEST(a_table_that_does_not_fit_the_file_is_refused),
        CS_TEST(a_tokenizer_that_is_not_understood_is_refused),
        CS_TEST(open_reads_a_directory),
        CS_TEST(a_real_model_gives_the_reference_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
