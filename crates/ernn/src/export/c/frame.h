#ifndef ERNN_H
#define ERNN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream: copy it to save it, copy it back to restore it. Any number of streams share one scratch, one at a time. */
typedef struct {
    ernn_number values[ERNN_STATE];
    uint32_t steps;
//? any int8
    uint32_t saturations; /* numbers that did not fit their range and became its end */
//? end
} ernn_state;

typedef struct {
//? any float
    float values[ERNN_SCRATCH];
//? end
//? any int8
    int16_t values[ERNN_SCRATCH];
//? end
} ernn_scratch;

/* The next step is a first one. A state must be reset before it is used. */
void ernn_reset(ernn_state *state);

//? any numbers
/* One step with raw values; they are normalized here. Gives 0, or -1 and no step if a value is not finite. */
int ernn_push(ernn_state *state, ernn_scratch *scratch, const float input[ERNN_INPUTS]);

//? end
//? any tokens
/* One step with a token. Gives 0, or -1 and no step if it is not below ERNN_INPUTS. */
int ernn_push_token(ernn_state *state, ernn_scratch *scratch, uint32_t token);

//? end
/* What the model says after the steps so far. */
void ernn_logits(const ernn_state *state, ernn_scratch *scratch, ernn_logit logits[ERNN_OUTPUTS]);

/* The place of the largest logit, the first of equals. */
int ernn_class(const ernn_logit logits[ERNN_OUTPUTS]);

/* In ernn_selftest.c: runs stored inputs and compares. Gives 0, or the number of the first sequence that came out wrong. */
int ernn_selftest(void);

#ifdef __cplusplus
}
#endif

#endif
