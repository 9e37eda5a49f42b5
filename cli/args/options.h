/* options.h - parses and walks the option tables.
 *
 * Every command understands its own table and common_opts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/command.h"

/* -h, --version, --color and --no-pager, which every command understands. */
extern const struct opt common_opts[];
extern bool options_help;  /* -h or --help was given */
extern bool options_brief; /* it was -h */
extern bool options_version;
extern unsigned int options_own; /* how many others were given */
extern int options_before; /* positional arguments before "--"; 0: none, or
			    * there is no "--" */

/* Returns the command for which argv has a word of c; c, if there is none. Of
 * several it is the first, or one that has the first word as an option: "--diff
 * --html" is a page. The word is no unknown option of it. */
const struct command *options_command(const struct command *c, int argc,
				      char **argv);

/* Sets the values of the options in argv and moves the positional arguments to
 * its front, in their order. Returns their number, or -1 and *err (ERR_USAGE).
 * A long name may be cut as long as it is clear. After "--" nothing is an
 * option; "-" is never one. If the first positional argument is a program, what
 * follows it is the program's, options too. */
int options_parse(const struct command *c, int argc, char **argv,
		  struct err *err);

/* Parses --color alone, so that it also applies to an error in an argument
 * before it. */
void options_color(int argc, char **argv);

/* Puts '*' in place of the password of each URL of the command line, before
 * anything sees it: no message, database or list of processes has it. No URL
 * may have one, and who takes a URL says so. */
void options_hide_passwords(int argc, char **argv);

/* Returns whether an option was given, or one with the same value. */
bool options_given(const struct opt *o);

/* Calls fn for each option; groups are expanded in place, headings left out. */
typedef void option_fn(void *arg, const struct opt *o);
void options_walk(const struct opt *opts, option_fn *fn, void *arg);
/* The same for help: calls fn for headings, and once for a group that has a
 * sentence. */
void options_walk_listed(const struct opt *opts, option_fn *fn, void *arg);
/* Calls fn for the options of a list of long names, as in struct command, in
 * the order of the list. */
void options_walk_named(const struct opt *opts, const char *names,
			option_fn *fn, void *arg);
/* Calls fn for these, and then for all others. */
void options_walk_ranked(const struct opt *opts, const char *names,
			 option_fn *fn, void *arg);

/* ---- finds the word that somebody may have meant. */

/* Nothing is near a word that is longer. */
#define NEAREST_MAX 48
/* Finds the word nearest to what was typed: start with best NULL and offer all
 * words. best stays NULL if no word is near enough. */
struct nearest {
	const char *typed;
	const char *best;
	size_t distance;
};
void nearest_offer(struct nearest *near, const char *word);
