/* page_json.h - values for the scripts of an HTML page: JSON text that is safe
 * inside an element, and numbers as bytes in base64. */
#ifndef CLI_PICTURES_PAGE_JSON_H
#define CLI_PICTURES_PAGE_JSON_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A string with its quotes; what is not to be shown is as in safe_text.h. */
void page_json_text(FILE *out, const char *s);

/* Zero-initialised is empty; free(byte). */
struct page_bytes {
	uint8_t *byte;
	size_t n, cap;
};

/* Unsigned LEB128; of signed values, given as their two's complement, the
 * zigzag. */
void page_bytes_add(struct page_bytes *b, uint64_t v);
void page_bytes_signed(struct page_bytes *b, uint64_t v);
/* Base64 in lines; and the same in an element with that id, which no browser
 * runs. */
void page_base64(const struct page_bytes *b, FILE *out);
void page_bytes_write(const struct page_bytes *b, const char *id, FILE *out);
#endif
