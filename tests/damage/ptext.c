/* ptext.c - cuts a text of perf script and flips its bytes, and reads each of
 * them.
 *
 * usage: damage-ptext TEXT N SEED. N seeded cuts and N seeded flips, all in
 * this process (run it under sanitizers). Of a cut, every sample whose first
 * line is whole must be there, and a line that is cut must be in the ledger; of
 * a flip only an end is asked for: an error with a message, or all records. */
#include "formats/ptext/ptext.h"
#include "stitch/base/mem.h"
#include "tests/damage.h"

/* Places of the samples' first lines. */
struct places {
	uint64_t *off;
	size_t n, cap;
};

static bool damage_ptext_seen(void *arg, struct source *src,
			      const struct ref *ref, const struct record *rec)
{
	struct places *e = arg;

	(void)src;
	(void)ref;
	if (!rec || rec->kind != REC_SAMPLE)
		return false;
	if (e)
		*mem_add(e->off, e->n, e->cap) = rec->off;
	return true;
}

static struct outcome damage_ptext_bytes(const unsigned char *data, size_t n,
					 struct places *e)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	char path[64];
	int fd = damage_file(data, n, path);
	struct source *src = ptext_ops.open(path, NULL, lg, &o.err);

	damage_read(src, lg, damage_ptext_seen, e, &o);
	close(fd);
	return o;
}

static int damage_ptext_cut(const unsigned char *data, uint64_t at,
			    const struct places *e)
{
	uint64_t start = at;
	uint64_t want = 0;

	while (start && data[start - 1] != '\n')
		start--;
	for (size_t i = 0; i < e->n; i++)
		want += e->off[i] < start;
	struct outcome o = damage_ptext_bytes(data, at, NULL);

	if (!o.opened)
		return at && !o.err.msg[0]
			       ? damage_complain("no message", at, &o)
			       : 0;
	if (o.failed || o.n != want)
		return damage_complain("samples of a cut", at, &o);
	if (start < at && !o.damage)
		return damage_complain("a cut without a trace", at, &o);
	return 0;
}

static struct outcome damage_ptext_plain(const unsigned char *data, size_t n)
{
	return damage_ptext_bytes(data, n, NULL);
}

int main(int argc, char **argv)
{
	struct places e = { 0 };
	size_t n;
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-ptext TEXT");
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_ptext_bytes(data, n, &e);

	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ptext_cut(data, random_below(n), &e);
	bad += damage_flips(data, n, tries, 0, damage_ptext_plain);
	free(data);
	free(e.off);
	bad += !whole.n;
	return damage_done(argv[1], "samples", whole.n, tries, bad);
}
