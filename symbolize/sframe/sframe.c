/* sframe.c - finds the SFrame section of an ELF file, and reads it, versions
 * 1 to 3. */
#include "symbolize/sframe/sframe.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/elf/elf.h"

#define PT_GNU_SFRAME_ID 0x6474e554
#define SEGMENTS_MAX 4096

struct sframe_file_place {
	const void *data;
	size_t len;
	uint64_t off, addr;
	size_t section; /* section index; 0: found by program header */
};

static bool sframe_file_by_segment(const struct elf_file *ef,
				   struct sframe_file_place *out)
{
	size_t n;

	if (elf_getphdrnum(ef->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;
		Elf_Data *d;

		if (!gelf_getphdr(ef->elf, (int)i, &ph) ||
		    ph.p_type != PT_GNU_SFRAME_ID || ph.p_offset > INT64_MAX)
			continue;
		d = elf_getdata_rawchunk(ef->elf, (int64_t)ph.p_offset,
					 ph.p_filesz, ELF_T_BYTE);
		if (!d || !d->d_buf)
			continue;
		*out = (struct sframe_file_place){ d->d_buf, d->d_size,
						   ph.p_offset, ph.p_vaddr, 0 };
		return true;
	}
	return false;
}

static bool sframe_file_by_name(const struct elf_file *ef,
				struct sframe_file_place *out)
{
	struct elf_section s;
	Elf_Data *d = elf_section_find(ef, ".sframe", &s) ? elf_section_data(&s)
							  : NULL;

	if (!d)
		return false;
	*out = (struct sframe_file_place){ d->d_buf, d->d_size, s.off, s.addr,
					   elf_ndxscn(s.scn) };
	return true;
}

/* Applies the relocations to p->data, an owned copy. */
static int sframe_file_relocate(const struct elf_file *ef,
				struct sframe_file_place *p, struct err *err)
{
	struct elf_section s;

	for (size_t i = 1, n = elf_sections(ef); i < n; i++)
		if (elf_section_get(ef, i, &s) && s.type == SHT_RELA &&
		    s.info == p->section &&
		    elf_relocate(ef, NULL, &s, p->addr, (void *)p->data,
				 p->len))
			return err_at(err, ef->path, p->off,
				      "a relocation of .sframe does not fill "
				      "in a function address");
	return 0;
}

static int sframe_file_init(const struct elf_file *ef,
			    const struct sframe_file_place *p,
			    struct sframe_file *out, struct err *err)
{
	if (sframe_init(&out->sf, p->data, p->len, ef->path, p->off, p->addr,
			err))
		return -1;
	if (ef->machine != out->sf.machine->elf)
		return err_at(err, ef->path, p->off,
			      "SFrame section of %s in a file of ELF machine "
			      "%u",
			      out->sf.machine->name, ef->machine);
	if (out->object && !(out->sf.head.flags & SFRAME_PCREL))
		return err_at(err, ef->path, p->off,
			      "SFrame section of an object file, made by "
			      "binutils before 2.45: its addresses are right "
			      "only after linking; link it first");
	return 0;
}

int sframe_file_open(const struct elf_file *ef, struct sframe_file *out,
		     struct err *err)
{
	struct sframe_file_place p = { 0 };

	memset(out, 0, sizeof(*out));
	if (!sframe_file_by_segment(ef, &p) && !sframe_file_by_name(ef, &p))
		return 0;
	out->len = p.len;
	out->off = p.off;
	out->object = ef->type == ET_REL;
	/* check it before relocation, which needs a copy */
	if (sframe_file_init(ef, &p, out, err))
		return -1;
	if (!out->object)
		return 1;
	p.data = out->copy = mem_dup(p.data, p.len);
	if (sframe_file_relocate(ef, &p, err) ||
	    sframe_file_init(ef, &p, out, err)) {
		sframe_file_release(out);
		return -1;
	}
	return 1;
}

void sframe_file_release(struct sframe_file *f)
{
	free(f->copy);
	f->copy = NULL;
}

/* Limit of the rows made of repeated blocks in one section: a PLT of 60,000
 * entries. */
#define REPEAT_MAX (1u << 18)
#define PLT_ENTRY 16
/* No known tool lets functions share rows; some sharing is tolerated. */
#define SHARED_MAX 4

struct sframe_visit_state {
	const struct sframe *sf;
	const struct sframe_visitor *v;
	void *arg;
	uint64_t bytes,
		limit; /* bytes of rows that were read, and their limit */
};

static int sframe_table_visit_rows(struct sframe_visit_state *w,
				   const struct sframe_func *f, struct err *err)
{
	struct sframe_cursor c;
	struct sframe_row row;
	struct sframe_rule rule;
	int ret;

	sframe_rows(w->sf, f, &c);
	while ((ret = sframe_row(&c, &row, err)) > 0) {
		ret = -1;
		if (w->bytes + sframe_row_bytes(&c) > w->limit) {
			err_at(err, w->sf->row.path, bytes_off(&w->sf->row),
			       "functions share their rows: more than %d times "
			       "the %u bytes of rows are used",
			       SHARED_MAX, w->sf->head.rows_len);
			break;
		}
		if (sframe_rule(w->sf, f, &row, &rule, err))
			break;
		if (w->v->row)
			w->v->row(w->arg, f, &row, &rule);
	}
	/* Rows that could not be read count too. */
	w->bytes += sframe_row_bytes(&c);
	return ret;
}

uint32_t sframe_visit(const struct sframe *sf, const struct sframe_visitor *v,
		      void *arg)
{
	struct sframe_visit_state w = { .sf = sf, .v = v, .arg = arg };
	struct sframe_func f;
	struct err err;
	uint32_t bad = 0;

	w.limit = (uint64_t)sf->head.rows_len * SHARED_MAX;

	for (uint32_t i = 0; i < sf->head.funcs; i++) {
		bool good = !sframe_func(sf, i, &f, &err);

		if (good && v->func)
			v->func(arg, i, &f);
		if (good && !sframe_table_visit_rows(&w, &f, &err)) {
			if (v->end)
				v->end(arg, i, &f);
			continue;
		}
		bad++;
		if (v->bad)
			v->bad(arg, i, &err);
	}
	return bad;
}

static bool sframe_table_place(const struct sframe *sf,
			       const struct sframe_place *in,
			       struct place_rule *out)
{
	if (in->off > INT32_MAX || in->off < INT32_MIN)
		return false;
	out->off = (int32_t)in->off;
	out->kind = PLACE_SAME;
	if (in->kind == SFRAME_NONE || in->kind == SFRAME_PADDED)
		return true;
	if (in->kind == SFRAME_REG ||
	    (in->kind == SFRAME_VALUE && in->reg != SFRAME_CFA && !in->off)) {
		out->kind = PLACE_REG;
		out->off = (int32_t)(in->reg & 127);
		return in->reg < 128;
	}
	if (in->kind == SFRAME_VALUE)
		return false;
	if (in->reg == SFRAME_CFA)
		out->kind = PLACE_CFA;
	else if (in->reg == sf->machine->fp)
		out->kind = PLACE_FP;
	else if (in->reg == sf->machine->sp)
		out->kind = PLACE_SP;
	else
		return false;
	return true;
}

static enum row_kind sframe_table_cfa_kind(const struct sframe *sf,
					   const struct sframe_place *cfa)
{
	bool deref = cfa->kind == SFRAME_MEMORY;

	if (cfa->reg == sf->machine->sp)
		return deref ? ROW_SP_DEREF : ROW_SP;
	if (cfa->reg == sf->machine->fp)
		return deref ? ROW_FP_DEREF : ROW_FP;
	if (sf->head.abi == SFRAME_AMD64 && cfa->reg == 10 && !deref)
		return ROW_DRAP;
	return ROW_COMPLEX;
}

/* Rows of the current function, which are added several times if they
 * repeat. */
struct sframe_table_maker {
	const struct sframe *sf;
	struct unwind_rows *rows;
	struct sframe_table_row {
		uint32_t pc;
		struct unwind_rule rule;
	} * kept;
	size_t n, cap;
	size_t repeated; /* rows added for repeated blocks */
	uint32_t dropped;
};

static void sframe_table_begin(void *arg, uint32_t i UNUSED,
			       const struct sframe_func *f UNUSED)
{
	struct sframe_table_maker *m = arg;

	m->n = 0;
}

static void sframe_table_keep(void *arg, const struct sframe_func *f,
			      const struct sframe_row *row,
			      const struct sframe_rule *rule)
{
	struct sframe_table_maker *m = arg;

	struct sframe_table_row *k = mem_add(m->kept, m->n, m->cap);

	k->pc = row->pc;
	const struct sframe *sf = m->sf;
	struct sframe_place ra = rule->ra;

	memset(&k->rule, 0, sizeof(k->rule));
	if (f->signal)
		k->rule.flags = ROW_INTERRUPTED;
	if (rule->outermost) {
		k->rule.kind = f->signal ? ROW_COMPLEX : ROW_OUTERMOST;
		return;
	}
	if (rule->is_signed)
		k->rule.flags |= ROW_SIGNED;
	/* where the ABI fixes the place of RA, padding stands for it */
	if (sf->head.fixed_ra && ra.kind == SFRAME_PADDED)
		ra = (struct sframe_place){ SFRAME_FIXED, SFRAME_CFA,
					    sf->head.fixed_ra };
	k->rule.kind = sframe_table_cfa_kind(sf, &rule->cfa);
	k->rule.cfa = rule->cfa.off;
	if (!sframe_table_place(sf, &rule->fp, &k->rule.fp) ||
	    !sframe_table_place(sf, &ra, &k->rule.ra))
		k->rule.kind = ROW_COMPLEX;
}

static void sframe_table_add_repeated(struct sframe_table_maker *m,
				      const struct sframe_func *f)
{
	/* Match an x86 PLT entry: 16 bytes, in which one word is pushed. */
	const struct sframe_table_row *k = m->kept;
	if (m->sf->head.abi == SFRAME_AMD64 && f->rep == PLT_ENTRY &&
	    m->n == 2 && !(f->start % PLT_ENTRY) && !k[0].pc &&
	    k[0].rule.kind == ROW_SP && k[1].rule.kind == ROW_SP &&
	    k[0].rule.cfa == 8 && k[1].rule.cfa == 16 &&
	    k[0].rule.fp.kind == PLACE_SAME &&
	    k[1].rule.fp.kind == PLACE_SAME) {
		struct unwind_rule rule = m->kept[0].rule;

		rule.kind = ROW_PLT;
		rule.cfa = m->kept[1].pc;
		unwind_rows_add(m->rows, f->start, &rule);
		return;
	}
	uint64_t blocks = ((uint64_t)f->size + f->rep - 1) / f->rep;

	if (m->n == 1 && !m->kept[0].pc)
		blocks = 1;
	if (blocks * m->n > REPEAT_MAX - m->repeated) {
		m->dropped++;
		return;
	}
	m->repeated += blocks * m->n;
	for (uint64_t b = 0; b < blocks; b++)
		for (size_t i = 0; i < m->n; i++)
			unwind_rows_add(m->rows,
					f->start + b * f->rep + m->kept[i].pc,
					&m->kept[i].rule);
}

/* A function without rows has no caller, or is a signal frame that SFrame
 * cannot describe. */
static void sframe_table_add_func(void *arg, uint32_t idx UNUSED,
				  const struct sframe_func *f)
{
	struct sframe_table_maker *m = arg;
	struct unwind_rule none = { .kind = ROW_OUTERMOST };

	unwind_rows_begin(m->rows, f->start, f->start + f->size);
	if (!f->n && f->signal) {
		none.kind = ROW_COMPLEX;
		none.flags = ROW_INTERRUPTED;
	}
	if (!f->n)
		unwind_rows_add(m->rows, f->start, &none);
	else if (f->rep)
		sframe_table_add_repeated(m, f);
	else
		for (size_t i = 0; i < m->n; i++)
			unwind_rows_add(m->rows, f->start + m->kept[i].pc,
					&m->kept[i].rule);
	unwind_rows_end(m->rows);
}

struct unwind_rows *sframe_table(const struct sframe *sf, uint32_t *bad)
{
	static const struct sframe_visitor v = {
		.func = sframe_table_begin,
		.row = sframe_table_keep,
		.end = sframe_table_add_func,
	};
	struct sframe_table_maker m = { .sf = sf, .rows = unwind_rows_new(8) };
	uint32_t n = sframe_visit(sf, &v, &m);

	if (bad)
		*bad = n + m.dropped;
	unwind_rows_finish(m.rows);
	free(m.kept);
	return m.rows;
}

#define HEAD_LEN 28
#define VERSIONS 3

/* Bytes of a function index entry, and the flags that are valid, by version. */
static const struct {
	uint8_t func_len, flags;
} versions[VERSIONS + 1] = { { 0, 0 }, { 17, 3 }, { 20, 7 }, { 16, 5 } };

/* s390x stores CFA offsets as (off - 160) / 8. */
#define S390X_BIAS 160
#define S390X_SCALE 8
/* Version 1 has no field for the block size; x86 PLT entries have 16 bytes. */
#define REP_V1 16
/* Bytes of a version 3 function's attributes, before its rows: number of rows,
 * info, info2, rep. */
#define ATTR_LEN 5

static const struct sframe_machine machines[] = {
	[SFRAME_AARCH64_BE] = { "aarch64 big-endian", EM_AARCH64, 31, 29, true,
				0, true },
	[SFRAME_AARCH64_LE] = { "aarch64", EM_AARCH64, 31, 29, false, 0, true },
	[SFRAME_AMD64] = { "amd64", EM_X86_64, 7, 6, false, 8, false },
	[SFRAME_S390X] = { "s390x", EM_S390, 15, 11, true, 160, true },
};

static int sframe_read_head(struct bytes *b, struct sframe_head *h,
			    struct err *err)
{
	uint16_t magic;
	uint8_t fp;
	uint8_t ra;

	if (bytes_left(b) < HEAD_LEN)
		return err_at(err, b->path, bytes_off(b),
			      "SFrame section is %zu bytes, needs at least %d",
			      bytes_left(b), HEAD_LEN);
	if (bytes_u16(b, &magic, err))
		return -1;
	/* the magic number shows the byte order */
	if (magic == 0xe2de)
		b->swap = true;
	else if (magic != 0xdee2)
		return err_at(err, b->path, b->base_off,
			      "SFrame section begins with 0x%04x, not with "
			      "the magic 0xdee2",
			      magic);
	if (bytes_u8(b, &h->version, err) || bytes_u8(b, &h->flags, err) ||
	    bytes_u8(b, &h->abi, err) || bytes_u8(b, &fp, err) ||
	    bytes_u8(b, &ra, err) || bytes_u8(b, &h->aux_len, err) ||
	    bytes_u32(b, &h->funcs, err) || bytes_u32(b, &h->rows, err) ||
	    bytes_u32(b, &h->rows_len, err) ||
	    bytes_u32(b, &h->func_off, err) || bytes_u32(b, &h->row_off, err))
		return -1;
	h->fixed_fp = (int8_t)fp;
	h->fixed_ra = (int8_t)ra;
	if (h->version < 1 || h->version > VERSIONS)
		return err_at(err, b->path, b->base_off,
			      "SFrame version %u, this program knows 1 to %d",
			      h->version, VERSIONS);
	if (h->flags & ~versions[h->version].flags)
		return err_at(err, b->path, b->base_off,
			      "SFrame flags 0x%x, version %u has no more than "
			      "0x%x",
			      h->flags, h->version, versions[h->version].flags);
	if (h->abi < SFRAME_AARCH64_BE || h->abi > SFRAME_S390X)
		return err_at(err, b->path, b->base_off,
			      "SFrame machine %u, this program knows 1 to 4",
			      h->abi);
	if (machines[h->abi].big !=
	    (b->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)))
		return err_at(err, b->path, b->base_off,
			      "SFrame section of %s with bytes in the other "
			      "order",
			      machines[h->abi].name);
	return bytes_skip(b, h->aux_len, err);
}

int sframe_init(struct sframe *sf, const void *data, size_t len,
		const char *path, uint64_t off, uint64_t addr, struct err *err)
{
	struct bytes b;

	memset(sf, 0, sizeof(*sf));
	bytes_init(&b, data, len, path, off, false);
	if (sframe_read_head(&b, &sf->head, err))
		return -1;
	const struct sframe_head *h = &sf->head;
	uint64_t funcs_len = (uint64_t)h->funcs * versions[h->version].func_len;

	struct bytes rest = b;
	if (bytes_skip(&rest, h->func_off, err) ||
	    bytes_take(&rest, funcs_len, &sf->func, err))
		return err_while(err,
				 "reading the index of %" PRIu32 " functions",
				 h->funcs);
	rest = b;
	if (bytes_skip(&rest, h->row_off, err) ||
	    bytes_take(&rest, h->rows_len, &sf->row, err))
		return err_while(err, "reading the rows");
	if (h->funcs && sf->func.end > sf->row.pos)
		return err_at(err, path, bytes_off(&sf->row),
			      "rows begin inside or before the index of "
			      "functions");
	sf->machine = &machines[h->abi];
	sf->addr = addr;
	sf->func_at = bytes_off(&sf->func) - off;
	sf->func_len = versions[h->version].func_len;
	return 0;
}

uint64_t sframe_func_field(const struct sframe *sf, uint32_t i)
{
	return sf->addr + sf->func_at + (uint64_t)i * sf->func_len;
}

/* An entry of the function index; in version 3 with the attributes it refers
 * to. */
struct sframe_entry {
	int64_t start;
	uint32_t n;
	uint8_t info, info2, rep;
};

static int sframe_read_entry(const struct sframe *sf, struct bytes *b,
			     struct sframe_func *f, struct sframe_entry *e,
			     struct err *err)
{
	int32_t start;

	if (bytes_i32(b, &start, err) || bytes_u32(b, &f->size, err) ||
	    bytes_u32(b, &f->at, err) || bytes_u32(b, &e->n, err) ||
	    bytes_u8(b, &e->info, err))
		return -1;
	e->start = start;
	e->info &= 0x7f; /* no signal frames before version 3 */
	if (sf->head.version == 1)
		e->rep = REP_V1;
	else if (bytes_u8(b, &e->rep, err))
		return -1;
	return 0;
}

static int sframe_read_entry_v3(const struct sframe *sf, struct bytes *b,
				struct sframe_func *f, struct sframe_entry *e,
				struct err *err)
{
	struct bytes attr = sf->row;
	uint64_t start;
	uint16_t n;

	if (bytes_u64(b, &start, err) || bytes_u32(b, &f->size, err) ||
	    bytes_u32(b, &f->at, err) || bytes_skip(&attr, f->at, err) ||
	    bytes_u16(&attr, &n, err) || bytes_u8(&attr, &e->info, err) ||
	    bytes_u8(&attr, &e->info2, err) || bytes_u8(&attr, &e->rep, err))
		return -1;
	e->start = (int64_t)start;
	e->n = n;
	f->at += ATTR_LEN;
	return 0;
}

/* Returns -1 and *err if the entry is impossible. */
static int sframe_validate_func(const struct sframe *sf,
				const struct sframe_entry *e,
				struct sframe_func *f, uint64_t at,
				struct err *err)
{
	const char *path = sf->func.path;
	uint64_t end;

	if ((e->info & 15) > 2 && e->n)
		return err_at(err, path, at, "row type %u, needs 0 to 2",
			      e->info & 15);
	if ((e->info2 & 31) > 1)
		return err_at(err, path, at, "function type %u, needs 0 or 1",
			      e->info2 & 31);
	if (e->info & 16 && !e->rep)
		return err_at(err, path, at,
			      "rows repeat after 0 bytes, needs 1 at least");
	if (__builtin_add_overflow(f->start, f->size, &end))
		return err_at(err, path, at,
			      "function of %" PRIu32 " bytes at 0x%" PRIx64
			      " exceeds the address space",
			      f->size, f->start);
	if (f->at > sf->head.rows_len ||
	    e->n > (sf->head.rows_len - f->at) / (1u + f->width))
		return err_at(err, path, at,
			      "%" PRIu32 " rows at 0x%" PRIx32
			      " are not within the %" PRIu32 " bytes of rows",
			      e->n, f->at, sf->head.rows_len);
	return 0;
}

int sframe_func(const struct sframe *sf, uint32_t i, struct sframe_func *out,
		struct err *err)
{
	struct bytes b = sf->func;
	struct sframe_entry e = { 0 };
	int ret;

	memset(out, 0, sizeof(*out));
	if (bytes_skip(&b, (uint64_t)i * sf->func_len, err))
		return -1;
	uint64_t at = bytes_off(&b);
	if (sf->head.version == 3)
		ret = sframe_read_entry_v3(sf, &b, out, &e, err);
	else
		ret = sframe_read_entry(sf, &b, out, &e, err);
	if (ret)
		return err_while(err, "reading function %" PRIu32, i);
	out->start = (uint64_t)e.start + (sf->head.flags & SFRAME_PCREL
						  ? sframe_func_field(sf, i)
						  : sf->addr);
	out->n = e.n;
	out->width = (uint8_t)(1 << (e.info & 3));
	out->rep = e.info & 16 ? e.rep : 0;
	out->key_b = e.info & 32;
	out->signal = e.info & 128;
	out->flex = (e.info2 & 31) == 1;
	if (sframe_validate_func(sf, &e, out, at, err))
		return err_while(err, "reading function %" PRIu32, i);
	return 0;
}

void sframe_rows(const struct sframe *sf, const struct sframe_func *f,
		 struct sframe_cursor *c)
{
	*c = (struct sframe_cursor){ .sf = sf, .func = *f, .b = sf->row };
	/* Cannot fail: sframe_func() has checked the offset. */
	if (bytes_skip(&c->b, f->at, NULL))
		c->func.n = 0;
}

uint64_t sframe_row_bytes(const struct sframe_cursor *c)
{
	return bytes_off(&c->b) - bytes_off(&c->sf->row) - c->func.at;
}

static int sframe_read_number(struct bytes *b, unsigned int size, uint32_t *out,
			      struct err *err)
{
	uint8_t byte = 0;
	uint16_t half = 0;
	int ret;

	if (size == 4)
		return bytes_u32(b, out, err);
	ret = size == 2 ? bytes_u16(b, &half, err) : bytes_u8(b, &byte, err);
	*out = size == 2 ? half : byte;
	return ret;
}

int sframe_row(struct sframe_cursor *c, struct sframe_row *out, struct err *err)
{
	const struct sframe_func *f = &c->func;
	uint32_t end = f->rep && f->rep < f->size ? f->rep : f->size;
	uint64_t at = bytes_off(&c->b);

	if (c->i == f->n)
		return 0;
	if (sframe_read_number(&c->b, f->width, &out->pc, err) ||
	    bytes_u8(&c->b, &out->info, err))
		return -1;
	if ((out->info >> 5 & 3) == 3)
		return err_at(err, c->b.path, at,
			      "row has words of size 3, needs 0 to 2");
	if (out->pc < c->next)
		return err_at(err, c->b.path, at,
			      "row at 0x%" PRIx32 " of its function, needs "
			      "0x%" PRIx64 " at least: they grow",
			      out->pc, c->next);
	if (out->pc >= end)
		return err_at(err, c->b.path, at,
			      "row at 0x%" PRIx32 " of its function, which "
			      "ends at 0x%" PRIx32,
			      out->pc, end);
	out->n = out->info >> 1 & 15;
	out->size = (uint8_t)(1 << (out->info >> 5 & 3));
	for (unsigned int i = 0; i < out->n; i++)
		if (sframe_read_number(&c->b, out->size, &out->word[i], err))
			return -1;
	c->next = (uint64_t)out->pc + 1;
	c->i++;
	return 1;
}

static int64_t sframe_signed_word(const struct sframe_row *row, unsigned int i)
{
	if (row->size == 1)
		return (int8_t)row->word[i];
	if (row->size == 2)
		return (int16_t)row->word[i];
	return (int32_t)row->word[i];
}

static int64_t sframe_cfa_offset(const struct sframe *sf,
				 const struct sframe_row *row, unsigned int i)
{
	int64_t off = sframe_signed_word(row, i);

	return sf->head.abi == SFRAME_S390X ? off * S390X_SCALE + S390X_BIAS
					    : off;
}

/* An offset of 0 is padding. In version 2 of s390x an odd one is a register
 * number. */
static struct sframe_place sframe_plain_place(const struct sframe *sf,
					      const struct sframe_row *row,
					      unsigned int i)
{
	int64_t off = sframe_signed_word(row, i);

	if (sf->head.abi == SFRAME_S390X) {
		if (!off)
			return (struct sframe_place){ .kind = SFRAME_PADDED };
		if (sf->head.version == 2 && off & 1)
			return (struct sframe_place){ SFRAME_REG,
						      row->word[i] >> 1, 0 };
	}
	return (struct sframe_place){ SFRAME_MEMORY, SFRAME_CFA, off };
}

/* Checks that the rule used all words of the row, of which it used i. Returns
 * 0, or -1 and *err. */
static int sframe_validate_words(const struct sframe *sf,
				 const struct sframe_row *row, unsigned int i,
				 struct err *err)
{
	if (i >= row->n)
		return 0;
	return err_at(err, sf->row.path, bytes_off(&sf->row),
		      "row at 0x%" PRIx32 " of its function has %u words, "
		      "needs %u at most",
		      row->pc, row->n, i);
}

static int sframe_plain_rule(const struct sframe *sf,
			     const struct sframe_row *row,
			     struct sframe_rule *out, struct err *err)
{
	unsigned int i = 1;

	out->cfa = (struct sframe_place){ SFRAME_VALUE,
					  row->info & 1 ? sf->machine->sp
							: sf->machine->fp,
					  sframe_cfa_offset(sf, row, 0) };
	if (!sf->head.fixed_ra && i < row->n)
		out->ra = sframe_plain_place(sf, row, i++);
	if (!sf->head.fixed_fp && i < row->n)
		out->fp = sframe_plain_place(sf, row, i++);
	return sframe_validate_words(sf, row, i, err);
}

/* Reads a control word and its offset, or a padding word of 0. */
static int sframe_flex_place(const struct sframe *sf,
			     const struct sframe_row *row, unsigned int *i,
			     struct sframe_place *out, struct err *err)
{
	if (*i >= row->n)
		return 0;
	uint32_t control = row->word[(*i)++];
	if (!control) {
		out->kind = SFRAME_PADDED;
		return 0;
	}
	if (*i >= row->n)
		return err_at(err, sf->row.path, bytes_off(&sf->row),
			      "row at 0x%" PRIx32 " of its function has a "
			      "control word without an offset",
			      row->pc);
	out->kind = control & 2 ? SFRAME_MEMORY : SFRAME_VALUE;
	out->reg = control & 1 ? control >> 3 : SFRAME_CFA;
	out->off = sframe_signed_word(row, (*i)++);
	return 0;
}

static int sframe_flex_rule(const struct sframe *sf,
			    const struct sframe_row *row,
			    struct sframe_rule *out, struct err *err)
{
	unsigned int i = 0;

	if (sframe_flex_place(sf, row, &i, &out->cfa, err))
		return -1;
	if (out->cfa.kind < SFRAME_VALUE || out->cfa.reg == SFRAME_CFA)
		return err_at(err, sf->row.path, bytes_off(&sf->row),
			      "row at 0x%" PRIx32 " of its function has a CFA "
			      "without a register",
			      row->pc);
	out->cfa.off = sframe_cfa_offset(sf, row, i - 1);
	if (sframe_flex_place(sf, row, &i, &out->ra, err) ||
	    sframe_flex_place(sf, row, &i, &out->fp, err))
		return -1;
	return sframe_validate_words(sf, row, i, err);
}

int sframe_rule(const struct sframe *sf, const struct sframe_func *f,
		const struct sframe_row *row, struct sframe_rule *out,
		struct err *err)
{
	const struct sframe_head *h = &sf->head;
	int ret;

	memset(out, 0, sizeof(*out));
	if (!row->n) {
		out->outermost = true;
		return 0;
	}
	out->is_signed = row->info & 128;
	ret = f->flex ? sframe_flex_rule(sf, row, out, err)
		      : sframe_plain_rule(sf, row, out, err);
	if (h->fixed_ra && out->ra.kind == SFRAME_NONE)
		out->ra = (struct sframe_place){ SFRAME_FIXED, SFRAME_CFA,
						 h->fixed_ra };
	if (h->fixed_fp && out->fp.kind == SFRAME_NONE)
		out->fp = (struct sframe_place){ SFRAME_FIXED, SFRAME_CFA,
						 h->fixed_fp };
	return ret;
}
