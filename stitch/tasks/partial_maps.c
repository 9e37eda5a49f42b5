/* partial_maps.c - mappings known only by file and lowest address. */
#include "stitch/tasks/partial_maps.h"

#include <stdbool.h>

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/space.h"

#define PARTS_MAX 64

/* The segments of one image. */
struct file {
	bool asked;
	size_t n;
	struct file_part *part; /* owned */
};

struct partial_maps {
	const struct frames *fr;
	partial_maps_fn fn;
	void *arg;
	struct file *file; /* by image */
	size_t n, cap;
};

struct partial_maps *partial_maps_new(const struct frames *fr,
				      partial_maps_fn fn, void *arg)
{
	struct partial_maps *wh = mem_new(1, sizeof(*wh));

	wh->fr = fr;
	wh->fn = fn;
	wh->arg = arg;
	return wh;
}

void partial_maps_free(struct partial_maps *wh)
{
	if (!wh)
		return;
	for (size_t i = 0; i < wh->n; i++)
		free(wh->file[i].part);
	free(wh->file);
	free(wh);
}

static const struct file *partial_maps_file(struct partial_maps *wh,
					    uint32_t image)
{
	struct file_part part[PARTS_MAX];

	struct file *f = mem_at(wh->file, wh->n, wh->cap, image);

	if (f->asked)
		return f;
	f->asked = true;
	f->n = wh->fn(wh->arg, frames_get_image(wh->fr, image), part,
		      PARTS_MAX);
	if (f->n)
		f->part = mem_dup(part, f->n * sizeof(*part));
	return f;
}

int partial_maps_get(struct partial_maps *wh, const struct region *all,
		     size_t i, struct region *out)
{
	const struct file *f = wh ? partial_maps_file(wh, all->image) : NULL;

	*out = *all;
	out->derived = true;
	if (!f || !f->n)
		return i == 0;
	if (i >= f->n)
		return 0;
	const struct file_part *p = &f->part[i];

	out->derived = false;
	out->pgoff = p->off;
	if (__builtin_add_overflow(all->start, p->start, &out->start) ||
	    __builtin_add_overflow(all->start, p->end, &out->end) ||
	    out->start >= all->end)
		return 0;
	lower_to(out->end, all->end);
	return out->end > out->start;
}
