/* diff_cause.h - the function that a change comes from.
 *
 * What grew makes all of its callers grow, and may be spread over what it
 * calls, with too little in each of them to be proved. So the cause is a
 * function that has most of the change in its total, and little else: a leaf
 * if one has it, else the function in which what grew is called.
 *
 * A function whose code cannot have changed, as its image has the same build on
 * both sides, or that changed only where one of its callers calls it, is called
 * more often: the cause is that caller.
 *
 * So is one of the same build whose caller is missing in most of its stacks, or
 * of what has the change: then there is no cause to be named.
 *
 * What calls half of the program has a part of each change. Where most of that
 * did not change, the cause is the function in it that is nearest to the
 * change, and others are counted next to it.
 *
 * What was under another function before, or next to it, only moved: a frame
 * that the stacks of one side lack has all of its total more there. Only where
 * there is no larger cause, and two functions have as much more and less, what
 * moved is reported: from where to where. */
#pragma once
struct diff_rows;

/* Finds the cause of what was judged, and judges all again without its code in
 * what rows are measured against: there it may be too little in each row to be
 * seen. */
void diff_cause_judge(struct diff_rows *d);
/* Finds the cause again, after rows were marked as renamed. */
void diff_cause_find(struct diff_rows *d);
/* Returns the factor by which cause.times may be off, as diff_runs_factor(). */
double diff_cause_factor(const struct diff_rows *d);
