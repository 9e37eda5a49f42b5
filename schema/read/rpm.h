/* rpm.h - which package a file belongs to, by rpm's database.
 *
 * rpm keeps it as an SQLite file since 4.16 (Fedora 33). Nothing is written to
 * it, and no more is believed than that it answers within a bounded time. */
#ifndef SCHEMA_READ_RPM_H
#define SCHEMA_READ_RPM_H
#include <stddef.h>

struct rpm;

/* NULL: there is no such database, or it is not rpm's. */
struct rpm *rpm_open(const char *path);
void rpm_close(struct rpm *r);
/* The name of the package that has a file of that name and a folder of that
 * path; NULL: none, or nothing can be said. Borrowed until the next call. */
const char *rpm_owner(struct rpm *r, const char *path);
#endif
