/* rules.h - what must not happen in a trace: a table of rules about cause and
 * effect, with or without cookies.
 *
 * A rule is one small function over the records in time order and one row of
 * the table: its name, what a finding of it proves, and the view that shows
 * its findings. It says nothing about a capture in which nothing is wrong. A
 * finding that a loss explains names the loss. Facts: FACT_FINDING, all from
 * audit_end(), because the record that tells of a loss comes after it. */
#ifndef STITCH_AUDIT_RULES_H
#define STITCH_AUDIT_RULES_H
#include <stdbool.h>
#include <stdint.h>

struct audit;
struct fact_finding;
struct facts;
struct losses;
struct record;
struct source;
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

/* Ends with a name of NULL; the index is stored: add at the end. */
extern const struct rule rules[];

struct audit *audit_new(struct facts *out, struct losses *ls);
void audit_free(struct audit *au);
/* Before the first record of a source, which must outlive the audit. */
void audit_source(struct audit *au, uint16_t source, const struct source *src);
/* Every record, when the tasks know of it. */
void audit_record(struct audit *au, const struct audit_in *in);
/* Gives out all findings. */
void audit_end(struct audit *au);
#endif
