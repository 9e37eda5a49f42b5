/* sigreturn.h - the vdso's ways back from signal handlers. */
#ifndef SYMBOLIZE_CFI_SIGRETURN_H
#define SYMBOLIZE_CFI_SIGRETURN_H
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct unwind_row;

/* Where they are, by ELF address; end 0: there is none. */
struct sigreturn {
	struct {
		uint64_t start, end;
	} rt, old;
};

/* Of a vdso whose tables do not say it: AArch64's has none at all, that of
 * s390x calls the function an ordinary one (Linux 7.2). */
struct sigreturn sigreturn_find(const struct elf_file *ef);
/* The row of an address that is in one of them. */
bool sigreturn_row(const struct sigreturn *s, uint64_t vaddr,
		   struct unwind_row *out);
#endif
