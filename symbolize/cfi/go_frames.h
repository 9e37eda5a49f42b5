/* go_frames.h - call frame information of Go programs without it.
 *
 * Go's linker makes .debug_frame from the depths of stacks that the runtime has
 * too (cmd/link/internal/ld/dwarf.go; all rows are the same with Go 1.19, 1.26
 * and 1.27). In a program that was linked with -s, or stripped, the second is
 * left: of it the first is made again. */
#pragma once
#include <stddef.h>

struct elf_file;

/* Returns the bytes of an .eh_frame in the byte order of this host, with
 * addresses as they are, for the caller to free; NULL if the file has no such
 * table, or is of another machine than x86-64 and AArch64. */
unsigned char *go_frames_make(const struct elf_file *ef, size_t *len);
