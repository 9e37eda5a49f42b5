/* pair_kinds.h - which events belong together: those that begin, continue, end
 * and cancel an interval, what they have in common, and how many such intervals
 * there are at one time. Only this table knows the kinds. A kind may have
 * several rows, because recorders name its events differently; of those, the
 * first one with events in a capture is used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_KEYS 3

/* What a begin means while an interval of the same key is open. */
enum pair_again {
	PAIR_ONE,     /* one is open at a time: the end of that is missing */
	PAIR_PART,    /* it is a part of that one: pair_kind.part */
	PAIR_RESTART, /* it replaces that one, which is cancelled */
	PAIR_EITHER,  /* the same, or that one goes on and both end: the cancel
		       * has no record */
	PAIR_STACK,   /* it is inside of that one */
	PAIR_NEST,    /* the same, for calls inside of calls; records may have
		       * their depth: .counted */
	PAIR_SET, /* it is another one, and their ends cannot be told apart */
};

/* What begin and end have in common besides the key fields: a lost record of
 * the key was in the same thread, on the same CPU, or anywhere. */
enum pair_scope {
	PAIR_THREAD,
	PAIR_CPU,
	PAIR_ANY,
};

/* A flag of a field, whose text may be names of flags. */
struct pair_flag {
	int64_t bit;
	const char *word;
};

/* Which begins may be parts: all of a kind, or those with flag `may`. A begin
 * that has `may`, but not `first`, is never the first one. */
struct pair_part {
	const char *field;
	struct pair_flag may, first;
};

struct pair_kind {
	const char *word; /* what users call it */
	/* Names of events. The name of the interval is what '*' at the end
	 * matches, the same in both. */
	const char *begin, *end;
	const char *begin_too;	    /* begins it as well; or NULL */
	const char *cancel;	    /* ends it without a result; or NULL */
	const char *key[PAIR_KEYS]; /* fields; or NULL */
	const char *direction; /* field with a disk's operation: the last key
				* is the part of it that does not change; or
				* NULL */
	const char *length; /* field with the length from the second key on: an
			     * end may be of a part; or NULL */
	/* Field that both have, and that must be equal: if it is not, the end
	 * of the open one is missing, and the begin of this one. Or NULL. */
	const char *tag;
	const char *name;   /* field of the begin, or else of the end; NULL: the
			     * first key */
	const char *object; /* field of what is waited for; or NULL */
	struct pair_part part;
	enum pair_again again;
	enum pair_scope scope;
	bool counted;	   /* PAIR_NEST: records have their depth */
	const char *marks; /* begin and end are texts in trace_marker that start
			    * with these letters, and keys are parts of the
			    * texts; NULL: they are no texts */
	bool probes;	   /* events are probes on the begin and the return of a
			    * function, by pair_probe_name() and their fields */
	bool here;	   /* the name is that of the function at the event */
	bool calls;  /* tags are numbers of system calls, and results errors */
	bool direct; /* there may be an end without a wait, which is no
		      * interval: if .cancel is off, or unknown to the kernel,
		      * such an end may be taken for that of a cancelled one */
	bool is_pending;  /* none begins while one is open, except for a moment
			   * before that one ends */
	bool cancel_ends; /* the cancelling event comes before an end, too */
};

extern const struct pair_kind pair_kinds[];
extern const size_t pair_kinds_n;

/* Returns whether the name of an event, as a recorder has it, matches a
 * pattern. *rest, *len: what its '*' matched; length 0: it has none. */
bool pair_name_is(const char *pattern, const char *event, const char **rest,
		  size_t *len);
#define PAIR_PROBE_NAME 256

/* Writes the common name of the probes on a function and on its return. Returns
 * whether the event is named like a probe on a return. */
bool pair_probe_name(const char *event, char name[PAIR_PROBE_NAME]);
/* Returns the kind of PAIR_NEST that an event may be of, by its name; or NULL.
 */
const struct pair_kind *pair_nests(const char *event);
/* Returns the part of a disk's operation that is the same in all events of a
 * request: 'R' of "RA", 'W' of "FWS", 'F' of "FF". LTTng has no text: it is
 * then a part of the flags. */
int64_t pair_direction(const char *text, int64_t flags);

/* A part of the text, without a final 0. */
struct marker_part {
	const char *p;
	size_t n;
};

struct marker {
	char letter; /* B, E, S, F, G, H, C, I, N */
	int64_t pid; /* of the process; 0: it is not in the text */
	/* length 0: it has none; the value of a counter is its cookie */
	struct marker_part track, name, cookie;
};

/* Parses "B|PID|NAME", "E", "E|PID", "S|PID|NAME|COOKIE" and its end F,
 * "G|PID|TRACK|NAME|COOKIE" and its end "H|PID|TRACK|COOKIE",
 * "C|PID|NAME|VALUE", "I|PID|NAME", "N|PID|TRACK|NAME"; a name may have '|' in
 * it. Returns false for other texts. *out borrows from text. */
bool marker_parse(const char *text, struct marker *out);
