/* elf.c - opens untrusted ELF files: build-id, code segments, sections. */
#include "symbolize/elf/elf.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/files/write_all.h"

/* More than any real file has; a hostile header may claim 4 billion. */
#define SEGMENTS_MAX 4096
#define SECTIONS_MAX 1000000
/* Notes are a few hundred bytes. Only those of core files are larger, and core
 * files are not read. */
#define NOTES_MAX (64 * 1024)
/* The largest vdso. The kernel maps whole pages; the section headers come
 * last. */
#define VDSO_MAX ((uint64_t)256 * 1024)

size_t elf_note_id(const void *notes, size_t len, bool swap, uint8_t id[20])
{
	struct bytes b;
	uint32_t namesz = 0;
	uint32_t descsz = 0;
	uint32_t type = 0;

	bytes_init(&b, notes, len, "notes", 0, swap);
	while (!bytes_u32(&b, &namesz, NULL) && !bytes_u32(&b, &descsz, NULL) &&
	       !bytes_u32(&b, &type, NULL)) {
		struct bytes name;
		struct bytes desc;
		size_t left = bytes_left(&b);

		if (bytes_take(&b, namesz, &name, NULL) ||
		    bytes_skip(&b, -(uint64_t)namesz & 3, NULL) ||
		    bytes_take(&b, descsz, &desc, NULL))
			return 0;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && descsz &&
		    !memcmp(name.pos, "GNU", 4)) {
			/* perf keeps that much of a longer one */
			const size_t n = descsz < 20 ? descsz : 20;

			memcpy(id, desc.pos, n);
			return n;
		}
		if (bytes_skip(&b, -(uint64_t)descsz & 3, NULL) ||
		    bytes_left(&b) >= left)
			return 0;
	}
	return 0;
}

bool elf_same_id(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	size_t n = a_len < b_len ? a_len : b_len;

	if (!n || memcmp(a, b, n) != 0)
		return false;
	for (size_t i = n; i < a_len; i++)
		if (a[i])
			return false;
	for (size_t i = n; i < b_len; i++)
		if (b[i])
			return false;
	return true;
}

void elf_id_hex(const uint8_t *id, size_t len, char *out)
{
	out[0] = '\0';
	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", id[i]);
}

/* Reads the build-id, from sections first: a debug file keeps its note section,
 * but its program headers refer to bytes that were removed. */
static void elf_read_build_id(struct elf_file *ef)
{
	struct elf_section s;
	size_t n = elf_sections(ef);

	for (size_t i = 1; i < n && !ef->id_len; i++) {
		if (!elf_section_get(ef, i, &s) || s.type != SHT_NOTE ||
		    s.size > NOTES_MAX)
			continue;
		Elf_Data *d = elf_rawdata(s.scn, NULL);
		if (d && d->d_buf)
			ef->id_len = (uint8_t)elf_note_id(d->d_buf, d->d_size,
							  ef->swap, ef->id);
	}
	if (ef->id_len || elf_getphdrnum(ef->elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX && !ef->id_len; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(ef->elf, (int)i, &ph) ||
		    ph.p_type != PT_NOTE || ph.p_filesz > NOTES_MAX ||
		    ph.p_offset > INT64_MAX)
			continue;
		Elf_Data *d = elf_getdata_rawchunk(
			ef->elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE);
		if (d && d->d_buf)
			ef->id_len = (uint8_t)elf_note_id(d->d_buf, d->d_size,
							  ef->swap, ef->id);
	}
}

static void elf_read_segments(struct elf_file *ef)
{
	uint64_t first = UINT64_MAX;
	size_t n;
	size_t cap = 0;
	size_t cap_data = 0;
	bool bytes = false;

	if (elf_getphdrnum(ef->elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(ef->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX)
			first = elf_page_floor(ph.p_vaddr);
		if (!(ph.p_flags & PF_X)) {
			*mem_add(ef->data, ef->n_data, cap_data) =
				(struct segment){ .off = ph.p_offset,
						  .vaddr = ph.p_vaddr,
						  .filesz = ph.p_memsz,
						  .flags = ph.p_flags };
			continue;
		}
		*mem_add(ef->seg, ef->n_seg, cap) = (struct segment){
			.off = ph.p_offset,
			.vaddr = ph.p_vaddr,
			.filesz = ph.p_filesz ? ph.p_filesz : ph.p_memsz,
			.flags = ph.p_flags,
		};
		bytes |= ph.p_filesz != 0;
	}
	struct elf_section text;
	if (elf_section_find(ef, ".text", &text) && text.type == SHT_NOBITS)
		bytes = false;
	if (!ef->n_seg || bytes)
		return;
	/* A debug file made by objcopy has empty segments with other file
	 * offsets. Assume what ld does: the text is mapped at vaddr minus the
	 * first vaddr. */
	ef->no_code = true;
	for (size_t i = 0; i < ef->n_seg; i++)
		ef->seg[i].off = ef->seg[i].vaddr - first;
}

static struct elf_file *elf_file_fill(struct elf_file *ef, struct err *err)
{
	GElf_Ehdr eh;

	if (!ef->elf || elf_kind(ef->elf) != ELF_K_ELF ||
	    !gelf_getehdr(ef->elf, &eh)) {
		err_set(err, ERR_FORMAT, "%s: not an ELF file", ef->path);
		elf_file_close(ef);
		return NULL;
	}
	ef->machine = eh.e_machine;
	ef->big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	ef->swap = bytes_must_swap(ef->big);
	ef->type = eh.e_type;
	elf_read_build_id(ef);
	elf_read_segments(ef);
	return ef;
}

static struct elf_file *elf_file_of_fd(int fd, const char *path,
				       struct err *err)
{
	struct elf_file *ef = mem_new(1, sizeof(*ef));

	elf_version(EV_CURRENT);
	ef->fd = fd;
	ef->path = mem_strdup(path);
	errno = 0;
	ef->elf = elf_begin(fd, ELF_C_READ, NULL);
	/* without memory libelf fails, and the file would seem to have
	 * nothing */
	if (errno == ENOMEM)
		mem_must(ef->elf);
	return elf_file_fill(ef, err);
}

struct elf_file *elf_file_open(const char *path, struct err *err)
{
	uint64_t size;
	int fd = named_file_open(path, &size, err);

	return fd < 0 ? NULL : elf_file_of_fd(fd, path, err);
}

struct elf_file *elf_file_open_kcore(void)
{
	uint64_t size;
	int fd = named_file_open_any("/proc/kcore", &size, NULL);

	return fd < 0 ? NULL : elf_file_of_fd(fd, "/proc/kcore", NULL);
}

struct elf_file *elf_file_unpacked(void *mem, size_t len, const char *name)
{
	int fd = memfd_create("unpacked", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, mem, len)) {
		if (fd >= 0)
			close(fd);
		return elf_file_memory(mem, len, name, NULL);
	}
	free(mem);
	return elf_file_of_fd(fd, name, NULL);
}

struct elf_file *elf_file_memory(void *mem, size_t len, const char *name,
				 struct err *err)
{
	struct elf_file *ef = mem_new(1, sizeof(*ef));

	elf_version(EV_CURRENT);
	ef->fd = -1;
	ef->mem = mem;
	ef->path = mem_strdup(name);
	ef->elf = elf_memory(mem, len);
	return elf_file_fill(ef, err);
}

struct elf_file *vdso_own(void)
{
	const Elf64_Ehdr *eh = (void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!eh || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	uint64_t len = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
	if (!eh->e_shoff || len > VDSO_MAX)
		return NULL;
	/* round up to the pages that the headers are in */
	len = (len + page - 1) / page * page;
	return elf_file_memory(mem_dup(eh, len), len, "[vdso]", NULL);
}

void elf_file_close(struct elf_file *ef)
{
	if (!ef)
		return;
	elf_end(ef->elf);
	if (ef->fd >= 0)
		close(ef->fd);
	free_all(ef->mem, ef->seg, ef->data, ef->path, ef);
}

size_t elf_sections(const struct elf_file *ef)
{
	size_t n;

	if (elf_getshdrnum(ef->elf, &n))
		return 0;
	return n < SECTIONS_MAX ? n : SECTIONS_MAX;
}

bool elf_section_get(const struct elf_file *ef, size_t i,
		     struct elf_section *out)
{
	size_t strndx;
	GElf_Shdr sh;
	Elf_Scn *scn = elf_getscn(ef->elf, i);

	if (!scn || !gelf_getshdr(scn, &sh))
		return false;
	const char *name = NULL;
	if (!elf_getshdrstrndx(ef->elf, &strndx))
		name = elf_strptr(ef->elf, strndx, sh.sh_name);
	*out = (struct elf_section){
		.scn = scn,
		.name = name ? name : "",
		.addr = sh.sh_addr,
		.off = sh.sh_offset,
		.size = sh.sh_size,
		.flags = sh.sh_flags,
		.entsize = sh.sh_entsize,
		.type = sh.sh_type,
		.link = sh.sh_link,
		.info = sh.sh_info,
	};
	return true;
}

bool elf_section_find(const struct elf_file *ef, const char *name,
		      struct elf_section *out)
{
	size_t n = elf_sections(ef);

	for (size_t i = 1; i < n; i++)
		if (elf_section_get(ef, i, out) && !strcmp(out->name, name))
			return true;
	return false;
}

Elf_Data *elf_section_data(const struct elf_section *s)
{
	if (s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED)
		return NULL;
	Elf_Data *d = elf_getdata(s->scn, NULL);
	return d && d->d_buf ? d : NULL;
}

/* Mappings cover whole pages, so code may be before p_offset (lld) or after the
 * end of a segment. A segment that really contains the offset is preferred. */
int elf_vaddr(const struct segment *seg, size_t n, uint64_t off,
	      uint64_t *vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (off >= seg[i].off && off - seg[i].off < seg[i].filesz) {
			*vaddr = off - seg[i].off + seg[i].vaddr;
			return 1;
		}
	for (size_t i = 0; i < n; i++) {
		uint64_t first = elf_page_floor(seg[i].off);
		uint64_t len = seg[i].off - first + seg[i].filesz;

		if (off >= first && (off - first) / ELF_PAGE <=
					    (len ? len - 1 : 0) / ELF_PAGE) {
			*vaddr = off - seg[i].off + seg[i].vaddr;
			return 1;
		}
	}
	return 0;
}

const struct segment *elf_segment_at(const struct segment *seg, size_t n,
				     uint64_t vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (vaddr >= seg[i].vaddr &&
		    vaddr - seg[i].vaddr < seg[i].filesz)
			return &seg[i];
	return NULL;
}

size_t elf_read(const struct elf_file *ef, uint64_t off, void *buf, size_t n)
{
	uint64_t end;

	if (ef->mem) {
		size_t size = 0;
		const char *raw = elf_rawfile(ef->elf, &size);

		if (!raw || off >= size)
			return 0;
		n = n < size - off ? n : size - (size_t)off;
		memcpy(buf, raw + off, n);
		return n;
	}
	if (__builtin_add_overflow(off, n, &end) || end > INT64_MAX)
		return 0;
	ssize_t got = pread(ef->fd, buf, n, (off_t)off);
	return got > 0 ? (size_t)got : 0;
}

size_t elf_read_code(const struct elf_file *ef, uint64_t vaddr, void *buf,
		     size_t n)
{
	const struct segment *s = elf_segment_at(ef->seg, ef->n_seg, vaddr);
	uint64_t off;

	if (!s || __builtin_add_overflow(s->off, vaddr - s->vaddr, &off))
		return 0;
	uint64_t left = s->filesz - (vaddr - s->vaddr);

	return elf_read(ef, off, buf, n < left ? n : (size_t)left);
}

bool elf_has_loader(const struct elf_file *ef)
{
	size_t n;

	if (elf_getphdrnum(ef->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(ef->elf, (int)i, &ph) &&
		    ph.p_type == PT_INTERP)
			return true;
	}
	return false;
}

bool elf_dynamic(const struct elf_file *ef, int64_t tag, uint64_t *value)
{
	struct elf_section s;
	GElf_Dyn dyn;
	Elf_Data *d = elf_section_find(ef, ".dynamic", &s)
			      ? elf_section_data(&s)
			      : NULL;

	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag; i++)
		if (dyn.d_tag == tag) {
			*value = dyn.d_un.d_val;
			return true;
		}
	return false;
}

bool elf_is_program(const struct elf_file *ef)
{
	return ef->type == ET_EXEC || elf_has_loader(ef);
}

/* RISC-V is missing: it expresses differences as pairs of relocations. */
static const struct elf_relocation {
	uint16_t machine;
	uint8_t size;
	bool relative;
	uint32_t type;
} elf_relocations[] = {
	{ EM_X86_64, 8, false, R_X86_64_64 },
	{ EM_X86_64, 4, false, R_X86_64_32 },
	{ EM_X86_64, 4, false, R_X86_64_32S },
	{ EM_X86_64, 4, true, R_X86_64_PC32 },
	{ EM_X86_64, 8, true, R_X86_64_PC64 },
	{ EM_AARCH64, 8, false, R_AARCH64_ABS64 },
	{ EM_AARCH64, 4, false, R_AARCH64_ABS32 },
	{ EM_AARCH64, 4, true, R_AARCH64_PREL32 },
	{ EM_AARCH64, 8, true, R_AARCH64_PREL64 },
	{ EM_S390, 8, false, R_390_64 },
	{ EM_S390, 4, false, R_390_32 },
	{ EM_S390, 4, true, R_390_PC32 },
	{ EM_S390, 8, true, R_390_PC64 },
	{ EM_PPC64, 8, false, R_PPC64_ADDR64 },
	{ EM_PPC64, 4, false, R_PPC64_ADDR32 },
};

bool elf_can_relocate(uint16_t machine)
{
	return any_where(ARRAY_SIZE(elf_relocations), i,
			 elf_relocations[i].machine == machine);
}

int64_t elf_relocate(const struct elf_file *ef, const struct elf_section *sec,
		     const struct elf_section *table, uint64_t addr, void *buf,
		     size_t len)
{
	struct elf_section link;
	GElf_Rela rela;
	GElf_Sym sym;
	int64_t left = 0;
	Elf_Data *list = elf_section_data(table);
	Elf_Data *symbols = elf_section_get(ef, table->link, &link) &&
					    link.type == SHT_SYMTAB
				    ? elf_section_data(&link)
				    : NULL;

	if (!list || list->d_type != ELF_T_RELA || !symbols ||
	    symbols->d_type != ELF_T_SYM)
		return -1;
	for (int i = 0; gelf_getrela(list, i, &rela); i++) {
		const uint64_t at = rela.r_offset, n = GELF_R_SYM(rela.r_info);
		const struct elf_relocation *r = NULL;

		for (size_t k = 0; !r && k < ARRAY_SIZE(elf_relocations); k++)
			if (elf_relocations[k].machine == ef->machine &&
			    elf_relocations[k].type == GELF_R_TYPE(rela.r_info))
				r = &elf_relocations[k];

		if (!r || (!sec && !r->relative) || at > len ||
		    len - at < r->size || n > INT32_MAX ||
		    !gelf_getsym(symbols, (int)n, &sym) ||
		    (sym.st_shndx != SHN_ABS &&
		     (sym.st_shndx == SHN_UNDEF ||
		      sym.st_shndx >= elf_sections(ef)))) {
			left++;
			continue;
		}
		uint64_t v = sym.st_value + (uint64_t)rela.r_addend -
			     (r->relative ? addr + at : 0);
		unsigned char *to = (unsigned char *)buf + at;

		if (sec && sym.st_shndx != SHN_ABS)
			v += sec[sym.st_shndx].addr;
		for (size_t byte = 0; byte < r->size; byte++)
			to[ef->big ? r->size - 1 - byte : byte] =
				(unsigned char)(v >> (8 * byte));
	}
	return left;
}

/* ---- symbols */

bool elf_symbols_open(const struct elf_file *ef,
		      const struct elf_section *table, struct elf_symbols *out)
{
	size_t each = gelf_fsize(ef->elf, ELF_T_SYM, 1, EV_CURRENT);

	*out = (struct elf_symbols){ .data = elf_section_data(table), .i = 1 };
	if (!out->data || out->data->d_type != ELF_T_SYM || !each ||
	    !elf_section_get(ef, table->link, &out->strings) ||
	    out->strings.type != SHT_STRTAB)
		return false;
	Elf_Data *d = elf_section_data(&out->strings);
	if (!d)
		return false;
	out->n = out->data->d_size / each;
	if (out->n > INT32_MAX)
		out->n = INT32_MAX;
	/* Any name that starts before the last 0 byte ends inside the table. */
	out->text = d->d_buf;
	out->len = d->d_size;
	while (out->len && out->text[out->len - 1])
		out->len--;
	return true;
}

bool elf_symbols_find(const struct elf_file *ef, uint32_t type,
		      struct elf_symbols *out)
{
	size_t n = elf_sections(ef);
	struct elf_section s;

	return any_where(n, i,
			 i && elf_section_get(ef, i, &s) && s.type == type &&
				 elf_symbols_open(ef, &s, out));
}

bool elf_symbols_next(struct elf_symbols *it, GElf_Sym *sym, const char **name)
{
	if (it->i >= it->n || !gelf_getsym(it->data, (int)it->i, sym))
		return false;
	it->i++;
	*name = sym->st_name < it->len ? it->text + sym->st_name : "";
	return true;
}
