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

//? any choice
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
//? end
//? any labels
int ernn_labels(const ernn_logit logits[ERNN_OUTPUTS], unsigned char labels[ERNN_OUTPUTS])
{
    int count = 0, i;
//? any float
    for (i = 0; i < ERNN_OUTPUTS; i++)
        if (!(logits[i] - logits[i] == 0.0f))
            return -1;
//? end
    for (i = 0; i < ERNN_OUTPUTS; i++) {
        labels[i] = logits[i] >= 0;
        count += labels[i];
    }
    return count;
}
//? end
//? any value
float ernn_value(const ernn_logit logits[ERNN_OUTPUTS])
{
//? any float
    return logits[0];
//? end
//? any int8
    return ERNN_VALUE_MEAN + ERNN_VALUE_DEVIATION * ((float)logits[0] / ERNN_LOGIT_SCALE);
//? end
}
//? end

//? any values
void ernn_values(const ernn_logit logits[ERNN_OUTPUTS], float values[ERNN_OUTPUTS])
{
    int i, place;
    for (i = 0; i < ERNN_OUTPUTS; i++) {
//? any float
        float value = logits[i];
//? end
//? any int8
        float value = value_mean[i] + value_deviation[i] * ((float)logits[i] / ERNN_LOGIT_SCALE);
//? end
        place = i;
//? any quantiles
        while (place % ERNN_QUANTILES > 0 && values[place - 1] > value) {
            values[place] = values[place - 1];
            place--;
        }
//? end
        values[place] = value;
    }
}
//? end
