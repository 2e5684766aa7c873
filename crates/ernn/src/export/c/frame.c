void ernn_reset(ernn_state *state)
{
    int i;
    for (i = 0; i < ERNN_STATE; i++)
        state->values[i] = 0;
    state->steps = 0;
//? any int8
    state->saturations = 0;
//? end
}

int ernn_class(const ernn_logit logits[ERNN_OUTPUTS])
{
    int best = 0, i;
//? any float
    for (i = 0; i < ERNN_OUTPUTS; i++)
        if (!(logits[i] - logits[i] == 0.0f))
            return -1;
//? end
    for (i = 1; i < ERNN_OUTPUTS; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

