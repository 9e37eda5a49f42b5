/* kernel_module.h - finds the file of a kernel module, or the one that boots
 * the kernel, and computes where the kernel puts the sections of a module. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct elf_file;
struct elf_section;
struct image;
struct symbolizer;

/* The address that kernel_module_layout() gives to the first byte of code. Not
 * 0, which means that a section has no address. */
#define KERNEL_MODULE_TEXT 0x1000u

/* Opens the file of a module image, compressed or not, with the image's
 * build-id; for the kernel the file that boots (vmlinuz). Returns NULL if there
 * is none; *other is set if there is one with another build-id. */
struct elf_file *kernel_module_open(struct symbolizer *sy,
				    const struct image *img, bool *other);
/* Sets the addresses of the n sections of a relocatable file; 0 for sections
 * whose place in the loaded module is unknown. */
void kernel_module_layout(const struct elf_file *ef, struct elf_section *sec,
			  size_t n);
/* Extracts the module name: "snd_hda" from "/lib/modules/.../snd-hda.ko.xz" or
 * "[snd_hda]". Returns false if there is none. */
bool kernel_module_name(const char *path, char *buf, size_t size);
