/* view.h - the answers of the other commands as screens on a terminal. */
#ifndef CLI_VIEW_VIEW_H
#define CLI_VIEW_VIEW_H

struct err;
struct opt;
struct store;

/* Shows the database until the user leaves; path is its file, for the commands
 * that are run and named. Those that know them get the options that were given,
 * of the table opts. Returns 0, or -1 and *err. */
int view_run(struct store *db, const char *path, const struct opt *opts,
	     struct err *err);
#endif
