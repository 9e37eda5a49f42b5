/* stack_sums.h - the sums of samples that a database has: table sample_group.
 *
 * Samples with equal event, thread name, stacks and fate were added up when the
 * database was made; a capture of a million samples has some ten thousand such
 * groups. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct known_code;
struct store;

/* One group. A joined request is no different from a sample without one. */
struct stack_sum {
	int64_t type;		/* event_type.id */
	int64_t comm;		/* comm.id, the first of that name; 0: none */
	uint32_t kraw, uraw;	/* raw chains with these stacks; 0: none */
	uint8_t verdict, flags; /* as in struct stacks_group */
	uint64_t weight, n;
};

/* Reads the groups; code needs CODE_CHAINS. Returns 1 and the groups, which the
 * caller frees; 0 if the samples themselves have to be read: the groups do not
 * tell what was recorded of a stack, or do not add up to the samples; or -1 and
 * *err. */
int stack_sums_read(struct store *db, const struct known_code *code,
		    struct stack_sum **sums, size_t *n, struct err *err);
