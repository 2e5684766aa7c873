/* A model as a WebAssembly module: one stream, whose input and logits lie in the module's memory. */
#include "ernn_.h"

static ernn_state state;
static ernn_scratch scratch;
static float input[ERNN_INPUTS];
static ernn_logit logits[ERNN_OUTPUTS];

float *ernn_input(void)
{
    return input;
}

ernn_logit *ernn_output(void)
{
    return logits;
}

void ernn_start(void)
{
    ernn_reset(&state);
}

/* One step with the input: its logits follow. Gives 0, or -1 and no step if a value is not finite or a token not known. */
int ernn_step(void)
{
//? any numbers
    int refused = ernn_push(&state, &scratch, input);
//? end
//? any tokens
    int refused = input[0] >= 0.0f ? ernn_push_token(&state, &scratch, (uint32_t)input[0]) : -1;
//? end
    if (!refused)
        ernn_logits(&state, &scratch, logits);
    return refused;
}

/* Numbers that did not fit their range since the start; 0 of floating-point numbers, which have none. */
uint32_t ernn_saturated(void)
{
//? any int8
    return state.saturations;
//? end
//? any float
    return 0;
//? end
}
