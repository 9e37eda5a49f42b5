/* pair_kinds.h - which events belong together: what begins, goes on, ends and
 * cancels an interval, what its events have in common, and how many such there
 * are at one time. Nothing else knows a kind. A kind may have several rows, as
 * recorders name its events differently; of those of one capture the first that
 * has events is taken. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_KEYS 3

/* What a begin means where one of the same key is open. */
enum pair_again {
	PAIR_ONE,     /* there is one at a time: the end of that one is missing
		       */
	PAIR_PART,    /* it is a part of that one: pair_kind.part */
	PAIR_RESTART, /* it takes the place of that one, which is cancelled */
	PAIR_EITHER,  /* so it does, or that one goes on and both end: what was
		       * cancelled has no record */
	PAIR_STACK,   /* it is inside of that one */
	PAIR_NEST,    /* likewise, and what is inside of what is told; records
		       * may say how deep they are: .counted */
	PAIR_SET,     /* it is another one, and nothing tells their ends apart
		       */
};

/* What begin and end have in common besides the key fields: so far may lost
 * records have been those of the key. */
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

/* Which begins may be parts: all of a kind, or those with a flag. Of these, one
 * without the second flag never is the first. */
struct pair_part {
	const char *field;
	struct pair_flag may, first;
};

struct pair_kind {
	const char *word; /* what users call it */
	/* Names of events. A '*' at the end is the name of the interval, the
	 * same in both. */
	const char *begin, *end;
	const char *begin_too;	    /* begins it as well; or NULL */
	const char *cancel;	    /* ends it without a result; or NULL */
	const char *key[PAIR_KEYS]; /* fields; or NULL */
	const char *direction; /* field of a disk's operation: the last key is
				* what of it stays the same; or NULL */
	const char *length; /* field that says how far the second key goes: an
			     * end may be that of a part; or NULL */
	/* Field that both have and that must be equal: if it is not, the open
	 * one has no end, and this end no begin. Or NULL. */
	const char *tag;
	const char *name;   /* field of the begin, or else of the end; NULL: the
			     * first key */
	const char *object; /* field of what is waited for; or NULL */
	struct pair_part part;
	enum pair_again again;
	enum pair_scope scope;
	bool counted;	   /* PAIR_NEST: records say how deep they are */
	const char *marks; /* begin and end are texts that a program wrote to
			    * trace_marker, which begin with these letters:
			    * keys are parts of it. NULL: they are none */
	bool probes; /* events are probes on a function and on its return, by
		      * pair_probe_name() and their fields */
	bool here;   /* the name is that of the function where the event is */
	bool calls;  /* tags are numbers of system calls, and results errors */
	bool direct; /* what does not wait has an end alone, and is none: if
		      * .cancel is off, or unknown to the kernel, an end may be
		      * taken for that of what was cancelled */
	bool is_pending;  /* it does not begin while one is open, but for a
			   * moment before that one ends */
	bool cancel_ends; /* the event that cancels comes before an end, too */
};

extern const struct pair_kind pair_kinds[];
extern const size_t pair_kinds_n;

/* Returns whether an event, as a recorder names it, is the one of a pattern.
 * *rest: what its '*' stands for, of that length; 0: it has none. */
bool pair_name_is(const char *pattern, const char *event, const char **rest,
		  size_t *len);
#define PAIR_PROBE_NAME 256

/* Writes the name that a probe on a function and the one on its return have in
 * common. Returns whether the event is named as one on a return is. */
bool pair_probe_name(const char *event, char name[PAIR_PROBE_NAME]);
/* Returns the kind of PAIR_NEST that an event may be of, by its name; NULL: of
 * none. */
const struct pair_kind *pair_nests(const char *event);
/* Returns what of a disk's operation is the same in all events of a request:
 * 'R' of "RA", 'W' of "FWS", 'F' of "FF"; or, of LTTng, which has no text, of
 * its flags. */
int64_t pair_direction(const char *text, int64_t flags);

/* A part of the text, without a final 0. */
struct marker_part {
	const char *p;
	size_t n;
};

struct marker {
	char letter; /* B, E, S, F, G, H, C, I, N */
	int64_t pid; /* of the process; 0: not said */
	/* empty: it has none. The cookie of a counter is its value. */
	struct marker_part track, name, cookie;
};

/* Parses "B|PID|NAME", "E", "E|PID", "S|PID|NAME|COOKIE" and its end F,
 * "G|PID|TRACK|NAME|COOKIE" and its end "H|PID|TRACK|COOKIE",
 * "C|PID|NAME|VALUE", "I|PID|NAME", "N|PID|TRACK|NAME"; a name may have '|' in
 * it. Returns false for other texts. *out borrows from text. */
bool marker_parse(const char *text, struct marker *out);
