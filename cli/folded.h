/* folded.h - the text form of stacks: "comm;main;read;vfs_read_[k] 12". */
#ifndef CLI_FOLDED_H
#define CLI_FOLDED_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct flame_tree;
struct label;
struct labels;

/* Adds all lines of `in`. Empty lines and lines that begin with '#' are
 * skipped; any other line without a count is counted in *bad. reverse: the
 * innermost frame becomes the root. The first frame of a stack is a comm. */
int folded_read(FILE *in, struct labels *labels, struct flame_tree *t,
		bool reverse, uint64_t *bad, struct err *err);
/* One line for each stack, sorted; ';' in a name becomes ':', bytes that do
 * not print become \xNN. */
int folded_write(FILE *out, const struct flame_tree *t, struct err *err);
/* One frame of such a line: its name and what kind of code it is. */
void folded_name(FILE *out, const struct label *l);
#endif
