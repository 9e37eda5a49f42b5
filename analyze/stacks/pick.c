/* pick.c - selects stacks by the names of their frames. */
#include "analyze/stacks/pick.h"

#include "analyze/stacks/label.h"
#include "analyze/names/pattern.h"
#include "analyze/names/short_name.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Set in the bits of a label that was matched; bit i: pattern i matches. */
#define KNOWN (UINT64_C(1) << 63)
#define PATTERNS_MAX 63

struct pick {
	const struct labels *labels;
	regex_t *regex;
	size_t n;
	uint64_t include, exclude; /* sets of patterns */
	uint64_t *bits;		   /* bits by label; 0: not matched yet */
	size_t n_label, cap;
	uint64_t dropped;
};

/* Compiles the expressions of an option, and adds them to a set. */
static int pick_add_list(struct pick *p, const char *opt,
			 const char *const *item, size_t n, uint64_t *set,
			 struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (p->n == PATTERNS_MAX)
			return err_set(err, ERR_USAGE,
				       "--include and --exclude take %d "
				       "expressions together; '|' puts several "
				       "into one",
				       PATTERNS_MAX);
		if (pattern_compile(&p->regex[p->n], opt, item[i], err))
			return -1;
		*set |= UINT64_C(1) << p->n++;
	}
	return 0;
}

struct pick *pick_new(const struct labels *labels, const struct pick_opts *o,
		      struct err *err)
{
	struct pick *p = mem_new(1, sizeof(*p));

	p->labels = labels;
	p->regex = mem_new(PATTERNS_MAX, sizeof(*p->regex));
	if (pick_add_list(p, "include", o->include, o->n_include, &p->include,
			  err) ||
	    pick_add_list(p, "exclude", o->exclude, o->n_exclude, &p->exclude,
			  err)) {
		pick_free(p);
		return NULL;
	}
	return p;
}

void pick_free(struct pick *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		regfree(&p->regex[i]);
	free_all(p->regex, p->bits, p);
}

/* Returns the bits of a label: KNOWN, and patterns that match its name. */
static uint64_t bits_of(struct pick *p, uint32_t label)
{
	mem_reach(p->bits, p->n_label, p->cap, (size_t)label + 1);
	if (p->bits[label])
		return p->bits[label];

	const char *name = labels_get(p->labels, label)->name;
	/* a user writes "^helper$" without knowing that there are several */
	char *base = mem_dup(name, short_name_base(name));
	uint64_t bits = KNOWN;

	for (size_t i = 0; i < p->n; i++) {
		if (!regexec(&p->regex[i], name, 0, NULL, 0) ||
		    !regexec(&p->regex[i], base, 0, NULL, 0))
			bits |= UINT64_C(1) << i;
	}
	free(base);
	p->bits[label] = bits;
	return bits;
}

bool pick_stack(struct pick *p, const uint32_t *label, size_t n,
		uint64_t weight)
{
	uint64_t seen = 0;

	if (!p->n)
		return true;
	for (size_t i = 0; i < n; i++)
		seen |= bits_of(p, label[i]);
	if ((seen & p->include) == p->include && !(seen & p->exclude))
		return true;
	if (__builtin_add_overflow(p->dropped, weight, &p->dropped))
		p->dropped = UINT64_MAX;
	return false;
}

uint64_t pick_dropped(const struct pick *p)
{
	return p->dropped;
}
