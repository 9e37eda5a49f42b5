/* jitdump.c - cuts a jitdump file and flips its bytes, and reads each of them.
 *
 * usage: damage-jitdump FILE N SEED. N seeded cuts and N seeded flips, all in
 * this process (run it under sanitizers). Of a cut, all code whose record is
 * whole must be there, and a record that is cut must be in the ledger; of a
 * flip only an end is asked for: an error with a message, or all records. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/code/jitdump.h"
#include "stitch/base/err.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"
#include "tests/slurp.h"

struct outcome {
	bool opened;
	size_t codes;
	uint64_t damage;
	struct err err;
};

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? state % n : 0;
}

static struct outcome read_bytes(const unsigned char *data, size_t n)
{
	const struct source_info info = { .has_time = true,
					  .clock = "monotonic" };
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	/* a copy of just that size: nothing behind it may be read */
	unsigned char *copy = malloc(n ? n : 1);

	if (!copy)
		exit(2);
	memcpy(copy, data, n);
	struct jitdump *d = jitdump_memory(copy, n, "damaged", &o.err);

	o.opened = d != NULL;
	if (d) {
		struct jit *j = jitdump_read(d, &info, lg, 0);

		o.codes = jit_count(j);
		for (int64_t t = 0; t < 5000; t += 100)
			jit_find(j, 0x1000 + (uint64_t)t % 64, t);
	}
	jitdump_close(d);
	ledger_end(lg);
	o.damage = ledger_count(lg, LEDGER_DAMAGE);
	ledger_free(lg);
	free(copy);
	return o;
}

static int complain(const char *what, uint64_t at, const struct outcome *o)
{
	fprintf(stderr,
		"%s at 0x%" PRIx64 ": opened %d codes %zu damage %" PRIu64
		": %s\n",
		what, at, o->opened, o->codes, o->damage, o->err.msg);
	return 1;
}

static int try_cut(const unsigned char *data, uint64_t at)
{
	struct outcome o = read_bytes(data, at);

	if (!o.opened)
		return at >= 40 || !o.err.msg[0]
			       ? complain("a cut that is not opened", at, &o)
			       : 0;
	struct outcome less = read_bytes(data, at - (at > 40));

	/* one byte more is one code more, at most, and then it is whole */
	if (o.codes < less.codes || o.codes > less.codes + 1)
		return complain("codes of a cut", at, &o);
	if (o.codes > less.codes && !less.damage)
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
	struct outcome o = read_bytes(data, n);

	for (uint64_t i = count; i-- > 0;)
		data[at[i]] = was[i];
	return !o.opened && !o.err.msg[0]
		       ? complain("flip without a message", at[0], &o)
		       : 0;
}

int main(int argc, char **argv)
{
	size_t n;
	int bad = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: damage-jitdump FILE N SEED\n");
		return 2;
	}
	uint64_t tries = strtoull(argv[2], NULL, 10);

	state = strtoull(argv[3], NULL, 10) * 2654435769u + 88172645463325252u;
	unsigned char *data = slurp(argv[1], &n);
	struct outcome whole = read_bytes(data, n);

	for (uint64_t i = 0; i < tries; i++)
		bad += try_cut(data, random_below(n));
	for (uint64_t i = 0; i < tries; i++)
		bad += try_flip(data, n);
	free(data);
	printf("%s: %zu codes, %" PRIu64 " cuts, %" PRIu64
	       " flips, %d failures\n",
	       argv[1], whole.codes, tries, tries, bad);
	return bad != 0 || !whole.codes;
}
