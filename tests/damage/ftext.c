/* ftext.c - cuts a text of ftrace and flips its bytes, and reads each of them.
 *
 * usage: damage-ftext CAPTURE N SEED. N seeded cuts and N seeded flips, all in
 * this process (run it under sanitizers). Of a cut, every event whose line is
 * whole must be there, and a line that is cut must be in the ledger; of a flip
 * only an end is asked for: an error with a message, or all records. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/ftext.h"
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

/* Places of the events' lines. */
struct places {
	uint64_t *off;
	size_t n, cap;
};

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? state % n : 0;
}

static void read_source(struct source *src, struct outcome *o, struct places *e)
{
	struct record rec;
	struct ref ref;
	int got;

	while ((got = src->ops->next(src, &ref, &o->err)) > 0) {
		src->ops->decode(src, &ref, &rec, &o->err);
		if (rec.kind == REC_SAMPLE) {
			o->events++;
			if (e) {
				e->off = mem_grow(e->off, &e->cap, e->n + 1,
						  sizeof(*e->off));
				e->off[e->n++] = rec.off;
			}
		}
		src->ops->release(src, &ref);
	}
	o->failed = got < 0;
}

static struct outcome read_bytes(const unsigned char *data, size_t n,
				 struct places *e)
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
	/* what is left may look like nothing: read it all the same */
	struct source *src = ftext_ops.open(path, NULL, lg, &o.err);

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

static int try_cut(const unsigned char *data, uint64_t at,
		   const struct places *e)
{
	uint64_t start = at;
	uint64_t want = 0;

	while (start && data[start - 1] != '\n')
		start--;
	for (size_t i = 0; i < e->n; i++)
		want += e->off[i] < start;
	struct outcome o = read_bytes(data, at, NULL);

	if (!o.opened)
		return at && !o.err.msg[0] ? complain("no message", at, &o) : 0;
	if (o.failed || o.events != want)
		return complain("events of a cut", at, &o);
	if (start < at && !o.damage)
		return complain("a cut without a trace", at, &o);
	return 0;
}

static int try_flip(unsigned char *data, size_t n)
{
	uint64_t at[4];
	unsigned char was[4];
	uint64_t count = 1 + random_below(4);

	for (uint64_t i = 0; i < count; i++) {
		at[i] = random_below(n);
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
	struct places e = { 0 };
	size_t n;
	int bad = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: damage-ftext CAPTURE N SEED\n");
		return 2;
	}
	uint64_t tries = strtoull(argv[2], NULL, 10);

	state = strtoull(argv[3], NULL, 10) * 2654435769u + 88172645463325252u;
	unsigned char *data = slurp(argv[1], &n);
	struct outcome whole = read_bytes(data, n, &e);

	for (uint64_t i = 0; i < tries; i++)
		bad += try_cut(data, random_below(n), &e);
	for (uint64_t i = 0; i < tries; i++)
		bad += try_flip(data, n);
	free(data);
	free(e.off);
	printf("%s: %" PRIu64 " events, %" PRIu64 " cuts, %" PRIu64
	       " flips, %d failures\n",
	       argv[1], whole.events, tries, tries, bad);
	return bad != 0 || !whole.events;
}
