/* unwind_compare.c - unwinds each stack dump twice, with all tables and with
 * SFrame alone, and compares the results. */
#include "symbolize/unwind/unwind_compare.h"

#include "stitch/tasks/frame.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/unwind/unwind.h"

struct compare_unwinder {
	struct unwinder uw;
	struct unwinder *all, *sframe;
	const struct frames *fr;
	struct unwind_compare_count *c;
	uint64_t *ip; /* result of SFrame */
	size_t cap;
};

static uint32_t unwind_compare_by_table(const struct unwind_out *o)
{
	return o->guessed < o->n ? o->guessed : o->n;
}

static void unwind_compare_unwind(struct unwinder *uw,
				  const struct unwind_in *in,
				  struct unwind_out *out)
{
	struct compare_unwinder *p = (struct compare_unwinder *)uw;
	struct unwind_out sf = { .max = out->max };

	p->all->ops->unwind(p->all, in, out);
	if (!in->dumped || !out->max)
		return;
	mem_grow(p->ip, p->cap, out->max);
	sf.ip = p->ip;
	p->sframe->ops->unwind(p->sframe, in, &sf);
	struct unwind_compare_count *c = p->c;
	uint32_t n_all = unwind_compare_by_table(out);
	uint32_t n_sf = unwind_compare_by_table(&sf);
	uint32_t n = n_all < n_sf ? n_all : n_sf;
	uint32_t equal = 0;

	while (equal < n && out->ip[equal] == sf.ip[equal])
		equal++;
	c->stacks++;
	c->frames += n_all;
	c->by_sframe += n_sf;
	c->equal += equal;
	c->whole += out->end == UNWIND_OUTERMOST && n_all == out->n;
	c->whole_sframe += sf.end == UNWIND_OUTERMOST && n_sf == sf.n;
	c->end[n_sf < sf.n ? UNWIND_NO_TABLE : sf.end]++;
	if (equal < n)
		c->other++;
	else if (n_all == n_sf)
		c->same++;
	else if (n_sf < n_all)
		c->early++;
	else
		c->late++;
	if (n_sf && (n_sf < n_all || equal < n)) {
		/* count where the walk by SFrame stopped: in the image of its
		 * last frame */
		struct unwind_map map = { .image = 0 };

		if (!in->find(in->arg, sf.ip[n_sf - 1], &map))
			map.image = 0;
		struct unwind_compare_stop *s =
			mem_at(c->stop, c->n, c->cap, map.image);

		if (!s->path) {
			const struct image *img =
				map.image ? frames_get_image(p->fr, map.image)
					  : NULL;

			s->path = arena_strdup(
				&c->text, img && img->path ? img->path : "");
		}
		s->n++;
		s->why[sf.end]++;
	}
}

static enum unwind_caller unwind_compare_caller(struct unwinder *uw,
						const struct unwind_in *in,
						const uint64_t *ip, uint32_t n,
						bool infer, uint64_t *caller)
{
	struct compare_unwinder *p = (struct compare_unwinder *)uw;

	return p->all->ops->caller(p->all, in, ip, n, infer, caller);
}

static void unwind_compare_free(struct unwinder *uw)
{
	struct compare_unwinder *p = (struct compare_unwinder *)uw;

	if (!p)
		return;
	p->all->ops->free(p->all);
	p->sframe->ops->free(p->sframe);
	free_all(p->ip, p);
}

static const struct unwinder_ops ops = {
	.unwind = unwind_compare_unwind,
	.caller = unwind_compare_caller,
	.free = unwind_compare_free,
};

struct unwinder *unwind_compare_new(struct symbolizer *sy,
				    const struct frames *fr,
				    struct unwind_compare_count *out)
{
	struct compare_unwinder *p = mem_new(1, sizeof(*p));

	p->uw.ops = &ops;
	p->fr = fr;
	p->c = out;
	p->all = unwind_new(sy, fr);
	p->sframe = unwind_new(sy, fr);
	unwind_get_images(p->sframe)->sframe_only = true;
	return &p->uw;
}

void unwind_compare_release(struct unwind_compare_count *c)
{
	arena_release(&c->text);
	free(c->stop);
	c->stop = NULL;
	c->n = c->cap = 0;
}
