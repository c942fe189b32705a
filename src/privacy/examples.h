/* Inside of privacy/: the tables of examples, one per family. */
#ifndef CS_PRIVACY_EXAMPLES_H
#define CS_PRIVACY_EXAMPLES_H

#include "privacy/privacy.h"

/* Each ends with an entry without a rule. */
extern const struct cs_example cs_examples_personal[];
extern const struct cs_example cs_examples_secret[];
extern const struct cs_example cs_examples_vendor[];
extern const struct cs_example cs_examples_name[];

#endif
