/* partial_maps.c - mappings known only by file and lowest address. */
#include "stitch/tasks/partial_maps.h"

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/space.h"

#define PARTS_MAX 64

void partial_maps_release(struct partial_maps *wh)
{
	for (size_t i = 0; i < wh->n; i++)
		free(wh->file[i].part);
	free(wh->file);
}

static const struct partial_file *partial_maps_file(struct partial_maps *wh,
						    uint32_t image)
{
	struct file_part part[PARTS_MAX];

	struct partial_file *f = mem_at(wh->file, wh->n, wh->cap, image);

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
	const struct partial_file *f =
		wh->fn ? partial_maps_file(wh, all->image) : NULL;

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
