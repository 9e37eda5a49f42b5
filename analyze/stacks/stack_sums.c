/* stack_sums.c - the sums of samples that a database has.
 *
 * A group names stacks; what is drawn of a stack also depends on how it was
 * recorded, which its raw chains tell. So each stack of a group becomes a raw
 * chain that has this stack and an end that fits the group's mark (see
 * stitch/verdict.h). All chains with the same stack and the same end are drawn
 * alike, so that one of them is enough. If two fit that are drawn differently,
 * or none does, the groups are of no use. */
#include "analyze/stacks/stack_sums.h"

#include "analyze/samples/code.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/db/groups.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define REQUESTS_MAX 32

struct stack_sums {
	const struct known_code *code;
	uint32_t *chain[UNWIND_N]; /* by stack: the first that ended so; 0:
				    * none; NULL: no chain ended so */
	struct stack_sum *sum;
	size_t n, cap;
	uint64_t samples;
	bool unsound; /* a row is no sum that can be used */
};

/* Returns the first chain of the stack that ended so, or 0. */
static uint32_t stack_sums_of(const struct stack_sums *s, size_t ended,
			      int64_t stack)
{
	return s->chain[ended] ? s->chain[ended][stack] : 0;
}

/* Returns a chain that a half of a group can be: with its stack, and an end
 * that its mark allows. Returns 0 if there is none, or two that are drawn
 * differently. */
static uint32_t stack_sums_chain(const struct stack_sums *s, int64_t stack,
				 int64_t mark)
{
	size_t last; /* the mark allows UNWIND_NONE and all ends up to this */
	uint32_t recorded;
	uint32_t unwound = 0;

	if (stack < 1 || (uint64_t)stack >= s->code->n_stack)
		return 0;
	/* this mark names the one end that it allows */
	if (mark > MARK_ENDED + UNWIND_OUTERMOST &&
	    mark < MARK_ENDED + UNWIND_N)
		return stack_sums_of(s, (size_t)(mark - MARK_ENDED), stack);
	/* MARK_EXEC does not tell the end; no mark: the stack is complete, by
	 * frame pointers or by unwinding */
	if (mark == MARK_EXEC)
		last = UNWIND_N - 1;
	else if (!mark)
		last = UNWIND_OUTERMOST;
	else
		return 0;
	recorded = stack_sums_of(s, UNWIND_NONE, stack);
	for (size_t i = UNWIND_NONE + 1; i <= last && !unwound; i++)
		unwound = stack_sums_of(s, i, stack);
	/* A stack of one frame may be both, in a capture with frame pointers
	 * and dumps: they look alike. Others cannot, as frames that were
	 * unwound are no return addresses. */
	if (recorded && unwound && s->code->stack[stack].parent)
		return 0;
	return recorded ? recorded : unwound;
}

/* Returns false if the group is no sum that can be used. */
static bool stack_sums_add(struct stack_sums *s, const struct store_group *g)
{
	int64_t mark = g->mark;
	struct stack_sum sum = {
		.type = g->type,
		.comm = g->comm,
		.weight = (uint64_t)g->weight,
		.n = (uint64_t)g->n,
	};

	if (g->weight < 0 || g->n < 1 ||
	    __builtin_add_overflow(s->samples, sum.n, &s->samples))
		return false;
	if (g->kernel)
		sum.kraw = stack_sums_chain(s, g->kernel, g->kernel_mark);
	if (g->user)
		sum.uraw = stack_sums_chain(s, g->user, mark);
	else if (mark < 0 && mark > -REQUESTS_MAX)
		sum.verdict = (uint8_t)-mark;
	else if (mark)
		return false;
	if (!g->kernel != !sum.kraw || !g->user != !sum.uraw)
		return false;
	if (g->user && mark == MARK_EXEC) {
		sum.flags = VERDICT_EXEC;
		sum.verdict = REQ_MATCHED;
	}
	*mem_add(s->sum, s->n, s->cap) = sum;
	return true;
}

static int stack_sums_take(void *arg, const struct store_group *g,
			   struct err *err UNUSED)
{
	struct stack_sums *s = arg;

	s->unsound = s->unsound || !stack_sums_add(s, g);
	return 0;
}

int stack_sums_read(struct store *db, const struct known_code *code,
		    struct stack_sum **sums, size_t *n, struct err *err)
{
	struct stack_sums s = { .code = code };
	int ret;

	for (size_t i = 1; i < code->n_chain; i++) {
		const struct code_chain *c = &code->chain[i];

		if (c->ended >= UNWIND_N)
			continue;
		if (!s.chain[c->ended])
			s.chain[c->ended] =
				mem_new(code->n_stack, sizeof(uint32_t));
		if (!s.chain[c->ended][c->stack])
			s.chain[c->ended][c->stack] = (uint32_t)i;
	}
	ret = store_groups_each(db, stack_sums_take, &s, err);
	if (!ret && !s.unsound) {
		struct rows *r = rows_of(db, "sampled", err);
		bool same = rows_step(r) &&
			    (uint64_t)rows_int(r, SAMPLED_SAMPLES) == s.samples;

		ret = rows_end(r, err) ? -1 : same;
	}
	for (size_t i = 0; i < UNWIND_N; i++)
		free(s.chain[i]);
	*sums = ret > 0 ? s.sum : NULL;
	*n = ret > 0 ? s.n : 0;
	if (ret <= 0)
		free(s.sum);
	return ret;
}
