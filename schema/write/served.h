/* served.h - a temporary database whose rows a server has added up.
 *
 * maker_create_temp() with no_pages, served_new(), served_put() for each row,
 * served_end(), maker_finish(); then it can be read like any other, but has no
 * single event. */
#pragma once
#include <stddef.h>

struct err;
struct served;
struct maker;
struct value;

/* Makes the tables of served.sql. db is borrowed. Returns NULL and *err on
 * failure. */
struct served *served_new(struct maker *mk, struct err *err);
/* Runs the named query with these values, which SERVED_PUT() takes as
 * arguments; it is prepared once. Returns 0, or -1 and *err. */
int served_put(struct served *s, const char *query, const struct value *v,
	       size_t n, struct err *err);
#define SERVED_PUT(s, query, err, ...)                                         \
	served_put(s, query, (const struct value[]){ __VA_ARGS__ },            \
		   sizeof((const struct value[]){ __VA_ARGS__ }) /             \
			   sizeof(struct value),                               \
		   err)
/* Makes the tables that depend on others. Returns 0, or -1 and *err. */
int served_end(struct served *s, struct err *err);
void served_free(struct served *s); /* NULL is allowed */
