/* frame_code.h - decodes whether code sets the frame pointer (rbp, x29), for
 * functions whose unwind table does not show it: that of Go counts from SP
 * everywhere, and so does that of hand-written assembly. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to read of a prologue, including the check of the stack's end with
 * which Go begins; and of an epilogue, which has up to eight instructions. */
#define FRAME_CODE_PROLOGUE 96
#define FRAME_CODE_EPILOGUE 40
/* Bytes to read of functions without an unwind table: those of gcc's
 * crtstuff. */
#define FRAME_CODE_WHOLE 96
#define FRAME_CODE_MAX 65536 /* bytes of a frame */

/* Returns true if these instructions, from the start of a function on, make FP
 * the address of the saved FP, which the return address follows. They are
 * followed up to the first call, return or jump that is always taken. */
bool frame_code_sets(uint16_t machine, const unsigned char *code, size_t n);
/* Returns true if these instructions leave the function without restoring FP.
 * In a function that sets FP, they are the rest of an epilogue. */
bool frame_code_leaves(uint16_t machine, const unsigned char *code, size_t n);

#define FRAME_CODE_KEPT INT64_MIN
enum frame_code_end {
	FRAME_CODE_UNKNOWN,
	FRAME_CODE_RETURNS,
	FRAME_CODE_SWITCHES, /* SP is set to another value before that */
};
/* Follows these instructions of x86-64 to the end of their function: a return,
 * or a jump while it has nothing on the stack. *cfa is then the place of its
 * caller's frame, *fp the place of the caller's FP, in bytes from SP, or
 * FRAME_CODE_KEPT if FP has it. Conditional jumps are not followed, calls
 * change neither. */
enum frame_code_end frame_code_ends(uint16_t machine, const unsigned char *code,
				    size_t n, int64_t *cfa, int64_t *fp);
/* Returns true if one of these instructions of x86-64 loads SP from memory. */
bool frame_code_loads(uint16_t machine, const unsigned char *code, size_t n);
/* Returns true if these instructions of x86-64, of which the first `before`
 * bytes precede a return address, switch to another stack for good: they load
 * SP from memory, and pop %rax and a jump follow the call. Go's runtime.mcall()
 * does this. */
bool frame_code_leaps(uint16_t machine, const unsigned char *code,
		      size_t before, size_t n);
/* Returns true if the last of these instructions of x86-64, before a return
 * address, load SP from memory and call: they have nothing on the new stack.
 * Go's runtime.morestack() does this. */
bool frame_code_lands(uint16_t machine, const unsigned char *code, size_t n);
#define FRAME_CODE_LEAP 40 /* bytes before the return address, and */
#define FRAME_CODE_LEAP_BEHIND 3
/* Returns true if these instructions, after a call, end the thread or the
 * process by a system call of Linux: the called function is the first one of
 * the stack. */
bool frame_code_exits(uint16_t machine, const unsigned char *code, size_t n);
/* How many bytes of such instructions are read. */
#define FRAME_CODE_EXIT 24
/* Returns true if these instructions, after a call, pass its result on as the
 * first argument of another call: that of main() to exit(). */
bool frame_code_hands_on(uint16_t machine, const unsigned char *code, size_t n);
#define FRAME_CODE_HANDS_ON 8
