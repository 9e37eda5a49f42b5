/* command.h - one subcommand: one file, one struct command, one table row.
 *
 * Usage text, help, completion and the man-page check come from the row. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H
#include <stdbool.h>
#include <stddef.h>

struct err;

/* Exit statuses; 4 wins over 3. */
enum status {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_USAGE,
	STATUS_DAMAGED, /* done, but damaged input was skipped */
	STATUS_LOSS,	/* check, --strict: causality errors or loss */
};

enum opt_kind {
	OPT_FLAG,   /* bool *value: true */
	OPT_NO,	    /* bool *value: false ("--no-x") */
	OPT_STRING, /* const char **value */
	OPT_NUMBER, /* long *value */
	OPT_SIZE,   /* unsigned long *value; 64M, 2G */
	OPT_CHOICE, /* const char **value, one of choices */
	OPT_LIST,   /* struct opt_list *value: repeatable */
	OPT_GROUP,  /* another table of options; value: const struct opt * */
	OPT_END
};

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

struct command {
	const char *name;
	const char *args;	     /* "[options] CAPTURE..." */
	const char *summary;	     /* same line as in the man page */
	const char *const *examples; /* lines for help; ends with NULL */
	const struct opt *opts;
	bool pages; /* its output is text that may be long: for a pager */
	/* Positional arguments only. Gives an enum status, or -1 and *err. */
	int (*run)(int argc, char **argv, struct err *err);
};

extern const struct command *const commands[]; /* ends with NULL */
#endif
