/* sframe_eh.c - is an SFrame section right? By .eh_frame, address by
 * address. */
#include <inttypes.h>
#include <string.h>

#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/cfi_rows.h"
#include "symbolize/sframe/sframe_judge.h"

/* Bytes of an interval that are compared one by one. */
#define ONE_BY_ONE_MAX (1u << 20)

/* Walks over a table by growing address. */
struct cursor {
	const struct unwind_rows *t;
	size_t i;
	struct row_rule rule; /* that holds now */
};

static uint64_t next_at(const struct cursor *c)
{
	uint64_t addr;

	if (c->i == unwind_rows_count(c->t))
		return UINT64_MAX;
	unwind_rows_at(c->t, c->i, &addr);
	return addr;
}

static void step_to(struct cursor *c, uint64_t addr)
{
	while (c->i < unwind_rows_count(c->t) && next_at(c) <= addr) {
		uint64_t unused;

		unwind_rows_rule(c->t, unwind_rows_at(c->t, c->i, &unused),
				 &c->rule);
		c->i++;
	}
}

/* In a PLT: the rule at one address. */
static struct row_rule plain(const struct row_rule *r, uint64_t addr)
{
	struct row_rule p = *r;

	if (r->kind == ROW_PLT) {
		p.kind = ROW_SP;
		p.cfa = (int64_t)(addr & 15) >= r->cfa ? 16 : 8;
	}
	return p;
}

static bool same_place(const struct place_rule *a, const struct place_rule *b)
{
	return a->kind == b->kind && a->off == b->off;
}

static bool same_rule(const struct row_rule *a, const struct row_rule *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind < ROW_SP || a->kind > ROW_PLT)
		return true;
	return a->cfa == b->cfa && a->flags == b->flags &&
	       same_place(&a->fp, &b->fp) && same_place(&a->ra, &b->ra);
}

static enum sframe_test test_of(const struct judge *j, uint64_t addr,
				const struct row_rule *a,
				const struct row_rule *b)
{
	if (b->kind == ROW_OUTERMOST)
		return SFRAME_T_OUTERMOST;
	/* Only version 3 can say that it is one. */
	if (j->sf->head.version < 3 && !(a->flags & ROW_INTERRUPTED) &&
	    (b->kind == ROW_SIGNAL || b->flags & ROW_INTERRUPTED))
		return SFRAME_T_SIGNAL;
	if (!strcmp(judge_part(j, addr), ".plt.got"))
		return SFRAME_T_PLT_GOT;
	return SFRAME_T_EH_FRAME;
}

static void differ(struct judge *j, uint64_t start, uint64_t end,
		   const struct row_rule *a, const struct row_rule *b)
{
	struct rule_text ta;
	struct rule_text tb;

	judge_found(j, test_of(j, start, a, b), start, end, end - start,
		    "%s, .eh_frame has %s", judge_rule(j, a, &ta),
		    judge_rule(j, b, &tb));
}

/* One of them is of a PLT, the other says it in rows. */
static void compare_plt(struct judge *j, uint64_t start, uint64_t end,
			const struct row_rule *a, const struct row_rule *b)
{
	for (uint64_t addr = start; addr < end; addr++) {
		struct row_rule x = plain(a, addr);
		struct row_rule y = plain(b, addr);

		if (!same_rule(&x, &y))
			differ(j, addr, addr + 1, &x, &y);
	}
}

/* What each test looks at. */
static void count(struct judge *j, uint64_t start, uint64_t len,
		  const struct row_rule *a, const struct row_rule *b)
{
	uint64_t *asked = j->r->asked;
	bool covered = a->kind != ROW_GAP;

	if (b->kind != ROW_GAP)
		asked[SFRAME_T_MISSING] += len;
	if (covered)
		asked[SFRAME_T_EXTRA] += len;
	if (!covered || b->kind == ROW_GAP)
		return;
	asked[SFRAME_T_COMPLEX] += len;
	asked[test_of(j, start, a, b)] += len;
}

static void compare(struct judge *j, uint64_t start, uint64_t end,
		    const struct row_rule *a, const struct row_rule *b)
{
	uint64_t len = end - start;
	struct rule_text t;

	count(j, start, len, a, b);
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
		compare_plt(j, start, end, a, b);
	else if (!same_rule(a, b))
		differ(j, start, end, a, b);
}

void judge_eh(struct judge *j)
{
	struct cfi *cfi = cfi_open(j->ef, ".eh_frame");

	if (!cfi) {
		j->r->no_eh_frame = true;
		return;
	}
	j->eh = cfi_rows(cfi);
	cfi_close(cfi);

	struct cursor a = { .t = j->rows };
	struct cursor b = { .t = j->eh };
	uint64_t at = next_at(&a) < next_at(&b) ? next_at(&a) : next_at(&b);

	while (at != UINT64_MAX) {
		step_to(&a, at);
		step_to(&b, at);
		uint64_t end =
			next_at(&a) < next_at(&b) ? next_at(&a) : next_at(&b);

		if (end != UINT64_MAX)
			compare(j, at, end, &a.rule, &b.rule);
		at = end;
	}
}
