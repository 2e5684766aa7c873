//? any softmax labels
/* e^x for x <= 0, within some millionths of it: 2^n e^r, and e^r by its Taylor polynomial. */
static float exponential(float x)
{
    static const float polynomial[7] = {
        1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f
    };
    float n, r, sum = 0.0f;
    int32_t i, halvings;
    if (!(x > -87.0f))
        return 0.0f;
    halvings = (int32_t)(0.5f - x * 1.44269504f);
    n = (float)halvings;
    r = (x + n * 0.693359375f) - n * 2.12194440e-4f;
    for (i = 0; i < 7; i++)
        sum = sum * r + polynomial[i];
    for (i = 0; i < halvings; i++)
        sum *= 0.5f;
    return sum;
}

//? end
//? any labels
int ernn_probabilities(const ernn_logit logits[ERNN_OUTPUTS], float probabilities[ERNN_OUTPUTS])
{
    int i;
//? any float
    for (i = 0; i < ERNN_OUTPUTS; i++)
        if (!(logits[i] - logits[i] == 0.0f))
            return -1;
//? end
    for (i = 0; i < ERNN_OUTPUTS; i++) {
        float logit = (float)logits[i] / ERNN_LOGIT_SCALE;
        float small = exponential(logit < 0.0f ? logit : -logit);
        probabilities[i] = logit < 0.0f ? small / (1.0f + small) : 1.0f / (1.0f + small);
    }
    return 0;
}
//? end
//? any softmax
int ernn_probabilities(const ernn_logit logits[ERNN_OUTPUTS], float probabilities[ERNN_OUTPUTS])
{
    int best = ernn_class(logits), i;
    float largest, sum = 0.0f;
    if (best < 0)
        return -1;
    largest = (float)logits[best];
    for (i = 0; i < ERNN_OUTPUTS; i++) {
        probabilities[i] = exponential(((float)logits[i] - largest) / ERNN_LOGIT_SCALE);
        sum += probabilities[i];
    }
    for (i = 0; i < ERNN_OUTPUTS; i++)
        probabilities[i] /= sum;
    return best;
}
//? end
