/* kernel_module.h - the file of a kernel module, and how the kernel lays it
 * out. */
#ifndef SYMBOLIZE_FILES_KERNEL_MODULE_H
#define SYMBOLIZE_FILES_KERNEL_MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;
struct image;
struct symbolizer;

/* The address that kernel_module_layout() gives to the first byte of a module's
 * code: not 0, which means that a section has no address. */
#define KERNEL_MODULE_TEXT 0x1000u

/* The file of the image, packed or not, proved by its build-id; NULL: none
 * is here, and *other says whether one with another build-id is. */
struct elf_file *kernel_module_open(struct symbolizer *sy,
				    const struct image *img, bool *other);
/* Gives addresses to the sections of a relocatable file whose place in the
 * loaded module is known; those of all others become 0. */
void kernel_module_layout(const struct elf_file *ef, struct elf_section *sec,
			  size_t n);
/* "snd_hda" of "/lib/modules/.../snd-hda.ko.xz" or "[snd_hda]": false when
 * there is no such name in it. */
bool kernel_module_name(const char *path, char *buf, size_t size);
#endif
