/* session_folders.h - folders of one LTTng session that are given together, as
 * the chunks of a rotation or snapshots are: they are one capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct session_folders {
	char **path;	/* of each capture, the first folder; borrowed */
	char **session; /* whose folders they are; NULL: of none */
	char ***more;	/* the other folders, then NULL; borrowed */
	size_t n;
};

/* Puts the folders of each session together, in the order of the first ones. A
 * path is borrowed. apart: each path is a capture. */
void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart);
void session_folders_release(struct session_folders *c);
