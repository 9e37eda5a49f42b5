/* frame_share.h - counts the functions of an ELF file that set a frame pointer.
 *
 * Functions that call none may leave it alone even in a file built with frame
 * pointers, so only those with a call count. They are found in the unwind
 * tables, which stripped files have too, else by symbols; the table's row at
 * their first call, or their code, shows whether they set the frame pointer. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct cfi;
struct elf_file;
struct symtab;

struct frame_share {
	uint32_t functions; /* functions with a call; 0: unknown */
	uint32_t set;	    /* how many of them set a frame pointer */
};

/* Counts the functions, in a large file only a part that is spread evenly. c,
 * funcs: of the file; either may be NULL. O(1): reads 64 KiB at most. */
void frame_share_count(const struct elf_file *ef, const struct cfi *c,
		       const struct symtab *funcs, struct frame_share *out);
/* Returns whether the share is so small that functions with alloca or arrays
 * of variable length explain it: the file "has no frame pointers". */
bool frame_share_is_none(const struct frame_share *s);
