/* frame.c - interned frames, stacks and raw address lists.
 *
 * Each kind is an array that only grows, with a hash table that indexes it.
 * Path strings and raw addresses are in an arena, so their pointers stay valid;
 * pointers to array entries do not, but for raw chains. */
#include "stitch/tasks/frame.h"

#include "stitch/record.h"

/* A kernel offset without an address: 40 bits identify the symbol, 24 bits are
 * the offset in it. No Linux function is larger than that. */
#define IN_SYMBOL 24
#define NUMBERS (1ull << (64 - IN_SYMBOL))

struct frames *frames_new(void)
{
	return mem_new(1, sizeof(struct frames));
}

void frames_free(struct frames *fr)
{
	if (!fr)
		return;
	table_release(&fr->images);
	table_release(&fr->frames);
	table_release(&fr->stacks);
	table_release(&fr->raws);
	table_release(&fr->names);
	table_release(&fr->numbers);
	free_all(fr->named, fr->name, fr->image, fr->frame, fr->mix, fr->stack);
	for (size_t i = 0; i < 32 - RAW_FIRST_BITS; i++)
		free(fr->shelf[i]);
	arena_release(&fr->arena);
	frames_late_release(&fr->late);
	free(fr);
}

const char *image_kind_name(unsigned int k)
{
	static const char *const name[] = {
		"unknown", "unknown_kernel",
		"file",	   "kernel",
		"module",  "bpf",
		"ool",	   "vdso",
		"anon",	   "special",
		"jit",	   "guest",
		"symbols", "mapping",
		"script",
	};

	return k < ARRAY_SIZE(name) ? name[k] : NULL;
}

bool image_is_kernel(enum image_kind kind)
{
	return kind == IMAGE_UNKNOWN_KERNEL || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_BPF || kind == IMAGE_OOL ||
	       kind == IMAGE_SYMBOLS || kind == IMAGE_GUEST;
}

bool image_has_offsets(enum image_kind kind)
{
	return kind == IMAGE_FILE || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE || kind == IMAGE_VDSO;
}

static uint64_t image_hash(const struct image *img)
{
	uint64_t h = hash_bytes(img->path, strlen(img->path), img->kind);

	h = hash_bytes(img->id, img->id_len, h);
	h = hash_pair(h ^ img->ino,
		      ((uint64_t)img->maj << 32 | img->min) ^ img->ino_gen);
	h = hash_pair(h ^ img->start, img->len);
	return hash_pair(h ^ img->t0, img->space);
}

SAME_FUNCTION(image_is_same, struct frames, image[id], struct image,
	      x->kind == y->kind && x->id_len == y->id_len &&
		      x->maj == y->maj && x->min == y->min &&
		      x->ino == y->ino && x->ino_gen == y->ino_gen &&
		      x->start == y->start && x->len == y->len &&
		      x->t0 == y->t0 && x->space == y->space &&
		      !memcmp(x->id, y->id, x->id_len) &&
		      !strcmp(x->path, y->path));

uint32_t frames_image(struct frames *fr, const struct image *img)
{
	uint64_t h = image_hash(img);
	uint32_t id = table_find(&fr->images, h, image_is_same, fr, img);

	if (id != TABLE_NONE)
		return id + 1;
	table_add(&fr->images, h, fr->n_image);
	struct image *im = mem_add(fr->image, fr->n_image, fr->cap_image);
	*im = *img;
	im->path = arena_strdup(&fr->arena, img->path);
	/* Hashes what identifies an image across runs: its build-id, or else
	 * its path. The seeds are fixed, because the hash is stored in the
	 * database. */
	uint64_t *out = mem_add(fr->name, fr->n_name, fr->cap_name)->hash;
	const void *p = im->id_len ? (const void *)im->id : im->path;
	size_t n = im->id_len ? im->id_len : strlen(im->path);

	out[0] = hash_content(p, n, 0x6261636b73746974u);
	out[1] = hash_content(p, n, 0x7374616b68617368u);
	return fr->n_image;
}

SAME_BY(frame_is_same, struct frames, frame[id], struct frame, image, off,
	flags);

uint32_t frames_frame(struct frames *fr, const struct frame *f)
{
	uint64_t h = hash_pair(f->off, (uint64_t)f->image << 32 | f->flags);
	uint32_t id = table_find(&fr->frames, h, frame_is_same, fr, f);

	if (id != TABLE_NONE)
		return id + 1;
	table_add(&fr->frames, h, fr->n_frame);
	*mem_add(fr->frame, fr->n_frame, fr->cap_frame) = *f;
	return fr->n_frame;
}

uint32_t frames_push(struct frames *fr, uint32_t stack, uint32_t frame)
{
	/* The hash is a bijection of (stack, frame), so no comparison is
	 * needed. */
	uint64_t h = hash_u64(((uint64_t)stack << 32) | frame);
	uint32_t id = table_find_hash(&fr->stacks, h);

	if (id != TABLE_NONE)
		return id + 1;
	uint32_t depth = stack ? fr->stack[stack - 1].depth + 1 : 1;

	table_add(&fr->stacks, h, fr->n_stack);
	*mem_add(fr->stack, fr->n_stack, fr->cap_stack) =
		(struct stack){ stack, frame, depth };
	return fr->n_stack;
}

struct raw_key {
	uint64_t frames;
	const struct addrs *a;
	struct raw_note note;
};

static bool raw_is_same(const void *owner, uint32_t id, const void *key)
{
	const struct frames *fr = owner;
	const struct raw_chain *r = frames_get_raw(fr, id + 1);
	const struct raw_key *k = key;
	uint32_t n;

	if (r->frames != k->frames || r->n != k->a->n ||
	    r->note.ended != k->note.ended || r->note.caller != k->note.caller)
		return false;
	for (uint32_t at = 0; at < r->n; at += n) {
		const uint64_t *ip = frames_raw_ips(fr, r, at, &n);

		if (memcmp(ip, k->a->ip + at, n * sizeof(*ip)) != 0)
			return false;
	}
	return true;
}

/* Sets c->before and c->own if most of the addresses of c, an unwound stack,
 * are those of an earlier one. */
static void frames_share_outer(struct frames *fr, const uint64_t *ip,
			       struct raw_chain *c)
{
	uint32_t *outer = &fr->outer[hash_u64(ip[c->n - 1]) % OUTER_MAX];
	uint32_t same = 0;

	if (*outer) {
		const struct raw_chain *b = frames_get_raw(fr, *outer);

		while (same + 1 < c->n && same < b->n &&
		       b->inner[b->n - 1 - same] == ip[c->n - 1 - same])
			same++;
	}
	if (same < c->n - same || c->n - same > UINT16_MAX) {
		*outer = fr->n_raw + 1;
		return;
	}
	c->before = *outer;
	c->own = (uint16_t)(c->n - same);
}

/* Interns the frames f of a raw chain, and sets its stack. */
static void frames_intern_chain(struct frames *fr, const struct late_chain *c,
				const struct frame *f)
{
	uint32_t stack = c->like ? frames_get_raw(fr, c->like)->stack : 0;

	while (stack && fr->stack[stack - 1].depth > c->n_like)
		stack = fr->stack[stack - 1].parent;
	for (uint32_t i = 0; i < c->n; i++)
		stack = frames_push(fr, stack, frames_frame(fr, &f[i]));
	frames_raw_at(fr, c->raw)->stack = stack;
}

uint32_t frames_list(struct frames *fr, const struct frame_list *l,
		     const struct addrs *a, uint64_t hash, struct raw_note note)
{
	struct raw_key key = { l->hash, a, note };
	uint64_t more = (uint64_t)note.ended << 8 | note.caller;
	uint64_t h = hash_pair(hash, l->hash + (more << 32));
	uint32_t id = table_find(&fr->raws, h, raw_is_same, fr, &key);

	if (id != TABLE_NONE)
		return id + 1;
	struct raw_chain c = {
		.n = a->n,
		.note = note,
		.hash = hash,
		.frames = l->hash,
	};

	if (note.ended && a->n)
		frames_share_outer(fr, a->ip, &c);
	size_t size = (c.own ? c.own : c.n) * sizeof(*c.inner);

	c.inner = memcpy(arena_take(&fr->arena, size), a->ip, size);
	table_add(&fr->raws, h, fr->n_raw);
	uint32_t i = fr->n_raw++ + (1u << RAW_FIRST_BITS);
	unsigned int bit = 31u - (unsigned int)__builtin_clz(i);
	struct raw_chain **shelf = &fr->shelf[bit - RAW_FIRST_BITS];

	if (!*shelf)
		*shelf = mem_new(1u << bit, sizeof(**shelf));
	*frames_raw_at(fr, fr->n_raw) = c;
	/* the outer frames are in the stack of l->like */
	const size_t n_like = l->like ? l->n_like : 0;
	const struct late_chain late = { fr->n_raw, l->like, (uint32_t)n_like,
					 (uint32_t)(l->n - n_like) };
	const struct frame *inner = l->at + n_like;
	struct frames_late *to = &fr->late;

	if (!fr->wait) {
		frames_intern_chain(fr, &late, inner);
		return fr->n_raw;
	}
	*mem_add(to->chain, to->n, to->cap) = late;
	mem_grow(to->frame, to->cap_frame, to->n_frame + late.n);
	if (late.n)
		memcpy(to->frame + to->n_frame, inner, late.n * sizeof(*inner));
	to->n_frame += late.n;
	return fr->n_raw;
}

uint32_t frames_noted(struct frames *fr, uint32_t stack, const struct addrs *a,
		      uint64_t hash, struct raw_note note)
{
	const size_t n = stack ? fr->stack[stack - 1].depth : 0;
	struct frame *f OWNED = mem_new(n, sizeof(*f));
	struct frame_list l = { .at = f, .n = n };

	for (size_t i = n; i-- > 0; stack = fr->stack[stack - 1].parent)
		f[i] = fr->frame[fr->stack[stack - 1].frame - 1];
	for (size_t i = 0; i < n; i++)
		l.hash = frames_mix(l.hash, &f[i]);
	return frames_list(fr, &l, a, hash, note);
}

void frames_defer(struct frames *fr, frames_wait_fn *wait, void *arg)
{
	fr->wait = wait;
	fr->wait_arg = arg;
}

void frames_pass(struct frames *fr, struct frames_late *late)
{
	const struct frames_late full = fr->late;

	fr->late = *late;
	*late = full;
}

void frames_intern(struct frames *fr, struct frames_late *late)
{
	const struct frame *f = late->frame;

	for (size_t i = 0; i < late->n; f += late->chain[i++].n)
		frames_intern_chain(fr, &late->chain[i], f);
	late->n = late->n_frame = 0;
}

void frames_late_release(struct frames_late *late)
{
	free_all(late->chain, late->frame);
	memset(late, 0, sizeof(*late));
}

void frames_settle(struct frames *fr)
{
	if (!fr->wait)
		return;
	fr->wait(fr->wait_arg);
	fr->wait = NULL;
	frames_intern(fr, &fr->late);
}

SAME_FUNCTION(symbol_is_same, struct frames, named[id], struct frame_symbol,
	      x->size == y->size && !strcmp(x->name, y->name));

uint64_t frames_symbol(struct frames *fr, const char *name, uint64_t size,
		       uint64_t off)
{
	struct frame_symbol key = { .name = name, .size = size };
	uint64_t h = hash_bytes(name, strlen(name), size);
	uint32_t id = table_find(&fr->names, h, symbol_is_same, fr, &key);

	if (off >> IN_SYMBOL)
		return NO_OFFSET;
	if (id == TABLE_NONE) {
		/* If two symbols get the same number, the later one takes the
		 * next. */
		key.number = hash_content(name, strlen(name), size) % NUMBERS;
		while (table_find_hash(&fr->numbers, hash_u64(key.number)) !=
		       TABLE_NONE)
			key.number = (key.number + 1) % NUMBERS;
		key.name = arena_strdup(&fr->arena, name);
		id = (uint32_t)fr->n_named;
		*mem_add(fr->named, fr->n_named, fr->cap_named) = key;
		table_add(&fr->names, h, id);
		table_add(&fr->numbers, hash_u64(key.number), id);
	}
	return fr->named[id].number << IN_SYMBOL | off;
}

const char *frames_symbol_at(const struct frames *fr, uint64_t off,
			     uint64_t *start, uint64_t *size)
{
	uint32_t id = table_find_hash(&fr->numbers, hash_u64(off >> IN_SYMBOL));

	if (id == TABLE_NONE)
		return NULL;
	*start = off >> IN_SYMBOL << IN_SYMBOL;
	*size = fr->named[id].size;
	return fr->named[id].name;
}

const uint64_t *frames_raw_ips(const struct frames *fr,
			       const struct raw_chain *c, uint32_t from,
			       uint32_t *n)
{
	if (!c->own || from < c->own) {
		*n = (c->own ? c->own : c->n) - from;
		return c->inner + from;
	}
	const struct raw_chain *b = frames_get_raw(fr, c->before);

	*n = c->n - from;
	return b->inner + (b->n - *n);
}

void frames_raw_copy(const struct frames *fr, const struct raw_chain *c,
		     uint64_t *ip)
{
	uint32_t n;

	for (uint32_t at = 0; at < c->n; at += n) {
		const uint64_t *some = frames_raw_ips(fr, c, at, &n);

		memcpy(ip + at, some, n * sizeof(*ip));
	}
}

void frames_hash(struct frames *fr, uint32_t stack, uint8_t out[16])
{
	uint64_t a = 0, b = 0;

	while (fr->n_mix < fr->n_frame) {
		const struct frame *f = &fr->frame[fr->n_mix];
		const uint64_t *image = fr->name[f->image - 1].hash;

		*mem_add(fr->mix, fr->n_mix, fr->cap_mix) =
			(struct frame_mix){ image[0] ^ f->off,
					    image[1] ^ hash_u64(f->off + 1) };
	}

	/* From the innermost to the outermost frame. Mixing at each step makes
	 * the result depend on the order. */
	while (stack) {
		const struct stack *s = &fr->stack[stack - 1];
		const struct frame_mix *m = &fr->mix[s->frame - 1];

		a = hash_u64((a * 0x9e3779b97f4a7c15u) ^ m->a);
		b = hash_u64((b * 0xc2b2ae3d27d4eb4fu) ^ m->b);
		stack = s->parent;
	}
	for (int i = 0; i < 8; i++) {
		out[i] = (uint8_t)(a >> (56 - 8 * i));
		out[8 + i] = (uint8_t)(b >> (56 - 8 * i));
	}
}
