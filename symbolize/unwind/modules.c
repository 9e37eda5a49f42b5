/* modules.c - the files that stacks go through, each with its tables. */
#include "symbolize/unwind/modules.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stitch/tasks/jit.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe_file.h"
#include "symbolize/sframe/sframe_table.h"
#include "symbolize/symbolizer.h"
#include "symbolize/elf/vdso.h"

/* Files held open; the tables are made by then. */
#define OPEN_MAX 32
/* A vdso has about ten. */
#define SYMBOLS_MAX 256

struct open_file {
	struct module *m; /* NULL: a free place */
	uint64_t used;	  /* when, in look-ups */
	struct elf_file *ef;
};

struct modules {
	bool sframe_only;
	struct symbolizer *sy;
	const struct frames *fr;
	struct module **m;
	size_t n, cap;
	struct table by_id;   /* build-ids */
	struct table by_code; /* of IMAGE_JIT */
	/* By image id: its module + 1; 0: not looked for; UINT32_MAX: none. */
	uint32_t *of;
	size_t n_of, cap_of;
	struct open_file file[OPEN_MAX];
	uint64_t clock;
	struct modules_count count;
};

struct modules *modules_new(struct symbolizer *sy, const struct frames *fr)
{
	struct modules *ms = mem_new(1, sizeof(*ms));

	ms->sy = sy;
	ms->fr = fr;
	return ms;
}

static void module_free(struct module *m)
{
	for (size_t i = 0; i < MODULE_ROWS; i++)
		unwind_rows_free(m->rows[i]);
	for (size_t i = 0; i < MODULE_TABLES; i++)
		cfi_close(m->cfi[i]);
	free(m->seg);
	free(m->path);
	if (m->img)
		free((char *)m->img->path);
	free(m->img);
	free(m);
}

void modules_sframe_only(struct modules *ms)
{
	ms->sframe_only = true;
}

void modules_free(struct modules *ms)
{
	if (!ms)
		return;
	for (size_t i = 0; i < OPEN_MAX; i++)
		elf_file_close(ms->file[i].ef);
	for (size_t i = 0; i < ms->n; i++)
		module_free(ms->m[i]);
	table_release(&ms->by_id);
	table_release(&ms->by_code);
	free(ms->m);
	free(ms->of);
	free(ms);
}

/* Built anew since: where no build-id says it, on the machine that it was
 * recorded on the inode does. Another version's tables make stacks up. */
static bool replaced(const struct modules *ms, const struct image *img,
		     const struct elf_file *ef)
{
	size_t slashes = strspn(ef->path, "/");
	struct stat st;

	return ms->sy->opts.same_machine && !img->id_len && img->ino &&
	       slashes && !strcmp(ef->path + slashes - 1, img->path) &&
	       ef->fd >= 0 && !fstat(ef->fd, &st) &&
	       major(st.st_dev) == img->maj && minor(st.st_dev) == img->min &&
	       st.st_ino != img->ino;
}

/* A vdso's file is in no capture; besides what the user laid out, ours may be
 * the one. */
static struct elf_file *locate(struct modules *ms, const struct image *img)
{
	struct places p = { .n = 0 };
	bool other;

	locate_image(ms->sy, img, &p);
	struct elf_file *ef = places_open(&p, img->id, img->id_len, &other);
	places_release(&p);
	if (!ef && img->kind == IMAGE_VDSO)
		ef = vdso_own(img);
	if (ef &&
	    (!abi_of(ef->machine) || ef->no_code || replaced(ms, img, ef))) {
		elf_file_close(ef);
		return NULL;
	}
	return ef;
}

static void hold_open(struct modules *ms, struct module *m, struct elf_file *ef)
{
	struct open_file *f = &ms->file[0];

	for (size_t i = 1; i < OPEN_MAX; i++)
		if (ms->file[i].used < f->used)
			f = &ms->file[i];
	if (f->m)
		f->m->open = 0;
	elf_file_close(f->ef);
	*f = (struct open_file){ m, ++ms->clock, ef };
	m->open = (uint32_t)(f - ms->file) + 1;
}

/* Its file, opened anew when it was closed. */
static struct elf_file *file_of(struct modules *ms, struct module *m)
{
	if (m->open) {
		struct open_file *f = &ms->file[m->open - 1];

		f->used = ++ms->clock;
		return f->ef;
	}
	struct elf_file *ef = m->img ? locate(ms, m->img) : NULL;
	if (ef)
		hold_open(ms, m, ef);
	return ef;
}

static struct image *copy_image(const struct image *img)
{
	struct image *copy = mem_dup(img, sizeof(*img));

	copy->path = mem_strdup(img->path);
	return copy;
}

static void add_table(struct modules *ms, struct module *m, size_t i,
		      struct unwind_rows *rows)
{
	m->rows[i] = rows;
	ms->count.rows += unwind_rows_count(rows);
	ms->count.complex += unwind_rows_complex(rows);
}

static const char *const sections[MODULE_TABLES] = { ".eh_frame",
						     ".debug_frame" };

static void make_tables(struct modules *ms, struct module *m,
			const struct elf_file *ef)
{
	struct sframe_file f;

	for (size_t i = 0; i < MODULE_TABLES && !ms->sframe_only; i++) {
		m->cfi[i] = cfi_open(ef, sections[i]);
		if (m->cfi[i])
			add_table(ms, m, i, cfi_rows(m->cfi[i]));
	}
	if (m->rows[0] || sframe_file_open(ef, &f, NULL) != 1)
		return;
	add_table(ms, m, MODULE_SFRAME, sframe_table(&f.sf, NULL));
	sframe_file_release(&f);
}

static void keep(struct modules *ms, struct module *m)
{
	ms->m = mem_grow(ms->m, &ms->cap, ms->n + 1, sizeof(struct module *));
	ms->m[ms->n++] = m;
}

static struct module *make(struct modules *ms, const struct image *img,
			   struct elf_file *ef)
{
	struct module *m = mem_new(1, sizeof(*m));
	GElf_Ehdr eh;

	m->machine = ef->machine;
	m->kind = img->kind;
	m->big = elf_getident(ef->elf, NULL)[EI_DATA] == ELFDATA2MSB;
	m->proved = img->id_len != 0;
	m->img = copy_image(img);
	m->path = mem_strdup(ef->path);
	m->n_seg = ef->n_seg;
	m->entry = gelf_getehdr(ef->elf, &eh) ? eh.e_entry : 0;
	m->seg = ef->n_seg ? mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg))
			   : NULL;
	make_tables(ms, m, ef);
	if (m->kind == IMAGE_VDSO)
		m->sigreturn = sigreturn_find(ef);
	ms->count.built++;
	keep(ms, m);
	hold_open(ms, m, ef);
	return m;
}

struct id_key {
	const struct image *img;
};

static bool same_id(const void *owner, uint32_t id, const void *key)
{
	const struct image *a = ((const struct modules *)owner)->m[id]->img;
	const struct image *b = ((const struct id_key *)key)->img;

	return a->kind == b->kind &&
	       elf_same_id(a->id, a->id_len, b->id, b->id_len);
}

/* Index of the module, or UINT32_MAX. Build-ids may be padded with zeros, so
 * that only their first bytes go into the hash. */
static uint32_t look(struct modules *ms, uint32_t image)
{
	const struct image *img = frames_get_image(ms->fr, image);
	struct id_key key = { img };
	uint64_t hash = 0;

	if (img->kind != IMAGE_VDSO && img->kind != IMAGE_FILE)
		return UINT32_MAX;
	ms->count.asked++;
	if (img->id_len) {
		hash = hash_bytes(img->id, img->id_len < 8 ? img->id_len : 8,
				  0);
		uint32_t id = table_find(&ms->by_id, hash, same_id, ms, &key);

		if (id != TABLE_NONE)
			return id;
	}
	struct elf_file *ef = locate(ms, img);
	if (!ef)
		return UINT32_MAX;
	make(ms, img, ef);
	if (img->id_len)
		table_add(&ms->by_id, hash, (uint32_t)ms->n - 1);
	return (uint32_t)ms->n - 1;
}

struct module *modules_of(struct modules *ms, uint32_t image)
{
	ms->of = mem_reach(ms->of, &ms->n_of, &ms->cap_of, image + (size_t)1,
			   sizeof(*ms->of));
	if (!ms->of[image]) {
		uint32_t i = look(ms, image);

		ms->of[image] = i == UINT32_MAX ? UINT32_MAX : i + 1;
	}
	return ms->of[image] == UINT32_MAX ? NULL : ms->m[ms->of[image] - 1];
}

static bool same_code(const void *owner, uint32_t id, const void *key)
{
	return ((const struct modules *)owner)->m[id]->code == key;
}

struct module *modules_of_code(struct modules *ms, const struct jit_code *c)
{
	if (!c->n_frame && !c->n_bytes)
		return NULL;
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)c);
	uint32_t id = table_find(&ms->by_code, hash, same_code, ms, c);

	if (id != TABLE_NONE)
		return ms->m[id];
	struct module *m = mem_new(1, sizeof(*m));

	m->machine = (uint16_t)c->machine;
	m->kind = IMAGE_JIT;
	m->proved = true;
	m->big = c->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	m->code = c;
	if (!ms->sframe_only)
		m->cfi[0] = cfi_memory(m->machine, c->frame, c->n_frame,
				       c->start + c->frame_off, c->swapped);
	if (m->cfi[0]) {
		add_table(ms, m, 0, cfi_rows(m->cfi[0]));
		ms->count.built++;
	}
	keep(ms, m);
	table_add(&ms->by_code, hash, (uint32_t)ms->n - 1);
	return m;
}

const struct row *modules_row(const struct module *m, uint64_t vaddr)
{
	for (unsigned int i = 0; i < MODULE_ROWS; i++) {
		const struct row *row =
			m->rows[i] ? unwind_rows_find(m->rows[i], vaddr) : NULL;

		if (row && row_kind(row) != ROW_GAP)
			return row;
	}
	return NULL;
}

bool modules_more(struct modules *ms, struct module *m)
{
	const size_t i = MODULE_TABLES - 1;

	if (m->asked || m->cfi[i] || !m->img || ms->sframe_only)
		return false;
	m->asked = true;
	struct elf_file *ef = file_of(ms, m);
	struct elf_file *debug = ef ? debugfile_open(ms->sy, m->img, ef) : NULL;

	if (debug)
		m->cfi[i] = cfi_open(debug, sections[i]);
	elf_file_close(debug);
	if (m->cfi[i])
		add_table(ms, m, i, cfi_rows(m->cfi[i]));
	return m->cfi[i] != NULL;
}

/* In front of it are zeros: whoever looks for a call looks from before it. */
static size_t jitted_code(const struct jit_code *c, uint64_t addr,
			  unsigned char *buf, size_t n)
{
	size_t i = 0;

	for (; i < n; i++, addr++) {
		bool before = addr < c->start && c->start - addr < n;

		if (!before && addr - c->start >= c->n_bytes)
			break;
		buf[i] = before ? 0
				: ((const unsigned char *)
					   c->bytes)[addr - c->start];
	}
	return i;
}

size_t modules_code(struct modules *ms, struct module *m, uint64_t vaddr,
		    void *buf, size_t n)
{
	if (m->code)
		return jitted_code(m->code, vaddr, buf, n);
	struct elf_file *ef = file_of(ms, m);
	const struct segment *seg = NULL;

	for (size_t i = 0; i < m->n_seg && !seg; i++)
		if (vaddr >= m->seg[i].vaddr &&
		    vaddr - m->seg[i].vaddr < m->seg[i].filesz)
			seg = &m->seg[i];
	if (!ef || !seg)
		return 0;
	uint64_t at = vaddr - seg->vaddr;
	uint64_t off;

	if (n > seg->filesz - at)
		n = seg->filesz - at;
	if (__builtin_add_overflow(seg->off, at, &off) || off > INT64_MAX - n)
		return 0;
	if (ef->fd < 0) {
		Elf_Data *d = elf_getdata_rawchunk(ef->elf, (int64_t)off, n,
						   ELF_T_BYTE);

		if (!d || !d->d_buf || d->d_size < n)
			return 0;
		memcpy(buf, d->d_buf, n);
		return n;
	}
	ssize_t got = pread(ef->fd, buf, n, (off_t)off);

	return got > 0 ? (size_t)got : 0;
}

bool modules_in_section(struct modules *ms, struct module *m, const char *name,
			uint64_t vaddr)
{
	struct elf_file *ef = file_of(ms, m);
	struct elf_section s;

	return ef && elf_section_find(ef, name, &s) && vaddr >= s.addr &&
	       vaddr - s.addr < s.size;
}

bool modules_symbol(struct modules *ms, struct module *m, uint64_t vaddr,
		    struct module_symbol *out)
{
	struct elf_file *ef = file_of(ms, m);
	struct elf_section s;

	if (!ef || !elf_section_find(ef, ".dynsym", &s))
		return false;
	Elf_Data *d = elf_section_data(&s);

	for (int i = 0; d && i < SYMBOLS_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(d, i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    vaddr < sym.st_value || vaddr - sym.st_value >= sym.st_size)
			continue;
		*out = (struct module_symbol){ sym.st_value, sym.st_size };
		return true;
	}
	return false;
}

struct modules_count modules_count(const struct modules *ms)
{
	return ms->count;
}
