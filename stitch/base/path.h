/* path.h - parts of file names. */
#ifndef STITCH_BASE_PATH_H
#define STITCH_BASE_PATH_H
#include <string.h>

/* Returns what follows the last '/' of path; path itself if there is none. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Like path_base(), but returns the whole of a path that ends with '/'. */
static inline const char *path_name(const char *path)
{
	const char *base = path_base(path);

	return *base ? base : path;
}
#endif
