/* ftrace_counts.c - changes every length, count and offset of a trace.dat.
 *
 * usage: damage-ftrace_counts CAPTURE N SEED. Finds these fields by a walk of
 * its own. Sets each, one at a time, to 0, one less, one more, half, twice and
 * the maximum, and reads the result. A change is silent if fewer events are
 * read than of the whole capture and the ledger has no damage. Of the lengths
 * of entries, N are taken, with this seed. Prints the numbers of tries and of
 * silent changes. */
#include "formats/formats.h"
#include "formats/ftrace/ftrace.h"
#include "stitch/base/mem.h"
#include "tests/damage.h"

/* A field: shift and bits are of a bit field in a word of this width. */
struct count {
	uint64_t off;
	unsigned int width, shift, bits;
	const char *what;
};

struct counts {
	const unsigned char *data;
	size_t n;
	bool big;
	struct count *field;
	size_t n_field, cap_field;
	struct count *entry; /* lengths of entries */
	size_t n_entry, cap_entry;
	uint64_t at; /* of the walk */
	bool bad;    /* it left the file */
};

static uint64_t counts_get(const struct counts *c, uint64_t off,
			   unsigned int width)
{
	uint64_t v = 0;

	if (off > c->n || c->n - off < width)
		return 0;
	for (unsigned int i = 0; i < width; i++)
		v |= (uint64_t)c->data[off + (c->big ? width - 1 - i : i)]
		     << 8 * i;
	return v;
}

static void counts_put(const struct counts *c, unsigned char *to,
		       unsigned int width, uint64_t v)
{
	for (unsigned int i = 0; i < width; i++)
		to[c->big ? width - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

static void counts_note(struct counts *c, uint64_t off, unsigned int width,
			const char *what)
{
	c->field = mem_grow(c->field, &c->cap_field, c->n_field + 1,
			    sizeof(*c->field));
	c->field[c->n_field++] =
		(struct count){ off, width, 0, width * 8, what };
}

static void counts_note_entry(struct counts *c, const struct count *f)
{
	c->entry =
		mem_grow(c->entry, &c->cap_entry, c->n_entry + 1, sizeof(*f));
	c->entry[c->n_entry++] = *f;
}

/* Notes the field at the place of the walk, and returns its value. */
static uint64_t counts_take(struct counts *c, unsigned int width,
			    const char *what)
{
	uint64_t v = counts_get(c, c->at, width);

	if (what)
		counts_note(c, c->at, width, what);
	c->at += width;
	c->bad |= c->at > c->n;
	return v;
}

static void counts_skip(struct counts *c, uint64_t n)
{
	c->bad |= c->at > c->n || n > c->n - c->at;
	c->at += c->bad ? 0 : n;
}

static void counts_skip_text(struct counts *c)
{
	while (c->at < c->n && c->data[c->at])
		c->at++;
	counts_skip(c, 1);
}

/* ---- pages */

static void counts_page(struct counts *c, uint64_t off, uint64_t size)
{
	uint64_t commit = counts_get(c, off + 8, 8) & 0x3fffffff;
	uint64_t at = off + 16;

	c->field = mem_grow(c->field, &c->cap_field, c->n_field + 1,
			    sizeof(*c->field));
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

/* ---- tries */

static struct outcome counts_read(const unsigned char *data, size_t n)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	struct record rec;
	struct ref ref;
	char path[64];
	int got = 0;
	int fd = damage_file(data, n, path);
	struct source *src = formats_open(path, NULL, lg, &o.err);

	o.opened = src != NULL;
	if (src)
		o.failed = src->ops->scan(src, &o.err) != 0;
	while (src && !o.failed &&
	       (got = src->ops->next(src, &ref, &o.err)) > 0)
		o.n += ref.kind == CLASS_SAMPLE &&
		       !src->ops->decode(src, &ref, &rec, &o.err);
	o.failed |= got < 0;
	source_close(src);
	ledger_end(lg);
	o.damage = ledger_count(lg, LEDGER_DAMAGE);
	ledger_free(lg);
	close(fd);
	return o;
}

struct tries {
	uint64_t n, silent;
};

static void counts_try(struct counts *c, unsigned char *data,
		       const struct count *f, uint64_t whole, struct tries *t)
{
	uint64_t word = counts_get(c, f->off, f->width);
	uint64_t most =
		f->bits < 64 ? ((uint64_t)1 << f->bits) - 1 : UINT64_MAX;
	uint64_t v = word >> f->shift & most;
	const uint64_t to[] = { 0, v - 1, v + 1, v / 2, v * 2, most };

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		uint64_t want = to[i] & most;

		if (want == v)
			continue;
		counts_put(c, data + f->off, f->width,
			   (word & ~(most << f->shift)) | want << f->shift);
		struct outcome o = counts_read(data, c->n);

		t->n++;
		if (damage_is_silent(&o) ||
		    (o.opened && !o.failed && !o.damage && o.n < whole)) {
			t->silent++;
			fprintf(stderr, "%s: %" PRIu64 " became %" PRIu64 "\n",
				f->what, v, want);
			damage_complain("silent change", f->off, &o);
		}
	}
	counts_put(c, data + f->off, f->width, word);
}

int main(int argc, char **argv)
{
	struct counts c = { 0 };
	struct tries fields = { 0 };
	struct tries entries = { 0 };
	uint64_t most =
		damage_start(argc, argv, "damage-ftrace_counts CAPTURE");
	unsigned char *data = slurp_slurp(argv[1], &c.n);
	struct outcome whole = counts_read(data, c.n);

	c.data = data;
	if (whole.opened && !whole.damage)
		counts_find(&c);
	for (size_t i = 0; i < c.n_field; i++)
		counts_try(&c, data, &c.field[i], whole.n, &fields);
	for (uint64_t i = 0; i < most && c.n_entry; i++)
		counts_try(&c, data, &c.entry[random_below(c.n_entry)], whole.n,
			   &entries);
	printf("%s: %" PRIu64 " changes of %zu lengths and counts, %" PRIu64
	       " of them silent; %" PRIu64 " of entries, %" PRIu64
	       " silent%s\n",
	       argv[1], fields.n, c.n_field, fields.silent, entries.n,
	       entries.silent, c.bad ? "; not all were found" : "");
	free(c.field);
	free(c.entry);
	free(data);
	return fields.silent || c.bad;
}
