/* check_print.h - prints what analyze/check/ finds. */
#pragma once

struct check;
struct check_row;
struct err;
struct lines;

/* Adds a row to a line by a text with its columns; see check_say(). */
void check_say_line(struct lines *l, const struct check_row *r,
		    const char *text);

/* Adds what is broken or, if nothing is, what the verdict covers. */
void check_say_verdict(const struct check *c, struct lines *l);

/* Prints the first screen. This and those below return 0, or -1 and *err. */
int check_screen(struct check *c, struct err *err);
/* Prints the lines of the first screen about impossible frames. */
int check_frames(struct check *c, struct lines *l, struct err *err);
/* Prints the comparisons of --as-perf and --as-tid. */
int check_others(struct check *c, struct err *err);
/* Prints the evidence of --verbose. */
int check_evidence(struct check *c, struct err *err);
