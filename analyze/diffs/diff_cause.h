/* diff_cause.h - the function that a change comes from.
 *
 * A function that grew makes all of its callers grow, and its growth may be
 * spread over its callees, with too little in each of them to be proved. So the
 * cause is a function that has most of the change in its total, and little
 * else: a leaf if one has it, else the function that calls the code that grew.
 *
 * A function whose code cannot have changed, because its image has the same
 * build on both sides, or that changed only where one of its callers calls it,
 * is called more often: the cause is that caller.
 *
 * If the caller of a function of the same build is missing in most of its
 * stacks, or in most of the change, no cause can be named.
 *
 * A function that calls half of the program has a part of each change. If most
 * of it did not change, the cause is the function in it that is nearest to the
 * change, and others are counted next to it.
 *
 * Code that another function called before, or that was next to it, only moved:
 * a frame that the stacks of one side lack has all of its total more there.
 * Only if there is no larger cause, and two functions have as much more and
 * less, is the move reported: from which function to which. */
#pragma once
struct diff_rows;

/* Finds the cause of the judged changes, and judges all rows again, with a
 * reference that leaves out the cause's code: there may be too little of it in
 * each row to be seen. */
void diff_cause_judge(struct diff_rows *d);
/* Finds the cause again, after rows were marked as renamed. */
void diff_cause_find(struct diff_rows *d);
/* Returns the factor by which cause.times may be off, as diff_runs_factor(). */
double diff_cause_factor(const struct diff_rows *d);
