/* link_register.h - AArch64 code without tables: does the link register hold
 * the return address? */
#ifndef SYMBOLIZE_UNWIND_LINK_REGISTER_H
#define SYMBOLIZE_UNWIND_LINK_REGISTER_H
#include <stdbool.h>
#include <stdint.h>

struct unwind_image;
struct unwind_images;

/* At an ELF address that no table covers; by what the code does, so that it
 * is never guessed. The vdso (Linux 7.2 gives it no tables) and stubs of a
 * PLT (ld gives them none). Reads up to a function: keep the answer. */
bool link_register_is_kept(struct unwind_images *ms, struct unwind_image *m,
			   uint64_t vaddr);
#endif
