/* perfdata_records.c - writes the bytes and records of a perf.data file. */
#include <errno.h>

#include "cli/export/perfdata/perfdata.h"
#include "analyze/samples/code.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/user_mask.h"
#include "stitch/order/clocks.h"

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

/* Returns an address for a frame that has none; 0: it gets none. */
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

	*n = 0;
	mem_grow(p->ip, p->cap_ip, chain->len + 1);
	int got = store_addrs(chain->addrs, chain->len, p->ip, chain->len);
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

/* Returns whether a reader that finds addr in r takes it for this frame. */
static bool pd_places_is(const struct pd_places *p, uint32_t frame,
			 uint64_t addr, const struct region *r)
{
	const struct code_frame *f = &p->code->frame[frame];
	enum image_kind kind = p->code->image[f->image].img.kind;
	uint64_t off = r->pgoff + (addr - r->start);

	if (r->image != f->image)
		return false;
	return (!pd_places_is_file(kind) && kind != IMAGE_JIT) || off == f->off;
}

/* Stores the smallest mapping (start, end, pgoff, image) by which addr is this
 * frame. Returns false if none is needed, or none can be made. */
static bool pd_places_want(const struct pd_places *p, uint32_t frame,
			   uint64_t addr, struct region *want)
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

/* Returns the image of a region, from the database or for a mark. */
static const struct image *pd_places_image(const struct pd_places *p,
					   uint32_t id)
{
	if (id >= MARK_IMAGES)
		return &p->mark[id - MARK_IMAGES];
	return &p->code->image[id < p->code->n_image ? id : 0].img;
}

/* Adds the symbol of a frame in kernel code without a build-id. addr 0: none
 * was recorded, so one is made up. */
static void pd_places_look_at(struct pd_places *p, uint32_t frame,
			      uint64_t addr)
{
	const struct code_frame *f = &p->code->frame[frame];
	uint64_t len = f->symsize > f->symoff ? f->symsize : f->symoff + 1;
	uint64_t key = hash_u64(f->off - f->symoff);
	uint32_t i;

	if (!f->at.name ||
	    !(p->code->image[f->image].img.kind == IMAGE_SYMBOLS ||
	      (p->code->image[f->image].img.kind == IMAGE_KERNEL &&
	       !p->code->image[f->image].img.id_len)))
		return;
	if (!addr) {
		p->n_key += table_find_or_add(&p->by_key, key, p->n_key) ==
			    p->n_key;
		addr = made_up(p, frame);
		if (!addr)
			return;
	}
	p->named[f->image] = true;
	uint64_t start = addr - f->symoff;
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
	/* Cut symbols that overlap: an address must have only one. */
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

#define NONE UINT32_MAX
#define PROT_RX 5u
#define MAP_PRIVATE_FLAG 2u

static const struct space_owner owner = { .with_rows = true };

static bool same_path(const void *owner_, uint32_t id, const void *key)
{
	const struct known_code *c = owner_;

	return !strcmp(c->image[id].img.path, key);
}

struct pd_maps *pd_maps_new(struct perfdata *pd, struct pd_places *places,
			    struct err *err)
{
	struct pd_maps *m = mem_new(1, sizeof(*m));

	m->pd = pd;
	m->places = places;
	struct rows *r = rows_of(m->pd->db, "perfdata_mappings", err);

	while (rows_step(r)) {
		int64_t process = rows_int(r, PERFDATA_MAPPINGS_PROCESS);
		int64_t image = rows_int(r, PERFDATA_MAPPINGS_IMAGE);
		if (process < 0 || process > INT32_MAX || image < 1 ||
		    (uint64_t)image >= m->pd->code->n_image)
			continue;

		const struct region region = {
			.image = (uint32_t)image,
			.start = (uint64_t)rows_int(r, PERFDATA_MAPPINGS_START),
			.end = (uint64_t)rows_int(r, PERFDATA_MAPPINGS_END),
			.pgoff = (uint64_t)rows_int(r, PERFDATA_MAPPINGS_PGOFF),
			.prot = (uint32_t)rows_int(r, PERFDATA_MAPPINGS_PROT),
			.flags = (uint32_t)rows_int(r, PERFDATA_MAPPINGS_FLAGS),
			.t0 = rows_int_or(r, PERFDATA_MAPPINGS_T0, PD_START),
		};

		*mem_add(m->row, m->n_row, m->cap_row) = (struct pd_row){
			.r = region, .process = (uint32_t)process, .next = NONE
		};
	}

	if (rows_end(r, err)) {
		pd_maps_free(m);
		return NULL;
	}
	/* Link the rows of each process, newest first, as searches want. */
	uint32_t max = 0;

	for (size_t i = 0; i < m->n_row; i++)
		if (m->row[i].process > max)
			max = m->row[i].process;
	/* ids of processes are dense, except in a damaged database */
	if (max > m->n_row + 1)
		max = (uint32_t)m->n_row + 1;
	m->n_first = (size_t)max + 1;
	m->first = mem_new(m->n_first, sizeof(*m->first));
	memset(m->first, 0xff, m->n_first * sizeof(*m->first));
	for (size_t i = 0; i < m->n_row; i++) {
		struct pd_row *row = &m->row[i];

		if (row->process < m->n_first) {
			row->next = m->first[row->process];
			m->first[row->process] = (uint32_t)i;
		}
	}
	/* Find the images whose path is not unique, as the build-id section has
	 * one id for each path. */
	const struct known_code *c = m->pd->code;
	struct table by_path RELEASED_BY(table_release) = { 0 };

	m->own_id = mem_new(c->n_image, sizeof(*m->own_id));
	for (size_t i = 1; i < c->n_image; i++) {
		const struct image *img = &c->image[i].img;
		uint64_t hash = hash_bytes(img->path, strlen(img->path), 0);
		uint32_t other;

		if (img->kind != IMAGE_FILE)
			continue;
		other = table_find(&by_path, hash, same_path, c, img->path);
		if (other == TABLE_NONE) {
			table_add(&by_path, hash, (uint32_t)i);
			continue;
		}
		const struct image *o = &c->image[other].img;

		if (o->id_len != img->id_len ||
		    memcmp(o->id, img->id, sizeof(img->id)) != 0)
			m->own_id[i] = m->own_id[other] = true;
	}
	return m;
}

void pd_maps_free(struct pd_maps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_space; i++)
		space_release(&m->space[i]);
	free_all(m->space, m->row, m->first, m->checked, m->own_id);
	table_release(&m->by_chain);
	free(m);
}

static struct space *pd_maps_space_of(struct pd_maps *m, uint32_t space)
{
	return mem_at(m->space, m->n_space, m->cap_space, space);
}

void pd_maps_fork(struct pd_maps *m, uint32_t child, uint32_t parent)
{
	pd_maps_space_of(m, child > parent ? child : parent);
	space_clear(&m->space[child], 0, &owner);
	space_copy(&m->space[child], &m->space[parent], 0, false, &owner);
}

void pd_maps_exec(struct pd_maps *m, uint32_t space)
{
	space_clear(pd_maps_space_of(m, space), 0, &owner);
}

static void pd_maps_put_symbol(struct pd_maps *m, const struct pd_symbol *s,
			       unsigned int kind, int64_t time)
{
	struct blob *b = perfdata_begin(m->pd, PR_KSYMBOL, PM_KERNEL);

	blob_u64(b, s->start);
	blob_u32(b, s->len);
	blob_u16(b, (uint16_t)kind);
	blob_u16(b, 0);
	pd_text(b, s->name, 255, 8);
	perfdata_end(m->pd, &(struct pd_when){ -1, 0, time, -1, 0 });
}

void pd_maps_symbols(struct pd_maps *m)
{
	for (size_t i = 0; i < m->places->n_symbol; i++)
		pd_maps_put_symbol(m, &m->places->symbol[i], 0, PD_START);
}

/* Writes kernel code: BPF programs and code out of line as symbols; modules
 * and, unless its symbols are named, the kernel as mappings. */
static void kernel_row(struct pd_maps *m, const struct region *r, int64_t time)
{
	const struct image *img = pd_places_image(m->places, r->image);
	bool core = img->kind == IMAGE_KERNEL;
	uint64_t len = r->end - r->start;
	struct pd_symbol s = { r->start,
			       len < UINT32_MAX ? (uint32_t)len : UINT32_MAX,
			       img->path };

	if (img->kind == IMAGE_BPF || img->kind == IMAGE_OOL) {
		pd_maps_put_symbol(m, &s, img->kind == IMAGE_BPF ? 1 : 2, time);
		return;
	}
	if (img->kind != IMAGE_MODULE && (!core || m->places->named[r->image]))
		return;
	struct blob *b = perfdata_begin(m->pd, PR_MMAP, PM_KERNEL);
	blob_u32(b, UINT32_MAX);
	blob_u32(b, 0);
	blob_u64(b, r->start);
	blob_u64(b, len);
	/* for the kernel: the address of _text, by which readers relocate names
	 */
	blob_u64(b, core ? r->start : 0);
	pd_text(b, core ? "[kernel.kallsyms]_text" : img->path, PD_NAME_MAX, 8);
	perfdata_end(m->pd, &(struct pd_when){ -1, 0, time, -1, 0 });
}

/* Writes a mapping, which readers know from now on. */
static void pd_maps_put_map(struct pd_maps *m, struct space *sp,
			    const struct region *r, const struct pd_who *who)
{
	const struct image *img = pd_places_image(m->places, r->image);
	bool own = r->image < m->pd->code->n_image && m->own_id[r->image];
	struct region now = *r;

	now.t0 = 0;
	now.id = 0;
	space_map(sp, &now, &owner);
	struct blob *b = perfdata_begin(m->pd, PR_MMAP2,
					PM_USER | (own ? PD_HAS_BUILD_ID : 0));
	blob_u32(b, (uint32_t)who->pid);
	blob_u32(b, (uint32_t)who->tid);
	blob_u64(b, r->start);
	blob_u64(b, r->end - r->start);
	blob_u64(b, r->pgoff);
	if (own) {
		blob_u8(b, img->id_len);
		blob_u8(b, 0);
		blob_u16(b, 0);
		blob_add(b, img->id, 20);
	} else {
		blob_u32(b, img->maj);
		blob_u32(b, img->min);
		blob_u64(b, img->ino);
		blob_u64(b, img->ino_gen);
	}
	blob_u32(b, r->prot);
	blob_u32(b, r->flags);
	if (img->kind == IMAGE_JIT) {
		/* Write the name of jitted code in full, though readers show
		 * only what follows the last '/'. */
		const char *name = img->path;
		char buf[PD_NAME_MAX + 1];
		size_t n = 0;

		for (; *name && n + 3 < sizeof(buf); name++) {
			if (*name == '/') {
				memcpy(buf + n, "\xe2\x88\x95", 3); /* U+2215 */
				n += 3;
			} else {
				buf[n++] = *name;
			}
		}
		buf[n] = '\0';
		pd_text(b, buf, PD_NAME_MAX, 8);
	} else
		pd_text(b, img->path, PD_NAME_MAX, 8);
	perfdata_end(m->pd,
		     &(struct pd_when){ who->pid, who->tid, who->time, -1, 0 });
}

/* Returns whether a reader already knows the mapping. The rest of a mapping
 * that was cut, and what a child inherits, have rows in the database, but a
 * reader derives both. */
static bool is_there(const struct space *sp, const struct region *r)
{
	const struct region *is = space_find(sp, r->start, PD_START);

	return is && is->image == r->image && is->end - 1 >= r->end - 1 &&
	       is->pgoff + (r->start - is->start) == r->pgoff;
}

void pd_maps_row(struct pd_maps *m, uint32_t row, uint32_t space, int64_t pid,
		 int64_t time)
{
	const struct region *r = &m->row[row].r;
	struct pd_who who = { .pid = pid, .tid = pid, .time = time };

	if (!m->row[row].process)
		kernel_row(m, r, time);
	else if (!is_there(pd_maps_space_of(m, space), r))
		pd_maps_put_map(m, pd_maps_space_of(m, space), r, &who);
}

/* Returns the recorded mapping of the process that has the frame, or NULL. */
static const struct region *pd_maps_find_row(const struct pd_maps *m,
					     uint32_t frame, uint64_t addr,
					     uint32_t process)
{
	uint32_t i = process && process < m->n_first ? m->first[process] : NONE;

	for (; i != NONE; i = m->row[i].next) {
		const struct region *r = &m->row[i].r;

		if (addr >= r->start && addr <= r->end - 1 &&
		    pd_places_is(m->places, frame, addr, r))
			return r;
	}
	return NULL;
}

/* Writes a mapping in which a reader finds the frame at this address, unless
 * one was written before: the recorded one, or else one made of the frame. */
static void pd_maps_need_frame(struct pd_maps *m, uint32_t frame, uint64_t addr,
			       const struct pd_who *who)
{
	struct space *sp = pd_maps_space_of(m, who->space);
	const struct region *is = space_find(sp, addr, PD_START);
	struct region want;

	if (is && pd_places_is(m->places, frame, addr, is))
		return;
	is = pd_maps_find_row(m, frame, addr, who->process);
	if (is) {
		pd_maps_put_map(m, sp, is, who);
		return;
	}
	if (!pd_places_want(m->places, frame, addr, &want))
		return;
	want.prot = PROT_RX;
	want.flags = MAP_PRIVATE_FLAG;
	pd_maps_put_map(m, sp, &want, who);
}

void pd_maps_chain(struct pd_maps *m, uint32_t raw, const struct pd_who *who)
{
	const struct known_code *c = m->pd->code;
	uint64_t hash = hash_u64((uint64_t)who->space << 32 | raw);
	const uint64_t *ip;
	size_t n;

	if (!raw || raw >= c->n_chain)
		return;
	uint32_t i = table_find_hash(&m->by_chain, hash);
	if (i != TABLE_NONE &&
	    m->checked[i] == pd_maps_space_of(m, who->space)->any)
		return;
	uint32_t stack = c->chain[raw].stack;
	ip = pd_places_chain(m->places, raw, who->user_mask, &n);
	for (size_t k = 0; k < n; k++) {
		pd_maps_need_frame(m, c->stack[stack].frame, ip[k], who);
		stack = c->stack[stack].parent;
	}
	if (i == TABLE_NONE) {
		i = (uint32_t)m->n_checked;
		*mem_add(m->checked, m->n_checked, m->cap_checked) = 0;
		table_add(&m->by_chain, hash, i);
	}
	m->checked[i] = pd_maps_space_of(m, who->space)->any;
}

void pd_maps_mark(struct pd_maps *m, uint64_t addr, const struct pd_who *who)
{
	struct space *sp = pd_maps_space_of(m, who->space);
	const struct region *is = space_find(sp, addr, PD_START);

	const struct pd_places *p = m->places;
	struct region want = (struct region){
		.start = addr,
		.end = addr + MARK_BYTES,
		.pgoff = addr,
		.image = MARK_IMAGES +
			 (uint32_t)((addr - p->mark_at) / MARK_BYTES),
	};
	if (is && is->image == want.image)
		return;
	want.prot = PROT_RX;
	want.flags = MAP_PRIVATE_FLAG;
	pd_maps_put_map(m, sp, &want, who);
}

#define ATTR_SIZE 112u /* PERF_ATTR_SIZE_VER5: of Linux 4.1 */
#define TYPE_SOFTWARE 1u
/* Other events become software events that no kernel has: perf prints no stacks
 * of "dummy", the software event for such cases. */
#define SW_DUMMY 9u
#define SW_OTHER 0x1000u

/* Bits of the attribute's flags that our reader does not ask for. */
#define A_COMM ((uint64_t)1 << 9)
#define A_TASK ((uint64_t)1 << 13)
#define A_MMAP2 ((uint64_t)1 << 23)
#define A_COMM_EXEC ((uint64_t)1 << 24)
#define A_CONTEXT_SWITCH ((uint64_t)1 << 26)
#define A_KSYMBOL ((uint64_t)1 << 29)

/* Set in a build-id entry that has the length of its id. */
#define HAS_ID_SIZE (1u << 15)

/* Feature bits that all readers know. */
enum feature {
	F_TRACING_DATA = 1,
	F_BUILD_ID,
	F_HOSTNAME,
	F_OSRELEASE,
	F_VERSION,
	F_ARCH,
	F_NRCPUS,
	F_CMDLINE = 11,
	F_EVENT_DESC = 12,
	F_SAMPLE_TIME = 21,
	F_CLOCKID = 23,
	F_CLOCK_DATA = 29,
	F_N = 32,
};

void pd_text(struct blob *b, const char *s, size_t max, size_t align)
{
	size_t len = strnlen(s, max);
	size_t all = (len + align) / align * align;
	unsigned char *p = blob_room(b, all);

	memcpy(p, s, len);
	memset(p + len, 0, all - len);
}

/* Adds a string after its length, as in feature sections. */
static void pd_string(struct blob *b, const char *s)
{
	size_t at = b->n;

	blob_u32(b, 0);
	pd_text(b, s, PD_NAME_MAX, 64);
	blob_set(b, at, b->n - at - 4, 4);
}

static const struct pd_event no_event = { .name = "dummy",
					  .type = TYPE_SOFTWARE,
					  .config = SW_DUMMY };

static const struct pd_capture *main_capture(const struct perfdata *pd)
{
	static const struct pd_capture none;

	return pd->n_capture ? &pd->capture[0] : &none;
}

/* Returns the clockid of the times; -1: perf's default clock, or unknown. */
static int clockid(const struct perfdata *pd)
{
	static const struct {
		enum clock_id id;
		int number;
	} known[] = {
		{ CLOCK_ID_REAL, 0 },	  { CLOCK_ID_MONO, 1 },
		{ CLOCK_ID_MONO_RAW, 4 }, { CLOCK_ID_BOOT, 7 },
		{ CLOCK_ID_TAI, 11 },
	};
	enum clock_id id = clock_id_of(main_capture(pd)->clock);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].id == id)
			return known[i].number;
	return -1;
}

/* Adds an event's struct perf_event_attr. */
static void pd_head_put_attr(const struct perfdata *pd,
			     const struct pd_event *e, struct blob *b)
{
	size_t at = b->n;
	/* A tracepoint without the format of its fields cannot be opened, and
	 * events of other tracers do not exist for perf. */
	const char *format = e->capture && e->capture <= pd->n_capture
				     ? pd->capture[e->capture - 1].format
				     : NULL;

	bool perfs = e == &no_event || e->raw ||
		     (e->type != PERF_TYPE_TRACEPOINT && format &&
		      !strcmp(format, "perf"));
	int clock = clockid(pd);
	uint64_t sample_type = PS_IP | PS_TID | PS_PERIOD | PS_IDENTIFIER;
	uint64_t flags = PA_MMAP | A_COMM | A_TASK | PA_SAMPLE_ID_ALL |
			 A_MMAP2 | A_COMM_EXEC | A_KSYMBOL;

	if (pd->timed)
		sample_type |= PS_TIME;
	if (pd->on_cpu)
		sample_type |= PS_CPU;
	if (e->chain)
		sample_type |= PS_CALLCHAIN;
	if (e->raw)
		sample_type |= PS_RAW;
	if (e->freq)
		flags |= PA_FREQ;
	if (clock >= 0)
		flags |= PA_USE_CLOCKID;
	if (pd->switches)
		flags |= A_CONTEXT_SWITCH;
	blob_u32(b, perfs ? e->type : TYPE_SOFTWARE);
	blob_u32(b, ATTR_SIZE);
	blob_u64(b, perfs ? e->config : SW_OTHER + e->id);
	blob_u64(b, e->period);
	blob_u64(b, sample_type);
	blob_u64(b, 0); /* read_format */
	blob_u64(b, flags);
	while (b->n < at + 92)
		blob_u32(b, 0);
	blob_u32(b, clock >= 0 ? (uint32_t)clock : 0);
	while (b->n < at + ATTR_SIZE)
		blob_u32(b, 0);
}

/* Calls fn for each event of the file, by id; for no_event if there is none. */
static void each_event(const struct perfdata *pd, struct blob *b,
		       void (*fn)(const struct perfdata *pd,
				  const struct pd_event *e, uint64_t id,
				  struct blob *b))
{
	if (!pd->n_id)
		fn(pd, &no_event, 1, b);
	for (size_t i = 0; i < pd->n_event; i++)
		if (pd->event[i].id)
			fn(pd, &pd->event[i], pd->event[i].id, b);
}

static void pd_head_put_id(const struct perfdata *pd UNUSED,
			   const struct pd_event *e UNUSED, uint64_t id,
			   struct blob *b)
{
	blob_u64(b, id);
}

/* Adds the attribute of an event, and the position of its only id. */
static void pd_head_put_entry(const struct perfdata *pd,
			      const struct pd_event *e, uint64_t id,
			      struct blob *b)
{
	pd_head_put_attr(pd, e, b);
	blob_u64(b, 104 + (id - 1) * 8);
	blob_u64(b, 8);
}

static void put_desc(const struct perfdata *pd, const struct pd_event *e,
		     uint64_t id, struct blob *b)
{
	pd_head_put_attr(pd, e, b);
	blob_u32(b, 1);
	pd_string(b, e->name);
	blob_u64(b, id);
}

/* Adds the content of a feature section; nothing if it is not known. */
static void pd_head_put_feature(const struct perfdata *pd, enum feature f,
				struct blob *b)
{
	const struct pd_capture *c = main_capture(pd);
	const char *const text[F_N] = {
		[F_HOSTNAME] = c->host,
		[F_OSRELEASE] = c->release,
		[F_VERSION] = "backstitch",
		[F_ARCH] = c->arch,
	};

	if (text[f])
		pd_string(b, text[f]);
	else if (f == F_TRACING_DATA)
		blob_add(b, pd->tracing.at, pd->tracing.n);
	else if (f == F_BUILD_ID) {
		for (size_t i = 1; i < pd->code->n_image; i++) {
			const struct image *img = &pd->code->image[i].img;
			bool kernel = image_is_kernel(img->kind);
			size_t at = b->n;

			if (!img->id_len || img->kind == IMAGE_JIT)
				continue;
			blob_u32(b, 0);
			blob_u16(b,
				 (kernel ? PM_KERNEL : PM_USER) | HAS_ID_SIZE);
			blob_u16(b, 0);
			blob_u32(b, UINT32_MAX);
			blob_add(b, img->id, 20);
			blob_u32(b, img->id_len);
			pd_text(b, img->path, PD_NAME_MAX, 64);
			blob_set(b, at + 6, b->n - at, 2);
		}
	} else if (f == F_NRCPUS) {
		int64_t n = main_capture(pd)->cpus;

		if (n <= pd->max_cpu)
			n = pd->max_cpu + 1;
		blob_u32(b, (uint32_t)n);
		blob_u32(b, (uint32_t)n);
	} else if (f == F_CMDLINE && (c->cmdline || pd->selected)) {
		const char *line =
			c->cmdline ? c->cmdline : "backstitch export";
		bool selected = pd->selected;
		size_t at = b->n;
		uint32_t n = 0;

		blob_u32(b, 0);
		while (*line || selected) {
			char word[512];
			size_t len = strcspn(line, " ");
			size_t keep =
				len < sizeof(word) ? len : sizeof(word) - 1;

			/* before the first option, or last: readers know by it
			 * that records are left out */
			if (selected && (!*line || *line == '-')) {
				pd_string(b, "--filter=exported");
				selected = false;
				n++;
				continue;
			}
			memcpy(word, line, keep);
			word[keep] = '\0';
			pd_string(b, word);
			n++;
			line += len + (line[len] == ' ');
		}
		blob_set(b, at, n, 4);
	} else if (f == F_EVENT_DESC) {
		blob_u32(b, pd->n_id ? pd->n_id : 1);
		blob_u32(b, ATTR_SIZE);
		each_event(pd, b, put_desc);
	} else if (f == F_SAMPLE_TIME) {
		blob_u64(b, pd->timed ? (uint64_t)pd->first : 0);
		blob_u64(b, pd->timed ? (uint64_t)pd->last : 0);
	} else if (f == F_CLOCKID && clockid(pd) >= 0)
		blob_u64(b, 1); /* ns */
	else if (f == F_CLOCK_DATA) {
		/* Add the same moment on the file's clock and since 1970. */
		const struct pd_capture *one = main_capture(pd);
		int64_t wall;

		if (!one->has_wall || !pd->timed || clockid(pd) < 0 ||
		    __builtin_add_overflow(pd->first, one->wall_offset, &wall))
			return;
		blob_u32(b, 1);
		blob_u32(b, (uint32_t)clockid(pd));
		blob_u64(b, (uint64_t)wall);
		blob_u64(b, (uint64_t)pd->first);
	}
}

/* Adds the feature sections and the table in front of them, for a file in which
 * they start at `at`. Stores the bits of the features. */
static void perfdata_features(struct perfdata *pd, struct blob *b, uint64_t at,
			      uint64_t features[4])
{
	struct blob body RELEASED_BY(blob_release) = { 0 };
	size_t start[F_N + 1];
	uint64_t n = 0;

	for (unsigned int f = 0; f < F_N; f++) {
		start[f] = body.n;
		pd_head_put_feature(pd, f, &body);
		if (body.n > start[f]) {
			features[0] |= (uint64_t)1 << f;
			n++;
		}
	}
	start[F_N] = body.n;
	for (unsigned int f = 0; f < F_N; f++)
		if (start[f + 1] > start[f]) {
			blob_u64(b, at + n * 16 + start[f]);
			blob_u64(b, start[f + 1] - start[f]);
		}
	blob_add(b, body.at, body.n);
}

#define HEADER_SIZE 104u
#define ATTR_ENTRY 128u
#define FLUSH_AT (1u << 18)
/* perf holds records back until the next round is finished. */
#define ROUND 8192u

static int perfdata_write_all(struct perfdata *pd, const struct blob *b,
			      struct err *err)
{
	if (b->n && fwrite(b->at, b->n, 1, pd->out) != 1)
		return err_set(err, ERR_IO, "cannot write perf.data: %s",
			       strerror(errno));
	return 0;
}

int perfdata_open(struct perfdata *pd, FILE *out, struct err *err)
{
	struct blob b RELEASED_BY(blob_release) = { 0 };

	pd->out = out;
	for (size_t i = 0; i < pd->n_event; i++)
		if (pd->event[i].n && pd->event[i].sample)
			pd->event[i].id = ++pd->n_id;
	memset(blob_room(&b, HEADER_SIZE), 0, HEADER_SIZE);
	each_event(pd, &b, pd_head_put_id);
	each_event(pd, &b, pd_head_put_entry);
	pd->data_at = b.n;
	return perfdata_write_all(pd, &b, err);
}

static void perfdata_flush(struct perfdata *pd)
{
	/* write errors are reported at the end */
	if (pd->buf.n)
		(void)!fwrite(pd->buf.at, 1, pd->buf.n, pd->out);
	pd->written += pd->buf.n;
	pd->buf.n = 0;
}

int perfdata_finish(struct perfdata *pd, struct err *err)
{
	uint64_t n = pd->n_id ? pd->n_id : 1;
	uint64_t features[4] = { 0 };
	struct blob b RELEASED_BY(blob_release) = { 0 };

	perfdata_flush(pd);
	perfdata_features(pd, &b, pd->data_at + pd->written, features);
	int rc = perfdata_write_all(pd, &b, err);
	b.n = 0;
	blob_add(&b, "PERFILE2", 8);
	blob_u64(&b, HEADER_SIZE);
	blob_u64(&b, ATTR_ENTRY);
	blob_u64(&b, HEADER_SIZE + n * 8); /* after the ids */
	blob_u64(&b, n * ATTR_ENTRY);
	blob_u64(&b, pd->data_at);
	blob_u64(&b, pd->written);
	blob_u64(&b, 0);
	blob_u64(&b, 0);
	for (size_t i = 0; i < 4; i++)
		blob_u64(&b, features[i]);
	if (!rc && fseeko(pd->out, 0, SEEK_SET))
		rc = err_set(err, ERR_IO, "cannot write perf.data: %s",
			     strerror(errno));
	if (!rc)
		rc = perfdata_write_all(pd, &b, err);
	if (!rc && (ferror(pd->out) || fseeko(pd->out, 0, SEEK_END)))
		rc = err_set(err, ERR_IO, "cannot write perf.data");
	return rc;
}

struct blob *perfdata_begin(struct perfdata *pd, uint32_t type,
			    unsigned int misc)
{
	pd->rec = pd->buf.n;
	blob_u32(&pd->buf, type);
	blob_u16(&pd->buf, (uint16_t)misc);
	blob_u16(&pd->buf, 0);
	return &pd->buf;
}

static void set_size(struct perfdata *pd)
{
	blob_set(&pd->buf, pd->rec + 6, pd->buf.n - pd->rec, 2);
}

void perfdata_end_sample(struct perfdata *pd)
{
	set_size(pd);
	if (++pd->n_round == ROUND) {
		pd->n_round = 0;
		perfdata_begin(pd, PR_FINISHED_ROUND, 0);
		set_size(pd);
	}
	if (pd->buf.n >= FLUSH_AT)
		perfdata_flush(pd);
}

/* perf does not accept negative times. */
static uint64_t perfdata_time_of(const struct pd_when *w)
{
	return w->time < 0 ? 0 : (uint64_t)w->time;
}

void perfdata_end(struct perfdata *pd, const struct pd_when *w)
{
	struct blob *b = &pd->buf;

	blob_u32(b, (uint32_t)w->pid);
	blob_u32(b, (uint32_t)w->tid);
	if (pd->timed)
		blob_u64(b, perfdata_time_of(w));
	if (pd->on_cpu)
		blob_u64(b, (uint32_t)w->cpu);
	blob_u64(b, w->id ? w->id : 1);
	perfdata_end_sample(pd);
}

void perfdata_sample(struct perfdata *pd, unsigned int misc, uint64_t ip,
		     uint64_t period, const struct pd_when *w)
{
	struct blob *b = perfdata_begin(pd, PR_SAMPLE, misc);

	blob_u64(b, w->id);
	blob_u64(b, ip);
	blob_u32(b, (uint32_t)w->pid);
	blob_u32(b, (uint32_t)w->tid);
	if (pd->timed)
		blob_u64(b, perfdata_time_of(w));
	if (pd->on_cpu)
		blob_u64(b, (uint32_t)w->cpu);
	blob_u64(b, period);
}

static const char *text_or_null(struct perfdata *pd, const struct rows *r,
				size_t i)
{
	const char *s = rows_text(r, i);

	return *s ? arena_strdup(&pd->texts, s) : NULL;
}

static int perfdata_read_events(struct perfdata *pd, struct err *err)
{
	struct rows *r = rows_dense(pd->db, "perfdata_events", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, PERFDATA_EVENTS_NAME);
		struct pd_event e = {
			.name = arena_strdup(&pd->texts, name),
			.capture =
				(uint32_t)rows_int(r, PERFDATA_EVENTS_CAPTURE),
			.sample = rows_int(r, PERFDATA_EVENTS_IS_SAMPLE),
			.type = (uint32_t)rows_int(r, PERFDATA_EVENTS_TYPE),
			.config = (uint64_t)rows_int(r, PERFDATA_EVENTS_CONFIG),
			.period = (uint64_t)rows_int(r, PERFDATA_EVENTS_PERIOD),
			.freq = rows_int(r, PERFDATA_EVENTS_FREQ),
			.chain = rows_int(r, PERFDATA_EVENTS_HAS_CHAIN),
			.format = text_or_null(pd, r, PERFDATA_EVENTS_FORMAT),
			.payload = rows_int(r, PERFDATA_EVENTS_HAS_PAYLOAD),
		};

		*mem_add(pd->event, pd->n_event, pd->cap_event) = e;
	}
	return rows_end(r, err);
}

struct perfdata *perfdata_new(struct store *db, const struct known_code *code,
			      struct err *err)
{
	struct perfdata *pd = mem_new(1, sizeof(*pd));

	pd->db = db;
	pd->code = code;
	struct rows *r = rows_dense(pd->db, "perfdata_captures", err);

	while (rows_step(r)) {
		struct value wall =
			rows_value(r, PERFDATA_CAPTURES_WALL_OFFSET_NS);
		struct pd_capture c = {
			.format = text_or_null(pd, r, PERFDATA_CAPTURES_FORMAT),
			.host = text_or_null(pd, r, PERFDATA_CAPTURES_HOST),
			.release =
				text_or_null(pd, r, PERFDATA_CAPTURES_RELEASE),
			.arch = text_or_null(pd, r, PERFDATA_CAPTURES_ARCH),
			.cmdline =
				text_or_null(pd, r, PERFDATA_CAPTURES_CMDLINE),
			.cpus = rows_int(r, PERFDATA_CAPTURES_CPUS),
			.clock = text_or_null(pd, r, PERFDATA_CAPTURES_CLOCK),
			.big_endian = rows_int(r, PERFDATA_CAPTURES_BIG_ENDIAN),
			.has_wall = wall.kind == VALUE_INT,
			.wall_offset = wall.num,
		};

		c.long32 = c.arch && payloads_long32(c.arch);
		c.user_mask = user_mask_of(c.arch);
		*mem_add(pd->capture, pd->n_capture, pd->cap_capture) = c;
	}
	if (!rows_end(r, err) && !perfdata_read_events(pd, err))
		return pd;
	perfdata_free(pd);
	return NULL;
}

void perfdata_free(struct perfdata *pd)
{
	if (!pd)
		return;
	arena_release(&pd->texts);
	free_all(pd->buf.at, pd->tracing.at, pd->event, pd->capture, pd);
}

const struct pd_event *perfdata_event(const struct perfdata *pd, int64_t type)
{
	static const struct pd_event none = { .name = "" };

	return type >= 1 && (uint64_t)type <= pd->n_event ? &pd->event[type - 1]
							  : &none;
}
