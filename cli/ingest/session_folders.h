/* session_folders.h - which captures are read: folders of one LTTng session
 * that are given together, as the chunks of a rotation or snapshots are, are
 * one capture; and what 'record --waits' writes next to a capture is read with
 * it. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

struct session_folders {
	char **path;	  /* of each capture, the first folder; borrowed */
	char **session;	  /* whose folders they are; NULL: of none */
	char ***more;	  /* the other folders, then NULL; borrowed */
	size_t n, given;  /* the first ones */
	struct arena own; /* of names that were not given */
};

/* Puts the folders of each session together, in the order of the first ones. A
 * path is borrowed. apart: each path is a capture. Behind these come
 * FILE.ftrace and FILE.cgroups of each FILE, unless apart: where they are
 * there, were not given, and are not of an earlier recording, before FILE was
 * written. */
void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart);
void session_folders_release(struct session_folders *c);
