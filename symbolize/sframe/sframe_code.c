/* sframe_code.c - is an SFrame section right? By the code it is about. */
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe_judge.h"

/* What is so long is data. */
#define FUNC_MAX (64u << 20)

/* The rule at a function's first instruction, and at its last. */
static const struct {
	int64_t cfa;
	bool link; /* the return address is in a register */
} calls[] = {
	[SFRAME_AARCH64_BE] = { 0, true },
	[SFRAME_AARCH64_LE] = { 0, true },
	[SFRAME_AMD64] = { 8, false },
	[SFRAME_S390X] = { 160, true },
};

/* An instruction and what the table says of it. */
struct step {
	struct insn in;
	enum disasm_sp sp;
	int64_t by;
	struct row_rule rule; /* ROW_GAP: nothing is known */
	bool filler; /* nothing comes here from above: no-ops that align what
		      * is jumped to below */
};

struct looking {
	struct judge *j;
	struct disasm *d;
	unsigned char *buf;
	size_t cap_buf;
	uint64_t *entry; /* of functions that are called; sorted later */
	size_t n, cap;
};

static void rule_at(const struct judge *j, uint64_t addr, struct row_rule *out)
{
	const struct row *row = unwind_rows_find(j->rows, addr);

	if (row)
		unwind_rows_rule(j->rows, row, out);
	else
		*out = (struct row_rule){ .kind = ROW_GAP };
}

static bool is_call_rule(const struct judge *j, const struct row_rule *r)
{
	return r->kind == ROW_SP && r->cfa == calls[j->sf->head.abi].cfa &&
	       (!calls[j->sf->head.abi].link || r->ra.kind == PLACE_SAME);
}

/* Of PLTs only .plt.got and .plt.sec are called; the entries of .plt are
 * jumped to from within them, with more on the stack. */
static bool is_plt(const struct judge *j, uint64_t addr)
{
	return !strncmp(judge_part(j, addr), ".plt", 4);
}

static bool is_called_plt(const struct judge *j, uint64_t addr)
{
	const char *name = judge_part(j, addr);

	return !strcmp(name, ".plt.got") || !strcmp(name, ".plt.sec");
}

static bool is_filler(const struct step *last, const struct step *s)
{
	return (last->filler || last->in.flow != FLOW_NONE) &&
	       (s->in.flow == FLOW_BAD || strstr(s->in.mnemonic, "nop") ||
		!strcmp(s->in.mnemonic, "int3") ||
		!strcmp(s->in.mnemonic, "ud2"));
}

/* SP + cfa is the same place before and after. */
static void look_at_move(struct looking *l, const struct step *a,
			 const struct step *b)
{
	struct judge *j = l->j;
	struct rule_text ta;
	struct rule_text tb;

	if (a->in.flow != FLOW_NONE || a->filler || a->sp == SP_SET ||
	    a->rule.kind != ROW_SP || b->rule.kind != ROW_SP)
		return;
	j->r->asked[SFRAME_T_SP_MOVES]++;
	if (b->rule.cfa == a->rule.cfa - a->by)
		return;
	judge_found(j, SFRAME_T_SP_MOVES, a->in.addr, b->in.addr, 1,
		    "'%s %.40s' moves SP by %" PRId64
		    ", the rules before and after are %s; %s",
		    a->in.mnemonic, a->in.operands, a->by,
		    judge_rule(j, &a->rule, &ta), judge_rule(j, &b->rule, &tb));
}

static void look_at_return(struct looking *l, const struct step *s)
{
	struct judge *j = l->j;
	struct rule_text t;

	if (s->rule.kind == ROW_OUTERMOST || s->rule.kind == ROW_COMPLEX)
		return;
	j->r->asked[SFRAME_T_RETURN]++;
	if (!is_call_rule(j, &s->rule))
		judge_found(j, SFRAME_T_RETURN, s->in.addr,
			    s->in.addr + s->in.len, 1, "'%s' with the rule %s",
			    s->in.mnemonic, judge_rule(j, &s->rule, &t));
}

/* A call overwrites the link register; on x86 it pushes below SP, and there
 * must be something of the caller's above. */
static void look_at_call(struct looking *l, const struct step *s)
{
	struct judge *j = l->j;
	bool link = calls[j->sf->head.abi].link;
	struct rule_text t;

	if (s->in.has_target) {
		l->entry = mem_grow(l->entry, &l->cap, l->n + 1,
				    sizeof(*l->entry));
		l->entry[l->n++] = s->in.target;
	}
	if (s->rule.kind < ROW_SP || s->rule.kind > ROW_DRAP)
		return;
	j->r->asked[SFRAME_T_CALL_SITE]++;
	if (link ? s->rule.ra.kind == PLACE_SAME
		 : s->rule.kind == ROW_SP && s->rule.cfa < 8)
		judge_found(j, SFRAME_T_CALL_SITE, s->in.addr,
			    s->in.addr + s->in.len, 1,
			    "'%s %.40s' with the rule %s", s->in.mnemonic,
			    s->in.operands, judge_rule(j, &s->rule, &t));
}

static void look_at(struct looking *l, const struct judged *f,
		    const struct step *last, const struct step *s)
{
	struct judge *j = l->j;

	/* Calls of PLT entries are no calls of ours. */
	if (s->rule.kind == ROW_GAP || is_plt(j, s->in.addr) || f->signal)
		return;
	if (last->rule.kind != ROW_GAP &&
	    last->in.addr + last->in.len == s->in.addr)
		look_at_move(l, last, s);
	if (s->in.flow == FLOW_CALL)
		look_at_call(l, s);
	else if (s->in.flow == FLOW_RETURN)
		look_at_return(l, s);
}

/* Bytes of a function; 0: they are not in the file. */
static size_t read_code(struct looking *l, uint64_t start, uint64_t end)
{
	const struct elf_file *ef = l->j->ef;

	if (end - start > FUNC_MAX)
		return 0;
	for (size_t i = 0; i < ef->n_seg; i++) {
		const struct segment *s = &ef->seg[i];

		if (start < s->vaddr || end - s->vaddr > s->filesz)
			continue;
		l->buf =
			mem_grow(l->buf, &l->cap_buf, (size_t)(end - start), 1);
		return code_bytes(ef, start - s->vaddr + s->off, l->buf,
				  (size_t)(end - start));
	}
	return 0;
}

static bool next_step(struct looking *l, const unsigned char **code,
		      size_t *len, uint64_t *addr, struct step *s)
{
	if (!disasm_next(l->d, code, len, addr, &s->in))
		return false;
	s->sp = SP_SET;
	if (s->in.flow != FLOW_BAD)
		s->sp = disasm_sp(l->d, &s->by);
	rule_at(l->j, s->in.addr, &s->rule);
	return true;
}

/* Rows that begin inside of an instruction; not asked where some bytes are
 * none, as then the others may be read wrong, too. */
static void look_at_rows(struct looking *l, const uint64_t *inside, size_t n,
			 uint64_t rows, bool bad)
{
	if (bad)
		return;
	l->j->r->asked[SFRAME_T_BOUNDARY] += rows;
	for (size_t i = 0; i < n; i++)
		judge_found(l->j, SFRAME_T_BOUNDARY, inside[i], inside[i] + 1,
			    1, "a row begins inside of an instruction");
}

/* Its instructions from first to last. */
static void look_through(struct looking *l, const struct judged *f)
{
	const unsigned char *code;
	uint64_t addr = f->start;
	uint64_t inside[16];
	size_t n_inside = 0;
	uint64_t rows = 0;
	bool bad = false;
	struct step last = { .rule.kind = ROW_GAP };
	const struct row *row = NULL;
	struct step s;

	size_t len = read_code(l, f->start, f->limit);
	code = l->buf;
	while (next_step(l, &code, &len, &addr, &s)) {
		const struct row *now = unwind_rows_find(l->j->rows, s.in.addr);

		bad |= s.in.flow == FLOW_BAD;
		rows += now != row;
		row = now;
		now = unwind_rows_find(l->j->rows, s.in.addr + s.in.len - 1);
		if (now != row && n_inside < 16)
			inside[n_inside++] = s.in.addr;
		s.filler = is_filler(&last, &s);
		look_at(l, f, &last, &s);
		last = s;
	}
	if (!f->repeats)
		look_at_rows(l, inside, n_inside, rows, bad);
}

/* ---- function beginnings */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Symbols that are functions: exported ones are called from elsewhere. */
static void add_exported(struct looking *l)
{
	const struct elf_file *ef = l->j->ef;
	size_t n = elf_sections(ef);
	struct elf_section s;
	GElf_Sym sym;

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(ef, i, &s) || s.type != SHT_DYNSYM ||
		    !s.entsize)
			continue;
		Elf_Data *d = elf_section_data(&s);
		size_t len = d ? d->d_size / s.entsize : 0;

		for (size_t k = 0; k < len && k < INT32_MAX; k++) {
			if (!gelf_getsym(d, (int)k, &sym) ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
			    sym.st_shndx == SHN_UNDEF)
				continue;
			l->entry = mem_grow(l->entry, &l->cap, l->n + 1,
					    sizeof(*l->entry));
			l->entry[l->n++] = sym.st_value;
		}
	}
}

static bool is_entry(const struct looking *l, uint64_t addr)
{
	return is_called_plt(l->j, addr) ||
	       (l->n && !is_plt(l->j, addr) &&
		bsearch(&addr, l->entry, l->n, sizeof(addr), by_value));
}

/* From the first instruction to the one that moves SP, or leaves. */
static void look_at_entry(struct looking *l, const struct judged *f)
{
	const unsigned char *code;
	uint64_t addr = f->start;
	struct judge *j = l->j;
	struct rule_text t;
	struct step s;
	bool first = true;

	size_t len = read_code(l, f->start, f->limit);
	code = l->buf;
	if (len)
		j->r->asked[SFRAME_T_ENTRY]++;
	for (; next_step(l, &code, &len, &addr, &s); first = false) {
		/* s390x saves registers before it moves SP; x86 keeps the CFA
		 * in r10 where it realigns the stack. */
		if (s.rule.kind == ROW_OUTERMOST ||
		    s.rule.kind == ROW_COMPLEX ||
		    (!first && s.rule.kind != ROW_SP))
			return;
		if (first ? !is_call_rule(j, &s.rule)
			  : s.rule.cfa != calls[j->sf->head.abi].cfa) {
			judge_found(j, SFRAME_T_ENTRY, s.in.addr,
				    s.in.addr + s.in.len, 1,
				    "'%s %.40s' where a function begins%s%s, "
				    "with the rule %s",
				    s.in.mnemonic, s.in.operands,
				    is_plt(j, s.in.addr) ? " in " : "",
				    is_plt(j, s.in.addr)
					    ? judge_part(j, s.in.addr)
					    : "",
				    judge_rule(j, &s.rule, &t));
			return;
		}
		if (s.sp != SP_KEPT || s.in.flow != FLOW_NONE)
			return;
	}
}

int judge_code(struct judge *j, struct err *err)
{
	bool big = j->sf->head.abi == SFRAME_AARCH64_BE ||
		   j->sf->head.abi == SFRAME_S390X;
	struct looking l = { .j = j };

	if (j->ef->no_code) {
		j->r->no_code = true;
		return 0;
	}
	l.d = disasm_open(j->ef->machine, big, true, err);
	if (!l.d)
		return -1;
	for (size_t i = 0; i < j->n; i++)
		look_through(&l, &j->func[i]);
	add_exported(&l);
	if (l.n)
		qsort(l.entry, l.n, sizeof(*l.entry), by_value);
	for (size_t i = 0; i < j->n; i++)
		if (!j->func[i].signal && is_entry(&l, j->func[i].start))
			look_at_entry(&l, &j->func[i]);
	disasm_close(l.d);
	free(l.buf);
	free(l.entry);
	return 0;
}
