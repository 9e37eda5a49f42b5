/* sframe_check.c - checks an SFrame section: its own consistency, and against
 * .eh_frame and the code. */
#include "symbolize/sframe/sframe_check.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/elf/elf.h"

/* A test whose findings are errors, or remarks. */
#define SFRAME_ERROR(id, name, unit, summary)                                  \
	[SFRAME_T_##id] = { name, summary, unit, false }
#define SFRAME_NOTE(id, name, unit, summary)                                   \
	[SFRAME_T_##id] = { name, summary, unit, true }

/* clang-format off */
const struct sframe_test_info sframe_tests[SFRAME_TESTS] = {
	SFRAME_ERROR(READABLE, "readable", "functions",
		"functions and their rows can be read"),
	SFRAME_ERROR(SORTED, "sorted", "functions",
		"functions are sorted as the header says"),
	SFRAME_ERROR(OVERLAP, "overlap", "functions",
		"no two functions overlap"),
	SFRAME_ERROR(IN_CODE, "in-code", "functions",
		"functions are in executable segments"),
	SFRAME_ERROR(ROW_COUNT, "row-count", "rows",
		"the number of rows is that in the header"),
	SFRAME_ERROR(FIRST_ROW, "first-row", "functions",
		"the first row is at the start of its function"),
	SFRAME_ERROR(FIXED_RA, "fixed-ra", "headers",
		"the return address is at the place the ABI defines"),
	SFRAME_ERROR(ENTRY, "entry", "functions",
		"the rule at a function entry, before SP changes, is that "
		"after a call"),
	SFRAME_ERROR(SP_MOVES, "sp-moves", "instructions",
		"the CFA stays the same when code changes SP"),
	SFRAME_ERROR(RETURN, "return", "returns",
		"the rule at a return is that after a call"),
	SFRAME_ERROR(CALL_SITE, "call-site", "calls",
		"the return address is saved before a call"),
	SFRAME_NOTE(BOUNDARY, "boundary", "rows",
		"rows begin at instruction boundaries"),
	SFRAME_ERROR(EH_FRAME, "eh-frame", "bytes",
		"rules are the same as in .eh_frame"),
	SFRAME_ERROR(PLT_GOT, "plt-got", "bytes",
		"rules of .plt.got are the same as in .eh_frame (GNU ld "
		"writes sp+16 for sp+8)"),
	SFRAME_NOTE(OUTERMOST, "outermost", "bytes",
		"code without a caller in .eh_frame has none here (version 2"
		" often cannot express it)"),
	SFRAME_NOTE(SIGNAL, "signal", "bytes",
		"signal frames of .eh_frame are marked here (possible from "
		"version 3 on)"),
	SFRAME_NOTE(MISSING, "missing", "bytes",
		"everything that .eh_frame covers is covered"),
	SFRAME_NOTE(EXTRA, "extra", "bytes",
		"nothing is covered that .eh_frame does not cover"),
	SFRAME_NOTE(COMPLEX, "complex", "bytes",
		"both rules fit in a row, so they can be compared"),
};
/* clang-format on */

void sframe_report_release(struct sframe_report *r)
{
	free(r->finding);
	r->finding = NULL;
	r->n = r->cap = 0;
}

/* Adds n to the count of a test, and stores a finding unless the limit is
 * reached. */
static __attribute__((format(printf, 6, 7))) void
judge_found(struct judge *j, enum sframe_test test, uint64_t start,
	    uint64_t end, uint64_t n, const char *fmt, ...)
{
	struct sframe_report *r = j->r;
	va_list ap;

	r->found[test] += n;
	if (r->kept[test] >= r->limit)
		return;
	r->kept[test]++;
	struct sframe_finding *f = mem_add(r->finding, r->n, r->cap);
	f->test = test;
	f->start = start;
	f->end = end;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

/* Returns the name of the section that contains an address, or "". */
static const char *judge_section_name(const struct judge *j, uint64_t addr)
{
	size_t lo = search_where(j->n_part, i, j->part[i].start > addr);

	return lo && addr < j->part[lo - 1].end ? j->part[lo - 1].name : "";
}

static const char *judge_place_text(const struct judge *j,
				    const struct place_rule *p,
				    struct rule_text *t)
{
	static const char *const from[] = {
		[PLACE_CFA] = "c%+" PRId32,
		[PLACE_FP] = "(fp%+" PRId32 ")",
		[PLACE_SP] = "(sp%+" PRId32 ")",
	};

	if (p->kind == PLACE_SAME)
		return "u";
	if (p->kind == PLACE_UNDEFINED)
		return "undefined";
	if (p->kind == PLACE_REG) {
		uint32_t reg = (uint32_t)p->off;
		if (reg == j->sf->machine->sp)
			return "sp";
		if (reg == j->sf->machine->fp)
			return "fp";
		snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
		return t->s;
	}
	snprintf(t->s, sizeof(t->s), from[p->kind], p->off);
	return t->s;
}

static const char *judge_rule(const struct judge *j,
			      const struct unwind_rule *rule,
			      struct rule_text *t)
{
	static const char *const cfa[] = {
		[ROW_SP] = "sp%+" PRId64,
		[ROW_FP] = "fp%+" PRId64,
		[ROW_SP_DEREF] = "(sp%+" PRId64 ")",
		[ROW_FP_DEREF] = "(fp%+" PRId64 ")",
		[ROW_DRAP] = "r10%+" PRId64,
		[ROW_PLT] = "PLT, pushed at byte %" PRId64,
	};
	struct rule_text fp;
	struct rule_text ra;
	char base[40];

	switch (rule->kind) {
	case ROW_GAP:
		return "nothing";
	case ROW_OUTERMOST:
		return "outermost";
	case ROW_SIGNAL:
		return "signal frame";
	case ROW_COMPLEX:
		return "complex";
	default:
		break;
	}
	snprintf(base, sizeof(base), cfa[rule->kind], rule->cfa);
	snprintf(t->s, sizeof(t->s), "CFA %s FP %.16s RA %.16s%s", base,
		 judge_place_text(j, &rule->fp, &fp),
		 judge_place_text(j, &rule->ra, &ra),
		 rule->flags & ROW_SIGNED	 ? " signed"
		 : rule->flags & ROW_INTERRUPTED ? " interrupted"
						 : "");
	return t->s;
}

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

/* Checks two instructions in sequence: SP + cfa must be the same address before
 * and after. */
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

/* Checks a call, which overwrites the link register. On x86 it pushes below SP,
 * so SP must not be above the return address. */
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
	uint64_t inside[16]; /* instructions inside which a row starts */
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

/* Returns whether the address is a function entry. Of the stubs only those in
 * .plt.got and .plt.sec are called. Entries of .plt are jumped to from there,
 * with more on the stack. */
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

/* Runs the tests that disassemble the functions. Returns 0, or -1 and *err if
 * the machine cannot be disassembled. */
static int sframe_code_check(struct judge *j, struct err *err)
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

/* ---- against .eh_frame, address by address */

/* Longer intervals are not compared byte by byte. */
#define ONE_BY_ONE_MAX (1u << 20)

/* Position in a table, by increasing address. */
struct sframe_eh_cursor {
	const struct unwind_rows *t;
	size_t i;
	struct unwind_rule rule; /* rule at the current address */
};

static uint64_t sframe_eh_next_address(const struct sframe_eh_cursor *c)
{
	uint64_t addr;

	if (c->i == unwind_rows_count(c->t))
		return UINT64_MAX;
	unwind_rows_at(c->t, c->i, &addr);
	return addr;
}

static void sframe_eh_step_to(struct sframe_eh_cursor *c, uint64_t addr)
{
	while (c->i < unwind_rows_count(c->t) &&
	       sframe_eh_next_address(c) <= addr) {
		uint64_t unused;

		unwind_rows_rule(c->t, unwind_rows_at(c->t, c->i, &unused),
				 &c->rule);
		c->i++;
	}
}

/* Resolves ROW_PLT to the rule at one address. */
static struct unwind_rule sframe_eh_rule_at(const struct unwind_rule *r,
					    uint64_t addr)
{
	struct unwind_rule p = *r;

	if (r->kind == ROW_PLT) {
		p.kind = ROW_SP;
		p.cfa = (int64_t)(addr & 15) >= r->cfa ? 16 : 8;
	}
	return p;
}

static bool sframe_eh_same_place(const struct place_rule *a,
				 const struct place_rule *b)
{
	return a->kind == b->kind && a->off == b->off;
}

static bool sframe_eh_same_rule(const struct unwind_rule *a,
				const struct unwind_rule *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind < ROW_SP || a->kind > ROW_PLT)
		return true;
	return a->cfa == b->cfa && a->flags == b->flags &&
	       sframe_eh_same_place(&a->fp, &b->fp) &&
	       sframe_eh_same_place(&a->ra, &b->ra);
}

static enum sframe_test sframe_eh_test_of(const struct judge *j, uint64_t addr,
					  const struct unwind_rule *a,
					  const struct unwind_rule *b)
{
	if (b->kind == ROW_OUTERMOST)
		return SFRAME_T_OUTERMOST;
	/* Only version 3 can mark signal frames. */
	if (j->sf->head.version < 3 && !(a->flags & ROW_INTERRUPTED) &&
	    (b->kind == ROW_SIGNAL || b->flags & ROW_INTERRUPTED))
		return SFRAME_T_SIGNAL;
	if (!strcmp(judge_section_name(j, addr), ".plt.got"))
		return SFRAME_T_PLT_GOT;
	return SFRAME_T_EH_FRAME;
}

static void sframe_eh_report(struct judge *j, uint64_t start, uint64_t end,
			     const struct unwind_rule *a,
			     const struct unwind_rule *b)
{
	struct rule_text ta;
	struct rule_text tb;

	judge_found(j, sframe_eh_test_of(j, start, a, b), start, end,
		    end - start, "%s, .eh_frame has %s", judge_rule(j, a, &ta),
		    judge_rule(j, b, &tb));
}

static void sframe_eh_compare(struct judge *j, uint64_t start, uint64_t end,
			      const struct unwind_rule *a,
			      const struct unwind_rule *b)
{
	uint64_t len = end - start;
	uint64_t *asked = j->r->asked; /* how many bytes each test looked at */
	struct rule_text t;

	if (b->kind != ROW_GAP)
		asked[SFRAME_T_MISSING] += len;
	if (a->kind != ROW_GAP)
		asked[SFRAME_T_EXTRA] += len;
	if (a->kind != ROW_GAP && b->kind != ROW_GAP) {
		asked[SFRAME_T_COMPLEX] += len;
		asked[sframe_eh_test_of(j, start, a, b)] += len;
	}
	if (a->kind == ROW_GAP && b->kind == ROW_GAP)
		return;
	if (a->kind == ROW_GAP)
		judge_found(j, SFRAME_T_MISSING, start, end, len,
			    "not covered, .eh_frame has %s",
			    judge_rule(j, b, &t));
	else if (b->kind == ROW_GAP)
		judge_found(j, SFRAME_T_EXTRA, start, end, len,
			    "%s, not covered by .eh_frame",
			    judge_rule(j, a, &t));
	else if (a->kind == ROW_COMPLEX || b->kind == ROW_COMPLEX)
		judge_found(j, SFRAME_T_COMPLEX, start, end, len,
			    "not in rows: %s",
			    a->kind != ROW_COMPLEX   ? ".eh_frame"
			    : b->kind != ROW_COMPLEX ? "this"
						     : "both");
	else if (a->kind != b->kind &&
		 (a->kind == ROW_PLT || b->kind == ROW_PLT) &&
		 len <= ONE_BY_ONE_MAX) {
		/* the other table has a row for each part of ROW_PLT */
		for (uint64_t addr = start; addr < end; addr++) {
			struct unwind_rule x = sframe_eh_rule_at(a, addr);
			struct unwind_rule y = sframe_eh_rule_at(b, addr);

			if (!sframe_eh_same_rule(&x, &y))
				sframe_eh_report(j, addr, addr + 1, &x, &y);
		}
	} else if (!sframe_eh_same_rule(a, b))
		sframe_eh_report(j, start, end, a, b);
}

/* Runs the tests that compare with .eh_frame; sets no_eh_frame in the report if
 * the file has none. */
static void sframe_eh_check(struct judge *j)
{
	struct cfi *cfi = cfi_open(j->ef, ".eh_frame");

	if (!cfi) {
		j->r->no_eh_frame = true;
		return;
	}
	j->eh = cfi_rows(cfi, 0, 1);
	cfi_close(cfi);

	struct sframe_eh_cursor a = { .t = j->rows };
	struct sframe_eh_cursor b = { .t = j->eh };
	uint64_t at = sframe_eh_next_address(&a);

	lower_to(at, sframe_eh_next_address(&b));
	while (at != UINT64_MAX) {
		sframe_eh_step_to(&a, at);
		sframe_eh_step_to(&b, at);
		uint64_t end = sframe_eh_next_address(&a);

		lower_to(end, sframe_eh_next_address(&b));
		if (end != UINT64_MAX)
			sframe_eh_compare(j, at, end, &a.rule, &b.rule);
		at = end;
	}
}

/* ---- consistency of the section */

/* State while the functions are read in file order. */
struct sframe_reading {
	struct judge *j;
	uint64_t last; /* start of the previous function */
	uint64_t rows;
	uint64_t first; /* address of its first row; UINT64_MAX: none yet */
};

static bool sframe_check_in_code(const struct judge *j,
				 const struct sframe_func *f)
{
	for (size_t i = 0; i < j->ef->n_seg; i++) {
		const struct segment *s = &j->ef->seg[i];

		if (f->start >= s->vaddr && f->start - s->vaddr <= s->filesz &&
		    f->size <= s->filesz - (f->start - s->vaddr))
			return true;
	}
	return false;
}

static void sframe_check_func(void *arg, uint32_t i,
			      const struct sframe_func *f)
{
	struct sframe_reading *r = arg;
	struct judge *j = r->j;

	if (j->sf->head.flags & SFRAME_SORTED) {
		j->r->asked[SFRAME_T_SORTED]++;
		if (f->start < r->last)
			judge_found(j, SFRAME_T_SORTED, f->start,
				    f->start + f->size, 1,
				    "function %" PRIu32 " is below the one "
				    "before it, at 0x%" PRIx64,
				    i, r->last);
	}
	r->last = f->start;
	r->first = UINT64_MAX;
	j->r->asked[SFRAME_T_IN_CODE]++;
	if (!sframe_check_in_code(j, f))
		judge_found(j, SFRAME_T_IN_CODE, f->start, f->start + f->size,
			    1,
			    "function %" PRIu32 ", %" PRIu32
			    " bytes, is not in an executable segment",
			    i, f->size);
}

static void sframe_check_row(void *arg, const struct sframe_func *f UNUSED,
			     const struct sframe_row *row,
			     const struct sframe_rule *rule UNUSED)
{
	struct sframe_reading *r = arg;

	r->rows++;
	if (r->first == UINT64_MAX)
		r->first = row->pc;
}

static void sframe_check_end(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct sframe_reading *r = arg;
	struct judge *j = r->j;

	if (f->n) {
		j->r->asked[SFRAME_T_FIRST_ROW]++;
		if (r->first)
			judge_found(j, SFRAME_T_FIRST_ROW, f->start,
				    f->start + f->size, 1,
				    "the first row of function %" PRIu32
				    " is at byte %" PRIu64,
				    i, r->first);
	}
	if (!f->size || !sframe_check_in_code(j, f))
		return;
	*mem_add(j->func, j->n, j->cap) =
		(struct judge_function){ .start = f->start,
					 .end = f->start + f->size,
					 .index = i,
					 .signal = f->signal,
					 .repeats = f->rep != 0 };
}

static void sframe_check_bad(void *arg, uint32_t i UNUSED,
			     const struct err *err)
{
	struct sframe_reading *r = arg;

	judge_found(r->j, SFRAME_T_READABLE, 0, 0, 1, "%s", err->msg);
}

COMPARE_BY(sframe_check_compare_start, struct judge_function, start, index);

static void sframe_check_section(struct judge *j)
{
	static const struct sframe_visitor v = { sframe_check_func,
						 sframe_check_row,
						 sframe_check_end,
						 sframe_check_bad };
	const struct sframe_head *h = &j->sf->head;
	struct sframe_reading r = { .j = j };
	int want = h->abi == SFRAME_AMD64 ? -8 : 0;

	sframe_visit(j->sf, &v, &r);
	j->r->asked[SFRAME_T_READABLE] = h->funcs;
	j->r->asked[SFRAME_T_ROW_COUNT] = h->rows;
	j->r->asked[SFRAME_T_FIXED_RA] = 1;
	if (r.rows != h->rows)
		judge_found(j, SFRAME_T_ROW_COUNT, 0, 0, 1,
			    "%" PRIu64 " rows, the header says %" PRIu32,
			    r.rows, h->rows);
	if (h->fixed_ra != want)
		judge_found(j, SFRAME_T_FIXED_RA, 0, 0, 1,
			    "return address at CFA%+d, %s has it at CFA%+d",
			    h->fixed_ra, j->sf->machine->name, want);
	/* from here on a function ends where the next one starts */
	sort_items(j->func, j->n, sframe_check_compare_start);
	for (size_t i = 0; i < j->n; i++) {
		struct judge_function *f = &j->func[i];

		j->r->asked[SFRAME_T_OVERLAP]++;
		f->limit = f->end;
		if (i + 1 == j->n || j->func[i + 1].start >= f->end)
			continue;
		f->limit = j->func[i + 1].start;
		judge_found(j, SFRAME_T_OVERLAP, f->limit, f->end, 1,
			    "functions %" PRIu32 " and %" PRIu32 " overlap",
			    f->index, j->func[i + 1].index);
	}
}

COMPARE_BY(sframe_check_compare_part, struct judge_section, start);

COMPARE_BY(sframe_check_compare_finding, struct sframe_finding, test, start);

int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err)
{
	struct judge j = { .ef = ef, .sf = &f->sf, .r = out };

	if (f->object)
		return err_set(err, ERR_FORMAT,
			       "%s: an object file; link it first: where its "
			       "code will be is not known yet",
			       ef->path);
	size_t n = elf_sections(j.ef);
	struct elf_section s;

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(j.ef, i, &s) ||
		    !(s.flags & SHF_EXECINSTR) || s.size > UINT64_MAX - s.addr)
			continue;
		*mem_add(j.part, j.n_part, j.cap_part) =
			(struct judge_section){ s.addr, s.addr + s.size,
						s.name };
	}
	sort_items(j.part, j.n_part, sframe_check_compare_part);
	sframe_check_section(&j);
	j.rows = sframe_table(&f->sf, NULL);
	sframe_eh_check(&j);
	int ret = sframe_code_check(&j, err);
	sort_items(out->finding, out->n, sframe_check_compare_finding);
	unwind_rows_free(j.rows);
	unwind_rows_free(j.eh);
	free_all(j.func, j.part);
	return ret;
}
