/* kernel_module.c - finds the file of a kernel module, and computes where the
 * kernel puts its sections.
 *
 * A module is a relocatable file, whose sections have no addresses. The kernel
 * places its code sections, except those used during init only, one after the
 * other in file order, each at its alignment (layout_sections() in
 * kernel/module/main.c). Compared with /proc/kallsyms of Linux 7.2 on x86-64
 * and arm64: the addresses of all symbols in .text agree. */
#include "symbolize/files/kernel_module.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/tasks/frame.h"
#include "stitch/files/named_file.h"
#include "stitch/files/path.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"
#include "symbolize/symbolizer.h"
#include "symbolize/files/unxz.h"

/* The largest modules are some 10 MB, modules.dep is a few 100 KB. */
#define FILE_MAX ((uint64_t)256 << 20)
#define NAME_SIZE 64

bool kernel_module_name(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	if (!path)
		return false;
	const char *base = path_base(path);

	if (*base == '[')
		base++;
	for (; base[n] && base[n] != '.' && base[n] != ']'; n++) {
		if (n + 1 >= size)
			return false;
		buf[n] = base[n] == '-' ? '_' : base[n];
	}
	buf[n] = '\0';
	return n > 0;
}

void kernel_module_layout(const struct elf_file *ef UNUSED,
			  struct elf_section *sec, size_t n)
{
	uint64_t at = KERNEL_MODULE_TEXT;
	bool known = true;

	for (size_t i = 1; i < n; i++) {
		const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
		struct elf_section *s = &sec[i];
		GElf_Shdr sh;

		s->addr = 0;
		if (!s->scn || (s->flags & code) != code ||
		    !strncmp(s->name, ".init", 5) || !gelf_getshdr(s->scn, &sh))
			continue;
		/* The kernel enlarges these sections for veneers and
		 * trampolines that are not in the file (arm64 and others). The
		 * addresses of later sections are unknown. */
		known &= strcmp(s->name, ".plt") != 0 &&
			 strcmp(s->name, ".text.ftrace_trampoline") != 0;
		uint64_t mask = sh.sh_addralign ? sh.sh_addralign - 1 : 0;
		/* Real alignments and sections are smaller. */
		known &= !(mask & (mask + 1)) && mask < (1u << 20) &&
			 s->size < (1u << 30);
		if (!known)
			continue;
		at = (at + mask) & ~mask;
		s->addr = at;
		at += s->size;
	}
}

/* ---- finding the file */

/* Opens a module file, decompressing it into memory if needed. Returns NULL if
 * it is not an ELF file. */
static struct elf_file *kernel_module_open_any(const struct symbolizer *sy,
					       const char *path)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	unsigned char head[6];
	uint64_t size;
	size_t len = 0;
	void *mem = NULL;
	int fd = ef ? -1 : named_file_open(path, &size, NULL);

	if (fd < 0)
		return ef;
	if (size > sizeof(head) && size <= FILE_MAX &&
	    pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head)) {
		if (!memcmp(head,
			    "\xfd"
			    "7zXZ",
			    sizeof(head))) {
			void *packed OWNED = named_file_read(fd, size, &len);

			mem = unxz(packed, len, &len);
		} else if (sy->opts.unpack) {
			mem = sy->opts.unpack(fd, path, UNPACKED_MAX, &len);
		}
	}
	close(fd);
	return mem ? elf_file_unpacked(mem, len, path, NULL) : NULL;
}

/* Returns the path of the module in modules.dep, whose lines are
 * "kernel/lib/crc16.ko.xz: ...". */
static const char *kernel_module_find_line(char *text, const char *want)
{
	char name[NAME_SIZE];

	for (char *s = text, *next; s; s = next) {
		char *end = strchr(s, '\n');

		next = end ? end + 1 : NULL;
		s[strcspn(s, ":\n")] = '\0';
		if (kernel_module_name(s, name, sizeof(name)) &&
		    !strcmp(name, want))
			return s;
	}
	return NULL;
}

/* Finds the path of the module in the folder of the recorded kernel release. */
static bool kernel_module_path_by_name(const struct symbolizer *sy,
				       const char *want, char *out, size_t size)
{
	static const char *const lib[] = { "/lib", "/usr/lib" };
	const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";
	bool found = false;

	for (size_t i = 0; sy->opts.release && !found && i < 2; i++) {
		char dep[PATH_SIZE];
		uint64_t len;
		size_t got;
		int n = snprintf(dep, sizeof(dep),
				 "%s%s/modules/%s/modules.dep", symfs, lib[i],
				 sy->opts.release);

		if (n < 0 || (size_t)n >= sizeof(dep))
			continue;
		int fd = named_file_open(dep, &len, NULL);
		if (fd < 0)
			continue;
		if (len && len < FILE_MAX) {
			char *text OWNED = named_file_read(fd, len, &got);

			text[got ? got - 1 : 0] = '\0';
			const char *s = kernel_module_find_line(text, want);
			n = s ? snprintf(out, size, "%s/modules/%s/%s", lib[i],
					 sy->opts.release, s)
			      : -1;
			found = n > 0 && (size_t)n < size;
		}
		close(fd);
	}
	return found;
}

struct elf_file *kernel_module_open(struct symbolizer *sy,
				    const struct image *img, bool *other)
{
	struct places p = { .tried = sy->tried, .adding = FOUND_BY_ID };
	struct elf_file *ef = NULL;
	char path[PATH_SIZE] = "";
	char name[NAME_SIZE];

	if (!kernel_module_name(img->path, name, sizeof(name)))
		return NULL;
	if (img->path[0] == '/')
		snprintf(path, sizeof(path), "%s", img->path);
	else if (!kernel_module_path_by_name(sy, name, path, sizeof(path)))
		return NULL;
	locate_module(sy, img, path, &p);
	for (size_t i = 0; i < p.n && !ef; i++) {
		ef = kernel_module_open_any(sy, p.path[i]);
		if (ef && img->id_len &&
		    !elf_same_id(ef->id, ef->id_len, img->id, img->id_len)) {
			elf_file_close(ef);
			ef = NULL;
			*other = true;
		}
	}
	places_release(&p);
	return ef;
}
