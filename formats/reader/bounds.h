/* bounds.h - values that no kernel writes, whatever it recorded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* PID_MAX_LIMIT of 64-bit machines (include/linux/threads.h). */
#define THREAD_ID_MAX 4194304

/* The most CPUs that a kernel can be built for are 8192 (arch/x86/Kconfig). */
#define CPU_ID_MAX 8191

/* Records that follow each other are not years apart. */
#define YEAR_NS 31556952000000000u
/* If this many records in a row have another time, the clock was set. */
#define TIMES_FAR_MAX 16

/* Can this be a thread or a process? -1 is one that is not known any more. */
static inline bool thread_id_can_be(int64_t id)
{
	return id >= -1 && id <= THREAD_ID_MAX;
}

/* No address is in [user_end, kernel_start); 0, 0: any may be. */
struct halves {
	uint64_t user_end, kernel_start;
};

/* Intel's 57-bit addresses leave the widest halves of x86-64, 52-bit addresses
 * those of AArch64. On s390x both halves use the same numbers. */
static inline struct halves halves_of(const char *machine)
{
	unsigned int bits = !strcmp(machine, "x86_64")	  ? 56
			    : !strcmp(machine, "aarch64") ? 52
							  : 0;

	return bits ? (struct halves){ (uint64_t)1 << bits,
				       -((uint64_t)1 << bits) }
		    : (struct halves){ 0, 0 };
}

/* Can this be an address of the kernel, or of it or a program? */
static inline bool halves_have(const struct halves *h, uint64_t addr,
			       bool kernel)
{
	return addr >= h->kernel_start || (!kernel && addr < h->user_end);
}

static inline bool times_are_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > YEAR_NS;
}

/* The time near which the next one must be; n: how many records confirm it. */
struct near_time {
	uint64_t time;
	uint32_t n;
};

/* Is this time years from most of those before it? */
static inline bool near_time_is_far(struct near_time *near, uint64_t time)
{
	/* nearly all times, in few instructions */
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
