/* space.c - the mappings of an address space over time. */
#include "stitch/tasks/space.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

#define OLD_MAX 8192

static void regions_put(struct regions *rs)
{
	if (!rs || --rs->refs)
		return;
	if (rs->held)
		*rs->held -= rs->charged;
	free(rs->at);
	free(rs);
}

static struct regions *regions_new(void)
{
	struct regions *rs = mem_new(1, sizeof(*rs));

	rs->refs = 1;
	return rs;
}

size_t space_count(const struct space *sp)
{
	return sp->now ? sp->now->n : 0;
}

/* Returns region i with the space's own id and times. */
static struct region space_region_at(const struct space *sp, size_t i)
{
	struct region r = sp->now->at[i];

	if (sp->inherited) {
		r.id = sp->first_id ? sp->first_id + (uint32_t)i : 0;
		r.t0 = r.since = sp->forked;
	}
	return r;
}

static int64_t space_region_since(const struct space *sp,
				  const struct region *r)
{
	return sp->inherited ? sp->forked : r->since;
}

/* Copies shared regions before they are changed. */
static void space_make_own(struct space *sp, const struct space_owner *own)
{
	struct regions *rs = sp->now;

	if (!rs) {
		sp->now = regions_new();
		return;
	}
	if (rs->refs > 1) {
		rs = regions_new();
		rs->at = mem_grow(NULL, &rs->cap, sp->now->n + 1,
				  sizeof(*rs->at));
		rs->n = sp->now->n;
		if (rs->n)
			memcpy(rs->at, sp->now->at, rs->n * sizeof(*rs->at));
		rs->held = own->held;
		rs->charged = rs->held ? rs->n : 0;
		if (rs->held)
			*rs->held += rs->charged;
	} else if (!sp->inherited) {
		return;
	}
	for (size_t i = 0; sp->inherited && i < rs->n; i++)
		rs->at[i] = space_region_at(sp, i);
	sp->inherited = false;
	if (rs != sp->now)
		regions_put(sp->now);
	sp->now = rs;
}

void space_release(struct space *sp)
{
	regions_put(sp->now);
	regions_put(sp->before);
	free(sp->old);
	memset(sp, 0, sizeof(*sp));
}

/* Returns the index of the first region that ends above addr. */
static size_t regions_first_above(const struct regions *rs, uint64_t addr)
{
	return rs ? search_where(rs->n, i, rs->at[i].end - 1 >= addr) : 0;
}

/* Records are hardly more than a second late, so older regions are not needed;
 * without a limit, a long-lived space would grow for ever. */
static void space_drop_oldest(struct space *sp)
{
	if (sp->n_old < OLD_MAX)
		return;
	sp->n_old -= OLD_MAX / 2;
	memmove(sp->old, sp->old + OLD_MAX / 2, sp->n_old * sizeof(*sp->old));
}

/* A late record cannot end a region before it began. */
static void space_close_region(struct space *sp, const struct region *r,
			       int64_t t, const struct space_owner *own)
{
	struct region ended = *r;

	ended.t1 = t == TIME_NONE || t > r->t0 ? t : r->t0;
	if (ended.id)
		own->closed(own->arg, &ended);
	if (!sp->keep_old)
		return;
	space_drop_oldest(sp);
	*mem_add(sp->old, sp->n_old, sp->cap_old) = ended;
}

/* Replaces `del` regions at i by room for `add` regions. */
static void regions_splice(struct regions *rs, size_t i, size_t del, size_t add)
{
	rs->at = mem_grow(rs->at, &rs->cap, rs->n + add, sizeof(*rs->at));
	memmove(rs->at + i + add, rs->at + i + del,
		(rs->n - i - del) * sizeof(*rs->at));
	rs->n = rs->n - del + add;
}

/* Stores the parts of r outside [start, end) in out. Returns how many
 * (0..2). */
static size_t region_leftovers(const struct region *r, uint64_t start,
			       uint64_t end, int64_t t, struct region out[2],
			       const struct space_owner *own)
{
	size_t n = 0;

	if (r->start < start) {
		out[n] = *r;
		out[n].end = start;
		n++;
	}
	if (r->end - 1 > end - 1) {
		out[n] = *r;
		out[n].start = end;
		out[n].pgoff += end - r->start;
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		if (out[i].id)
			out[i].id = own->new_id(own->arg, 1);
		out[i].t0 = t;
	}
	return n;
}

/* Removes [start, end). Returns the index for a new region there. The regions
 * must not be shared. */
static size_t space_cut_out(struct space *sp, uint64_t start, uint64_t end,
			    int64_t t, const struct space_owner *own)
{
	struct regions *rs = sp->now;
	size_t i = regions_first_above(rs, start);
	size_t j = i;
	struct region left[2], right[2];
	size_t n_left = 0;
	size_t n_right = 0;

	while (j < rs->n && rs->at[j].start <= end - 1) {
		struct region keep[2];
		size_t n =
			region_leftovers(&rs->at[j], start, end, t, keep, own);

		for (size_t k = 0; k < n; k++) {
			if (keep[k].start < start)
				left[n_left++] = keep[k];
			else
				right[n_right++] = keep[k];
		}
		space_close_region(sp, &rs->at[j], t, own);
		j++;
	}
	if (j == i)
		return i;
	sp->cut++;
	regions_splice(rs, i, j - i, n_left + n_right);
	memcpy(rs->at + i, left, n_left * sizeof(*left));
	memcpy(rs->at + i + n_left, right, n_right * sizeof(*right));
	return i + n_left;
}

static bool is_valid_range(uint64_t start, uint64_t end)
{
	return start != end && (end == 0 || start < end);
}

static void space_set_changed(struct space *sp, int64_t t)
{
	if (t > sp->changed)
		sp->changed = t;
}

/* Returns the part [start, end) of r. */
static struct region region_part(const struct region *r, uint64_t start,
				 uint64_t end)
{
	struct region p = *r;

	p.start = start;
	p.end = end;
	p.pgoff += start - r->start;
	p.t1 = TIME_NONE;
	p.since = r->t0;
	return p;
}

/* Maps r over everything that is there. */
static void space_map_over(struct space *sp, struct region r,
			   const struct space_owner *own)
{
	size_t i = space_cut_out(sp, r.start, r.end, r.t0, own);

	r.id = own->told ? 0 : own->new_id(own->arg, 1);
	regions_splice(sp->now, i, 0, 1);
	sp->now->at[i] = r;
}

/* r came late and `newer` replaced it since, so r is only of the past. */
static void space_map_under(struct space *sp, struct region r,
			    const struct region *newer,
			    const struct space_owner *own)
{
	r.id = own->told ? 0 : own->new_id(own->arg, 1);
	space_close_region(sp, &r, newer->since, own);
}

/* Returns the first region that overlaps [start, end) and was mapped after t,
 * or rs->n. */
static size_t regions_first_newer(const struct regions *rs, uint64_t start,
				  uint64_t end, int64_t t)
{
	size_t i = regions_first_above(rs, start);

	while (i < rs->n && rs->at[i].start <= end - 1 && rs->at[i].since <= t)
		i++;
	return i < rs->n && rs->at[i].start <= end - 1 ? i : rs->n;
}

/* A late mapping record (in a pipe) does not end regions that were mapped after
 * it: where they overlap, it only becomes part of the past. */
void space_map(struct space *sp, const struct region *r,
	       const struct space_owner *own)
{
	uint64_t at = r->start;

	if (!is_valid_range(r->start, r->end))
		return;
	space_make_own(sp, own);
	for (;;) {
		size_t i = regions_first_newer(sp->now, at, r->end, r->t0);

		if (i == sp->now->n) {
			space_map_over(sp, region_part(r, at, r->end), own);
			break;
		}
		const struct region newer = sp->now->at[i];

		if (at < newer.start) {
			space_map_over(sp, region_part(r, at, newer.start),
				       own);
			at = newer.start;
		}
		bool last = newer.end - 1 >= r->end - 1;

		space_map_under(sp,
				region_part(r, at, last ? r->end : newer.end),
				&newer, own);
		if (last)
			break;
		at = newer.end;
	}
	sp->any++;
	space_set_changed(sp, r->t0);
}

void space_unmap(struct space *sp, uint64_t start, uint64_t end, int64_t t,
		 const struct space_owner *own)
{
	if (!is_valid_range(start, end))
		return;
	space_make_own(sp, own);
	space_cut_out(sp, start, end, t, own);
	space_set_changed(sp, t);
}

void space_clear(struct space *sp, int64_t t, const struct space_owner *own)
{
	bool told = !sp->inherited || sp->first_id || sp->keep_old;

	for (size_t i = 0; told && i < space_count(sp); i++) {
		struct region r = space_region_at(sp, i);

		space_close_region(sp, &r, t, own);
	}
	regions_put(sp->now);
	sp->now = NULL;
	sp->inherited = false;
	sp->cut++;
	sp->any++;
	space_set_changed(sp, t);
}

void space_exec(struct space *sp, int64_t t, const struct space_owner *own)
{
	space_forget_exec(sp);
	sp->before = sp->now;
	if (sp->before)
		sp->before->refs++;
	sp->complete = sp->anon_code = false;
	space_clear(sp, t, own);
}

void space_forget_exec(struct space *sp)
{
	regions_put(sp->before);
	sp->before = NULL;
}

const struct region *space_before_exec(const struct space *sp, uint64_t addr)
{
	size_t i = regions_first_above(sp->before, addr);

	return sp->before && i < sp->before->n &&
			       addr >= sp->before->at[i].start
		       ? &sp->before->at[i]
		       : NULL;
}

void space_copy(struct space *child, struct space *parent, int64_t t, bool rows,
		const struct space_owner *own)
{
	size_t n = space_count(parent);

	child->complete = parent->complete;
	child->anon_code = parent->anon_code;
	if (n) {
		regions_put(child->now);
		child->now = parent->now;
		child->now->refs++;
		child->inherited = true;
		child->forked = t;
		child->first_id = rows ? own->new_id(own->arg, n) : 0;
	}
	child->any++;
	child->cut++;
	child->changed = t;
}

bool space_has(const struct space *sp, const struct region *r)
{
	size_t i = regions_first_above(sp->now, r->start);
	const struct region *is = i < space_count(sp) ? &sp->now->at[i] : NULL;

	return is && is->start == r->start && is->end == r->end &&
	       is->image == r->image && is->pgoff == r->pgoff;
}

bool space_has_all(const struct space *sp, const struct space *other)
{
	if (space_count(sp) < space_count(other))
		return false;
	for (size_t i = 0; i < space_count(other); i++)
		if (!space_has(sp, &other->now->at[i]))
			return false;
	return true;
}

static bool region_covers(const struct region *r, uint64_t addr)
{
	return addr >= r->start && addr <= r->end - 1;
}

static bool region_existed_at(const struct region *r, int64_t t)
{
	return r->t0 <= t && (r->t1 == TIME_NONE || t < r->t1);
}

/* Looks up the past, for late records only. Of overlapping regions, the one
 * that was mapped last before t is valid. */
static const struct region *space_find_past(const struct space *sp,
					    uint64_t addr, int64_t t)
{
	const struct region *best = NULL;

	for (size_t i = sp->n_old; i-- > 0;) {
		const struct region *r = &sp->old[i];

		if (region_covers(r, addr) && region_existed_at(r, t) &&
		    (!best || r->since > best->since))
			best = r;
	}
	return best;
}

const struct region *space_find(const struct space *sp, uint64_t addr,
				int64_t t)
{
	size_t i = regions_first_above(sp->now, addr);
	const struct region *r = NULL;

	if (i < space_count(sp) && region_covers(&sp->now->at[i], addr))
		r = &sp->now->at[i];
	if (t == TIME_NONE || t >= sp->changed ||
	    (r && space_region_since(sp, r) <= t))
		return r;
	const struct region *past = space_find_past(sp, addr, t);

	/* If nothing is known about that time, the next mapping is the best
	 * guess. */
	return past ? past : r;
}

void space_hole(const struct space *sp, uint64_t addr, uint64_t *start,
		uint64_t *end)
{
	size_t i = regions_first_above(sp->now, addr);

	*start = i ? sp->now->at[i - 1].end : 0;
	*end = i < space_count(sp) ? sp->now->at[i].start : 0;
}

uint64_t space_gap_end(const struct space *sp, uint64_t addr, uint64_t end)
{
	size_t i = regions_first_above(sp->now, addr);

	return i < space_count(sp) && sp->now->at[i].start < end
		       ? sp->now->at[i].start
		       : end;
}

const struct region *space_below(const struct space *sp, uint64_t addr)
{
	size_t i = regions_first_above(sp->now, addr);

	return i ? &sp->now->at[i - 1] : NULL;
}
