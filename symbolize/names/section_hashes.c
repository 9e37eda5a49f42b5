/* section_hashes.c - hashes the sections that names were read from.
 *
 * A build-id identifies a build, not the bytes of a file: a patched file keeps
 * it, and a rebuilt one may have the same. The hashes show whether a file has
 * changed since. */
#include "symbolize/names/section_hashes.h"

#include <string.h>

#include "stitch/tasks/frame.h"
#include "stitch/base/table.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/elf/elf.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"

static bool section_hashes_section(const struct elf_file *ef,
				   const struct elf_section *s, uint64_t *hash)
{
	if (s->flags & SHF_EXECINSTR && s->type == SHT_PROGBITS) {
		/* in chunks: code may be 100 MB, and is otherwise read in small
		 * pieces */
		unsigned char buf[65536];
		uint64_t h = 0;

		for (uint64_t at = 0; at < s->size;) {
			uint64_t left = s->size - at;
			size_t n =
				left < sizeof(buf) ? (size_t)left : sizeof(buf);
			size_t got = elf_read(ef, s->off + at, buf, n);

			if (got != n)
				return false;
			h = hash_content(buf, n, h);
			at += n;
		}
		*hash = h;
		return true;
	}
	/* hashed as stored: decompressing would take ten times as long */
	Elf_Data *d = s->type == SHT_NOBITS ? NULL : elf_rawdata(s->scn, NULL);

	if (!d || !d->d_buf)
		return false;
	*hash = hash_content(d->d_buf, d->d_size, 0);
	return true;
}

bool section_hashes_of_file(const char *file, const char *section,
			    const struct image *img, uint64_t *hash)
{
	struct elf_file *ef = elf_file_open(file, NULL);
	struct elf_section s;
	bool found = false;

	if (ef && (!img->id_len || !ef->id_len ||
		   elf_same_id(ef->id, ef->id_len, img->id, img->id_len))) {
		dwarf_has(ef);
		found = elf_section_find(ef, section, &s) &&
			section_hashes_section(ef, &s, hash);
	}
	elf_file_close(ef);
	return found;
}

bool section_hashes_same(const struct elf_file *ef, const char *section,
			 uint64_t hash, uint64_t *size)
{
	struct elf_section s;
	uint64_t now;

	dwarf_has(ef);
	if (!elf_section_find(ef, section, &s) ||
	    !section_hashes_section(ef, &s, &now))
		return false;
	*size = s.size;
	return now == hash;
}

bool section_hashes_text(const struct elf_file *ef, struct section_used *out)
{
	struct elf_section s;

	*out = (struct section_used){ .file = ef->path,
				      .name = SECTION_HASHES_TEXT };
	return ef->fd >= 0 && elf_section_find(ef, out->name, &s) &&
	       section_hashes_section(ef, &s, &out->hash);
}

void section_hashes_add(const struct symbolizer *sy, const struct elf_file *ef,
			const struct elf_section *s)
{
	struct section_used u = { .file = ef->path, .name = s->name };

	/* Sections of the ELF file inside .gnu_debugdata are covered by the
	 * hash of that section. */
	if (sy->rep && *s->name && strcmp(ef->path, ".gnu_debugdata") != 0 &&
	    !report_find_section(sy->rep->used, sy->rep->n_used, u.file,
				 u.name) &&
	    section_hashes_section(ef, s, &u.hash))
		report_add_section(sy->rep, &u);
}

void section_hashes_add_debug(const struct symbolizer *sy,
			      const struct elf_file *ef)
{
	for (size_t i = 1, n = elf_sections(ef); i < n; i++) {
		struct elf_section s;

		if (elf_section_get(ef, i, &s) && dwarf_sections_reads(s.name))
			section_hashes_add(sy, ef, &s);
	}
}
