/* split_dwarf.c - reads debug information that -gsplit-dwarf put into a .dwo
 * file.
 *
 * Addresses in it are indexes into .debug_addr of the program. Range lists are
 * in .debug_rnglists.dwo (DWARF 5) or in .debug_ranges of the program (GNU
 * extension of DWARF 4). */
#include "symbolize/dwarf/split_dwarf.h"

#include <dwarf.h>
#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/files/locate.h"

/* ---- packages. dwp and llvm-dwp write the sections of all units one after the
 * other; the index in .debug_cu_index has the part of each section that is a
 * unit's (DWARF 5, 7.3.5, and the GNU extension of DWARF 4). libdw 0.188 does
 * not read it. No byte is copied: the data of libelf are made to begin and end
 * where those of the unit do. Only the string section has no parts. */

/* Eight kinds of sections have numbers. */
#define COLUMNS_MAX 8
#define VERSION_GNU 2
#define VERSION_5 5

struct package_column {
	Elf_Data *data; /* data for libdw; NULL: libdw need not see it */
	Elf_Data *raw;	/* the same bytes, as split_dwarf.c sees them */
	struct bytes whole;
};

struct split_package {
	struct elf_file *ef;
	uint32_t n_column, n_unit, n_slot;
	/* The tables of the index. */
	struct bytes id, row, off, len;
	struct package_column column[COLUMNS_MAX];
};

/* Returns the name of a section that is needed, by its number in the index. */
static const char *split_package_name(uint32_t version, uint32_t number)
{
	switch (number) {
	case 1:
		return ".debug_info.dwo";
	case 3:
		return ".debug_abbrev.dwo";
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

/* Removes the names of sections that are not cut, and of the index. With an
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

/* Returns the file with each section cut to the part of the unit with this id,
 * so that it looks like the unit's .dwo file; NULL if the unit is not in it.
 * Borrowed until the next call. */
static const struct elf_file *split_package_cut(struct split_package *p,
						uint64_t id)
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

#define GNU_ADDR_INDEX 0x1f01 /* DW_FORM_GNU_addr_index */
/* Header sizes of .debug_rnglists in the 32-bit and 64-bit formats. */
#define LISTS_BASE 12
#define LISTS_BASE64 20

/* States of split_dwarf_walk. */
enum {
	WALK_BEGIN,
	WALK_LIST,  /* at: offset in the range list */
	WALK_PAIRS, /* at: offset in .debug_ranges */
	WALK_END
};

struct split_dwarf {
	const struct elf_file *ef;
	struct elf_file *own; /* NULL: ef is a package, borrowed */
	Dwarf *dw;
	Dwarf_Die unit;
	struct bytes info, lists; /* in the .dwo file */
	struct bytes addr, pairs; /* in the program */
	uint64_t addr_base, pairs_base, low;
	uint8_t width; /* bytes of an address */
};

/* ---- opening */

static void split_dwarf_section(const struct elf_file *ef, const char *name,
				struct bytes *out)
{
	struct elf_section s;
	Elf_Data *d = elf_section_find(ef, name, &s) && s.type != SHT_NOBITS
			      ? elf_rawdata(s.scn, NULL)
			      : NULL;

	bytes_init(out, d && d->d_buf ? d->d_buf : "",
		   d && d->d_buf ? d->d_size : 0, ef->path, 0, ef->swap);
}

/* Returns whether a .debug_info.dwo section holds types only: with
 * -fdebug-types-section gcc writes a section for each, before that of the unit;
 * clang has all in one. */
static bool split_dwarf_is_type(const struct elf_file *ef,
				const struct elf_section *s)
{
	if (s->flags & SHF_COMPRESSED)
		elf_compress(s->scn, 0, 0);

	Elf_Data *d = elf_getdata(s->scn, NULL);
	struct bytes b, unit;
	bool any = false;
	uint32_t word;

	bytes_init(&b, d && d->d_buf ? d->d_buf : "",
		   d && d->d_buf ? d->d_size : 0, ef->path, 0, ef->swap);
	while (!bytes_u32(&b, &word, NULL)) {
		uint64_t len = word;
		uint16_t version;
		uint8_t type;

		if ((word == UINT32_MAX && bytes_u64(&b, &len, NULL)) ||
		    bytes_take(&b, len, &unit, NULL) ||
		    bytes_u16(&unit, &version, NULL) || version < 5 ||
		    bytes_u8(&unit, &type, NULL) || type != DW_UT_split_type)
			return false;
		any = true;
	}
	return any;
}

/* Removes the names of sections that libdw 0.188 would take for the unit's: it
 * reads the first of a name and, in an object file of -gsplit-dwarf=single,
 * those without ".dwo" in place of those with it. */
static void split_dwarf_hide_others(const struct elf_file *ef)
{
	for (size_t i = 1, n = elf_sections(ef); i < n; i++) {
		struct elf_section s;
		GElf_Shdr sh;

		if (!elf_section_get(ef, i, &s) ||
		    (strncmp(s.name, ".debug_", 7) != 0 &&
		     strncmp(s.name, ".zdebug_", 8) != 0))
			continue;
		const char *end = strrchr(s.name, '.');
		bool split = !strcmp(end, ".dwo");

		if ((split && (strcmp(s.name, ".debug_info.dwo") != 0 ||
			       !split_dwarf_is_type(ef, &s))) ||
		    !gelf_getshdr(s.scn, &sh))
			continue;
		sh.sh_name = 0;
		gelf_update_shdr(s.scn, &sh);
	}
}

const char *split_dwarf_name(Dwarf_Die *skeleton)
{
	const char *name = dwarf_sections_text(skeleton, DW_AT_dwo_name);

	return name ? name : dwarf_sections_text(skeleton, DW_AT_GNU_dwo_name);
}

/* Opens the unit with this id. Takes ownership of `own`, even if there is no
 * such unit; ef NULL: the file cannot be read. */
static struct split_dwarf *split_dwarf_of(const struct elf_file *ef,
					  struct elf_file *own, uint64_t id)
{
	struct split_dwarf *s = mem_new(1, sizeof(*s));
	Dwarf_CU *cu = NULL;
	uint8_t type;

	s->ef = ef;
	s->own = own;
	if (ef)
		s->dw = dwarf_begin_elf(ef->elf, DWARF_C_READ, NULL);
	while (s->dw &&
	       !dwarf_get_units(s->dw, cu, &cu, NULL, &type, &s->unit, NULL)) {
		uint64_t its;

		if (type == DW_UT_split_compile &&
		    !dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &its, NULL,
				   NULL) &&
		    its == id)
			return s;
	}
	split_dwarf_close(s);
	return NULL;
}

struct split_dwarf *split_dwarf_open(struct symbolizer *sy,
				     const struct elf_file *ef,
				     struct split_package *package,
				     Dwarf_Die *skeleton)
{
	const char *name = split_dwarf_name(skeleton);
	const char *folder = dwarf_sections_text(skeleton, DW_AT_comp_dir);
	struct places p = { .n = 0 };
	struct split_dwarf *s = NULL;
	uint64_t id;
	uint8_t width;

	if (!name || dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id,
				   &width, NULL))
		return NULL;
	if (package)
		s = split_dwarf_of(split_package_cut(package, id), NULL, id);
	if (!s)
		locate_split(sy, ef, folder, name, &p);
	for (size_t i = 0; i < p.n && !s; i++) {
		struct elf_file *own = elf_file_open(p.path[i], NULL);
		bool readable =
			own && dwarf_sections_readable(own, ".debug_info.dwo");

		if (readable)
			split_dwarf_hide_others(own);
		s = split_dwarf_of(readable ? own : NULL, own, id);
	}
	places_release(&p);
	if (!s)
		return NULL;
	s->width = width;
	split_dwarf_section(s->ef, ".debug_info.dwo", &s->info);
	split_dwarf_section(s->ef, ".debug_rnglists.dwo", &s->lists);
	split_dwarf_section(ef, ".debug_addr", &s->addr);
	split_dwarf_section(ef, ".debug_ranges", &s->pairs);
	s->addr_base = dwarf_sections_number(skeleton, DW_AT_addr_base,
					     DW_AT_GNU_addr_base);
	s->pairs_base =
		dwarf_sections_number(skeleton, DW_AT_GNU_ranges_base, 0);
	if (dwarf_lowpc(skeleton, &s->low))
		s->low = 0;
	return s;
}

void split_dwarf_close(struct split_dwarf *s)
{
	if (!s)
		return;
	dwarf_end(s->dw);
	elf_file_close(s->own);
	free(s);
}

Dwarf_Die *split_dwarf_unit(struct split_dwarf *s)
{
	return &s->unit;
}

/* ---- addresses */

static int split_dwarf_take_address(const struct split_dwarf *s,
				    struct bytes *b, uint64_t *out)
{
	return s->width == 4 || s->width == 8
		       ? dwarf_number_fixed(b, s->width, false, out)
		       : -1;
}

static int split_dwarf_address_at(const struct split_dwarf *s, uint64_t i,
				  uint64_t *out)
{
	struct bytes b = s->addr;

	if (i > UINT32_MAX || bytes_skip(&b, s->addr_base, NULL) ||
	    bytes_skip(&b, i * s->width, NULL))
		return -1;
	return split_dwarf_take_address(s, &b, out);
}

/* Sets *out to the value of an attribute in .debug_info.dwo. */
static int split_dwarf_value(const struct split_dwarf *s,
			     const Dwarf_Attribute *a, struct bytes *out)
{
	*out = s->info;
	if (a->valp < out->pos || a->valp > out->end)
		return -1;
	out->pos = a->valp;
	return 0;
}

static int split_dwarf_address(const struct split_dwarf *s, Dwarf_Attribute *a,
			       uint64_t *out)
{
	struct bytes b;
	uint64_t i = 0;

	if (split_dwarf_value(s, a, &b))
		return -1;
	switch (a->form) {
	case DW_FORM_addr:
		return split_dwarf_take_address(s, &b, out);
	case DW_FORM_addrx:
	case GNU_ADDR_INDEX:
		return leb128_unsigned(&b, &i)
			       ? -1
			       : split_dwarf_address_at(s, i, out);
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		return dwarf_number_fixed(&b, a->form - DW_FORM_addrx1 + 1u,
					  false, &i)
			       ? -1
			       : split_dwarf_address_at(s, i, out);
	default:
		return -1;
	}
}

/* ---- ranges */

/* Looks up the offset of range list i. */
static int split_dwarf_list_at(const struct split_dwarf *s, uint64_t i,
			       uint64_t *out)
{
	struct bytes b = s->lists;
	uint32_t len;

	if (i > UINT32_MAX || bytes_u32(&b, &len, NULL))
		return -1;
	uint64_t base = len == UINT32_MAX ? LISTS_BASE64 : LISTS_BASE;
	unsigned int each = len == UINT32_MAX ? 8 : 4;

	b = s->lists;
	if (bytes_skip(&b, base + i * each, NULL))
		return -1;
	if (dwarf_number_fixed(&b, each, false, out))
		return -1;
	return __builtin_add_overflow(*out, base, out) ? -1 : 0;
}

/* Finds the range list of a DIE. */
static void split_dwarf_begin(const struct split_dwarf *s, Dwarf_Die *die,
			      struct split_dwarf_walk *w)
{
	Dwarf_Attribute a;
	struct bytes b;
	uint64_t i;

	w->state = WALK_END;
	w->base = s->low;
	if (!dwarf_attr(die, DW_AT_ranges, &a))
		return;
	if (a.form == DW_FORM_rnglistx) {
		if (!split_dwarf_value(s, &a, &b) && !leb128_unsigned(&b, &i) &&
		    !split_dwarf_list_at(s, i, &w->at))
			w->state = WALK_LIST;
		return;
	}
	if (split_dwarf_value(s, &a, &b) || a.form != DW_FORM_sec_offset)
		return;
	/* libdw would look for a section that is not in this file */
	uint32_t at;
	if (bytes_u32(&b, &at, NULL))
		return;
	w->at = at;
	w->state = WALK_LIST;
	if (bytes_left(&s->lists))
		return;
	w->state = __builtin_add_overflow(at, s->pairs_base, &w->at)
			   ? WALK_END
			   : WALK_PAIRS;
}

/* Reads the two operands of a range list entry. */
static int split_dwarf_take_pair(const struct split_dwarf *s, struct bytes *b,
				 uint8_t kind, uint64_t *x, uint64_t *y)
{
	uint64_t i;

	switch (kind) {
	case DW_RLE_startx_endx:
		return leb128_unsigned(b, &i)
			       ?: split_dwarf_address_at(s, i, x)
			       ?: leb128_unsigned(b, &i)
			       ?: split_dwarf_address_at(s, i, y);
	case DW_RLE_startx_length:
		return leb128_unsigned(b, &i) ||
				       split_dwarf_address_at(s, i, x) ||
				       leb128_unsigned(b, y) ||
				       __builtin_add_overflow(*x, *y, y)
			       ? -1
			       : 0;
	case DW_RLE_offset_pair:
		return leb128_unsigned(b, x) || leb128_unsigned(b, y) ? -1 : 0;
	case DW_RLE_start_end:
		return split_dwarf_take_address(s, b, x)
			       ?: split_dwarf_take_address(s, b, y);
	case DW_RLE_start_length:
		return split_dwarf_take_address(s, b, x) ||
				       leb128_unsigned(b, y) ||
				       __builtin_add_overflow(*x, *y, y)
			       ? -1
			       : 0;
	default:
		return -1;
	}
}

static bool split_dwarf_next_in_list(const struct split_dwarf *s,
				     struct split_dwarf_walk *w,
				     Dwarf_Addr *start, Dwarf_Addr *end)
{
	struct bytes b = s->lists;
	uint64_t i;
	uint8_t kind;

	if (bytes_skip(&b, w->at, NULL))
		return false;
	for (;;) {
		if (bytes_u8(&b, &kind, NULL) || kind == DW_RLE_end_of_list)
			return false;
		if (kind == DW_RLE_base_addressx) {
			if (leb128_unsigned(&b, &i) ||
			    split_dwarf_address_at(s, i, &w->base))
				return false;
		} else if (kind == DW_RLE_base_address) {
			if (split_dwarf_take_address(s, &b, &w->base))
				return false;
		} else if (split_dwarf_take_pair(s, &b, kind, start, end)) {
			return false;
		} else {
			break;
		}
	}
	if (kind == DW_RLE_offset_pair) {
		*start += w->base;
		*end += w->base;
	}
	w->at = bytes_off(&b);
	return true;
}

static bool split_dwarf_next_pair(const struct split_dwarf *s,
				  struct split_dwarf_walk *w, Dwarf_Addr *start,
				  Dwarf_Addr *end)
{
	const uint64_t all = s->width == 8 ? UINT64_MAX : UINT32_MAX;
	struct bytes b = s->pairs;

	if (bytes_skip(&b, w->at, NULL))
		return false;
	for (;;) {
		if (split_dwarf_take_address(s, &b, start) ||
		    split_dwarf_take_address(s, &b, end) || (!*start && !*end))
			return false;
		if (*start != all)
			break;
		w->base = *end;
	}
	*start += w->base;
	*end += w->base;
	w->at = bytes_off(&b);
	return true;
}

bool split_dwarf_range(const struct split_dwarf *s, Dwarf_Die *die,
		       struct split_dwarf_walk *w, Dwarf_Addr *start,
		       Dwarf_Addr *end)
{
	if (w->state == WALK_BEGIN) {
		Dwarf_Attribute low;
		Dwarf_Attribute high;
		Dwarf_Word n;
		if (dwarf_attr(die, DW_AT_low_pc, &low) &&
		    !split_dwarf_address(s, &low, start) &&
		    dwarf_attr(die, DW_AT_high_pc, &high) &&
		    (!split_dwarf_address(s, &high, end) ||
		     (!dwarf_formudata(&high, &n) &&
		      !__builtin_add_overflow(*start, n, end)))) {
			w->state = WALK_END;
			return true;
		}
		split_dwarf_begin(s, die, w);
	}
	bool got = w->state == WALK_LIST
			   ? split_dwarf_next_in_list(s, w, start, end)
		   : w->state == WALK_PAIRS
			   ? split_dwarf_next_pair(s, w, start, end)
			   : false;

	if (!got)
		w->state = WALK_END;
	return got;
}
