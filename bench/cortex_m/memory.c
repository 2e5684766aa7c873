/* What compilers expect of a C library, for a machine that has none. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count)
{
    unsigned char *left = to;
    const unsigned char *right = from;
    while (count--)
        *left++ = *right++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *left = to;
    const unsigned char *right = from;
    if (left < right)
        return memcpy(to, from, count);
    while (count--)
        left[count] = right[count];
    return to;
}

void *memset(void *to, int value, size_t count)
{
    unsigned char *left = to;
    while (count--)
        *left++ = (unsigned char)value;
    return to;
}

int memcmp(const void *one, const void *other, size_t count)
{
    const unsigned char *left = one, *right = other;
    for (; count--; left++, right++)
        if (*left != *right)
            return *left - *right;
    return 0;
}

#ifdef __arm__
/* Their names in ARM's run-time library; the numbers tell how the addresses are aligned. */
#define NAMES(suffix) \
    void __aeabi_memcpy##suffix(void *to, const void *from, size_t count) { memcpy(to, from, count); } \
    void __aeabi_memmove##suffix(void *to, const void *from, size_t count) { memmove(to, from, count); } \
    void __aeabi_memset##suffix(void *to, size_t count, int value) { memset(to, value, count); } \
    void __aeabi_memclr##suffix(void *to, size_t count) { memset(to, 0, count); }
NAMES()
NAMES(4)
NAMES(8)
#endif
