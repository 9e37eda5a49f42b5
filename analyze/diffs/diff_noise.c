/* diff_noise.c - how much more the samples of a row vary than by chance. */
#include "analyze/diffs/diff_noise.h"

#include "analyze/stacks/report_rows.h"
#include "stitch/base/mem.h"

/* So many blocks, and samples of each of them. */
#define BLOCKS_MIN 20
#define BLOCKS_MAX 400
#define BLOCK_SAMPLES 10
/* Noise of any length up to some blocks is looked for: one, two and four of
 * them together, as long as enough are left. */
#define MERGED_MAX 4
/* Fewer samples tell nothing of blocks. */
#define SAMPLES_MIN 100

struct diff_noises {
	const struct report_rows *rows;
	size_t n_block;
	double *all;   /* samples of each block */
	double *own;   /* of a row; between calls unused */
	size_t *first; /* by group: in block[]; one more at the end */
	size_t n_group;
	uint16_t *block; /* of each sample, ordered by group */
	double n;	 /* samples */
	size_t *hit;	 /* by row: in hits[]; one more at the end */
	uint32_t *hits;	 /* groups << 1, | 1 for self, ordered by row */
};

void diff_noises_free(struct diff_noises *n)
{
	if (!n)
		return;
	free_all(n->all, n->own, n->first, n->block, n->hit, n->hits, n);
}

/* Orders the rows' groups by row. */
static void noise_sort_hits(struct diff_noises *n)
{
	const struct report_hit *h = n->rows->hit;
	size_t count = n->rows->n_hit, rows = n->rows->n;

	n->hit = mem_new(rows + 2, sizeof(*n->hit));
	n->hits = mem_new(count, sizeof(*n->hits));
	for (size_t i = 0; i < count; i++) {
		n->hit[h[i].row + 2]++;
		if (h[i].group >= n->n_group)
			n->n_group = (size_t)h[i].group + 1;
	}
	for (size_t i = 2; i < rows + 2; i++)
		n->hit[i] += n->hit[i - 1];
	for (size_t i = 0; i < count; i++)
		n->hits[n->hit[h[i].row + 1]++] = h[i].group << 1 | h[i].self;
}

/* Reads sample i: its group and time. Returns whether it is counted. */
static bool noise_take(const struct diff_noises *n, const bool *counted,
		       const struct diff_times *t, size_t i, size_t *group,
		       int64_t *time)
{
	const struct packed_time x = packed_times_get(&t->at, i);

	*group = (size_t)x.event;
	*time = x.time;
	return *group < n->n_group && counted[*group];
}

size_t diff_noise_blocks(size_t n)
{
	n /= BLOCK_SAMPLES;
	raise_to(n, BLOCKS_MIN);
	return n < BLOCKS_MAX ? n : BLOCKS_MAX;
}

/* Puts the samples into blocks of time. Returns whether there are enough of
 * them over some time. */
static bool noise_begin(struct diff_noises *n, const struct diff_times *t)
{
	/* the groups whose samples are counted: those of some row */
	bool *counted = mem_new(n->n_group, sizeof(*counted));
	size_t rows = n->rows->n;
	int64_t from = INT64_MAX;
	int64_t to = INT64_MIN;
	size_t samples = 0;
	size_t *next = NULL; /* by group: the place of its next sample */
	size_t group;
	int64_t time;

	for (size_t i = 0; i < n->hit[rows]; i++)
		counted[n->hits[i] >> 1] = true;
	for (size_t i = 0; i < t->at.n; i++) {
		if (!noise_take(n, counted, t, i, &group, &time))
			continue;
		samples++;
		lower_to(from, time);
		raise_to(to, time);
	}
	n->n = (double)samples;
	n->n_block = diff_noise_blocks(samples);
	n->all = mem_new(n->n_block, sizeof(*n->all));
	n->own = mem_new(n->n_block, sizeof(*n->own));
	n->first = mem_new(n->n_group + 1, sizeof(*n->first));
	if (samples < SAMPLES_MIN || from >= to)
		goto out;

	/* cuts the time between the first and the last sample; rounding may
	 * put the last sample after the last block */
	double each = ((double)to - (double)from) / (double)n->n_block;

	next = mem_new(n->n_group, sizeof(*next));
	for (size_t i = 0; i < t->at.n; i++)
		if (noise_take(n, counted, t, i, &group, &time))
			n->first[group + 1]++;
	for (size_t i = 0; i < n->n_group; i++) {
		n->first[i + 1] += n->first[i];
		next[i] = n->first[i];
	}
	n->block = mem_new(n->first[n->n_group], sizeof(*n->block));
	for (size_t i = 0; i < t->at.n; i++) {
		if (!noise_take(n, counted, t, i, &group, &time))
			continue; /* it may be in front of the first block */
		double at = ((double)time - (double)from) / each;
		size_t k =
			at < (double)n->n_block ? (size_t)at : n->n_block - 1;

		n->block[next[group]++] = (uint16_t)k;
		n->all[k]++;
	}
out:
	free_all(next, counted);
	return n->block;
}

struct diff_noises *diff_noises_new(const struct report_rows *rows,
				    const struct diff_times *t)
{
	if (t->untimed)
		return NULL;
	struct diff_noises *n = mem_new(1, sizeof(*n));
	n->rows = rows;
	noise_sort_hits(n);
	if (noise_begin(n, t))
		return n;
	diff_noises_free(n);
	return NULL;
}

/* Returns the variance of what a row has, own[], by blocks of which `merged`
 * are one; rest: the share of all[] that it is expected to have. Stores the
 * number of blocks in which anything ran: elsewhere nothing could vary. */
static double noise_variance(const double *own, const double *all, size_t n,
			     double rest, size_t merged, size_t *used)
{
	double sum = 0;
	double last = 0;

	*used = 0;
	for (size_t i = 0; i < n; i += merged) {
		double d = 0;
		double whole = 0;

		for (size_t k = i; k < i + merged && k < n; k++) {
			d += own[k] - rest * all[k];
			whole += all[k];
		}
		if (!(whole > 0))
			continue;
		sum += *used ? (d - last) * (d - last) / 2 : 0;
		last = d;
		++*used;
	}
	return *used > 1 ? sum * (double)*used / (double)(*used - 1) : 0;
}

struct diff_noise diff_noise_in_blocks(const double *own, const double *all,
				       size_t n, double rest, double counting)
{
	struct diff_noise out = { 0, 0 };

	for (size_t merged = 1; counting > 0 && merged <= MERGED_MAX;
	     merged *= 2) {
		size_t used;
		double times =
			noise_variance(own, all, n, rest, merged, &used) /
			counting;

		if (used < BLOCKS_MIN / 2 ||
		    (merged > 1 && n / merged < BLOCKS_MIN))
			break;
		/* the variance of such a variance is that of two thirds as many
		 * independent ones */
		if (times > out.times)
			out = (struct diff_noise){ times,
						   (double)(used - 1) * 2 / 3 };
	}
	return out;
}

struct diff_noise diff_noise_of(struct diff_noises *n, size_t row, bool total,
				bool absolute)
{
	/* Count a row's samples in each block; return all of them. */
	double count = 0;

	memset(n->own, 0, n->n_block * sizeof(*n->own));
	for (size_t i = n->hit[row]; i < n->hit[row + 1]; i++) {
		uint32_t group = n->hits[i] >> 1;

		if ((n->hits[i] & 1) == total)
			continue;
		for (size_t k = n->first[group]; k < n->first[group + 1]; k++)
			n->own[n->block[k]]++;
		count += (double)(n->first[group + 1] - n->first[group]);
	}
	double share = count / n->n;

	return diff_noise_in_blocks(n->own, n->all, n->n_block,
				    absolute ? 0 : share,
				    absolute ? count : count * (1 - share));
}
