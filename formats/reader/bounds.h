/* bounds.h - limits on thread ids, CPUs, times and addresses: a value beyond
 * them comes from damage, not from a kernel. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* PID_MAX_LIMIT of 64-bit machines (include/linux/threads.h). */
#define THREAD_ID_MAX 4194304

/* The most CPUs that a kernel can be built for are 8192 (arch/x86/Kconfig). */
#define CPU_ID_MAX 8191

/* A time that is this far from the time of the record before it is damage. */
#define YEAR_NS 31556952000000000u
/* If this many consecutive records agree on another time, the clock was set. */
#define TIMES_FAR_MAX 16

/* Returns whether this can be the id of a thread or a process. -1 stands for a
 * task that had already exited. */
static inline bool thread_id_can_be(int64_t id)
{
	return id >= -1 && id <= THREAD_ID_MAX;
}

/* The gap between user and kernel addresses: no address is in [user_end,
 * kernel_start). 0, 0: any address is possible. */
struct halves {
	uint64_t user_end, kernel_start;
};

/* Returns the gap that every paging mode of the machine leaves: that of 57-bit
 * addresses on x86-64 and of 52-bit addresses on AArch64. On s390x user and
 * kernel addresses are the same numbers. */
static inline struct halves halves_of(const char *machine)
{
	unsigned int bits = !strcmp(machine, "x86_64")	  ? 56
			    : !strcmp(machine, "aarch64") ? 52
							  : 0;

	return bits ? (struct halves){ (uint64_t)1 << bits,
				       -((uint64_t)1 << bits) }
		    : (struct halves){ 0, 0 };
}

/* Returns whether addr can be a kernel address or, unless `kernel` is set, a
 * user address. */
static inline bool halves_have(const struct halves *h, uint64_t addr,
			       bool kernel)
{
	return addr >= h->kernel_start || (!kernel && addr < h->user_end);
}

static inline bool times_are_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > YEAR_NS;
}

/* time: the last credible time; n: how many consecutive records agree with it,
 * up to TIMES_FAR_MAX. */
struct near_time {
	uint64_t time;
	uint32_t n;
};

/* Returns whether this time is more than a year from that of the records before
 * it. */
static inline bool near_time_is_far(struct near_time *near, uint64_t time)
{
	/* fast path: nearly all times take it */
	if (near->n == TIMES_FAR_MAX && time >= near->time &&
	    time - near->time <= YEAR_NS) {
		near->time = time;
		return false;
	}
	if (near->n && times_are_far(time, near->time) && --near->n)
		return true;
	near->time = time;
	near->n += near->n < TIMES_FAR_MAX;
	return false;
}
