/* command.h - one subcommand: one file, one struct command, one table row.
 *
 * Usage text, help, completion and the man-page check come from the row. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cli/args/status.h"

struct err;

enum opt_kind {
	OPT_FLAG,
	OPT_NO,
	OPT_STRING,
	OPT_NUMBER,
	OPT_SIZE,
	OPT_CHOICE,
	OPT_LIST,
	OPT_WORD,
	OPT_GROUP,
	OPT_HEADING,
	OPT_END
};

/* What no one can ask for: a number that was not given. */
#define NUMBER_UNSET (-1)

struct opt_list {
	const char *item[64];
	size_t n;
};

struct opt {
	enum opt_kind kind;
	char letter; /* 0 when only the long name exists */
	const char *name;
	const char *arg; /* "FILE" in the usage text; NULL: takes none */
	const char *help;
	void *value;
	const char *const *choices; /* OPT_CHOICE only, NULL-terminated */
};

/* The entries of an option table; { .kind = OPT_END } ends it. A value of the
 * wrong type does not compile. */
#define OPT_ENTRY(kind_, letter_, name_, arg_, type_, value_, choices_, help_) \
	{                                                                      \
		.kind = (kind_), .letter = (letter_), .name = (name_),         \
		.arg = (arg_), .help = (help_),                                \
		.value = true ? (value_) : (type_ *)NULL,                      \
		.choices = (choices_)                                          \
	}
/* Sets a bool to true. */
#define OPT_FLAG(letter, name, value, help)                                    \
	OPT_ENTRY(OPT_FLAG, letter, name, NULL, bool, value, NULL, help)
/* Sets a bool to false: "--no-x". */
#define OPT_NO(letter, name, value, help)                                      \
	OPT_ENTRY(OPT_NO, letter, name, NULL, bool, value, NULL, help)
#define OPT_STRING(letter, name, arg, value, help)                             \
	OPT_ENTRY(OPT_STRING, letter, name, arg, const char *, value, NULL,    \
		  help)
/* A long from 0 on. */
#define OPT_NUMBER(letter, name, arg, value, help)                             \
	OPT_ENTRY(OPT_NUMBER, letter, name, arg, long, value, NULL, help)
/* A number of bytes in an unsigned long: 64M, 2G. */
#define OPT_SIZE(letter, name, arg, value, help)                               \
	OPT_ENTRY(OPT_SIZE, letter, name, arg, unsigned long, value, NULL, help)
/* One of the words in choices, which end with NULL. Where arg is "[...]" the
 * first one need not be given: what follows is a value if it is a choice. */
#define OPT_CHOICE(letter, name, arg, value, choices, help)                    \
	OPT_ENTRY(OPT_CHOICE, letter, name, arg, const char *, value, choices, \
		  help)
/* May be given several times. */
#define OPT_LIST(letter, name, arg, value, help)                               \
	OPT_ENTRY(OPT_LIST, letter, name, arg, struct opt_list, value, NULL,   \
		  help)
/* A word for another command: "report --diff" is "diff". */
#define OPT_WORD(name_, command_)                                              \
	{                                                                      \
		.kind = OPT_WORD, .name = (name_), .value = (void *)(command_) \
	}
/* All options of another table. */
#define OPT_GROUP(table)                                                       \
	{                                                                      \
		.kind = OPT_GROUP, .value = (void *)(table)                    \
	}
/* The same, but help shows a sentence in their place. */
#define OPT_GROUP_SENTENCE(table, sentence)                                    \
	{                                                                      \
		.kind = OPT_GROUP, .value = (void *)(table),                   \
		.help = (sentence)                                             \
	}

/* Not an option: what the options after it are about, up to the next heading,
 * in groups too. Two equal headings in succession are printed once. */
#define OPT_HEADING(text)                                                      \
	{                                                                      \
		.kind = OPT_HEADING, .help = (text)                            \
	}

struct command {
	const char *name;
	const char *args;	  /* "[options] CAPTURE..." */
	const char *summary;	  /* the same line as in the man page */
	const char *examples[12]; /* ends with NULL; -h shows the first 4 */
	const struct opt *opts;
	/* Long names of at most 14 options, by blanks, those that most people
	 * need first: -h shows only these, and completion offers them before
	 * the others. NULL: there are so few that -h shows all. */
	const char *common;
	const struct opt *words; /* OPT_WORD, which no help shows */
	bool program; /* the first positional argument is one, as for perf
		       * record: no option follows it */
	bool pages;   /* prints long text: use a pager on a terminal */
	/* Called with the positional arguments. Returns an enum status, or -1
	 * and *err. */
	int (*run)(int argc, char **argv, struct err *err);
};

extern const struct command *const commands[]; /* ends with NULL */
/* Help shows the commands in groups; each goes up to the next. */
struct command_group {
	const char *title; /* of names in one line; "": each has its summary */
	const struct command *first;
};
extern const struct command_group command_groups[]; /* ends with title NULL */
extern const struct command cmd_default; /* for a file in place of a command */
extern const struct command cmd_path;	 /* after record --waits */
/* Sets --pid of cmd_path; 0: no process. */
void path_of_process(long pid);
