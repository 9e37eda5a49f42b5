/* damage_lines.h - cuts a text of records and flips its bytes, and reads each
 * of them.
 *
 * N seeded cuts and N seeded flips, all in this process (run it under
 * sanitizers). Of a cut, every record whose first line is whole must be there,
 * and a line that is cut must be in the ledger; of a flip only an end is asked
 * for: an error with a message, or all records. */
#pragma once
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "tests/damage.h"

static const struct source_ops *damage_lines_ops;

/* Places of the records' lines. */
struct places {
	uint64_t *off;
	size_t n, cap;
};

static bool damage_lines_seen(void *arg, struct source *src,
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

static struct outcome damage_lines_bytes(const unsigned char *data, size_t n,
					 struct places *e)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();
	char path[64];
	int fd = damage_file(data, n, path);
	/* what is left may look like nothing: read it all the same */
	struct source *src = damage_lines_ops->open(path, NULL, lg, &o.err);

	damage_read(src, lg, damage_lines_seen, e, &o);
	close(fd);
	return o;
}

static int damage_lines_cut(const unsigned char *data, uint64_t at,
			    const struct places *e)
{
	uint64_t start = at;
	uint64_t want = 0;

	while (start && data[start - 1] != '\n')
		start--;
	for (size_t i = 0; i < e->n; i++)
		want += e->off[i] < start;
	struct outcome o = damage_lines_bytes(data, at, NULL);

	if (!o.opened)
		return at && !o.err.msg[0]
			       ? damage_complain("no message", at, &o)
			       : 0;
	if (o.failed || o.n != want)
		return damage_complain("records of a cut", at, &o);
	if (start < at && !o.damage)
		return damage_complain("a cut without a trace", at, &o);
	return 0;
}

static struct outcome damage_lines_plain(const unsigned char *data, size_t n)
{
	return damage_lines_bytes(data, n, NULL);
}

/* usage: PROGRAM TEXT N SEED. what: its records are called so. */
static int damage_lines(int argc, char **argv, const struct source_ops *ops,
			const char *usage, const char *what)
{
	struct places e = { 0 };
	size_t n;
	int bad = 0;

	damage_lines_ops = ops;
	uint64_t tries = damage_start(argc, argv, usage);
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_lines_bytes(data, n, &e);

	for (uint64_t i = 0; i < tries; i++)
		bad += damage_lines_cut(data, random_below(n), &e);
	bad += damage_flips(data, n, tries, 0, damage_lines_plain);
	free(data);
	free(e.off);
	bad += !whole.n;
	return damage_done(argv[1], what, whole.n, tries, bad);
}
