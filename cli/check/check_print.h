/* check_print.h - prints what analyze/check/ finds. */
#pragma once

struct check;
struct err;
struct lines;

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
