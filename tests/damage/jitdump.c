/* jitdump.c - cuts a jitdump file and flips its bytes, and reads each of them.
 *
 * usage: damage-jitdump FILE N SEED. N seeded cuts and N seeded flips, all in
 * this process (run it under sanitizers). Of a cut, all code whose record is
 * whole must be there, and a record that is cut must be in the ledger; of a
 * flip only an end is asked for: an error with a message, or all records. */
#include "formats/code/jitdump.h"
#include "stitch/tasks/jit.h"
#include "tests/damage.h"

static struct outcome damage_jitdump_read_bytes(const unsigned char *data,
						size_t n)
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

		o.n = jit_count(j);
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

static int damage_jitdump_try_cut(const unsigned char *data, uint64_t at)
{
	struct outcome o = damage_jitdump_read_bytes(data, at);

	if (!o.opened)
		return at >= 40 || !o.err.msg[0]
			       ? damage_complain("a cut that is not opened", at,
						 &o)
			       : 0;
	struct outcome less = damage_jitdump_read_bytes(data, at - (at > 40));

	/* one byte more is one code more, at most, and then it is whole */
	if (o.n < less.n || o.n > less.n + 1)
		return damage_complain("codes of a cut", at, &o);
	if (o.n > less.n && !less.damage)
		return damage_complain("a cut without a trace", at, &o);
	return 0;
}

int main(int argc, char **argv)
{
	size_t n;
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-jitdump FILE");
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_jitdump_read_bytes(data, n);

	for (uint64_t i = 0; i < tries; i++)
		bad += damage_jitdump_try_cut(data, random_below(n));
	bad += damage_flips(data, n, tries, 0, damage_jitdump_read_bytes);
	free(data);
	bad += !whole.n;
	return damage_done(argv[1], "codes", whole.n, tries, bad);
}
