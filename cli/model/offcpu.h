/* offcpu.h - how long threads were off the CPU, where, and who woke them.
 *
 * A wait goes from a thread's switch out of a CPU to its next switch in on any
 * CPU. It has the stack of the switch out, with its user half if that was
 * recorded. The events are read once in time order; memory is bounded by the
 * number of threads. A wait during which switches may have been lost is
 * uncertain, and one without an end is open; both are counted separately. */
#ifndef CLI_MODEL_OFFCPU_H
#define CLI_MODEL_OFFCPU_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/model/offcpu_source.h"
#include "cli/model/wakers.h"

struct causes;
struct err;
struct stacks;
struct store;
struct wait_causes;

/* --off-cpu --wall --state: for OPT_GROUP */
struct offcpu_opts {
	bool on;
	bool wall;	   /* waits beside samples, see wall.h */
	const char *state; /* comma list; NULL: all */
};
extern struct offcpu_opts offcpu_opts;
extern const struct opt offcpu_opt_table[];
/* Returns 0, or -1 and *err if --state is wrong or options exclude each other.
 */
int offcpu_check(struct err *err);

struct offcpu_wait {
	int64_t event; /* the switch out */
	int64_t from, to;
	bool sum; /* of perf record --off-cpu: several waits; from is 0 */
	enum offcpu_end end;
	int64_t tid;
	int64_t state; /* task state bits of the kernel; -1: not known */
	struct offcpu_stack at;
	struct waker waker; /* if it was asked for */
};

/* A thread on a CPU, from its switch in to its switch out. */
struct offcpu_run {
	int64_t tid;
	uint32_t comm; /* comm.id; 0: not known */
	int32_t cpu;   /* -1: not known */
	int64_t from, to;
};

typedef int offcpu_fn(void *arg, const struct offcpu_wait *w, struct err *err);
typedef void offcpu_run_fn(void *arg, const struct offcpu_run *r);

/* What is asked for. */
struct offcpu_ask {
	/* Called for each wait that the filters select, ordered by end. Returns
	 * 0, or -1 and *err to stop. */
	offcpu_fn *wait;
	/* Called for each time on a CPU in which no switch can have been lost,
	 * ordered by end; the last ones end with the capture, where all
	 * switches were recorded. NULL: nobody asks. */
	offcpu_run_fn *run;
	void *arg;
	/* For who woke: both, or NULL if nobody asks. */
	const struct stacks *stacks;
	struct wait_causes *causes;
	/* Called with what tells it, behind the waits of a capture; NULL:
	 * nobody asks. */
	void (*told)(void *arg, const struct causes *c);
};

/* Returns 0, or -1 and *err, also if the database has no context switches; path
 * is for that message. */
int offcpu_read(struct store *db, const char *path, const struct offcpu_ask *a,
		struct offcpu_sums *sums, struct err *err);

/* Returns whether switches were sampled, so that no wait is certain. */
bool offcpu_sampled(const struct offcpu_sums *s);
/* Returns why waits are uncertain, as the end of a sentence. */
const char *offcpu_reason(const struct offcpu_sums *s);
#endif
