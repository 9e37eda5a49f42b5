/* stacks.h - the samples of a database, by what they have in common.
 *
 * What flame and report start from: load once, then walk the groups; each
 * says which samples it stands for, and stacks_get() gives its frames. */
#ifndef CLI_MODEL_STACKS_H
#define CLI_MODEL_STACKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/stack_names.h"

struct err;
struct known_code;
struct label;
struct labels;
struct stacks;
struct store;

/* The frame below the frames of a program that the sample did not run. */
#define STACKS_AFTER_EXEC "[user: after exec]"

/* One sample, in time order; group: place in stacks_group(). */
struct stacks_sample {
	uint32_t group, event;
	int32_t cpu; /* -1: not known */
	bool timed;
	int64_t time;
	uint64_t weight;
};
typedef void stacks_sample_fn(void *arg, const struct stacks_sample *s);

struct stacks_opts {
	bool by_cpu;  /* keep CPUs apart */
	bool by_name; /* see stack_names_load() */
	bool inlined;
	bool bogus;	       /* the same */
	bool samples;	       /* every sample weighs 1 */
	bool no_groups;	       /* for stacks_get() of the caller's own groups */
	unsigned int code;     /* enum code_parts to load for stacks_code() */
	struct labels *labels; /* to use, of several loads; NULL: its own */
	const char *weight;    /* SQL expression for it; NULL: as recorded */
	stacks_sample_fn *each; /* NULL, or called for all, while loading */
	void *arg;		/* for each() */
};

/* Samples with the same thread name, stacks and fate. */
struct stacks_group {
	uint32_t event;		/* place in stacks_event() */
	uint32_t comm;		/* place in stacks_comm() */
	int32_t cpu;		/* -1 unless by_cpu */
	uint32_t kraw, uraw;	/* raw chains; 0: none */
	uint8_t verdict, flags; /* of requests; verdict 0: no request */
	uint64_t weight, samples;
};

struct stacks_event {
	char *name;
	uint64_t weight, samples; /* weight stays at the top when it is full */
	uint64_t unweighed;	  /* samples that are not in there */
	uint64_t stacked;	  /* samples with a stack, or waiting for one */
};

struct stacks_comm {
	const char *name;
	int64_t pid, tid; /* -1: not known */
};

/* Applies the options of filter_opts. */
struct stacks *stacks_load(struct store *db, const struct stacks_opts *o,
			   struct err *err);
void stacks_free(struct stacks *s);
size_t stacks_count(const struct stacks *s);
const struct stacks_group *stacks_group(const struct stacks *s, size_t i);
size_t stacks_events(const struct stacks *s);
const struct stacks_event *stacks_event(const struct stacks *s, size_t i);
/* The event to show: the heaviest of those with stacks, and a word on stderr
 * about the others; periods of different events are different things and are
 * added up only when --event names several: -1 then. doing: "drawing",
 * "counting". */
int stacks_choose(const struct stacks *s, const char *doing);
/* Samples that the expression for the weight gave none: NULL, or less than 0;
 * event -1: of all. */
uint64_t stacks_unweighed(const struct stacks *s, int event);
/* What the weights of that event are: "ns", "samples", "cycles", ... */
const char *stacks_unit(const struct stacks *s, int event, bool samples);
/* The event with most weight, of those with stacks when there are any; -1 when
 * there is no sample at all. */
int stacks_heaviest(const struct stacks *s);
const struct stacks_comm *stacks_comm(const struct stacks *s, uint32_t i);
size_t stacks_comms(const struct stacks *s);
struct labels *stacks_labels(const struct stacks *s);
/* Returns the code that the stacks are of, with at least the parts of
 * opts.code; valid until stacks_free(). */
const struct known_code *stacks_code(const struct stacks *s);
const struct stack_names *stacks_names(const struct stacks *s);
/* Appends the group's frames, outermost first, nothing left out: a missing
 * user half is the frame "[user: VERDICT]", the stack of another program
 * follows the frame "[user: after exec]", and a stack that was unwound, but
 * not to its outermost frame, the frame "[user: REASON]". */
void stacks_get(struct stacks *s, const struct stacks_group *g,
		struct label_list *out);
/* The word for the user half that a group misses; NULL: it misses none. */
const char *stacks_missing(const struct stacks_group *g);
/* Has its user stack a frame that no call returns to? Only with opts.bogus. */
bool stacks_bogus(const struct stacks *s, const struct stacks_group *g);
/* What became of the group's requests: a verdict's word, or "no request". */
const char *stacks_verdict(const struct stacks_group *g);
#endif
