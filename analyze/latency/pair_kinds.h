/* pair_kinds.h - which events belong together: what begins, what ends, and what
 * they must have in common. A kind may have several rows, as recorders name its
 * events differently; of those of one capture the first that has events is
 * taken. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define PAIR_KEYS 3

/* What a begin means where one of the same key is open. */
enum pair_rule {
	PAIR_ONE,   /* there is one at a time: the end of that one is missing */
	PAIR_FIRST, /* it is a part of that one, unless it can only be the
		     * first of its own */
	PAIR_AGAIN, /* it takes the place of that one, which is cancelled */
	PAIR_STACK, /* it is inside of that one */
};

/* What begin and end have in common besides the key fields: so far may lost
 * records have been those of the key. */
enum pair_scope {
	PAIR_THREAD,
	PAIR_CPU,
	PAIR_ANY,
};

struct pair_kind {
	const char *word; /* what users call it */
	/* Names of events. A '*' at the end is the name of the interval, the
	 * same in both. */
	const char *begin, *end;
	const char *cancel;	    /* ends it without a result; or NULL */
	const char *key[PAIR_KEYS]; /* fields; or NULL */
	/* Field that both have and that must be equal: if it is not, the open
	 * one has no end, and this end no begin. Or NULL. */
	const char *tag;
	const char *name; /* field of the begin, or else of the end; NULL: the
			   * first key */
	enum pair_rule rule;
	enum pair_scope scope;
	bool calls; /* tags are numbers of system calls, and results errors */
	/* An end may have another key than its begin, as merged requests of a
	 * disk: one without a begin tells nothing of when it began. */
	bool loose;
};

extern const struct pair_kind pair_kinds[];
extern const size_t pair_kinds_n;

/* Returns whether an event, as a recorder names it, is the one of a pattern.
 * *rest: what its '*' stands for, of that length; 0: it has none. */
bool pair_name_is(const char *pattern, const char *event, const char **rest,
		  size_t *len);
