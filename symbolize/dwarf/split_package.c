/* split_package.c - .dwp packages: the .dwo files of a program in one file.
 *
 * No byte is copied: the data of libelf are made to begin and end where those
 * of the unit do. The string section is the only one without parts. */
#include "symbolize/dwarf/split_package.h"

#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"

/* Eight kinds of sections have numbers. */
#define COLUMNS_MAX 8
#define VERSION_GNU 2
#define VERSION_5 5

struct package_column {
	Elf_Data *data; /* what libdw will see; NULL: libdw need not see it */
	Elf_Data *raw;	/* the same bytes, as split_dwarf.c sees them */
	struct bytes whole;
};

struct split_package {
	struct elf_file *ef;
	uint32_t n_column, n_unit, n_slot;
	/* Tables of the index. */
	struct bytes id, row, off, len;
	struct package_column column[COLUMNS_MAX];
};

/* The sections that are needed, by their number in the index. */
static const char *split_package_name(uint32_t version, uint32_t number)
{
	switch (number) {
	case 1:
		return ".debug_info.dwo";
	case 3:
		return ".debug_abbrev.dwo";
	case 4:
		return ".debug_line.dwo";
	case 6:
		return ".debug_str_offsets.dwo";
	case 8:
		return version == VERSION_5 ? ".debug_rnglists.dwo" : NULL;
	default:
		return NULL;
	}
}

/* Takes the contents of a section, decompressed. Returns -1 if there are
 * none. */
static int split_package_take_section(const struct elf_file *ef,
				      const char *name,
				      struct package_column *out)
{
	struct elf_section s;

	if (!elf_section_find(ef, name, &s) || s.type == SHT_NOBITS ||
	    (s.flags & SHF_COMPRESSED && elf_compress(s.scn, 0, 0) < 0))
		return -1;
	Elf_Data *raw = elf_rawdata(s.scn, NULL);
	Elf_Data *data = elf_getdata(s.scn, NULL);
	if (!raw || !data || !raw->d_buf)
		return -1;
	out->raw = raw;
	out->data = data;
	bytes_init(&out->whole, out->raw->d_buf, out->raw->d_size, ef->path, 0,
		   ef->swap);
	return 0;
}

/* Finds the tables in .debug_cu_index, and the section of each column, which
 * may be missing if no unit has one. */
static int split_package_read_index(struct split_package *p)
{
	struct package_column index;
	uint32_t version, number;
	uint16_t number_5;
	struct bytes b, numbers;

	if (split_package_take_section(p->ef, ".debug_cu_index", &index))
		return -1;
	b = index.whole;
	/* version 5 is a number of 2 bytes and padding */
	if (bytes_peek_u16(&b, 0, &number_5) || bytes_u32(&b, &version, NULL))
		return -1;
	if (number_5 == VERSION_5)
		version = VERSION_5;
	if ((version != VERSION_GNU && version != VERSION_5) ||
	    bytes_u32(&b, &p->n_column, NULL) ||
	    bytes_u32(&b, &p->n_unit, NULL) ||
	    bytes_u32(&b, &p->n_slot, NULL) || p->n_column > COLUMNS_MAX ||
	    !p->n_slot || p->n_slot & (p->n_slot - 1))
		return -1;
	uint64_t each = 4 * (uint64_t)p->n_column;

	if (bytes_take(&b, 8 * (uint64_t)p->n_slot, &p->id, NULL) ||
	    bytes_take(&b, 4 * (uint64_t)p->n_slot, &p->row, NULL) ||
	    bytes_take(&b, each, &numbers, NULL) ||
	    bytes_take(&b, p->n_unit * each, &p->off, NULL) ||
	    bytes_take(&b, p->n_unit * each, &p->len, NULL))
		return -1;
	for (uint32_t i = 0; i < p->n_column; i++) {
		if (bytes_u32(&numbers, &number, NULL))
			return -1;
		const char *name = split_package_name(version, number);

		if (name)
			split_package_take_section(p->ef, name, &p->column[i]);
	}
	return 0;
}

/* Takes the names off the sections that are not cut, and off the index. With an
 * index, libdw 0.188 takes the file for one without .dwo sections, and 0.191
 * reads the index. */
static void split_package_hide_others(const struct split_package *p)
{
	for (size_t i = 1, n = elf_sections(p->ef); i < n; i++) {
		struct elf_section s;
		GElf_Shdr sh;

		if (!elf_section_get(p->ef, i, &s) ||
		    strncmp(s.name, ".debug_", 7) != 0 ||
		    !strcmp(s.name, ".debug_str.dwo") ||
		    any_where(p->n_column, k,
			      p->column[k].raw &&
				      p->column[k].raw ==
					      elf_rawdata(s.scn, NULL)) ||
		    !gelf_getshdr(s.scn, &sh))
			continue;
		sh.sh_name = 0;
		gelf_update_shdr(s.scn, &sh);
	}
}

struct split_package *split_package_open(struct symbolizer *sy,
					 const struct elf_file *ef)
{
	struct places places = { .n = 0 };
	struct split_package *p = NULL;

	locate_package(sy, ef, &places);
	for (size_t i = 0; i < places.n && !p; i++) {
		p = mem_new(1, sizeof(*p));
		p->ef = elf_file_open(places.path[i], NULL);
		if (p->ef &&
		    dwarf_sections_readable(p->ef, ".debug_info.dwo") &&
		    !split_package_read_index(p)) {
			split_package_hide_others(p);
			break;
		}
		split_package_close(p);
		p = NULL;
	}
	places_release(&places);
	return p;
}

void split_package_close(struct split_package *p)
{
	if (!p)
		return;
	elf_file_close(p->ef);
	free(p);
}

/* Looks up the row of a unit in the hash table. Returns -1 if it has none. */
static int split_package_find_row(const struct split_package *p, uint64_t id,
				  uint64_t *row)
{
	const uint64_t mask = p->n_slot - 1;
	const uint64_t step = (id >> 32 & mask) | 1;
	uint64_t at = id & mask;

	for (uint32_t i = 0; i < p->n_slot; i++) {
		uint64_t its;
		uint32_t number;

		if (bytes_peek_u64(&p->id, at * 8, &its) ||
		    bytes_peek_u32(&p->row, at * 4, &number) || !number ||
		    number > p->n_unit)
			return -1;
		*row = number - 1;
		if (its == id)
			return 0;
		at = (at + step) & mask;
	}
	return -1;
}

const struct elf_file *split_package_cut(struct split_package *p, uint64_t id)
{
	uint64_t row;

	if (split_package_find_row(p, id, &row))
		return NULL;
	for (uint32_t i = 0; i < p->n_column; i++) {
		struct package_column *c = &p->column[i];
		uint64_t at = 4 * (row * p->n_column + i);
		struct bytes b = c->whole;
		struct bytes part;
		uint32_t off, len;

		if (!c->data)
			continue;
		if (bytes_peek_u32(&p->off, at, &off) ||
		    bytes_peek_u32(&p->len, at, &len) ||
		    bytes_skip(&b, off, NULL) ||
		    bytes_take(&b, len, &part, NULL))
			return NULL;
		c->data->d_buf = c->raw->d_buf = (void *)part.pos;
		c->data->d_size = c->raw->d_size = len;
	}
	return p->ef;
}
