/* sframe_code.c - checks an SFrame section against the code it describes. */
#include "symbolize/sframe/sframe_judge.h"

#include <gelf.h>
#include <inttypes.h>

#include "stitch/base/mem.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/elf/elf.h"
#include "stitch/base/search.h"

/* A longer function is data. */
#define FUNC_MAX (64u << 20)

/* An instruction and its rule. */
struct sframe_code_step {
	struct insn in;
	enum disasm_sp sp;
	int64_t by;
	struct unwind_rule rule; /* ROW_GAP: none */
	bool filler;		 /* alignment padding that is not executed */
};

struct sframe_code_check {
	struct judge *j;
	struct disasm *d;
	unsigned char *buf;
	size_t cap_buf;
	uint64_t *entry; /* functions that are called; sorted later */
	size_t n, cap;
};

static bool sframe_code_is_call_rule(const struct judge *j,
				     const struct unwind_rule *r)
{
	return r->kind == ROW_SP && r->cfa == j->sf->machine->call_cfa &&
	       (!j->sf->machine->link || r->ra.kind == PLACE_SAME);
}

static bool sframe_code_is_plt(const struct judge *j, uint64_t addr)
{
	return !strncmp(judge_section_name(j, addr), ".plt", 4);
}

/* SP + cfa must be the same address before and after. */
static void sframe_code_check_move(struct sframe_code_check *l,
				   const struct sframe_code_step *a,
				   const struct sframe_code_step *b)
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

static void sframe_code_check_return(struct sframe_code_check *l,
				     const struct sframe_code_step *s)
{
	struct judge *j = l->j;
	struct rule_text t;

	if (s->rule.kind == ROW_OUTERMOST || s->rule.kind == ROW_COMPLEX)
		return;
	j->r->asked[SFRAME_T_RETURN]++;
	if (!sframe_code_is_call_rule(j, &s->rule))
		judge_found(j, SFRAME_T_RETURN, s->in.addr,
			    s->in.addr + s->in.len, 1, "'%s' with the rule %s",
			    s->in.mnemonic, judge_rule(j, &s->rule, &t));
}

/* A call overwrites the link register. On x86 it pushes below SP, so SP must
 * not be above the return address. */
static void sframe_code_check_call(struct sframe_code_check *l,
				   const struct sframe_code_step *s)
{
	struct judge *j = l->j;
	bool link = j->sf->machine->link;
	struct rule_text t;

	if (s->in.has_target)
		*mem_add(l->entry, l->n, l->cap) = s->in.target;
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

/* Reads a function into l->buf. Returns its length, 0 if it is not in the file.
 */
static size_t sframe_code_read(struct sframe_code_check *l, uint64_t start,
			       uint64_t end)
{
	if (end - start > FUNC_MAX)
		return 0;
	mem_grow(l->buf, l->cap_buf, (size_t)(end - start));
	return elf_read_code(l->j->ef, start, l->buf, (size_t)(end - start));
}

static bool sframe_code_next_step(struct sframe_code_check *l,
				  const unsigned char **code, size_t *len,
				  uint64_t *addr, struct sframe_code_step *s)
{
	if (!disasm_next(l->d, code, len, addr, &s->in))
		return false;
	s->sp = SP_SET;
	if (s->in.flow != FLOW_BAD)
		s->sp = disasm_sp(l->d, &s->by);
	const struct unwind_row *row = unwind_rows_find(l->j->rows, s->in.addr);
	s->rule = (struct unwind_rule){ .kind = ROW_GAP };
	if (row)
		unwind_rows_rule(l->j->rows, row, &s->rule);
	return true;
}

/* Checks all instructions of a function. */
static void sframe_code_check_function(struct sframe_code_check *l,
				       const struct judge_function *f)
{
	uint64_t addr = f->start;
	uint64_t inside[16]; /* instructions inside of which a row starts */
	size_t n_inside = 0;
	uint64_t rows = 0;
	bool bad = false;
	struct sframe_code_step last = { .rule.kind = ROW_GAP };
	const struct unwind_row *row = NULL;
	struct sframe_code_step s;

	size_t len = sframe_code_read(l, f->start, f->limit);
	const unsigned char *code = l->buf;
	while (sframe_code_next_step(l, &code, &len, &addr, &s)) {
		const struct unwind_row *now =
			unwind_rows_find(l->j->rows, s.in.addr);

		bad |= s.in.flow == FLOW_BAD;
		rows += now != row;
		row = now;
		now = unwind_rows_find(l->j->rows, s.in.addr + s.in.len - 1);
		if (now != row && n_inside < 16)
			inside[n_inside++] = s.in.addr;
		s.filler = (last.filler || last.in.flow != FLOW_NONE) &&
			   (s.in.flow == FLOW_BAD ||
			    strstr(s.in.mnemonic, "nop") ||
			    !strcmp(s.in.mnemonic, "int3") ||
			    !strcmp(s.in.mnemonic, "ud2"));
		struct judge *j = l->j;

		/* PLT entries have another stack layout. */
		if (s.rule.kind != ROW_GAP &&
		    !sframe_code_is_plt(j, s.in.addr) && !f->signal) {
			if (last.rule.kind != ROW_GAP &&
			    last.in.addr + last.in.len == s.in.addr)
				sframe_code_check_move(l, &last, &s);
			if (s.in.flow == FLOW_CALL)
				sframe_code_check_call(l, &s);
			else if (s.in.flow == FLOW_RETURN)
				sframe_code_check_return(l, &s);
		}
		last = s;
	}
	/* If some bytes could not be disassembled, others may be wrong too. */
	if (f->repeats || bad)
		return;
	l->j->r->asked[SFRAME_T_BOUNDARY] += rows;
	for (size_t i = 0; i < n_inside; i++)
		judge_found(l->j, SFRAME_T_BOUNDARY, inside[i], inside[i] + 1,
			    1, "a row begins inside an instruction");
}

/* ---- function entries */

/* Of the stubs only those in .plt.got and .plt.sec are called. Entries of .plt
 * are jumped to from there, with more on the stack. */
static bool sframe_code_is_entry(const struct sframe_code_check *l,
				 uint64_t addr)
{
	const char *section = judge_section_name(l->j, addr);

	return !strcmp(section, ".plt.got") || !strcmp(section, ".plt.sec") ||
	       (l->n && !sframe_code_is_plt(l->j, addr) &&
		bsearch(&addr, l->entry, l->n, sizeof(addr), compare_u64));
}

/* Checks from the first instruction to the one that changes SP or branches. */
static void sframe_code_check_entry(struct sframe_code_check *l,
				    const struct judge_function *f)
{
	uint64_t addr = f->start;
	struct judge *j = l->j;
	struct rule_text t;
	struct sframe_code_step s;
	bool first = true;

	size_t len = sframe_code_read(l, f->start, f->limit);
	const unsigned char *code = l->buf;
	if (len)
		j->r->asked[SFRAME_T_ENTRY]++;
	for (; sframe_code_next_step(l, &code, &len, &addr, &s);
	     first = false) {
		/* s390x saves registers before it changes SP; x86 keeps the CFA
		 * in r10 where it realigns the stack. */
		if (s.rule.kind == ROW_OUTERMOST ||
		    s.rule.kind == ROW_COMPLEX ||
		    (!first && s.rule.kind != ROW_SP))
			return;
		if (first ? !sframe_code_is_call_rule(j, &s.rule)
			  : s.rule.cfa != j->sf->machine->call_cfa) {
			judge_found(j, SFRAME_T_ENTRY, s.in.addr,
				    s.in.addr + s.in.len, 1,
				    "'%s %.40s' at a function entry%s%s, "
				    "with the rule %s",
				    s.in.mnemonic, s.in.operands,
				    sframe_code_is_plt(j, s.in.addr) ? " in "
								     : "",
				    sframe_code_is_plt(j, s.in.addr)
					    ? judge_section_name(j, s.in.addr)
					    : "",
				    judge_rule(j, &s.rule, &t));
			return;
		}
		if (s.sp != SP_KEPT || s.in.flow != FLOW_NONE)
			return;
	}
}

int sframe_code_check(struct judge *j, struct err *err)
{
	struct sframe_code_check l = { .j = j };

	if (j->ef->no_code) {
		j->r->no_code = true;
		return 0;
	}
	l.d = disasm_open(j->ef->machine, j->sf->machine->big, true, err);
	if (!l.d)
		return -1;
	for (size_t i = 0; i < j->n; i++)
		sframe_code_check_function(&l, &j->func[i]);
	/* Adds exported functions, which other files may call. */
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	if (elf_symbols_find(l.j->ef, SHT_DYNSYM, &it))
		while (elf_symbols_next(&it, &sym, &name))
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
			    sym.st_shndx != SHN_UNDEF)
				*mem_add(l.entry, l.n, l.cap) = sym.st_value;
	sort_items(l.entry, l.n, compare_u64);
	for (size_t i = 0; i < j->n; i++)
		if (!j->func[i].signal &&
		    sframe_code_is_entry(&l, j->func[i].start))
			sframe_code_check_entry(&l, &j->func[i]);
	disasm_close(l.d);
	free_all(l.buf, l.entry);
	return 0;
}
