#include "search/vectors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"

#define HEADER_MAX    (100u << 20) /* as the format says */
#define TOKENIZER_MAX (64u << 20)
#define ROWS_MAX      (1 << 24)
#define WIDTH_MAX     4096

enum dtype { F32, F16, BF16 };

struct cs_model {
    const char *rows; /* in the mapped file; not aligned */
    size_t row_count, width;
    enum dtype dtype;
    struct cs_wordpiece words;
    struct cs_str mapped;
};

float cs_vector_dot(const float *a, const float *b, size_t width)
{
    /* Eight sums, so that the compiler may keep them in one register; the order is fixed. */
    float sums[8] = {0}, rest = 0;
    size_t i = 0;
    for (; i + 8 <= width; i += 8)
        for (size_t k = 0; k < 8; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < width; i++)
        rest += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

void cs_vector_unit(float *v, size_t width)
{
    double square = 0;
    for (size_t i = 0; i < width; i++)
        square += (double)v[i] * (double)v[i];
    double scale = square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
    for (size_t i = 0; i < width; i++)
        v[i] = scale > 0 ? (float)((double)v[i] * scale) : 0;
}

void cs_vector_mean(float *a, const float *b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        a[i] += b[i];
    cs_vector_unit(a, width);
}

static float half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    float value = exponent == 0    ? ldexpf((float)fraction, -24)
                  : exponent == 31 ? (fraction ? NAN : INFINITY)
                                   : ldexpf((float)(fraction | 1024), exponent - 25);
    return h & 0x8000 ? -value : value;
}

static void add_row(const struct cs_model *m, uint32_t id, float *sum)
{
    size_t size = m->dtype == F32 ? 4 : 2;
    const char *row = m->rows + (size_t)id * m->width * size;
    for (size_t i = 0; i < m->width; i++) {
        float value;
        uint16_t half;
        if (m->dtype == F32) {
            memcpy(&value, row + i * 4, 4);
        } else {
            memcpy(&half, row + i * 2, 2);
            uint32_t bits = (uint32_t)half << 16;
            memcpy(&value, &bits, 4);
            if (m->dtype == F16)
                value = half_to_float(half);
        }
        sum[i] += value;
    }
}

size_t cs_model_width(const struct cs_model *m)
{
    return m->width;
}

size_t cs_model_tokens(const struct cs_model *m, struct cs_str text, uint32_t *ids)
{
    return cs_wordpiece_split(&m->words, text, ids);
}

void cs_model_embed(const struct cs_model *m, struct cs_str text, float *vector)
{
    uint32_t ids[CS_MODEL_TOKENS];
    size_t count = cs_wordpiece_split(&m->words, text, ids);
    memset(vector, 0, m->width * sizeof *vector);
    for (size_t i = 0; i < count; i++)
        add_row(m, ids[i], vector);
    cs_vector_unit(vector, m->width);
}

void cs_model_free(struct cs_model *m)
{
    if (!m)
        return;
    cs_wordpiece_done(&m->words);
    if (m->mapped.at)
        munmap((void *)(uintptr_t)m->mapped.at, m->mapped.len);
    free(m);
}

CS_DEFINE_CLEANUP(struct cs_model, cs_model_free)

static bool pair_of(struct cs_json_val array, int64_t *a, int64_t *b)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    return cs_json_type(array) == CS_JSON_ARRAY && cs_json_count(array) == 2 &&
           cs_json_next(array, &it, NULL, &item) && cs_json_i64(item, a) &&
           cs_json_next(array, &it, NULL, &item) && cs_json_i64(item, b);
}

/* The one tensor of a static model, checked against the `size` bytes that follow the header. */
static int read_table(struct cs_model *m, struct cs_json_val header, const char *data, size_t size,
                      struct cs_err *err)
{
    static const char *const dtypes[] = {[F32] = "F32", [F16] = "F16", [BF16] = "BF16"};
    if (cs_json_type(cs_json_get(header, "mapping")) != CS_JSON_NONE ||
        cs_json_type(cs_json_get(header, "weights")) != CS_JSON_NONE)
        return cs_fail(err, CS_INVALID, "a table with a mapping or weights is not known");
    struct cs_json_val tensor = cs_json_get(header, "embeddings");
    if (cs_json_type(tensor) == CS_JSON_NONE)
        tensor = cs_json_get(header, "embedding.weight");
    if (cs_json_type(tensor) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "no tensor 'embeddings': this is no static model");
    size_t dtype = 0;
    while (dtype < CS_COUNT(dtypes) && !cs_json_is(cs_json_get(tensor, "dtype"), dtypes[dtype]))
        dtype++;
    if (dtype == CS_COUNT(dtypes))
        return cs_fail(err, CS_INVALID, "the tensor is not of type F32, F16 or BF16");
    int64_t rows, width, from, to;
    if (!pair_of(cs_json_get(tensor, "shape"), &rows, &width) || rows < 1 || rows > ROWS_MAX ||
        width < 1 || width > WIDTH_MAX)
        return cs_fail(err, CS_INVALID, "the shape is not [up to %d, up to %d]", ROWS_MAX,
                       WIDTH_MAX);
    if (!pair_of(cs_json_get(tensor, "data_offsets"), &from, &to) || from < 0 || to < from ||
        (uint64_t)to > size || to - from != rows * width * (dtype == F32 ? 4 : 2))
        return cs_fail(err, CS_INVALID,
                       "the data_offsets do not fit the shape, or the file, which has %zu bytes of "
                       "data",
                       size);
    m->rows = data + from;
    m->row_count = (size_t)rows;
    m->width = (size_t)width;
    m->dtype = (enum dtype)dtype;
    return 0;
}

int cs_model_read(struct cs_str tensors, struct cs_str tokenizer, struct cs_model **model,
                  struct cs_err *err)
{
    uint64_t length = 0;
    for (size_t i = 0; i < 8 && i < tensors.len; i++)
        length |= (uint64_t)(unsigned char)tensors.at[i] << 8 * i;
    if (tensors.len < 8 || length > HEADER_MAX || length > tensors.len - 8)
        return cs_fail(err, CS_INVALID, "model.safetensors: the header is longer than the file");
    CS_AUTO(cs_model_freep) struct cs_model *m = CS_NEW(struct cs_model);
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {.bytes = HEADER_MAX, .depth = 8};
    const char *data = tensors.at + 8 + length;
    if (cs_json_parse(cs_strn(tensors.at + 8, length), &limits, &doc, err) < 0 ||
        read_table(m, cs_json_root(&doc), data, tensors.len - 8 - length, err) < 0)
        return cs_wrap(err, "model.safetensors");
    if (cs_wordpiece_read(&m->words, tokenizer, (uint32_t)m->row_count, err) < 0)
        return cs_wrap(err, "tokenizer.json");
    *model = CS_TAKE(m);
    return 0;
}

/* Whoever can write the file can end this process by cutting it short: it is the user's own. */
static int map_file(const char *dir, const char *name, size_t most, struct cs_str *bytes,
                    struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/%s", dir, name);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return cs_fail(err, CS_MISSING, "there is no %s", cs_buf_cstr(&path));
    if (fd < 0 || fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    if (!S_ISREG(st.st_mode) || st.st_size < 1 || (uintmax_t)st.st_size > most)
        return cs_fail(err, CS_INVALID, "%s is no file of 1 to %zu bytes", cs_buf_cstr(&path),
                       most);
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    *bytes = cs_strn(at, (size_t)st.st_size);
    return 0;
}

int cs_model_open(const char *dir, struct cs_model **model, struct cs_err *err)
{
    struct cs_str tensors = {0}, tokenizer = {0};
    if (map_file(dir, "model.safetensors", SIZE_MAX / 4, &tensors, err) < 0)
        return -1;
    int failed = map_file(dir, "tokenizer.json", TOKENIZER_MAX, &tokenizer, err);
    if (failed == 0) {
        failed = cs_model_read(tensors, tokenizer, model, err);
        if (failed)
            cs_wrap(err, "%s", dir);
        munmap((void *)(uintptr_t)tokenizer.at, tokenizer.len);
    }
    if (failed)
        munmap((void *)(uintptr_t)tensors.at, tensors.len);
    else
        (*model)->mapped = tensors;
    return failed;
}
