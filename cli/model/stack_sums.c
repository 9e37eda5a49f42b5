/* stack_sums.c - the sums of samples that a database has.
 *
 * A group names stacks; what is drawn of a stack also depends on how it was
 * recorded, which its raw chains tell. So each stack of a group becomes a raw
 * chain that has this stack and the end that the group's mark says. If two
 * chains fit that differ in what is drawn, the groups are of no use. */
#include "cli/model/stack_sums.h"

#include <stdlib.h>

#include "cli/model/code.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/sums_code.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define REQUESTS_MAX 32

struct stack_sums {
	const struct known_code *code;
	uint32_t *chain[UNWIND_N]; /* by stack: one that ended so; 0: none */
	struct stack_sum *sum;
	size_t n, cap;
	uint64_t samples;
	bool unsound; /* a row is no sum that can be used */
};

static void stack_sums_index(struct stack_sums *s)
{
	const struct known_code *c = s->code;

	for (size_t i = 1; i < c->n_chain; i++) {
		uint8_t ended = c->chain[i].ended;

		if (ended >= UNWIND_N)
			continue;
		if (!s->chain[ended])
			s->chain[ended] = mem_new(c->n_stack, sizeof(uint32_t));
		if (!s->chain[ended][c->chain[i].stack])
			s->chain[ended][c->chain[i].stack] = (uint32_t)i;
	}
}

static uint32_t stack_sums_of(const struct stack_sums *s, size_t ended,
			      int64_t stack)
{
	return s->chain[ended] ? s->chain[ended][stack] : 0;
}

/* Returns the one of two chains of a stack that there is, or 0. A stack of one
 * frame may have both, in a capture with frame pointers and dumps: they look
 * alike. Others cannot, as frames that were unwound are no return addresses. */
static uint32_t stack_sums_only(const struct stack_sums *s, int64_t stack,
				uint32_t recorded, uint32_t unwound)
{
	if (recorded && unwound && s->code->stack[stack].parent)
		return 0;
	return recorded ? recorded : unwound;
}

/* Returns a chain of the stack after an exec, whichever way it ended. */
static uint32_t stack_sums_after_exec(const struct stack_sums *s, int64_t stack)
{
	uint32_t recorded = stack_sums_of(s, UNWIND_NONE, stack);
	uint32_t unwound = 0;

	for (size_t i = UNWIND_NONE + 1; i < UNWIND_N && !unwound; i++)
		unwound = stack_sums_of(s, i, stack);
	return stack_sums_only(s, stack, recorded, unwound);
}

/* Returns the chain of a half, or 0 if there is none or more than one. */
static uint32_t stack_sums_chain(const struct stack_sums *s, int64_t stack,
				 int64_t mark)
{
	if (stack < 1 || (uint64_t)stack >= s->code->n_stack)
		return 0;
	if (mark == MARK_EXEC)
		return stack_sums_after_exec(s, stack);
	if (mark > MARK_ENDED + UNWIND_OUTERMOST &&
	    mark < MARK_ENDED + UNWIND_N)
		return stack_sums_of(s, (size_t)(mark - MARK_ENDED), stack);
	if (mark)
		return 0;
	return stack_sums_only(s, stack, stack_sums_of(s, UNWIND_NONE, stack),
			       stack_sums_of(s, UNWIND_OUTERMOST, stack));
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
			   struct err *err)
{
	struct stack_sums *s = arg;

	(void)err;
	s->unsound = s->unsound || !stack_sums_add(s, g);
	return 0;
}

/* Compares with the number of samples that each event says. */
static int stack_sums_add_up(const struct stack_sums *s, struct store *db,
			     struct err *err)
{
	struct rows *r = rows_of(db, "stack_sums_samples", err);
	bool same =
		rows_step(r) &&
		(uint64_t)rows_int(r, STACK_SUMS_SAMPLES_SAMPLES) == s->samples;

	return rows_end(r, err) ? -1 : same;
}

int stack_sums_read(struct store *db, const struct known_code *code,
		    struct stack_sum **sums, size_t *n, struct err *err)
{
	struct stack_sums s = { .code = code };
	const struct store_group_walk w = { stack_sums_take, &s };

	stack_sums_index(&s);
	int ret = store_groups_each(db, &w, err);

	if (!ret)
		ret = s.unsound ? 0 : stack_sums_add_up(&s, db, err);
	for (size_t i = 0; i < UNWIND_N; i++)
		free(s.chain[i]);
	*sums = ret > 0 ? s.sum : NULL;
	*n = ret > 0 ? s.n : 0;
	if (ret <= 0)
		free(s.sum);
	return ret;
}
