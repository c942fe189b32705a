/* A model of eight rows and three columns, for the tests here. */
#ifndef CS_TEST_MODEL_H
#define CS_TEST_MODEL_H

#include "base/buf.h"
#include "search/vectors.h"
#include "test.h"

static const char tokenizer[] =
    "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
    "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
    "\"added_tokens\":[{\"id\":1,\"content\":\"[CLS]\"}],"
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
    "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":10,"
    "\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"cafe\":2,\"play\":3,\"##ing\":4,\".\":5,"
    "\"\\u4e2d\":6,\"##s\":7}}}";

static const float table[8][3] = {{9, 9, 9}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0},
                                  {0, 0, 2}, {1, 1, 1}, {3, 0, 4}, {-1, 0, 0}};

#define HEADER(dtype, shape, offsets) \
    "{\"embeddings\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void put_tensors(struct cs_buf *out, const char *header, const void *data, size_t size)
{
    uint64_t length = strlen(header);
    for (int i = 0; i < 8; i++)
        cs_buf_putc(out, (char)(length >> 8 * i));
    cs_buf_puts(out, header);
    cs_buf_put(out, data, size);
}

static struct cs_model *model_of(struct cs_buf *tensors)
{
    struct cs_model *model = NULL;
    struct cs_err err = {0};
    put_tensors(tensors, HEADER("F32", "[8,3]", "[0,96]"), table, sizeof table);
    if (cs_model_read(cs_buf_str(tensors), cs_str(tokenizer), &model, &err) < 0)
        fail_msg("%s", err.msg);
    return model;
}

#endif
