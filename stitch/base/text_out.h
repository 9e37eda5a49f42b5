/* text_out.h - builds text in a buffer of fixed size. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The caller sets buf, which it owns, and size; the text in it has a final 0
 * once something was added. */
struct text_out {
	char *buf;
	size_t size, len;
	bool cut; /* something did not fit */
};

/* Appends as much as fits; sets `cut` if something did not. */
void text_out_add(struct text_out *o, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
