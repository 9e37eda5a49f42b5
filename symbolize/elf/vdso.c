/* vdso.c - the vdso of the running kernel. */
#include "symbolize/elf/vdso.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"

/* The kernel maps whole pages; the section headers come last. */
#define VDSO_MAX ((uint64_t)256 * 1024)

struct elf_file *vdso_own(void)
{
	const Elf64_Ehdr *eh = (void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!eh || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	uint64_t len = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
	if (!eh->e_shoff || len > VDSO_MAX)
		return NULL;
	/* Round up to the pages that the headers are in. */
	len = (len + page - 1) / page * page;
	return elf_file_memory(mem_dup(eh, len), len, "[vdso]", NULL);
}
