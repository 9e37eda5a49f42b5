/* script.h - one sample as text, in the layout of perf script.
 *
 * The layout of perf 7.2 is "comm pid/tid [cpu] time: period event: ", where
 * the time takes at least 12 columns and the event as many as the longest name
 * in the capture. An event with callchains then has one line per frame and an
 * empty line. Other events have the address on the same line, and the comm
 * right-aligned in 16 columns. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analyze/samples/chains.h"

struct event_row;
struct filter;
struct rows;
struct script;

#define SCRIPT_EXTRAS 4
struct script_fields {
	bool comm, pid, tid, cpu, time, period, event, trace;
	bool extra[SCRIPT_EXTRAS]; /* values of table sample_extra */
	bool verdict;		   /* note why a user stack is missing */
	const int64_t *wall; /* ns that UTC is later; NULL: do not print UTC */
	struct chain_style frame;
};

/* Parses the list of -F; NULL gives the fields that script prints by default,
 * with `marks` after frames that are bogus, inferred or guessed. Returns 0, or
 * -1 and *err. */
int script_parse(const char *list, bool marks, struct script_fields *f,
		 struct err *err);

/* Returns an object for script_free(), or NULL and *err on failure. */
struct script *script_new(struct store *db, const struct script_fields *f,
			  struct err *err);
bool script_is_sample(const struct script *s, int64_t type);
/* Print an event to stdout. script_text() keeps lines until script_flush().
 * Return 0, or -1 and *err. */
int script_text(struct script *s, const struct event_row *e, struct err *err);
int script_json(struct script *s, const struct event_row *e, struct err *err);
void script_flush(struct script *s);
void script_free(struct script *s);

/* The losses of a database in the order of their ends, to be printed between
 * the samples. Without rows it has none. */
struct script_losses {
	const struct script_fields *f;
	const struct filter *filter; /* only losses of its times and CPUs */
	struct rows *rows;
	bool more;
};

/* Reads the losses; the caller has set f and filter. Returns 0, or -1 and *err;
 * the caller closes l->rows in both cases. */
int script_losses_open(struct script_losses *l, struct store *db,
		       struct err *err);
/* Prints, after the lines of s, the losses that ended until `time`; INT64_MAX:
 * all the rest. Returns 0, or -1 and *err. */
int script_losses_until(struct script_losses *l, struct script *s, int64_t time,
			struct err *err);
