/* check_print.h - prints what analyze/check/ finds. */
#pragma once

struct check;
struct check_row;
struct err;
struct lines;

/* The same, added to a line of the screen. */
void check_say_line(struct lines *l, const struct check_row *r,
		    const char *text);

/* Adds what is broken, or what the verdict covers. */
void check_say_verdict(const struct check *c, struct lines *l);

/* check_screen.c: prints the first screen. */
int check_screen(struct check *c, struct err *err);
/* check_evidence.c: impossible frames, as lines of the first screen. */
int check_frames(struct check *c, struct lines *l, struct err *err);
/* --as-perf, --as-tid. */
int check_others(struct check *c, struct err *err);
/* --verbose. */
int check_evidence(struct check *c, struct err *err);
