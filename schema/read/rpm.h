/* rpm.h - finds the package of a file in rpm's database.
 *
 * rpm's database is an SQLite file since rpm 4.16 (Fedora 33). Nothing is
 * written to it, and a query ends after a bounded time. */
#pragma once

struct rpm;

/* Returns NULL if there is no such database, or if it is not rpm's. */
struct rpm *rpm_open(const char *path);
void rpm_close(struct rpm *r);
/* Returns the name of the package that has a file of that name in a folder of
 * that path, or NULL if there is none or the query fails. Borrowed until the
 * next call. */
const char *rpm_owner(struct rpm *r, const char *path);
