/* cut.c - names cut to a width. */
#include "cli/output/cut.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/safe_text.h"
#include "stitch/base/mem.h"

static const char gap[] = "...";
#define GAP (sizeof(gap) - 1)
#define UNIT sizeof(((struct safe_text *)0)->text)
#define BEFORE 2 /* cells in front of a difference */
#define ROUNDS 6 /* each tells apart what differs one place later */

struct cut_name {
	const char *full, *cut;
	size_t cells; /* of the full name */
	size_t i;     /* in the caller's order */
};

/* Appends to `to` the cells of s from `from` on, at most `cells`. Returns the
 * end. */
static char *cut_put(char *to, const char *s, size_t from, size_t cells)
{
	struct safe_text u;
	size_t at = 0;

	while (safe_text_next(&s, &u)) {
		if (at >= from && at + u.cells > from + cells)
			break;
		if (at >= from) {
			memcpy(to, u.text, strlen(u.text));
			to += strlen(u.text);
		}
		at += u.cells;
	}
	return to;
}

static char *cut_put_gap(char *to)
{
	memcpy(to, gap, GAP);
	return to + GAP;
}

/* Returns the name in so many cells: both ends, and what is from the cell
 * `middle` on if that is not 0. */
static const char *cut_one(const struct cut_name *c, size_t cells,
			   size_t middle, struct arena *text)
{
	size_t gaps = middle ? 2 : 1;
	size_t part = (cells - gaps * GAP) / (gaps + 1);
	char *buf = mem_new(cells + 1, UNIT);
	char *to = buf;
	const char *cut;

	if (c->cells <= cells) {
		cut_put(buf, c->full, 0, c->cells);
	} else {
		size_t tail = cells - gaps * GAP - gaps * part;

		to = cut_put(to, c->full, 0, part);
		to = cut_put_gap(to);
		if (middle) {
			to = cut_put(to, c->full, middle, part);
			to = cut_put_gap(to);
		}
		cut_put(to, c->full, c->cells - tail, tail);
	}
	cut = arena_strdup(text, buf);
	free(buf);
	return cut;
}

/* By what is shown, then by name. */
static int cut_compare(const void *pa, const void *pb)
{
	const struct cut_name *a = pa;
	const struct cut_name *b = pb;
	int d = strcmp(a->cut, b->cut);

	return d ? d : strcmp(a->full, b->full);
}

/* Returns how many of the n sorted names are shown like the first one. */
static size_t cut_run(const struct cut_name *c, size_t n)
{
	size_t run = 1;

	while (run < n && !strcmp(c[0].cut, c[run].cut))
		run++;
	return run;
}

/* Returns the cells that two names have in common at their beginning. */
static size_t cut_common(const char *a, const char *b)
{
	struct safe_text u, v;
	size_t cells = 0;

	while (safe_text_next(&a, &u) && safe_text_next(&b, &v) &&
	       !strcmp(u.text, v.text))
		cells += u.cells;
	return cells;
}

/* Shows more of different names that are shown alike: where they begin to
 * differ or, if `whole`, everything. */
static void cut_tell_apart(struct cut_name *c, size_t n, size_t cells,
			   bool whole, struct arena *text)
{
	qsort(c, n, sizeof(*c), cut_compare);
	for (size_t i = 0, run; i < n; i += run) {
		const char *first = c[i].full;

		run = cut_run(c + i, n - i);

		const char *last = c[i + run - 1].full;
		size_t same = cut_common(first, last);

		if (!strcmp(first, last))
			continue;
		for (size_t k = i; k < i + run; k++)
			c[k].cut = cut_one(&c[k], whole ? c[k].cells : cells,
					   same > BEFORE ? same - BEFORE : 1,
					   text);
	}
}

void cut_names(const char *const *name, size_t n, size_t cells,
	       const char **cut, struct arena *text)
{
	struct cut_name *c = mem_new(n, sizeof(*c));

	for (size_t i = 0; i < n; i++) {
		c[i] = (struct cut_name){ .full = name[i], .i = i };
		c[i].cells = safe_text_cells(name[i]);
		c[i].cut = cut_one(&c[i], cells, 0, text);
	}
	for (int i = 0; i < ROUNDS; i++)
		cut_tell_apart(c, n, cells, i + 1 == ROUNDS, text);
	for (size_t i = 0; i < n; i++)
		cut[c[i].i] = c[i].cut;
	free(c);
}
