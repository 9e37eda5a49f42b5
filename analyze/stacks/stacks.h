/* stacks.h - the samples of a database, in groups with equal thread name, stack
 * and fate.
 *
 * flame, report and most exports load the groups once and walk them;
 * stacks_get() returns the frames of a group. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/names/thread_names.h"
#include "analyze/stacks/stack_names.h"
#include "stitch/base/intern.h"

struct event_row;
struct filter;
struct store;

/* The frame before those of a program that was executed after the sample. */
#define STACKS_AFTER_EXEC "[user: after exec]"

/* One sample, in time order. group: index in stacks.group. */
struct stacks_sample {
	uint32_t group, event;
	int32_t cpu; /* -1: not known */
	bool timed;
	int64_t time;
	uint64_t weight;
};
typedef void stacks_sample_fn(void *arg, const struct stacks_sample *s);

struct stacks_group;
/* Changes the weight of a sample in *g, and writes the value of its field.
 * Returns false if the sample does not count. */
typedef bool stacks_weigh_fn(void *arg, const struct event_row *e, int64_t tid,
			     struct stacks_group *g, char field[32]);

struct stacks_opts {
	const struct filter *filter; /* which samples; never NULL, and borrowed
				      * until stacks_free() */
	struct name_opts names;	     /* of the labels */
	bool by_cpu;		     /* keep CPUs apart */
	bool by_name;		     /* as for stack_names_new() */
	bool inlined;
	bool bogus;	   /* as for stack_names_new() */
	bool gaps;	   /* as for stack_names_new() */
	bool samples;	   /* every sample weighs 1 */
	bool no_groups;	   /* the caller makes groups for stacks_get() */
	bool unnamed;	   /* the caller makes the labels, by stacks_match() */
	bool inlined_same; /* as for stack_names_new() */
	bool summed; /* threads of one name are one, and the verdicts of joined
		      * requests are left out: if no option needs each sample,
		      * the sums of the database are read */
	unsigned int code;     /* enum code_parts to load */
	struct labels *labels; /* shared by several loads; NULL: own ones */
	const char *weight;    /* SQL expressions, as in struct weight_by */
	const char *field;
	stacks_sample_fn
		*each; /* called for each sample while loading; or NULL */
	stacks_weigh_fn
		*weigh; /* likewise, before the sample is counted; or NULL */
	void *arg;	/* for each(), or weigh() */
};

/* Samples with the same thread name, stacks and fate. */
struct stacks_group {
	uint32_t type;	     /* event_type.id; 0: of none */
	uint32_t event;	     /* index in stacks.event */
	uint32_t comm;	     /* for stacks_comm() */
	int32_t cpu;	     /* -1 unless by_cpu */
	uint32_t field;	     /* for stacks_field(); 0: not asked for */
	uint32_t kraw, uraw; /* raw chains; 0: none */
	uint32_t nest;	     /* calls on top of them: stacks_nest(); 0: none */
	uint8_t verdict, flags; /* of requests; verdict 0: no request */
	const char *wait; /* a thread's state off the CPU, by offcpu_state();
			   * NULL: a sample */
	uint64_t weight, samples;
	uint64_t least; /* with weigh(): the part of weight that is certain */
};

struct stacks_event {
	const char *name;
	const char *unit; /* of the weights: "ns", "cycles", or the name */
	uint64_t weight, samples; /* weight saturates */
	uint64_t unweighed; /* samples without a weight, which are left out */
	uint64_t stacked;   /* samples with a stack or a request for one */
	bool point;  /* a tracepoint or a switch, always in the same code */
	bool nested; /* its groups are calls: stacks_nest() */
	bool apart;  /* another event counts the same: it is not chosen */
};

/* A call inside another one. */
struct stacks_nest {
	uint32_t inside; /* index + 1 of the call around it; 0: none */
	uint32_t label;
};

struct stacks_comm {
	const char *name;
	int64_t pid, tid; /* -1: not known */
};

/* Read only. */
struct stacks {
	struct labels *labels;
	struct known_code *code;   /* with at least the parts of opts.code */
	struct homonyms *homonyms; /* distinguishes functions of one name */
	struct stack_names *names;
	struct stacks_group *group;
	size_t n_group, cap_group;
	struct stacks_event *event;
	size_t n_event, cap_event;
	struct intern event_names;
	struct stacks_comm *comm; /* by comm.id; [0]: no comm */
	size_t n_comm, cap_comm;
	struct stacks_opts o; /* with which it was loaded */
	/* for stacks.c only */
	struct table index; /* of group[] */
	struct stacks_nest *nest;
	size_t n_nest, cap_nest;
	struct table by_nest;
	uint32_t *type; /* event_type.id -> event + 1; 0: no sample */
	size_t n_type, cap_type;
	struct thread_names told; /* of comm[], made on first use */
	uint32_t *first;	  /* comm.id -> the first comm of that name */
	struct arena text;
	struct intern field;	   /* values of opts.field */
	struct payloads *payloads; /* has that field; NULL: no payload does */
	const char *cure;	   /* command that records stacks */
};

/* Returns 1 if the samples of the database are sums of a server, which has
 * applied the filters; 0 if not, or -1 and *err. */
int stacks_served(struct store *db, struct err *err);
/* Loads samples. Returns what stacks_free() frees, or NULL and *err. */
struct stacks *stacks_load(struct store *db, const struct stacks_opts *o,
			   struct err *err);
/* Makes the labels of a recording that is compared, once, after the matching
 * has the code of all of them; see stack_names.h. Returns 0, or -1 and *err. */
int stacks_match(struct stacks *s, struct matching *match, int side,
		 struct err *err);
void stacks_free(struct stacks *s);
/* Returns the event of that name, for stacks_add(), and adds it if it is new.
 */
uint32_t stacks_add_event(struct stacks *s, const char *name, const char *unit);
/* Makes the group of a sample. Returns false if the event is no sample. */
bool stacks_group_of(const struct stacks *s, const struct event_row *e,
		     struct stacks_group *g);
/* Counts a sample, or a wait; returns the index of its group. */
uint32_t stacks_add(struct stacks *s, const struct stacks_group *g);
/* Returns a call with this label inside another call (0: in none), for
 * stacks_group.nest. */
uint32_t stacks_nest(struct stacks *s, uint32_t inside, uint32_t label);
/* Moves the samples of one event to another. Call no stacks_add() after it. */
void stacks_give(struct stacks *s, uint32_t from, uint32_t to);
/* Returns the group of an event (-1: of any) that comes next; after NULL: the
 * first one. NULL at the end. */
const struct stacks_group *stacks_next(const struct stacks *s, int event,
				       const struct stacks_group *after);
/* A loop over the groups of an event, or of all. */
#define stacks_each(g, s, event)                                               \
	for (const struct stacks_group *g = NULL;                              \
	     (g = stacks_next(s, event, g));)
/* Returns the event to show: the heaviest with stacks, of a clock or counter if
 * there is one. Periods of different events are not comparable and are summed
 * up only if the filter names several: then it returns -1. *note gets lines for
 * the user, "" if none: which events were left out, for the word `doing`,
 * "drawing" or "counting". The caller frees *note. */
int stacks_choose(const struct stacks *s, const char *doing, char **note);
/* Returns the number of samples of an event (-1: of all) for which the weight
 * expression is NULL or negative. */
uint64_t stacks_unweighed(const struct stacks *s, int event);
/* Returns the unit of an event's weights: "ns", "samples", "cycles", ... */
const char *stacks_unit(const struct stacks *s, int event, bool samples);
/* Returns the event with the largest weight, among those of clocks and
 * counters, and those with stacks, if there are any; -1 if there is no sample.
 */
int stacks_heaviest(const struct stacks *s);
/* Returns the name of an event; for -1, words for the sum of all. */
const char *stacks_event_name(const struct stacks *s, int event);
/* Stores weight and number of the samples of an event (-1: of all). Returns 0,
 * or -1 and *err if there is no sample at all, they weigh nothing, or too much;
 * `how` is then the advice in the message. */
int stacks_whole(const struct stacks *s, int event, const char *path,
		 const char *how, uint64_t *weight, uint64_t *samples,
		 struct err *err);
/* Returns a thread name, borrowed; that of 0 is "[no name]". */
const struct stacks_comm *stacks_comm(const struct stacks *s, uint32_t i);
/* Returns the same name, with the tid if another thread has had it too; valid
 * until stacks_free(). */
const char *stacks_tell_comm(struct stacks *s, uint32_t i);
/* Returns the first name of a thread, for stacks_comm(); 0: there is none. */
uint32_t stacks_comm_of_tid(const struct stacks *s, int64_t tid);
/* Returns the value of the field in a group's samples, as the text of its event
 * shows it; valid until the next call. */
const char *stacks_field(const struct stacks *s, const struct stacks_group *g);
/* Appends the group's frames, outermost first. A missing user half is the frame
 * "[user: VERDICT]"; the stack of a program that was executed after the sample
 * follows the frame "[user: after exec]"; a stack that was not unwound to its
 * outermost frame follows the frame "[user: REASON]", a kernel half that is
 * only the address hit "[kernel: hit_only]"; calls follow it; a wait ends with
 * the frame "[off-CPU: STATE]". */
void stacks_get(struct stacks *s, const struct stacks_group *g,
		struct label_list *out);
/* Returns the verdict of a request as a word; 0: "no request". */
const char *stacks_verdict(int64_t verdict);
/* Returns a word for why the user half is missing; NULL if it is not. */
const char *stacks_missing(int64_t verdict, int64_t uraw);
/* Returns whether the caller of the innermost user frame was not recorded, but
 * inferred from the code. */
bool stacks_inferred(const struct stacks *s, const struct stacks_group *g);
/* Returns whether stacks_get() appends only the frames of the group's chains,
 * each with its stack_names_label(). */
bool stacks_plain(const struct stacks *s, const struct stacks_group *g);
