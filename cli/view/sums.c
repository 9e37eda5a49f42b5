/* sums.c - the samples that view shows. */
#include "cli/view/sums.h"

#include <stdlib.h>

#include "cli/model/filter.h"
#include "cli/model/flame_tree.h"
#include "cli/model/label.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* The frames of a group are label[at..at+n), outermost first. */
struct sums_stack {
	size_t at, n;
	uint64_t weight, samples;
};

struct sums {
	struct stacks *stacks;
	int event; /* -1: all, added up */
	uint64_t weight, samples;
	char trust[TRUST_SENTENCE];
	struct report_rows *rows;
	uint32_t all; /* label of roots */
	struct sums_stack *stack;
	size_t n, cap;
	struct label_list label;
};

static void sums_take_stacks(struct sums *s)
{
	for (size_t i = 0; i < stacks_count(s->stacks); i++) {
		const struct stacks_group *g = stacks_group(s->stacks, i);
		size_t at = s->label.n;

		if (s->event >= 0 && g->event != (uint32_t)s->event)
			continue;
		stacks_get(s->stacks, g, &s->label);
		*mem_add(s->stack, s->n, s->cap) =
			(struct sums_stack){ at, s->label.n - at, g->weight,
					     g->samples };
	}
}

static int sums_take_event(struct sums *s, const char *path, struct err *err)
{
	s->event = stacks_choose(s->stacks, "counting");
	if (stacks_heaviest(s->stacks) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_given() ? " that the filters let through"
					      : "");
	for (size_t i = 0; i < stacks_events(s->stacks); i++) {
		const struct stacks_event *e = stacks_event(s->stacks, i);

		if (s->event >= 0 && i != (size_t)s->event)
			continue;
		s->samples += e->samples;
		if (__builtin_add_overflow(s->weight, e->weight, &s->weight))
			return err_set(err, ERR_LIMIT,
				       "the weights sum up to more than 64 "
				       "bits; 'report --by samples' counts");
	}
	if (!s->weight)
		return err_set(err, ERR_FORMAT,
			       "%s: all samples have weight 0; 'report --by "
			       "samples' counts them",
			       path);
	return 0;
}

static int sums_take_trust(struct sums *s, struct store *db, struct err *err)
{
	struct trust *t = trust_of(db, s->stacks, s->event, err);

	if (!t)
		return -1;
	trust_say(t, s->trust);
	trust_free(t);
	return 0;
}

struct sums *sums_load(struct store *db, const char *path, struct err *err)
{
	const struct stacks_opts o = { .gaps = true,
				       .inlined = true,
				       .summed = true };
	const struct label all = { .kind = LABEL_GROUP,
				   .name = "all",
				   .image = "" };
	struct sums *s = mem_new(1, sizeof(*s));

	s->stacks = stacks_load(db, &o, err);
	if (!s->stacks || sums_take_event(s, path, err) ||
	    sums_take_trust(s, db, err)) {
		sums_free(s);
		return NULL;
	}
	labels_shorten(stacks_labels(s->stacks));
	s->rows = report_rows_new(s->stacks, s->event, KEY_SYM | KEY_DSO);
	s->all = labels_add(stacks_labels(s->stacks), &all);
	sums_take_stacks(s);
	return s;
}

void sums_free(struct sums *s)
{
	if (!s)
		return;
	report_rows_free(s->rows);
	stacks_free(s->stacks);
	free(s->stack);
	free(s->label.label);
	free(s);
}

uint64_t sums_weight(const struct sums *s)
{
	return s->weight;
}

uint64_t sums_samples(const struct sums *s)
{
	return s->samples;
}

const char *sums_event(const struct sums *s)
{
	return s->event < 0 ? "several, added up"
			    : stacks_event(s->stacks, (size_t)s->event)->name;
}

const char *sums_unit(const struct sums *s)
{
	return stacks_unit(s->stacks, s->event, false);
}

const char *sums_trust(const struct sums *s)
{
	return s->trust;
}

const struct labels *sums_labels(const struct sums *s)
{
	return stacks_labels(s->stacks);
}

size_t sums_rows(const struct sums *s)
{
	return report_rows_count(s->rows);
}

const struct report_row *sums_row(const struct sums *s, size_t i)
{
	return report_rows_get(s->rows, i);
}

const struct label *sums_row_label(const struct sums *s, size_t i)
{
	return report_label(s->rows, report_rows_get(s->rows, i)->label);
}

/* ---- trees */

/* Stores the part of a stack that belongs into a tree in *part. Returns false
 * if the stack does not. */
typedef bool sums_part_fn(void *arg, const uint32_t *label, size_t n,
			  struct label_list *part);

static struct flame_tree *sums_make_tree(const struct sums *s, sums_part_fn *fn,
					 void *arg, struct err *err)
{
	struct flame_tree *t = flame_tree_new(stacks_labels(s->stacks), s->all);
	struct label_list part = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < s->n; i++) {
		const struct sums_stack *st = &s->stack[i];

		part.n = 0;
		if (fn(arg, s->label.label + st->at, st->n, &part))
			rc = flame_tree_add(t, part.label, part.n, st->weight,
					    st->samples, err);
	}
	free(part.label);
	if (rc) {
		flame_tree_free(t);
		return NULL;
	}
	flame_tree_finish(t);
	return t;
}

static bool sums_whole(void *arg, const uint32_t *label, size_t n,
		       struct label_list *part)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		label_list_add(part, label[i]);
	return true;
}

struct flame_tree *sums_tree(const struct sums *s, struct err *err)
{
	return sums_make_tree(s, sums_whole, NULL, err);
}

/* A function among its neighbours. */
struct sums_around {
	struct sums *sums;
	uint32_t row;
};

static bool sums_is_row(const struct sums_around *a, uint32_t label)
{
	return report_rows_of_label(a->sums->rows, label) == a->row;
}

static bool sums_is_after_exec(const struct sums_around *a, uint32_t label)
{
	return labels_get(stacks_labels(a->sums->stacks), label)->kind ==
	       LABEL_EXEC;
}

static bool sums_above(void *arg, const uint32_t *label, size_t n,
		       struct label_list *part)
{
	size_t at = 0, i;

	while (at < n && !sums_is_row(arg, label[at]))
		at++;
	if (at == n)
		return false;
	i = at;
	/* a program after an exec did not call what was before it */
	while (i > 0 && !sums_is_after_exec(arg, label[at]) &&
	       sums_is_after_exec(arg, label[i - 1]))
		i--;
	for (; i > 0; i--)
		label_list_add(part, label[i - 1]);
	return true;
}

static bool sums_below(void *arg, const uint32_t *label, size_t n,
		       struct label_list *part)
{
	size_t at = n;

	while (at > 0 && !sums_is_row(arg, label[at - 1]))
		at--;
	for (size_t i = at; at > 0 && i < n; i++)
		label_list_add(part, label[i]);
	return at > 0;
}

struct flame_tree *sums_callers(struct sums *s, size_t row, struct err *err)
{
	struct sums_around a = { s, (uint32_t)row };

	return sums_make_tree(s, sums_above, &a, err);
}

struct flame_tree *sums_callees(struct sums *s, size_t row, struct err *err)
{
	struct sums_around a = { s, (uint32_t)row };

	return sums_make_tree(s, sums_below, &a, err);
}
