/* audit.h - inside the rules: what the functions of the table share. */
#ifndef STITCH_AUDIT_AUDIT_H
#define STITCH_AUDIT_AUDIT_H
#include <stddef.h>

#include "stitch/audit/rule.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/source.h"

#define KIND(k) (1u << (k))
#define KINDS_ALL (~0u)

/* Linux has ids below 2^22. */
#define EXIT_PAGE 4096
#define EXIT_PAGES 1024

/* A place in the file, and the time of the record there. */
struct audit_place {
	uint64_t off;
	int64_t time;
};

/* Who runs on a CPU, since when; tid -1: not known. */
struct audit_runs {
	int32_t tid;
	int64_t since;
};

/* A thread that was forked. */
struct audit_fork {
	int32_t tid;
	int64_t time;
};

#define AUDIT_FORKS 64
/* How many holes are looked at for one that was split since. */
#define AUDIT_HOLES 16

/* One CPU of a source. */
struct audit_cpu {
	bool seen; /* it has a record with a time */
	/* Clock steps: highest places of the records that are surely older
	 * than a second, of those before bucket, and of the others. */
	struct audit_place old, prev, now;
	int64_t bucket, newest;
	uint32_t step; /* its finding, plus 1; 0: none */
	/* As the scheduler's events tell, and as SWITCH records do. */
	struct audit_runs event, record;
	int64_t first, last; /* time of the scheduler's events; TIME_NONE */
};

struct audit_source {
	const struct source *src; /* NULL: not known yet */
	struct audit_cpu *cpu;
	size_t n_cpu, cap_cpu;
	int32_t cpus_seen;
	uint32_t late;	  /* kinds of records that came late */
	int32_t mark_tid; /* forked when all CPUs were recorded; 0: none */
	int64_t mark_time;
	struct audit_fork fork[AUDIT_FORKS]; /* the newest; tid 0: none */
	uint32_t forks;
	bool odd_forks;	 /* threads come from nowhere without a loss, too */
	bool introduces; /* the recorder tells of the threads there were */
	int64_t **exit;	 /* EXIT_PAGES of EXIT_PAGE times, by thread id */
	/* Of the scheduler's events: */
	uint32_t switch_event; /* the one that is looked at, plus 1; 0: none */
	bool wakeups;	       /* every wakeup is recorded */
	bool other_ids;	       /* of another pid namespace than the records */
	uint64_t switches, breaks; /* breaks: without a loss */
	/* At the end: when all CPUs were recorded; too many switches, any
	 * wakeup missing without a loss. */
	int64_t from, to;
	bool odd_switches, odd_wakeups;
};

/* A thread as the scheduler sees it. */
struct audit_task {
	uint16_t source;
	bool used, asleep, woken, dying;
	int32_t tid;
	int64_t slept;
	int64_t roused; /* wakeup while it ran; TIME_NONE */
	/* Findings of switch_broken about it, plus 1; 0: none. By the
	 * scheduler's events, by SWITCH records. */
	uint32_t suspect[2];
};

struct fact_queue;
struct losses;

struct waiting {
	struct fact_finding f;
	uint64_t key;
	bool dropped;
};

struct found {
	struct waiting *at;
	size_t n, cap;
};

/* Rows of rules[]. */
enum {
	RULE_TID_REUSED,
	RULE_MAP_LOST,
	RULE_FORK_LOST,
	RULE_AFTER_EXIT,
	RULE_SWITCH_BROKEN,
	RULE_WAKEUP_ORDER,
	RULE_WAKEUP_LOST,
	RULE_DUPLICATE,
	RULE_CLOCK_STEP,
	RULES
};

struct audit {
	struct facts *out;
	struct losses *losses;
	const struct rule *rules;	/* the table, by RULE_* */
	uint8_t by_kind[32][RULES + 1]; /* rules of a kind; RULES ends it */
	struct found found[RULES];
	struct audit_source *src;
	size_t n_src, cap_src;
	struct table holes; /* (process, since, hole) -> finding of map_lost */
	struct table odd;   /* (process, since): it runs unmapped code anyway */
	struct {
		uint64_t life, addr;
		uint32_t found;
	} last_holes[AUDIT_HOLES];
	uint32_t n_holes;
	/* rules_sched.c */
	struct audit_task *task;
	size_t n_task, cap_task;
	uint32_t *free_task;
	size_t n_free, cap_free;
	struct table tasks; /* (source, tid) -> task */
	struct table wrote; /* who has a record of leaving a CPU -> pid */
};

static inline struct audit_source *audit_source_of(struct audit *au,
						   const struct audit_in *in)
{
	return &au->src[in->rec->source];
}

/* The record's CPU; NULL: not said, or out of all bounds. */
struct audit_cpu *audit_cpu(struct audit *au, const struct audit_in *in);
/* A finding about this record, which happened in (since, time]. */
struct fact_finding audit_finding(const struct audit_in *in, uint32_t rule,
				  int64_t since);
/* Keeps it until the end: its index, or UINT32_MAX (too many: it is counted
 * in the last one). */
uint32_t audit_found(struct audit *au, const struct fact_finding *f,
		     uint64_t key);

/* The loss that explains a finding; 0: none. */
uint32_t audit_loss(struct audit *au, const struct fact_finding *f);
#endif
