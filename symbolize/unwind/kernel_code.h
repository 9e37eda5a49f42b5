/* kernel_code.h - the code of a kernel or of a module: is a call in front of a
 * return address, also where the kernel writes one when it boots or runs? */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct image;
struct symbolizer;

struct kernel_code;

/* Opens the file of an image of kind KERNEL or MODULE. Returns NULL if there is
 * none that is proved to be the one that ran; *wanted: such a file would do; or
 * no rules for its machine. Of a module without build-id its path and the
 * release are all that is known. */
struct kernel_code *kernel_code_open(struct symbolizer *sy,
				     const struct image *img, bool *wanted);
void kernel_code_close(struct kernel_code *k);
/* Tells what is in front of the return address at an offset of the image.
 * *traced: of NO_CALL, a tracer may have written a call of its own code there.
 * *target: of DIRECT, an offset; a thunk may be there. */
enum callsite_kind kernel_code_at(const struct kernel_code *k, uint64_t off,
				  uint64_t *target, bool *traced);
/* Returns whether these bytes end with what a tracer makes a call: a nop of
 * that length, or on arm64 the second of two at the start of a function. */
bool kernel_code_is_traced(uint16_t machine, const unsigned char *code,
			   size_t n);
/* Returns whether frame pointers lead from an offset, `into` bytes inside of a
 * function, to its caller: 1, or 0; -1: it is not known, as it depends on
 * jumps. */
int kernel_code_framed(const struct kernel_code *k, uint64_t off,
		       uint64_t into);
/* Returns whether the kernel finds callers by tables (ORC), so that none is
 * left out. */
bool kernel_code_has_tables(const struct kernel_code *k);
