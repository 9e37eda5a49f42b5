/* page_bytes.h - numbers as bytes in base64, for the scripts of a page. */
#pragma once
#include <stdio.h>

#include "stitch/base/blob.h"

/* Writes the bytes as lines of base64. */
void page_base64(const struct blob *b, FILE *out);
/* Writes an element with this id, which no browser runs, around the base64. */
void page_bytes_write(const struct blob *b, const char *id, FILE *out);
