/* code_place.c - one address space for all the code of a database. */
#include "analyze/names/code_place.h"

#include "analyze/samples/code.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/intern.h"

#define PAGE 4096u /* page size that readers of mappings assume */
#define JIT_START 0x1000u
#define JIT_ALIGN 16u

/* A loaded segment of a file, as its program headers have it. */
struct segment {
	uint64_t off, vaddr, size;
};

struct place_image {
	uint32_t first, n;  /* its segments, in segment[] */
	uint64_t low, high; /* offsets that were mapped, or of jitted code, 0
			     * and its size; high 0: not known */
	uint64_t jit;	    /* where this jitted code starts */
};

struct code_places {
	const struct known_code *c;
	struct place_image *image;
	struct segment *segment;
	size_t n_segment, cap_segment;
	struct code_mapping *mapping; /* by id; [0] is empty */
	size_t n_mapping, cap_mapping;
	struct intern index; /* id - 1 of each, by image, start and off */
	uint64_t jit_end;
};

static uint64_t page_down(uint64_t x)
{
	return x - x % PAGE;
}

static uint64_t page_up(uint64_t x)
{
	return x > UINT64_MAX - PAGE ? UINT64_MAX : page_down(x + PAGE - 1);
}

static struct place_image *code_place_image_at(struct code_places *p,
					       int64_t id)
{
	return id >= 1 && (uint64_t)id < p->c->n_image ? &p->image[id] : NULL;
}

struct code_places *
code_places_load(struct store *db, const struct known_code *c, struct err *err)
{
	struct code_places *p = mem_new(1, sizeof(*p));
	struct rows *r;

	p->c = c;
	p->image = mem_new(c->n_image, sizeof(*p->image));
	*mem_add(p->mapping, p->n_mapping, p->cap_mapping) =
		(struct code_mapping){ 0 };
	r = rows_of(db, "code_segments", err);
	while (rows_step(r)) {
		struct place_image *img = code_place_image_at(
			p, rows_int(r, CODE_SEGMENTS_IMAGE));

		if (!img)
			continue;
		if (!img->n++)
			img->first = (uint32_t)p->n_segment;
		*mem_add(p->segment, p->n_segment, p->cap_segment) =
			(struct segment){
				(uint64_t)rows_int(r, CODE_SEGMENTS_OFF),
				(uint64_t)rows_int(r, CODE_SEGMENTS_VADDR),
				(uint64_t)rows_int(r, CODE_SEGMENTS_FILESZ),
			};
	}
	if (rows_end(r, err))
		goto fail;
	r = rows_of(db, "code_mapped", err);
	while (rows_step(r)) {
		struct place_image *img =
			code_place_image_at(p, rows_int(r, CODE_MAPPED_IMAGE));
		int64_t first = rows_int(r, CODE_MAPPED_FIRST);
		int64_t end = rows_int(r, CODE_MAPPED_END);

		if (img && first >= 0 && end > first) {
			img->low = (uint64_t)first;
			img->high = (uint64_t)end;
		}
	}
	if (rows_end(r, err))
		goto fail;
	/* Puts jitted functions one after the other. A recorded length may be
	 * too small: each function extends at least to its last frame. */
	uint64_t at = JIT_START;

	for (size_t i = 1; i < p->c->n_image; i++)
		if (p->c->image[i].img.kind == IMAGE_JIT)
			p->image[i].high = p->c->image[i].img.len;
	for (size_t i = 1; i < p->c->n_frame; i++) {
		const struct code_frame *f = &p->c->frame[i];
		struct place_image *img = &p->image[f->image];

		if (p->c->image[f->image].img.kind == IMAGE_JIT &&
		    img->high <= f->off)
			img->high = saturating_add(f->off, 1);
	}
	for (size_t i = 1; i < p->c->n_image; i++) {
		if (p->c->image[i].img.kind != IMAGE_JIT)
			continue;
		p->image[i].jit = at;
		at = saturating_add(at, p->image[i].high);
		at = saturating_add(at, JIT_ALIGN - 1) / JIT_ALIGN * JIT_ALIGN;
	}
	p->jit_end = at;
	return p;
fail:
	code_places_free(p);
	return NULL;
}

void code_places_free(struct code_places *p)
{
	if (!p)
		return;
	intern_release(&p->index);
	free_all(p->image, p->segment, p->mapping, p);
}

/* Returns the place of an offset in mapping m, which is added if it is new, and
 * made longer if it ends before the place. */
static struct code_place code_place_in_mapping(struct code_places *p,
					       const struct code_mapping *m,
					       uint64_t off)
{
	const uint64_t word[] = { m->image, m->start, m->off };
	uint32_t id = intern_add_bytes(&p->index, word, sizeof(word)) + 1;
	struct code_place at = { .addr = off - m->off + m->start };

	if (id == p->n_mapping)
		*mem_add(p->mapping, p->n_mapping, p->cap_mapping) = *m;
	if (p->mapping[id].limit <= at.addr)
		p->mapping[id].limit = page_up(saturating_add(at.addr, 1));
	at.mapping = id;
	return at;
}

/* Returns the place of an offset in a file: in its segment, else by the address
 * of the frame, else in the part that was mapped. A segment whose address and
 * offset differ modulo the page size cannot be mapped by page; its mapping then
 * begins at the segment. */
static struct code_place in_file(struct code_places *p,
				 const struct code_frame *f, uint64_t off)
{
	const struct place_image *img = &p->image[f->image];
	const struct segment *s = NULL; /* the one that has the offset */
	struct code_mapping m = { .image = f->image };

	for (uint32_t i = 0; i < img->n && !s; i++) {
		const struct segment *at = &p->segment[img->first + i];

		if (off >= at->off && off - at->off < at->size)
			s = at;
	}

	if (s) {
		uint64_t before =
			s->vaddr % PAGE == s->off % PAGE ? s->off % PAGE : 0;

		m.start = s->vaddr - before;
		m.off = s->off - before;
		m.limit = page_up(saturating_add(s->vaddr, s->size));
	} else if (f->has_vaddr) {
		m.off = page_down(off);
		m.start = f->vaddr - (f->off - m.off);
	} else if (off >= img->low && off < img->high) {
		m.off = m.start = img->low;
		m.limit = img->high;
	} else {
		m.off = m.start = page_down(off);
	}
	return code_place_in_mapping(p, &m, off);
}

struct code_place code_place(struct code_places *p, uint32_t frame, bool called)
{
	const struct code_frame *f = &p->c->frame[frame];
	const struct image *img = &p->c->image[f->image].img;
	/* the recorder reported no address for a derived offset */
	bool back = called && f->off && !(f->flags & FRAME_DERIVED);
	uint64_t off = f->off - back;
	struct code_mapping m = { .image = f->image,
				  .start = img->start,
				  .limit = saturating_add(img->start,
							  img->len) };

	switch (img->kind) {
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
		return (struct code_place){ 0, 0 };
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_BPF:
	case IMAGE_OOL:
		return code_place_in_mapping(p, &m, off);
	case IMAGE_JIT:
		m = (struct code_mapping){ .start = JIT_START,
					   .limit = p->jit_end };
		return code_place_in_mapping(
			p, &m, p->image[f->image].jit - JIT_START + off);
	default:
		return in_file(p, f, off);
	}
}

const struct code_mapping *code_mapping(const struct code_places *p,
					uint32_t id)
{
	return &p->mapping[id];
}
