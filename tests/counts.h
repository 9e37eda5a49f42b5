/* counts.h - what the programs share that change every length, count and offset
 * of a capture, one at a time, and read the result.
 *
 * A program finds these fields by a walk of its own. Each is set to 0, one
 * less, one more, half, twice and the maximum: for a commit to one of seven
 * such values, in turn. A change is silent if fewer records are read than of
 * the whole capture and the ledger has no damage. */
#pragma once
#include "formats/formats.h"
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
	struct count *entry; /* of which only some are tried */
	size_t n_entry, cap_entry;
	struct outcome (*read)(const unsigned char *data, size_t n);
	uint64_t at;	 /* of the walk */
	bool bad;	 /* it left the file */
	uint64_t change; /* number of the next one */
};

static inline uint64_t counts_get(const struct counts *c, uint64_t off,
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

static inline void counts_put(const struct counts *c, unsigned char *to,
			      unsigned int width, uint64_t v)
{
	for (unsigned int i = 0; i < width; i++)
		to[c->big ? width - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

static inline void counts_note(struct counts *c, uint64_t off,
			       unsigned int width, const char *what)
{
	mem_grow(c->field, c->cap_field, c->n_field + 1);
	c->field[c->n_field++] =
		(struct count){ off, width, 0, width * 8, what };
}

static inline void counts_note_entry(struct counts *c, const struct count *f)
{
	*mem_add(c->entry, c->n_entry, c->cap_entry) = *f;
}

/* Notes the field at the place of the walk, and returns its value. */
static inline uint64_t counts_take(struct counts *c, unsigned int width,
				   const char *what)
{
	uint64_t v = counts_get(c, c->at, width);

	if (what)
		counts_note(c, c->at, width, what);
	c->at += width;
	c->bad |= c->at > c->n;
	return v;
}

static inline void counts_skip(struct counts *c, uint64_t n)
{
	c->bad |= c->at > c->n || n > c->n - c->at;
	c->at += c->bad ? 0 : n;
}

static inline void counts_skip_text(struct counts *c)
{
	while (c->at < c->n && c->data[c->at])
		c->at++;
	counts_skip(c, 1);
}

static inline struct outcome counts_read(const unsigned char *data, size_t n)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	struct record rec;
	struct ref ref;
	char path[64];
	uint64_t broken = 0;
	int got = 0;
	int fd = damage_file(data, n, path);
	struct source *src = formats_open(path, NULL, lg, &o.err);

	o.opened = src != NULL;
	if (src)
		o.failed = src->ops->scan(src, &o.err) != 0;
	while (src && !o.failed &&
	       (got = src->ops->next(src, &ref, &o.err)) > 0)
		if (src->ops->decode(src, &ref, &rec, &o.err))
			broken++; /* whoever orders them notes it as damage */
		else
			o.n += rec.kind != REC_NONE;
	o.failed |= got < 0;
	source_close(src);
	ledger_end(lg);
	o.damage = ledger_count(lg, LEDGER_DAMAGE) + broken;
	ledger_free(lg);
	close(fd);
	return o;
}

struct tries {
	uint64_t n, silent;
	uint64_t known; /* refused, or damage */
};

static inline void counts_try(struct counts *c, unsigned char *data,
			      const struct count *f, uint64_t whole,
			      struct tries *t)
{
	uint64_t word = counts_get(c, f->off, f->width);
	uint64_t most =
		f->bits < 64 ? ((uint64_t)1 << f->bits) - 1 : UINT64_MAX;
	uint64_t v = word >> f->shift & most;
	const uint64_t to[] = { 0, v - 1, v + 1, v / 2, v * 2, most };

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		uint64_t want = to[i] & most;

		if (want == v || !turn_is(c->change++, 7))
			continue;
		counts_put(c, data + f->off, f->width,
			   (word & ~(most << f->shift)) | want << f->shift);
		struct outcome o = c->read(data, c->n);

		t->n++;
		t->known += !o.opened || o.failed || o.damage;
		if (damage_is_silent(&o) ||
		    (o.opened && !o.failed && !o.damage && o.n < whole)) {
			t->silent++;
			fprintf(stderr, "%s: %" PRIu64 " became %" PRIu64 "\n",
				f->what, v, want);
			damage_complain("silent change", f->off, &o);
		} else if (o.opened && !o.failed && !o.damage &&
			   getenv("COUNTS")) {
			fprintf(stderr,
				"unnoticed: %s: %" PRIu64 " became %" PRIu64
				"\n",
				f->what, v, want);
		}
	}
	counts_put(c, data + f->off, f->width, word);
}

/* CAPTURE N SEED: all fields, and N of the entries. find sets off the walk,
 * unless the capture is damaged to begin with. */
static inline int counts_main(int argc, char **argv, const char *usage,
			      void (*find)(struct counts *c))
{
	struct counts c = { .read = counts_read };
	struct tries fields = { 0 };
	struct tries entries = { 0 };
	uint64_t most = damage_start(argc, argv, usage);
	unsigned char *data = slurp_slurp(argv[1], &c.n);
	struct outcome whole = counts_read(data, c.n);

	c.data = data;
	if (whole.opened && !whole.damage)
		find(&c);
	for (size_t i = 0; i < c.n_field; i++)
		counts_try(&c, data, &c.field[i], whole.n, &fields);
	for (uint64_t i = 0; i < most && c.n_entry; i++)
		counts_try(&c, data, &c.entry[random_below(c.n_entry)], whole.n,
			   &entries);
	printf("%s: %" PRIu64 " changes of %zu lengths and counts, %" PRIu64
	       " found, %" PRIu64 " silent; %" PRIu64 " of entries, %" PRIu64
	       " found, %" PRIu64 " silent%s\n",
	       argv[1], fields.n, c.n_field, fields.known, fields.silent,
	       entries.n, entries.known, entries.silent,
	       c.bad ? "; not all were found" : "");
	free(c.field);
	free(c.entry);
	free(data);
	return fields.silent || c.bad;
}
