/* task_state.h - the states in which a thread leaves a CPU: the bits of
 * sched_switch, and the letters of ps.
 *
 * The bits are those since Linux 4.14; the first ones are the same in older
 * kernels. Others may add bits: a state is that of the lowest known one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_state_bits {
	STATE_UNKNOWN = -1,
	STATE_READY = 0,
	STATE_SLEEPING = 0x1,
	STATE_UNINTERRUPTIBLE = 0x2,
	STATE_DEAD = 0x10,
	STATE_ZOMBIE = 0x20,
	STATE_PREEMPTED = 0x100,
};

struct task_state {
	int64_t bits;
	const char *name; /* "S", "R+" */
	const char *word; /* what the thread did: "sleeping" */
};

/* Returns state i, by its bits; NULL: there are no more. */
const struct task_state *task_state(size_t i);
/* Returns the state of field prev_state; NULL: it is not known. */
const struct task_state *task_state_of(int64_t bits);
/* Returns whether a thread in this state has ended. */
static inline bool task_state_ends(int64_t bits)
{
	return bits > 0 && (bits & (STATE_DEAD | STATE_ZOMBIE));
}
