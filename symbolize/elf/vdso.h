/* vdso.h - the vdso of the running kernel. */
#pragma once

struct elf_file;

/* Returns a copy of this process's vdso, or NULL if it has none of 64 bits. */
struct elf_file *vdso_own(void);
