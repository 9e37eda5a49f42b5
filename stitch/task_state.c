/* task_state.c - the states in which a thread leaves a CPU. */
#include "stitch/task_state.h"
#include "stitch/base/mem.h"

static const struct task_state states[] = {
	{ STATE_READY, "R", "preempted" },
	{ STATE_SLEEPING, "S", "sleeping" },
	{ STATE_UNINTERRUPTIBLE, "D", "uninterruptible" },
	{ 0x4, "T", "stopped" },
	{ 0x8, "t", "traced" },
	{ STATE_DEAD, "X", "dead" },
	{ STATE_ZOMBIE, "Z", "zombie" },
	{ 0x40, "P", "parked" },
	{ 0x80, "I", "idle" },
	{ STATE_PREEMPTED, "R+", "preempted" },
};
#define N_STATES (ARRAY_SIZE(states))

const struct task_state *task_state(size_t i)
{
	return i < N_STATES ? &states[i] : NULL;
}

const struct task_state *task_state_of(int64_t bits)
{
	if (!bits)
		return &states[0];
	for (size_t i = 1; bits > 0 && i < N_STATES; i++)
		if (states[i].bits & bits)
			return &states[i];
	return NULL;
}
