/* dwarf_units.c - reads the units of a file with debug information and their
 * ranges.
 *
 * libdw reads the units in their order. A unit is shown to it as a whole or not
 * at all: libdw would take a part for the last unit. */
#include "symbolize/dwarf/dwarf_units.h"

#include <dwarf.h>
#include <gelf.h>
#include <zlib.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"

/* ---- inflates sections in parts. To inflate the debug information of a C
 * library takes longer than everything else for a small capture, and only a few
 * addresses need it. libelf and libdw see a section of the bytes that were
 * shown to them so far. The bytes do not move when more are shown. */

/* How many bytes are inflated at once. */
#define STEP ((uint64_t)64 << 10)
/* Raw deflate: the checksum after the data is over all bytes, and cannot check
 * a part. */
#define WINDOW (-15)

struct section_inflate {
	Elf_Scn *scn;
	Elf_Data *raw, *data; /* libelf's data of the section */
	unsigned char *buf;   /* has room for size bytes */
	uint64_t size;	      /* as its header states it */
	uint64_t n, shown;    /* bytes inflated so far */
	bool swap;
	bool whole, sound; /* all was inflated; its checksum is right */
	bool ended;	   /* there are no more bytes, or they are damaged */
	z_stream z;
};

/* Checks the two bytes before the data (RFC 1950): deflate, no dictionary.
 * Returns false if they differ. */
static bool section_inflate_begin(struct section_inflate *si, const void *p,
				  size_t n)
{
	struct bytes b;
	uint16_t head = 0;

	bytes_init(&b, p, n, "", 0, bytes_must_swap(true));
	if (bytes_u16(&b, &head, NULL) || head % 31 || head & 0x20 ||
	    (head >> 8 & 15) != Z_DEFLATED || bytes_left(&b) > UINT32_MAX)
		return false;
	si->z.next_in = (unsigned char *)b.pos;
	si->z.avail_in = (unsigned int)bytes_left(&b);
	return inflateInit2(&si->z, WINDOW) == Z_OK;
}

/* Sets how many bytes are shown: libdw reads the size of the data each time. */
static void section_inflate_show(struct section_inflate *si, uint64_t n)
{
	si->shown = n;
	si->raw->d_size = si->data->d_size = (size_t)n;
}

/* Takes over a section from libelf: it looks like one without compression, of
 * which nothing is shown. If it is not read in its order, its size is shown
 * from the start, as libdw compares offsets with it; then nothing may be read
 * before section_inflate_part() or section_inflate_all(). Returns NULL, and
 * changes nothing, if the section is not compressed by zlib. Memory for its
 * stated size is reserved: the caller has compared that with the size in the
 * file. ef is borrowed. */
static struct section_inflate *section_inflate_open(const struct elf_file *ef,
						    const struct elf_section *s,
						    bool in_order)
{
	size_t head = ef->elf && gelf_getclass(ef->elf) == ELFCLASS64
			      ? sizeof(Elf64_Chdr)
			      : sizeof(Elf32_Chdr);
	Elf_Data *raw = elf_rawdata(s->scn, NULL);
	Elf_Data *data = elf_getdata(s->scn, NULL);
	GElf_Chdr ch;
	GElf_Shdr sh;
	struct bytes b;

	if (!(s->flags & SHF_COMPRESSED) || !raw || !raw->d_buf || !data ||
	    !gelf_getchdr(s->scn, &ch) || ch.ch_type != ELFCOMPRESS_ZLIB ||
	    !ch.ch_size || !gelf_getshdr(s->scn, &sh))
		return NULL;
	bytes_init(&b, raw->d_buf, raw->d_size, "", 0, ef->swap);

	struct section_inflate *si = mem_new(1, sizeof(*si));

	if (bytes_skip(&b, head, NULL) ||
	    !section_inflate_begin(si, b.pos, bytes_left(&b))) {
		free(si);
		return NULL;
	}
	sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	sh.sh_size = ch.ch_size;
	gelf_update_shdr(s->scn, &sh);
	si->scn = s->scn;
	si->raw = raw;
	si->data = data;
	si->size = ch.ch_size;
	si->swap = ef->swap;
	/* pages that are not written take no memory */
	si->buf = mem_new(1, (size_t)si->size);
	raw->d_buf = data->d_buf = si->buf;
	section_inflate_show(si, in_order ? 0 : si->size);
	return si;
}

/* Frees the data; the section has no bytes any more. NULL is allowed. */
static void section_inflate_close(struct section_inflate *si)
{
	GElf_Shdr sh;

	if (!si)
		return;
	si->raw->d_buf = si->data->d_buf = NULL;
	section_inflate_show(si, 0);
	if (gelf_getshdr(si->scn, &sh)) {
		sh.sh_type = SHT_NOBITS;
		gelf_update_shdr(si->scn, &sh);
	}
	inflateEnd(&si->z);
	free_all(si->buf, si);
}

/* Inflates at least up to byte `end`. Returns false if there are fewer. */
static bool section_inflate_to(struct section_inflate *si, uint64_t end)
{
	while (si->n < end && !si->ended) {
		uint64_t left = si->size - si->n;
		uint64_t step = left < STEP ? left : STEP;

		si->z.next_out = si->buf + si->n;
		si->z.avail_out = (unsigned int)step;
		int rc = inflate(&si->z, Z_NO_FLUSH);

		si->n += step - si->z.avail_out;
		/* without an error it stops early only at the end */
		si->ended = rc != Z_OK || si->z.avail_out;
	}
	return si->n >= end;
}

/* Returns whether the checksum is right. It is after the data, most significant
 * byte first. */
static bool section_inflate_is_sound(const struct section_inflate *si)
{
	uint32_t sum = 0;
	uint64_t done = 0;
	uLong own = adler32(0, NULL, 0);
	struct bytes b;

	bytes_init(&b, si->z.next_in, si->z.avail_in, "", 0,
		   bytes_must_swap(true));
	if (si->n != si->size || bytes_u32(&b, &sum, NULL))
		return false;
	for (uint64_t n; done < si->n; done += n) {
		n = si->n - done < STEP ? si->n - done : STEP;
		own = adler32(own, si->buf + done, (unsigned int)n);
	}
	return own == sum;
}

/* Shows all bytes. Returns false if the data, the checksum or the stated size
 * is wrong; then nothing is shown any more. */
static bool section_inflate_all(struct section_inflate *si)
{
	unsigned char more;

	if (!si->whole) {
		section_inflate_to(si, si->size);
		/* After the last byte comes a mark, which inflate() may see
		 * only when it has room for more. */
		si->z.next_out = &more;
		si->z.avail_out = sizeof(more);
		if (inflate(&si->z, Z_NO_FLUSH) != Z_STREAM_END ||
		    !si->z.avail_out)
			si->n = 0;
		si->sound = section_inflate_is_sound(si);
		section_inflate_show(si, si->sound ? si->n : 0);
	}
	si->whole = true;
	return si->sound;
}

/* Shows the bytes up to the end of the part at byte off, which begins with its
 * length, as units and line tables do. Sets *end to that end. Returns false if
 * there is no complete part: the section ends, or is damaged. The checksum is
 * over all bytes, so it is tested only with the last one. */
static bool section_inflate_part(struct section_inflate *si, uint64_t off,
				 uint64_t *end)
{
	uint64_t long_len = 0;
	uint32_t len = 0;
	struct bytes b;

	/* 64-bit lengths have 12 bytes */
	if (off > si->size || si->size - off < 12)
		return false;
	section_inflate_to(si, off + 12);
	bytes_init(&b, si->buf, (size_t)si->n, "", 0, si->swap);
	if (bytes_skip(&b, off, NULL) || bytes_u32(&b, &len, NULL) ||
	    (len == UINT32_MAX && bytes_u64(&b, &long_len, NULL)))
		return false;
	uint64_t at = bytes_off(&b);
	if (__builtin_add_overflow(at, len == UINT32_MAX ? long_len : len,
				   end) ||
	    *end > si->size || !section_inflate_to(si, *end))
		return false;
	if (si->n == si->size)
		return section_inflate_all(si);
	if (*end > si->shown)
		section_inflate_show(si, *end);
	return true;
}

/* The most ranges that are kept, of all units: a kernel has some 100,000. In a
 * hostile file all units may have the same long list. */
#define RANGES_MAX ((size_t)1 << 20)
/* A name is at most this many references away. */
#define HOPS_MAX 16

struct dwarf_units {
	Dwarf *dw;
	struct section_inflate *info,
		*line; /* NULL: libelf has the whole section */
	struct dwarf_unit *unit;
	size_t n, cap;
	struct dwarf_range *range;
	size_t n_range, cap_range;
	Dwarf_CU *last; /* NULL: no unit was read */
	uint64_t end;	/* of the last unit */
	bool whole;	/* all units are inflated */
	bool ended, damaged;
};

/* Makes the whole of a section readable. */
static void dwarf_units_need_section(struct dwarf_units *us,
				     struct section_inflate *si)
{
	if (si && !section_inflate_all(si))
		us->damaged = us->ended = true;
}

/* Takes over a section that is compressed, or returns NULL. libdw ignores a
 * section of which nothing is shown. */
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
	free_all(us->unit, us->range, us);
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
		/* read the next unit */
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
