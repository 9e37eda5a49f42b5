/* slice.c - lists of records, and parts of captures that stand alone. */
#include <stdlib.h>
#include <string.h>

#include "tests/truth/truth.h"

void list_add(struct list *l, const struct record *rec, uint32_t origin)
{
	*mem_add(l->at, l->n, l->cap) =
		(struct item){ .rec = rec, .origin = origin };
}

void list_insert(struct list *l, size_t at, const struct record *rec)
{
	list_add(l, rec, NOWHERE);
	memmove(l->at + at + 1, l->at + at, (l->n - 1 - at) * sizeof(*l->at));
	l->at[at] = (struct item){ .rec = rec, .origin = NOWHERE };
}

void list_copy(struct list *to, const struct list *from)
{
	mem_grow(to->at, to->cap, from->n + 1);
	if (from->n)
		memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = from->n;
}

/* Process ids; a few too many do no harm. */
#define PIDS 65536

static unsigned char wanted[PIDS];

static void slice_want(int32_t pid, bool yes)
{
	wanted[(uint32_t)pid % PIDS] = yes;
}

static bool slice_is_wanted(int32_t pid)
{
	return wanted[(uint32_t)pid % PIDS];
}

static bool slice_is_state(const struct record *r)
{
	return r->kind == REC_MAP || r->kind == REC_COMM ||
	       r->kind == REC_FORK || r->kind == REC_EXIT;
}

/* The processes of records [from, to), and whom they were forked from. */
static void want_all(const struct capture *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		slice_want(c->rec[i].pid, true);
		if (c->rec[i].kind == REC_FORK || c->rec[i].kind == REC_EXIT)
			slice_want(c->rec[i].fork.ppid, true);
	}
	for (size_t i = from; i-- > 0;)
		if (c->rec[i].kind == REC_FORK &&
		    slice_is_wanted(c->rec[i].pid))
			slice_want(c->rec[i].fork.ppid, true);
}

/* Was this cookie asked for before the slice? */
static bool began_before(const struct capture *c, size_t from, size_t i)
{
	if (!has_cookie(&c->rec[i]))
		return false;
	for (size_t k = from; k-- > 0;)
		if (has_cookie(&c->rec[k]) &&
		    cookie_of(&c->rec[k]) == cookie_of(&c->rec[i]))
			return true;
	return false;
}

static void set_info(struct slice *s)
{
	s->info = s->cap->src->info;
	s->info.exact = true;
	s->info.truncated = false;
	s->info.first_ns = s->info.last_ns = 0;
	for (size_t i = s->start; i < s->list.n; i++) {
		const struct record *r = s->list.at[i].rec;

		if (!is_timed(r))
			continue;
		if (!s->info.first_ns)
			s->info.first_ns = r->time;
		if (r->time > s->info.last_ns)
			s->info.last_ns = r->time;
	}
	s->info.records = s->list.n;
}

/* Of a cookie that was asked for before, nothing is missing when the chain is
 * left out and the samples ask for nothing. */
static void add_record(struct slice *s, size_t i, bool older)
{
	const struct record *r = &s->cap->rec[i];

	if (older && r->kind == REC_CHAIN)
		return;
	if (older) {
		struct record *copy = arena_take(&s->own, sizeof(*copy));

		*copy = *r;
		copy->sample.defer = DEFER_NONE;
		copy->sample.cookie = 0;
		r = copy;
	}
	list_add(&s->list, r, (uint32_t)s->list.n);
}

void slice_make(struct slice *s, const struct capture *c, size_t at, size_t len,
		bool whole)
{
	size_t from = at > len / 2 ? at - len / 2 : 0;
	size_t to = from + len < c->n ? from + len : c->n;

	while (from < at && !is_timed(&c->rec[from]))
		from++;
	s->cap = c;
	arena_release(&s->own);
	s->list.n = 0;
	if (whole)
		from = to = 0;
	memset(wanted, 0, sizeof(wanted));
	want_all(c, from, to);
	for (size_t i = 0; i < from; i++)
		if (slice_is_state(&c->rec[i]) &&
		    (slice_is_wanted(c->rec[i].pid) ||
		     c->rec[i].flags & REC_F_KERNEL))
			list_add(&s->list, &c->rec[i], (uint32_t)s->list.n);
	s->start = s->list.n;
	if (whole)
		to = c->n;
	for (size_t i = from; i < to; i++)
		add_record(s, i, began_before(c, from, i));
	set_info(s);
}

void slice_release(struct slice *s)
{
	arena_release(&s->own);
	free(s->list.at);
	*s = (struct slice){ 0 };
}
