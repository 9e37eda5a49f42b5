/* recorded.c - code whose name is in the capture: BPF programs, trampolines,
 * kprobe slots. Every offset of the image has that name. */
#include "stitch/frame.h"
#include "symbolize/symbolizer.h"

static int recorded_open(struct symbolizer *sy, const struct image *img,
			 const char *file, void **r, struct err *err)
{
	(void)file;
	(void)err;
	if ((img->kind != IMAGE_BPF && img->kind != IMAGE_OOL) || !img->path ||
	    !img->path[0])
		return 0;
	report_status(sy, "named");
	*r = (void *)img;
	return 1;
}

static int recorded_resolve(void *r, uint64_t off, struct symbol *sym)
{
	const struct image *img = r;

	if (img->len && off >= img->len)
		return 0;
	sym->start = 0;
	sym->size = img->len;
	sym->raw_name = img->path;
	sym->how = "ksymbol";
	return 1;
}

static void recorded_close(void *r)
{
	(void)r;
}

const struct resolver resolve_recorded = {
	.name = "recorded",
	.summary = "names that the capture itself says",
	.open = recorded_open,
	.resolve = recorded_resolve,
	.close = recorded_close,
};
