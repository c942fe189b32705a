#include "privacy/examples.h"

const struct cs_example cs_examples_name[] = {
    {0},
};
