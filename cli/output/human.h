/* human.h - numbers as people read them. */
#ifndef CLI_OUTPUT_HUMAN_H
#define CLI_OUTPUT_HUMAN_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All give buf. "999", "12.3 k", "1.56 M". */
const char *human_count(char *buf, size_t size, uint64_t n);
/* "230 MB": powers of 1000, as disks are sold. */
const char *human_bytes(char *buf, size_t size, uint64_t n);
/* "3.21 s", "12.5 ms", "800 ns". */
const char *human_ns(char *buf, size_t size, int64_t ns);
/* Writes n / d with `decimals` digits behind the point, cut, not rounded; the
 * point is a point in every locale. */
void human_put_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals);
/* Writes n as 1,234,567. */
void human_put_grouped(FILE *out, uint64_t n);
#endif
