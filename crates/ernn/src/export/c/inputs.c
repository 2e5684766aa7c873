//? any numbers
/* A value in the place `at` of what the first layer reads. */
//? any float
static void take(ernn_state *state, float *x, int at, float value)
{
    (void)state;
    x[at] = (value - input_mean[at]) * input_scale[at];
}
//? end
//? any int8
static void take(ernn_state *state, int16_t *x, int at, float value)
{
    /* volatile: rounded to a float here, whatever the compiler would fuse. */
    volatile float scaled = (value - input_mean[at]) * input_scale[at];
    float size = scaled < -40000.0f ? -40000.0f : scaled > 40000.0f ? 40000.0f : scaled;
    int32_t nearest = (int32_t)size;
    float rest = size - (float)nearest;
    nearest += rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0;
    x[at] = narrow(nearest, &state->saturations);
}
//? end

//? end
//? any memory
/* What derived channels remember: floats at the beginning of a state. */
//? any float
static float recall(const ernn_state *state, int place)
{
    return state->values[place];
}

static void remember(ernn_state *state, int place, float value)
{
    state->values[place] = value;
}
//? end
//? any int8
#define BITS (8 * (int)sizeof(ernn_number))

static float recall(const ernn_state *state, int place)
{
    union { float number; uint32_t bits; } value;
    const ernn_number *parts = state->values + 32 / BITS * place;
    int part;
    value.bits = 0;
    for (part = 32 / BITS - 1; part >= 0; part--)
        value.bits = value.bits << BITS | ((uint32_t)parts[part] & (0xffffffffu >> (32 - BITS)));
    return value.number;
}

static void remember(ernn_state *state, int place, float number)
{
    union { float number; uint32_t bits; } value;
    ernn_number *parts = state->values + 32 / BITS * place;
    int part;
    value.number = number;
    for (part = 0; part < 32 / BITS; part++)
        parts[part] = (ernn_number)(value.bits >> (part * BITS));
}
//? end

//? end
//? any compressed magnitudes
/* volatile: a product that is rounded to a float, whatever the compiler would fuse. */
static float times(float a, float b)
{
    volatile float product = a * b;
    return product;
}

/* The square root of a number from 1 to 10^37: half the exponent, and three of Heron's steps. */
static float root(float x)
{
    union { float number; uint32_t bits; } guess;
    int i;
    guess.number = x;
    guess.bits = (guess.bits >> 1) + 0x1fbd1df5u;
    for (i = 0; i < 3; i++)
        guess.number = 0.5f * (guess.number + x / guess.number);
    return guess.number;
}

//? end
//? any compressed
/* The inverse hyperbolic sine: log(1 + w), w = |x| + x^2 / (1 + sqrt(1 + x^2)), 1 + w = 2^power fraction. */
static float arsinh(float x)
{
    static const float atanh_series[5] = { 2.0f / 9.0f, 2.0f / 7.0f, 2.0f / 5.0f, 2.0f / 3.0f, 2.0f };
    union { float number; uint32_t bits; } sum;
    float size = x < 0.0f ? -x : x, square, w, z, s, q, series, result;
    uint32_t power;
    int i;
    if (size > 1e18f)
        size = 1e18f;
    square = times(size, size);
    w = size + square / (1.0f + root(1.0f + square));
    sum.number = 1.0f + w;
    power = (sum.bits - 0x3f3504f3u) >> 23;
    sum.bits -= power << 23;
    z = power == 0u ? w : sum.number - 1.0f;
    s = z / (2.0f + z);
    q = times(s, s);
    series = atanh_series[0];
    for (i = 1; i < 5; i++)
        series = times(series, q) + atanh_series[i];
    result = times((float)(int32_t)power, 0.693359375f)
        + (times((float)(int32_t)power, -2.12194440e-4f) + times(series, s));
    return x < 0.0f ? -result : result;
}

//? end
//? any magnitudes
/* The length of a vector, in units of its largest number. */
static float length(float a, float b, float c)
{
    float largest = 0.0f;
    a = a < 0.0f ? -a : a;
    b = b < 0.0f ? -b : b;
    c = c < 0.0f ? -c : c;
    largest = a > largest ? a : largest;
    largest = b > largest ? b : largest;
    largest = c > largest ? c : largest;
    if (largest == 0.0f)
        return 0.0f;
    a /= largest;
    b /= largest;
    c /= largest;
    return times(largest, root(times(a, a) + times(b, b) + times(c, c)));
}

//? end
//? any derived
/* The channels of a step, and those that are derived of them, as the first layer reads them. */
//? any float
static void derive(ernn_state *state, const float *input, float *x)
//? end
//? any int8
static void derive(ernn_state *state, const float *input, int16_t *x)
//? end
{
    int i, at = 0;
//? any memory
    if (state->steps == 0)
        for (i = 0; i < MEMORY; i++)
            remember(state, i, input[i % ERNN_INPUTS]);
//? end
    for (i = 0; i < ERNN_INPUTS; i++)
        take(state, x, at++, input[i]);
//? any differences
    for (i = 0; i < ERNN_INPUTS; i++) {
        take(state, x, at++, input[i] - recall(state, i));
        remember(state, i, input[i]);
    }
//? end
//? any compressed
    for (i = 0; i < ERNN_INPUTS; i++) {
        float mean = recall(state, MEMORY - ERNN_INPUTS + i);
        mean = mean + (times(0.1f, input[i]) - times(0.1f, mean));
        remember(state, MEMORY - ERNN_INPUTS + i, mean);
        take(state, x, at++, arsinh((input[i] - mean) / compressed_scale[i]));
    }
//? end
//? any magnitudes
    for (i = 0; i < TRIADS; i++)
        take(state, x, at++, length(input[triad[3 * i]], input[triad[3 * i + 1]], input[triad[3 * i + 2]]));
//? end
}

//? end
