/* kernel_code.h - examines the code of a kernel or module: whether a call
 * precedes a return address, also where the kernel writes one when it boots or
 * runs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"

struct image;
struct symbolizer;

struct kernel_code;

/* Opens the file of an image of kind KERNEL or MODULE. Returns NULL if no file
 * is proved to be the one that ran (*wanted is set: such a file would help), or
 * the machine is not supported. A module without build-id is known only by its
 * path and release. */
struct kernel_code *kernel_code_open(struct symbolizer *sy,
				     const struct image *img, bool *wanted);
void kernel_code_close(struct kernel_code *k);
/* Returns what precedes the return address at an offset of the image. *traced:
 * for NO_CALL, a tracer may have written a call to its own code there. *target:
 * for DIRECT, an offset, which may be of a thunk. */
enum callsite_kind kernel_code_at(const struct kernel_code *k, uint64_t off,
				  uint64_t *target, bool *traced);
/* Returns whether these bytes end with what a tracer turns into a call: a nop
 * of that length, or on arm64 the second of two at the start of a function. */
bool kernel_code_is_traced(uint16_t machine, const unsigned char *code,
			   size_t n);
/* Returns whether frame pointers lead from an offset, `into` bytes inside of a
 * function, to its caller: 1 or 0; -1 if unknown, as it depends on jumps. */
int kernel_code_framed(const struct kernel_code *k, uint64_t off,
		       uint64_t into);
/* Returns whether the kernel unwinds by tables (ORC), so that no caller is left
 * out. */
bool kernel_code_has_tables(const struct kernel_code *k);
