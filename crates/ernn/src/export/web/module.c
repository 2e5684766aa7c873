/* A model as a WebAssembly module: one stream, whose input and logits lie in the module's memory. */
#include "ernn_.h"

static ernn_state state;
static ernn_scratch scratch;
static float input[ERNN_INPUTS];
static ernn_logit logits[ERNN_OUTPUTS];

float *ernn_input(void)
{
    return input;
}

ernn_logit *ernn_output(void)
{
    return logits;
}

void ernn_start(void)
{
    ernn_reset(&state);
}

/* One step with the input: its logits follow. Gives 0, or -1 and no step if a value is not finite or a token not known. */
int ernn_step(void)
{
//? any numbers
    int refused = ernn_push(&state, &scratch, input);
//? end
//? any tokens
    int refused = input[0] >= 0.0f ? ernn_push_token(&state, &scratch, (uint32_t)input[0]) : -1;
//? end
    if (!refused)
        ernn_logits(&state, &scratch, logits);
    return refused;
}

/* Numbers that did not fit their range since the start; 0 of floating-point numbers, which have none. */
uint32_t ernn_saturated(void)
{
//? any int8
    return state.saturations;
//? end
//? any float
    return 0;
//? end
}
//? any listens
//? any sound

static ernn_sound sound;
static ernn_work work;
static int16_t samples[ERNN_HOP];

static void ernn_ears_reset(void)
{
    ernn_sound_reset(&sound);
}

int16_t *ernn_samples(void)
{
    return samples;
}
//? end

static ernn_windows windows;
static ernn_events events;
static ernn_logit said[ERNN_OUTPUTS];
static float heard[ERNN_INPUTS];
static int begun;

/* A stream without an end: the next step is a first one. */
void ernn_listen_reset(void)
{
    ernn_windows_reset(&windows);
    ernn_events_reset(&events);
    begun = -1;
//? any sound
    ernn_ears_reset();
//? end
}

/* The values of the last step, the logits of the last window, the class whose event began with it or -1, and the one under way or -1. */
float *ernn_heard_step(void)
{
    return heard;
}

ernn_logit *ernn_said(void)
{
    return said;
}

int ernn_begun(void)
{
    return begun;
}

int ernn_current(void)
{
    return events.current;
}

/* Takes the step in `heard`: 1, and 2 more if a window has ended with it; -1 and no step if a value is not finite. */
static int take(void)
{
    int ended = ernn_windows_push(&windows, &scratch, heard, said);
    if (ended < 0)
        return -1;
    begun = ended ? ernn_events_push(&events, said) : -1;
    return 1 + 2 * ended;
}

//? any sound
/* Takes so many of the samples, ERNN_HOP at most; 0 if no step ended with them, else as above. */
int ernn_hear(int count)
{
    const int16_t *next = samples;
    return ernn_sound_push(&sound, &work, &next, &count, heard) ? take() : 0;
}

//? end
/* One step with the input. */
int ernn_watch(void)
{
    int i;
    for (i = 0; i < ERNN_INPUTS; i++)
        heard[i] = input[i];
    return take();
}
//? end
