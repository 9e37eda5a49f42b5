/* ctf.c - cuts and flips the files of a CTF trace, and reads each of them.
 *
 * usage: damage-ctf METADATA N SEED. The trace is the folder of METADATA; N
 * seeded cuts of its largest stream file, N flips there, and N flips and cuts
 * of the metadata, all read in this process (run it under sanitizers). N 0: a
 * cut at each byte of the stream file, and nothing else. Of a
 * cut stream every event of a whole packet in front must be there, those of
 * the other streams too, and the cut must be in the ledger; of anything else
 * only an end is asked for: an error with a message, or all records. */
#include "tests/ctf_folder.h"

#define PAGE 4096

/* Events of the trace when this file ends with its packet k. */
struct learnt {
	uint64_t *events, *end;
	size_t n;
};

/* Recorders write whole pages, so that packets end at their ends: where a cut
 * is no damage. */
static void learn(const struct ctf_part *f, struct learnt *t)
{
	t->events = mem_new(f->len / PAGE + 2, sizeof(*t->events));
	t->end = mem_new(f->len / PAGE + 2, sizeof(*t->end));
	for (uint64_t off = 0; off <= f->len; off += PAGE) {
		ctf_folder_put(f, off);
		struct outcome o = ctf_folder_read();

		if (o.damage)
			continue;
		t->end[t->n] = off;
		t->events[t->n++] = o.n;
	}
	ctf_folder_put(f, f->len);
}

/* A cut packet is read as far as it is there. */
static int damage_ctf_try_cut(const struct ctf_part *f, uint64_t at,
			      const struct learnt *t)
{
	size_t k = t->n - 1;

	ctf_folder_put(f, at);
	struct outcome o = ctf_folder_read();

	ctf_folder_put(f, f->len);
	while (t->end[k] > at)
		k--;
	if (!o.opened || o.failed)
		return damage_complain("cut was refused", at, &o);
	if (t->end[k] != at && !o.damage)
		return damage_complain("cut is not in the ledger", at, &o);
	if (o.n < t->events[k])
		return damage_complain("cut loses whole packets", at, &o);
	if (k + 1 < t->n && o.n > t->events[k + 1])
		return damage_complain("cut makes events", at, &o);
	return 0;
}

static int damage_ctf_try_flip(struct ctf_part *f)
{
	struct flips fl;

	damage_flip(&fl, f->data, f->len, 0);
	ctf_folder_put(f, f->len);
	struct outcome o = ctf_folder_read();

	damage_flip_back(&fl, f->data);
	ctf_folder_put(f, f->len);
	return damage_is_silent(&o)
		       ? damage_complain("flip without a message", fl.at[0], &o)
		       : 0;
}

static int try_meta_cut(const struct ctf_part *f)
{
	uint64_t at = random_below(f->len);

	ctf_folder_put(f, at);
	struct outcome o = ctf_folder_read();

	ctf_folder_put(f, f->len);
	if (damage_is_silent(&o))
		return damage_complain("cut metadata without a message", at,
				       &o);
	return 0;
}

int main(int argc, char **argv)
{
	struct learnt t = { 0 };
	struct ctf_part *big = &file[1];
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-ctf TRACE/metadata");

	ctf_folder_take(argv[1]);
	for (size_t i = 2; i < n_file; i++)
		if (file[i].len > big->len)
			big = &file[i];
	learn(big, &t);
	if (!t.n || !t.events[t.n - 1]) {
		fprintf(stderr, "%s: no events\n", argv[1]);
		return 1;
	}
	const uint64_t cuts = tries ? tries : big->len;

	for (uint64_t i = 0; i < cuts; i++)
		bad += damage_ctf_try_cut(
			big, tries ? random_below(big->len) : i, &t);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ctf_try_flip(big);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ctf_try_flip(&file[0]) + try_meta_cut(&file[0]);
	uint64_t events = t.events[t.n - 1];

	if (!tries)
		printf("%s: cut at each of %" PRIu64 " bytes\n", big->name,
		       cuts);

	free(t.events);
	free(t.end);
	ctf_folder_remove();
	return damage_done(argv[1], "events", events, 2 * tries, bad);
}
