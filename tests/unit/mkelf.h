/* mkelf.h - makes small ELF files for the tests of symbolize/, of x86-64 on
 * every host. */
#pragma once
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mksym {
	const char *name;
	uint64_t value, size;
	unsigned char info;
};

struct mkelf {
	const struct mksym *sym;
	size_t n_sym;
	const char *id;	   /* 20 bytes, or NULL */
	const void *extra; /* one more section ... */
	size_t extra_len;
	const char *extra_name; /* ... of this name; NULL: none */
	uint64_t extra_flags;	/* SHF_* */
	uint64_t entry;
};

/* Text of 0x1000 bytes: file offset 0x1000, address 0x401000. */
#define MKELF_TEXT 0x401000u
#define MKELF_OFF 0x1000u

static Elf_Scn *mkelf_section(Elf *e, char *names, size_t *n_names,
			      const char *name, unsigned int type,
			      uint64_t flags, uint64_t addr, uint64_t off,
			      const void *data, size_t len, Elf_Type et)
{
	Elf_Scn *scn = elf_newscn(e);
	Elf_Data *d = elf_newdata(scn);
	GElf_Shdr sh;

	gelf_getshdr(scn, &sh);
	sh.sh_name = (uint32_t)*n_names;
	memcpy(names + *n_names, name, strlen(name) + 1);
	*n_names += strlen(name) + 1;
	sh.sh_type = type;
	sh.sh_flags = flags;
	sh.sh_addr = addr;
	sh.sh_offset = off;
	sh.sh_size = len;
	sh.sh_addralign = 1;
	sh.sh_entsize = et == ELF_T_SYM ? sizeof(Elf64_Sym) : 0;
	sh.sh_link = et == ELF_T_SYM ? (uint32_t)elf_ndxscn(scn) + 1 : 0;
	gelf_update_shdr(scn, &sh);
	d->d_buf = (void *)data;
	d->d_size = len;
	d->d_type = et;
	d->d_align = 1;
	return scn;
}

/* Fills sym and the names in str, and returns the length of str. */
static size_t mkelf_symbols(const struct mkelf *m, Elf64_Sym *sym, char *str)
{
	size_t n_str = 1;

	for (size_t i = 0; i < m->n_sym; i++) {
		sym[i + 1].st_name = (uint32_t)n_str;
		sym[i + 1].st_value = m->sym[i].value;
		sym[i + 1].st_size = m->sym[i].size;
		sym[i + 1].st_info = m->sym[i].info;
		sym[i + 1].st_shndx = 1;
		memcpy(str + n_str, m->sym[i].name, strlen(m->sym[i].name) + 1);
		n_str += strlen(m->sym[i].name) + 1;
	}
	return n_str;
}

/* sections is the offset of the section headers, names the index of the
   section with their names. */
static void mkelf_header(Elf *e, const struct mkelf *m, uint64_t sections,
			 size_t names)
{
	GElf_Ehdr eh;

	gelf_getehdr(e, &eh);
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_type = ET_DYN;
	eh.e_machine = EM_X86_64;
	eh.e_version = EV_CURRENT;
	eh.e_entry = m->entry;
	eh.e_phoff = 64;
	eh.e_shoff = sections;
	eh.e_shstrndx = (uint16_t)names;
	gelf_update_ehdr(e, &eh);
}

static void mkelf(const char *path, const struct mkelf *m)
{
	static unsigned char text[0x1000];
	static Elf64_Sym sym[64];
	static char str[8192];
	static char names[512];
	unsigned char note[36] = { 4, 0, 0, 0, 20,  0,	 0,   0,
				   3, 0, 0, 0, 'G', 'N', 'U', 0 };
	size_t n_names = 1;
	size_t n_str;
	uint64_t off = 0x2000;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	memset(sym, 0, sizeof(sym));
	elf_version(EV_CURRENT);
	Elf *e = elf_begin(fd, ELF_C_WRITE, NULL);
	elf_flagelf(e, ELF_C_SET, ELF_F_LAYOUT);
	gelf_newehdr(e, ELFCLASS64);
	gelf_newphdr(e, 1);
	GElf_Phdr ph = { .p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = MKELF_OFF,
			 .p_vaddr = MKELF_TEXT,
			 .p_filesz = 0x1000,
			 .p_memsz = 0x1000 };
	gelf_update_phdr(e, 0, &ph);
	mkelf_section(e, names, &n_names, ".text", SHT_PROGBITS,
		      SHF_ALLOC | SHF_EXECINSTR, MKELF_TEXT, MKELF_OFF, text,
		      sizeof(text), ELF_T_BYTE);
	n_str = mkelf_symbols(m, sym, str);
	mkelf_section(e, names, &n_names, ".symtab", SHT_SYMTAB, 0, 0, off, sym,
		      (m->n_sym + 1) * sizeof(*sym), ELF_T_SYM);
	off += sizeof(sym);
	mkelf_section(e, names, &n_names, ".strtab", SHT_STRTAB, 0, 0, off, str,
		      n_str, ELF_T_BYTE);
	off += sizeof(str);
	if (m->id) {
		memcpy(note + 16, m->id, 20);
		mkelf_section(e, names, &n_names, ".note.gnu.build-id",
			      SHT_NOTE, 0, 0, off, note, sizeof(note),
			      ELF_T_BYTE);
		off += sizeof(note);
	}
	if (m->extra_name) {
		mkelf_section(e, names, &n_names, m->extra_name, SHT_PROGBITS,
			      m->extra_flags, 0, off, m->extra, m->extra_len,
			      ELF_T_BYTE);
		off += m->extra_len;
	}
	Elf_Scn *s = mkelf_section(e, names, &n_names, ".shstrtab", SHT_STRTAB,
				   0, 0, off, names, sizeof(names), ELF_T_BYTE);
	off += sizeof(names);
	mkelf_header(e, m, (off + 7) & ~(uint64_t)7, elf_ndxscn(s));
	if (elf_update(e, ELF_C_WRITE) < 0)
		abort();
	elf_end(e);
	close(fd);
}
/* Writes v at p + at and returns the place behind it. */
static inline size_t mkelf_put32(unsigned char *p, size_t at, uint32_t v)
{
	v = htole32(v);
	memcpy(p + at, &v, 4);
	return at + 4;
}

static inline size_t mkelf_put64(unsigned char *p, size_t at, uint64_t v)
{
	v = htole64(v);
	memcpy(p + at, &v, 8);
	return at + 8;
}
