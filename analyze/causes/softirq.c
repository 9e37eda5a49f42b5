/* softirq.c - finds how a softirq was entered from the addresses in stacks. */
#include "analyze/causes/softirq.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* x86-64 has entries of 16 to 64 bytes each in .entry.text, which is aligned to
 * 2 MB and alone there. Two entries are at most SAME_TEXT apart; an address
 * further than NEAR from an entry is not in that section. */
#define SAME_TEXT 0x4000u
#define NEAR 0x10000u

/* A kernel has one or two entries of system calls; if more addresses than these
 * look like one, none is taken for one. */
#define ENTRIES_MAX 8

struct softirq_stack {
	uint64_t *addr; /* innermost first */
	size_t n;
	uint8_t roles; /* enum softirq_role */
};

enum timeline_context softirq_judge(const struct softirq_facts *f,
				    enum softirq_premise *premise)
{
	*premise = SOFTIRQ_SURE;
	if (f->vector < 0 && f->entered == CONTEXT_SOFTIRQ)
		return CONTEXT_SOFTIRQ;
	if (f->vector < 0 && (f->entered != CONTEXT_INLINE || f->disk))
		return CONTEXT_SOFTIRQ_UNKNOWN;
	if (f->vector < 0) {
		*premise = SOFTIRQ_IF_NO_IRQ;
		return CONTEXT_INLINE;
	}
	if (f->vector != SOFTIRQ_NET_TX && f->vector != SOFTIRQ_NET_RX)
		return CONTEXT_SOFTIRQ;
	switch (f->raised) {
	case RAISED_OWN:
		*premise = SOFTIRQ_IF_NOT_STEERED;
		return CONTEXT_INLINE;
	case RAISED_IRQ:
		/* packets that a thread sends before the softirq runs raise
		 * nothing again, and are handled with the rest; a softirq after
		 * an interrupt has none of them, as threads send with softirqs
		 * off */
		return f->entered == CONTEXT_SOFTIRQ ? CONTEXT_SOFTIRQ
						     : CONTEXT_SOFTIRQ_UNKNOWN;
	case RAISED_UNKNOWN:
		if (f->entered != CONTEXT_INLINE)
			return CONTEXT_SOFTIRQ_UNKNOWN;
		*premise = SOFTIRQ_IF_NO_IRQ;
		return CONTEXT_INLINE;
	default:
		return CONTEXT_SOFTIRQ_UNKNOWN;
	}
}

const char *softirq_name(int64_t vector)
{
	static const char *const name[SOFTIRQ_VECTORS] = {
		"softirq:HI",	   "softirq:TIMER", "softirq:NET_TX",
		"softirq:NET_RX",  "softirq:BLOCK", "softirq:IRQ_POLL",
		"softirq:TASKLET", "softirq:SCHED", "softirq:HRTIMER",
		"softirq:RCU",
	};

	return vector >= 0 && vector < SOFTIRQ_VECTORS ? name[vector] : NULL;
}

void softirqs_release(struct softirqs *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->stack[i].addr);
	free_all(s->stack, s->entry, s->outer);
	table_release(&s->index);
	table_release(&s->judged);
	table_release(&s->calls);
	table_release(&s->stubs);
	table_release(&s->exits);
}

/* Returns the entry of a stack; NULL: softirqs_want() was not called for it. */
static struct softirq_stack *softirq_find(const struct softirqs *s, uint32_t id)
{
	uint32_t at = table_find_hash(&s->index, hash_u64(id));

	return at == TABLE_NONE ? NULL : &s->stack[at];
}

void softirqs_want(struct softirqs *s, uint32_t id, unsigned int roles)
{
	struct softirq_stack *st = softirq_find(s, id);

	if (!id || !roles)
		return;
	if (!st) {
		table_add(&s->index, hash_u64(id), (uint32_t)s->n);
		st = mem_add(s->stack, s->n, s->cap);
		*st = (struct softirq_stack){ 0 };
	}
	st->roles |= (uint8_t)roles;
}

bool softirqs_is_wanted(const struct softirqs *s, uint32_t id)
{
	const struct softirq_stack *st = softirq_find(s, id);

	return st && !st->addr;
}

void softirqs_take(struct softirqs *s, uint32_t id, const uint64_t *addr,
		   size_t n)
{
	struct softirq_stack *st = softirq_find(s, id);

	if (!st || st->addr || !n)
		return;
	st->addr = mem_dup(addr, n * sizeof(*addr));
	st->n = n;
}

static bool softirq_has(const struct table *t, uint64_t key)
{
	return table_find_hash(t, hash_u64(key)) != TABLE_NONE;
}

static void softirq_put(struct table *t, uint64_t key)
{
	if (!softirq_has(t, key))
		table_add(t, hash_u64(key), 0);
}

/* Returns how many addresses of a stack are near the entry of system calls;
 * *at is the innermost of them. */
static size_t softirq_entries(const struct softirqs *s,
			      const struct softirq_stack *st, size_t *at)
{
	size_t found = 0;

	for (size_t i = st->n; i-- > 0;)
		for (size_t k = 0; k < s->n_entry; k++) {
			uint64_t a = st->addr[i], b = s->entry[k];

			if ((a < b ? b - a : a - b) > NEAR)
				continue;
			found++;
			*at = i;
			break;
		}
	return found;
}

/* Returns a key of the call sites in the entry and in the function that it
 * calls: system calls and interrupts may both sleep before they return to user
 * mode, but not below the same call instruction. */
static uint64_t softirq_call(const struct softirq_stack *st)
{
	return hash_u64(st->addr[st->n - 2]) ^ st->addr[st->n - 1];
}

typedef void softirq_fn(struct softirqs *s, const struct softirq_stack *st);

static void softirq_each(struct softirqs *s, enum softirq_role role,
			 softirq_fn *fn)
{
	for (size_t i = 0; i < s->n; i++)
		if ((s->stack[i].roles & role) && s->stack[i].n > 2)
			fn(s, &s->stack[i]);
}

static void softirq_note_outer(struct softirqs *s,
			       const struct softirq_stack *st)
{
	if (st->roles & SOFTIRQ_THREAD)
		*mem_add(s->outer, s->n_outer, s->cap_outer) =
			st->addr[st->n - 1];
}

/* Returns whether interrupts of user mode have own entries near this entry. */
static bool softirq_is_entry(const struct softirqs *s, uint64_t entry)
{
	uint64_t low = entry < SAME_TEXT ? 0 : entry - SAME_TEXT + 1;
	size_t at = search_where(s->n_outer, i, s->outer[i] >= low);

	if (at < s->n_outer && s->outer[at] < entry)
		return true;
	at = search_where(s->n_outer, i, s->outer[i] > entry);
	return at < s->n_outer && s->outer[at] - entry < SAME_TEXT;
}

static void softirq_learn_entry(struct softirqs *s,
				const struct softirq_stack *st)
{
	uint64_t entry = st->addr[st->n - 1];

	if (softirq_has(&s->judged, entry))
		return;
	softirq_put(&s->judged, entry);
	if (softirq_is_entry(s, entry))
		*mem_add(s->entry, s->n_entry, s->cap_entry) = entry;
}

static void softirq_learn_stub(struct softirqs *s,
			       const struct softirq_stack *st)
{
	size_t at;

	if (softirq_entries(s, st, &at) == 1)
		softirq_put(&s->stubs, st->addr[at]);
}

static void softirq_learn_call(struct softirqs *s,
			       const struct softirq_stack *st)
{
	size_t at;

	if (softirq_entries(s, st, &at) == 1 && at == st->n - 1 &&
	    !softirq_has(&s->stubs, st->addr[at]))
		softirq_put(&s->calls, softirq_call(st));
}

/* Learns what leads to softirqs after an interrupt of the kernel, which does no
 * work for the thread. */
static void softirq_learn_exit(struct softirqs *s,
			       const struct softirq_stack *st)
{
	size_t at;

	if (softirq_entries(s, st, &at) && at >= 2 && at + 1 < st->n &&
	    softirq_has(&s->stubs, st->addr[at]))
		softirq_put(&s->exits, st->addr[at - 2]);
}

void softirqs_learn(struct softirqs *s)
{
	softirq_each(s, SOFTIRQ_HARDIRQ, softirq_note_outer);
	sort_items(s->outer, s->n_outer, compare_u64);
	softirq_each(s, SOFTIRQ_SLEEP, softirq_learn_entry);
	if (s->n_entry > ENTRIES_MAX)
		s->n_entry = 0;
	softirq_each(s, SOFTIRQ_HARDIRQ, softirq_learn_stub);
	softirq_each(s, SOFTIRQ_SLEEP, softirq_learn_call);
	softirq_each(s, SOFTIRQ_ASKED, softirq_learn_exit);
}

enum timeline_context softirqs_context(const struct softirqs *s, uint32_t id)
{
	const struct softirq_stack *st = softirq_find(s, id);
	size_t at;
	size_t n;

	if (!st || st->n <= 2)
		return CONTEXT_SOFTIRQ_UNKNOWN;
	n = softirq_entries(s, st, &at);
	if (n == 1 && at == st->n - 1 &&
	    softirq_has(&s->calls, softirq_call(st)))
		return CONTEXT_INLINE;
	if (n && at >= 2 && softirq_has(&s->stubs, st->addr[at]) &&
	    (at + 1 < st->n || softirq_has(&s->exits, st->addr[at - 2])))
		return CONTEXT_SOFTIRQ;
	return CONTEXT_SOFTIRQ_UNKNOWN;
}
