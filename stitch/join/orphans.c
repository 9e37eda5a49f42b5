/* orphans.c - chains without a sample, until it is decided who asked for
 * them. */
#include "stitch/join/orphans.h"

#include <stdlib.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"

/* Threads that must have orphans which directly follow each other. */
#define THREADS_MIN 2

void orphans_release(struct orphans *os)
{
	free(os->at);
	free(os->asked);
}

void orphans_add(struct orphans *os, const struct orphan *o)
{
	*mem_add(os->at, os->n, os->cap) = *o;
}

void orphans_asked(struct orphans *os, uint32_t thread)
{
	os->asked = mem_reach(os->asked, &os->n_asked, &os->cap_asked,
			      thread + (size_t)1, sizeof(bool));
	os->asked[thread] = true;
}

static int orphan_compare(const void *a, const void *b)
{
	const struct orphan *x = a;
	const struct orphan *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->f.thread != y->f.thread)
		return x->f.thread < y->f.thread ? -1 : 1;
	if (x->f.time != y->f.time)
		return x->f.time < y->f.time ? -1 : 1;
	return (x->f.id > y->f.id) - (x->f.id < y->f.id);
}

void orphans_sort(struct orphans *os)
{
	if (os->n)
		qsort(os->at, os->n, sizeof(*os->at), orphan_compare);
}

/* Returns whether the thread had no other cookie between two orphans. */
static bool orphan_follows(const struct orphan *a, const struct orphan *b)
{
	return b->f.from != TIME_NONE && b->f.from == a->f.time;
}

bool orphans_prove_session(const struct orphans *os, size_t from, size_t to)
{
	size_t threads = 0;

	for (size_t i = from, next; i < to; i = next) {
		uint32_t thread = os->at[i].f.thread;
		bool follows = false;

		for (next = i + 1; next < to && os->at[next].f.thread == thread;
		     next++)
			follows |= orphan_follows(&os->at[next - 1],
						  &os->at[next]);
		if (next - i > 1 &&
		    (thread >= os->n_asked || !os->asked[thread]))
			return true;
		threads += follows;
	}
	return threads >= THREADS_MIN;
}
