/* regs.h - what the sampled registers say without unwinding. */
#ifndef STITCH_TASKS_REGS_H
#define STITCH_TASKS_REGS_H
#include <stdbool.h>
#include <stdint.h>

struct regs;

/* The program counter, when the architecture (as uname -m says it, NULL not
 * known) has a place for it in the mask and it was sampled. */
bool regs_pc(const struct regs *r, const char *arch, uint64_t *pc);

/* ELF's numbers (EM_*) of the machines whose stacks we unwind. */
#define MACHINE_386 3
#define MACHINE_S390 22
#define MACHINE_X86_64 62
#define MACHINE_AARCH64 183

/* Of the task whose registers these are; 0: not one of them. */
uint16_t regs_machine(const struct regs *r, const char *arch);
#endif
