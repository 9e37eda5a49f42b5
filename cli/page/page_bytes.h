/* page_bytes.h - numbers as bytes in base64, for the scripts of a page. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Empty if zero-initialised. The owner frees byte. */
struct page_bytes {
	uint8_t *byte;
	size_t n, cap;
};

/* Appends v as unsigned LEB128. */
void page_bytes_add(struct page_bytes *b, uint64_t v);
/* Appends a signed number, given as its two's complement, as zigzag LEB128. */
void page_bytes_signed(struct page_bytes *b, uint64_t v);
/* Writes the bytes as lines of base64. */
void page_base64(const struct page_bytes *b, FILE *out);
/* Writes an element with this id, which no browser runs, around the base64. */
void page_bytes_write(const struct page_bytes *b, const char *id, FILE *out);
