/* compare.h - the recordings of a comparison, read and matched: for the table,
 * the flame graph and the page.
 *
 * Order of calls: compare_load(); the caller counts each run in rows[], by
 * report_rows_new() or report_rows_add(); compare_judge() sets d;
 * compare_release(). */
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
	struct stacks *stacks; /* NULL: the input is folded text */
	int event;	       /* index in stacks; -1: all events */
	struct diff_times times;
	struct symbolizer *files; /* reads its programs; NULL: not here */
	char trust[TRUST_SENTENCE];
	char capture[200]; /* capture and host; "" if not known */
	int64_t took; /* ns from the first record to the last; 0: not known, or
		       * there are several captures */
	char program[64]; /* the program it began with; "": not known */
	double used[2];	  /* weight of that program, and of all others but idle
			   * ones */
	double others;	  /* samples of these others */
};

/* In compare.only: the programs of both sides have the function. */
#define IN_BOTH 2

/* An image of A that may be one of B. The strings belong to the matching. */
struct compare_rename {
	const char *from, *to;
	double agrees; /* how much of the weight of both does, 0 to 1 */
	bool taken;    /* they were matched, as no other image may be either */
};

struct compare {
	const struct sides *sides; /* borrowed */
	struct labels *labels;	   /* of all runs */
	struct matching *match;
	struct compare_run *run; /* those of A first */
	struct diff_rows_run *rows;
	size_t n, runs_a;
	struct intern held[2];	 /* see sides_hold() */
	struct diff_rows *d;	 /* by[absolute], after compare_judge() */
	struct diff_rows *by[2]; /* the same rows, by shares and by weights */
	double between;		 /* as in compare_opts; 0: that of samples */
	const char *unit;	 /* of the weights: "ns"; the caller sets it */
	char *note; /* by stacks_choose() for the first run; NULL: none */
	struct compare_rename *renames;
	size_t n_renames, cap_renames;
	int8_t *only; /* by label: 1 if files prove that only B has this
		       * function, -1: only A, IN_BOTH: both have it; 0: not
		       * known, or both were seen to have it */
	uint32_t n_only;
	uint32_t *renamed; /* by row of d that one side has: the row of the
			    * other side that may be the same function;
			    * REPORT_NONE: none; NULL: not looked for */
};

/* Returns 0 for a run of A, 1 for one of B. */
static inline int compare_side(const struct compare *c, size_t run)
{
	return run >= c->runs_a;
}

/* Stores the weight of each side's user code in functions that the other side
 * lacks, and the weight of all its user code. Returns whether the first is more
 * than half of the second on any side: then a comparison proves nothing. */
bool compare_lacks(const struct compare *c, double alone[2], double all[2]);

/* Opens a recording, with the open_arg of struct compare_opts. Stores a
 * database, which the caller closes, and what reads its programs, which the
 * caller frees; it stays NULL if they cannot be read. Sets *status if a capture
 * is damaged. Returns 0, or -1 and *err. */
typedef int compare_open_fn(const void *arg, const char *path,
			    struct store **db, struct symbolizer **files,
			    int *status, struct err *err);

/* Loads times as an event to be compared, and sets what the run has lost. arg:
 * times_arg of compare_opts. took: ns of the recording, 0: not known. Returns
 * the event, or -1 and *err. */
typedef int compare_times_fn(const void *arg, struct store *db,
			     const char *path, const struct filter *filter,
			     struct stacks *s, int64_t took,
			     struct diff_rows_run *run, struct err *err);

struct compare_opts {
	compare_open_fn *open;
	const void *open_arg;
	/* used in place of `more`; between: how much these times vary from run
	 * to run (diff_whole.between); NULL: samples are compared */
	compare_times_fn *times;
	const void *times_arg;
	double between;
	/* the caller sets filter, weight, samples, inlined, by_name, by_cpu,
	 * summed */
	struct stacks_opts stacks;
	/* called with each_arg for each run that was opened, those of side 0
	 * first; NULL: not needed */
	void (*each)(void *arg, int side, struct store *db, const char *path);
	void *each_arg;
	sums_more_fn *more; /* adds events to what was loaded; or NULL */
	struct match_opts match;
	bool folded; /* the inputs are folded stacks, which the caller reads */
};

/* The processes of a program, sorted by pid. All zeros is none. */
struct compare_program {
	int64_t *pid;
	size_t n, cap;
};

/* Adds a process, those that it started, and theirs. Returns 0, or -1 and *err;
 * the caller frees pid in either case. */
int compare_program_add(struct compare_program *p, struct store *db,
			int64_t pid, struct err *err);
/* Returns whether a process belongs to a program. */
bool compare_program_has(const struct compare_program *p, int64_t pid);

/* Reads and matches both sides. s: borrowed. *c must be all zeros. Returns 0,
 * or -1 and *err; the caller releases *c in either case. */
int compare_load(struct compare *c, const struct sides *s,
		 const struct compare_opts *o, int *status, struct err *err);
void compare_release(struct compare *c);
/* Pairs the rows of all runs by `keys`, and judges them by shares and by
 * weights; d becomes the latter if absolute. */
void compare_judge(struct compare *c, unsigned int keys, bool absolute);
/* Pairs functions that only one side has, in c->renamed. Call it after
 * compare_judge(), if rows are functions. */
void compare_find_renamed(struct compare *c);
/* Returns the name of the event, borrowed; NULL if there is none, or several.
 */
const char *compare_event(const struct compare *c);

/* Returns the rows that have the cause: c->d, if it has one, else the other
 * ones; NULL: none have. */
const struct diff_rows *compare_cause(const struct compare *c);
/* The weight of a run on each side. */
struct compare_moved {
	double mean[2];
	bool proved;   /* the runs of one side differ from those of the other */
	bool apart;    /* the sides are not shown to be about the same */
	double factor; /* by which mean[1] / mean[0] may be off; NaN: not known,
			* as for one run a side */
};
/* Compares the weights of the sides, after compare_judge(). */
void compare_find_moved(const struct compare *c, struct compare_moved *m);
/* Returns whether the weights are time on a CPU, by a clock that runs only
 * there. */
bool compare_is_cpu(const struct compare *c);
/* Returns whether other programs than the one with which both runs began had
 * more or less of the CPUs, and that is more of the change than the program's
 * own part; only for one run a side. had: if so, how many CPUs they had on
 * average. */
bool compare_others_moved(const struct compare *c, double had[2]);
/* Returns how many ns the recordings of a side took on average; 0: not known
 * for each. */
int64_t compare_wall(const struct compare *c, int side);
/* Returns whether no row is marked as more or less. */
bool compare_has_none(const struct compare *c);
