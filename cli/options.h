/* options.h - the option tables: parsing, walking, and near misses.
 *
 * Every command takes its own table and common_opts (-h, --color,
 * --no-pager). */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

struct err;

/* -h, --color and --no-pager: understood by every command. */
extern const struct opt common_opts[];
extern bool options_help; /* -h or --help was given */

/* Sets the values of the options in argv and moves the other arguments to
 * its front, in their order. Gives how many there are, or -1 and *err
 * (ERR_USAGE). After "--" nothing is an option; "-" never is. */
int options_parse(const struct opt *opts, int argc, char **argv,
		  struct err *err);

/* --color alone, before anything is said: an error in front of it on the
 * command line is colored as it says too. */
void options_color(int argc, char **argv);

/* Calls fn for every option, those of groups in their place. */
typedef void option_fn(void *arg, const struct opt *o);
void options_walk(const struct opt *opts, option_fn *fn, void *arg);

/* The word nearest to what was typed. Start with best NULL and offer all
 * words; best stays NULL when none is near enough to be meant. */
struct nearest {
	const char *typed;
	const char *best;
	size_t distance;
};
void nearest_offer(struct nearest *near, const char *word);
#endif
