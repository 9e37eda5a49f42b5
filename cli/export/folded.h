/* folded.h - the text form of stacks: "comm;main;read;vfs_read_[k] 12". */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct err;
struct flame_tree;
struct label_list;
struct labels;
struct name_opts;

/* Calls fn with the stack of each line, outermost frame first, whose first
 * frame is a comm. fn may change the list; it returns 0 or more, or -1 and *err
 * to stop. Empty lines and lines that begin with '#' are skipped; other lines
 * without a count are counted in *bad. Returns 0, or -1 and *err. */
typedef int folded_fn(void *arg, struct label_list *l, uint64_t count,
		      struct err *err);
int folded_read(FILE *in, const struct name_opts *names, struct labels *labels,
		folded_fn *fn, void *arg, uint64_t *bad, struct err *err);
/* Writes one line for each stack, sorted; in names ';' becomes ':', and bytes
 * that do not print become \xNN. Returns 0, or -1 and *err. */
int folded_write(FILE *out, const struct flame_tree *t, struct err *err);
/* Writes the frames of one stack: "main;read;vfs_read_[k]". */
void folded_stack(FILE *out, const struct labels *labels, const uint32_t *label,
		  size_t n);
