/* flame_offcpu.h - a flame graph of the time that threads were off the CPU. */
#ifndef CLI_PICTURES_FLAME_OFFCPU_H
#define CLI_PICTURES_FLAME_OFFCPU_H

struct drawing;
struct err;

/* Fills the drawing; -1 and *err. With --wakeups the stack of the waker stands
 * above each stack, its innermost frame first, behind a frame
 * "[woken by NAME]". */
int flame_offcpu(struct drawing *d, const char *path, int *status,
		 struct err *err);
#endif
