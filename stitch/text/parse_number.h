/* parse_number.h - decimal numbers and durations that users type.
 *
 * strtod() is of no use for numbers: it takes "0x1p3" and "nan", and wants
 * "0,1" in some locales. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Reads a number without a sign, "12", "12.5" or ".5", as a multiple of
 * 10^-places, exactly; further decimals are cut. Moves *p behind it. Returns 0,
 * or -1 if there is no digit, or if it does not fit. */
int parse_decimal(const char **p, unsigned int places, int64_t *out);
/* Reads a whole text as a time with its unit: "200ms", "1.5s", "5m", "2h" or
 * "1d". Returns 0, or -1 if it is none, or if it does not fit. */
int parse_duration(const char *text, int64_t *ns);
