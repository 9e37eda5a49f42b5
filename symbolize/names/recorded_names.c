/* recorded_names.c - names code from the capture or from a file that the
 * process wrote: BPF programs, trampolines, kprobe slots, JIT code. Every
 * offset of such an image has the same name. */
#include <string.h>

#include "stitch/base/search.h"
#include "stitch/symbol.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"

static int recorded_names_open(struct symbolizer *sy, const struct image *img,
			       const char *file UNUSED, void **r,
			       struct err *err UNUSED)
{
	if ((img->kind != IMAGE_BPF && img->kind != IMAGE_OOL &&
	     img->kind != IMAGE_JIT) ||
	    !img->path || !img->path[0])
		return 0;
	report_status(sy, IMAGE_NAMED);
	*r = (void *)img;
	return 1;
}

static int recorded_names_resolve(void *r, uint64_t off, struct symbol *sym)
{
	const struct image *img = r;

	if (img->len && off >= img->len)
		return 0;
	sym->start = 0;
	sym->size = img->len;
	sym->raw_name = img->path;
	sym->how = img->kind != IMAGE_JIT ? "ksymbol"
		   : !strncmp(img->path, JIT_AMBIGUOUS, strlen(JIT_AMBIGUOUS))
			   ? "ambiguous"
		   : img->id_len ? "jitdump"
				 : "perf map";
	if (!img->code)
		return 1;
	/* The last line entry at or before the offset has the source line. */
	size_t lo = search_where(img->code->n_line, i,
				 img->code->line[i].off > sym->off);

	if (lo) {
		sym->file = img->code->line[lo - 1].file;
		sym->line = img->code->line[lo - 1].line;
	}
	return 1;
}

static void recorded_names_close(void *r UNUSED)
{
}

const struct resolver resolve_recorded = {
	.open = recorded_names_open,
	.resolve = recorded_names_resolve,
	.close = recorded_names_close,
};
