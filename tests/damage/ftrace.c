/* ftrace.c - cuts a trace.dat and flips its bytes, and reads each of them.
 *
 * usage: damage-ftrace CAPTURE N SEED. N seeded cuts and N seeded flips, all
 * in this process (run it under sanitizers). Of a cut inside the rings, every
 * event of a whole page (or packed chunk) in front must be there and the cut
 * must be in the ledger; of anything else only an end is asked for: an error
 * with a message, or all records handed out. */
#include "formats/formats.h"
#include "formats/ftrace/ftrace.h"
#include "stitch/base/mem.h"
#include "tests/damage.h"

/* Where the page or chunk of each event ends in the file. */
struct ends {
	uint64_t *end;
	size_t n, cap;
	uint64_t first; /* of the rings */
};

static void damage_ftrace_note_end(struct ft *ft, struct ends *e,
				   const struct ref *ref)
{
	const struct ft_stream *s = &ft->stream[ref->handle >> 48];
	uint64_t place = ref->handle & (((uint64_t)1 << 48) - 1);
	uint64_t end = s->off + (place / s->subbuf + 1) * s->subbuf;

	for (size_t i = 0; i < s->n_chunk; i++)
		if (place >= s->chunk[i].at &&
		    place - s->chunk[i].at < s->chunk[i].len)
			end = s->chunk[i].off + s->chunk[i].packed;
	*mem_add(e->end, e->n, e->cap) = end;
	if (!e->first || s->off < e->first)
		e->first = s->off;
}

/* Events, whatever stands in them. */
static bool damage_ftrace_seen(void *arg, struct source *src,
			       const struct ref *ref, const struct record *rec)
{
	(void)rec;
	if (ref->kind != CLASS_SAMPLE)
		return false;
	if (arg)
		damage_ftrace_note_end(ft_from_source(src), arg, ref);
	return true;
}

static struct outcome damage_ftrace_read_bytes(const unsigned char *data,
					       size_t n, struct ends *e)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	char path[64];
	int fd = damage_file(data, n, path);
	struct source *src = formats_open(path, NULL, lg, &o.err);

	damage_read(src, lg, damage_ftrace_seen, e, &o);
	close(fd);
	return o;
}

static int damage_ftrace_try_cut(const unsigned char *data, uint64_t at,
				 uint64_t last, const struct ends *e)
{
	struct outcome o = damage_ftrace_read_bytes(data, at, NULL);

	if (damage_is_silent(&o))
		return damage_complain("cut without a message", at, &o);
	/* with a page at least */
	if (!last || !damage_ends_before(e->end, e->n, at))
		return 0;
	if (!o.opened || o.failed)
		return damage_complain("cut inside the rings was refused", at,
				       &o);
	if (!o.damage && at < last)
		return damage_complain("cut is not in the ledger", at, &o);
	if (o.n != damage_ends_before(e->end, e->n, at))
		return damage_complain("cut loses whole pages", at, &o);
	return 0;
}

static struct outcome damage_ftrace_read_plain(const unsigned char *data,
					       size_t n)
{
	return damage_ftrace_read_bytes(data, n, NULL);
}

int main(int argc, char **argv)
{
	struct ends e = { 0 };
	uint64_t last = 0;
	size_t n;
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-ftrace CAPTURE");
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_ftrace_read_bytes(data, n, &e);

	/* behind the rings stand names of sections only, which nobody needs */
	for (size_t i = 0; whole.opened && !whole.damage && i < e.n; i++)
		last = e.end[i] > last ? e.end[i] : last;
	for (uint64_t i = 0; i < tries; i++) {
		/* half of them inside the rings */
		uint64_t at = i & 1 && last > e.first
				      ? e.first + random_below(last - e.first)
				      : random_below(n);

		bad += damage_ftrace_try_cut(data, at, last, &e);
	}
	bad += damage_flips(data, n, tries, 4, damage_ftrace_read_plain);
	free(data);
	free(e.end);
	return damage_done(argv[1], "events", whole.n, tries, bad);
}
