/* diff_stats.h - which counts of samples differ by more than chance and loss.
 *
 * Two recordings count samples in the same places. A place is called changed
 * when its counts differ by more than two draws from one mix of places do, in
 * an exact test, and by more than what was lost could have hidden in it.
 *
 * Many places are asked at once, so the limit is Holm's: at most one picture
 * in a hundred (DIFF_ALPHA) shows any change that is none. Places with so few
 * samples that they could not pass in any case are not counted (Tarone).
 * Benjamini-Hochberg would show more, but a part of them wrong, and each wrong
 * one costs somebody an afternoon. Holm's steps also fit shares: where one
 * place takes more, all others take a smaller share of the whole. So the
 * clearest change is taken out of both wholes before the next step; what is
 * left is compared with what is left. */
#ifndef CLI_MODEL_DIFF_STATS_H
#define CLI_MODEL_DIFF_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_ALPHA 0.01

struct diff_place {
	uint64_t a, b;	       /* samples here */
	uint64_t may_a, may_b; /* of those counted elsewhere, or lost: how many
				* may belong here */
	bool skip;	       /* not to be judged */
	int change;	       /* out: 1 more, -1 less, 0 not proved */
	double p;	       /* out: chance of that without a change */
};

struct diff_whole {
	uint64_t a, b;		 /* samples of all places */
	uint64_t lost_a, lost_b; /* and those that are in no place */
	bool absolute;		 /* counts are compared, not shares */
	double unit_a, unit_b;	 /* weight of one sample */
};

/* The chance of two shares a/whole_a and b/whole_b so different, or more, when
 * both are samples of the same mix: Fisher's exact test, twice the smaller
 * tail. */
double diff_p_shares(uint64_t a, uint64_t whole_a, uint64_t b,
		     uint64_t whole_b);
/* The chance of b of a + b events, or what is less likely, when each is one of
 * b's with that chance: binomial, twice the smaller tail. */
double diff_p_rates(uint64_t a, uint64_t b, double chance);

/* Places that share no sample. Afterwards *left has the wholes without what
 * changed: the scale for anything else. */
void diff_judge(struct diff_place *p, size_t n, const struct diff_whole *w,
		struct diff_whole *left);
/* Places that may contain each other, by a scale from diff_judge(). */
void diff_judge_nested(struct diff_place *p, size_t n,
		       const struct diff_whole *left);
/* The weight in B for each 1 in A where nothing changed. */
double diff_scale(const struct diff_whole *left);
#endif
