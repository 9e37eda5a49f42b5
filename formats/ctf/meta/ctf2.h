/* ctf2.h - reads CTF 2 metadata, a sequence of JSON texts: what its files
 * share.
 *
 * ctf2_value.c reads values and says where one is wrong, ctf2_class.c makes
 * field classes, ctf2_read.c takes the sequence apart. What an object may have
 * is a table of its properties: one that is not in it is refused, because it
 * may change what the bytes mean. */
#pragma once
#include <json-c/json.h>

#include "formats/ctf/meta/raw.h"

struct ctf2 {
	struct raw *r;
	uint32_t at;	 /* of the fragment */
	char where[160]; /* names on the way to the value */
	size_t n_where;
	const struct raw_class **alias; /* by name */
	size_t n_alias, cap_alias;
	int depth;
	uint32_t n_fragment;
	bool trace_seen;
};

/* Sets the error, with the place that ctf2_enter() told. Returns -1. */
int ctf2_fail(struct ctf2 *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds a name to the place that messages tell. Returns what n_where was, to
 * which the caller sets it. */
size_t ctf2_enter(struct ctf2 *j, const char *name);

/* These fail if the value is of another type, or outside lo to hi. */
int ctf2_u64(struct ctf2 *j, struct json_object *o, uint64_t lo, uint64_t hi,
	     uint64_t *out);
int ctf2_array(struct ctf2 *j, struct json_object *o, size_t *n);
int ctf2_object(struct ctf2 *j, struct json_object *o);
/* Returns which of the words the string is, words_find(), or -1. */
int ctf2_word(struct ctf2 *j, struct json_object *o, const char *words);

/* A range of numbers. */
struct ctf2_range {
	struct ctf_range range;
	bool wide;     /* an end above 2^63 - 1 */
	bool negative; /* an end below 0 */
};
int ctf2_range(struct ctf2 *j, struct json_object *o, struct ctf2_range *out);

typedef int ctf2_set_fn(struct ctf2 *j, void *to, struct json_object *value);
/* Takes one property: set() is called with the address `at` bytes after the
 * start of what is made; NULL: the value does not matter. */
struct ctf2_property {
	const char *name;
	bool needed;
	ctf2_set_fn *set;
	size_t at;
};
/* Reads the properties of an object; 'type' and 'attributes' are read by who
 * wants them. Fails on those that are not in the table. */
int ctf2_properties(struct ctf2 *j, struct json_object *o,
		    const struct ctf2_property *table, size_t n, void *to);

/* Set what is at `to`: uint32_t, the number of a name; const char *, its text
 * for as long as the tree; uint64_t; int64_t. */
ctf2_set_fn ctf2_put_name, ctf2_put_text, ctf2_put_u64, ctf2_put_i64;

/* Sets the const struct raw_class * at `to`; ctf2_put_scope: to a structure. */
ctf2_set_fn ctf2_put_class, ctf2_put_scope;
