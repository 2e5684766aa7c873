/* Start, stack and clock of the board, and the measurements: the self-test, then steps of one stream, as
   `selftest RESULT stack BYTES instructions PER_STEP`, of a model that listens ` listen PER_STEP` of its windows, of one that hears
   ` hear PER_STEP` of its front end.

   qemu with `-icount shift=0` moves its clock by one nanosecond an instruction; SysTick runs at 25 MHz, so that a tick is 40
   instructions. The stack is painted before, and what is no longer painted afterwards was used. */
#include <stdint.h>
#include HEADER

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)

extern uint32_t data_start, data_end, data_source, bss_start, bss_end, stack_end;
#define PAINTED 16384u
#define PAINT 0xdeadbeefu
#define STEPS 64
#define REGISTER(address) (*(volatile uint32_t *)(address))

void reset(void);
static void fault(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_end, (const void *)reset, (const void *)fault, (const void *)fault, (const void *)fault, (const void *)fault,
    (const void *)fault
};

static int call_host(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void say(const char *text)
{
    call_host(4, text);
}

static void say_number(uint32_t number)
{
    char digits[11];
    int place = 10;
    digits[10] = 0;
    do {
        digits[--place] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number);
    say(digits + place);
}

static void leave(uint32_t reason)
{
    call_host(0x18, (const void *)reason);
    for (;;)
        ;
}

static void fault(void)
{
    say("fault\n");
    leave(0x20024);
}

/* Not inlined: their stack is the model's. */
#ifdef RUST
__attribute__((noinline)) static int selftest(void)
{
    return rust_selftest();
}

__attribute__((noinline)) static void steps(void)
{
    rust_steps(STEPS);
}
#else
static JOIN(MODEL, _state) state;
static JOIN(MODEL, _scratch) scratch;
static float input[JOIN(UPPER, _INPUTS)];

__attribute__((noinline)) static int selftest(void)
{
    return JOIN(MODEL, _selftest)();
}

__attribute__((noinline)) static void steps(void)
{
    int i;
    JOIN(MODEL, _reset)(&state);
    for (i = 0; i < STEPS; i++)
        JOIN(MODEL, _push)(&state, &scratch, input);
}
#endif

#ifdef LISTENS
/* Windows and events, once all windows are under way. */
static JOIN(MODEL, _windows) windows;
static JOIN(MODEL, _events) events;
static JOIN(MODEL, _logit) logits[JOIN(UPPER, _OUTPUTS)];

static void listen(int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (JOIN(MODEL, _windows_push)(&windows, &scratch, input, logits) == 1)
            JOIN(MODEL, _events_push)(&events, logits);
}
#endif

#ifdef HEARS
static JOIN(MODEL, _sound) sound;
static JOIN(MODEL, _work) work;

static void hear(int count)
{
    static uint32_t noise = 1;
    static int16_t block[JOIN(UPPER, _HOP)];
    int i;
    for (; count > 0; count--) {
        const int16_t *samples = block;
        int left = JOIN(UPPER, _HOP);
        for (i = 0; i < left; i++) {
            noise = noise * 1664525u + 1013904223u;
            block[i] = (int16_t)(noise >> 18);
        }
        while (JOIN(MODEL, _sound_push)(&sound, &work, &samples, &left, input))
            ;
    }
}
#endif

static uint32_t ticks(void)
{
    return 0xffffffu - REGISTER(0xe000e018);
}

static void measure(void)
{
    uint32_t *lowest = &stack_end - PAINTED / 4u, *here = (uint32_t *)__builtin_frame_address(0) - 16, *place;
    uint32_t from;
    int result;
    for (place = lowest; place < here; place++)
        *place = PAINT;
    result = selftest();
    for (place = lowest; *place == PAINT; place++)
        ;
    say("selftest ");
    say_number((uint32_t)result);
    say(" stack ");
    say_number((uint32_t)((char *)here - (char *)place));
    REGISTER(0xe000e014) = 0xffffffu;
    REGISTER(0xe000e018) = 0u;
    REGISTER(0xe000e010) = 5u;
    while (REGISTER(0xe000e018) == 0u)
        ;
    from = ticks();
    steps();
    say(" instructions ");
    say_number((ticks() - from) * 40u / STEPS);
#ifdef LISTENS
    JOIN(MODEL, _windows_reset)(&windows);
    JOIN(MODEL, _events_reset)(&events);
    listen(JOIN(UPPER, _LISTEN));
    from = ticks();
    listen(JOIN(UPPER, _LISTEN));
    say(" listen ");
    say_number((ticks() - from) * 40u / JOIN(UPPER, _LISTEN));
#endif
#ifdef HEARS
    JOIN(MODEL, _sound_reset)(&sound);
    hear(4);
    from = ticks();
    hear(STEPS);
    say(" hear ");
    say_number((ticks() - from) * 40u / STEPS);
#endif
    say("\n");
    leave(result ? 0x20024 : 0x20026);
}

void reset(void)
{
    uint32_t *to, *from = &data_source;
    REGISTER(0xe000ed88) |= 0xfu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\nisb");
    for (to = &data_start; to < &data_end; to++)
        *to = *from++;
    for (to = &bss_start; to < &bss_end; to++)
        *to = 0;
    measure();
}
