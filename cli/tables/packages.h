/* packages.h - finds the package of a file in dpkg's lists or rpm's
 * database. */
#pragma once

struct packages;

/* root: the folder of the system whose packages to use; NULL: this one. Reads
 * nothing yet, and never runs a program. */
struct packages *packages_new(const char *root);
void packages_free(struct packages *p);
/* Adds a path below the root to look for. */
void packages_want(struct packages *p, const char *path);
/* Reads all lists, and finds the packages of all paths that were added. */
void packages_read(struct packages *p);
/* Returns the package of a path that was added, NULL if it is unknown. The
 * string belongs to p. */
const char *packages_of(const struct packages *p, const char *path);
