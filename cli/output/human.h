/* human.h - formats numbers for people. */
#ifndef CLI_OUTPUT_HUMAN_H
#define CLI_OUTPUT_HUMAN_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* These format into buf and return it.
 * "999", "12.3 k", "1.56 M": for rates and progress. */
const char *human_count(char *buf, size_t size, uint64_t n);
/* "1,234,567"; 32 bytes are always enough. */
const char *human_grouped(char *buf, size_t size, uint64_t n);
/* "230 MB": powers of 1000, as disks are sold. */
const char *human_bytes(char *buf, size_t size, uint64_t n);
/* "3.21 s", "12.5 ms", "800 ns". */
const char *human_ns(char *buf, size_t size, int64_t ns);
/* Writes n / d with `decimals` decimals, truncated; the decimal point is '.' in
 * every locale. */
void human_put_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals);
/* Writes the same to out. */
void human_put_grouped(FILE *out, uint64_t n);
#endif
