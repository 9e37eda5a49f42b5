/* compare.h - the recordings that a comparison is of, read and matched: for the
 * table, the flame graph and the page.
 *
 * compare_load(); the caller counts each run in rows[], by report_rows_new() or
 * report_rows_add(); compare_judge(); then d is there. compare_release(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/diffs/diff_rows.h"
#include "analyze/names/matching.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/sums.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/intern.h"

struct sides;
struct symbolizer;

struct compare_run {
	const char *path;
	struct stacks *stacks; /* NULL: of folded text */
	int event;	       /* index in stacks; -1: all events */
	struct diff_times times;
	struct symbolizer *files; /* finds its programs; NULL: not here */
	char trust[TRUST_SENTENCE];
	char capture[200]; /* capture and host; "" if not known */
	int64_t took; /* ns from the first record to the last; 0: not known, or
		       * there are several captures */
	char program[64]; /* with which it began; "": not known */
	double used[2];	  /* weight of its processes, and of all others but
			   * idle ones */
	double others;	  /* samples of these */
};

/* In compare.only: the programs of both sides have the function. */
#define IN_BOTH 2

/* An image of A that may be one of B; strings are of the matching. */
struct compare_rename {
	const char *from, *to;
	double agrees; /* how much of the weight of both, 0 to 1 */
	bool taken;    /* no other image may be either: they are matched */
};

struct compare {
	const struct sides *sides; /* borrowed */
	struct labels *labels;	   /* of all runs */
	struct matching *match;
	struct compare_run *run; /* those of A first */
	struct diff_rows_run *rows;
	size_t n, runs_a;
	struct intern held[2];	 /* see sides_hold() */
	struct diff_rows *d;	 /* after compare_judge() */
	struct diff_rows *by[2]; /* the same rows by shares and by weights, of
				  * which d is one */
	double between;		 /* of compare_opts; 0: of samples */
	const char *unit;	 /* of the weights: "ns"; the caller sets it */
	char *note; /* of stacks_choose() for the first run; NULL: none */
	struct compare_rename *renames;
	size_t n_renames, cap_renames;
	int8_t *only; /* of each label: 1 if files prove that only B has this
		       * function, -1: only A, IN_BOTH: both have it; 0:
		       * not known, or both were seen to have it */
	uint32_t n_only;
	uint32_t *renamed; /* of each row of d that one side has: the row of the
			    * other side that may be the same function;
			    * REPORT_NONE: none; NULL: not looked for */
};

/* Return 0 for a run of A, 1 for one of B. */
static inline int compare_side(const struct compare *c, size_t run)
{
	return run >= c->runs_a;
}

/* Stores the weight of user code of each side in functions that the other one
 * lacks, and of all of it. Returns whether it is most of it, of either: then
 * nothing can be said of it. */
bool compare_lacks(const struct compare *c, double alone[2], double all[2]);

/* Opens a recording, with the open_arg of struct compare_opts. Stores a
 * database to be closed, and what finds its programs, to be freed; it cannot if
 * it stays NULL. *status becomes that of a damaged capture, if it is one.
 * Returns 0, or -1 and *err. */
typedef int compare_open_fn(const void *arg, const char *path,
			    struct store **db, struct symbolizer **files,
			    int *status, struct err *err);

/* Loads times as an event to be compared, which it returns, or -1 and *err.
 * arg: of compare_opts. took: of the recording in ns, 0: not known. Sets what
 * is lost of the run. */
typedef int compare_times_fn(const void *arg, struct store *db,
			     const char *path, const struct filter *filter,
			     struct stacks *s, int64_t took,
			     struct diff_rows_run *run, struct err *err);

struct compare_opts {
	compare_open_fn *open;
	const void *open_arg;
	/* in place of `more`, with how much these times vary from run to run
	 * (diff_whole.between); NULL: samples are compared */
	compare_times_fn *times;
	const void *times_arg;
	double between;
	/* filter, weight, samples, inlined, by_name, by_cpu, summed are for the
	 * caller to say */
	struct stacks_opts stacks;
	/* called with each_arg of each run that was opened, those of side 0
	 * first; NULL: nothing */
	void (*each)(void *arg, int side, struct store *db, const char *path);
	void *each_arg;
	sums_more_fn *more; /* adds events to what was loaded; or NULL */
	struct match_opts match;
	bool folded; /* the inputs are folded stacks, which the caller reads */
};

/* The processes of a program: all zeros is none; sorted. */
struct compare_program {
	int64_t *pid;
	size_t n, cap;
};

/* Adds a process, those that it started, and theirs. Returns 0, or -1 and *err;
 * pid is to be freed in either case. */
int compare_program_add(struct compare_program *p, struct store *db,
			int64_t pid, struct err *err);
bool compare_program_has(const struct compare_program *p, int64_t pid);

/* Reads both sides, which are borrowed; *c is all zeros. Returns 0, or -1 and
 * *err; to be released in either case. */
int compare_load(struct compare *c, const struct sides *s,
		 const struct compare_opts *o, int *status, struct err *err);
void compare_release(struct compare *c);
/* Pairs and judges the rows of all runs, whose keys are `keys`, by shares and
 * by weights: d by weights if absolute. */
void compare_judge(struct compare *c, unsigned int keys, bool absolute);
/* Pairs functions that one side only has, as c->renamed; after compare_judge(),
 * of rows of functions. */
void compare_find_renamed(struct compare *c);
/* Returns the name of the event; NULL if there is none, or several. */
const char *compare_event(const struct compare *c);

/* Returns the judgement that has the cause: c->d, if it has one, else the
 * other; NULL: none has. */
const struct diff_rows *compare_cause(const struct compare *c);
/* How much a run of each side takes, by weights. */
struct compare_moved {
	double mean[2];
	bool proved;   /* runs of one differ from those of the other */
	bool apart;    /* they are not shown to be about the same */
	double factor; /* by which mean[1] / mean[0] may be off; NaN: it is not
			* known, as of one run a side */
};
void compare_find_moved(const struct compare *c, struct compare_moved *m);
/* Returns whether the weights are time on a CPU: of a clock that runs only
 * there. */
bool compare_is_cpu(const struct compare *c);
/* Returns whether, of one run a side, other programs than that with which both
 * began had more or less of the CPUs, and that is more of the change than what
 * the program used; had: if so, how many CPUs they had on average. */
bool compare_others_moved(const struct compare *c, double had[2]);
/* Returns ns that the recordings of a side took, on average; 0: it is not known
 * of each. */
int64_t compare_wall(const struct compare *c, int side);
/* Returns whether no row has a mark. */
bool compare_has_none(const struct compare *c);
