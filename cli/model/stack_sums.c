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

/* Returns the one of two chains that there is; 0 if there is none, or both. */
static uint32_t stack_sums_only(uint32_t a, uint32_t b)
{
	return !b ? a : !a ? b : 0;
}

/* Returns a chain of the stack after an exec, whichever way it ended. */
static uint32_t stack_sums_after_exec(const struct stack_sums *s, int64_t stack)
{
	uint32_t recorded = stack_sums_of(s, UNWIND_NONE, stack);
	uint32_t unwound = 0;

	for (size_t i = UNWIND_NONE + 1; i < UNWIND_N && !unwound; i++)
		unwound = stack_sums_of(s, i, stack);
	return stack_sums_only(recorded, unwound);
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
	return stack_sums_only(stack_sums_of(s, UNWIND_NONE, stack),
			       stack_sums_of(s, UNWIND_OUTERMOST, stack));
}

/* Returns 1 if the row is no sum that can be used. */
static int stack_sums_take(void *arg, const struct rows *r, struct err *err)
{
	struct stack_sums *s = arg;
	int64_t kernel = rows_int(r, STACK_SUMS_KERNEL);
	int64_t user = rows_int(r, STACK_SUMS_USER);
	int64_t mark = rows_int(r, STACK_SUMS_MARK);
	int64_t weight = rows_int(r, STACK_SUMS_WEIGHT);
	int64_t n = rows_int(r, STACK_SUMS_N);
	struct stack_sum sum = {
		.type = rows_int(r, STACK_SUMS_TYPE),
		.comm = rows_int(r, STACK_SUMS_COMM),
		.weight = (uint64_t)weight,
		.n = (uint64_t)n,
	};

	(void)err;
	if (weight < 0 || n < 1 ||
	    __builtin_add_overflow(s->samples, sum.n, &s->samples))
		return 1;
	if (kernel)
		sum.kraw = stack_sums_chain(
			s, kernel, rows_int(r, STACK_SUMS_KERNEL_MARK));
	if (user)
		sum.uraw = stack_sums_chain(s, user, mark);
	else if (mark < 0 && mark > -REQUESTS_MAX)
		sum.verdict = (uint8_t)-mark;
	else if (mark)
		return 1;
	if (!kernel != !sum.kraw || !user != !sum.uraw)
		return 1;
	if (user && mark == MARK_EXEC) {
		sum.flags = VERDICT_EXEC;
		sum.verdict = REQ_MATCHED;
	}
	*mem_add(s->sum, s->n, s->cap) = sum;
	return 0;
}

/* Compares with the number of samples that each event says. */
static int stack_sums_add_up(const struct stack_sums *s, struct store *db,
			     struct err *err)
{
	struct rows *r =
		rows_open(db, store_sql("stack_sums_samples"), NULL, 0, err);
	int ret = r ? rows_next(r, err) : -1;

	if (ret > 0)
		ret = (uint64_t)rows_int(r, STACK_SUMS_SAMPLES_SAMPLES) ==
		      s->samples;
	rows_close(r);
	return ret;
}

int stack_sums_read(struct store *db, const struct known_code *code,
		    struct stack_sum **sums, size_t *n, struct err *err)
{
	struct stack_sums s = { .code = code };
	struct rows *r = rows_open(db, store_sql("stack_sums"), NULL, 0, err);
	int sound = 0;
	int ret = r ? 1 : -1;

	stack_sums_index(&s);
	while (ret > 0 && !sound && (ret = rows_next(r, err)) > 0)
		sound = stack_sums_take(&s, r, err);
	rows_close(r);
	if (ret >= 0)
		ret = sound ? 0 : stack_sums_add_up(&s, db, err);
	for (size_t i = 0; i < UNWIND_N; i++)
		free(s.chain[i]);
	*sums = ret > 0 ? s.sum : NULL;
	*n = ret > 0 ? s.n : 0;
	if (ret <= 0)
		free(s.sum);
	return ret;
}
