/* symtab.c - a sorted table of symbols, in which the symbol that covers an
 * address is found. */
#include "symbolize/elf/symtab.h"

#include "stitch/base/digits.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* How many enclosing symbols symtab_find() tries. Real tables nest two or three
 * deep; in a hostile one each symbol could enclose the next. */
#define NEST_MAX 64

struct symtab_key {
	uint64_t start;
	uint32_t index;
};

void symtab_add(struct symtab *t, const struct sym *s)
{
	/* Indexes are 32 bits wide. */
	if (t->n >= UINT32_MAX - 1)
		return;
	*mem_add(t->sym, t->n, t->cap) = *s;
}

void symtab_release(struct symtab *t)
{
	free_all(t->sym, t->twin);
	memset(t, 0, sizeof(*t));
}

/* with the 27,000 symbols of a compiler this takes a tenth of the 5 ms of
 * qsort() */
SORT_BY_DIGITS(symtab_by_start, struct symtab_key, start);

/* Sorts the table. kallsyms is sorted up to the first module, and a finished
 * table up to the symbols added since: only the rest is sorted, then merged. */
static void symtab_sort(struct symtab *t)
{
	size_t head = t->n ? 1 : 0;

	while (head < t->n && t->sym[head - 1].start <= t->sym[head].start)
		head++;
	size_t n = t->n - head;
	if (!n)
		return;
	struct sym *tail = mem_dup(t->sym + head, n * sizeof(*tail));
	struct symtab_key *key = mem_new(n, sizeof(*key));

	for (size_t i = 0; i < n; i++)
		key[i] = (struct symtab_key){ tail[i].start, (uint32_t)i };
	key = symtab_by_start(key, n);
	for (size_t out = t->n; n; out--) {
		if (head && t->sym[head - 1].start > key[n - 1].start)
			t->sym[out - 1] = t->sym[--head];
		else
			t->sym[out - 1] = tail[key[--n].index];
	}
	free_all(key, tail);
}

/* Returns true if b is a better name than a for their common address. This is
 * perf's order, so that users see the names they know: higher rank, then fewer
 * leading underscores, then the longer name. Of equal names the first one is
 * kept. */
static bool symtab_is_better(const struct sym *a, const struct sym *b,
			     bool last_wins)
{
	if (a->rank != b->rank)
		return b->rank > a->rank;
	if (last_wins)
		return true;

	size_t ua = strspn(a->name, "_");
	size_t ub = strspn(b->name, "_");
	if (ua != ub)
		return ub < ua;
	return strlen(b->name) > strlen(a->name);
}

void symtab_finish(struct symtab *t)
{
	size_t n = 0;

	symtab_sort(t);
	/* of several names of an address the best one is kept */
	for (size_t i = 0; i < t->n; i++) {
		struct sym *last = n ? &t->sym[n - 1] : NULL;

		if (!last || last->start != t->sym[i].start) {
			t->sym[n++] = t->sym[i];
			continue;
		}
		struct sym other = t->sym[i];

		if (symtab_is_better(last, &t->sym[i], t->last_wins)) {
			other = *last;
			*last = t->sym[i];
		}
		if (other.folds)
			*mem_add(t->twin, t->n_twin, t->cap_twin) = other;
	}
	t->n = n;
	/* Assembler files have labels without a size inside functions of known
	 * size. Such a label does not end the function. */
	uint64_t covered = 0;
	size_t count = 0;

	for (size_t k = 0; k < t->n; k++) {
		const struct sym *s = &t->sym[k];

		if (s->open && !(s->rank & SYM_TYPED) && s->start < covered)
			continue;
		if (!s->open && s->end > covered)
			covered = s->end;
		t->sym[count++] = *s;
	}
	t->n = count;
	for (size_t i = 0; i + 1 < t->n; i++)
		if (t->sym[i].open && t->sym[i].end > t->sym[i + 1].start)
			t->sym[i].end = t->sym[i + 1].start;
	/* outer is one more than the index of the nearest earlier symbol that
	 * ends later. All symbols between end before this one ends, so
	 * symtab_find() skips them. */
	for (size_t i = 0; i < t->n; i++) {
		uint32_t o = (uint32_t)i;

		while (o && t->sym[o - 1].end <= t->sym[i].end)
			o = t->sym[o - 1].outer;
		t->sym[i].outer = o;
	}
}

const struct sym *symtab_twins(const struct symtab *t, const struct sym *s,
			       size_t *n)
{
	size_t i = search_where(t->n_twin, k, t->twin[k].start >= s->start);

	*n = 0;
	while (s->folds && i + *n < t->n_twin &&
	       t->twin[i + *n].start == s->start)
		++*n;
	return *n ? &t->twin[i] : NULL;
}

const struct sym *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t lo = search_where(t->n, i, t->sym[i].start > addr);

	for (int hops = 0; lo && hops < NEST_MAX; hops++) {
		const struct sym *s = &t->sym[lo - 1];

		if (addr < s->end)
			return s;
		lo = s->outer;
	}
	return NULL;
}
