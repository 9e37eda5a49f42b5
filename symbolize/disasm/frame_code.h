/* frame_code.h - decodes whether code sets the frame pointer (rbp, x29), for
 * functions whose unwind table does not say so: that of Go counts from SP
 * everywhere, and so does hand-written assembly. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a prologue, with the check of the stack's end that Go does first;
 * and of an epilogue, which has up to eight instructions. */
#define FRAME_CODE_PROLOGUE 96
#define FRAME_CODE_EPILOGUE 40
/* And of functions that have no unwind table: those of gcc's crtstuff. */
#define FRAME_CODE_WHOLE 96
#define FRAME_CODE_MAX 65536 /* bytes of a frame */

/* Returns true if these instructions, the first of a function or the next ones,
 * make FP the address of the saved one, after which the return address is.
 * They are followed to the first call, return or jump that is always taken. */
bool frame_code_sets(uint16_t machine, const unsigned char *code, size_t n);
/* Returns true if these instructions leave the function without restoring FP:
 * of one that has set FP, they are the rest of an epilogue. */
bool frame_code_leaves(uint16_t machine, const unsigned char *code, size_t n);

#define FRAME_CODE_KEPT INT64_MIN
enum frame_code_end {
	FRAME_CODE_UNKNOWN,
	FRAME_CODE_RETURNS,
	FRAME_CODE_SWITCHES, /* SP becomes something else before that */
};
/* Follows these instructions of x86-64 to the end of their function: a return,
 * or a jump while it has nothing on the stack. *cfa is then where its caller's
 * frame begins, *fp where the caller's FP is saved, in bytes from SP, or
 * FRAME_CODE_KEPT if FP has it. Conditional jumps are not followed, calls
 * change neither. */
enum frame_code_end frame_code_ends(uint16_t machine, const unsigned char *code,
				    size_t n, int64_t *cfa, int64_t *fp);
/* Returns true if these instructions of x86-64, of which the first `before`
 * bytes are in front of a return address, go to another stack for good: SP is
 * loaded from memory, and after the call follow pop %rax and a jump. So Go's
 * runtime.mcall() does. */
bool frame_code_leaps(uint16_t machine, const unsigned char *code,
		      size_t before, size_t n);
/* Returns true if the last of these instructions of x86-64, in front of a
 * return address, load SP from memory and call: on a stack of which nothing is
 * theirs. So does Go's runtime.morestack(). */
bool frame_code_lands(uint16_t machine, const unsigned char *code, size_t n);
#define FRAME_CODE_LEAP 24 /* bytes in front of the return address, and */
#define FRAME_CODE_LEAP_BEHIND 2
/* Returns true if these instructions, after a call, end the thread or the
 * process by a system call of Linux: what was called has begun there. */
bool frame_code_exits(uint16_t machine, const unsigned char *code, size_t n);
/* The bytes of them that are read. */
#define FRAME_CODE_EXIT 24
/* Returns true if these instructions, after a call, hand its result on as the
 * first argument of another one: that of main() to exit(). */
bool frame_code_hands_on(uint16_t machine, const unsigned char *code, size_t n);
#define FRAME_CODE_HANDS_ON 8
