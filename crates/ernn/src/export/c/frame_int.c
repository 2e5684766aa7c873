//? any numbers
/* volatile: rounded to a float here, whatever the compiler would fuse. */
static int16_t normalized(int i, float input, uint32_t *saturations)
{
    volatile float scaled = (input - input_mean[i]) * input_scale[i];
    float value = scaled < -40000.0f ? -40000.0f : scaled > 40000.0f ? 40000.0f : scaled;
    int32_t nearest = (int32_t)value;
    float rest = value - (float)nearest;
    nearest += rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0;
    return narrow(nearest, saturations);
}

int ernn_push(ernn_state *state, ernn_scratch *scratch, const float input[ERNN_INPUTS])
{
    int16_t *x = scratch->values;
    int i;
    for (i = 0; i < ERNN_INPUTS; i++)
        if (!(input[i] - input[i] == 0.0f))
            return -1;
    for (i = 0; i < ERNN_INPUTS; i++)
        x[i] = normalized(i, input[i], &state->saturations);
    advance(state, x, scratch->values + FIRST);
    return 0;
}

int ernn_push_int16(ernn_state *state, ernn_scratch *scratch, const int16_t input[ERNN_INPUTS], const float unit[ERNN_INPUTS])
{
    int16_t *x = scratch->values;
    int i;
    for (i = 0; i < ERNN_INPUTS; i++) {
        volatile float value = (float)input[i] * unit[i];
        if (!(value - value == 0.0f))
            return -1;
    }
    for (i = 0; i < ERNN_INPUTS; i++) {
        volatile float value = (float)input[i] * unit[i];
        x[i] = normalized(i, value, &state->saturations);
    }
    advance(state, x, scratch->values + FIRST);
    return 0;
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
    const ernn_number *pooled = state->values + POOLED;
    const void *values = pooled;
    int small = SMALL;
    uint32_t saturations = 0;
    rows from = rows_from(&readout, 0, HIDDEN);
    int i;
//? any mean
    int64_t count = state->steps ? state->steps : 1;
    for (i = 0; i < HIDDEN; i++) {
        int64_t sum = sum_at(pooled + PARTS * i);
        scratch->values[i] = narrow((2 * sum + (sum < 0 ? -count : count)) / (2 * count), &saturations);
    }
    values = scratch->values;
    small = 0;
//? end
    (void)scratch;
    for (i = 0; i < ERNN_OUTPUTS; i++)
        logits[i] = whole(next_product(&from, values, small, HIDDEN) + readout_bias[i], &saturations);
}
