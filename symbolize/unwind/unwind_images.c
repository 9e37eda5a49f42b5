/* unwind_images.c - keeps the images that stacks go through, with their unwind
 * tables. */
#include "symbolize/unwind/unwind_images.h"

#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/jit.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/sframe/sframe.h"
#include "symbolize/symbolizer.h"
#include "symbolize/symbolizer_cache.h"
#include "symbolize/unwind/callsite.h"

/* How often a thread tries the lock before it sleeps: another thread holds it
 * for one look-up, which is shorter than sleeping and waking. */
#define LOCK_TRIES 4000

#define OF_NOT_FOUND UINT32_MAX
#define OF_NO_FILE (UINT32_MAX - 1)

struct unwind_images *unwind_images_new(struct symbolizer *sy,
					const struct frames *fr)
{
	struct unwind_images *ms = mem_new(1, sizeof(*ms));

	ms->sy = sy;
	ms->fr = fr;
	return ms;
}

struct callsite_file *unwind_images_calls_of(struct unwind_image *m)
{
	struct identity_answer answer;

	if (!m->calls)
		m->calls = callsite_open(m->set->sy, m->img, &answer);
	else
		callsite_reopen(m->calls, m->set->sy, m->img);
	return m->calls;
}

static void unwind_image_free(void *object)
{
	struct unwind_image *m = object;

	for (size_t i = 0; i < UNWIND_IMAGE_TABLES; i++) {
		function_rows_free(m->rows[i]);
		cfi_close(m->cfi[i]);
	}
	unwind_rows_free(m->sframe);
	free_all(m->seg, m->data, m->path);
	if (m->img)
		free((char *)m->img->path);
	free(m->img);
	tried_files_release(&m->tried);
	free(m);
}

static struct symbolizer_cache *
unwind_images_kept(const struct unwind_images *ms)
{
	return ms->sframe_only ? NULL : ms->sy->opts.kept;
}

/* Leaves the tables of a file to later runs, or frees them. The table of the
 * debug file is not kept: which callers are inferred depends on when samples
 * first needed it. */
static void unwind_images_leave(struct unwind_images *ms,
				struct unwind_image *m)
{
	const size_t i = UNWIND_IMAGE_TABLES - 1;

	callsite_close(m->calls);
	m->calls = NULL;
	if (!m->keep || !unwind_images_kept(ms) || m->tried.young ||
	    !tried_files_can_tell(&m->tried)) {
		unwind_image_free(m);
		return;
	}
	char *name OWNED = symbolizer_cache_name(ms->sy, "tables", m->img);

	if (m->asked) {
		function_rows_free(m->rows[i]);
		cfi_close(m->cfi[i]);
		m->rows[i] = NULL;
		m->cfi[i] = NULL;
	}
	m->asked = false;
	m->known = NULL;
	m->set = NULL;
	m->open = 0;
	symbolizer_cache_give(unwind_images_kept(ms), name, m,
			      unwind_image_free);
}

void unwind_images_free(struct unwind_images *ms)
{
	if (!ms)
		return;
	for (size_t i = 0; i < UNWIND_OPEN_MAX; i++)
		elf_file_close(ms->file[i].ef);
	for (size_t i = 0; i < ms->n; i++)
		unwind_images_leave(ms, ms->m[i]);
	table_release(&ms->by_id);
	table_release(&ms->by_code);
	free(ms->m);
	free_all(ms->of, ms->block);
	if (ms->shared)
		pthread_mutex_destroy(&ms->lock);
	free(ms);
}

void unwind_images_share(struct unwind_images *ms)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&ms->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	ms->shared = true;
}

void unwind_images_lock(struct unwind_images *ms)
{
	if (!ms->shared)
		return;
	for (int i = 0; i < LOCK_TRIES; i++)
		if (!pthread_mutex_trylock(&ms->lock))
			return;
	pthread_mutex_lock(&ms->lock);
}

void unwind_images_unlock(struct unwind_images *ms)
{
	if (ms->shared)
		pthread_mutex_unlock(&ms->lock);
}

/* Opens the file of an image for unwinding. A guess is not enough: the tables
 * of another version would make wrong stacks. */
static struct elf_file *unwind_images_locate(struct unwind_images *ms,
					     const struct image *img,
					     struct identity_answer *answer)
{
	struct elf_file *ef = locate_open(ms->sy, img, answer);

	if (ef && (!abi_of(ef->machine) || ef->no_code ||
		   answer->is <= IDENTITY_DOUBTFUL)) {
		elf_file_close(ef);
		return NULL;
	}
	return ef;
}

static void unwind_images_hold_open(struct unwind_images *ms,
				    struct unwind_image *m, struct elf_file *ef)
{
	struct unwind_open_file *f = &ms->file[0];

	for (size_t i = 1; i < UNWIND_OPEN_MAX; i++)
		if (ms->file[i].used < f->used)
			f = &ms->file[i];
	if (f->m)
		f->m->open = 0;
	elf_file_close(f->ef);
	*f = (struct unwind_open_file){ m, ++ms->clock, ef };
	m->open = (uint32_t)(f - ms->file) + 1;
}

struct elf_file *unwind_images_file(struct unwind_image *m)
{
	struct unwind_images *ms = m->set;

	if (m->open) {
		struct unwind_open_file *f = &ms->file[m->open - 1];

		f->used = ++ms->clock;
		return f->ef;
	}
	struct identity_answer answer;
	struct elf_file *ef =
		m->img ? unwind_images_locate(ms, m->img, &answer) : NULL;
	if (ef)
		unwind_images_hold_open(ms, m, ef);
	return ef;
}

/* cfi NULL: there is none. */
static void unwind_images_add_table(struct unwind_image *m, size_t i,
				    struct cfi *cfi)
{
	m->cfi[i] = cfi;
	m->rows[i] = cfi ? function_rows_new(cfi) : NULL;
}

static const char *const sections[UNWIND_IMAGE_TABLES] = { ".eh_frame",
							   ".debug_frame" };

static void unwind_images_add(struct unwind_images *ms, struct unwind_image *m)
{
	m->set = ms;
	*mem_add(ms->m, ms->n, ms->cap) = m;
	m->number = (uint32_t)ms->n;
}

/* Opens the file of an image; keep: from identity_may_be_kept(). Returns false
 * if there is none. */
static bool unwind_images_open(struct unwind_images *ms,
			       const struct image *img, bool keep)
{
	struct identity_answer answer;
	struct tried_files tried = { .n = 0 };
	GElf_Ehdr eh;

	ms->sy->tried = unwind_images_kept(ms) ? &tried : NULL;
	struct elf_file *ef = unwind_images_locate(ms, img, &answer);

	ms->sy->tried = NULL;
	if (!ef) {
		tried_files_release(&tried);
		return false;
	}
	struct unwind_image *m = mem_new(1, sizeof(*m));

	m->machine = ef->machine;
	m->kind = img->kind;
	m->big = ef->big;
	m->is = answer.is;
	m->span = identity_span(ef);
	m->keep = keep;
	m->img = mem_dup(img, sizeof(*img));
	m->img->path = mem_strdup(img->path);
	m->path = mem_strdup(ef->path);
	m->known = code_cache_of(ms->sy, ef);
	m->n_seg = ef->n_seg;
	m->entry = gelf_getehdr(ef->elf, &eh) ? eh.e_entry : 0;
	m->seg = ef->n_seg ? mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg))
			   : NULL;
	m->program = elf_is_program(ef);
	m->n_data = ef->n_data;
	m->data = ef->n_data ? mem_dup(ef->data, ef->n_data * sizeof(*ef->data))
			     : NULL;
	m->tried = tried;
	struct sframe_file f;

	for (size_t i = 0; i < UNWIND_IMAGE_TABLES && !ms->sframe_only; i++)
		unwind_images_add_table(m, i, cfi_open(ef, sections[i]));
	if (!m->cfi[0] && sframe_file_open(ef, &f, NULL) == 1) {
		m->sframe = sframe_table(&f.sf, NULL);
		sframe_file_release(&f);
	}
	if (m->kind == IMAGE_VDSO)
		m->sigreturn = sigreturn_find(ef);
	ms->count.built++;
	unwind_images_add(ms, m);
	unwind_images_hold_open(ms, m, ef);
	return true;
}

/* Adds an image whose tables an earlier unwinder of this process made, if all
 * files that were tried for it are unchanged. Returns false if there is
 * none. */
static bool unwind_images_reuse(struct unwind_images *ms,
				const struct image *img)
{
	struct symbolizer_cache *kept = unwind_images_kept(ms);

	if (!kept)
		return false;
	char *name = symbolizer_cache_name(ms->sy, "tables", img);
	struct unwind_image *m = symbolizer_cache_take(kept, name);

	free(name);
	if (m && !tried_files_unchanged(&m->tried)) {
		unwind_image_free(m);
		m = NULL;
	}
	if (!m)
		return false;
	ms->count.built++;
	unwind_images_add(ms, m);
	return true;
}

static bool unwind_images_same_id(const void *owner, uint32_t id,
				  const void *key)
{
	const struct image *a =
		((const struct unwind_images *)owner)->m[id]->img;
	const struct image *b = key;

	return a->kind == b->kind &&
	       elf_same_id(a->id, a->id_len, b->id, b->id_len);
}

/* Returns the index of the image + 1, or OF_NO_FILE or OF_NOT_FOUND. Build-ids
 * may be padded with zeros, so only the first bytes are hashed. */
static uint32_t unwind_images_look_up(struct unwind_images *ms, uint32_t image)
{
	const struct image *img = frames_get_image(ms->fr, image);
	uint64_t hash = 0;

	if (img->kind != IMAGE_VDSO && img->kind != IMAGE_FILE)
		return OF_NO_FILE;
	ms->count.asked++;
	/* whether it is the same as every image with this build-id */
	bool keep = identity_may_be_kept(ms->sy, img);

	if (keep && img->id_len) {
		hash = hash_bytes(img->id, img->id_len < 8 ? img->id_len : 8,
				  0);
		uint32_t id = table_find(&ms->by_id, hash,
					 unwind_images_same_id, ms, img);

		if (id != TABLE_NONE)
			return id + 1;
	}
	if (!(keep && unwind_images_reuse(ms, img)) &&
	    !unwind_images_open(ms, img, keep))
		return OF_NOT_FOUND;
	if (keep && img->id_len)
		table_add(&ms->by_id, hash, (uint32_t)ms->n - 1);
	return (uint32_t)ms->n;
}

bool unwind_images_known(const struct unwind_images *ms, uint32_t image)
{
	return image < ms->n_of && ms->of[image];
}

bool unwind_images_is_file(const struct unwind_images *ms, uint32_t image)
{
	return ms->of[image] != OF_NO_FILE;
}

struct unwind_image *unwind_images_of(struct unwind_images *ms, uint32_t image)
{
	mem_reach(ms->of, ms->n_of, ms->cap_of, image + (size_t)1);
	if (!ms->of[image])
		ms->of[image] = unwind_images_look_up(ms, image);
	return ms->of[image] >= OF_NO_FILE ? NULL : ms->m[ms->of[image] - 1];
}

struct unwind_image *unwind_images_of_code(struct unwind_images *ms,
					   const struct jit_code *c)
{
	if (!c->n_frame && !c->n_bytes)
		return NULL;
	uint32_t id =
		table_find_or_add(&ms->by_code, hash_u64((uintptr_t)c), ms->n);

	if (id < ms->n)
		return ms->m[id];
	struct unwind_image *m = mem_new(1, sizeof(*m));

	m->machine = (uint16_t)c->machine;
	m->kind = IMAGE_JIT;
	m->is = IDENTITY_PROVED;
	m->big = c->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	m->code = c;
	if (!ms->sframe_only)
		unwind_images_add_table(
			m, 0,
			cfi_memory(m->machine, c->frame, c->n_frame,
				   c->start + c->frame_off, c->swapped));
	ms->count.built += m->cfi[0] != NULL;
	unwind_images_add(ms, m);
	return m;
}

const struct unwind_row *unwind_images_row(const struct unwind_image *m,
					   uint64_t vaddr)
{
	const struct unwind_row *row =
		m->asked && m->sframe ? unwind_rows_find(m->sframe, vaddr)
				      : NULL;

	/* The table of a debug file comes last: it may be found before or after
	 * this address was looked up. */
	if (row && unwind_row_kind(row) != ROW_GAP)
		return row;
	for (unsigned int i = 0; i < UNWIND_IMAGE_TABLES; i++) {
		row = m->rows[i] ? function_rows_find(m->rows[i], vaddr) : NULL;
		if (row && unwind_row_kind(row) != ROW_GAP)
			return row;
	}
	row = m->sframe ? unwind_rows_find(m->sframe, vaddr) : NULL;
	return row && unwind_row_kind(row) != ROW_GAP ? row : NULL;
}

bool unwind_images_row_lasts(const struct unwind_image *m, uint64_t vaddr)
{
	const struct unwind_row *row =
		m->rows[0] && !m->sframe ? function_rows_find(m->rows[0], vaddr)
					 : NULL;

	return row && unwind_row_kind(row) != ROW_GAP;
}

bool unwind_images_may_add(const struct unwind_image *m)
{
	return !m->asked && !m->cfi[UNWIND_IMAGE_TABLES - 1] && m->img &&
	       !m->set->sframe_only;
}

bool unwind_images_is_proved(const struct unwind_image *m,
			     const struct unwind_map *map)
{
	const struct identity_code c = { m->seg, m->n_seg, m->span,
					 m->machine };

	return m->is == IDENTITY_PROVED ||
	       (m->is == IDENTITY_READ &&
		identity_fits(&c, map->pgoff, map->end - map->start));
}

bool unwind_images_has_data(const struct unwind_image *m,
			    const struct unwind_map *map, uint64_t addr)
{
	const struct segment *code = NULL;

	if (m->kind != IMAGE_FILE || !unwind_images_is_proved(m, map))
		return false;
	/* the kernel maps whole pages, so that pgoff may be before the code */
	for (size_t i = 0; i < m->n_seg && !code; i++)
		if (map->pgoff - m->seg[i].off < m->seg[i].filesz ||
		    m->seg[i].off - map->pgoff < map->end - map->start)
			code = &m->seg[i];
	if (!code)
		return false;
	/* the differences wrap: each number is of 64 bits */
	uint64_t start = code->vaddr - code->off + map->pgoff;
	uint64_t vaddr = addr - map->start + start;

	return any_where(m->n_data, i,
			 vaddr - m->data[i].vaddr < m->data[i].filesz);
}

/* The smallest page size, to which a mapping is rounded. Memory between the
 * segments of a file for larger pages is unmapped again, and may be used for
 * something else. */
#define PAGE 4096

bool unwind_images_has_text(const struct unwind_image *m,
			    const struct unwind_map *map, uint64_t start,
			    uint64_t end)
{
	const uint64_t from = start - map->start + map->pgoff;
	const uint64_t len = end - start;
	uint64_t to;

	if (m->kind != IMAGE_FILE || !m->program ||
	    __builtin_add_overflow(from, len, &to))
		return false;
	for (size_t i = 0; i < m->n_seg; i++) {
		const struct segment *s = &m->seg[i];

		if (s->off + s->filesz >= s->off && from + PAGE > s->off &&
		    from < s->off + s->filesz && to - s->off < UINT64_MAX / 2 &&
		    to - s->off < s->filesz + PAGE)
			return true;
	}
	return false;
}

bool unwind_images_more_tables(struct unwind_image *m)
{
	struct unwind_images *ms = m->set;
	const size_t i = UNWIND_IMAGE_TABLES - 1;

	if (!unwind_images_may_add(m))
		return false;
	m->asked = true;
	struct elf_file *ef = unwind_images_file(m);
	struct elf_file *debug = ef ? debugfile_open(ms->sy, m->img, ef) : NULL;

	if (debug)
		unwind_images_add_table(m, i, cfi_open(debug, sections[i]));
	elf_file_close(debug);
	ms->added += m->cfi[i] != NULL;
	return m->cfi[i] != NULL;
}

size_t unwind_images_read_code(struct unwind_image *m, uint64_t vaddr,
			       void *buf, size_t n)
{
	size_t done = 0;

	if (m->code) {
		/* addresses just before JIT code read as zeros, as callers look
		 * for a call before a return address */
		const struct jit_code *c = m->code;
		unsigned char *to = buf;
		size_t i = 0;

		for (; i < n; i++, vaddr++) {
			bool before = vaddr < c->start && c->start - vaddr < n;

			if (!before && vaddr - c->start >= c->n_bytes)
				break;
			to[i] = before ? 0
				       : ((const unsigned char *)
						  c->bytes)[vaddr - c->start];
		}
		return i;
	}
	const struct segment *s = elf_segment_at(m->seg, m->n_seg, vaddr);

	while (s && done < n && vaddr + done - s->vaddr < s->filesz) {
		uint64_t at = vaddr + done;
		uint64_t page = at - at % CODE_BLOCK;
		uint64_t place = page > s->vaddr ? page : s->vaddr;

		if (!m->set->block)
			m->set->block =
				mem_new(CODE_BLOCKS, sizeof(*m->set->block));
		/* neighbours never take each other's place */
		struct code_block *b = &m->set->block[(hash_u64((uintptr_t)m) +
						       place / CODE_BLOCK) %
						      CODE_BLOCKS];

		if (b->m != m || b->at != place) {
			struct elf_file *ef = unwind_images_file(m);

			b->m = m;
			b->at = place;
			b->n = ef ? elf_read_code(ef, place, b->code,
						  page + CODE_BLOCK - place)
				  : 0;
		}

		if (at - b->at >= b->n)
			break;
		uint64_t left = b->n - (at - b->at);
		size_t some = left < n - done ? (size_t)left : n - done;

		memcpy((char *)buf + done, b->code + (at - b->at), some);
		done += some;
	}
	return done;
}

struct unwind_images_count unwind_images_count(const struct unwind_images *ms)
{
	struct unwind_images_count c = ms->count;

	for (size_t i = 0; i < ms->n; i++) {
		const struct unwind_image *m = ms->m[i];

		for (size_t k = 0; k < UNWIND_IMAGE_TABLES; k++)
			c.rows += m->rows[k] ? m->rows[k]->rows : 0;
		c.rows += m->sframe ? unwind_rows_count(m->sframe) : 0;
	}
	return c;
}

#define REG_LINK 30
#define VDSO_FUNC_MAX 65536
/* A vdso has about ten symbols. */
#define SYMBOLS_MAX 256
/* Instructions of a stub: bti, adrp, ldr, add, autia1716, br. */
#define STUB_MAX 6

/* Returns true if this A64 instruction might write x30: calls, and any with x30
 * as first operand, or as second one of a load or store. Some of these only
 * read x30, but a leaf function does not need them either. */
static bool link_register_written(uint32_t insn)
{
	bool branch = (insn & 0x7c000000) == 0x14000000; /* b, bl */
	bool call = (insn & 0xfc000000) == 0x94000000 || /* bl */
		    (insn & 0xfee00000) == 0xd6200000;	 /* blr, blraa, ... */
	bool memory = (insn & 0x0a000000) == 0x08000000;

	if (branch || call)
		return call;
	return (insn & 31) == REG_LINK ||
	       (memory && (insn >> 10 & 31) == REG_LINK);
}

/* Returns true if no instruction of the function writes the register. */
static bool link_register_untouched(struct unwind_image *m, const GElf_Sym *f)
{
	unsigned char code[1024];
	struct bytes b;
	uint32_t insn;

	if (f->st_size > VDSO_FUNC_MAX || f->st_value % 4 || f->st_size % 4)
		return false;
	for (uint64_t at = 0; at < f->st_size; at += sizeof(code)) {
		size_t n = f->st_size - at;

		if (n > sizeof(code))
			n = sizeof(code);
		if (unwind_images_read_code(m, f->st_value + at, code, n) != n)
			return false;
		bytes_init(&b, code, n, "", 0, bytes_must_swap(false));
		while (!bytes_u32(&b, &insn, NULL))
			if (link_register_written(insn))
				return false;
	}
	return true;
}

/* Matches the rest of a PLT stub, for which linkers write no table (ld 2.40): a
 * stub is entered by a call and ends with its only 'br'. The header stub starts
 * by storing the register, so it does not match at its start. */
static bool link_register_in_stub(struct unwind_image *m, uint64_t vaddr)
{
	unsigned char code[4 * STUB_MAX];
	struct bytes b;
	uint32_t insn;

	struct elf_file *ef = unwind_images_file(m);
	struct elf_section s;

	if (vaddr % 4 || !ef || !elf_section_find(ef, ".plt", &s) ||
	    vaddr - s.addr >= s.size)
		return false;
	bytes_init(&b, code,
		   unwind_images_read_code(m, vaddr, code, sizeof(code)), "", 0,
		   bytes_must_swap(false));
	while (!bytes_u32(&b, &insn, NULL)) {
		if (link_register_written(insn))
			return false;
		if ((insn & 0xfffffc1f) == 0xd61f0000)
			return true;
	}
	return false;
}

/* Finds the function around an address in the dynamic symbols. */
static bool link_register_function(const struct elf_file *ef, uint64_t vaddr,
				   GElf_Sym *f)
{
	struct elf_section s;
	struct elf_symbols it;
	const char *name;

	if (!ef || !elf_section_find(ef, ".dynsym", &s) ||
	    !elf_symbols_open(ef, &s, &it))
		return false;
	while (elf_symbols_next(&it, f, &name) && it.i <= SYMBOLS_MAX)
		if (GELF_ST_TYPE(f->st_info) == STT_FUNC &&
		    vaddr >= f->st_value && vaddr - f->st_value < f->st_size)
			return true;
	return false;
}

bool link_register_is_kept(struct unwind_image *m, uint64_t vaddr)
{
	GElf_Sym f;

	if (m->machine != EM_AARCH64)
		return false;
	if (m->kind != IMAGE_VDSO)
		return link_register_in_stub(m, vaddr);
	return vaddr % 4 == 0 &&
	       link_register_function(unwind_images_file(m), vaddr, &f) &&
	       link_register_untouched(m, &f);
}
