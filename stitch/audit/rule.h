/* rule.h - a rule, and the record that it examines. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct audit;
struct fact_finding;
struct record;
struct thread;

/* A record, and what is known about its thread. */
struct audit_in {
	const struct record *rec;
	int64_t time;		     /* TIME_NONE: unknown */
	const struct thread *thread; /* NULL: none. Its `last` does not
				      * include this record yet */
	const struct thread *before; /* thread that had the id before this
				      * record; NULL: none, or the same */
	const struct thread *ended;  /* thread that had ended and could not
				      * make this record; of a fork, the
				      * parent. NULL: none */
	uint32_t event;		     /* row id of the event; 0: none */
	/* Code ran that no mapping covers: its address, the hole between
	 * mappings that contains it (hole_end 0: to the end), its process (row
	 * id), and since when a mapping record of the process may have been
	 * lost. */
	bool unmapped;
	uint64_t addr, hole, hole_end;
	uint32_t process;
	int64_t since;
	bool all_maps; /* the process has called exec, each mapping since makes
			* a record, and none is of anonymous code */
};

/* Which losses explain a finding. */
enum rule_loss {
	RULE_LOSS_NONE,
	RULE_LOSS_ANY,	/* of any CPU */
	RULE_LOSS_NEAR, /* of any CPU, preferably that of the finding */
	RULE_LOSS_CPU,	/* of the CPU of the finding */
};

struct rule {
	const char *name;   /* "map_lost" */
	const char *proves; /* one sentence for users */
	bool harmless;	    /* check does not end with exit status 4 for it */
	uint32_t kinds; /* kinds of records to examine: 1 << enum record_kind */
	bool rare;	/* Of samples it needs only those of scheduler events,
			 * of threads whose id had another owner before, and of
			 * code that no mapping covers. */
	bool settles;	/* It needs no sample of a thread that has made a record
			 * since its start and has not ended, on a CPU that is
			 * not known or has had a record. */
	/* The rule relies on the order of these kinds: if one was late (in a
	 * pipe), its findings in that capture are dropped. REC_SAMPLE: only
	 * scheduler events */
	uint32_t late;
	enum rule_loss loss;
	void (*fn)(struct audit *au, const struct audit_in *in);
	/* Called at the end, when all losses are known: returns whether a
	 * finding holds. key: as given to audit_found(). NULL: all hold. */
	bool (*holds)(struct audit *au, const struct fact_finding *f,
		      uint64_t key);
};

/* Rules about runs on a CPU, sleep and wakeups (rules_sched.c): fn and holds of
 * switch_broken, and of wakeup_order and wakeup_lost. */
void rule_switch(struct audit *au, const struct audit_in *in);
bool rule_switch_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key);
void rule_wakeup(struct audit *au, const struct audit_in *in);
bool rule_wakeup_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key);
/* Call it before findings are output. */
void rule_sched_end(struct audit *au);
void rule_sched_release(struct audit *au);
