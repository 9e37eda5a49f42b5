/* make.h - what the child processes of follow do: they make the database of a
 * segment, or run the user's command for it. */
#ifndef CLI_FOLLOW_MAKE_H
#define CLI_FOLLOW_MAKE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses beside those of command.h. */
enum make_status {
	MAKE_EMPTY = 10, /* the parts have not even a header */
	MAKE_GONE,	 /* the files of the segment were removed */
	MAKE_BAD,	 /* the parts cannot be read */
};

/* Makes the database of a segment, and a glance if there is a file for it;
 * rows: with functions. */
_Noreturn void make_segment(const char *dir, uint32_t number, FILE *report,
			    bool rows);
/* Runs a shell's command with the path as $1. */
_Noreturn void make_command(const char *command, const char *path);
#endif
