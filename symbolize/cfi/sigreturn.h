/* sigreturn.h - the vdso functions that return from signal handlers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct unwind_row;

/* ELF addresses of rt_sigreturn, and of the older system call; end 0: no such
 * function. */
struct sigreturn {
	uint64_t start[2], end[2];
};

/* Finds them in a vdso whose unwind tables do not describe them: AArch64 has no
 * tables, and those of s390x treat them as ordinary functions (Linux 7.2). */
struct sigreturn sigreturn_find(const struct elf_file *ef);
/* Sets *out to the row of an address in one of them. Returns false if it is in
 * neither. */
bool sigreturn_row(const struct sigreturn *s, uint64_t vaddr,
		   struct unwind_row *out);
