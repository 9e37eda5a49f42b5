/* ctf_meta.c - cuts the metadata of a CTF trace at each byte (for a commit at
 * each eighth), or at N if it is large, and flips its bytes, and reads each of
 * them.
 *
 * usage: damage-ctf_meta FILE N SEED, all in this process (run it under
 * sanitizers); damage-ctf_meta FILE prints the tree of FILE. Of a cut, all
 * event classes whose text is whole must be there once a stream class is; of a
 * flip only an end is asked for: an error with a message, or a tree. */
#include "formats/ctf/meta/tree.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "tests/ctf_dump.h"
#include "tests/damage.h"

#define EACH_BYTE 20000 /* bytes: what is larger is cut N times */
#define EACH_COMMIT 8	/* bytes: no event class is shorter */

static struct outcome damage_meta_read_bytes(const unsigned char *data,
					     size_t n)
{
	struct outcome o = { 0 };
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;
	/* a copy of just that size: nothing behind it may be read */
	unsigned char *copy = malloc(n ? n : 1);

	if (!copy)
		exit(2);
	memcpy(copy, data, n);
	bytes_init(&b, copy, n, "metadata", 0, false);
	o.opened = !ctf_tree_read(&arena, &b, &tree, &o.err);
	for (uint32_t i = 0; o.opened && i < tree.n_stream; i++)
		o.n += tree.stream[i].n_event;
	o.damage = o.opened && tree.n_stream;
	arena_release(&arena);
	free(copy);
	return o;
}

/* What came before a cut is still there: *last is the outcome of the cut before
 * this one. */
static int damage_meta_try_cut(const unsigned char *data, uint64_t at,
			       struct outcome *last)
{
	struct outcome o = damage_meta_read_bytes(data, at);
	int bad = 0;

	if (damage_is_silent(&o))
		bad = damage_complain("cut without a message", at, &o);
	else if (last->damage &&
		 (!o.opened || o.n < last->n || o.n > last->n + 1))
		bad = damage_complain("event classes of a cut", at, &o);
	*last = o;
	return bad;
}

static int damage_meta_print(const char *path)
{
	struct arena arena = { 0 };
	struct ctf_tree tree;
	struct bytes b;
	struct err err = { 0 };
	size_t n;
	unsigned char *data = slurp_slurp(path, &n);

	bytes_init(&b, data, n, "metadata", 0, false);
	int bad = ctf_tree_read(&arena, &b, &tree, &err);

	if (bad)
		printf("%s\n", err.msg);
	else
		ctf_dump(stdout, &tree);
	arena_release(&arena);
	free(data);
	return bad != 0;
}

int main(int argc, char **argv)
{
	size_t n;
	int bad = 0;

	if (argc == 2)
		return damage_meta_print(argv[1]);
	uint64_t tries = damage_start(argc, argv, "damage-ctf_meta FILE");
	unsigned char *data = slurp_slurp(argv[1], &n);
	struct outcome whole = damage_meta_read_bytes(data, n);
	uint64_t step = n <= EACH_BYTE ? 1 : n / (tries ? tries : 1) + 1;
	struct outcome last = { 0 };

	/* in large steps more than one event class comes at a time */
	for (uint64_t at = 0; at < n && step == 1; at++)
		if (turn_is(at, EACH_COMMIT))
			bad += damage_meta_try_cut(data, at, &last);
	for (uint64_t at = 0; at < n && step > 1; at += step) {
		last = damage_meta_read_bytes(data, at);
		bad += damage_meta_try_cut(data, at + 1, &last);
	}
	bad += damage_flips(data, n, tries, 0, damage_meta_read_bytes);
	free(data);
	bad += !whole.opened;
	return damage_done(argv[1], "event classes", whole.n, tries, bad);
}
