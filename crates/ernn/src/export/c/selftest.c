int ernn_selftest(void)
{
    static ernn_state state;
    static ernn_scratch scratch;
    const float *input = inputs;
    int sequence, step, i;
    for (sequence = 0; sequence < SEQUENCES; sequence++) {
        ernn_logit logits[ERNN_OUTPUTS];
        ernn_reset(&state);
        for (step = 0; step < lengths[sequence]; step++) {
//? any numbers
            if (ernn_push(&state, &scratch, input))
                return sequence + 1;
            input += ERNN_INPUTS;
//? end
//? any tokens
            if (ernn_push_token(&state, &scratch, (uint32_t)*input++))
                return sequence + 1;
//? end
        }
        ernn_logits(&state, &scratch, logits);
        for (i = 0; i < ERNN_OUTPUTS; i++) {
//? any float
            float difference = logits[i] - expected[sequence][i];
//? any values
            if (!(difference <= bounds[i] && -difference <= bounds[i]))
                return sequence + 1;
//? end
//? any choice value labels
            if (!(difference <= BOUND && -difference <= BOUND))
                return sequence + 1;
//? end
//? end
//? any int8
            if (logits[i] != expected[sequence][i])
                return sequence + 1;
//? end
        }
//? any value
        {
//? any float
            float difference = ernn_value(logits) - expected[sequence][0];
            if (!(difference <= BOUND && -difference <= BOUND))
                return sequence + 1;
//? end
//? any int8
            float difference = ernn_value(logits) - values[sequence];
            if (!(difference <= VALUE_BOUND && -difference <= VALUE_BOUND))
                return sequence + 1;
//? end
        }
//? end
//? any values
        {
            float made[ERNN_OUTPUTS];
            ernn_values(logits, made);
            for (i = 0; i < ERNN_OUTPUTS; i++) {
                float difference = made[i] - values[sequence * ERNN_OUTPUTS + i];
                if (!(difference <= bounds[i] && -difference <= bounds[i]))
                    return sequence + 1;
            }
        }
//? end
    }
    return 0;
}
