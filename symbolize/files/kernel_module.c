/* kernel_module.c - finds the file of a kernel module, or the one that boots
 * the kernel, and computes where the kernel puts the sections of a module.
 *
 * A module is a relocatable file, whose sections have no addresses. The kernel
 * places its code sections, except those used during init only, one after the
 * other in file order, each at its alignment (layout_sections() in
 * kernel/module/main.c). Compared with /proc/kallsyms of Linux 7.2 on x86-64
 * and arm64: the addresses of all symbols in .text agree; with
 * /sys/module/NAME/sections of 57 modules of Linux 6.1 and 45 of 7.2 on x86-64:
 * all sections do.
 *
 * On x86, the file that boots has the stripped vmlinux as its payload, since
 * version 2.08 of the boot protocol (Documentation/arch/x86/boot.rst). On arm64
 * it is the memory of the kernel from _text on
 * (Documentation/arch/arm64/booting.rst), packed or not, or in an EFI program
 * (drivers/firmware/efi/libstub/ zboot-header.S). That of s390x is not read:
 * the place of the kernel in it is not known. */
#include "symbolize/files/kernel_module.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/files/named_file.h"
#include "stitch/files/path.h"
#include "stitch/files/write_all.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"
#include "symbolize/files/unxz.h"
#include "symbolize/symbolizer.h"

/* Modules have up to 10 MB, kernels 16, modules.dep has a few 100 KB. */
#define FILE_MAX ((uint64_t)256 << 20)
#define NAME_SIZE 64
/* Fields of struct setup_header, by their offsets in the file. */
#define BOOT_SECTORS 0x1f1
#define BOOT_MAGIC 0x202
#define BOOT_HDRS 0x53726448 /* "HdrS" */
#define BOOT_PAYLOAD 0x248
#define BOOT_PAYLOAD_LEN 0x24c
#define BOOT_SECTOR 512
/* Fields of the files of other machines. */
#define ZBOOT_MAGIC 4
#define ZBOOT_PAYLOAD 8
#define ZBOOT_PAYLOAD_LEN 12
#define ARM64_MAGIC 0x38
/* The bytes between _text and _stext are fewer. */
#define PAD_MAX 4096

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

/* Finds the compressed part of a file: the payload of one that boots, or the
 * whole file. */
static void kernel_packed_find(struct bytes *file, struct bytes *out)
{
	uint8_t sectors, first;
	char zimg[4];
	uint32_t magic, off, len;

	uint64_t at;

	*out = *file;
	if (!bytes_peek(file, ZBOOT_MAGIC, zimg, sizeof(zimg)) &&
	    !memcmp(zimg, "zimg", sizeof(zimg))) {
		if (bytes_peek_u32(file, ZBOOT_PAYLOAD, &off) ||
		    bytes_peek_u32(file, ZBOOT_PAYLOAD_LEN, &len))
			return;
		at = off;
	} else {
		if (bytes_peek(file, BOOT_SECTORS, &sectors, 1) ||
		    bytes_peek_u32(file, BOOT_MAGIC, &magic) ||
		    magic != BOOT_HDRS ||
		    bytes_peek_u32(file, BOOT_PAYLOAD, &off) ||
		    bytes_peek_u32(file, BOOT_PAYLOAD_LEN, &len))
			return;
		at = ((uint64_t)sectors + 1) * BOOT_SECTOR + off;
	}
	if (bytes_peek(file, at, &first, 1) || len < 4 ||
	    bytes_skip(file, at, NULL))
		return;
	/* its size follows it, except for gzip, which contains the size */
	if (bytes_take(file, len - (first == 0x1f ? 0 : 4), out, NULL))
		*out = *file;
}

static void *kernel_packed_unpack(const struct symbolizer *sy, const char *path,
				  const struct bytes *b, size_t *len)
{
	const size_t n = bytes_left(b);
	void *mem = unxz(b->pos, n, len);
	const int fd = mem || !sy->opts.unpack
			       ? -1
			       : memfd_create("packed", MFD_CLOEXEC);

	if (fd < 0)
		return mem;
	if (!write_all(fd, b->pos, n))
		mem = sy->opts.unpack(fd, path, UNPACKED_MAX, len);
	close(fd);
	return mem;
}

/* Opens the memory of an arm64 kernel like perf's copy of a running one.
 * Returns NULL unless a note in it has the build-id of the image, and perf has
 * mapped all of it: from _text to _edata, which some padding may follow. */
static struct elf_file *kernel_flat_open(const struct image *img,
					 const void *flat, size_t n)
{
	static const uint32_t note[] = { 4, sizeof(img->id), NT_GNU_BUILD_ID,
					 0x00554e47 /* "GNU" */ };
	unsigned char want[sizeof(note) + sizeof(img->id)];
	const Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_AARCH64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	const Elf64_Phdr ph = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = sizeof(eh) + sizeof(ph),
		.p_vaddr = img->start,
		.p_filesz = n,
		.p_memsz = n,
	};

	memcpy(want, note, sizeof(note));
	memcpy(want + sizeof(note), img->id, sizeof(img->id));
	if (img->id_len != sizeof(img->id) || bytes_must_swap(false) ||
	    img->len > n || n - img->len >= PAD_MAX ||
	    !memmem(flat, n, want, sizeof(want)))
		return NULL;
	unsigned char *core = mem_new(ph.p_offset + n, 1);

	memcpy(core, &eh, sizeof(eh));
	memcpy(core + sizeof(eh), &ph, sizeof(ph));
	memcpy(core + ph.p_offset, flat, n);
	struct elf_file *ef =
		elf_file_unpacked(core, ph.p_offset + n, img->path);

	if (ef) {
		memcpy(ef->id, img->id, sizeof(ef->id));
		ef->id_len = sizeof(ef->id);
	}
	return ef;
}

static struct elf_file *kernel_packed_open(const struct symbolizer *sy,
					   const char *path,
					   const struct image *img)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	struct bytes file, b;
	size_t len;
	void *packed OWNED = ef ? NULL : named_file_load(path, FILE_MAX, &len);

	if (!packed)
		return ef;
	bytes_init(&file, packed, len, path, 0, bytes_must_swap(false));
	kernel_packed_find(&file, &b);
	void *mem = kernel_packed_unpack(sy, path, &b, &len);
	char magic[4];

	if (mem)
		bytes_init(&b, mem, len, path, 0, bytes_must_swap(false));
	if (img->kind == IMAGE_KERNEL &&
	    !bytes_peek(&b, ARM64_MAGIC, magic, sizeof(magic)) &&
	    !memcmp(magic, "ARM\x64", sizeof(magic))) {
		ef = kernel_flat_open(img, b.pos, bytes_left(&b));
		free(mem);
		return ef;
	}
	return mem ? elf_file_unpacked(mem, len, path) : NULL;
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
		size_t len;
		int n = snprintf(dep, sizeof(dep),
				 "%s%s/modules/%s/modules.dep", symfs, lib[i],
				 sy->opts.release);

		if (n < 0 || (size_t)n >= sizeof(dep))
			continue;
		char *text OWNED = named_file_load(dep, FILE_MAX, &len);

		if (!text || !len)
			continue;
		text[len - 1] = '\0';
		const char *s = kernel_module_find_line(text, want);
		n = s ? snprintf(out, size, "%s/modules/%s/%s", lib[i],
				 sy->opts.release, s)
		      : -1;
		found = n > 0 && (size_t)n < size;
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

	if (img->kind == IMAGE_KERNEL) {
		locate_boot(sy, &p);
	} else if (!kernel_module_name(img->path, name, sizeof(name))) {
		return NULL;
	} else {
		if (img->path[0] == '/')
			snprintf(path, sizeof(path), "%s", img->path);
		else if (!kernel_module_path_by_name(sy, name, path,
						     sizeof(path)))
			return NULL;
		locate_module(sy, img, path, &p);
	}
	for (size_t i = 0; i < p.n && !ef; i++) {
		ef = kernel_packed_open(sy, p.path[i], img);
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
