/* Runs the exported model on the host: the self-test, then sequences from stdin, with the logits after each step to stdout, of whole numbers
   the saturations behind each sequence.
   stdin: the number of sequences, then for each the number of its steps and their values; all in the machine's own bytes. */
#include "ernn_.h"
#include <stdio.h>

int main(void)
{
    static ernn_state state;
    static ernn_scratch scratch;
    static ernn_logit logits[ERNN_OUTPUTS];
    uint32_t sequences, steps;
    int failed = ernn_selftest();
    if (failed)
        return failed;
    if (fread(&sequences, 4, 1, stdin) != 1)
        return 101;
    for (; sequences > 0; sequences--) {
        ernn_reset(&state);
        if (fread(&steps, 4, 1, stdin) != 1)
            return 102;
        for (; steps > 0; steps--) {
//? any numbers
            static float input[ERNN_INPUTS];
            if (fread(input, 4, ERNN_INPUTS, stdin) != ERNN_INPUTS || ernn_push(&state, &scratch, input))
                return 103;
//? end
//? any tokens
            float token;
            if (fread(&token, 4, 1, stdin) != 1 || ernn_push_token(&state, &scratch, (uint32_t)token))
                return 103;
//? end
            ernn_logits(&state, &scratch, logits);
//? any labels
            {
                static float probabilities[ERNN_OUTPUTS];
                static unsigned char labels[ERNN_OUTPUTS];
                int i, count = ernn_labels(logits, labels);
                if (ernn_probabilities(logits, probabilities) || count < 0)
                    return 106;
                for (i = 0; i < ERNN_OUTPUTS; i++) {
                    if (labels[i] != (probabilities[i] >= 0.5f))
                        return 107;
                    count -= labels[i];
                }
                if (count)
                    return 108;
            }
//? end
//? any softmax
            {
                static float probabilities[ERNN_OUTPUTS];
                float sum = 0.0f;
                int i;
                if (ernn_probabilities(logits, probabilities) != ernn_class(logits))
                    return 106;
                for (i = 0; i < ERNN_OUTPUTS; i++)
                    sum += probabilities[i];
                if (!(sum > 0.999f && sum < 1.001f))
                    return 107;
            }
//? end
            if (fwrite(logits, 4, ERNN_OUTPUTS, stdout) != ERNN_OUTPUTS)
                return 104;
        }
//? any int8
        if (fwrite(&state.saturations, 4, 1, stdout) != 1)
            return 105;
//? end
    }
    return 0;
}
