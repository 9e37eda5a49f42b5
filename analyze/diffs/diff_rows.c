/* diff_rows.c - pairs and judges the rows of two recordings. */
#include "analyze/diffs/diff_rows.h"

#include <math.h>

#include "analyze/stacks/label.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

/* Part of a change that must be left if hidden samples are added. */
#define HIDDEN_LEAVES 0.5

/* A row of a run, and the table that has its labels. */
struct keyed_row {
	const struct report_row *row;
	const struct report_rows *of;
	size_t run, index;
};

static int compare_keys(const struct keyed_row *a, const struct keyed_row *b)
{
	return label_compare(report_label(a->of, a->row->label),
			     report_label(b->of, b->row->label))
		       ?: label_compare(report_label(a->of, a->row->comm),
					report_label(b->of, b->row->comm))
		       ?: label_compare(report_label(a->of, a->row->verdict),
					report_label(b->of, b->row->verdict))
		       ?: label_compare(report_label(a->of, a->row->field),
					report_label(b->of, b->row->field))
		       ?: compare_numbers(a->row->pid, b->row->pid)
		       ?: compare_numbers(a->row->tid, b->row->tid)
		       ?: compare_numbers(a->row->cpu, b->row->cpu);
}

COMPARE_FUNCTION(compare_keyed, struct keyed_row,
		 compare_keys(x, y) ?: compare_numbers(x->run, y->run));

static struct diff_count *diff_rows_count(const struct diff_rows *d, bool total,
					  size_t row, size_t run)
{
	return &d->count[total][row * d->n_run + run];
}

static int diff_rows_side(const struct diff_rows *d, size_t run)
{
	return run >= d->side[0].runs;
}

const struct label *diff_rows_label(const struct diff_rows *d, size_t row)
{
	return report_label(d->row[row].of, d->row[row].row->label);
}

/* Fills in the counts of a row. A kernel function has all its samples, with or
 * without a user stack; samples without a user stack may belong to any user
 * function, and incomplete ones may pass through any. */
static void diff_rows_fill(struct diff_rows *d, size_t row)
{
	const struct label *l = diff_rows_label(d, row);
	bool code = d->keys & (KEY_SYM | KEY_DSO) && l->kind != LABEL_GROUP;

	for (size_t i = 0; i < d->n_run; i++) {
		const struct report_missing *m = &d->run[i].rows->missing;
		uint64_t lost = d->run[i].lost;

		diff_rows_count(d, false, row, i)->may =
			saturating_add(code && !l->kernel ? m->leaf : 0, lost);
		diff_rows_count(d, true, row, i)->may =
			saturating_add(!code	   ? 0
				       : l->kernel ? m->kernel
						   : m->user,
				       lost);
	}
	for (int i = 0; i < 2; i++) {
		diff_place_add_up(&d->place[i][row],
				  diff_rows_count(d, i, row, 0), d->n_run,
				  d->side[0].runs);
	}
	if (d->n_run == 2) {
		d->place[1][row].out_a = d->row[row].n_interrupt[0];
		d->place[1][row].out_b = d->row[row].n_interrupt[1];
	}
	/* Interrupts of a thread come from the rest of the machine: one run of
	 * each side does not show how much they vary. */
	const struct diff_place *total = &d->place[1][row];
	const struct label *label = diff_rows_label(d, row);
	if (label->kind == LABEL_MISSING)
		d->row[row].unknown = "user stacks are missing";
	else if (label->kernel &&
		 (total->out_a + total->out_b) * 2 > total->a + total->b)
		d->row[row].unknown =
			"of interrupts, several runs of each side tell";
	else
		d->row[row].unknown = NULL;
	for (int i = 0; i < 2; i++) {
		d->place[i][row].skip = d->row[row].unknown;
		d->place[i][row].apart =
			d->row[row].unknown && l->kind != LABEL_MISSING;
	}
}

static double diff_rows_unit(uint64_t weight, uint64_t samples)
{
	return samples ? (double)weight / (double)samples : 1;
}

/* Returns how much rows vary from run to run; 0: the runs show it. */
static double diff_rows_between(const struct diff_rows *d)
{
	double made = 0;

	if (d->n_run != 2)
		return 0;
	if (d->between > 0)
		return d->between;
	for (size_t i = 0; i < d->n; i++)
		if (diff_rows_label(d, i)->kind == LABEL_JIT)
			made += (double)d->place[0][i].a +
				(double)d->place[0][i].b;
	return made > DIFF_MADE * ((double)d->side[0].samples +
				   (double)d->side[1].samples)
		       ? DIFF_BETWEEN_MADE
		       : DIFF_BETWEEN;
}

/* Stores by row what is known by label: whether the code is the same, and how
 * much of a function's time is in optimized code in each run. */
static void diff_rows_take_builds(struct diff_rows *d, struct diff_known known)
{
	d->build = known.build ? mem_new(d->n, sizeof(*d->build)) : NULL;
	for (uint32_t i = 0; d->build && i < known.n; i++) {
		uint32_t row =
			known.build[i] ? diff_rows_of_label(d, i) : REPORT_NONE;

		if (row != REPORT_NONE)
			d->build[row] = known.build[i];
	}
	d->tier = known.tier ? mem_new(d->n * d->n_run + 1, sizeof(*d->tier))
			     : NULL;
	for (size_t i = 0; d->tier && i < known.n * d->n_run; i++) {
		uint32_t row = known.tier[i].samples > 0
				       ? diff_rows_of_label(
						 d, (uint32_t)(i / d->n_run))
				       : REPORT_NONE;
		size_t run = i % d->n_run;

		if (row == REPORT_NONE)
			continue;
		d->tier[row * d->n_run + run] = known.tier[i];
		for (int k = 0; k < 2; k++)
			diff_rows_count(d, k, row, run)->other =
				known.tier[i].other;
	}
}

/* Returns whether a row may be unchanged, because stacks that lack a caller may
 * belong to it. */
static bool diff_rows_may_hide(const struct diff_rows *d, size_t row)
{
	const struct diff_row *r = &d->row[row];
	double seen = diff_rows_excess_of(d, row, true);
	double most =
		diff_rows_excess(d, (double)r->weight[0][1] + r->hidden[0],
				 (double)r->weight[1][1] + r->hidden[1]);

	return (r->hidden[0] || r->hidden[1]) &&
	       (most * seen <= 0 || fabs(most) < HIDDEN_LEAVES * fabs(seen));
}

/* Drops changes that diff_row.hidden may explain, once that is known. */
static void diff_rows_take_hidden(struct diff_rows *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct diff_place *total = &d->place[1][i];

		if (!total->change || total->only || d->place[0][i].change ||
		    !diff_rows_may_hide(d, i))
			continue;
		total->change = 0;
		total->p = 1;
	}
}

void diff_rows_judge(struct diff_rows *d, const struct diff_count *under)
{
	struct diff_whole left;

	for (size_t i = 0; i < d->n; i++)
		d->place[0][i].under = under ? &under[i * d->n_run] : NULL;
	diff_judge(d->place[0], d->place[1], d->n, &d->whole, &left);
	/* sums up the reference */
	d->scale = diff_scale(&left);
	d->part = left.part;
	d->kept_p = left.kept_p;
	d->n_kept = 0;
	d->kept[0] = d->kept[1] = 0;
	for (size_t i = 0; i < d->n; i++) {
		if (!d->place[0][i].kept ||
		    !(d->place[0][i].a + d->place[0][i].b))
			continue;
		d->n_kept++;
		for (int side = 0; side < 2; side++)
			d->kept[side] += d->row[i].weight[side][0];
	}
	free(d->left);
	d->left = left.run;
	for (size_t i = 0; i < d->n; i++)
		d->place[0][i].under = NULL;
	diff_rows_take_hidden(d);
}

struct diff_rows *diff_rows_new(struct diff_rows_run *run, size_t n,
				size_t runs_a, unsigned int keys, bool absolute,
				struct diff_known known)
{
	struct diff_rows *d = mem_new(1, sizeof(*d));

	d->run = run;
	d->n_run = n;
	d->side[0].runs = runs_a;
	d->side[1].runs = n - runs_a;
	d->keys = keys;
	d->absolute = absolute;
	d->between = known.between;
	/* Sorts the rows of all runs by key and adds up equal neighbours. */
	size_t count = 0;
	size_t at = 0;

	for (size_t m = 0; m < d->n_run; m++)
		count += d->run[m].rows->n;
	struct keyed_row *z = mem_new(count, sizeof(*z));
	for (size_t m = 0; m < d->n_run; m++) {
		const struct report_rows *r = d->run[m].rows;

		for (size_t j = 0; j < r->n; j++)
			z[at++] = (struct keyed_row){ &r->row[j], r, m, j };
	}
	sort_items(z, count, compare_keyed);
	for (size_t m = 0; m < count; m++)
		d->n += !m || compare_keys(&z[m - 1], &z[m]);
	d->row = mem_new(d->n, sizeof(*d->row));
	for (int m = 0; m < 2; m++) {
		d->place[m] = mem_new(d->n, sizeof(*d->place[m]));
		d->count[m] = mem_new(d->n * d->n_run, sizeof(*d->count[m]));
	}
	d->of_row = mem_new(d->n_run, sizeof(*d->of_row));
	for (size_t m = 0; m < d->n_run; m++)
		d->of_row[m] = mem_new(d->run[m].rows->n, sizeof(**d->of_row));
	for (size_t m = 0, next = 0; m < count; m++) {
		const struct report_row *from = z[m].row;
		int side = diff_rows_side(d, z[m].run);

		if (!m || compare_keys(&z[m - 1], &z[m])) {
			d->row[next].row = from;
			d->row[next].of = z[m].of;
			next++;
		}
		d->row[next - 1].weight[side][0] += from->self;
		d->row[next - 1].weight[side][1] += from->total;
		d->row[next - 1].n_interrupt[side] += from->n_interrupt;
		diff_rows_count(d, false, next - 1, z[m].run)->n = from->n_self;
		diff_rows_count(d, true, next - 1, z[m].run)->n = from->n_total;
		d->of_row[z[m].run][z[m].index] = (uint32_t)(next - 1);
	}
	free(z);
	for (size_t i = 0; i < n; i++) {
		struct diff_side *s = &d->side[diff_rows_side(d, i)];

		s->weight = saturating_add(s->weight, run[i].rows->weight);
		s->lost = saturating_add(s->lost, run[i].lost);
		s->lost_unknown |= run[i].lost_unknown;
		s->unjoined += run[i].rows->missing.half;
	}
	for (size_t i = 0; i < d->n * n; i++)
		d->side[diff_rows_side(d, i % n)].samples += d->count[0][i].n;
	for (size_t i = 0; i < d->n; i++)
		diff_rows_fill(d, i);
	/* Marks the functions that only one side has. A function with samples
	 * on both sides or, as short times have, on none, is not marked, nor
	 * one whose samples were not counted. */
	const int8_t *only = known.only;

	for (uint32_t label = 0; only && label < known.n; label++) {
		uint32_t row = only[label] == 1 || only[label] == -1
				       ? diff_rows_of_label(d, label)
				       : REPORT_NONE;

		if (row == REPORT_NONE || d->place[1][row].skip)
			continue;
		const struct diff_place *p = &d->place[1][row];

		if (only[label] > 0 ? p->a || !p->b : p->b || !p->a)
			continue;
		d->place[0][row].only = d->place[1][row].only = only[label];
	}
	/* measures how much the rows of a run vary within it */
	for (size_t i = 0; n == 2 && i < 2; i++) {
		const struct report_rows *rows = run[i].rows;

		if (!run[i].times)
			continue;
		struct diff_noises *noise = diff_noises_new(rows, run[i].times);
		for (size_t k = 0; noise && k < rows->n; k++) {
			uint32_t row = d->of_row[i][k];

			for (int total = 0; total < 2; total++)
				d->place[total][row].noise[i] = diff_noise_of(
					noise, k, total, d->absolute);
		}
		diff_noises_free(noise);
	}
	const struct diff_side *a = &d->side[0];
	const struct diff_side *b = &d->side[1];
	struct diff_whole *w = &d->whole;

	*w = (struct diff_whole){
		.a = a->samples,
		.b = b->samples,
		.lost_a = a->lost,
		.lost_b = b->lost,
		.absolute = d->absolute,
		.unit_a = diff_rows_unit(a->weight, a->samples),
		.unit_b = diff_rows_unit(b->weight, b->samples),
		.runs_a = a->runs,
		.runs_b = b->runs,
		.between = diff_rows_between(d),
	};
	if (d->n_run != 2) {
		w->run = mem_new(d->n_run, sizeof(*w->run));
		for (size_t i = 0; i < d->n_run; i++) {
			uint64_t samples = 0;

			for (size_t row = 0; row < d->n; row++)
				samples += diff_rows_count(d, false, row, i)->n;
			w->run[i] = (struct diff_run){
				samples, d->run[i].lost,
				diff_rows_unit(d->run[i].rows->weight, samples)
			};
		}
	}
	diff_rows_take_builds(d, known);
	for (size_t i = 0; d->build && i < d->n; i++)
		d->place[0][i].suspect = d->place[1][i].suspect =
			diff_rows_may_differ(d, i);
	d->cause.row = d->cause.blind = d->cause.same = REPORT_NONE;
	diff_rows_judge(d, NULL);
	return d;
}

void diff_rows_free(struct diff_rows *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_run; i++)
		free(d->of_row[i]);
	for (int i = 0; i < 2; i++)
		free_all(d->place[i], d->count[i]);
	free_all(d->of_row, d->build, d->tier, d->row, d->whole.run, d->left,
		 d);
}

uint32_t diff_rows_of_label(const struct diff_rows *d, uint32_t label)
{
	for (size_t i = 0; i < d->n_run; i++) {
		uint32_t at = report_rows_of_label(d->run[i].rows, label);

		if (at != REPORT_NONE)
			return d->of_row[i][at];
	}
	return REPORT_NONE;
}

double diff_rows_size(const struct diff_rows *d, int side, double weight)
{
	return d->absolute ? weight / (double)d->side[side].runs
			   : 100 * weight / (double)d->side[side].weight;
}

double diff_rows_excess(const struct diff_rows *d, double a, double b)
{
	return diff_rows_size(d, 1, b - a * d->scale);
}

double diff_rows_excess_of(const struct diff_rows *d, size_t row, bool total)
{
	return diff_rows_excess(d, (double)d->row[row].weight[0][total],
				(double)d->row[row].weight[1][total]);
}

double diff_rows_growth(const struct diff_rows *d, size_t row, bool total)
{
	double v = diff_rows_excess_of(d, row, total);

	return d->absolute
		       ? 100 * v /
				 diff_rows_size(d, 0, (double)d->side[0].weight)
		       : v;
}

int diff_rows_doubtful(const struct diff_rows *d, size_t row, bool total)
{
	const struct diff_place *p = &d->place[total][row];

	if (p->change || p->p >= 1 || d->row[row].unknown)
		return 0;
	return diff_rows_excess_of(d, row, total) > 0 ? 1 : -1;
}

struct diff_rows_rank {
	int first; /* 2: the cause, 1: it changed, 0: neither */
	double size;
	uint32_t row;
};

COMPARE_FUNCTION(compare_ranks, struct diff_rows_rank,
		 compare_numbers(y->first, x->first)
			 ?: compare_numbers(y->size, x->size)
			 ?: compare_numbers(x->row, y->row));

int diff_rows_grew(const struct diff_rows *d, size_t row, bool total)
{
	if (d->place[total][row].change > 0)
		return total;
	return row == d->cause.row && d->cause.sign > 0 && !d->cause.moved ? 1
									   : -1;
}

uint32_t *diff_rows_order(const struct diff_rows *d, bool total,
			  const struct diff_rows *also)
{
	struct diff_rows_rank *rank = mem_new(d->n, sizeof(*rank));
	uint32_t *order = mem_new(d->n, sizeof(*order));

	for (size_t i = 0; i < d->n; i++)
		rank[i] = (struct diff_rows_rank){
			i == d->cause.row
				? 2
				: d->place[total][i].change != 0 ||
					  (also &&
					   also->place[total][i].change != 0),
			fabs(diff_rows_excess_of(d, i, total)), (uint32_t)i
		};
	sort_items(rank, d->n, compare_ranks);
	for (size_t i = 0; i < d->n; i++)
		order[i] = rank[i].row;
	free(rank);
	return order;
}

struct diff_counts diff_rows_changed(const struct diff_rows *d, bool total)
{
	struct diff_counts n = { 0, 0, 0, 0 };

	for (size_t i = 0; i < d->n; i++) {
		const struct diff_place *p = &d->place[total][i];

		n.appeared += p->only > 0;
		n.gone += p->only < 0;
		n.more += !p->only && p->change > 0;
		n.less += !p->only && p->change < 0;
	}
	return n;
}

const char *diff_rows_word(const struct diff_place *p)
{
	return p->skip	       ? "unknown"
	       : p->only > 0   ? "new"
	       : p->only < 0   ? "gone"
	       : p->change > 0 ? "more"
	       : p->change < 0 ? "less"
			       : "";
}

bool diff_rows_may_differ(const struct diff_rows *d, size_t row)
{
	int8_t code = d->build ? d->build[row] : 0;

	return code == DIFF_OTHER_CODE ||
	       (!code && d->keys & KEY_SYM &&
		diff_rows_label(d, row)->kind == LABEL_JIT);
}

const char *diff_rows_code_word(const struct diff_rows *d, size_t row)
{
	int8_t code = d->build ? d->build[row] : 0;

	return code >= DIFF_OTHER_TIER	 ? "tier"
	       : code > 0		 ? "same"
	       : code == DIFF_OTHER_CODE ? "other"
					 : "";
}

/* ---- functions that may be hidden where a stack lacks its callers
 *
 * If a compiler gives a leaf no frame in one build only, its caller vanishes
 * from a chain along frame pointers, though its cost is the same. So a sample
 * whose innermost function lacks its callers may belong to all functions that
 * are further out than this function in another stack. */

/* A leaf, and a function further out in some stack. */
struct hidden_pair {
	uint32_t leaf, caller;
};

struct hidden {
	const struct diff_rows *d;
	bool *lacks; /* by row: a stack lacks the callers of this leaf */
	struct hidden_pair *pair;
	size_t n, cap;
	struct table known; /* hashes of pair[] */
};

/* Called with each stack, and its n hits. */
typedef void hidden_fn(struct hidden *h, size_t run,
		       const struct report_stack *st,
		       const struct report_hit *hit, size_t n, void *arg);

static void hidden_each(struct hidden *h, hidden_fn *fn, void *arg)
{
	for (size_t run = 0; run < h->d->n_run; run++) {
		const struct report_rows *rows = h->d->run[run].rows;
		const struct report_stack *st = rows->stack;
		size_t first = 0;

		for (size_t i = 0; i < rows->n_stack; first = st[i++].end)
			if (st[i].leaf != REPORT_NONE)
				fn(h, run, &st[i], rows->hit + first,
				   st[i].end - first, arg);
	}
}

static void hidden_note(struct hidden *h, size_t run,
			const struct report_stack *st,
			const struct report_hit *hit UNUSED, size_t n UNUSED,
			void *any)
{
	if (st->lacks)
		h->lacks[h->d->of_row[run][st->leaf]] = *(bool *)any = true;
}

/* Lists the callers of leaves that lack callers elsewhere. */
static void hidden_pair_up(struct hidden *h, size_t run,
			   const struct report_stack *st,
			   const struct report_hit *hit, size_t n,
			   void *arg UNUSED)
{
	const uint32_t *of_row = h->d->of_row[run];
	uint32_t leaf = of_row[st->leaf];

	for (size_t i = 0; h->lacks[leaf] && i < n && hit[i].row != st->leaf;
	     i++) {
		struct hidden_pair p = { leaf, of_row[hit[i].row] };
		uint64_t hash = hash_u32s(p.leaf, p.caller);

		if (table_find_hash(&h->known, hash) != TABLE_NONE)
			continue;
		table_add(&h->known, hash, (uint32_t)h->n);
		*mem_add(h->pair, h->n, h->cap) = p;
	}
}

COMPARE_BY(hidden_compare, struct hidden_pair, leaf, caller);

/* Adds the weight of a stack to the functions that may be hidden in it. */
static void hidden_weigh(struct hidden *h, size_t run,
			 const struct report_stack *st,
			 const struct report_hit *hit, size_t n, void *out)
{
	const uint32_t *of_row = h->d->of_row[run];
	uint32_t leaf = of_row[st->leaf];

	if (!st->lacks)
		return;
	for (size_t at = search_where(h->n, k, h->pair[k].leaf >= leaf);
	     at < h->n && h->pair[at].leaf == leaf; at++) {
		struct diff_row *row =
			(struct diff_row *)out + h->pair[at].caller;
		size_t i = 0;

		while (i < n && of_row[hit[i].row] != h->pair[at].caller)
			i++;
		if (i == n)
			row->hidden[run >= h->d->side[0].runs] += st->weight;
	}
}

void diff_hidden_find(struct diff_rows *d)
{
	struct hidden h = { .d = d, .lacks = mem_new(d->n + 1, 1) };
	bool any = false;

	hidden_each(&h, hidden_note, &any);
	if (any)
		hidden_each(&h, hidden_pair_up, NULL);
	if (h.n) {
		sort_items(h.pair, h.n, hidden_compare);
		hidden_each(&h, hidden_weigh, d->row);
	}
	diff_rows_take_hidden(d);
	table_release(&h.known);
	free_all(h.pair, h.lacks);
}
