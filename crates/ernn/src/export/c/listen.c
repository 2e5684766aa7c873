/* Streams without an end: windows that begin with a state of their own, and events that their answers make. All but the logits is whole
   numbers: every machine decides alike. */
void ernn_windows_reset(ernn_windows *windows)
{
    int i;
    for (i = 0; i < ERNN_COPIES; i++)
        ernn_reset(&windows->copies[i]);
    windows->wait = 0;
    windows->next = 0;
}

int ernn_windows_push(ernn_windows *windows, ernn_scratch *scratch, const float input[ERNN_INPUTS], ernn_logit logits[ERNN_OUTPUTS])
{
    int begins = windows->wait == 0 ? windows->next : -1, ended = 0, i;
    for (i = 0; i < ERNN_INPUTS; i++)
        if (!(input[i] - input[i] == 0.0f))
            return -1;
    for (i = 0; i < ERNN_COPIES; i++) {
        ernn_state *state = &windows->copies[i];
        if (i == begins)
            ernn_reset(state);
        else if (state->steps == 0 || state->steps >= ERNN_LISTEN)
            continue;
        ernn_push(state, scratch, input);
        if (state->steps == ERNN_LISTEN) {
            ernn_logits(state, scratch, logits);
            ended = 1;
        }
    }
    if (begins >= 0) {
        windows->wait = ERNN_EVERY;
        windows->next = windows->next + 1 < ERNN_COPIES ? windows->next + 1 : 0;
    }
    windows->wait--;
    return ended;
}

/* 2^15 e^-x of an x with 16 binary places. */
static uint16_t falls(uint32_t x)
{
    uint64_t power = ((uint64_t)x * 94548u) >> 16;
    uint32_t fraction = (uint32_t)power & 0xffffu, line = fraction >> 11, between;
    between = exponentials[line] - ((((uint32_t)exponentials[line] - exponentials[line + 1u]) * (fraction & 0x7ffu)) >> 11);
    return power >> 16 > 15 ? 0 : (uint16_t)(between >> (power >> 16));
}

//? any float
/* A logit with 16 binary places. */
static int32_t places(float logit)
{
    if (!(logit - logit == 0.0f))
        return logit > 0.0f ? 2147418112 : logit < 0.0f ? -2147418112 : 0;
    logit = logit < -32767.0f ? -32767.0f : logit > 32767.0f ? 32767.0f : logit;
    logit *= 65536.0f;
    return (int32_t)(logit < 0.0f ? logit - 0.5f : logit + 0.5f);
}

//? end
/* The probability of each logit times 2^15. */
static void weigh(const ernn_logit *logits, uint16_t *shares)
{
    int32_t top = 0;
    uint32_t sum = 0;
    int pass, i;
    for (pass = 0; pass < 3; pass++)
        for (i = 0; i < ERNN_OUTPUTS; i++) {
//? any float
            int32_t logit = places(logits[i]);
//? end
//? any int8
            int32_t logit = logits[i];
//? end
            if (pass == 0)
                top = i == 0 || logit > top ? logit : top;
            else if (pass == 1)
                sum += shares[i] = falls((uint32_t)top - (uint32_t)logit);
            else
                shares[i] = (uint16_t)(((uint32_t)shares[i] << 15) / sum);
        }
}

static uint32_t total(const ernn_events *events, int place)
{
    uint32_t sum = 0;
    int i;
    for (i = 0; i < events->filled; i++)
        sum += events->shares[i][place];
    return sum;
}

void ernn_events_reset(ernn_events *events)
{
    events->filled = 0;
    events->place = 0;
    events->current = -1;
    events->candidate = 0;
    events->count = 0;
    events->wait = 0;
}

int ernn_events_push(ernn_events *events, const ernn_logit logits[ERNN_OUTPUTS])
{
    int best = 0, i;
    weigh(logits, events->shares[events->place]);
    events->place++;
    if (events->filled < events->place)
        events->filled = events->place;
    if (events->place >= ERNN_AVERAGE)
        events->place = 0;
    if (events->current >= 0) {
        if (total(events, events->current) < (uint32_t)ERNN_OFF * (uint32_t)events->filled) {
            events->current = -1;
            events->wait = ERNN_REST;
            events->count = 0;
        }
        return -1;
    }
    if (events->wait > 0) {
        events->wait--;
        return -1;
    }
    for (i = 1; i < ERNN_OUTPUTS; i++)
        if (total(events, i) > total(events, best))
            best = i;
    if (!is_event[best] || total(events, best) < (uint32_t)ERNN_ON * (uint32_t)events->filled) {
        events->count = 0;
        return -1;
    }
    events->count = best == events->candidate ? events->count + (events->count < 0xffff) : 1;
    events->candidate = best;
    if (events->count < ERNN_LEAST)
        return -1;
    events->current = best;
    return best;
}
