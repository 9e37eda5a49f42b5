/* perf.c - cuts a capture and flips its bytes, and reads each of them through.
 *
 * usage: damage-perf CAPTURE N SEED. N seeded cuts and N seeded flips, all in
 * this process (run it under sanitizers). Of a cut inside the records, every
 * whole record in front must be there and the cut must be in the ledger; of
 * anything else only an end is asked for: an error with a message, or all
 * records handed out. Prints one line and gives 0, or says what broke. */
#include "formats/formats.h"
#include "formats/perf/perf.h"
#include "stitch/base/mem.h"
#include "tests/damage.h"

/* Ends of the records of the whole capture, in file order. */
struct ends {
	uint64_t *end;
	size_t n, cap;
	uint64_t start;	      /* of the records */
	uint64_t first, last; /* a cut in [first, last) leaves a capture */
	bool plain; /* nothing packed: an end is a place in the file */
	bool pipe;  /* no length is recorded: a cut between records is no cut */
};

static void damage_perf_note_end(struct ends *e, const struct ref *ref)
{
	*mem_add(e->end, e->n, e->cap) =
		(ref->handle & (((uint64_t)1 << 48) - 1)) + ref->len;
}

static bool damage_perf_seen(void *arg, struct source *src,
			     const struct ref *ref, const struct record *rec)
{
	struct ends *e = arg;

	(void)src;
	(void)rec;
	if (e) {
		damage_perf_note_end(e, ref);
		e->plain &= !(ref->handle >> 48);
	}
	return true;
}

/* Reads n bytes as a capture from beginning to end. */
static struct outcome damage_perf_read_bytes(const unsigned char *data,
					     size_t n, struct ends *e)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	char path[64];
	int fd = damage_file(data, n, path);
	struct source *src = formats_open(path, NULL, lg, &o.err);

	if (src && e) {
		e->start = perf_of(src)->file[0].start;
		e->first = e->start;
		e->last = perf_of(src)->file[0].end;
		e->pipe = src->info.pipe || src->info.truncated;
	}
	damage_read(src, lg, damage_perf_seen, e, &o);
	close(fd);
	return o;
}

/* Is this the end of a record of any kind? Walks by sizes alone. */
static bool is_boundary(const unsigned char *data, uint64_t at,
			const struct ends *e)
{
	bool swap = data[0] == '2';
	uint64_t pos = e->start;

	while (pos + 8 <= at) {
		struct bytes b;
		uint32_t type = 0;
		uint32_t some = 0;
		uint64_t more = 0;
		uint16_t size = 0;

		bytes_init(&b, data + pos, (size_t)(at - pos), "", pos, swap);
		bytes_peek_u32(&b, 0, &type);
		bytes_peek_u16(&b, 6, &size);
		if (type == PR_TRACING_DATA)
			bytes_peek_u32(&b, 8, &some);
		if (type == PR_AUXTRACE)
			bytes_peek_u64(&b, 8, &more);
		pos += size + more + (some + UINT64_C(7)) / 8 * 8;
	}
	return pos == at;
}

/* A pipe describes its first event in its first record: without that one
 * there is nothing to read. */
static void skip_first(const unsigned char *data, size_t n, struct ends *e)
{
	struct bytes b;
	uint16_t size = 0;

	bytes_init(&b, data, n, "", 0, data[0] == '2');
	bytes_peek_u16(&b, e->start + 6, &size);
	e->first += size;
}

static int damage_perf_try_cut(const unsigned char *data, uint64_t at,
			       const struct ends *e)
{
	struct outcome o = damage_perf_read_bytes(data, at, NULL);

	if (damage_is_silent(&o))
		return damage_complain("cut without a message", at, &o);
	if (at < e->first || at >= e->last)
		return 0;
	if (!o.opened || o.failed)
		return damage_complain("cut inside the records was refused", at,
				       &o);
	if (!o.damage && !(e->pipe && is_boundary(data, at, e)))
		return damage_complain("cut is not in the ledger", at, &o);
	if (e->plain && o.n != damage_ends_before(e->end, e->n, at))
		return damage_complain("cut loses whole records", at, &o);
	return 0;
}

static struct outcome damage_perf_read_plain(const unsigned char *data,
					     size_t n)
{
	return damage_perf_read_bytes(data, n, NULL);
}

int main(int argc, char **argv)
{
	struct ends e = { .plain = true };
	size_t n;
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-perf CAPTURE");
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_perf_read_bytes(data, n, &e);

	/* of one that is damaged to begin with only an end is asked for */
	if (!whole.opened || whole.failed || whole.damage)
		e.first = e.last = 0;
	else if (e.pipe)
		skip_first(data, n, &e);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_perf_try_cut(data, random_below(n), &e);
	bad += damage_flips(data, n, tries, 2, damage_perf_read_plain);
	free(data);
	free(e.end);
	return damage_done(argv[1], "records", whole.n, tries, bad);
}
