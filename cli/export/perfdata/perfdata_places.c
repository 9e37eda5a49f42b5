/* perfdata_places.c - addresses of frames in a perf.data file. */
#include "cli/export/perfdata/perfdata_places.h"

#include "analyze/samples/code.h"
#include "schema/store.h"
#include "stitch/base/search.h"
#include "stitch/tasks/space.h"

/* Marks get addresses below vm.mmap_min_addr, where no process has mappings, in
 * the first page without a recorded address. */
#define PAGE 4096u
#define PAGES 16u
#define MARK_BYTES 16u
#define MARKS (PAGE / MARK_BYTES)
/* Addresses for code without one: kernel symbols in a hole of x86-64's layout
 * (Documentation/arch/x86/x86_64/mm.rst), files above what mmap() returns. */
#define SYMBOLS_AT 0xfffffe8000000000u
#define FILES_AT 0x7d0000000000u
#define SYMBOL_BYTES (1u << 20)
#define FILE_BYTES ((uint64_t)1 << 32)

/* Ids of images for marks, which are not in the database. */
#define MARK_IMAGES 0x80000000u

static bool by_name_only(enum image_kind kind)
{
	return kind == IMAGE_SYMBOLS || kind == IMAGE_SCRIPT ||
	       kind == IMAGE_MAPPING;
}

/* Returns an address for a frame that has none. */
static uint64_t made_up(const struct pd_places *p, uint32_t frame)
{
	const struct code_frame *f = &p->code->frame[frame];
	enum image_kind kind = p->code->image[f->image].img.kind;

	if (kind == IMAGE_MAPPING) {
		/* by the number of the image, above all recorded addresses */
		uint64_t file = FILES_AT + (f->image & 0xff) * FILE_BYTES;

		return f->off < FILE_BYTES ? file + f->off : 0;
	}
	if (kind != IMAGE_SYMBOLS || !f->at.name || f->symoff >= SYMBOL_BYTES)
		return 0;

	uint32_t i = table_find_hash(&p->by_key, hash_u64(f->off - f->symoff));

	if (i == TABLE_NONE)
		return 0;
	return SYMBOLS_AT + (uint64_t)i * SYMBOL_BYTES + f->symoff;
}

const uint64_t *pd_places_chain(struct pd_places *p, uint32_t raw,
				uint64_t user_mask, size_t *n)
{
	const struct known_code *c = p->code;
	const struct code_chain *chain = code_chain_at(c, raw);
	uint32_t stack = chain->stack;
	int got;

	*n = 0;
	mem_grow(p->ip, p->cap_ip, chain->len + 1);
	got = store_addrs(chain->addrs, chain->len, p->ip, chain->len);
	for (int i = 0; i < got && stack; i++) {
		uint32_t frame = c->stack[stack].frame;

		if (user_mask != UINT64_MAX && !(p->ip[i] >> 55 & 1))
			p->ip[i] &= user_mask;
		if (!p->ip[i] &&
		    by_name_only(c->image[c->frame[frame].image].img.kind))
			p->ip[i] = made_up(p, frame);
		stack = c->stack[stack].parent;
		(*n)++;
	}
	return p->ip;
}

static bool pd_places_is_file(enum image_kind kind)
{
	return kind == IMAGE_FILE || kind == IMAGE_VDSO;
}

bool pd_places_is(const struct pd_places *p, uint32_t frame, uint64_t addr,
		  const struct region *r)
{
	const struct code_frame *f = &p->code->frame[frame];
	enum image_kind kind = p->code->image[f->image].img.kind;
	uint64_t off = r->pgoff + (addr - r->start);

	if (r->image != f->image)
		return false;
	return (!pd_places_is_file(kind) && kind != IMAGE_JIT) || off == f->off;
}

bool pd_places_want(const struct pd_places *p, uint32_t frame, uint64_t addr,
		    struct region *want)
{
	const struct code_frame *f = &p->code->frame[frame];
	const struct image *img = &p->code->image[f->image].img;

	*want = (struct region){ .image = f->image };
	if (img->kind == IMAGE_JIT) {
		want->start = addr - f->off;
		want->end = want->start +
			    (img->len > f->off ? img->len : f->off + 1);
		return want->start <= addr && want->end > addr;
	}
	if (img->kind == IMAGE_MAPPING && addr >= FILES_AT) {
		want->start = addr - f->off;
		want->end = want->start + FILE_BYTES;
		return true;
	}
	want->start = addr & ~(uint64_t)(PAGE - 1);
	want->end = want->start + PAGE;
	if (!want->end)
		return false;
	if (pd_places_is_file(img->kind)) {
		want->pgoff = f->off - (addr - want->start);
		return want->pgoff <= f->off;
	}
	want->pgoff = want->start;
	return img->kind == IMAGE_ANON || img->kind == IMAGE_SPECIAL;
}

uint64_t pd_places_mark(struct pd_places *p, const char *word)
{
	char name[64];
	size_t i = 0;

	snprintf(name, sizeof(name), "[user: %s]", word);
	while (i < p->n_mark && strcmp(p->mark[i].path, name) != 0)
		i++;
	if (!p->mark_at || i >= MARKS)
		return 0;
	if (i == p->n_mark)
		*mem_add(p->mark, p->n_mark, p->cap_mark) = (struct image){
			.kind = IMAGE_SPECIAL,
			.path = arena_strdup(&p->text, name),
		};
	return p->mark_at + i * MARK_BYTES;
}

void pd_places_mark_want(const struct pd_places *p, uint64_t addr,
			 struct region *want)
{
	*want = (struct region){
		.start = addr,
		.end = addr + MARK_BYTES,
		.pgoff = addr,
		.image = MARK_IMAGES +
			 (uint32_t)((addr - p->mark_at) / MARK_BYTES),
	};
}

const struct image *pd_places_image(const struct pd_places *p, uint32_t id)
{
	if (id >= MARK_IMAGES)
		return &p->mark[id - MARK_IMAGES];
	return &p->code->image[id < p->code->n_image ? id : 0].img;
}

/* Returns whether the file must have names of this image. For a kernel without
 * a build-id, a reader would use the names of its own kernel. */
static bool needs_name(const struct image *img)
{
	return img->kind == IMAGE_SYMBOLS ||
	       (img->kind == IMAGE_KERNEL && !img->id_len);
}

/* Adds the symbol of a frame if the file must have it. */
static void pd_places_look_at(struct pd_places *p, uint32_t frame,
			      uint64_t addr)
{
	const struct code_frame *f = &p->code->frame[frame];
	uint64_t len = f->symsize > f->symoff ? f->symsize : f->symoff + 1;
	uint64_t key = hash_u64(f->off - f->symoff);
	uint64_t start;
	uint32_t i;

	if (!f->at.name || !needs_name(&p->code->image[f->image].img))
		return;
	if (!addr)
		p->n_key += table_find_or_add(&p->by_key, key, p->n_key) ==
			    p->n_key;
	if (!addr)
		addr = made_up(p, frame);
	if (!addr)
		return;
	p->named[f->image] = true;
	start = addr - f->symoff;
	if (start > addr || len > SYMBOL_BYTES)
		return;
	i = table_find_or_add(&p->by_start, hash_u64(start), p->n_symbol);
	if (i == p->n_symbol)
		*mem_add(p->symbol, p->n_symbol, p->cap_symbol) =
			(struct pd_symbol){ start, 0, f->at.name };
	raise_to(p->symbol[i].len, (uint32_t)len);
}

COMPARE_BY(pd_places_by_start, struct pd_symbol, start);

struct pd_places *pd_places_new(const struct known_code *code)
{
	struct pd_places *p = mem_new(1, sizeof(*p));
	uint32_t low = 1; /* bits: pages with a recorded address */

	p->code = code;
	p->named = mem_new(code->n_image, sizeof(*p->named));
	for (size_t raw = 1; raw < code->n_chain; raw++) {
		uint32_t stack = code->chain[raw].stack;
		size_t n;
		const uint64_t *ip =
			pd_places_chain(p, (uint32_t)raw, UINT64_MAX, &n);

		for (size_t i = 0; i < n; i++) {
			if (ip[i] < PAGE * PAGES)
				low |= 1u << (ip[i] / PAGE);
			pd_places_look_at(p, code->stack[stack].frame, ip[i]);
			stack = code->stack[stack].parent;
		}
	}
	for (unsigned int i = 1; i < PAGES && !p->mark_at; i++)
		if (!(low >> i & 1))
			p->mark_at = (uint64_t)i * PAGE;
	/* Cut symbols that overlap: a reader must find one symbol for an
	 * address. */
	sort_items(p->symbol, p->n_symbol, pd_places_by_start);
	for (size_t i = 0; i + 1 < p->n_symbol; i++) {
		uint64_t room = p->symbol[i + 1].start - p->symbol[i].start;

		lower_to(p->symbol[i].len, room);
	}
	return p;
}

void pd_places_free(struct pd_places *p)
{
	if (!p)
		return;
	free_all(p->ip, p->mark, p->symbol, p->named);
	table_release(&p->by_start);
	table_release(&p->by_key);
	arena_release(&p->text);
	free(p);
}
