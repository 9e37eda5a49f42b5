/* folded.h - the text form of stacks: "comm;main;read;vfs_read_[k] 12". */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct err;
struct flame_tree;
struct label_list;
struct labels;
struct name_opts;

/* Gives each line's stack, the outermost frame first, to fn, which may change
 * the list and gives -1 and *err to stop, else 0 or more. Empty lines and lines
 * that begin with '#' are skipped; any other line without a count is counted in
 * *bad. The first frame of a stack is a comm. */
typedef int folded_fn(void *arg, struct label_list *l, uint64_t count,
		      struct err *err);
int folded_read(FILE *in, const struct name_opts *names, struct labels *labels,
		folded_fn *fn, void *arg, uint64_t *bad, struct err *err);
/* Writes one line for each stack, sorted; ';' in a name becomes ':', bytes that
 * do not print become \xNN. */
int folded_write(FILE *out, const struct flame_tree *t, struct err *err);
/* Writes the frames of one stack: "main;read;vfs_read_[k]". */
void folded_stack(FILE *out, const struct labels *labels, const uint32_t *label,
		  size_t n);
