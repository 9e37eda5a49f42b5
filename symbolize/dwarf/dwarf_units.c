/* dwarf_units.c - the units of a file with debug information and their ranges.
 *
 * libdw reads the units in their order. A unit is shown to it as a whole or not
 * at all: libdw would take a part for the last unit. */
#include "symbolize/dwarf/dwarf_units.h"

#include <dwarf.h>

#include "stitch/base/mem.h"
#include "symbolize/dwarf/section_inflate.h"
#include "symbolize/elf/elf.h"

/* Ranges that are kept, of all units: a kernel has some 100,000. In a hostile
 * file all units may have the same long list. */
#define RANGES_MAX ((size_t)1 << 20)
/* A name is at most this many references away. */
#define HOPS_MAX 16

struct dwarf_units {
	Dwarf *dw;
	struct section_inflate *info, *line; /* NULL: all of it is there */
	struct dwarf_unit *unit;
	size_t n, cap;
	struct dwarf_range *range;
	size_t n_range, cap_range;
	Dwarf_CU *last; /* NULL: none was read */
	uint64_t end;	/* of the last one */
	bool whole;	/* nothing of the units is left to inflate */
	bool ended, damaged;
};

/* Makes the whole of a section readable. */
static void dwarf_units_need_section(struct dwarf_units *us,
				     struct section_inflate *si)
{
	if (si && !section_inflate_all(si))
		us->damaged = us->ended = true;
}

/* libdw ignores a section of which nothing is shown. */
static struct section_inflate *dwarf_units_open(struct dwarf_units *us,
						const struct elf_file *ef,
						const char *name, bool in_order)
{
	struct section_inflate *si = NULL;
	struct elf_section s;
	uint64_t end;

	if (elf_section_find(ef, name, &s))
		si = section_inflate_open(ef, &s, in_order);
	if (si && !section_inflate_part(si, 0, &end))
		dwarf_units_need_section(us, si);
	return si;
}

struct dwarf_units *dwarf_units_new(const struct elf_file *ef, bool lazy)
{
	struct dwarf_units *us = mem_new(1, sizeof(*us));

	if (!lazy)
		return us;
	us->info = dwarf_units_open(us, ef, ".debug_info", true);
	us->line = dwarf_units_open(us, ef, ".debug_line", false);
	return us;
}

void dwarf_units_free(struct dwarf_units *us)
{
	if (!us)
		return;
	section_inflate_close(us->info);
	section_inflate_close(us->line);
	free(us->unit);
	free(us->range);
	free(us);
}

void dwarf_units_begin(struct dwarf_units *us, Dwarf *dw)
{
	us->dw = dw;
	us->last = NULL;
	for (size_t i = 0; i < us->n; i++) {
		if (!dwarf_offdie(dw, us->unit[i].off, &us->unit[i].die)) {
			us->damaged = us->ended = true;
			return;
		}
		us->last = us->unit[i].die.cu;
	}
}

void dwarf_units_need_all(struct dwarf_units *us)
{
	dwarf_units_need_section(us, us->info);
	us->whole = true;
}

const struct dwarf_unit *dwarf_units_get(struct dwarf_units *us, size_t i)
{
	while (i >= us->n) {
		/* Reads the next unit. Returns false if there is none. */
		struct dwarf_unit u = { .n = 0 };
		struct dwarf_range r;
		Dwarf_Addr base;
		ptrdiff_t at = 0;
		uint8_t type;

		if (us->info && !us->whole && !us->ended &&
		    !section_inflate_part(us->info, us->end, &us->end))
			dwarf_units_need_all(us);
		if (us->ended || dwarf_get_units(us->dw, us->last, &us->last,
						 NULL, &type, &u.die, NULL))
			us->ended = true;
		if (us->ended)
			return NULL;
		u.skeleton = type == DW_UT_skeleton;
		u.off = dwarf_dieoffset(&u.die);
		u.first = us->n_range;
		bool has_code = dwarf_tag(&u.die) == DW_TAG_compile_unit ||
				dwarf_tag(&u.die) == DW_TAG_skeleton_unit;
		while (has_code && (at = dwarf_ranges(&u.die, at, &base,
						      &r.start, &r.end)) > 0) {
			if (us->n_range == RANGES_MAX) {
				u.unlisted = true;
				us->n_range = u.first;
				break;
			}
			*mem_add(us->range, us->n_range, us->cap_range) = r;
		}
		u.n = us->n_range - u.first;
		*mem_add(us->unit, us->n, us->cap) = u;
	}
	return us->damaged ? NULL : &us->unit[i];
}

const struct dwarf_range *dwarf_units_ranges(const struct dwarf_units *us,
					     const struct dwarf_unit *u)
{
	/* there is no array before the first range */
	return u->n ? us->range + u->first : NULL;
}

void dwarf_units_need_lines(struct dwarf_units *us, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Word off;
	uint64_t end;

	if (!us->line || !dwarf_attr(unit, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &off) ||
	    section_inflate_part(us->line, off, &end))
		return;
	dwarf_units_need_section(us, us->line);
}

bool dwarf_units_reach_out(const struct dwarf_units *us, const Dwarf_Die *die)
{
	Dwarf_Die at = *die;

	if (!us->info || us->whole)
		return false;
	for (int i = 0; i < HOPS_MAX; i++) {
		Dwarf_Attribute a;
		Dwarf_Attribute *ref =
			dwarf_attr(&at, DW_AT_abstract_origin, &a)
				?: dwarf_attr(&at, DW_AT_specification, &a);

		if (!ref)
			return false;
		if (!dwarf_formref_die(ref, &at))
			return true;
	}
	return false;
}

bool dwarf_units_damaged(const struct dwarf_units *us)
{
	return us->damaged;
}
