/* symtab.c - a sorted table of symbols: which symbol covers an address? */
#include "symbolize/elf/symtab.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* How many enclosing symbols symtab_find() tries. Real tables nest two or three
 * deep; in a hostile one each symbol could enclose the next. */
#define NEST_MAX 64

struct symtab_key {
	uint64_t start;
	uint32_t index;
};

void symtab_reserve(struct symtab *t, size_t n)
{
	mem_grow(t->sym, t->cap, t->n + n);
}

void symtab_add(struct symtab *t, const struct sym *s)
{
	/* Indexes are 32 bits wide. */
	if (t->n >= UINT32_MAX - 1)
		return;
	*mem_add(t->sym, t->n, t->cap) = *s;
}

void symtab_release(struct symtab *t)
{
	free(t->sym);
	memset(t, 0, sizeof(*t));
}

/* Sorts by start, stable; n is not 0. On the 27,000 symbols of a compiler radix
 * sort takes a tenth of the 5 ms of qsort(). */
static void symtab_radix_sort(struct sym *sym, size_t n)
{
	size_t(*count)[256] = mem_new(8, sizeof(*count));
	struct symtab_key *key = mem_new(n, sizeof(*key));
	struct symtab_key *tmp = mem_new(n, sizeof(*tmp));

	for (size_t i = 0; i < n; i++) {
		uint64_t start = sym[i].start;

		key[i] = (struct symtab_key){ start, (uint32_t)i };
		for (int b = 0; b < 8; b++)
			count[b][start >> (8 * b) & 0xff]++;
	}
	for (unsigned int b = 0; b < 8; b++) {
		unsigned int shift = 8 * b;
		size_t pos[256];
		size_t sum = 0;

		/* all keys have the same byte here */
		if (count[b][key[0].start >> shift & 0xff] == n)
			continue;
		for (int i = 0; i < 256; i++) {
			pos[i] = sum;
			sum += count[b][i];
		}
		for (size_t i = 0; i < n; i++)
			tmp[pos[key[i].start >> shift & 0xff]++] = key[i];
		struct symtab_key *swap = key;
		key = tmp;
		tmp = swap;
	}
	struct sym *copy = mem_dup(sym, n * sizeof(*sym));
	for (size_t i = 0; i < n; i++)
		sym[i] = copy[key[i].index];
	free(copy);
	free(key);
	free(tmp);
	free(count);
}

/* kallsyms is sorted up to the first module, and a finished table up to the
 * symbols added since: only the rest is sorted, then merged. */
static void symtab_sort(struct symtab *t)
{
	size_t head = t->n ? 1 : 0;

	while (head < t->n && t->sym[head - 1].start <= t->sym[head].start)
		head++;
	size_t n = t->n - head;
	if (!n)
		return;
	symtab_radix_sort(t->sym + head, n);
	struct sym *tail = mem_dup(t->sym + head, n * sizeof(*tail));
	for (size_t out = t->n; n; out--) {
		if (head && t->sym[head - 1].start > tail[n - 1].start)
			t->sym[out - 1] = t->sym[--head];
		else
			t->sym[out - 1] = tail[--n];
	}
	free(tail);
}

/* Returns true if b is a better name than a for their common address. This is
 * perf's order, so that users see the names they know: higher rank, then fewer
 * leading underscores, then the longer name. Of equals the first stays. */
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

/* Assembler files have labels without a size inside functions of known size.
 * Such a label does not end the function. */
static void symtab_drop_inner_labels(struct symtab *t)
{
	uint64_t covered = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct sym *s = &t->sym[i];

		if (s->open && !(s->rank & SYM_TYPED) && s->start < covered)
			continue;
		if (!s->open && s->end > covered)
			covered = s->end;
		t->sym[n++] = *s;
	}
	t->n = n;
}

void symtab_finish(struct symtab *t)
{
	size_t n = 0;

	symtab_sort(t);
	/* of several names of an address the best stays */
	for (size_t i = 0; i < t->n; i++) {
		struct sym *last = n ? &t->sym[n - 1] : NULL;

		if (!last || last->start != t->sym[i].start)
			t->sym[n++] = t->sym[i];
		else if (symtab_is_better(last, &t->sym[i], t->last_wins))
			*last = t->sym[i];
	}
	t->n = n;
	symtab_drop_inner_labels(t);
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
