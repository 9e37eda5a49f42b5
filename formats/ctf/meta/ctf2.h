/* ctf2.h - reads CTF 2 metadata, a sequence of JSON texts: what its files
 * share.
 *
 * What an object may have
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

/* Set what is at `to`: uint32_t, the number of a name; const char *, its text
 * for as long as the tree; uint64_t; int64_t. */
ctf2_set_fn ctf2_put_name, ctf2_put_text, ctf2_put_u64, ctf2_put_i64;

/* Sets the const struct raw_class * at `to`; ctf2_put_scope: to a structure. */
ctf2_set_fn ctf2_put_class, ctf2_put_scope;
