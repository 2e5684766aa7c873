//? any sound
static uint32_t added(uint32_t sum, const float features[ERNN_INPUTS])
{
    union { float number; uint32_t bits; } value;
    int i;
    for (i = 0; i < ERNN_INPUTS; i++) {
        value.number = features[i];
        sum = (sum ^ value.bits) * 16777619u;
    }
    return sum;
}

/* Noise that becomes softer twelve times, and silence: whether its features are, bit by bit, those that were trained on. */
static int hears(void)
{
    static ernn_sound sound;
    static ernn_work work;
    float features[ERNN_INPUTS];
    uint32_t state = 1, sum = 2166136261u;
    int place;
    ernn_sound_reset(&sound);
    for (place = 0; place < SOUND; place++) {
        int32_t loud;
        int16_t sample;
        const int16_t *samples = &sample;
        int count = 1;
        state = state * 1664525u + 1013904223u;
        loud = (int32_t)(state >> 16) - 32768;
        sample = (int16_t)(place < 2400 ? loud / ((int32_t)1 << (place / 200)) : 0);
        while (ernn_sound_push(&sound, &work, &samples, &count, features))
            sum = added(sum, features);
    }
    if (ernn_sound_end(&sound, &work, features))
        sum = added(sum, features);
    return sum == SOUND_SUM;
}

//? end
//? any listens
/* Whether windows of the inputs, over and over, and events of drawn logits are those of the Rust runtime. */
static int listens(void)
{
    static ernn_windows windows;
    static ernn_scratch scratch;
    static ernn_events events;
    static ernn_logit logits[ERNN_OUTPUTS];
    uint32_t state = 1, sum = 0;
    int step, steps = 0, ended = 0, window, i;
    for (i = 0; i < SEQUENCES; i++)
        steps += lengths[i];
    ernn_windows_reset(&windows);
    for (step = 0; step < ERNN_LISTEN + ERNN_EVERY; step++)
        ended += ernn_windows_push(&windows, &scratch, inputs + step % steps * ERNN_INPUTS, logits);
    if (ended != 2)
        return 0;
    for (i = 0; i < ERNN_OUTPUTS; i++) {
//? any float
        float difference = logits[i] - of_window[i];
        if (!(difference <= BOUND && -difference <= BOUND))
            return 0;
//? end
//? any int8
        if (logits[i] != of_window[i])
            return 0;
//? end
    }
    ernn_events_reset(&events);
    for (window = 0; window < WINDOWS; window++) {
        for (i = 0; i < ERNN_OUTPUTS && window % 3 == 0; i++) {
            int32_t drawn;
            state = state * 1664525u + 1013904223u;
            drawn = (int32_t)(state >> 16) - 32768;
//? any float
            logits[i] = (float)drawn / 4096.0f;
//? end
//? any int8
            logits[i] = 16 * drawn;
//? end
        }
        sum = sum * 31u + (uint32_t)(ernn_events_push(&events, logits) + 1);
    }
    return sum == EVENTS_SUM;
}

//? end
int ernn_selftest(void)
{
    static ernn_state state;
    static ernn_scratch scratch;
    const float *input = inputs;
    int sequence, step, i;
//? any sound
    if (!hears())
        return SEQUENCES + 1;
//? end
//? any listens
    if (!listens())
        return SEQUENCES + 2;
//? end
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
