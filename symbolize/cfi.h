/* cfi.h - call frame information: where functions begin and end, and whether
 * the return address of AArch64 code is still in the link register.
 *
 * Of the rules only that of the one register is worked out, in memory of a
 * fixed size: libdw's dwarf_cfi_addrframe() was made to take 2.3 GB by 40 bytes
 * of a hostile file. The structure of the section is read by libdw. */
#ifndef SYMBOLIZE_CFI_H
#define SYMBOLIZE_CFI_H
#include <stdbool.h>
#include <stdint.h>

struct cfi;
struct elf_file;

enum cfi_link {
	CFI_NONE,  /* the tables do not cover the address, or are damaged */
	CFI_KEPT,  /* the register holds it as at the function's entry */
	CFI_MOVED, /* it is elsewhere, or there is no caller */
};

/* Sorts what .eh_frame, or else .debug_frame, covers. NULL when the file has
 * neither, or is not 64-bit. Borrows ef. */
struct cfi *cfi_open(const struct elf_file *ef);
void cfi_close(struct cfi *c);
/* The function around an ELF address, end exclusive; false: none covers it.
 * Good after ef is closed, too. */
bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end);
/* At an ELF address of AArch64 code. O(log of the functions + instructions of
 * its one). */
enum cfi_link cfi_link(const struct cfi *c, uint64_t vaddr);
#endif
