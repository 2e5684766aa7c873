#ifndef ERNN_H
#define ERNN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream: copy it to save it, copy it back to restore it. Any number of streams share one scratch, one at a time. */
typedef struct {
    ernn_number values[ERNN_STATE];
    uint32_t steps;
//? any int8
    uint32_t saturations; /* numbers that did not fit their range and became its end */
//? end
} ernn_state;

typedef struct {
//? any float
    float values[ERNN_SCRATCH];
//? end
//? any int8
    int16_t values[ERNN_SCRATCH];
//? end
} ernn_scratch;

/* The next step is a first one. A state must be reset before it is used. */
void ernn_reset(ernn_state *state);

//? any numbers
/* One step with raw values; they are normalized here. Gives 0, or -1 and no step if a value is not finite. */
int ernn_push(ernn_state *state, ernn_scratch *scratch, const float input[ERNN_INPUTS]);

//? any int8
/* The same with whole numbers of a sensor: each value is input[i] * unit[i], unit being what one count of channel i is. The bits are
   those of ernn_push with these products. */
int ernn_push_int16(ernn_state *state, ernn_scratch *scratch, const int16_t input[ERNN_INPUTS], const float unit[ERNN_INPUTS]);

//? end
//? end
//? any tokens
/* One step with a token. Gives 0, or -1 and no step if it is not below ERNN_INPUTS. */
int ernn_push_token(ernn_state *state, ernn_scratch *scratch, uint32_t token);

//? end
//? any sound
/* A sound whose samples come bit by bit. */
typedef struct {
    int16_t samples[ERNN_FRAME]; /* the first `filled` are those of the frame that is to come */
    int16_t before;              /* the sample before them */
    int16_t filled;
    int16_t fresh; /* whether there is a sample that was in no frame */
} ernn_sound;

/* What making a step needs besides; any number of sounds share one. */
typedef struct {
    int32_t values[ERNN_WORK];
} ernn_work;

/* In ernn_sound.c: the next sample is a first one. A sound must be reset before it is used. */
void ernn_sound_reset(ernn_sound *sound);

/* Takes samples (16 bits, ERNN_RATE a second) up to the end of a frame, and moves *samples and *count on. Gives 1 if a frame ended: its
   features are a step for ernn_push, and there may be more; 0 if all were taken. */
int ernn_sound_push(ernn_sound *sound, ernn_work *work, const int16_t **samples, int *count, float features[ERNN_INPUTS]);

/* The end of a sound, if it has one: gives 1 if its last samples, filled up with silence, are one more step. What follows is another sound. */
int ernn_sound_end(ernn_sound *sound, ernn_work *work, float features[ERNN_INPUTS]);

//? end
//? any choice labels
/* What the model says after the steps so far; a logit divided by ERNN_LOGIT_SCALE is the number of the trained model. */
//? end
//? any value
/* What the model says after the steps so far; ernn_value makes the number of it. */
//? end
//? any values
/* What the model says after the steps so far; ernn_values makes the numbers of it. */
//? end
void ernn_logits(const ernn_state *state, ernn_scratch *scratch, ernn_logit logits[ERNN_OUTPUTS]);

//? any value
/* The number that the model was trained for, in the unit of the training data. */
float ernn_value(const ernn_logit logits[ERNN_OUTPUTS]);

//? end
//? any values
/* The numbers that the model was trained for, in the units of the training data; the names are in the comment above and in the _info.c.
//? any quantiles
   ERNN_QUANTILES of them are quantiles of one number, which rise.
//? end
*/
void ernn_values(const ernn_logit logits[ERNN_OUTPUTS], float values[ERNN_OUTPUTS]);

//? end
//? any choice
//? any float
/* The place of the largest logit, the first of equals; -1 if a logit is not finite, as after values far beyond those of the training. */
//? end
//? any int8
/* The place of the largest logit, the first of equals. */
//? end
int ernn_class(const ernn_logit logits[ERNN_OUTPUTS]);

//? end
//? any labels
/* labels[i] becomes 1 where label i holds, its probability being 1/2 or more, else 0; several can hold. Gives how many hold.
//? any float
   -1, and nothing written, if a logit is not finite, as after values far beyond those of the training.
//? end
*/
int ernn_labels(const ernn_logit logits[ERNN_OUTPUTS], unsigned char labels[ERNN_OUTPUTS]);

//? end
//? any labels
/* In ernn_info.c: the probability of each label, whatever those of the others are; gives 0, or -1, and nothing written, if a logit is not
   finite. */
int ernn_probabilities(const ernn_logit logits[ERNN_OUTPUTS], float probabilities[ERNN_OUTPUTS]);

//? end
//? any softmax
/* In ernn_info.c: the probability of each output, and the place of the largest; -1, and nothing written, where ernn_class gives -1. */
int ernn_probabilities(const ernn_logit logits[ERNN_OUTPUTS], float probabilities[ERNN_OUTPUTS]);

//? end
//? any listens
/* A stream without an end, which is read in windows: a state that goes on for ever has been nowhere like it in training. */
typedef struct {
    ernn_state copies[ERNN_COPIES];
    int32_t wait; /* steps until the next window begins */
    int32_t next; /* the copy that it will be */
} ernn_windows;

/* In ernn_listen.c: the next step is a first one. Windows must be reset before they are used. */
void ernn_windows_reset(ernn_windows *windows);

/* One step with raw values. Gives 1 if a window has ended, whose logits are then in logits; 0 if none has; -1 and no step if a value is not
   finite. */
int ernn_windows_push(ernn_windows *windows, ernn_scratch *scratch, const float input[ERNN_INPUTS], ernn_logit logits[ERNN_OUTPUTS]);

/* The events of a stream: what its windows say, averaged, with a threshold to begin and one to end. */
typedef struct {
    uint16_t shares[ERNN_AVERAGE][ERNN_OUTPUTS]; /* probabilities of the last windows, times 2^15 */
    uint16_t filled, place, count, wait;
    int16_t candidate;
    int16_t current; /* the class of the event that is under way, or -1 */
} ernn_events;

/* In ernn_listen.c: the next window is a first one. Events must be reset before they are used. */
void ernn_events_reset(ernn_events *events);

/* Takes the logits of a window. Gives the class whose event begins with it, or -1; events->current says which is under way. */
int ernn_events_push(ernn_events *events, const ernn_logit logits[ERNN_OUTPUTS]);

//? end
//? any classes
/* In ernn_info.c: the name of each class or label, in the order of the logits. */
extern const char *const ernn_class_names[ERNN_OUTPUTS];

//? end
//? any values
/* In ernn_info.c: the name of each number, in the order of ernn_values. */
extern const char *const ernn_value_names[ERNN_OUTPUTS];

//? end
//? any numbers
/* In ernn_info.c: the name of each value of a step. */
extern const char *const ernn_input_names[ERNN_INPUTS];

//? end
/* In ernn_selftest.c: runs stored inputs and compares. Gives 0, or the number of the first sequence that came out wrong
//? any sound
   (one more than there are: the features of sound)
//? end
//? any listens
   (two more: windows or events of a stream)
//? end
   */
int ernn_selftest(void);

#ifdef __cplusplus
}
#endif

#endif
