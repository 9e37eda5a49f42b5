/* regs.h - reads the program counter and the machine from sampled registers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct regs;

/* Stores the program counter in *pc, unless pc is NULL. Returns false if it was
 * not sampled, or the architecture (as in uname -m, NULL: unknown) is not
 * supported. */
bool regs_pc(const struct regs *r, const char *arch, uint64_t *pc);

/* ELF machine numbers (EM_*) for which stacks are unwound. */
#define MACHINE_386 3
#define MACHINE_S390 22
#define MACHINE_X86_64 62
#define MACHINE_AARCH64 183

/* Returns the ELF machine number of the sampled task, or 0 if it is none of
 * these. r NULL: of a task of the machine's own word size. */
uint16_t regs_machine(const struct regs *r, const char *arch);
