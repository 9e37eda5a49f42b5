/* dwarf_sections.c - decides which debug sections of a file libdw may read. */
#include "symbolize/dwarf/dwarf_sections.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/kernel_module.h"

/* Real sections compress to a third, decompression bombs to a thousandth. */
#define SHRINK_MAX 64u
#define PACKED_BY_ZSTD 2u /* ELFCOMPRESS_ZSTD of newer headers */
#define SHRINK_FREE ((uint64_t)16 << 20)

static bool dwarf_sections_is_too_small(const struct elf_section *s,
					uint64_t plain)
{
	return plain > SHRINK_FREE && plain / SHRINK_MAX > s->size;
}

/* Returns whether a section is compressed in the way used before 2015, and by
 * -gz=zlib-gnu. */
static bool dwarf_sections_is_gnu(const struct elf_section *s)
{
	return !strncmp(s->name, ".zdebug_", 8);
}

static bool dwarf_sections_is_bomb(const struct elf_section *s)
{
	GElf_Chdr ch;

	if (dwarf_sections_is_gnu(s)) {
		/* the contents are "ZLIB" and the size, big-endian */
		Elf_Data *d = elf_rawdata(s->scn, NULL);
		struct bytes b;
		uint64_t plain = 0;

		if (!d || !d->d_buf || d->d_size < 12 ||
		    memcmp(d->d_buf, "ZLIB", 4))
			return false; /* unpacked already */
		bytes_init(&b, d->d_buf, d->d_size, "", 0, false);
		bytes_peek_u64(&b, 4, &plain);
		return dwarf_sections_is_too_small(s, be64toh(plain));
	}
	if (!(s->flags & SHF_COMPRESSED))
		return false;
	return !gelf_getchdr(s->scn, &ch) ||
	       dwarf_sections_is_too_small(s, ch.ch_size);
}

/* Returns the section's name without its first dot, and without the 'z' of the
 * old compression. */
static const char *dwarf_sections_plain_name(const struct elf_section *s)
{
	return s->name + (dwarf_sections_is_gnu(s) ? 2 : 1);
}

/* .dwo files add ".dwo" to the section names. */
static bool dwarf_sections_has_strings(const char *name)
{
	static const char *const texts[] = { "debug_str", "debug_line_str" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t n = strlen(texts[i]);

		if (!strncmp(name, texts[i], n) &&
		    (!name[n] || !strcmp(name + n, ".dwo")))
			return true;
	}
	return false;
}

/* Returns whether the strings end with a NUL: libdw 0.188 reads past the end of
 * a section without. */
static bool dwarf_sections_strings_end(const struct elf_section *s)
{
	if (!s->size || s->type == SHT_NOBITS ||
	    !dwarf_sections_has_strings(dwarf_sections_plain_name(s)))
		return true;
	/* fails if it was unpacked already, and libdw then uses that */
	if (dwarf_sections_is_gnu(s))
		elf_compress_gnu(s->scn, 0, 0);
	/* libdw will decompress it anyway */
	if (s->flags & SHF_COMPRESSED && elf_compress(s->scn, 0, 0) < 0)
		return false;
	Elf_Data *d = elf_getdata(s->scn, NULL);
	return d && d->d_buf && d->d_size &&
	       !((const char *)d->d_buf)[d->d_size - 1];
}

bool dwarf_sections_readable(const struct elf_file *ef, const char *info)
{
	bool found = false;

	for (size_t i = 1, n = elf_sections(ef); i < n; i++) {
		struct elf_section s;

		if (!elf_section_get(ef, i, &s))
			continue;
		if (strncmp(s.name, ".debug_", 7) != 0 &&
		    !dwarf_sections_is_gnu(&s))
			continue;
		if (dwarf_sections_is_bomb(&s) ||
		    !dwarf_sections_strings_end(&s))
			return false;
		if (!strcmp(dwarf_sections_plain_name(&s), info + 1))
			found = s.type != SHT_NOBITS && s.size;
	}
	return found;
}

bool dwarf_sections_are_zstd(const struct elf_file *ef)
{
	struct elf_section s;
	GElf_Chdr ch;

	return elf_section_find(ef, ".debug_info", &s) &&
	       s.flags & SHF_COMPRESSED && gelf_getchdr(s.scn, &ch) &&
	       ch.ch_type == PACKED_BY_ZSTD;
}

/* An index may lead to the very end of the strings, where there is none:
 * dwarf_formstring() of libdw 0.188 returns it, dwarf_getstring() does not. */
const char *dwarf_sections_string(Dwarf_Attribute *a)
{
	const char *s = dwarf_formstring(a);

	const unsigned int form = dwarf_whatform(a);

	if (!s || (form != DW_FORM_strx && form != DW_FORM_GNU_str_index &&
		   (form < DW_FORM_strx1 || form > DW_FORM_strx4)))
		return s;
	Dwarf *dw = dwarf_cu_getdwarf(a->cu);
	size_t len;
	const char *first = dwarf_getstring(dw, 0, &len);

	return first ? dwarf_getstring(dw, (Dwarf_Off)(s - first), &len) : NULL;
}

const char *dwarf_sections_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;

	return dwarf_sections_string(dwarf_attr(die, name, &a));
}

uint64_t dwarf_sections_number(Dwarf_Die *die, unsigned int name,
			       unsigned int gnu)
{
	Dwarf_Attribute a;
	Dwarf_Word v = 0;

	if (dwarf_formudata(dwarf_attr(die, name, &a), &v) &&
	    (!gnu || dwarf_formudata(dwarf_attr(die, gnu, &a), &v)))
		return 0;
	return v;
}

/* libdw decompresses every section it knows when it opens a file: for libc half
 * of the time went into location lists. Sections without bytes are skipped. */
bool dwarf_sections_reads(const char *section)
{
	static const char *const not_read[] = {
		".debug_aranges",  ".debug_frame",    ".debug_gdb_scripts",
		".debug_loc",	   ".debug_loclists", ".debug_macinfo",
		".debug_macro",	   ".debug_names",    ".debug_pubnames",
		".debug_pubtypes", ".debug_types",
	};

	if (strncmp(section, ".debug_", 7) != 0)
		return false;
	return !any_where(ARRAY_SIZE(not_read), k,
			  !strcmp(section, not_read[k]));
}

void dwarf_sections_drop_unread(const struct elf_file *ef)
{
	for (size_t i = 1, n = elf_sections(ef); i < n; i++) {
		struct elf_section s;
		GElf_Shdr sh;

		if (!elf_section_get(ef, i, &s) ||
		    strncmp(s.name, ".debug_", 7) != 0 ||
		    dwarf_sections_reads(s.name) || !gelf_getshdr(s.scn, &sh))
			continue;
		sh.sh_type = SHT_NOBITS;
		gelf_update_shdr(s.scn, &sh);
	}
}

/* Addresses for sections whose place is unknown: distinct, and never looked
 * up. */
#define FAR ((uint64_t)1 << 56)
#define FAR_STEP ((uint64_t)1 << 36)

bool relocate_debug(const struct elf_file *ef)
{
	const size_t n = elf_sections(ef);
	bool ok = true;

	/* Sections of a file in memory may overlap each other and what libelf
	 * has checked; those of a file on disk do not. */
	if (ef->fd < 0)
		return false;
	struct elf_section *sec OWNED = mem_new(n + 1, sizeof(*sec));
	for (size_t i = 1; i < n; i++)
		elf_section_get(ef, i, &sec[i]);
	kernel_module_layout(ef, sec, n);
	for (size_t i = 1; i < n; i++)
		if (sec[i].flags & SHF_ALLOC && !sec[i].addr)
			sec[i].addr = FAR + i * FAR_STEP;
	for (size_t i = 1; i < n && ok; i++) {
		const struct elf_section *s = &sec[i];

		if (s->type == SHT_RELA && s->info && s->info < n &&
		    s->link < n && sec[s->info].scn && sec[s->link].scn &&
		    sec[s->info].type == SHT_PROGBITS &&
		    dwarf_sections_reads(sec[s->info].name)) {
			const struct elf_section *to = &sec[s->info];

			/* libdw will decompress it anyway. */
			if (to->flags & SHF_COMPRESSED &&
			    elf_compress(to->scn, 0, 0) < 0)
				return false;
			Elf_Data *out = elf_rawdata(to->scn, NULL);

			ok = out && out->d_buf &&
			     elf_relocate(ef, sec, s, 0, out->d_buf,
					  out->d_size) >= 0;
		}
	}
	return ok;
}
