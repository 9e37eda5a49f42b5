/* frame_names.c - the names of frames while a database is made. */
#include "schema/db/sums_code.h"
#include "schema/write/write.h"
#include "schema/write/frame_names.h"

#include "schema/write/labels.h"
#include "schema/write/writing.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"

struct frame_names {
	struct frame_name *name; /* by frame */
	size_t n, cap;
	struct intern files;
	struct label_making *labels;
};

struct frame_names *frame_names_new(void)
{
	struct frame_names *fn = mem_new(1, sizeof(*fn));

	fn->labels = label_making_new();
	return fn;
}

void frame_names_free(struct frame_names *fn)
{
	if (!fn)
		return;
	intern_release(&fn->files);
	label_making_free(fn->labels);
	free(fn->name);
	free(fn);
}

void frame_names_put(struct maker *mk, uint32_t frame,
		     const struct frame_name *name)
{
	struct frame_names *fn = mk->w->frame_names;

	*mem_at(fn->name, fn->n, fn->cap, frame) = *name;
	if (name->file)
		fn->name[frame].file = intern_get(
			&fn->files, intern_add(&fn->files, name->file));
}

void frame_names_symbol(struct maker *mk, uint32_t id, const char *name)
{
	if (mk->w->frame_names)
		labels_symbol(mk->w->frame_names->labels, id, name);
}

void frame_names_inlined(struct maker *mk, uint32_t frame, uint32_t depth,
			 const char *name)
{
	if (mk->w->frame_names)
		labels_inlined(mk->w->frame_names->labels, frame, depth, name);
}

static const struct frame_name *frame_names_of(const struct frame_names *fn,
					       uint32_t frame)
{
	static const struct frame_name none;

	return frame < fn->n ? &fn->name[frame] : &none;
}

static int frame_names_put_row(struct maker *mk, uint32_t id,
			       const struct frame_name *name, struct err *err)
{
	const struct frame *f = frames_get_frame(mk->w->fr, id);
	size_t len = name->file ? strlen(name->file) : 0;
	struct block *b = maker_packed(mk, T_FRAME, len, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, id, len);

	packing_int(&p, f->image);
	packing_int(&p, (int64_t)f->off);
	packing_int(&p, f->flags);
	packing_known(&p, name->has_vaddr, name->vaddr);
	packing_id(&p, name->symbol);
	packing_known(&p, name->symbol, (int64_t)name->symoff);
	if (name->file)
		packing_bytes(&p, RECORD_TEXT, name->file, len);
	else
		packing_null(&p);
	packing_id(&p, name->line);
	packing_end(&p);
	return 0;
}

int frame_names_write(struct maker *mk, bool labels, struct err *err)
{
	struct frame_names *fn = mk->w->frame_names;
	int rc = 0;

	if (!fn)
		return 0;
	mk->w->frame_names = NULL;
	for (uint32_t id = 1; !rc && id <= mk->w->frames; id++)
		rc = frame_names_put_row(mk, id, frame_names_of(fn, id), err);
	if (!rc && labels) {
		labels_begin(fn->labels, mk->w->fr);
		for (uint32_t id = 1; !rc && id <= mk->w->frames; id++)
			rc = labels_put(fn->labels, mk, id,
					frames_get_frame(mk->w->fr, id)->image,
					frame_names_of(fn, id)->symbol, err);
		mk->w->labelled = true;
		mk->w->renamed = false;
	}
	frame_names_free(fn);
	return rc;
}

void store_sums_only(struct maker *mk)
{
	mk->db->sums = sums_code_new(mk->w->fr);
	/* it has no rows of frames */
	frame_names_free(mk->w->frame_names);
	mk->w->frame_names = NULL;
}
