/* audit.h - the state of struct audit, only for the files with rules. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/audit/clock_skew.h"
#include "stitch/audit/rule.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/verdict.h"

#define KIND(k) (1u << (k))
#define KINDS_ALL (~0u)

/* Linux thread ids are below 2^22. */
#define EXIT_PAGE 4096
#define EXIT_PAGES 1024

/* A position in the file, and the time of the record there. */
struct audit_place {
	uint64_t off;
	int64_t time;
};

/* The thread that runs on a CPU, and since when; tid -1: unknown. */
struct audit_runs {
	int32_t tid;
	int64_t since;
};

/* A thread that was forked. */
struct audit_fork {
	int32_t tid;
	int64_t time;
};

/* A FORK. */
struct audit_birth {
	uint32_t thread; /* row id; 0: unused */
	int32_t cpu;
	int64_t time;
};

/* A finding of tid_reused, and the EXIT that came after it; or a finding of
 * after_exit about a thread without a FORK. */
struct audit_reuse {
	enum rule_number rule;
	int32_t tid;
	int64_t time, exit; /* TIME_NONE: no EXIT came */
	int32_t exit_cpu;
	uint32_t found; /* index of the finding */
};

#define AUDIT_FORKS 64
#define AUDIT_BIRTHS 256
#define AUDIT_REUSES 64
#define AUDIT_ORDERS 64
/* Number of recent holes that are searched for one that was split. */
#define AUDIT_HOLES 16

/* One CPU of a source. */
struct audit_cpu {
	bool seen; /* it has a record with a time */
	/* For clock_step: highest file positions of the records that are at
	 * least a second old, of those before bucket, and of the others. */
	struct audit_place old, prev, now;
	int64_t bucket, newest;
	uint32_t step; /* index of its finding, plus 1; 0: none */
	/* What runs, by scheduler events and by SWITCH records. */
	struct audit_runs event, record;
	uint32_t seat; /* index plus 1 of the finding that another thread than
			* event.tid runs here; 0: none since the last switch */
	int64_t first, last; /* times of wakeups; TIME_NONE: none */
	int64_t skew; /* at the end: largest ns by which its clock differs; 0:
		       * nothing known */
};

struct audit_source {
	const struct source *src; /* NULL: unknown so far */
	struct audit_cpu *cpu;
	size_t n_cpu, cap_cpu;
	int32_t cpus_seen;
	uint32_t late;	  /* kinds of records of which one was late */
	int32_t mark_tid; /* a thread forked while all CPUs were recorded; 0:
			   * none */
	int64_t mark_time;
	struct audit_fork fork[AUDIT_FORKS]; /* the newest; tid 0: unused */
	uint32_t forks;
	bool odd_forks;	 /* threads also appear from nowhere without a loss */
	bool introduces; /* the recorder lists the threads that already
			  * existed */
	struct audit_exit **exit; /* by thread id: EXIT_PAGES pages of EXIT_PAGE
				   * entries */
	/* For scheduler events: */
	uint32_t switch_event; /* index of the event that is followed, plus
				* 1; 0: none */
	bool wakeups;	       /* all wakeups are recorded */
	bool other_ids; /* its thread ids belong to another pid namespace */
	uint64_t switches, breaks; /* breaks: not explained by a loss */
	/* At the end: when wakeups on all CPUs were recorded; whether too many
	 * switches, or any wakeup, are missing without a loss. */
	int64_t from, to;
	bool odd_switches, odd_wakeups;
	int64_t skew; /* at the end: largest ns by which clocks differ; 0:
		       * nothing known */
	/* The newest of these findings, in a ring. */
	struct audit_reuse reuse[AUDIT_REUSES];
	uint32_t n_reuses;
	/* Orders of FORK and EXIT that show differing clocks: their number, and
	 * the first of them. */
	struct fact_finding order[AUDIT_ORDERS];
	uint64_t n_orders;
	struct clock_bounds bounds; /* by counters: only at the end */
	struct audit_birth birth[AUDIT_BIRTHS]; /* the newest, by row id */
};

/* A thread as the scheduler sees it. */
struct audit_task {
	uint16_t source;
	bool asleep, woken, dying;
	bool recorder; /* perf */
	int32_t tid;
	int64_t slept;
	int64_t roused; /* time of a wakeup while it ran; TIME_NONE */
	/* Indexes, plus 1, of the findings of switch_broken about it: the one
	 * that scheduler events made, and the one of SWITCH records; 0: none */
	uint32_t suspect[2];
};

struct fact_queue;
struct join_clocks;
struct losses;

struct audit_waiting {
	struct fact_finding f;
	uint64_t key;
	/* CPUs of the records that the finding contradicts (after_exit: that of
	 * the EXIT); -1: unknown or none. */
	int32_t cpu[2];
	bool dropped;
	bool seat; /* switch_broken, found by a record that is not a switch */
};

struct audit_found_list {
	struct audit_waiting *at;
	size_t n, cap;
};

/* When and where a thread id ended. */
struct audit_exit {
	int64_t time; /* 0: never */
	int32_t cpu;
	uint32_t waits; /* index plus 1 of an after_exit finding that clocks may
			 * explain, unless a later record proves it; 0: none */
};

struct audit {
	struct fact_queue *out;
	struct losses *losses;
	struct ledger *ledger;
	const struct rule *rules;	/* indexed by RULE_* */
	uint8_t by_kind[32][RULES + 1]; /* rules for a kind of record, ended
					 * by RULES */
	uint8_t usual[RULES + 1];   /* by_kind of samples, without rare rules */
	uint8_t settled[RULES + 1]; /* `usual` without rules that settle */
	struct audit_found_list found[RULES];
	struct audit_source *src;
	size_t n_src, cap_src;
	struct table holes; /* (process, since, hole) -> finding of map_lost */
	struct table bare;  /* (process, since) -> finding of unmapped */
	struct table odd;   /* (process, since): runs unmapped code without a
			     * loss */
	struct {
		uint64_t life, addr;
		uint32_t found;
	} last_holes[AUDIT_HOLES];
	uint32_t n_holes;
	/* State of rules_sched.c. */
	struct audit_task *task;
	size_t n_task, cap_task;
	uint32_t *free_task;
	size_t n_free, cap_free;
	struct table tasks; /* (source, tid) -> task */
	struct table wrote; /* (thread, kind of record) -> pid, if it was
			     * seen to leave a CPU */
};

static inline struct audit_source *audit_source_of(struct audit *au,
						   const struct audit_in *in)
{
	return &au->src[in->rec->source];
}

/* Makes room for a CPU without a record so far. Returns NULL if its number is
 * out of range; pointers to other CPUs of the source are void. */
struct audit_cpu *audit_new_cpu(struct audit_source *as, int32_t cpu);
/* Returns the record's CPU, or NULL if it is unknown or out of range. */
static inline struct audit_cpu *audit_cpu(struct audit *au,
					  const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	int32_t cpu = in->rec->cpu;

	if ((uint32_t)cpu < as->n_cpu)
		return &as->cpu[cpu];
	return cpu < 0 ? NULL : audit_new_cpu(as, cpu);
}
/* Returns a finding about this record; it happened in (since, time]. */
struct fact_finding audit_finding(const struct audit_in *in, uint32_t rule,
				  int64_t since);
/* Keeps a finding until the end. Returns its index, or UINT32_MAX if there are
 * too many: then it is counted in the last one. */
uint32_t audit_found(struct audit *au, const struct fact_finding *f,
		     uint64_t key);

/* Adds a finding that another module made. clocks: the clocks that may explain
 * it; NULL: none. */
void audit_add(struct audit *au, const struct fact_finding *f,
	       const struct join_clocks *clocks);
/* Returns the loss that explains a finding, or 0. */
uint32_t audit_loss(struct audit *au, const struct fact_finding *f);

/* Clocks of CPUs that differ. A rule notes the order of records that would
 * explain its finding. At the end, counters (clock_skew.h) or, in a capture
 * without losses, such orders show by how much clocks differ, and the findings
 * that this explains are dropped. */

struct audit_in;
struct clock_bounds;
struct fact_finding;

/* Notes two records of a thread in an impossible order: the record of `time`,
 * on this CPU, was made before that of `since`, if the CPU's clock is ahead. */
void skew_note_order(struct audit_source *as, const struct fact_finding *f,
		     int32_t cpu, int64_t since, int64_t time);
/* Keeps the finding of a rule about this record for a while. found: its index;
 * UINT32_MAX: none. */
void skew_keep(struct audit_source *as, enum rule_number rule,
	       const struct audit_in *in, uint32_t found);
/* Returns the rule's newest kept finding about the thread id, or NULL. */
struct audit_reuse *skew_find(struct audit_source *as, enum rule_number rule,
			      int32_t tid);
/* Returns by how many ns clocks must differ to explain the tid_reused finding
 * of this record; UINT64_MAX: they do not. */
uint64_t skew_of_reuse(struct audit *au, const struct audit_in *in,
		       const struct fact_finding *f);
/* Note an EXIT, or a FORK. exit: when the thread id ended before; 0: never. */
void skew_note_exit(struct audit *au, const struct audit_in *in);
void skew_note_fork(struct audit *au, const struct audit_in *in, int64_t exit);
/* Takes a later record of a thread id with an after_exit finding that clocks
 * may explain. On the CPU of the EXIT, or later than clocks can differ, it
 * proves that the id was used again. A FORK ends the wait for such a record. */
void skew_prove(struct audit *au, const struct audit_in *in,
		struct audit_exit *end);
/* Takes a FORK; exit: when the thread id ended before; 0: never. The thread's
 * first record must follow it, which bounds the clocks of CPUs. */
void skew_note_birth(struct audit *au, const struct audit_in *in, int64_t exit);
/* Takes any other record. */
void skew_note_life(struct audit *au, const struct audit_in *in);
/* Adds what counters show of the clocks of a source; NULL: nothing. */
void skew_take_bounds(struct audit *au, uint16_t source,
		      const struct clock_bounds *counted);
/* Turns findings of after_exit that unbounded clocks may explain into
 * exit_order. Call it after skew_take_bounds() and before audit_end(). */
void skew_judge(struct audit *au);
/* Finds differing clocks by the order of FORK and EXIT. Call it at the end. */
void skew_by_order(struct audit *au);
/* Drops findings of cookie_reused that the clocks of the two CPUs explain. Call
 * it after skew_by_order(). */
void skew_drop_cookies(struct audit *au);
/* Returns whether clocks explain a finding that needs them to differ by `by`
 * ns. */
bool skew_explains(const struct audit *au, const struct fact_finding *f,
		   uint64_t by);
