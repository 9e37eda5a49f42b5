/* path.h - parts of file names. */
#pragma once
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Returns what follows the last '/' of path; path itself if there is none, or
 * if it is "/ (deleted)", which Linux shows for a file outside all mounts. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash, "/ (deleted)") ? slash + 1 : path;
}

/* Like path_base(), but returns the whole of a path that ends with '/'. */
static inline const char *path_name(const char *path)
{
	const char *base = path_base(path);

	return *base ? base : path;
}

/* Returns whether a path, appended to a folder's, may lead out of it. */
static inline bool path_leaves_root(const char *path)
{
	for (const char *s = path; (s = strstr(s, "..")); s += 2)
		if ((s == path || s[-1] == '/') && (!s[2] || s[2] == '/'))
			return true;
	return false;
}

static inline bool path_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}
