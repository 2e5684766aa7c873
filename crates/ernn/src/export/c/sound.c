/* Log mel features of sound, in whole numbers and so with the same bits on every machine whose >> keeps the sign: a frame, emphasized and
   windowed, is brought to 28 bits; its Fourier transform halves its numbers at each stage; sums of powers of 64 bits have their logarithm
   by a table with straight lines between. */
#define BINS (ERNN_WORK / 2)

/* The upper half of a product of 64 bits. */
static int32_t upper(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b) >> 32);
}

/* Half of a product with a number of 15 places, rounded down. */
static int32_t half(int32_t value, int16_t factor)
{
    return upper(value, (int32_t)factor * 65536);
}

/* Half of (cosine - i sine) (real + i imaginary). */
static void turn(int32_t *real, int32_t *imaginary, const int16_t *by)
{
    int32_t cosine = (int32_t)by[0] * 65536, sine = (int32_t)by[1] * 65536;
    int32_t turned = upper(*real, cosine) + upper(*imaginary, sine);
    *imaginary = upper(*imaginary, cosine) - upper(*real, sine);
    *real = turned;
}

/* Emphasizes and windows the samples of a frame, in the order that the transform begins with; gives 0 for silence, else the bits in use. */
static uint32_t emphasize(int32_t *work, int32_t before, const int16_t *samples, int count)
{
    uint32_t seen = 0;
    int place = 0, bit, i;
    for (i = 0; i < ERNN_WORK; i++)
        work[i] = 0;
    for (i = 0; i < count; i++) {
        int weight = i < ERNN_FRAME - 1 - i ? i : ERNN_FRAME - 1 - i;
        int32_t value = half((int32_t)samples[i] * 32768 - EMPHASIS * before, hamming[weight]);
        work[2 * place + (i & 1)] = value;
        seen |= value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
        before = samples[i];
        if (i & 1) {
            /* Counts the pairs with their bits in the other order. */
            for (bit = BINS / 2; place & bit; bit >>= 1)
                place ^= bit;
            place |= bit;
        }
    }
    return seen;
}

static void transform(int32_t *work)
{
    int apart, stride = BINS, group, i;
    for (apart = 1; apart < BINS; apart *= 2, stride /= 2)
        for (i = 0; i < apart; i++)
            for (group = i; group < BINS; group += 2 * apart) {
                int32_t *a = work + 2 * group, *b = a + 2 * apart;
                int32_t real = b[0], imaginary = b[1];
                if (i)
                    turn(&real, &imaginary, turns + 2 * i * stride);
                else
                    real >>= 1, imaginary >>= 1;
                b[0] = (a[0] >> 1) - real;
                b[1] = (a[1] >> 1) - imaginary;
                a[0] = (a[0] >> 1) + real;
                a[1] = (a[1] >> 1) + imaginary;
            }
}

/* A power in two words. */
static void square(int32_t *at, int32_t real, int32_t imaginary)
{
    uint64_t power = ((uint64_t)((int64_t)real * real) + (uint64_t)((int64_t)imaginary * imaginary)) >> 12;
    at[0] = (int32_t)(uint32_t)power;
    at[1] = (int32_t)(uint32_t)(power >> 32);
}

static void powers(int32_t *work)
{
    int k;
    square(work, work[0] + work[1], 0);
    for (k = 1; k < BINS / 2; k++) {
        int32_t *low = work + 2 * k, *high = work + 2 * (BINS - k);
        int32_t even_real = (low[0] + high[0]) >> 1, even_imaginary = (low[1] - high[1]) >> 1;
        int32_t odd_real = low[1] + high[1], odd_imaginary = high[0] - low[0];
        turn(&odd_real, &odd_imaginary, turns + 2 * k);
        square(low, even_real + odd_real, even_imaginary + odd_imaginary);
        square(high, even_real - odd_real, even_imaginary - odd_imaginary);
    }
    square(work + BINS, work[BINS], work[BINS + 1]);
}

/* ln(sum 2^exponent); of 0 that of silence. */
static float logarithm(uint64_t sum, int exponent)
{
    uint32_t fraction, from, between;
    int shift;
    if (sum == 0)
        return SILENCE;
    exponent += 63;
    for (shift = 32; shift > 0; shift /= 2)
        if (sum >> (64 - shift) == 0) {
            sum <<= shift;
            exponent -= shift;
        }
    fraction = (uint32_t)(sum >> 31);
    from = logarithms[fraction >> 27];
    between = from + ((logarithms[(fraction >> 27) + 1u] - from) * ((fraction >> 11) & 0xffffu) >> 16);
    return (float)(exponent * 65536 + (int32_t)between) * LN2;
}

static void features_of(int32_t before, const int16_t *samples, int count, int32_t *work, float *features)
{
    uint32_t seen = emphasize(work, before, samples, count);
    uint64_t falling = 0;
    int shift = 28, exponent = -32, segment, bin, i;
    if (seen == 0) {
        for (i = 0; i < ERNN_INPUTS; i++)
            features[i] = SILENCE;
        return;
    }
    for (; seen > 1; seen >>= 1)
        shift--;
    for (i = 0; i < ERNN_WORK; i++)
        work[i] = shift < 0 ? work[i] >> -shift : work[i] * ((int32_t)1 << shift);
    transform(work);
    powers(work);
    /* Powers are in units of 2^(12 - 15) ERNN_WORK / 4 2^(-28 - 2 shift), those of the samples being 1. */
    exponent -= 2 * shift;
    for (i = 1; i < BINS; i *= 2)
        exponent++;
    for (segment = 0; segment <= ERNN_INPUTS; segment++) {
        uint64_t left = 0, right = 0;
        for (bin = edges[segment]; bin < edges[segment + 1]; bin++) {
            uint64_t power = (uint64_t)(uint32_t)work[2 * bin + 1] << 32 | (uint32_t)work[2 * bin];
            uint64_t risen = power * rises[bin];
            right += risen;
            left += (power << 15) - risen;
        }
        if (segment > 0)
            features[segment - 1] = logarithm(falling + left, exponent);
        falling = right;
    }
}

void ernn_sound_reset(ernn_sound *sound)
{
    sound->before = 0;
    sound->filled = 0;
    sound->fresh = 1;
}

int ernn_sound_push(ernn_sound *sound, ernn_work *work, const int16_t **samples, int *count, float features[ERNN_INPUTS])
{
    int i;
    for (; *count > 0 && sound->filled < ERNN_FRAME; (*count)--) {
        sound->samples[sound->filled++] = *(*samples)++;
        sound->fresh = 1;
    }
    if (sound->filled < ERNN_FRAME)
        return 0;
    features_of(sound->before, sound->samples, ERNN_FRAME, work->values, features);
    sound->before = sound->samples[ERNN_HOP - 1];
    for (i = ERNN_HOP; i < ERNN_FRAME; i++)
        sound->samples[i - ERNN_HOP] = sound->samples[i];
    sound->filled = ERNN_FRAME - ERNN_HOP;
    sound->fresh = 0;
    return 1;
}

int ernn_sound_end(ernn_sound *sound, ernn_work *work, float features[ERNN_INPUTS])
{
    int one_more = sound->fresh;
    if (one_more)
        features_of(sound->before, sound->samples, sound->filled, work->values, features);
    ernn_sound_reset(sound);
    return one_more;
}
