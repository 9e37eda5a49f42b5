/* sframe_file.c - finds the SFrame section of an ELF file. */
#include "symbolize/sframe/sframe_file.h"

#include <gelf.h>

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
	/* Check it before relocation, to avoid the copy if it is invalid. */
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
	uint64_t bytes, limit; /* bytes of rows read, and their limit */
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
	/* Where the ABI fixes the place of RA, padding means that place. */
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
	/* Matches an x86 PLT entry: 16 bytes, in which one word is pushed. */
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
