/* Values are integer / 2^places: sums and logits have 16 places, gates 15, the others those of the layer. Nothing wraps; what does not
   fit becomes the end of its range and is counted. The bits are those of the Rust runtime on every machine whose >> keeps the sign. */

static int64_t round_shift(int64_t value, int shift)
{
    return shift > 0 ? (value + ((int64_t)1 << (shift - 1))) >> shift : value;
}

static int16_t narrow(int64_t value, uint32_t *saturations)
{
    if (value < -32768 || value > 32767) {
        *saturations += *saturations < 0xffffffffu;
        return value < 0 ? -32768 : 32767;
    }
    return (int16_t)value;
}

static int32_t whole(int64_t value, uint32_t *saturations)
{
    if (value < -2147483647 - 1 || value > 2147483647) {
        *saturations += *saturations < 0xffffffffu;
        return value < 0 ? -2147483647 - 1 : 2147483647;
    }
    return (int32_t)value;
}

/* a / 2^a_places + b / 2^b_places, rounded once */
static int16_t combine(int64_t a, int a_places, int64_t b, int b_places, int places, uint32_t *saturations)
{
    int common = a_places > b_places ? a_places : b_places;
    if (common < places)
        common = places;
    a *= (int64_t)1 << (common - a_places);
    b *= (int64_t)1 << (common - b_places);
    return narrow(round_shift(a + b, common - places), saturations);
}

//? any tanh sigmoid
/* A straight line between the values at n / 16. */
static int16_t line_tanh(int32_t x)
{
    uint32_t size = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    int32_t rest, low, value;
    if (size > 524288u)
        size = 524288u;
    rest = (int32_t)(size & 4095u);
    low = tanh_values[size >> 12];
    value = low + ((((size >> 12) < 128u ? tanh_values[(size >> 12) + 1u] : 32767) - low) * rest + 2048) / 4096;
    return (int16_t)(x < 0 ? -value : value);
}

//? end
/* From 16 places to those of the result. */
static int16_t activate(int activation, int places, int32_t x, uint32_t *saturations)
{
    (void)places, (void)saturations;
    switch (activation) {
//? any relu
    case 0: /* relu */
        return narrow(round_shift(x < 0 ? 0 : x, 16 - places), saturations);
//? end
//? any tanh
    case 1: /* tanh */
        return line_tanh(x);
//? end
//? any sigmoid
    case 2: /* sigmoid */
        return (int16_t)((32768 + line_tanh(x >> 1)) >> 1);
//? end
//? any hardtanh
    case 3: /* hard tanh */
        x >>= 1;
        return (int16_t)(x < -32767 ? -32767 : x > 32767 ? 32767 : x);
//? end
//? any hardsigmoid
    case 4: /* hard sigmoid */
        x = (x > 2147483647 - 65536 ? 2147483647 : x + 65536) >> 2;
        return (int16_t)(x < 0 ? 0 : x > 32767 ? 32767 : x);
//? end
    default:
        return (int16_t)x;
    }
}

//? any state8
/* States are kept as the upper 8 of 16 bits; what is cut off rounds up as often as it is large: where it and a threshold, which goes by the
   golden section from step to step, make 256. */
static int16_t wide(int8_t value)
{
    return (int16_t)(value * 256);
}

static int8_t keep(int16_t value, uint32_t step, int unit, uint32_t *saturations)
{
    int32_t kept = ((int32_t)value + (int32_t)((step * 159u + (uint32_t)unit * 97u) & 255u)) >> 8;
    if (kept > 127) {
        *saturations += *saturations < 0xffffffffu;
        return 127;
    }
    return (int8_t)kept;
}

/* A value of either width; `small` says whether it is of a state's. */
#define SMALL 1
#define VALUE(i) (small ? (int32_t)((const int8_t *)values)[i] * 256 : (int32_t)((const int16_t *)values)[i])
//? end
//? any state16
#define wide(value) (value)
#define keep(value, step, unit, saturations) (value)
#define SMALL 0
#define VALUE(i) ((int32_t)((const int16_t *)values)[i])
//? end

/* Weights, and a shift with one factor a row. */
typedef struct {
    const int8_t *weights;
    const uint16_t *factors;
} matrix;

/* A matrix that is read row by row. */
typedef struct {
    const int8_t *weights;
    const uint16_t *factor;
    int shift;
//? any sparse
    int storage;
//? end
} rows;

//? any sparse
/* The next row times the values, of none passed over. Storage 0: all weights; 1: of each eight columns a mask, then the weights whose
   bits are set; 2: the number of weights, then of each the columns that are passed over before it, and the weight. */
static int32_t next_sum(rows *from, const void *values, int small, int columns)
{
    const int8_t *at = from->weights;
    int32_t sum = 0;
    int i = 0;
    (void)small;
    switch (from->storage) {
    case 0:
        for (; i < columns; i++)
            sum += values ? *at * VALUE(i) : 0, at++;
        break;
    case 1:
        for (; i < columns; i += 8) {
            uint8_t mask = (uint8_t)*at++;
            int column = i;
            for (; mask; mask >>= 1, column++)
                if (mask & 1)
                    sum += values ? *at * VALUE(column) : 0, at++;
        }
        break;
    default: {
        uint8_t count = (uint8_t)*at++;
        for (; count > 0; count--, i++, at++) {
            i += (uint8_t)*at++;
            sum += values ? *at * VALUE(i) : 0;
        }
    }
    }
    from->weights = at;
    return sum;
}

//? end
static rows rows_from(const matrix *of, int row, int columns)
{
    rows from;
    from.weights = of->weights;
    from.factor = of->factors + 1 + row;
    from.shift = of->factors[0] & 255;
//? any sparse
    from.storage = of->factors[0] >> 8;
    if (from.storage) {
        while (row-- > 0)
            next_sum(&from, 0, 0, columns);
        return from;
    }
//? end
    from.weights += (long)row * columns;
    return from;
}

static int64_t next_product(rows *from, const void *values, int small, int columns)
{
    int32_t sum = 0;
//? any sparse
    sum = next_sum(from, values, small, columns);
//? end
//? any dense
    const int8_t *at = from->weights;
    int i;
    (void)small;
    /* Four at a time: the loop costs as much as a product. */
    for (i = 0; i + 4 <= columns; i += 4, at += 4)
        sum += at[0] * VALUE(i) + at[1] * VALUE(i + 1) + at[2] * VALUE(i + 2) + at[3] * VALUE(i + 3);
    for (i = columns & 3; i > 0; i--)
        sum += *at++ * VALUE(columns - i);
    from->weights = at;
//? end
    return round_shift((int64_t)sum * *from->factor++, from->shift);
}

//? any lowrank
static void encode(const matrix *of, const void *values, int small, int columns, int16_t *codes, int rank,
                   uint32_t *saturations)
{
    rows right = rows_from(of, 0, columns);
    int i;
    for (i = 0; i < rank; i++)
        codes[i] = narrow(next_product(&right, values, small, columns), saturations);
}

//? end
//? any steps
/* An int32_t in two int16_t: the low half first. */
static int32_t join(const int16_t *halves)
{
    return (int32_t)((uint32_t)(uint16_t)halves[1] << 16 | (uint16_t)halves[0]);
}

static void halve(int32_t value, int16_t *halves)
{
    halves[0] = (int16_t)(uint16_t)((uint32_t)value & 0xffffu);
    halves[1] = (int16_t)(uint16_t)((uint32_t)value >> 16);
}

//? end
//? any mean
/* Sums of states over the steps, each in as many numbers as hold an int32_t, the lowest first. */
#define PARTS ((int)(4 / sizeof(ernn_number)))

static int32_t sum_at(const ernn_number *parts)
{
    uint32_t sum = 0;
    int i;
    for (i = PARTS - 1; i >= 0; i--)
        sum = sum << (32 / PARTS) | ((uint32_t)parts[i] & (0xffffffffu >> (32 - 32 / PARTS)));
    return (int32_t)sum;
}

static void store(uint32_t sum, ernn_number *parts)
{
    int i;
    for (i = 0; i < PARTS; i++)
        parts[i] = (ernn_number)(sum >> (i * (32 / PARTS)));
}

//? any deviation
/* Sums of squares, at most 2^62, the lower 32 bits first. */
static uint64_t squares_at(const ernn_number *parts)
{
    return (uint64_t)(uint32_t)sum_at(parts + PARTS) << 32 | (uint32_t)sum_at(parts);
}

/* The nearest whole number to the deviation: with sum = m steps + r, steps^2 variance = steps (squares - m (sum + r)) - r^2. */
static int64_t deviation_of(int64_t sum, int64_t squares, int64_t count, int64_t smallest)
{
    int64_t mean = sum / count, rest = sum % count, value, root = 0, bit = (int64_t)1 << 36;
    if (rest < 0) {
        mean--;
        rest += count;
    }
    value = squares - mean * (sum + rest) - (int64_t)((uint64_t)rest * (uint64_t)rest / (uint64_t)count);
    if (value < 0)
        value = 0;
    /* Four times the variance: its root, halved, is rounded to the nearest. */
    value = 4 * (value / count) + 4 * (value % count) / count + smallest;
    for (; bit > 0; bit >>= 2) {
        int64_t next = root + bit;
        root >>= 1;
        if (value >= next) {
            value -= next;
            root += bit;
        }
    }
    return (root + 1) >> 1;
}

//? end
/* What the readout needs of all states so far: sums, then sums of squares and largest values where they are asked for. */
static void keep_for_readout(ernn_number *kept, const ernn_number *values, int count, uint32_t steps, uint32_t *saturations)
{
    int i;
    (void)steps;
    for (i = 0; i < count; i++, kept += PARTS)
        store((uint32_t)whole((int64_t)sum_at(kept) + wide(values[i]), saturations), kept);
//? any deviation
    for (i = 0; i < count; i++, kept += 2 * PARTS) {
        int32_t value = wide(values[i]);
        uint64_t squares = squares_at(kept) + (uint64_t)(value * value), most = (uint64_t)1 << 62;
        squares = squares < most ? squares : most;
        store((uint32_t)(squares & 0xffffffffu), kept);
        store((uint32_t)(squares >> 32), kept + PARTS);
    }
//? end
//? any largest
    for (i = 0; i < count; i++)
        if (steps == 0 || values[i] > kept[i])
            kept[i] = values[i];
//? end
}

/* What the readout reads: means, deviations, largest values. */
static void summarize(const ernn_number *kept, int count, uint32_t steps, int64_t smallest, int16_t *out,
                      uint32_t *saturations)
{
    int64_t divisor = steps ? steps : 1;
    int i;
    (void)smallest;
    for (i = 0; i < count; i++) {
        int64_t sum = sum_at(kept + PARTS * i);
        out[i] = narrow((2 * sum + (sum < 0 ? -divisor : divisor)) / (2 * divisor), saturations);
    }
//? any deviation
    for (i = 0; i < count && steps; i++) {
        const ernn_number *squares = kept + PARTS * (count + 2 * i);
        out[count + i] = narrow(deviation_of(sum_at(kept + PARTS * i), (int64_t)squares_at(squares), divisor, smallest),
                                saturations);
    }
    for (i = 0; i < count && !steps; i++)
        out[count + i] = 0;
    kept += 2 * PARTS * count;
    out += count;
//? end
//? any largest
    for (i = 0; i < count; i++)
        out[count + i] = wide(kept[PARTS * count + i]);
//? end
}

//? end
//? any leaky
/* u = W x + b;  z = c0 h;  K times z = a z + e phi(R z + u);  h = z - s h.  R is dense, or c I + A B. */
typedef struct {
    int inputs, hidden, rank, activation, iterations, rows;
    int start, previous, identity, identity_shift;
    int h_places, phi_places, decay_places, gain_places;
    matrix w;
    const int32_t *b;
    matrix r, right;
    const int16_t *decay, *gain;
} leaky;

static void leaky_step(const leaky *cell, uint32_t step, const void *x, int small_x, ernn_number *h, int16_t *scratch,
                       uint32_t *saturations)
{
    int hidden = cell->hidden, rank = cell->rank, columns = rank ? rank : hidden, i, k;
    int16_t *z = scratch, *next = z + hidden, *drive = next + hidden, *codes = drive + 2 * hidden;
    const int16_t *source = rank ? codes : z;
    uint32_t row = step < (uint32_t)cell->rows ? step : (uint32_t)cell->rows - 1u;
    const int16_t *decay = cell->decay + row * (uint32_t)cell->iterations;
    const int16_t *gain = cell->gain + row * (uint32_t)cell->iterations;
    rows from = rows_from(&cell->w, 0, cell->inputs);
    for (i = 0; i < hidden; i++)
        halve(whole(next_product(&from, x, small_x, cell->inputs) + cell->b[i], saturations), drive + 2 * i);
    for (i = 0; i < hidden; i++)
        z[i] = narrow((int64_t)wide(h[i]) * cell->start, saturations);
    for (k = 0; k < cell->iterations; k++) {
//? any lowrank
        if (rank)
            encode(&cell->right, z, 0, hidden, codes, rank, saturations);
//? end
        from = rows_from(&cell->r, 0, columns);
        for (i = 0; i < hidden; i++) {
            int64_t own = round_shift((int64_t)z[i] * cell->identity, cell->identity_shift);
            int32_t sum = whole(next_product(&from, source, 0, columns) + own + join(drive + 2 * i), saturations);
            int16_t phi = activate(cell->activation, cell->phi_places, sum, saturations);
            next[i] = combine((int64_t)decay[k] * z[i], cell->decay_places + cell->h_places, (int64_t)gain[k] * phi,
                              cell->gain_places + cell->phi_places, cell->h_places, saturations);
        }
        for (i = 0; i < hidden; i++)
            z[i] = next[i];
    }
    for (i = 0; i < hidden; i++)
        h[i] = keep(narrow(z[i] - (int64_t)wide(h[i]) * cell->previous, saturations), step, i, saturations);
}

//? end
//? any gated
/* sum_g = [W_g x] + [R_g h] + b_g for each group g and unit; then the cell's formula. R is dense, or A B with one B for all. */
typedef struct {
    int kind, inputs, hidden, rank, gate, activation, groups;
    int input_from, input_to, state_from, state_to, reset;
    int identity, identity_shift, one, two; /* one, two: 14 places */
    int h_places, memory_places, phi_places;
    matrix w;
    const int32_t *b;
    matrix r, right;
} gated;

/* What the sums of a step read: for each group its rows of w and of r. Each group is asked for unit by unit, once. */
typedef struct {
    const gated *cell;
    uint32_t step;
    const void *x, *state;
    int small_x, small_state;
    const int16_t *reset;
    rows w[4], r[4];
    uint32_t *saturations;
} sources;

static int32_t group_sum(sources *from, int group, int unit)
{
    const gated *cell = from->cell;
    int64_t sum = cell->b[(long)group * cell->hidden + unit];
    if (group >= cell->input_from && group < cell->input_to)
        sum += next_product(from->w + group, from->x, from->small_x, cell->inputs);
    if (group >= cell->state_from && group < cell->state_to) {
        int last = cell->reset && group + 1 == cell->groups;
        sum += next_product(from->r + group, last ? from->reset : from->state, last ? 0 : from->small_state,
                            cell->rank ? cell->rank : cell->hidden);
    }
    return whole(sum, from->saturations);
}

//? any lstm gruafter grubefore ugrnn
static int32_t gate_of(sources *from, int group, int unit)
{
    return activate(from->cell->gate, 15, group_sum(from, group, unit), from->saturations);
}

//? end
static int16_t phi_of(const sources *from, int32_t sum)
{
    return activate(from->cell->activation, from->cell->phi_places, sum, from->saturations);
}

//? any gruafter grubefore ugrnn fastgrnn
/* gate old + other new, with 15 places */
static int16_t mix(const sources *from, int32_t gate, int16_t h, int32_t other, int16_t phi)
{
    const gated *cell = from->cell;
    return combine((int64_t)gate * h, 15 + cell->h_places, (int64_t)other * phi, 15 + cell->phi_places, cell->h_places,
                   from->saturations);
}

//? end
static int16_t gated_unit(sources *from, int unit, int16_t h, ernn_number *memory)
{
    const gated *cell = from->cell;
    uint32_t *saturations = from->saturations;
    int32_t z, sum;
    int16_t c;
    (void)memory, (void)saturations, (void)z, (void)sum, (void)c;
    switch (cell->kind) {
//? any lstm
    case 2: { /* LSTM: groups i, f, o, g */
        int32_t i = gate_of(from, 0, unit), f = gate_of(from, 1, unit), o = gate_of(from, 2, unit);
        c = phi_of(from, group_sum(from, 3, unit));
        *memory = keep(combine((int64_t)f * wide(*memory), 15 + cell->memory_places, (int64_t)i * c, 15 + cell->phi_places,
                               cell->memory_places, saturations), from->step, cell->hidden + unit, saturations);
        c = phi_of(from, (int32_t)wide(*memory) * ((int32_t)1 << (16 - cell->memory_places)));
        return combine((int64_t)o * c, 15 + cell->phi_places, 0, 0, cell->h_places, saturations);
    }
//? end
//? any gruafter
    case 3: /* GRU, reset after the product: groups n of the input, r, z, n of the state */
        z = gate_of(from, 1, unit);
        sum = group_sum(from, 3, unit);
        sum = whole(round_shift((int64_t)z * sum, 15) + group_sum(from, 0, unit), saturations);
        c = phi_of(from, sum);
        z = gate_of(from, 2, unit);
        return mix(from, z, h, 32768 - z, c);
//? end
//? any grubefore
    case 4: /* GRU, reset before the product: groups r, z, n */
        c = phi_of(from, group_sum(from, 2, unit));
        z = gate_of(from, 1, unit);
        return mix(from, z, h, 32768 - z, c);
//? end
//? any ugrnn
    case 5: /* UGRNN: groups z, c */
        c = phi_of(from, group_sum(from, 1, unit));
        z = gate_of(from, 0, unit);
        return mix(from, z, h, 32768 - z, c);
//? end
//? any fastgrnn
    case 6: /* FastGRNN: groups z, c, p; scalars zeta, nu */
        sum = group_sum(from, 2, unit);
        z = activate(cell->gate, 15, whole((int64_t)group_sum(from, 0, unit) + sum, saturations), saturations);
        c = phi_of(from, whole((int64_t)group_sum(from, 1, unit) + sum, saturations));
        return mix(from, z, h, (int32_t)(round_shift((int64_t)cell->one * (32768 - z), 14) + (int64_t)cell->two * 2), c);
//? end
//? any antisymmetric
    case 7: /* gated AntisymmetricRNN: groups z, c, p; scalar epsilon */
        sum = whole(round_shift((int64_t)h * cell->identity, cell->identity_shift) + group_sum(from, 2, unit), saturations);
        z = activate(cell->gate, 15, whole((int64_t)group_sum(from, 0, unit) + sum, saturations), saturations);
        c = phi_of(from, whole((int64_t)group_sum(from, 1, unit) + sum, saturations));
        return combine(h, cell->h_places, cell->one * round_shift((int64_t)z * c, 15), 14 + cell->phi_places, cell->h_places,
                       saturations);
//? end
    default:
        return h;
    }
}

static void gated_step(const gated *cell, uint32_t step, const void *x, int small_x, ernn_number *h, ernn_number *memory,
                       int16_t *scratch, uint32_t *saturations)
{
    int hidden = cell->hidden, i;
    int16_t *next = scratch;
    sources from;
    from.cell = cell;
    from.step = step;
    from.x = x;
    from.small_x = small_x;
    from.state = h;
    from.small_state = SMALL;
    from.reset = 0;
    from.saturations = saturations;
//? any lowrank
    if (cell->rank) {
        encode(&cell->right, h, SMALL, hidden, next + hidden, cell->rank, saturations);
        from.state = next + hidden;
        from.small_state = 0;
    }
//? end
    for (i = 0; i < cell->groups; i++) {
        if (i >= cell->input_from && i < cell->input_to)
            from.w[i] = rows_from(&cell->w, (i - cell->input_from) * hidden, cell->inputs);
        if (i >= cell->state_from && i < cell->state_to)
            from.r[i] = rows_from(&cell->r, (i - cell->state_from) * hidden, cell->rank ? cell->rank : hidden);
    }
//? any grubefore
    if (cell->reset) {
        int16_t *reset = next + hidden + cell->rank;
        for (i = 0; i < hidden; i++)
            reset[i] = narrow(round_shift((int64_t)gate_of(&from, 0, i) * wide(h[i]), 15), saturations);
        from.reset = reset;
//? any lowrank
        if (cell->rank) {
            encode(&cell->right, reset, 0, hidden, reset + hidden, cell->rank, saturations);
            from.reset = reset + hidden;
        }
//? end
    }
//? end
    for (i = 0; i < hidden; i++)
        next[i] = gated_unit(&from, i, wide(h[i]), memory ? memory + i : 0);
    for (i = 0; i < hidden; i++)
        h[i] = keep(next[i], step, i, saturations);
}

//? end
//? any deep
/* As the leaky family, with a network in the place of phi(R z + u): a_1 = phi(U z + W x + b_1), a_j = phi(U_j a_{j-1} + b_j). */
typedef struct {
    int width;
    matrix weight;
    const int32_t *bias;
} deep_layer;

typedef struct {
    int inputs, hidden, activation, iterations, rows, layers, widest;
    int start, previous;
    int h_places, phi_places, decay_places, gain_places;
    matrix w;
    const deep_layer *network;
    const int16_t *decay, *gain;
} deep;

static void deep_step(const deep *cell, uint32_t step, const void *x, int small_x, ernn_number *h, int16_t *scratch,
                      uint32_t *saturations)
{
    int hidden = cell->hidden, first = cell->network[0].width, i, j, k;
    int16_t *z = scratch, *drive = z + hidden, *output = drive + 2 * first, *source = output + cell->widest;
    uint32_t row = step < (uint32_t)cell->rows ? step : (uint32_t)cell->rows - 1u;
    const int16_t *decay = cell->decay + row * (uint32_t)cell->iterations;
    const int16_t *gain = cell->gain + row * (uint32_t)cell->iterations;
    rows from = rows_from(&cell->w, 0, cell->inputs);
    for (i = 0; i < first; i++)
        halve(whole(next_product(&from, x, small_x, cell->inputs) + cell->network[0].bias[i], saturations), drive + 2 * i);
    for (i = 0; i < hidden; i++)
        z[i] = narrow((int64_t)wide(h[i]) * cell->start, saturations);
    for (k = 0; k < cell->iterations; k++) {
        int columns = hidden;
        for (j = 0; j < cell->layers; j++) {
            const deep_layer *layer = cell->network + j;
            int16_t *swapped = source;
            from = rows_from(&layer->weight, 0, columns);
            for (i = 0; i < layer->width; i++) {
                int64_t own = j ? layer->bias[i] : join(drive + 2 * i);
                int32_t sum = whole(next_product(&from, j ? source : z, 0, columns) + own, saturations);
                output[i] = activate(cell->activation, cell->phi_places, sum, saturations);
            }
            columns = layer->width;
            source = output;
            output = swapped;
        }
        for (i = 0; i < hidden; i++)
            z[i] = combine((int64_t)decay[k] * z[i], cell->decay_places + cell->h_places, (int64_t)gain[k] * source[i],
                           cell->gain_places + cell->phi_places, cell->h_places, saturations);
    }
    for (i = 0; i < hidden; i++)
        h[i] = keep(narrow(z[i] - (int64_t)wide(h[i]) * cell->previous, saturations), step, i, saturations);
}

//? end
