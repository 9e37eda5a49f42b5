/* plain.h - names from captures as text that is safe to show: every unit is
 * a whole printable character, or an escape for what is not one. */
#ifndef CLI_OUTPUT_PLAIN_H
#define CLI_OUTPUT_PLAIN_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One unit to show, with a final 0. Bytes that are no UTF-8 and control
 * bytes become \xNN, invisible and direction-changing characters \uNNNN. */
struct plain {
	char text[12];
	unsigned int cells; /* columns in a font of fixed width */
};

/* Takes one unit off *s; 0 at the end. */
int plain_next(const char **s, struct plain *out);
/* Columns of the whole name. */
size_t plain_cells(const char *s);
/* For XML text and attributes; at most `cells` columns (0: all), the last
 * two being dots when that is not enough. */
void plain_xml(FILE *out, const char *s, size_t cells);
/* As a JSON string, with its quotes. */
void plain_json(FILE *out, const char *s);
/* As is, but `from` becomes `to` (';' in folded stacks). */
void plain_text(FILE *out, const char *s, char from, char to);

/* n / d with so many decimals, cut, with a point in every locale. */
void plain_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals);
/* n as 1,234,567. */
void plain_grouped(FILE *out, uint64_t n);
#endif
