/* vdso.h - the vdso of the machine we run on. */
#ifndef SYMBOLIZE_ELF_VDSO_H
#define SYMBOLIZE_ELF_VDSO_H

struct elf_file;
struct image;

/* A copy of our own vdso when its build-id is the image's; else NULL. */
struct elf_file *vdso_own(const struct image *img);
#endif
