/* regions.c - regions of an address space in a tree that is cheap to copy. */
#include "stitch/tasks/regions.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

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
	size_t charged; /* how many of its items count in *held */
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

struct regions regions_share(const struct regions *rs)
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

/* Goes to the link of nd that has region *i, which becomes the index there. */
static const struct regions *region_node_link(const struct region_node *nd,
					      size_t *i)
{
	const struct regions *link = region_node_links(nd);

	for (; *i >= link->n; link++)
		*i -= link->n;
	return link;
}

size_t regions_first_above(const struct regions *rs, uint64_t addr)
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

/* Gives region i below a link the id and the times that the link says. */
static void region_inherit(struct region *r, const struct regions *link,
			   size_t i)
{
	r->id = link->first_id ? link->first_id + (uint32_t)i : 0;
	r->t0 = r->since = link->forked;
}

struct region regions_get(const struct regions *rs, size_t i)
{
	const struct regions *said = NULL; /* the outermost that inherits */
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

/* `over`: what the links above say for the region that is `at` there, or
 * NULL. */
static void regions_walk(const struct regions *rs, const struct regions *over,
			 size_t at, bool told, region_fn *fn, void *arg)
{
	const struct region_node *nd = rs->node;

	if (!over && rs->inherited) {
		over = rs;
		at = 0;
	}
	if (!nd || (over && !over->first_id && told))
		return;
	for (size_t i = 0; i < nd->n; i++) {
		if (!nd->leaf) {
			regions_walk(&region_node_links(nd)[i], over, at, told,
				     fn, arg);
			at += region_node_links(nd)[i].n;
			continue;
		}
		struct region r = region_node_regions(nd)[i];

		if (over)
			region_inherit(&r, over, at + i);
		fn(arg, &r);
	}
}

void regions_each(const struct regions *rs, bool told, region_fn *fn, void *arg)
{
	regions_walk(rs, NULL, 0, told, fn, arg);
}

/* Moves what a link says about inheritance one level down. */
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

/* Makes the node of a link one that nothing else has. */
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

/* Sets what a link knows of its node. */
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

/* Returns the link to what did not fit in the node any more; its node is NULL
 * if there is none. */
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

void regions_insert(struct regions *rs, size_t i, const struct region *r,
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

void regions_remove(struct regions *rs, size_t i, size_t *held)
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
