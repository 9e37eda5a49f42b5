/* cut.c - cuts names to a width. */
#include "stitch/text/cut.h"

#include <stdbool.h>

#include "stitch/text/safe_text.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

static const char gap[] = "...";
#define GAP (sizeof(gap) - 1)
#define UNIT sizeof(((struct safe_text *)0)->text)
#define BEFORE 1 /* cells in front of a difference */
#define ROUNDS 6 /* each tells apart names that differ later */

/* Appends the cells of s from number `from` on, at most `cells`, to `to`.
 * Returns the new end. */
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

/* Walks over the "::" of a name that are outside brackets. */
struct cut_scopes {
	const char *s;
	size_t cells, depth; /* number of cells, and depth of brackets, before
			      * s */
	size_t at;	     /* the cell of the "::" */
};

/* Moves to the next "::" outside brackets. Returns false if there is none. */
static bool cut_next_scope(struct cut_scopes *c)
{
	struct safe_text u;

	for (const char *p = c->s; safe_text_next(&c->s, &u); p = c->s) {
		c->at = c->cells;
		c->cells += u.cells;
		if (strchr("<([{", *p))
			c->depth++;
		else if (c->depth && strchr(">)]}", *p))
			c->depth--;
		else if (!c->depth && !strncmp(p, "::", 2))
			return true;
	}
	return false;
}

void cut_ends(const char *name, size_t cells, size_t *head, size_t *tail)
{
	const size_t width = safe_text_cells(name);
	const size_t room = cells - GAP;
	struct cut_scopes c = { .s = name };

	*tail = 0;
	while (!*tail && cut_next_scope(&c))
		if (width - c.at <= room)
			*tail = width - c.at;
	*head = 0;
	for (c = (struct cut_scopes){ .s = name };
	     cut_next_scope(&c) && c.at + *tail <= room;)
		*head = c.at;
	if (2 * *tail < room) {
		*head = room / 2;
		*tail = room - *head;
	}
}

/* Cuts a name to this many cells, including its mark. Keeps both ends, and
 * parts at the cells c->at. */
static void cut_one(struct cut_name *c, size_t cells, struct arena *text)
{
	size_t width = safe_text_cells(c->full);
	size_t mark = c->mark ? safe_text_cells(c->mark) : 0;
	size_t gaps = 1 + !!c->at[0] + !!c->at[1];
	char *buf = mem_new(width + 3 * GAP + 1, UNIT);
	char *to = buf;

	cells -= mark < cells - CUT_LEAST ? mark : cells - CUT_LEAST;
	if (width <= cells) {
		cut_put(buf, c->full, 0, width);
	} else {
		size_t part = (cells - gaps * GAP) / (gaps + 1);
		size_t head = part;
		size_t tail = cells - gaps * GAP - gaps * part;

		if (gaps == 1)
			cut_ends(c->full, cells, &head, &tail);
		to = cut_put(to, c->full, 0, head);
		for (int i = 0; i < 2; i++)
			if (c->at[i])
				to = cut_put(cut_put_gap(to), c->full, c->at[i],
					     part);
		cut_put(cut_put_gap(to), c->full, width - tail, tail);
		/* Merges a gap with adjacent dots of the name. */
		char *s = buf;
		char *until = s;

		for (; *s; s++)
			if (*s != '.' || strncmp(s, "....", GAP + 1) != 0)
				*until++ = *s;
		*until = 0;
	}
	c->cut = arena_strdup(text, buf);
	free(buf);
}

/* Makes a name show the part at this cell, and keeps one part that it showed
 * before. */
static void cut_show(struct cut_name *c, size_t at)
{
	size_t old = c->at[1] ? c->at[1] : c->at[0];

	c->at[0] = old && old < at ? old : at;
	c->at[1] = old > at ? old : old ? at : 0;
	if (old == at)
		c->at[1] = 0;
}

/* Orders by the shown text, then by name. */
static int cut_compare(const void *pa, const void *pb)
{
	const struct cut_name *a = *(struct cut_name *const *)pa;
	const struct cut_name *b = *(struct cut_name *const *)pb;
	int d = strcmp(a->cut, b->cut);

	return d ? d : strcmp(a->full, b->full);
}

/* Shows more of different names that look alike: the place where they begin to
 * differ or, if `whole`, everything. */
static void cut_tell_apart(struct cut_name **c, size_t n, size_t cells,
			   bool whole, struct arena *text)
{
	sort_items(c, n, cut_compare);
	for (size_t i = 0, run; i < n; i += run) {
		const char *first = c[i]->full;

		/* names that look like the first one follow it */
		run = 1;
		while (run < n - i && !strcmp(c[i]->cut, c[i + run]->cut))
			run++;

		const char *last = c[i + run - 1]->full;
		const char *a = first;
		const char *b = last;
		struct safe_text u, v;
		size_t same = 0;

		while (safe_text_next(&a, &u) && safe_text_next(&b, &v) &&
		       !strcmp(u.text, v.text))
			same += u.cells;

		if (!strcmp(first, last))
			continue;
		for (size_t k = i; k < i + run; k++) {
			cut_show(c[k], same > BEFORE ? same - BEFORE : 1);
			cut_one(c[k], whole ? SIZE_MAX : cells, text);
		}
	}
}

void cut_names(struct cut_name *name, size_t n, size_t cells,
	       struct arena *text)
{
	struct cut_name **c OWNED = mem_new(n, sizeof(*c));

	for (size_t i = 0; i < n; i++) {
		c[i] = &name[i];
		cut_one(c[i], cells, text);
	}
	for (int i = 0; i < ROUNDS; i++)
		cut_tell_apart(c, n, cells, i + 1 == ROUNDS, text);
}
