/* Each sum starts from the bias and runs over the columns in their order; with -std=c99 (nothing fused) the results are those of
   the Rust runtime, bit for bit. */

//? any tanh sigmoid
/* e^x = 2^n e^r: gives 2^n, and e^r - 1 by its Taylor polynomial. |x| is at most 80. */
static float split_exponential(float x, float *rest)
{
    static const float polynomial[7] = {
        1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f
    };
    union { float number; uint32_t bits; } scale;
    float shifted, n, r, sum = 0.0f;
    int i;
    shifted = x * 1.44269504f + 12582912.0f; /* adding 1.5 * 2^23 rounds */
    n = shifted - 12582912.0f;
    r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    for (i = 0; i < 7; i++)
        sum = sum * r + polynomial[i];
    *rest = sum * r;
    scale.number = shifted;
    scale.bits = (scale.bits + 127u) << 23;
    return scale.number;
}
//? end

//? any tanh sigmoid hardtanh hardsigmoid
static float between(float low, float high, float x)
{
    return x < low ? low : x > high ? high : x;
}
//? end

static float activate(int activation, float x)
{
//? any tanh sigmoid
    float scale, rest;
//? end
    switch (activation) {
//? any relu
    case 0: /* relu */
        return x < 0.0f ? 0.0f : x;
//? end
//? any tanh
    case 1: /* tanh */
        x = between(-9.5f, 9.5f, x);
        scale = split_exponential(x + x, &rest);
        rest = scale * rest + (scale - 1.0f);
        return rest / (rest + 2.0f);
//? end
//? any sigmoid
    case 2: /* sigmoid */
        scale = split_exponential(-between(-80.0f, 80.0f, x), &rest);
        return 1.0f / ((scale * rest + scale) + 1.0f);
//? end
//? any hardtanh
    case 3: /* hard tanh */
        return between(-1.0f, 1.0f, x);
//? end
//? any hardsigmoid
    case 4: /* hard sigmoid */
        return between(0.0f, 1.0f, x * 0.5f + 0.5f);
//? end
    default:
        return x;
    }
}

static float dot(float sum, const float *row, const float *values, int columns)
{
    int i;
    for (i = 0; i < columns; i++)
        sum += row[i] * values[i];
    return sum;
}

/* out = matrix values + bias */
static void product(const float *matrix, const float *bias, const float *values, int columns, float *out, int rows)
{
    int i;
    for (i = 0; i < rows; i++)
        out[i] = dot(bias ? bias[i] : 0.0f, matrix + (long)i * columns, values, columns);
}

//? any deviation
/* Square root by Heron's method, of a positive number. */
static float square_root(float x)
{
    union { float number; uint32_t bits; } root;
    int i;
    root.number = x;
    root.bits = (root.bits >> 1) + 0x1fbd1df5u; /* half of the exponent */
    for (i = 0; i < 3; i++)
        root.number = 0.5f * (root.number + x / root.number);
    return root.number;
}

//? end
//? any mean
/* What the readout needs of all states so far: sums, then sums of squares and largest values where they are asked for. */
static void keep_for_readout(float *kept, const float *values, int count, uint32_t steps)
{
    int i;
    (void)steps;
    for (i = 0; i < count; i++)
        kept[i] += values[i];
//? any deviation
    kept += count;
    for (i = 0; i < count; i++)
        kept[i] += values[i] * values[i];
//? end
//? any largest
    kept += count;
    for (i = 0; i < count; i++)
        if (steps == 0 || values[i] > kept[i])
            kept[i] = values[i];
//? end
}

/* What the readout reads: means, deviations, largest values. */
static void summarize(const float *kept, int count, uint32_t steps, float *out)
{
    float divisor = (float)(steps ? steps : 1u);
    int i;
    for (i = 0; i < count; i++)
        out[i] = kept[i] / divisor;
//? any deviation
    for (i = 0; i < count; i++) {
        float variance = kept[count + i] / divisor - out[i] * out[i];
        out[count + i] = steps ? square_root((variance < 0.0f ? 0.0f : variance) + 1.0f / 65536.0f) : 0.0f;
    }
    kept += count;
    out += count;
//? end
//? any largest
    for (i = 0; i < count; i++)
        out[count + i] = kept[count + i];
//? end
}

//? end
//? any leaky
/* u = W x + b;  z = c0 h;  K times z = a z + e phi(R z + u);  h = z - s h.  R is dense, or c I + A B. */
typedef struct {
    int inputs, hidden, rank, activation, iterations, rows;
    float start, previous, identity;
    const float *w, *b, *r, *right, *decay, *gain;
} leaky;

static void leaky_step(const leaky *cell, uint32_t step, const float *x, float *h, float *scratch)
{
    int hidden = cell->hidden, rank = cell->rank, columns = rank ? rank : hidden, i, k;
    float *z = scratch, *next = z + hidden, *drive = next + hidden, *codes = drive + hidden;
    uint32_t row = step < (uint32_t)cell->rows ? step : (uint32_t)cell->rows - 1u;
    const float *decay = cell->decay + row * (uint32_t)cell->iterations;
    const float *gain = cell->gain + row * (uint32_t)cell->iterations;
    product(cell->w, cell->b, x, cell->inputs, drive, hidden);
    for (i = 0; i < hidden; i++)
        z[i] = h[i] * cell->start;
    for (k = 0; k < cell->iterations; k++) {
        if (rank) {
            product(cell->right, 0, k ? z : h, hidden, codes, rank);
            for (i = 0; i < rank && k == 0; i++)
                codes[i] *= cell->start;
        }
        for (i = 0; i < hidden; i++) {
            float sum = dot(drive[i], cell->r + (long)i * columns, rank ? codes : z, columns);
            if (rank)
                sum += z[i] * cell->identity;
            next[i] = z[i] * decay[k] + activate(cell->activation, sum) * gain[k];
        }
        for (i = 0; i < hidden; i++)
            z[i] = next[i];
    }
    for (i = 0; i < hidden; i++)
        h[i] = z[i] - h[i] * cell->previous;
}

//? end
//? any gated
/* sum_g = [W_g x] + [R_g h] + b_g for each group g and unit; then the cell's formula. R is dense, or A B with one B for all. */
typedef struct {
    int kind, inputs, hidden, rank, gate, activation, groups;
    int input_from, input_to, state_from, state_to, reset;
    float identity, one, two;
    const float *w, *b, *r, *right;
} gated;

typedef struct {
    const gated *cell;
    const float *x, *state, *reset;
} sources;

static float group_sum(const sources *from, int group, int unit)
{
    const gated *cell = from->cell;
    float sum = cell->b[(long)group * cell->hidden + unit];
    if (group >= cell->input_from && group < cell->input_to) {
        long row = (long)(group - cell->input_from) * cell->hidden + unit;
        sum = dot(sum, cell->w + row * cell->inputs, from->x, cell->inputs);
    }
    if (group >= cell->state_from && group < cell->state_to) {
        long row = (long)(group - cell->state_from) * cell->hidden + unit;
        int columns = cell->rank ? cell->rank : cell->hidden;
        int last = cell->reset && group + 1 == cell->groups;
        sum = dot(sum, cell->r + row * columns, last ? from->reset : from->state, columns);
    }
    return sum;
}

static float gated_unit(const sources *from, int unit, float h, float *memory)
{
    const gated *cell = from->cell;
    int gate = cell->gate, phi = cell->activation;
    float z = 0.0f, c = 0.0f;
    (void)memory, (void)z, (void)c;
    switch (cell->kind) {
//? any lstm
    case 2: /* LSTM: groups i, f, o, g */
        z = activate(gate, group_sum(from, 1, unit)) * *memory;
        c = activate(gate, group_sum(from, 0, unit)) * activate(phi, group_sum(from, 3, unit));
        *memory = z + c;
        return activate(gate, group_sum(from, 2, unit)) * activate(phi, *memory);
//? end
//? any gruafter
    case 3: /* GRU, reset after the product: groups n of the input, r, z, n of the state */
        c = activate(gate, group_sum(from, 1, unit)) * group_sum(from, 3, unit);
        c = activate(phi, c + group_sum(from, 0, unit));
        return activate(gate, group_sum(from, 2, unit)) * (h - c) + c;
//? end
//? any grubefore
    case 4: /* GRU, reset before the product: groups r, z, n */
        c = activate(phi, group_sum(from, 2, unit));
        return activate(gate, group_sum(from, 1, unit)) * (h - c) + c;
//? end
//? any ugrnn
    case 5: /* UGRNN: groups z, c */
        c = activate(phi, group_sum(from, 1, unit));
        return activate(gate, group_sum(from, 0, unit)) * (h - c) + c;
//? end
//? any fastgrnn
    case 6: /* FastGRNN: groups z, c, p; scalars zeta, nu */
        c = group_sum(from, 2, unit);
        z = activate(gate, group_sum(from, 0, unit) + c);
        c = activate(phi, group_sum(from, 1, unit) + c);
        return z * h + ((1.0f - z) * cell->one + cell->two) * c;
//? end
//? any antisymmetric
    case 7: /* gated AntisymmetricRNN: groups z, c, p; scalar epsilon */
        c = h * cell->identity + group_sum(from, 2, unit);
        z = activate(gate, group_sum(from, 0, unit) + c);
        c = activate(phi, group_sum(from, 1, unit) + c);
        return cell->one * (z * c) + h;
//? end
    default:
        return h;
    }
}

static void gated_step(const gated *cell, const float *x, float *h, float *memory, float *scratch)
{
    int hidden = cell->hidden, rank = cell->rank, i;
    float *next = scratch, *codes = next + hidden;
    sources from;
    from.cell = cell;
    from.x = x;
    from.state = rank ? codes : h;
    from.reset = 0;
    if (rank)
        product(cell->right, 0, h, hidden, codes, rank);
//? any grubefore
    if (cell->reset) {
        float *reset = codes + rank, *reset_codes = reset + hidden;
        for (i = 0; i < hidden; i++)
            reset[i] = activate(cell->gate, group_sum(&from, 0, i)) * h[i];
        if (rank)
            product(cell->right, 0, reset, hidden, reset_codes, rank);
        from.reset = rank ? reset_codes : reset;
    }
//? end
    for (i = 0; i < hidden; i++)
        next[i] = gated_unit(&from, i, h[i], memory ? memory + i : 0);
    for (i = 0; i < hidden; i++)
        h[i] = next[i];
}

//? end
//? any deep
/* As the leaky family, with a network in the place of phi(R z + u): a_1 = phi(U z + W x + b_1), a_j = phi(U_j a_{j-1} + b_j). */
typedef struct {
    int width;
    const float *weight, *bias;
} deep_layer;

typedef struct {
    int inputs, hidden, activation, iterations, rows, layers, widest;
    float start, previous;
    const float *w;
    const deep_layer *network;
    const float *decay, *gain;
} deep;

static void deep_step(const deep *cell, uint32_t step, const float *x, float *h, float *scratch)
{
    int hidden = cell->hidden, i, j, k;
    float *z = scratch, *drive = z + hidden, *output = drive + cell->network[0].width, *source = output + cell->widest;
    uint32_t row = step < (uint32_t)cell->rows ? step : (uint32_t)cell->rows - 1u;
    const float *decay = cell->decay + row * (uint32_t)cell->iterations;
    const float *gain = cell->gain + row * (uint32_t)cell->iterations;
    product(cell->w, cell->network[0].bias, x, cell->inputs, drive, cell->network[0].width);
    for (i = 0; i < hidden; i++)
        z[i] = h[i] * cell->start;
    for (k = 0; k < cell->iterations; k++) {
        int columns = hidden;
        for (j = 0; j < cell->layers; j++) {
            const deep_layer *layer = cell->network + j;
            float *swapped = source;
            product(layer->weight, j ? layer->bias : drive, j ? source : z, columns, output, layer->width);
            for (i = 0; i < layer->width; i++)
                output[i] = activate(cell->activation, output[i]);
            columns = layer->width;
            source = output;
            output = swapped;
        }
        for (i = 0; i < hidden; i++)
            z[i] = z[i] * decay[k] + source[i] * gain[k];
    }
    for (i = 0; i < hidden; i++)
        h[i] = z[i] - h[i] * cell->previous;
}

//? end
//? any equilibrium
/* u = W x + b;  F(z) = phi(R z + u) - gamma z = 0, solved for z;  h = z - s h.  R is dense, or c I + A B. Newton's method, or the fixed
   point's; at most so many iterations, after which the last z is taken. */
typedef struct {
    int inputs, hidden, rank, activation, iterations, newton;
    float gamma, previous, identity, absolute, relative;
    const float *w, *b, *r, *right;
} equilibrium;

typedef struct {
    float *z, *outputs, *residual;
    float largest, size; /* max |F(z)|, max |gamma z| */
} point;

static float absolute_of(float x)
{
    return x < 0.0f ? -x : x;
}

static int is_finite(float x)
{
    return x - x == 0.0f;
}

/* phi', of the value of phi */
static float slope_of(int activation, float value)
{
    switch (activation) {
//? any relu
    case 0: /* relu */
        return value > 0.0f ? 1.0f : 0.0f;
//? end
//? any tanh
    case 1: /* tanh */
        return 1.0f - value * value;
//? end
//? any sigmoid
    case 2: /* sigmoid */
        return value - value * value;
//? end
//? any hardtanh
    case 3: /* hard tanh */
        return value * value < 1.0f ? 1.0f : 0.0f;
//? end
//? any hardsigmoid
    case 4: /* hard sigmoid */
        return value - value * value > 0.0f ? 0.5f : 0.0f;
//? end
    default:
        return 0.0f * value;
    }
}

/* Gaussian elimination with partial pivoting; right becomes the solution. */
static void eliminate(int n, float *system, float *right)
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        int best = k;
        float largest = 0.0f, inverse;
        for (i = k; i < n; i++) {
            float size = absolute_of(system[i * n + k]);
            if (size > largest) {
                best = i;
                largest = size;
            }
        }
        if (best != k) {
            float other = right[k];
            right[k] = right[best];
            right[best] = other;
            for (j = 0; j < n; j++) {
                other = system[k * n + j];
                system[k * n + j] = system[best * n + j];
                system[best * n + j] = other;
            }
        }
        inverse = 1.0f / system[k * n + k];
        for (i = k + 1; i < n; i++) {
            float factor = -(system[i * n + k] * inverse);
            for (j = k + 1; j < n; j++)
                system[i * n + j] += system[k * n + j] * factor;
            right[i] += right[k] * factor;
        }
    }
    for (k = n - 1; k >= 0; k--) {
        float sum = right[k];
        for (j = k + 1; j < n; j++)
            sum -= system[k * n + j] * right[j];
        right[k] = sum / system[k * n + k];
    }
}

static void evaluate(const equilibrium *cell, const float *drive, float *codes, point *at)
{
    int rank = cell->rank, columns = rank ? rank : cell->hidden, i;
    float poison = 0.0f;
    at->largest = at->size = 0.0f;
    if (rank)
        product(cell->right, 0, at->z, cell->hidden, codes, rank);
    for (i = 0; i < cell->hidden; i++) {
        float sum = dot(drive[i], cell->r + (long)i * columns, rank ? codes : at->z, columns), scaled, size;
        if (rank)
            sum += at->z[i] * cell->identity;
        scaled = at->z[i] * cell->gamma;
        at->outputs[i] = activate(cell->activation, sum);
        at->residual[i] = at->outputs[i] - scaled;
        size = absolute_of(at->residual[i]);
        if (size > at->largest)
            at->largest = size;
        size = absolute_of(scaled);
        if (size > at->size)
            at->size = size;
        /* An activation may hide what is not finite in its argument. */
        if (!is_finite(at->residual[i] + sum))
            poison = (at->residual[i] + sum) - (at->residual[i] + sum);
    }
    at->largest += poison;
}

/* The system of Newton's method: with q = 1 / (gamma - c phi'), p = phi' q, (I - B diag(p) A) w = B (q F), dz = q F + p (A w); of a dense R
   (gamma I - diag(phi') R) dz = F. */
static void newton_step(const equilibrium *cell, const point *at, float *step, float *scratch)
{
    int hidden = cell->hidden, rank = cell->rank, n = rank ? rank : hidden, i, j, k;
    float *p = scratch, *right = p + hidden, *system = right + n;
    if (!rank) {
        for (i = 0; i < n; i++) {
            float slope = slope_of(cell->activation, at->outputs[i]);
            for (j = 0; j < n; j++)
                system[i * n + j] = (i == j ? cell->gamma : 0.0f) - slope * cell->r[(long)i * n + j];
            step[i] = at->residual[i];
        }
        eliminate(n, system, step);
        return;
    }
    for (i = 0; i < hidden; i++) {
        float slope = slope_of(cell->activation, at->outputs[i]);
        float inverse = 1.0f / (cell->gamma - slope * cell->identity);
        step[i] = at->residual[i] * inverse;
        p[i] = slope * inverse;
    }
    product(cell->right, 0, step, hidden, right, rank);
    for (k = 0; k < n; k++) {
        float *line = system + k * n;
        for (j = 0; j < n; j++)
            line[j] = 0.0f;
        for (i = 0; i < hidden; i++) {
            float scaled = -(cell->right[(long)k * hidden + i] * p[i]);
            for (j = 0; j < n; j++)
                line[j] += scaled * cell->r[(long)i * n + j];
        }
        line[k] += 1.0f;
    }
    eliminate(n, system, right);
    for (i = 0; i < hidden; i++)
        step[i] += p[i] * dot(0.0f, cell->r + (long)i * n, right, n);
}

static void equilibrium_step(const equilibrium *cell, const float *x, float *h, float *scratch)
{
    int hidden = cell->hidden, i, k;
    float *drive = scratch, *step = drive + 7 * hidden, *codes = step + hidden, *rest = codes + cell->rank;
    float alpha = 1.0f, inverse = 1.0f / cell->gamma;
    point at, other;
    at.z = drive + hidden;
    at.outputs = at.z + hidden;
    at.residual = at.outputs + hidden;
    other.z = at.residual + hidden;
    other.outputs = other.z + hidden;
    other.residual = other.outputs + hidden;
    product(cell->w, cell->b, x, cell->inputs, drive, hidden);
    for (i = 0; i < hidden; i++)
        at.z[i] = activate(cell->activation, drive[i]) * inverse;
    evaluate(cell, drive, codes, &at);
    for (k = 0; k < cell->iterations; k++) {
        int plain = !cell->newton;
        if (at.largest <= cell->absolute + cell->relative * at.size || alpha < 1.0f / 4096.0f || !is_finite(at.largest))
            break;
        if (cell->newton)
            newton_step(cell, &at, step, rest);
        for (i = 0; i < hidden && !plain; i++)
            plain = !is_finite(step[i]);
        for (i = 0; i < hidden && plain; i++)
            step[i] = at.residual[i] * inverse;
        for (i = 0; i < hidden; i++)
            other.z[i] = at.z[i] + step[i] * alpha;
        evaluate(cell, drive, codes, &other);
        if (cell->newton ? other.largest < at.largest : is_finite(other.largest)) {
            point kept = at;
            at = other;
            other = kept;
            alpha = alpha < 0.5f ? alpha + alpha : 1.0f;
        } else {
            alpha *= 0.5f;
        }
    }
    for (i = 0; i < hidden; i++)
        h[i] = at.z[i] - h[i] * cell->previous;
}

//? end
