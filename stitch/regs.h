/* regs.h - what the sampled registers say without unwinding. */
#ifndef STITCH_REGS_H
#define STITCH_REGS_H
#include <stdbool.h>
#include <stdint.h>

struct regs;

/* The program counter, when the architecture (as uname -m says it, NULL not
 * known) has a place for it in the mask and it was sampled. */
bool regs_pc(const struct regs *r, const char *arch, uint64_t *pc);
#endif
