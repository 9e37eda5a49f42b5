/* rules.h - what must not happen in a trace: a table of rules about cause and
 * effect, with or without cookies.
 *
 * A rule is one small function over the records in time order and one row of
 * the table: its name, what a finding of it proves, and the view that shows
 * its findings. It says nothing about a capture in which nothing is wrong. A
 * finding that a loss explains names the loss. Facts: FACT_FINDING. */
#ifndef STITCH_RULES_H
#define STITCH_RULES_H
#include <stdbool.h>
#include <stdint.h>

struct audit;
struct facts;
struct losses;
struct record;
struct source_info;
struct thread;

/* A record and what is known of its thread. */
struct audit_in {
	const struct record *rec;
	int64_t time;		     /* TIME_NONE: not timed */
	const struct thread *thread; /* NULL: it is of none */
	const struct thread *before; /* who had the thread's id until this
				      * record; NULL: nobody, or the same */
	uint32_t event;		     /* id of the event row; 0: none */
	bool unmapped; /* no mapping covers the code that it surely ran */
};

struct rule {
	const char *name;   /* "map_lost" */
	const char *proves; /* one sentence for people */
	const char *view;   /* "rule_map_lost": made from this table */
	bool breaks;	    /* check ends with status 4 */
	void (*fn)(struct audit *au, const struct audit_in *in);
};

/* Ends with a name of NULL; the index is stored: add at the end. */
extern const struct rule rules[];

struct audit *audit_new(struct facts *out, struct losses *ls);
void audit_free(struct audit *au);
void audit_source(struct audit *au, uint16_t source,
		  const struct source_info *info);
/* Every record, when the tasks know of it. */
void audit_record(struct audit *au, const struct audit_in *in);
/* Findings that wait for a loss that may explain them. */
void audit_end(struct audit *au);
#endif
