/* windows.c - intervals of time in which records were dropped. */
#include "stitch/windows.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/mem.h"

#define WINDOWS_MAX (1u << 16)

static int by_t0(const void *a, const void *b)
{
	const struct window *x = a;
	const struct window *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* Makes them disjoint and sorted. */
static void unite(struct windows *ws)
{
	size_t n = 0;

	if (!ws->dirty)
		return;
	ws->dirty = false;
	qsort(ws->window, ws->n, sizeof(*ws->window), by_t0);
	for (size_t i = 1; i < ws->n; i++) {
		const struct window *w = &ws->window[i];

		if (w->t0 > ws->window[n].t1)
			ws->window[++n] = *w;
		else if (w->t1 > ws->window[n].t1)
			ws->window[n].t1 = w->t1;
	}
	ws->n = n + 1;
}

/* Too many to keep: neighbours become one, with what is between them. */
static void halve(struct windows *ws)
{
	for (size_t i = 0; i < ws->n; i += 2) {
		size_t last = i + 1 < ws->n ? i + 1 : i;

		ws->window[i / 2] = (struct window){ ws->window[i].t0,
						     ws->window[last].t1 };
	}
	ws->n = (ws->n + 1) / 2;
}

void windows_add(struct windows *ws, int64_t t0, int64_t t1)
{
	if (t0 >= t1)
		return;
	if (ws->n >= WINDOWS_MAX) {
		unite(ws);
		if (ws->n >= WINDOWS_MAX / 2)
			halve(ws);
	}
	ws->window =
		mem_grow(ws->window, &ws->cap, ws->n + 1, sizeof(*ws->window));
	ws->window[ws->n++] = (struct window){ t0, t1 };
	ws->dirty = true;
}

bool windows_overlap(struct windows *ws, int64_t from, int64_t to)
{
	size_t lo = 0;

	if (!ws->n)
		return false;
	unite(ws);
	for (size_t hi = ws->n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (ws->window[mid].t1 > from)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo < ws->n && ws->window[lo].t0 < to;
}

void windows_release(struct windows *ws)
{
	free(ws->window);
	memset(ws, 0, sizeof(*ws));
}
