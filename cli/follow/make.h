/* make.h - what the child processes of follow do: one makes the databases of
 * segments, others run the user's command for them. */
#pragma once
#include <stdbool.h>

struct claim;

/* Statuses of a segment beside those of command.h. */
enum make_status {
	MAKE_EMPTY = 10, /* the parts have not even a header */
	MAKE_GONE,	 /* the files of the segment were removed */
	MAKE_BAD,	 /* the parts cannot be read */
	MAKE_NO_ROOM,	 /* the disk is full */
};

/* The answer for a segment. */
struct make_done {
	int status;
	bool ends; /* the process keeps too much, and ends */
};

struct make_opts {
	const struct claim *claim;
	int talk;   /* gets the numbers of segments, as uint32_t, and gives
		     * struct make_done for each; its end ends the process */
	int report; /* a file for the glance of each segment; -1: none */
};

/* Makes the databases of the segments that it is told to. */
_Noreturn void make_segments(const struct make_opts *o);
/* Runs a shell's command with the path as $1. */
_Noreturn void make_command(const char *command, const char *path);
