/* ftrace_counts.c - changes every length, count and offset of a trace.dat.
 *
 * usage: damage-ftrace_counts CAPTURE N SEED: see tests/counts.h. Of the
 * lengths of entries, N are taken, with this seed. Prints the numbers of tries
 * and of silent changes. */
#include "formats/ftrace/ftrace.h"
#include "tests/counts.h"

/* ---- pages */

static void counts_page(struct counts *c, uint64_t off, uint64_t size)
{
	uint64_t commit = counts_get(c, off + 8, 8) & 0x3fffffff;
	uint64_t at = off + 16;

	mem_grow(c->field, c->cap_field, c->n_field + 1);
	c->field[c->n_field++] =
		(struct count){ off + 8, 8, 0, 30, "length of a page" };
	if (commit > size - 16)
		return;
	while (at + 4 < off + 16 + commit) {
		uint32_t w = (uint32_t)counts_get(c, at, 4);
		uint32_t type = c->big ? w >> 27 : w & 31;
		uint64_t len = counts_get(c, at + 4, 4);

		if (type == 29 && !(c->big ? w & 0x7ffffff : w >> 5))
			return;
		struct count f = { at + 4, 4, 0, 32, "length of an entry" };

		if (type && type < 29)
			f = (struct count){ at, 4, c->big ? 27 : 0, 5,
					    "words of an entry" };
		if (type < 30)
			counts_note_entry(c, &f);
		at += type > 29		  ? 8
		      : type && type < 29 ? 4 + type * 4
					  : 4 + len;
	}
}

static void counts_ring(struct counts *c, uint64_t off, uint64_t len,
			uint64_t page, bool packed)
{
	uint64_t was = c->at;

	c->at = off;
	if (packed && len)
		for (uint64_t n = counts_take(c, 4, "chunks of a ring");
		     n && !c->bad; n--) {
			uint64_t size = counts_take(c, 4, "packed chunk");

			counts_take(c, 4, "size of a chunk");
			counts_skip(c, size);
		}
	for (uint64_t at = 0;
	     !packed && page && len - at >= page && off + at + page <= c->n;
	     at += page)
		counts_page(c, off + at, page);
	c->at = was;
}

/* ---- the parts of both versions */

static void counts_formats(struct counts *c, const char *what)
{
	for (uint64_t n = counts_take(c, 4, what); n && !c->bad; n--)
		counts_skip(c, counts_take(c, 8, "length of a format"));
}

static void counts_systems(struct counts *c)
{
	for (uint64_t n = counts_take(c, 4, "number of systems"); n && !c->bad;
	     n--) {
		counts_skip_text(c);
		counts_formats(c, "formats of a system");
	}
}

static void counts_meta(struct counts *c, unsigned int id)
{
	switch (id) {
	case FT_HEADER_INFO:
		counts_skip_text(c);
		counts_skip(c, counts_take(c, 8, "length of header_page"));
		counts_skip_text(c);
		counts_skip(c, counts_take(c, 8, "length of header_event"));
		break;
	case FT_FTRACE_EVENTS:
		counts_formats(c, "formats of ftrace");
		break;
	case FT_EVENT_FORMATS:
		counts_systems(c);
		break;
	case FT_CMDLINES:
		counts_skip(c, counts_take(c, 8, "length of the names"));
		break;
	default:
		counts_skip(c, counts_take(c, 4, "length of a text"));
	}
}

/* ---- version 6 */

static void counts_table6(struct counts *c, uint64_t cpus, uint64_t page)
{
	counts_skip(c, 10);
	for (; cpus && !c->bad; cpus--) {
		uint64_t off = counts_take(c, 8, "offset of a ring");
		uint64_t len = counts_take(c, 8, "length of a ring");

		counts_ring(c, off, len, page, false);
	}
}

static void counts_version6(struct counts *c, uint64_t page)
{
	for (unsigned int id = FT_HEADER_INFO; id <= FT_CMDLINES; id++)
		counts_meta(c, id);
	uint64_t cpus = counts_take(c, 4, "number of CPUs");

	if (!memcmp(c->data + c->at, "options  ", 10)) {
		counts_skip(c, 10);
		while (!c->bad) {
			uint64_t id = counts_take(c, 2, NULL);

			if (!id)
				break;
			uint64_t len = counts_take(c, 4, "length of an option");
			uint64_t next = c->at + len;

			if (id == FT_BUFFER) {
				uint64_t off =
					counts_take(c, 8, "offset of a buffer");

				c->at = off;
				counts_table6(c, cpus, page);
				c->at = next - len;
			}
			counts_skip(c, len);
		}
	}
	counts_table6(c, cpus, page);
}

/* ---- version 7 */

static void counts_buffer7(struct counts *c)
{
	uint64_t section = counts_take(c, 8, "offset of a section");
	bool packed = counts_get(c, section + 2, 2) & 1;

	counts_skip_text(c);
	counts_skip_text(c);
	uint64_t page = counts_take(c, 4, "page size of a buffer");
	uint64_t cpus = counts_take(c, 4, "rings of a buffer");

	for (; cpus && !c->bad; cpus--) {
		counts_skip(c, 4);
		uint64_t off = counts_take(c, 8, "offset of a ring");
		uint64_t len = counts_take(c, 8, "length of a ring");

		counts_ring(c, off, len, page, packed);
	}
}

static void counts_options7(struct counts *c, uint64_t end)
{
	while (c->at < end && !c->bad) {
		uint64_t id = counts_take(c, 2, NULL);
		uint64_t len = counts_take(c, 4, "length of an option");
		uint64_t next = c->at + len;

		if (id == FT_OPTIONS)
			counts_note(c, c->at, 8, "offset of options");
		else if (id == FT_BUFFER)
			counts_buffer7(c);
		else if (id >= FT_HEADER_INFO && id <= FT_CMDLINES)
			counts_note(c, c->at, 8, "offset of a section");
		c->at = next;
	}
}

static void counts_version7(struct counts *c)
{
	counts_skip_text(c);
	counts_skip_text(c);
	counts_take(c, 8, "offset of options");
	while (c->at < c->n && !c->bad) {
		uint64_t id = counts_take(c, 2, NULL);
		bool packed = counts_take(c, 2, NULL) & 1;

		counts_skip(c, 4);
		uint64_t size = counts_take(c, 8, "size of a section");
		uint64_t next = c->at + size;

		if (id == FT_OPTIONS)
			counts_options7(c, next);
		else if (packed && id != FT_BUFFER) {
			counts_take(c, 4, "packed section");
			counts_take(c, 4, "size of a packed section");
		} else if (id >= FT_HEADER_INFO && id <= FT_CMDLINES)
			counts_meta(c, (unsigned int)id);
		c->at = next;
	}
}

static void counts_find(struct counts *c)
{
	c->at = FT_MAGIC_LEN;
	bool seven = c->data[c->at] == '7';

	counts_skip_text(c);
	c->big = c->data[c->at];
	counts_skip(c, 2);
	uint64_t page = counts_take(c, 4, "page size");

	if (seven)
		counts_version7(c);
	else
		counts_version6(c, page);
}

int main(int argc, char **argv)
{
	return counts_main(argc, argv, "damage-ftrace_counts CAPTURE",
			   counts_find);
}
