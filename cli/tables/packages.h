/* packages.h - which package a file belongs to, by dpkg's lists or rpm's
 * database. */
#ifndef CLI_TABLES_PACKAGES_H
#define CLI_TABLES_PACKAGES_H

struct packages;

/* root: the system whose packages are meant; NULL: this one. Nothing is run
 * and nothing is read yet. */
struct packages *packages_new(const char *root);
void packages_free(struct packages *p);
/* A path below the root that is to be looked for. */
void packages_want(struct packages *p, const char *path);
/* Reads all lists once. */
void packages_read(struct packages *p);
/* The owner of a path that was wanted; NULL: not known. Borrowed from p. */
const char *packages_of(const struct packages *p, const char *path);
#endif
