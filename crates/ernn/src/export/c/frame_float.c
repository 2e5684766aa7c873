//? any numbers
int ernn_push(ernn_state *state, ernn_scratch *scratch, const float input[ERNN_INPUTS])
{
    float *x = scratch->values;
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
    float *room = scratch->values;
    int i;
//? any lastonly
    for (i = 0; i < HIDDEN; i++)
        room[i] = state->values[LAST + i];
//? end
//? any mean
    summarize(state->values + KEPT, HIDDEN, state->steps, room);
//? end
//? any last
    for (i = 0; i < HIDDEN; i++)
        room[SEEN - HIDDEN + i] = state->values[LAST + i];
//? end
    product(readout_weight, 0, room, SEEN, logits, ERNN_OUTPUTS);
    for (i = 0; i < ERNN_OUTPUTS; i++)
        logits[i] += readout_bias[i];
}
