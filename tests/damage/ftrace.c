/* ftrace.c - cuts a trace.dat and flips its bytes, and reads each of them.
 *
 * usage: damage-ftrace CAPTURE N SEED. N seeded cuts and N seeded flips, all
 * in this process (run it under sanitizers). Of a cut inside the rings, every
 * event of a whole page (or packed chunk) in front must be there and the cut
 * must be in the ledger; of anything else only an end is asked for: an error
 * with a message, or all records handed out. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/ftrace.h"
#include "stitch/err.h"
#include "stitch/ledger.h"
#include "stitch/mem.h"
#include "stitch/source.h"
#include "tests/slurp.h"

struct outcome {
	bool opened, failed;
	uint64_t events, damage;
	struct err err;
};

/* Where the page or chunk of each event ends in the file. */
struct ends {
	uint64_t *end;
	size_t n, cap;
	uint64_t first; /* of the rings */
};

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? state % n : 0;
}

static void note_end(struct ft *ft, struct ends *e, const struct ref *ref)
{
	const struct ft_stream *s = &ft->stream[ref->handle >> 48];
	uint64_t place = ref->handle & (((uint64_t)1 << 48) - 1);
	uint64_t end = s->off + (place / s->subbuf + 1) * s->subbuf;

	for (size_t i = 0; i < s->n_chunk; i++)
		if (place >= s->chunk[i].at &&
		    place - s->chunk[i].at < s->chunk[i].len)
			end = s->chunk[i].off + s->chunk[i].packed;
	e->end = mem_grow(e->end, &e->cap, e->n + 1, sizeof(*e->end));
	e->end[e->n++] = end;
	if (!e->first || s->off < e->first)
		e->first = s->off;
}

static void read_source(struct source *src, struct outcome *o, struct ends *e)
{
	struct record rec;
	struct ref ref;
	int got;

	o->failed = src->ops->scan(src, &o->err) != 0;
	if (o->failed)
		return;
	while ((got = src->ops->next(src, &ref, &o->err)) > 0) {
		src->ops->decode(src, &ref, &rec, &o->err);
		if (ref.class != CLASS_SAMPLE)
			continue;
		o->events++;
		if (e)
			note_end(ft_of(src), e, &ref);
	}
	o->failed = got < 0;
}

static struct outcome read_bytes(const unsigned char *data, size_t n,
				 struct ends *e)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	char path[64];
	int fd = memfd_create("damage", 0);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
		fprintf(stderr, "cannot make a file in memory\n");
		exit(2);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct source *src = formats_open(path, NULL, lg, &o.err);

	o.opened = src != NULL;
	if (src)
		read_source(src, &o, e);
	source_close(src);
	close(fd);
	ledger_end(lg);
	o.damage = ledger_count(lg, LEDGER_DAMAGE);
	ledger_free(lg);
	return o;
}

static int complain(const char *what, uint64_t at, const struct outcome *o)
{
	fprintf(stderr,
		"%s at 0x%" PRIx64 ": opened %d failed %d events %" PRIu64
		" damage %" PRIu64 ": %s\n",
		what, at, o->opened, o->failed, o->events, o->damage,
		o->err.msg);
	return 1;
}

static uint64_t ends_before(const struct ends *e, uint64_t at)
{
	uint64_t n = 0;

	for (size_t i = 0; i < e->n; i++)
		n += e->end[i] <= at;
	return n;
}

static int try_cut(const unsigned char *data, uint64_t at, uint64_t last,
		   const struct ends *e)
{
	struct outcome o = read_bytes(data, at, NULL);

	if ((!o.opened || o.failed) && !o.err.msg[0])
		return complain("cut without a message", at, &o);
	/* with a page at least */
	if (!last || !ends_before(e, at))
		return 0;
	if (!o.opened || o.failed)
		return complain("cut inside the rings was refused", at, &o);
	if (!o.damage && at < last)
		return complain("cut is not in the ledger", at, &o);
	if (o.events != ends_before(e, at))
		return complain("cut loses whole pages", at, &o);
	return 0;
}

/* One to four bytes changed. */
static int try_flip(unsigned char *data, size_t n)
{
	uint64_t at[4];
	unsigned char was[4];
	uint64_t count = 1 + random_below(4);

	for (uint64_t i = 0; i < count; i++) {
		at[i] = random_below(random_below(4) ? n : 512);
		was[i] = data[at[i]];
		data[at[i]] ^= (unsigned char)(1 + random_below(255));
	}
	struct outcome o = read_bytes(data, n, NULL);

	for (uint64_t i = count; i-- > 0;)
		data[at[i]] = was[i];
	if ((!o.opened || o.failed) && !o.err.msg[0])
		return complain("flip without a message", at[0], &o);
	return 0;
}

int main(int argc, char **argv)
{
	struct ends e = { 0 };
	uint64_t last = 0;
	size_t n;
	int bad = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: damage-ftrace CAPTURE N SEED\n");
		return 2;
	}
	uint64_t tries = strtoull(argv[2], NULL, 10);

	state = strtoull(argv[3], NULL, 10) * 2654435769u + 88172645463325252u;
	unsigned char *data = slurp(argv[1], &n);
	struct outcome whole = read_bytes(data, n, &e);

	/* behind the rings stand names of sections only, which nobody needs */
	for (size_t i = 0; whole.opened && !whole.damage && i < e.n; i++)
		last = e.end[i] > last ? e.end[i] : last;
	for (uint64_t i = 0; i < tries; i++) {
		/* half of them inside the rings */
		uint64_t at = i & 1 && last > e.first
				      ? e.first + random_below(last - e.first)
				      : random_below(n);

		bad += try_cut(data, at, last, &e);
	}
	for (uint64_t i = 0; i < tries; i++)
		bad += try_flip(data, n);
	free(data);
	free(e.end);
	printf("%s: %" PRIu64 " events, %" PRIu64 " cuts, %" PRIu64
	       " flips, %d failures\n",
	       argv[1], whole.events, tries, tries, bad);
	return bad != 0;
}
