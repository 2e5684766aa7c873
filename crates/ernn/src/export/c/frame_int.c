//? any numbers
int ernn_push(ernn_state *state, ernn_scratch *scratch, const float input[ERNN_INPUTS])
{
    int16_t *x = scratch->values;
    int i;
    for (i = 0; i < ERNN_INPUTS; i++)
        if (!(input[i] - input[i] == 0.0f))
            return -1;
//? any plain
    for (i = 0; i < ERNN_INPUTS; i++)
        take(state, x, i, input[i]);
//? end
//? any derived
    derive(state, input, x);
//? end
    advance(state, x, scratch->values + FIRST);
    return 0;
}

int ernn_push_int16(ernn_state *state, ernn_scratch *scratch, const int16_t input[ERNN_INPUTS], const float unit[ERNN_INPUTS])
{
    float values[ERNN_INPUTS];
    int i;
    for (i = 0; i < ERNN_INPUTS; i++) {
        /* volatile: rounded to a float here, whatever the compiler would fuse. */
        volatile float value = (float)input[i] * unit[i];
        values[i] = value;
    }
    return ernn_push(state, scratch, values);
}

//? end
//? any tokens
int ernn_push_token(ernn_state *state, ernn_scratch *scratch, uint32_t token)
{
    if (token >= ERNN_INPUTS)
        return -1;
    advance(state, embedding + token * (uint32_t)FIRST, scratch->values);
    return 0;
}

//? end
void ernn_logits(const ernn_state *state, ernn_scratch *scratch, ernn_logit logits[ERNN_OUTPUTS])
{
//? any lastonly
    const void *values = state->values + LAST;
    int small = SMALL;
//? end
//? any mean
    const void *values = scratch->values;
    int small = 0;
//? end
    uint32_t saturations = 0;
    rows from = rows_from(&readout, 0, SEEN);
    int i;
//? any mean
    summarize(state->values + KEPT, HIDDEN, state->steps, SMALLEST_VARIANCE, scratch->values, &saturations);
//? end
//? any last
    for (i = 0; i < HIDDEN; i++)
        scratch->values[SEEN - HIDDEN + i] = wide(state->values[LAST + i]);
//? end
    (void)scratch;
    for (i = 0; i < ERNN_OUTPUTS; i++)
        logits[i] = whole(next_product(&from, values, small, SEEN) + readout_bias[i], &saturations);
}
