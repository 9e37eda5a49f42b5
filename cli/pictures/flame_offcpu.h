/* flame_offcpu.h - a flame graph of the time that threads were off the CPU. */
#pragma once

struct drawing;
struct err;

/* Fills the drawing. Returns 0, or -1 and *err. With --wakeups the waker's
 * stack is put above each stack, its innermost frame first, behind a frame
 * "[woken by NAME]". */
int flame_offcpu(struct drawing *d, const char *path, int *status,
		 struct err *err);
