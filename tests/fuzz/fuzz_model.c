/*
 * A model from somewhere: the first two bytes say how long the safetensors part is, the rest is
 * tokenizer.json. What is accepted must embed any text without harm: ids are rows of the table, and
 * the vector has length 1 or is zero.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "search/vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void embed(const struct cs_model *model, struct cs_str text)
{
    uint32_t ids[CS_MODEL_TOKENS];
    must(cs_model_tokens(model, text, ids) <= CS_MODEL_TOKENS);
    size_t width = cs_model_width(model);
    CS_AUTO_FREE float *v = cs_calloc(width, sizeof *v);
    cs_model_embed(model, text, v);
    double square = 0;
    for (size_t i = 0; i < width; i++)
        square += (double)v[i] * (double)v[i];
    must(square == 0 || fabs(square - 1) < 1e-3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t split = data[0] | (size_t)data[1] << 8;
    split = split < size - 2 ? split : size - 2;
    struct cs_str tensors = cs_strn((const char *)data + 2, split);
    struct cs_str tokenizer = cs_strn((const char *)data + 2 + split, size - 2 - split);
    struct cs_model *model = NULL;
    struct cs_err err = {0};
    if (cs_model_read(tensors, tokenizer, &model, &err) < 0) {
        must(model == NULL && err.code != CS_OK && err.msg[0] != '\0');
        return 0;
    }
    embed(model, tokenizer); /* it has all the pieces in it */
    embed(model, tensors);
    embed(model, CS_STR("[CLS] Caf\xC3\xA9 play\xE4\xB8\xADing\xFF"));
    cs_model_free(model);
    return 0;
}
