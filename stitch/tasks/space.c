/* space.c - the mappings of an address space over time, as regions in a tree
 * that is cheap to copy. */
#include "stitch/tasks/space.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

/* Most processes have fewer mappings than fit in one leaf, which is then the
 * array that it would be without a tree. */
#define ITEMS_MAX 64

/* A leaf has regions, any other node has links to nodes, which are struct
 * regions themselves. No node is empty. */
struct region_node {
	uint32_t refs;
	bool leaf;
	size_t n, cap;
	void *item;
	size_t charged; /* how many of its items are counted in *held */
	size_t *held;
};

static struct region *region_node_regions(const struct region_node *nd)
{
	return nd->item;
}

static struct regions *region_node_links(const struct region_node *nd)
{
	return nd->item;
}

static size_t region_node_size(const struct region_node *nd)
{
	return nd->leaf ? sizeof(struct region) : sizeof(struct regions);
}

static struct region_node *region_node_new(bool leaf, const void *item,
					   size_t n)
{
	struct region_node *nd = mem_new(1, sizeof(*nd));

	nd->refs = 1;
	nd->leaf = leaf;
	nd->n = n;
	nd->item = mem_grow_to(NULL, &nd->cap, n + 1, region_node_size(nd));
	if (n)
		memcpy(nd->item, item, n * region_node_size(nd));
	return nd;
}

static void region_node_put(struct region_node *nd)
{
	if (!nd || --nd->refs)
		return;
	for (size_t i = 0; !nd->leaf && i < nd->n; i++)
		region_node_put(region_node_links(nd)[i].node);
	if (nd->held)
		*nd->held -= nd->charged;
	free_all(nd->item, nd);
}

/* Returns another reference to the regions, for regions_release(). */
static struct regions regions_share(const struct regions *rs)
{
	if (rs->node)
		rs->node->refs++;
	return *rs;
}

void regions_release(struct regions *rs)
{
	region_node_put(rs->node);
	memset(rs, 0, sizeof(*rs));
}

/* Returns the link of nd with region *i, and changes *i to the index below
 * it. */
static const struct regions *region_node_link(const struct region_node *nd,
					      size_t *i)
{
	const struct regions *link = region_node_links(nd);

	for (; *i >= link->n; link++)
		*i -= link->n;
	return link;
}

/* Returns the index of the first region that ends above addr, or n. */
static size_t regions_first_above(const struct regions *rs, uint64_t addr)
{
	const struct region_node *nd = rs->node;
	size_t before = 0;

	if (!nd || rs->last < addr)
		return rs->n;
	while (!nd->leaf) {
		const struct regions *link = region_node_links(nd);

		for (; link->last < addr; link++)
			before += link->n;
		nd = link->node;
	}
	const struct region *r = region_node_regions(nd);

	return before + search_where(nd->n, i, r[i].end - 1 >= addr);
}

const struct region *regions_stored(const struct regions *rs, size_t i)
{
	const struct region_node *nd = rs->node;

	while (!nd->leaf)
		nd = region_node_link(nd, &i)->node;
	return &region_node_regions(nd)[i];
}

/* Gives region i below a link the id and the times of the link. */
static void region_inherit(struct region *r, const struct regions *link,
			   size_t i)
{
	r->id = link->first_id ? link->first_id + (uint32_t)i : 0;
	r->t0 = r->since = link->forked;
}

struct region regions_get(const struct regions *rs, size_t i)
{
	const struct regions *said = NULL; /* outermost link with inherited
					    * regions */
	size_t at = 0;

	for (;; rs = region_node_link(rs->node, &i)) {
		if (!said && rs->inherited) {
			said = rs;
			at = i;
		}
		if (rs->node->leaf)
			break;
	}
	struct region r = region_node_regions(rs->node)[i];

	if (said)
		region_inherit(&r, said, at);
	return r;
}

/* Calls fn for all regions. `over`: the link above whose ids and times hold,
 * with region `at` there; or NULL. */
static void regions_walk(const struct regions *rs, const struct regions *over,
			 size_t at, bool with_rows, region_fn *fn, void *arg)
{
	const struct region_node *nd = rs->node;

	if (!over && rs->inherited) {
		over = rs;
		at = 0;
	}
	if (!nd || (over && !over->first_id && with_rows))
		return;
	for (size_t i = 0; i < nd->n; i++) {
		if (!nd->leaf) {
			regions_walk(&region_node_links(nd)[i], over, at,
				     with_rows, fn, arg);
			at += region_node_links(nd)[i].n;
			continue;
		}
		struct region r = region_node_regions(nd)[i];

		if (over)
			region_inherit(&r, over, at + i);
		fn(arg, &r);
	}
}

void regions_each(const struct regions *rs, bool with_rows, region_fn *fn,
		  void *arg)
{
	regions_walk(rs, NULL, 0, with_rows, fn, arg);
}

/* Moves the inherited ids and times of a link one level down. */
static void regions_push_down(struct regions *rs)
{
	struct region_node *nd = rs->node;
	size_t at = 0;

	for (size_t i = 0; i < nd->n; i++) {
		if (nd->leaf) {
			region_inherit(&region_node_regions(nd)[i], rs, i);
			continue;
		}
		struct regions *link = &region_node_links(nd)[i];

		link->inherited = true;
		link->first_id = rs->first_id ? rs->first_id + (uint32_t)at : 0;
		link->forked = rs->forked;
		at += link->n;
	}
	rs->inherited = false;
}

/* Returns the node of a link for a change; copies it if it is shared. */
static struct region_node *regions_own(struct regions *rs, size_t *held)
{
	struct region_node *nd = rs->node;

	if (nd->refs > 1) {
		nd->refs--;
		nd = region_node_new(nd->leaf, nd->item, nd->n);
		for (size_t i = 0; !nd->leaf && i < nd->n; i++)
			region_node_links(nd)[i].node->refs++;
		nd->held = held;
		nd->charged = held ? nd->n : 0;
		if (held)
			*held += nd->charged;
		rs->node = nd;
	}
	if (rs->inherited)
		regions_push_down(rs);
	return nd;
}

static uint64_t region_node_last(const struct region_node *nd)
{
	return nd->leaf ? region_node_regions(nd)[nd->n - 1].end - 1
			: region_node_links(nd)[nd->n - 1].last;
}

/* Updates a link from its node. */
static void regions_recount(struct regions *rs)
{
	const struct region_node *nd = rs->node;

	rs->n = nd->leaf ? nd->n : 0;
	for (size_t i = 0; !nd->leaf && i < nd->n; i++)
		rs->n += region_node_links(nd)[i].n;
	rs->last = region_node_last(nd);
}

static void region_node_add(struct region_node *nd, size_t i, const void *item)
{
	size_t size = region_node_size(nd);

	nd->item = mem_grow_to(nd->item, &nd->cap, nd->n + 1, size);
	char *at = (char *)nd->item + i * size;

	memmove(at + size, at, (nd->n - i) * size);
	memcpy(at, item, size);
	nd->n++;
}

static void region_node_drop(struct region_node *nd, size_t i)
{
	size_t size = region_node_size(nd);
	char *at = (char *)nd->item + i * size;

	nd->n--;
	memmove(at, at + size, (nd->n - i) * size);
}

/* Moves the second half of a full node to a new one. */
static struct regions regions_split(struct region_node *nd)
{
	struct regions right = { 0 };
	size_t half = nd->n / 2;

	right.node = region_node_new(
		nd->leaf, (char *)nd->item + half * region_node_size(nd),
		nd->n - half);
	nd->n = half;
	regions_recount(&right);
	return right;
}

/* Inserts r before region i. Returns a link to the items that no longer fit in
 * the node; its node is NULL if all fit. */
static struct regions regions_put_in(struct regions *rs, size_t i,
				     const struct region *r, size_t *held)
{
	struct region_node *nd = regions_own(rs, held);
	struct regions right = { 0 };

	if (nd->leaf) {
		region_node_add(nd, i, r);
	} else {
		struct regions *link = region_node_links(nd);

		for (; i > link->n; link++)
			i -= link->n;
		size_t k = (size_t)(link - region_node_links(nd));

		right = regions_put_in(link, i, r, held);
		if (right.node)
			region_node_add(nd, k + 1, &right);
		right = (struct regions){ 0 };
	}
	if (nd->n > ITEMS_MAX)
		right = regions_split(nd);
	rs->n += 1 - right.n;
	rs->last = region_node_last(nd);
	return right;
}

/* Inserts r before region i (0..n), or removes region i. held, which may be
 * NULL, counts the regions and links that are copied because they are shared,
 * until they are freed. */
static void regions_insert(struct regions *rs, size_t i, const struct region *r,
			   size_t *held)
{
	if (!rs->node)
		rs->node = region_node_new(true, NULL, 0);
	const struct regions right = regions_put_in(rs, i, r, held);

	if (!right.node)
		return;
	const struct regions two[2] = { *rs, right };

	rs->node = region_node_new(false, two, 2);
	regions_recount(rs);
}

/* Joins links k and k + 1 of a node if that leaves room, so that what was
 * unmapped does not leave a tree of small nodes. */
static void region_node_join(struct region_node *nd, size_t k, size_t *held)
{
	struct regions *link = region_node_links(nd);

	if (k + 1 >= nd->n ||
	    link[k].node->n + link[k + 1].node->n > ITEMS_MAX / 2)
		return;
	struct region_node *left = regions_own(&link[k], held);
	struct region_node *right = regions_own(&link[k + 1], held);
	size_t size = region_node_size(left);

	left->item =
		mem_grow_to(left->item, &left->cap, left->n + right->n, size);
	memcpy((char *)left->item + left->n * size, right->item,
	       right->n * size);
	left->n += right->n;
	right->n = 0;
	region_node_put(right);
	region_node_drop(nd, k + 1);
	regions_recount(&link[k]);
}

/* Removes region i below a link; *held: as for regions_insert(). */
static void regions_take_out(struct regions *rs, size_t i, size_t *held)
{
	struct region_node *nd = regions_own(rs, held);

	if (nd->leaf) {
		region_node_drop(nd, i);
	} else {
		size_t k = (size_t)(region_node_link(nd, &i) -
				    region_node_links(nd));
		struct regions *link = &region_node_links(nd)[k];

		regions_take_out(link, i, held);
		if (!link->n) {
			region_node_put(link->node);
			region_node_drop(nd, k);
		} else {
			region_node_join(nd, k, held);
			region_node_join(nd, k ? k - 1 : nd->n, held);
		}
	}
	rs->n--;
	if (rs->n)
		rs->last = region_node_last(nd);
}

static void regions_remove(struct regions *rs, size_t i, size_t *held)
{
	regions_take_out(rs, i, held);
	if (!rs->n) {
		regions_release(rs);
		return;
	}
	while (!rs->node->leaf && rs->node->n == 1) {
		struct region_node *top = rs->node;

		*rs = region_node_links(top)[0];
		top->n = 0;
		region_node_put(top);
	}
}

#define OLD_MAX 8192

void space_release(struct space *sp)
{
	regions_release(&sp->now);
	regions_release(&sp->before);
	free(sp->old);
	memset(sp, 0, sizeof(*sp));
}

/* Reserves n ids for mappings, and returns the first. */
static uint32_t space_new_id(const struct space_owner *own, size_t n)
{
	uint32_t first = *own->ids + 1;

	*own->ids += (uint32_t)n;
	return first;
}

/* Ends a region at t, and reports it to the owner. A late record cannot end a
 * region before it began. */
static void space_close_region(struct space *sp, const struct region *r,
			       int64_t t, const struct space_owner *own)
{
	struct region ended = *r;

	ended.t1 = t == TIME_NONE || t > r->t0 ? t : r->t0;
	if (ended.id)
		own->closed(own, &ended);
	if (!sp->keep_old)
		return;
	/* Records are hardly more than a second late, so older regions are not
	 * needed; without a limit, a long-lived space would grow for ever. */
	if (sp->n_old >= OLD_MAX) {
		sp->n_old -= OLD_MAX / 2;
		memmove(sp->old, sp->old + OLD_MAX / 2,
			sp->n_old * sizeof(*sp->old));
	}
	*mem_add(sp->old, sp->n_old, sp->cap_old) = ended;
}

/* Removes [start, end). Returns the index for a new region there. */
static size_t space_cut_out(struct space *sp, uint64_t start, uint64_t end,
			    int64_t t, const struct space_owner *own)
{
	size_t i = regions_first_above(&sp->now, start);

	while (i < sp->now.n && regions_stored(&sp->now, i)->start <= end - 1) {
		struct region r = regions_get(&sp->now, i);
		struct region keep[2]; /* the parts outside */
		size_t n = 0;

		if (r.start < start) {
			keep[n] = r;
			keep[n].end = start;
			n++;
		}
		if (r.end - 1 > end - 1) {
			keep[n] = r;
			keep[n].start = end;
			keep[n].pgoff += end - r.start;
			n++;
		}
		for (size_t k = 0; k < n; k++) {
			if (keep[k].id)
				keep[k].id = space_new_id(own, 1);
			keep[k].t0 = t;
		}
		regions_remove(&sp->now, i, own->held);
		for (size_t k = 0; k < n; k++)
			regions_insert(&sp->now, i + k, &keep[k], own->held);
		space_close_region(sp, &r, t, own);
		sp->cut += region_is_code(&r);
		sp->any++;
		if (n && keep[0].start < start)
			i++;
	}
	return i;
}

static bool is_valid_range(uint64_t start, uint64_t end)
{
	return start != end && (end == 0 || start < end);
}

static void space_set_changed(struct space *sp, int64_t t)
{
	raise_to(sp->changed, t);
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

	r.id = own->with_rows ? 0 : space_new_id(own, 1);
	regions_insert(&sp->now, i, &r, own->held);
}

/* Returns the first region that overlaps [start, end) and was mapped after t,
 * or rs->n. */
static size_t regions_first_newer(const struct regions *rs, uint64_t start,
				  uint64_t end, int64_t t)
{
	for (size_t i = regions_first_above(rs, start);
	     i < rs->n && regions_stored(rs, i)->start <= end - 1; i++)
		if (regions_get(rs, i).since > t)
			return i;
	return rs->n;
}

/* A late mapping record (in a pipe) does not end regions that were mapped after
 * it: where they overlap, it only becomes part of the past. */
void space_map(struct space *sp, const struct region *r,
	       const struct space_owner *own)
{
	uint64_t at = r->start;

	if (!is_valid_range(r->start, r->end))
		return;
	for (;;) {
		size_t i = regions_first_newer(&sp->now, at, r->end, r->t0);

		if (i == sp->now.n) {
			space_map_over(sp, region_part(r, at, r->end), own);
			break;
		}
		const struct region newer = regions_get(&sp->now, i);

		if (at < newer.start) {
			space_map_over(sp, region_part(r, at, newer.start),
				       own);
			at = newer.start;
		}
		bool last = newer.end - 1 >= r->end - 1;
		struct region under =
			region_part(r, at, last ? r->end : newer.end);

		under.id = own->with_rows ? 0 : space_new_id(own, 1);
		space_close_region(sp, &under, newer.since, own);
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
	space_cut_out(sp, start, end, t, own);
	space_set_changed(sp, t);
}

/* A space whose regions all end. */
struct clearing {
	struct region *region;
	size_t n, cap;
	bool sorted;
};

static void space_gather(void *arg, const struct region *r)
{
	struct clearing *c = arg;

	c->sorted = c->sorted && (!c->n || c->region[c->n - 1].id <= r->id);
	*mem_add(c->region, c->n, c->cap) = *r;
}

COMPARE_BY(space_by_id, struct region, id, start);

/* Regions end in the order of their ids, so that their rows are appended to the
 * table: in the order of addresses, each would be inserted among others. */
void space_clear(struct space *sp, int64_t t, const struct space_owner *own)
{
	struct clearing c = { .sorted = true };

	/* without keep_old, regions without rows need not be closed */
	regions_each(&sp->now, !sp->keep_old, space_gather, &c);
	if (!c.sorted)
		sort_items(c.region, c.n, space_by_id);
	for (size_t i = 0; i < c.n; i++)
		space_close_region(sp, &c.region[i], t, own);
	free(c.region);
	regions_release(&sp->now);
	sp->cut++;
	sp->any++;
	space_set_changed(sp, t);
}

void space_exec(struct space *sp, int64_t t, const struct space_owner *own)
{
	regions_release(&sp->before);
	sp->before = regions_share(&sp->now);
	sp->complete = sp->cut_short = sp->anon_code = false;
	space_clear(sp, t, own);
}

/* Returns the region of rs that covers addr, as it is stored, or NULL. */
static const struct region *regions_covering(const struct regions *rs,
					     uint64_t addr, size_t *i)
{
	*i = regions_first_above(rs, addr);
	if (*i == rs->n)
		return NULL;
	const struct region *r = regions_stored(rs, *i);

	return addr >= r->start ? r : NULL;
}

const struct region *space_before_exec(const struct space *sp, uint64_t addr)
{
	size_t i;

	return regions_covering(&sp->before, addr, &i);
}

void space_copy(struct space *child, struct space *parent, int64_t t, bool rows,
		const struct space_owner *own)
{
	size_t n = parent->now.n;

	child->complete = parent->complete;
	child->cut_short = parent->cut_short;
	child->anon_code = parent->anon_code;
	if (n) {
		regions_release(&child->now);
		child->now = regions_share(&parent->now);
		child->now.inherited = true;
		child->now.forked = t;
		child->now.first_id = rows ? space_new_id(own, n) : 0;
	}
	child->any++;
	child->cut++;
	child->changed = t;
}

bool space_has(const struct space *sp, const struct region *r)
{
	size_t i;
	const struct region *is = regions_covering(&sp->now, r->start, &i);

	return is && is->start == r->start && is->end == r->end &&
	       is->image == r->image && is->pgoff == r->pgoff;
}

bool space_has_all(const struct space *sp, const struct space *other)
{
	if (sp->now.n < other->now.n)
		return false;
	if (sp->now.node == other->now.node)
		return true;
	return !any_where(other->now.n, i,
			  !space_has(sp, regions_stored(&other->now, i)));
}

const struct region *space_find(const struct space *sp, uint64_t addr,
				int64_t t)
{
	size_t i;
	const struct region *r = regions_covering(&sp->now, addr, &i);
	const struct region *past = NULL;

	if (t == TIME_NONE || t >= sp->changed ||
	    (r && regions_get(&sp->now, i).since <= t))
		return r;
	/* Only for late records. Of overlapping regions, the one that was
	 * mapped last before t is valid. */
	for (size_t k = sp->n_old; k-- > 0;) {
		const struct region *old = &sp->old[k];

		if (addr >= old->start && addr <= old->end - 1 &&
		    (old->t0 <= t && (old->t1 == TIME_NONE || t < old->t1)) &&
		    (!past || old->since > past->since))
			past = old;
	}
	/* If nothing is known about that time, the next mapping is the best
	 * guess. */
	return past ? past : r;
}

static bool region_is_part(const struct region *part, const struct region *of)
{
	return part->since == of->t0 && part->image == of->image &&
	       part->start >= of->start && part->end - 1 <= of->end - 1;
}

void space_parts_of(const struct space *sp, const struct region *r,
		    region_fn *fn, void *arg)
{
	struct region part;

	for (size_t i = regions_first_above(&sp->now, r->start);
	     i < sp->now.n && regions_stored(&sp->now, i)->start <= r->end - 1;
	     i++) {
		part = regions_get(&sp->now, i);
		part.t0 = r->t0;
		if (region_is_part(&part, r))
			fn(arg, &part);
	}
	for (size_t i = 0; i < sp->n_old; i++) {
		part = sp->old[i];
		part.t0 = r->t0;
		if (region_is_part(&part, r) && part.t1 != TIME_NONE)
			fn(arg, &part);
	}
}

void space_hole(const struct space *sp, uint64_t addr, uint64_t *start,
		uint64_t *end)
{
	size_t i = regions_first_above(&sp->now, addr);

	*start = i ? regions_stored(&sp->now, i - 1)->end : 0;
	*end = i < sp->now.n ? regions_stored(&sp->now, i)->start : 0;
}

const struct region *space_below(const struct space *sp, uint64_t addr)
{
	size_t i = regions_first_above(&sp->now, addr);

	return i ? regions_stored(&sp->now, i - 1) : NULL;
}

uint64_t space_user_mask(const struct space *sp, uint64_t mask)
{
	const struct region *last =
		mask == UINT64_MAX ? NULL : space_below(sp, UINT64_MAX);
	const int bits = last ? 64 - __builtin_clzll((last->end - 1) | 1) : 0;

	return bits == 39 || bits == 42 || bits == 47
		       ? mask & ~((UINT64_C(1) << 48) - (UINT64_C(1) << bits))
		       : mask;
}

/* Most ranges of one kin; more of them become one from the lowest to the
 * highest address. */
#define RANGES_MAX 1024

void shared_spaces_release(struct shared_spaces *ks)
{
	for (size_t i = 0; i < ks->n; i++)
		free(ks->kin[i].at);
	free_all(ks->kin, ks->free);
	*ks = (struct shared_spaces){ 0 };
}

uint32_t shared_spaces_join(struct shared_spaces *ks, uint32_t kin)
{
	if (!kin && ks->n_free) {
		kin = ks->free[--ks->n_free];
	} else if (!kin) {
		(void)mem_add(ks->kin, ks->n, ks->cap);
		kin = (uint32_t)ks->n;
		ks->kin[kin - 1] = (struct shared_space){ 0 };
	}
	ks->kin[kin - 1].members++;
	return kin;
}

void shared_spaces_leave(struct shared_spaces *ks, uint32_t kin)
{
	if (!kin || --ks->kin[kin - 1].members)
		return;
	free(ks->kin[kin - 1].at);
	ks->kin[kin - 1] = (struct shared_space){ 0 };
	*mem_add(ks->free, ks->n_free, ks->cap_free) = kin;
}

/* Returns the first range that ends at or above the address. */
static size_t shared_space_find(const struct shared_space *k, uint64_t addr)
{
	return search_where(k->n, i, k->at[i].end >= addr);
}

void shared_spaces_map(struct shared_spaces *ks, uint32_t kin, uint64_t start,
		       uint64_t end)
{
	if (!kin || start >= end)
		return;
	struct shared_space *k = &ks->kin[kin - 1];
	size_t i = shared_space_find(k, start);
	size_t n = i; /* index after the ranges that the new one touches */

	for (; n < k->n && k->at[n].start <= end; n++) {
		lower_to(start, k->at[n].start);
		raise_to(end, k->at[n].end);
	}
	if (n == i && k->n == RANGES_MAX) {
		k->at[0].end = k->at[k->n - 1].end;
		k->n = 1;
		shared_spaces_map(ks, kin, start, end);
		return;
	}
	if (n == i)
		mem_grow(k->at, k->cap, k->n + 1);
	memmove(k->at + i + 1, k->at + n, (k->n - n) * sizeof(*k->at));
	k->n = k->n + 1 - (n - i);
	k->at[i] = (struct space_range){ start, end };
}

bool shared_spaces_maps(const struct shared_spaces *ks, uint32_t kin,
			uint64_t addr)
{
	if (!kin)
		return false;
	const struct shared_space *k = &ks->kin[kin - 1];
	size_t i = shared_space_find(k, addr);

	/* the first range may end at the address */
	i += i < k->n && k->at[i].end == addr;
	return i < k->n && k->at[i].start <= addr;
}
