/* main.c - finds the command, runs it, and prints its error. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/help.h"
#include "cli/args/options.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "cli/output/term.h"
#include "cli/version.h"
#include "schema/guard/guard.h"
#include "stitch/base/log.h"
#include "stitch/base/err.h"
#include "stitch/files/new_file.h"

/* The functions with the largest frames take 75 kB, and the demangler of
 * libiberty goes deep. */
#define STACK_LEAST ((rlim_t)1 << 20)

/* The kernel looks at the limit when the stack grows: it can still be raised.
 * Returns -1 and *err if the hard limit is too low: a crash does not say so. */
static int main_check_stack(struct err *err)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur >= STACK_LEAST)
		return 0;
	r.rlim_cur = r.rlim_max < STACK_LEAST ? r.rlim_max : STACK_LEAST;
	if (!setrlimit(RLIMIT_STACK, &r) && r.rlim_cur == STACK_LEAST)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "the stack is limited to %llu kB, needs %llu; see "
		       "'ulimit -Hs'",
		       (unsigned long long)r.rlim_cur / 1024,
		       (unsigned long long)STACK_LEAST / 1024);
}

static int main_complain(const struct err *err, const char *command)
{
	static const char name[] = "backstitch:";

	out_settle();
	fprintf(stderr, "%s%s%s ", term_on(stderr, STYLE_RED), name,
		term_off(stderr));
	if (term_limit(stderr) == INT_MAX)
		fprintf(stderr, "%s\n", err->msg);
	else
		term_wrap(stderr, err->msg, sizeof(name), 2,
			  term_columns(stderr));
	if (err->code != ERR_USAGE)
		return STATUS_FAILED;
	fprintf(stderr, "see 'backstitch %s%s'\n", command ? command : "help",
		command ? " -h" : "");
	return STATUS_USAGE;
}

/* The optional libraries of which the Makefile says that this build lacks them.
 */
#ifndef WITHOUT
#define WITHOUT ""
#endif

/* Handles "help", "--version" and the like in place of a command. Returns a
 * status, or -1 if word is none of them. */
static int run_plain(const char *word)
{
	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		help_overview(stdout);
	else if (!strcmp(word, "-V") || !strcmp(word, "--version"))
		puts(*WITHOUT ? "backstitch " VERSION
				"\nbuilt without: " WITHOUT
			      : "backstitch " VERSION);
	else if (!strcmp(word, "--list-options"))
		help_list_options(stdout);
	else if (!strcmp(word, "--list-common"))
		help_list_common(stdout);
	else if (!strcmp(word, "--list-commands"))
		help_list_commands(stdout);
	else
		return -1;
	return STATUS_OK;
}

static const struct command *main_find_name(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, word))
			return commands[i];
	return NULL;
}

/* Returns the command that the first word names; a file or an option stands for
 * the command without a name. NULL and *err if the word is none of these, or a
 * command comes later. */
static const struct command *main_find(int argc, char **argv, struct err *err)
{
	const struct command *c = main_find_name(argv[0]);
	struct stat st;

	if (c)
		return c;
	if (argv[0][0] != '-')
		return stat(argv[0], &st) ? help_find(argv[0], err)
					  : &cmd_default;
	for (int i = 1; i < argc; i++) {
		if (!main_find_name(argv[i]) || !stat(argv[i], &st))
			continue;
		err_set(err, ERR_USAGE,
			"a command comes first, '%s' before '%s'", argv[i],
			argv[0]);
		return NULL;
	}
	return &cmd_default;
}

static int run_command(int argc, char **argv, struct err *err)
{
	const struct command *c = main_find(argc, argv, err);
	const char *name = c && *c->name ? argv[0] : NULL;
	int status;
	int n;

	if (!c)
		return main_complain(err, NULL);
	if (name) {
		argc--;
		argv++;
	}
	c = options_command(c, argc, argv);
	n = options_parse(c, argc, argv, err);
	if (n < 0)
		return main_complain(err, name);
	if (options_version)
		return run_plain("--version");
	if (c->pages || options_help)
		pager_arm();
	if (options_help) {
		help_command(stdout, c, options_brief);
		return STATUS_OK;
	}
	status = c->run(n, argv, err);
	if (stop_requested() || (status < 0 && err->code == ERR_STOPPED)) {
		out_settle();
		stop_now();
	}
	return status < 0 ? main_complain(err, name) : status;
}

static void main_log(const char *line)
{
	say("%s\n", line);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int status;

	/* Opens /dev/null for closed standard descriptors: otherwise a database
	 * could become descriptor 1 and output would overwrite it. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			if (open("/dev/null", O_RDWR) != fd)
				_exit(STATUS_FAILED);
	const struct command *c = argc > 1 ? main_find_name(argv[1]) : NULL;

	/* a program that is recorded needs the URL that it is given */
	if (!c || !c->program)
		options_hide_passwords(argc, argv);
	options_color(argc, argv);
	guard_start();
	signals_init();
	out_init();
	signals_cleans(new_file_abandon);
	new_file_wait(!getenv("BACKSTITCH_NO_SYNC"));
	if (main_check_stack(&err))
		return main_complain(&err, NULL);
	const char *log = getenv("BACKSTITCH_LOG");

	if (log && log_start(log, main_log, &err))
		return main_complain(&err, NULL);
	if (argc < 2) {
		help_overview(stderr);
		return STATUS_USAGE;
	}
	status = run_plain(argv[1]);
	if (status < 0)
		status = run_command(argc - 1, argv + 1, &err);
	if (out_finish(&err))
		return main_complain(&err, NULL);
	return status;
}
