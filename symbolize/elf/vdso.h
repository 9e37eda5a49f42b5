/* vdso.h - the vdso of the running kernel. */
#ifndef SYMBOLIZE_ELF_VDSO_H
#define SYMBOLIZE_ELF_VDSO_H

struct elf_file;
struct image;

/* Returns a copy of this process's vdso if it has the build-id of the image,
 * else NULL. */
struct elf_file *vdso_own(const struct image *img);
#endif
