/* check_print.h - prints what analyze/check/ finds. */
#pragma once
#include <stdio.h>

struct check;
struct check_row;
struct err;
struct lines;

/* check_say.c: writes a row as a text says: {column} is the text of a column,
 * {column:d} its number, {column:,} that in groups, {column:s} and {column:n}
 * that of ns as seconds and as "12.3 us", {column:, gap} "1 gap" or "2 gaps";
 * after '|' is what stands for NULL. A part in [brackets] is left out if a
 * column of it is NULL. */
void check_say(FILE *out, const struct check_row *r, const char *text);
/* The same, added to a line of the screen. */
void check_say_line(struct lines *l, const struct check_row *r,
		    const char *text);

/* Prints each statement that check asks, with the values of the filters. */
void check_print_sql(const struct check *c);
/* check_json.c */
int check_print_json(struct check *c, struct err *err);
/* Returns the exit status of the verdict. */
int check_status(const struct check *c);
/* check_words.c: adds what is broken, or what the verdict covers. */
void check_say_verdict(const struct check *c, struct lines *l);

/* check_screen.c: prints the first screen. */
int check_screen(struct check *c, struct err *err);
/* check_frames.c: impossible frames, as lines of the first screen. */
int check_frames(struct check *c, struct lines *l, struct err *err);
/* check_others.c: --as-perf, --as-tid. */
int check_others(struct check *c, struct err *err);
/* check_evidence.c: --verbose. */
int check_evidence(struct check *c, struct err *err);
