/* resolve.c - turns recorded addresses into interned stacks. */
#include "stitch/tasks/resolve.h"

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/tasks/header_ids.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/space.h"

#define CACHE_SIZE (1u << 15)
#define KERNEL_PATH "[kernel.kallsyms]"
#define SCRIPT_PATH "[script]"
#define KERNEL_TAIL (256ull << 20)
#define VDSO32 "[vdso32]"
#define VDSO32_END (1ull << 32)

/* A cache entry of 32 bytes. It points to the addresses directly, because the
 * detour over the raw chain would cost another cache miss for each half of
 * every sample. */
struct slot {
	uint64_t hash;
	const uint64_t *ip;  /* addresses of the raw chain */
	uint32_t space, gen; /* gen: space.cut; if partial, the sum of all
				spaces' counters; plus that of jitted code */
	uint32_t raw;	     /* 0: empty entry */
	uint32_t n : 21;
	uint32_t behind : 6;  /* further addresses, not frames */
	uint32_t partial : 1; /* an address was not mapped in the process's
			       * own space, or not as code */
	uint32_t jit : 1;     /* jitted code was at an address at some time */
	uint32_t bare : 1;    /* see struct resolve_found */
	uint32_t stray : 1;
	uint32_t lacks : 1; /* the second address was inferred: the recorded
			     * list, as for resolve_known(), lacks it */
};

#define SLOT_N_MAX ((1u << 21) - 1)
#define BEHIND_MAX 63
/* The last list of each of this many kinds is found without a hash. In a trace
 * of system calls, 19 of 20 kernel stacks equal the previous one of the same
 * event and CPU. */
#define LAST_LISTS 256
/* Distinguish chains with such frames from equal chains without. */
#define HASH_UNCERTAIN 0x9e3779b97f4a7c15u
#define HASH_PARTIAL 0xc2b2ae3d27d4eb4fu

/* A frame that depends on nothing but its address and the state of its space.
 * Looking up mapping and frame costs two cache misses more. */
struct known_frame {
	uint64_t addr;
	uint32_t view, gen; /* as in struct slot */
	struct frame frame; /* image 0: empty entry */
};

#define KNOWN_BITS 14
/* As many inner frames of a list are prefetched: outer ones mostly equal those
 * of an earlier stack. */
#define PREFETCH_FRAMES 4u

/* The outer frames of the last resolved stack: the stacks of a program mostly
 * differ in their inner frames only. Comparing addresses with those of the last
 * stack is cheaper than looking up each frame. All zeros: empty. */
struct stack_prefix {
	/* while these are the same, equal addresses have equal frames */
	uint64_t mask;
	uint32_t view, gen;
	/* outermost first; hash: of the frames so far */
	struct prefix_frame {
		uint64_t ip, hash;
	} * at;
	struct frame *frame;
	size_t n, cap_at, cap_frame;
	uint32_t raw; /* the raw chain with these frames */
};

/* Samples of several processes and threads alternate. The outermost address of
 * their stacks mostly tells them apart, so it chooses the last stack to compare
 * with. */
#define PREFIXES 64

struct resolve {
	struct frames *fr;
	struct slot *cache;
	struct slot last[LAST_LISTS]; /* last kernel lists without a note */
	struct stack_prefix prefix[PREFIXES];
	struct stack_prefix own; /* of a stack that shares no frames */
	struct known_frame *known;
	struct header_ids *ids;
	/* image 0: none yet */
	struct frame unknown_user, uncertain_user, partial_user, signed_user;
	struct frame unknown_kernel, guest[2];
};

struct resolve *resolve_new(struct frames *fr, struct header_ids *ids)
{
	struct resolve *rv = mem_new(1, sizeof(*rv));

	rv->fr = fr;
	rv->ids = ids;
	rv->cache = mem_new(CACHE_SIZE, sizeof(*rv->cache));
	rv->known = mem_new(1u << KNOWN_BITS, sizeof(*rv->known));
	return rv;
}

void resolve_free(struct resolve *rv)
{
	if (!rv)
		return;
	header_ids_free(rv->ids);
	for (size_t i = 0; i < PREFIXES; i++)
		free_all(rv->prefix[i].at, rv->prefix[i].frame);
	free_all(rv->own.at, rv->own.frame, rv->cache, rv->known);
	free(rv);
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Names of mappings that are not files: from Linux mm/mmap.c and fs/proc, and
 * perf's //anon (kernel/events/core.c, perf_event_mmap_event()). */
static enum image_kind user_kind(const char *path)
{
	static const char *const anon[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/SYSV",    "[heap]",
		"[stack", "[anon",     "//toolong",	 "//enomem",
	};

	if (starts_with(path, "[vdso"))
		return IMAGE_VDSO;
	for (size_t i = 0; i < ARRAY_SIZE(anon); i++)
		if (starts_with(path, anon[i]))
			return IMAGE_ANON;
	if (!path[0])
		return IMAGE_ANON;
	return path[0] == '[' ? IMAGE_SPECIAL : IMAGE_FILE;
}

uint32_t resolve_map_image(struct resolve *rv, const struct source *src,
			   const struct record *rec, uint32_t process,
			   uint64_t *pgoff)
{
	const struct rec_map *m = &rec->map;
	bool kernel = rec->flags & REC_F_KERNEL;
	struct image img = {
		.path = m->path,
		.maj = m->maj,
		.min = m->min,
		.ino = m->ino,
		.ino_gen = m->ino_gen,
		.mapped = rec->flags & REC_F_UNTIMED || !rec->time ? 1
								   : rec->time,
	};
	char name[256];

	*pgoff = m->pgoff;
	if (kernel) {
		/* perf names the kernel's mapping "[kernel.kallsyms]_text": the
		 * part after the bracket is the symbol whose address is in
		 * pgoff (0 if addresses were hidden). */
		size_t size = sizeof(name);
		const char *end = strchr(m->path, ']');

		if (starts_with(m->path, "[kernel") ||
		    starts_with(m->path, "[guest.kernel")) {
			snprintf(name, size, "%.*s",
				 end ? (int)(end + 1 - m->path) : 255, m->path);
			img.kind = IMAGE_KERNEL;
			img.start = m->pgoff ? m->pgoff : m->start;
			img.path = name;
			if (src->info.kernel_id)
				image_set_id(&img, src->info.kernel_id,
					     src->info.kernel_id_len);
		} else {
			img.kind = IMAGE_MODULE;
			img.start = m->start;
		}
		img.len = m->len;
		*pgoff = m->start - img.start;
	} else {
		img.kind = (m->ino && starts_with(m->path, "[inode "))
				   ? IMAGE_FILE
				   : user_kind(m->path);
		/* Programs of 32 bits have a vdso of their own on 64-bit
		 * kernels, below 4 GiB. Its mapping is named "[vdso]" as well,
		 * but in perf's table of build-ids it is "[vdso32]"
		 * (tools/perf/util/vdso.c of Linux 5.10 to 7.1). */
		const char *arch = src->info.arch;

		if (img.kind == IMAGE_VDSO && arch &&
		    (strstr(arch, "64") || !strcmp(arch, "s390x")) &&
		    m->start < VDSO32_END && m->len <= VDSO32_END - m->start)
			img.path = VDSO32;
		if (img.kind == IMAGE_ANON) {
			img.space = process;
			*pgoff = m->start;
		} else if (!strcmp(m->path, RESOLVE_UNNAMED)) {
			img.space = process;
			img.t0 = rec->time;
		}
	}
	if (m->id && m->id_len)
		image_set_id(&img, m->id, m->id_len);
	else if (!img.id_len)
		header_ids_set(rv->ids, src, kernel, &img);
	return frames_image(rv->fr, &img);
}

bool resolve_is_memory(const struct resolve *rv, uint32_t image)
{
	const struct image *img = frames_get_image(rv->fr, image);

	return img->kind == IMAGE_ANON || starts_with(img->path, "/memfd:");
}

uint32_t resolve_copy_image(struct resolve *rv, uint32_t image, uint64_t len)
{
	struct image img = *frames_get_image(rv->fr, image);

	img.len = img.len ?: len;
	return frames_image(rv->fr, &img);
}

uint32_t resolve_ksymbol_image(struct resolve *rv, const struct record *rec)
{
	struct image img = {
		.kind = rec->ksymbol.type == 1 ? IMAGE_BPF : IMAGE_OOL,
		.path = rec->ksymbol.name,
		.start = rec->ksymbol.addr,
		.len = rec->ksymbol.len,
		.t0 = rec->flags & REC_F_UNTIMED ? 0 : rec->time,
		.code = rec->ksymbol.code,
	};

	return frames_image(rv->fr, &img);
}

/* Returns the one frame that stands for all addresses of a kind. */
static struct frame resolve_fixed_frame(struct resolve *rv, struct frame *frame,
					enum image_kind kind, const char *path,
					uint32_t flags)
{
	struct image img = { .kind = kind, .path = path };

	if (!frame->image)
		*frame = (struct frame){ .image = frames_image(rv->fr, &img),
					 .flags = flags };
	return *frame;
}

static struct frame resolve_region_frame(const struct region *r, uint64_t addr,
					 uint32_t flags)
{
	return (struct frame){
		.image = r->image,
		.off = addr - r->start + r->pgoff,
		.flags = flags | (r->derived ? FRAME_DERIVED : 0),
	};
}

/* Appends a frame to a list. */
static void resolve_add(struct stack_prefix *t, uint64_t ip, struct frame f)
{
	const uint64_t hash = t->n ? t->at[t->n - 1].hash : 0;

	mem_grow(t->at, t->cap_at, t->n + 1);
	mem_grow(t->frame, t->cap_frame, t->n + 1);
	t->frame[t->n] = f;
	t->at[t->n++] = (struct prefix_frame){ ip, frames_mix(hash, &f) };
}

/* Returns the raw chain of the addresses `a`, whose frames are in *t; the
 * outermost `shared` of these are those of raw chain t->raw. */
static uint32_t resolve_raw(struct resolve *rv, struct stack_prefix *t,
			    size_t shared, const struct addrs *a, uint64_t hash,
			    struct raw_note note)
{
	const struct frame_list l = {
		.at = t->frame,
		.n = t->n,
		.hash = t->n ? t->at[t->n - 1].hash : 0,
		.like = shared ? t->raw : 0,
		.n_like = shared,
	};

	return t->raw = frames_list(rv->fr, &l, a, hash, note);
}

/* Returns the hash of a raw chain. It is the same in all spaces: processes that
 * were forked have the same stacks at the same addresses. */
static uint64_t resolve_list_hash(const struct addrs *a)
{
	return a->hash ? a->hash : hash_u64s(a->ip, a->n, 0);
}

/* Returns a hash of what a list of addresses does not contain. */
static uint64_t resolve_note_hash(struct raw_note note, uint32_t guessed)
{
	return hash_u64((uint64_t)note.ended << 40 |
			(uint64_t)note.caller << 32 | (guessed + 1u));
}

/* Returns the hash of a list in a space, which chooses its cache entry. */
static uint64_t resolve_slot_home(uint64_t raw, uint32_t space_id)
{
	return raw ^ space_id * 0x9fb21c651e98df25u;
}

/* Returns whether an entry is for an equal list, resolved in the same state. */
static inline bool slot_is_of(const struct slot *s, uint32_t space_id,
			      uint32_t gen, const struct addrs *a)
{
	const uint32_t lacks = s->lacks;

	return s->raw && s->space == space_id && s->gen == gen &&
	       s->n + s->behind == a->n + lacks && *s->ip == *a->ip &&
	       !memcmp(s->ip + 1 + lacks, a->ip + 1,
		       (s->n - 1 - lacks) * sizeof(*a->ip));
}

/* Returns the entry of an equal list that was resolved in the same state, or
 * NULL. */
static const struct slot *resolve_cached(struct resolve *rv, uint64_t home,
					 uint64_t hash, uint32_t space_id,
					 uint32_t cut, uint32_t any,
					 uint32_t jit, const struct addrs *a)
{
	const struct slot *s = &rv->cache[home & (CACHE_SIZE - 1)];
	uint32_t gen = (s->partial ? any : cut) + (s->jit ? jit : 0);

	return s->hash == hash && slot_is_of(s, space_id, gen, a) ? s : NULL;
}

/* Stores the entry s, with the addresses of the raw chain. One that has only a
 * part of its own is from a dump, which seldom repeats: it is not stored. */
static void resolve_cache_put(struct resolve *rv, uint64_t home, uint64_t hash,
			      struct slot s)
{
	const struct raw_chain *r = frames_get_raw(rv->fr, s.raw);

	if (r->own || r->n > SLOT_N_MAX)
		return;
	s.hash = hash;
	s.ip = r->inner;
	s.n = r->n & SLOT_N_MAX;
	rv->cache[home & (CACHE_SIZE - 1)] = s;
}

/* Returns the cache entry for an address of a space. */
static struct known_frame *resolve_known_frame(const struct resolve *rv,
					       uint32_t view, uint64_t addr)
{
	uint64_t hash = (addr ^ (uint64_t)view << 48) * 0x9e3779b97f4a7c15u;

	return &rv->known[hash >> (64 - KNOWN_BITS)];
}

/* Returns the frame of an address that is mapped or in jitted code, or one with
 * image 0. Asks other captures only if the process's own space has no mapping,
 * now or before exec. */
static struct frame resolve_mapped_frame(struct resolve *rv,
					 const struct resolve_in *in,
					 uint64_t addr, uint32_t flags,
					 struct slot *s)
{
	const struct region *r = space_find(in->space, addr, in->t);
	struct frame frame = { 0 };
	bool ever = false;

	if (!r && in->n_shared && !space_before_exec(in->space, addr)) {
		for (uint32_t i = 0; !r && i < in->n_shared; i++)
			r = space_find(in->shared[i], addr, in->t);
		s->partial = s->bare = true;
	}
	s->partial |= r && !region_is_code(r);
	if (in->jit) {
		const struct jit_at at = { in->jit, r, addr, in->t };

		frame = jit_frame(rv->fr, &at, flags, &ever);
		s->jit |= ever;
	}
	return frame.image || !r ? frame : resolve_region_frame(r, addr, flags);
}

/* Returns whether an address is never mapped, so that nothing was called from
 * there: no program has the upper half or the first page mapped. The upper half
 * is the kernel's on x86-64 (Documentation/arch/x86/x86_64/mm.rst) and AArch64
 * (Documentation/arch/arm64/memory.rst), on s390x it begins at 8 EiB; the first
 * page is below vm.mmap_min_addr (65536 and 32768 by default, Linux 2.6.23 to
 * 7.1). The mask of the source has removed tags and signatures. */
static bool is_never_mapped(uint64_t addr)
{
	return addr >> 63 || addr < 4096;
}

/* Returns whether the code at `neighbour` belongs to a file that has data at
 * addr, if the file is mapped there, too: captures may only have mappings of
 * code. */
static bool is_data_of_file_at(const struct resolve_in *in, uint64_t neighbour,
			       uint64_t addr)
{
	const struct region *r = space_find(in->space, neighbour, in->t);

	return r && r->prot && region_is_code(r) && !r->derived &&
	       in->is_data(in->arg, r, addr);
}

/* Returns whether nothing was called from an unmapped address, even if not all
 * mappings of the process are known; some must be. */
static bool is_never_code(const struct resolve_in *in, uint64_t addr)
{
	uint64_t below;
	uint64_t above;

	if (is_never_mapped(addr))
		return !in->partial || in->space->now.n;
	if (!in->is_data || !in->partial)
		return false;
	space_hole(in->space, addr, &below, &above);
	return (below && is_data_of_file_at(in, below - 1, addr)) ||
	       (above && is_data_of_file_at(in, above, addr));
}

/* Returns the frame of an address that is not mapped now: one of the program
 * before exec, or else unknown, which sets s->bare. */
static struct frame resolve_stale_frame(struct resolve *rv,
					const struct resolve_in *in,
					uint64_t addr, uint32_t flags,
					struct slot *s)
{
	const struct region *r = space_before_exec(in->space, addr);

	s->partial = true;
	s->bare = !r;
	for (uint32_t i = 0; !r && i < in->n_shared; i++)
		r = space_before_exec(in->shared[i], addr);
	if (r)
		return resolve_region_frame(r, addr, flags | FRAME_OLD_IMAGE);
	if (!is_never_code(in, addr)) {
		if (!is_never_mapped(addr))
			s->stray = true;
		if (in->partial)
			return resolve_fixed_frame(rv, &rv->partial_user,
						   IMAGE_UNKNOWN_USER,
						   "[unknown]", FRAME_PARTIAL);
		if (in->uncertain)
			return resolve_fixed_frame(
				rv, &rv->uncertain_user, IMAGE_UNKNOWN_USER,
				"[unknown]", FRAME_UNCERTAIN | FRAME_PARTIAL);
	}
	return resolve_fixed_frame(
		rv, flags & FRAME_SIGNED ? &rv->signed_user : &rv->unknown_user,
		IMAGE_UNKNOWN_USER, "[unknown]", flags & FRAME_SIGNED);
}

/* Returns a frame of code known by symbol or, if that is "", only by its file.
 * Its separate image never has frames with real offsets. Image 0: none. */
static struct frame resolve_named_frame(struct resolve *rv,
					const struct place *p,
					enum image_kind kind, const char *path)
{
	struct image img = { .kind = kind, .path = p->path ? p->path : path };
	struct frame f = { .flags = FRAME_DERIVED };

	if (*p->symbol)
		f.off = frames_symbol(rv->fr, p->symbol, p->size, p->off);
	if (f.off != NO_OFFSET)
		f.image = frames_image(rv->fr, &img);
	return f;
}

/* Returns a frame from the recorder's description of a user address, or one
 * with image 0. */
static struct frame resolve_user_place(struct resolve *rv,
				       const struct resolve_in *in,
				       const struct place *p)
{
	struct image img = { .kind = IMAGE_MAPPING };
	struct frame f = { .flags = FRAME_DERIVED };
	char name[64];

	if (p && p->symbol && !p->in_file)
		return resolve_named_frame(rv, p, IMAGE_SCRIPT, SCRIPT_PATH);
	if (!p || (!p->path && !p->in_file))
		return f;
	f.off = p->off;
	img.path = p->path;
	if (p->in_file && p->ino) {
		snprintf(name, sizeof(name), INODE_PATH, p->ino, p->maj,
			 p->min);
		img = (struct image){
			.kind = IMAGE_FILE,
			.path = p->path ? p->path : name,
			.maj = p->maj,
			.min = p->min,
			.ino = p->ino,
		};
	} else if (p->in_file) {
		/* in memory that is not of a file */
		img = (struct image){ .kind = IMAGE_ANON,
				      .path = "//anon",
				      .space = in->space_id };
	}
	f.flags = p->in_file ? 0 : FRAME_DERIVED;
	f.image = frames_image(rv->fr, &img);
	return f;
}

/* Returns the frame of address i; updates the entry's flags. */
static struct frame resolve_user_frame(struct resolve *rv,
				       const struct resolve_in *in,
				       const struct addrs *a, uint32_t i,
				       struct slot *s)
{
	const struct place *p = a->place ? a->place[i] : NULL;
	uint64_t addr = a->ip[i] & in->mask;
	uint32_t flags = i >= in->guessed ? FRAME_GUESSED : 0;
	struct frame frame = { 0 };

	if (i == in->inferred)
		flags |= FRAME_INFERRED |
			 (in->inferred_function ? FRAME_DERIVED : 0);
	flags |= addr != a->ip[i] ? FRAME_SIGNED : 0;
	s->bare = false;
	if (addr || !p)
		frame = resolve_mapped_frame(rv, in, addr, flags, s);
	if (!frame.image)
		frame = resolve_user_place(rv, in, p);
	if (!frame.image)
		frame = resolve_stale_frame(rv, in, addr, flags, s);
	return frame;
}

/* Like resolve_user_frame(), for a frame that depends on nothing but its
 * address if it is in code of the own space. */
static struct frame resolve_plain_frame(struct resolve *rv,
					const struct resolve_in *in,
					const struct addrs *a, uint32_t i,
					struct slot *s)
{
	uint64_t addr = a->ip[i];
	struct known_frame *k = resolve_known_frame(rv, in->view, addr);

	if (k->addr == addr && k->frame.image && k->view == in->view &&
	    k->gen == in->space->cut) {
		s->bare = false;
		return k->frame;
	}
	struct frame frame = resolve_user_frame(rv, in, a, i, s);

	if (!s->partial)
		*k = (struct known_frame){ addr, in->view, in->space->cut,
					   frame };
	return frame;
}

/* Returns how many addresses follow the function in which the thread begins:
 * that has no caller, and any value in FP. The first functions of glibc 2.43
 * leave an address among the words of the environment. */
static uint32_t resolve_after_start(const struct resolve_in *in,
				    const struct addrs *a)
{
	const struct region *r = NULL;
	uint32_t n = 0;

	if (!in->begins || a->place)
		return 0;
	for (; n + 1 < a->n && n < BEHIND_MAX; n++) {
		r = space_find(in->space, a->ip[a->n - 1 - n] & in->mask,
			       in->t);
		if (r && region_is_code(r))
			break;
	}
	return n && r && region_is_code(r) && !r->derived &&
			       in->begins(in->arg, r,
					  a->ip[a->n - 1 - n] & in->mask)
		       ? n
		       : 0;
}

void resolve_prefetch(const struct resolve *rv, uint32_t view,
		      const struct addrs *a)
{
	const uint64_t home = resolve_slot_home(resolve_list_hash(a), view);

	__builtin_prefetch(&rv->cache[home & (CACHE_SIZE - 1)]);
	for (uint32_t i = 0; i < a->n && i < PREFETCH_FRAMES; i++)
		__builtin_prefetch(resolve_known_frame(rv, view, a->ip[i]));
}

uint32_t resolve_known(struct resolve *rv, const struct space *sp,
		       uint32_t view, int64_t t, const struct addrs *a,
		       uint64_t *asked)
{
	/* its upper bits differ from those of all other entries */
	*asked = (*asked << 1 | 1) << 32 ^
		 resolve_slot_home(resolve_list_hash(a), view);
	if (t != TIME_NONE && t < sp->changed)
		return 0;
	const struct slot *s =
		resolve_cached(rv, *asked, *asked, view, sp->cut, 0, 0, a);

	return s ? s->raw : 0;
}

uint32_t resolve_user(struct resolve *rv, const struct resolve_in *in,
		      const struct addrs *a, struct resolve_found *found)
{
	const struct space *sp = in->space;
	const uint64_t addrs = resolve_list_hash(a);
	const uint64_t home = resolve_slot_home(addrs ^ a->places, in->view);
	uint64_t hash = home + in->inferred + in->inferred_function;
	/* Add to the hash what the addresses do not contain. */
	hash ^= resolve_note_hash(in->note, in->guessed);
	struct slot s = { .space = in->view };
	*found = (struct resolve_found){ false, false };
	if (!a->n)
		return 0;
	hash ^= (in->uncertain ? HASH_UNCERTAIN : 0) ^
		(in->partial ? HASH_PARTIAL : 0);
	/* False if a space has changed since the record's time. */
	bool now = (!a->place || a->places) &&
		   (in->t == TIME_NONE || in->t >= sp->changed);
	/* The sum of all change counters grows with each change of a space. */
	uint32_t any = sp->any + sp->cut;

	for (uint32_t i = 0; i < in->n_shared; i++) {
		any += in->shared[i]->any + in->shared[i]->cut;
		now &= in->t == TIME_NONE || in->t >= in->shared[i]->changed;
	}
	uint32_t jit = in->jit ? jit_gen(in->jit, in->t) : 0;
	const struct slot *known =
		now && !in->once ? resolve_cached(rv, home, hash, in->view,
						  sp->cut, any, jit, a)
				 : NULL;

	if (known) {
		*found = (struct resolve_found){ known->bare, known->stray };
		return known->raw;
	}
	struct addrs frames = *a;

	s.behind = resolve_after_start(in, a) & BEHIND_MAX;
	frames.n -= s.behind;
	/* Resolve a list that is not in the cache, and fill s. The outer frames
	 * of the last stack, and known frames, are reused only if a frame
	 * depends on nothing but its address. */
	const bool plain = now && !a->place && !in->jit &&
			   in->inferred == RESOLVE_NONE &&
			   in->guessed == RESOLVE_NONE;
	struct stack_prefix *t = &rv->own;
	size_t shared = 0;

	if (plain)
		t = &rv->prefix[hash_u32s(in->view,
					  (uint32_t)frames.ip[frames.n - 1]) %
				PREFIXES];
	if (plain && t->mask == in->mask && t->view == in->view &&
	    t->gen == sp->cut)
		while (shared < t->n && shared < frames.n &&
		       t->at[shared].ip == frames.ip[frames.n - 1 - shared])
			shared++;
	/* its further frames are not of this stack */
	t->mask = in->mask;
	t->view = in->view;
	t->gen = sp->cut;
	t->n = shared;
	for (uint32_t i = frames.n - (uint32_t)shared; i-- > 0;)
		resolve_add(t, frames.ip[i],
			    plain ? resolve_plain_frame(rv, in, &frames, i, &s)
				  : resolve_user_frame(rv, in, &frames, i, &s));
	s.raw = resolve_raw(
		rv, t, shared, &frames,
		s.behind ? hash_u64s(frames.ip, frames.n, 0) : addrs, in->note);
	/* A frame outside the own space's code depends on more than the key. */
	if (s.partial)
		t->n = 0;
	s.gen = (s.partial ? any : sp->cut) + (s.jit ? jit : 0);
	*found = (struct resolve_found){ s.bare, s.stray };
	s.lacks = in->asked && in->inferred != RESOLVE_NONE;
	if (now && in->asked && !s.partial && frames.n > s.lacks)
		resolve_cache_put(rv, in->asked, in->asked, s);
	else if (now && !in->once && !s.lacks)
		resolve_cache_put(rv, home, hash, s);
	return s.raw;
}

/* The kernel's mapping ends with its text (perf takes _stext to _etext or
 * similar from kallsyms), but the init code follows: start_kernel() is the
 * outermost frame of the idle task. Nothing else lies between there and the
 * next mapping. */
static const struct region *kernel_region(struct resolve *rv,
					  const struct space *base,
					  uint64_t addr, int64_t t)
{
	const struct region *r = space_find(base, addr, t);

	if (r)
		return r;
	r = space_below(base, addr);
	if (!r || addr - r->end >= KERNEL_TAIL ||
	    frames_get_image(rv->fr, r->image)->kind != IMAGE_KERNEL)
		return NULL;
	return r;
}

/* Returns the frame of address i. *partial: it is in no mapping. */
static struct frame resolve_kernel_frame(struct resolve *rv,
					 const struct resolve_kernel *in,
					 const struct addrs *a, uint32_t i,
					 bool *partial)
{
	const struct region *r = NULL;
	struct frame frame = { 0 };

	for (unsigned int k = 0; !r && k < in->n; k++)
		r = space_find(in->over[k], a->ip[i], in->t);
	for (unsigned int k = 0; !r && k < in->n; k++)
		r = kernel_region(rv, in->base[k], a->ip[i], in->t);
	if (r)
		return resolve_region_frame(r, a->ip[i], 0);
	if (a->place && a->place[i] && a->place[i]->symbol)
		frame = resolve_named_frame(rv, a->place[i], IMAGE_SYMBOLS,
					    KERNEL_PATH);
	if (frame.image)
		return frame;
	*partial = true;
	return resolve_fixed_frame(rv, &rv->unknown_kernel,
				   IMAGE_UNKNOWN_KERNEL, "[unknown]", 0);
}

uint32_t resolve_kernel(struct resolve *rv, const struct resolve_kernel *in,
			const struct addrs *a)
{
	struct slot *last = &rv->last[in->like % LAST_LISTS];
	uint32_t gen = 0;
	bool partial = false;
	/* False if a space has changed since the record's time. */
	bool now = !a->place || a->places;

	if (!a->n)
		return 0;
	for (unsigned int i = 0; i < in->n; i++) {
		gen += in->base[i]->cut + in->base[i]->any + in->over[i]->cut +
		       in->over[i]->any;
		now &= in->t == TIME_NONE || (in->t >= in->base[i]->changed &&
					      in->t >= in->over[i]->changed);
	}
	/* New code may appear above the mappings, so only the sum of all
	 * counters is safe. */
	if (now && !a->place && !in->note.ended &&
	    slot_is_of(last, in->space_id, gen, a))
		return last->raw;
	const uint64_t addrs = resolve_list_hash(a);
	const uint64_t home =
		resolve_slot_home(addrs ^ a->places, in->space_id);
	const uint64_t hash = home ^ resolve_note_hash(in->note, RESOLVE_NONE);
	const struct slot *known =
		now ? resolve_cached(rv, home, hash, in->space_id, gen, gen, 0,
				     a)
		    : NULL;

	if (known) {
		if (!in->note.ended && !a->place)
			*last = *known;
		return known->raw;
	}
	rv->own.n = 0;
	for (uint32_t i = a->n; i-- > 0;)
		resolve_add(&rv->own, a->ip[i],
			    resolve_kernel_frame(rv, in, a, i, &partial));
	uint32_t raw = resolve_raw(rv, &rv->own, 0, a, addrs, in->note);

	if (now)
		resolve_cache_put(rv, home, hash,
				  (struct slot){ .space = in->space_id,
						 .gen = gen,
						 .raw = raw,
						 .partial = partial });
	return raw;
}

uint32_t resolve_guest(struct resolve *rv, const struct addrs *a, bool user,
		       struct raw_note note)
{
	struct frame frame = resolve_fixed_frame(
		rv, &rv->guest[user], IMAGE_GUEST,
		user ? "[guest user]" : "[guest kernel]", 0);

	rv->own.n = 0;
	for (uint32_t i = 0; i < a->n; i++)
		resolve_add(&rv->own, a->ip[i], frame);
	return a->n ? resolve_raw(rv, &rv->own, 0, a, resolve_list_hash(a),
				  note)
		    : 0;
}
