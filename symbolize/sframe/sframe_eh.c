/* sframe_eh.c - checks an SFrame section against .eh_frame, address by
 * address. */
#include "symbolize/sframe/sframe_eh.h"

#include <string.h>

#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/sframe/sframe_judge.h"

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

/* One rule is ROW_PLT, and the other table has a row for each part of it. */
static void sframe_eh_compare_plt(struct judge *j, uint64_t start, uint64_t end,
				  const struct unwind_rule *a,
				  const struct unwind_rule *b)
{
	for (uint64_t addr = start; addr < end; addr++) {
		struct unwind_rule x = sframe_eh_rule_at(a, addr);
		struct unwind_rule y = sframe_eh_rule_at(b, addr);

		if (!sframe_eh_same_rule(&x, &y))
			sframe_eh_report(j, addr, addr + 1, &x, &y);
	}
}

static void sframe_eh_compare(struct judge *j, uint64_t start, uint64_t end,
			      const struct unwind_rule *a,
			      const struct unwind_rule *b)
{
	uint64_t len = end - start;
	uint64_t *asked = j->r->asked; /* bytes that each test looks at */
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
		 len <= ONE_BY_ONE_MAX)
		sframe_eh_compare_plt(j, start, end, a, b);
	else if (!sframe_eh_same_rule(a, b))
		sframe_eh_report(j, start, end, a, b);
}

void sframe_eh_check(struct judge *j)
{
	struct cfi *cfi = cfi_open(j->ef, ".eh_frame");

	if (!cfi) {
		j->r->no_eh_frame = true;
		return;
	}
	j->eh = cfi_rows(cfi);
	cfi_close(cfi);

	struct sframe_eh_cursor a = { .t = j->rows };
	struct sframe_eh_cursor b = { .t = j->eh };
	uint64_t at = sframe_eh_next_address(&a) < sframe_eh_next_address(&b)
			      ? sframe_eh_next_address(&a)
			      : sframe_eh_next_address(&b);

	while (at != UINT64_MAX) {
		sframe_eh_step_to(&a, at);
		sframe_eh_step_to(&b, at);
		uint64_t end =
			sframe_eh_next_address(&a) < sframe_eh_next_address(&b)
				? sframe_eh_next_address(&a)
				: sframe_eh_next_address(&b);

		if (end != UINT64_MAX)
			sframe_eh_compare(j, at, end, &a.rule, &b.rule);
		at = end;
	}
}
