/* link_register.h - AArch64 code without unwind tables: is the return address
 * still in the link register? */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct unwind_image;

/* For an ELF address that no table covers: in the vdso (Linux 7.2 gives it no
 * tables) and in PLT stubs (ld gives them none). Decides by the instructions,
 * without guessing. Reads up to a whole function, so cache the result. */
bool link_register_is_kept(struct unwind_image *m, uint64_t vaddr);
