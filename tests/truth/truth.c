/* truth.c - takes records out of captures in which nothing was lost, and asks
 * whether the audit says exactly that.
 *
 * usage: truth [--edits] CAPTURE...; prints ok and not ok lines, one per kind
 * of change. BACKSTITCH_SEED=n: other cases; BACKSTITCH_CASE=n: that one alone,
 * in words; BACKSTITCH_PAIR=n: the same of one of two captures;
 * BACKSTITCH_CASES=n: how many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/truth/truth.h"

#define CAPTURES_MAX 32
#define CASES 30000
#define GROUP 16	/* cases of one slice */
#define WHOLE_EVERY 101 /* groups: one of them is a whole capture */
#define WHOLE_CASES 12
#define SHOW_MAX 4 /* failures of a kind that are shown */
#define STORE_EVERY 50
#define PAIR_EVERY 4 /* ordinary cases for one of two captures */
#define PAIR_GROUP 8 /* cases of one slice */

/* How losses are told of: not; by LOST; by LOST and the sums at the end. */
enum told {
	TOLD_NOT,
	TOLD_LOST,
	TOLD_ALL,
	N_TOLD
};

struct tally {
	uint32_t done, bad;
};

struct truth {
	struct capture cap[CAPTURES_MAX];
	size_t n_cap;
	uint64_t seed;
	bool one; /* a single case, in words */
	struct slice slice;
	struct result base, got;
	struct expect ex;
	struct change change;
	struct pair pair;
	struct tally tally[N_CHANGES][N_TOLD], clean, whole, store;
	struct tally pairs, across;
};

static struct truth t;

static uint64_t truth_number(const char *name, uint64_t otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtoull(v, NULL, 10) : otherwise;
}

static uint64_t seed_of(uint64_t n, uint64_t salt)
{
	uint64_t s = t.seed ^ (salt << 56) ^ n * 0x9e3779b97f4a7c15u;

	return rnd(&s);
}

static void truth_failed(struct tally *y, uint64_t n, const char *what,
			 const struct report *rp)
{
	if (++y->bad > SHOW_MAX)
		return;
	printf("# case %" PRIu64 " of seed %" PRIu64 ", %s%s\n# %u: ", n,
	       t.seed, t.slice.cap->name, what, rp->n);
	for (const char *c = rp->text; *c; c++) {
		putchar(*c);
		if (*c == '\n' && c[1])
			printf("#   ");
	}
}

static enum kind truth_kind_of(uint64_t group)
{
	return CHANGE_CHAIN + (enum kind)(group % (N_CHANGES - 1));
}

/* A record of a capture around which the kind can be done. */
static bool find_place(enum kind kind, uint64_t *seed, const struct capture **c,
		       size_t *at)
{
	for (int tries = 0; tries < 2000; tries++) {
		*c = &t.cap[rnd_below(seed, t.n_cap)];
		*at = rnd_below(seed, (*c)->n);
		if (change_fits(&(*c)->rec[*at], kind))
			return true;
	}
	return false;
}

/* The untouched slice: nothing may be said against it. */
static bool base_is_clean(uint64_t group)
{
	struct report rp = { .n = 0 };

	t.change.text[0] = '\0';
	run_list(&t.slice, &t.slice.list, &t.base);
	model_run(&t.slice, &t.slice.list, &t.ex);
	check_model(&t.slice, &t.slice.list, &t.base, &t.ex, &rp);
	check_clean(&t.slice, &t.base, &rp);
	t.clean.done++;
	if (!rp.n)
		return true;
	truth_failed(&t.clean, group * GROUP, "", &rp);
	return false;
}

static void one_case(uint64_t n, enum kind kind)
{
	uint64_t seed = seed_of(n, 2);
	enum told told = (enum told)(n % N_TOLD);
	struct report rp = { .n = 0 };
	struct tally *y = &t.tally[kind][told];

	if (!change_make(&t.change, &t.slice, kind, told != TOLD_NOT,
			 told == TOLD_ALL, &seed))
		return;
	run_list(&t.slice, &t.change.list, &t.got);
	model_run(&t.slice, &t.change.list, &t.ex);
	check_model(&t.slice, &t.change.list, &t.got, &t.ex, &rp);
	check_rest(&t.slice, &t.change, &t.base, &t.got, &t.ex, &rp);
	check_found(&t.slice, &t.change, &t.got, &t.ex, &rp);
	check_told(&t.slice, &t.change, &t.base, &t.got, &rp);
	y->done++;
	if (rp.n)
		truth_failed(y, n, t.change.text, &rp);
	if (t.one)
		dump_case(&t.slice, &t.change.list, &t.got);
	if (n % STORE_EVERY)
		return;
	rp = (struct report){ .n = 0 };
	t.store.done++;
	if (check_store(&t.slice, &t.change.list, &t.got, &rp))
		truth_failed(&t.store, n, t.change.text, &rp);
}

static void one_group(uint64_t group, uint64_t only)
{
	uint64_t seed = seed_of(group, 1);
	enum kind kind = truth_kind_of(group);
	bool whole = group % WHOLE_EVERY == 0;
	const struct capture *c;
	size_t at;

	if (!find_place(kind, &seed, &c, &at))
		return;
	slice_make(&t.slice, c, at, 80 + rnd_below(&seed, 240), whole);
	if (!base_is_clean(group))
		return;
	for (uint64_t n = group * GROUP; n < (group + 1) * GROUP; n++) {
		if (whole && n >= group * GROUP + WHOLE_CASES)
			break;
		t.whole.done += whole;
		if (only == UINT64_MAX || n == only)
			one_case(n, kind);
	}
}

/* ---- two captures of one kernel */

static void one_pair(uint64_t n)
{
	uint64_t seed = seed_of(n, 4);
	const struct slice *both = &t.pair.both;
	struct report rp = { .n = 0 };

	if (!pair_make(&t.pair, &t.slice, &seed))
		return;
	run_list(both, &both->list, &t.got);
	model_run(both, &both->list, &t.ex);
	check_model(both, &both->list, &t.got, &t.ex, &rp);
	t.pairs.done++;
	t.across.done += t.got.n_copy != 0;
	if (rp.n)
		truth_failed(&t.pairs, n, t.pair.text, &rp);
	if (t.one)
		dump_case(both, &both->list, &t.got);
	if (n % STORE_EVERY)
		return;
	rp = (struct report){ .n = 0 };
	t.store.done++;
	if (check_store(both, &both->list, &t.got, &rp))
		truth_failed(&t.store, n, t.pair.text, &rp);
}

static void pair_group(uint64_t group, uint64_t only)
{
	uint64_t seed = seed_of(group, 3);
	const struct capture *c;
	size_t at;

	if (!find_place(CHANGE_CHAIN, &seed, &c, &at))
		return;
	slice_make(&t.slice, c, at, 80 + rnd_below(&seed, 240), false);
	for (uint64_t n = group * PAIR_GROUP; n < (group + 1) * PAIR_GROUP; n++)
		if (only == UINT64_MAX || n == only)
			one_pair(n);
}

static bool told_line(const char *what, const char *how, const struct tally *y)
{
	printf("%s %s%s: %" PRIu32 " cases",
	       !y->done || y->bad ? "not ok" : "ok", what, how, y->done);
	if (y->bad)
		printf(", %" PRIu32 " wrong", y->bad);
	printf("\n");
	return y->done && !y->bad;
}

static int truth_tell(void)
{
	static const char *const how[N_TOLD] = { "", ", LOST in its place",
						 ", LOST and the sums" };
	bool good = told_line("nothing is said of what nobody touched", "",
			      &t.clean);

	for (int k = CHANGE_CHAIN; k < N_CHANGES; k++)
		for (int h = 0; h < N_TOLD; h++)
			good &= told_line(change_names[k], how[h],
					  &t.tally[k][h]);
	good &= told_line("two captures of one kernel", ", losses in either",
			  &t.pairs);
	good &= told_line("two captures of one kernel",
			  " that both have a chain", &t.across);
	good &= told_line("sums and views of the store", "", &t.store);
	printf("# %" PRIu32 " cases on whole captures; seed %" PRIu64 "\n",
	       t.whole.done, t.seed);
	return !good;
}

int main(int argc, char **argv)
{
	uint64_t only = truth_number("BACKSTITCH_CASE", UINT64_MAX);
	uint64_t pair = truth_number("BACKSTITCH_PAIR", UINT64_MAX);
	uint64_t cases = truth_number("BACKSTITCH_CASES", CASES);
	int ret = 0;

	t.seed = truth_number("BACKSTITCH_SEED", 7);
	t.one = only != UINT64_MAX || pair != UINT64_MAX;
	bool edits = argc > 1 && !strcmp(argv[1], "--edits");

	for (int i = 1 + edits; i < argc && t.n_cap < CAPTURES_MAX; i++)
		t.n_cap += !capture_read(&t.cap[t.n_cap], argv[i]);
	if (!t.n_cap) {
		printf("not ok no capture to begin with\n");
		return 1;
	}
	if (edits)
		ret = !edits_tell(t.cap, t.n_cap, t.seed);
	t.one |= edits;
	if (only != UINT64_MAX)
		one_group(only / GROUP, only);
	if (pair != UINT64_MAX)
		pair_group(pair / PAIR_GROUP, pair);
	for (uint64_t g = 0; !t.one && g < cases / GROUP; g++)
		one_group(g, UINT64_MAX);
	for (uint64_t g = 0; !t.one && g < cases / PAIR_EVERY / PAIR_GROUP; g++)
		pair_group(g, UINT64_MAX);
	if (!t.one)
		ret = truth_tell();
	for (size_t i = 0; i < t.n_cap; i++)
		capture_release(&t.cap[i]);
	slice_release(&t.slice);
	result_release(&t.base);
	result_release(&t.got);
	expect_release(&t.ex);
	change_release(&t.change);
	pair_release(&t.pair);
	return ret;
}
