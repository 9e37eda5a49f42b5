/* rule.h - a rule about a trace, and what it is told of each record. */
#ifndef STITCH_AUDIT_RULE_H
#define STITCH_AUDIT_RULE_H
#include <stdbool.h>
#include <stdint.h>

struct audit;
struct fact_finding;
struct record;
struct thread;

/* A record and what is known of its thread. */
struct audit_in {
	const struct record *rec;
	int64_t time;		     /* TIME_NONE: not timed */
	const struct thread *thread; /* NULL: it is of none. Its `last` is the
				      * record before this one */
	const struct thread *before; /* who had the thread's id until this
				      * record; NULL: nobody, or the same */
	const struct thread *ended;  /* whose EXIT was seen and who could not
				      * have made this record; of a fork, the
				      * parent. NULL: nobody */
	uint32_t event;		     /* id of the event row; 0: none */
	/* No mapping covers code that surely ran: its address, the hole
	 * between mappings that it is in (hole_end 0: to the end), its
	 * process (row id), and since when a mapping record of that may have
	 * been lost. */
	bool unmapped;
	uint64_t addr, hole, hole_end;
	uint32_t process;
	int64_t since;
};

/* Which losses explain a finding. */
enum rule_loss {
	RULE_LOSS_NONE,
	RULE_LOSS_ANY,	/* of any CPU */
	RULE_LOSS_NEAR, /* of any CPU, but rather of the one it names */
	RULE_LOSS_CPU,	/* of the CPU that it names */
};

struct rule {
	const char *name;   /* "map_lost" */
	const char *proves; /* one sentence for people */
	const char *view;   /* "rule_map_lost": made from this table */
	bool breaks;	    /* check ends with status 4 */
	uint32_t kinds;	    /* 1 << enum record_kind: that it looks at */
	/* It relies on the order of these: when one came late (in a pipe), its
	 * findings in that capture are dropped. REC_SAMPLE: of the scheduler */
	uint32_t late;
	enum rule_loss loss;
	void (*fn)(struct audit *au, const struct audit_in *in);
	/* At the end, when all losses are known: does a finding hold? key: as
	 * it was made with. NULL: yes. */
	bool (*holds)(struct audit *au, const struct fact_finding *f,
		      uint64_t key);
};
#endif
