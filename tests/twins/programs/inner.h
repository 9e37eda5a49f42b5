/* inner.h - the innermost functions of calls.c. */
#include <stddef.h>

extern volatile unsigned long sink;

unsigned long inner_hash(unsigned long n);
unsigned long inner_sum(const unsigned char *b, size_t n);
unsigned long inner_outer(unsigned long n);
unsigned long inner_assembly(unsigned long n);

unsigned long leaf_plain(unsigned long n);
unsigned long leaf_saves(unsigned long n);
unsigned long leaf_frame(unsigned long n);
