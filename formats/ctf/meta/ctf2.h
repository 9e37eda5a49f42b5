/* ctf2.h - what the files that read CTF 2 metadata share: it is a sequence of
 * JSON texts.
 *
 * Each kind of object has a table of its properties. A property that is not in
 * the table is refused, because it may change what the bytes mean. */
#pragma once
#include <json-c/json.h>

#include "formats/ctf/meta/raw.h"

struct ctf2 {
	struct raw *r;
	uint32_t at;	 /* offset of the fragment */
	char where[160]; /* path of names to the value, for messages */
	size_t n_where;
	const struct raw_class **alias; /* classes by name */
	size_t n_alias, cap_alias;
	int depth;
	uint32_t n_fragment;
	bool trace_seen;
};

/* A range of numbers. */
struct ctf2_range {
	struct ctf_range range;
	bool wide;     /* an end is above 2^63 - 1 */
	bool negative; /* an end is below 0 */
};
int ctf2_range(struct ctf2 *j, struct json_object *o, struct ctf2_range *out);

typedef int ctf2_set_fn(struct ctf2 *j, void *to, struct json_object *value);
/* A property of an object: set() stores its value `at` bytes after the start of
 * the object that is made; set NULL: the value does not matter. */
struct ctf2_property {
	const char *name;
	bool needed;
	ctf2_set_fn *set;
	size_t at;
};

/* Store a value at `to`: ctf2_put_name() a name's number (uint32_t),
 * ctf2_put_text() a text that lives as long as the tree (const char *), the
 * others uint64_t and int64_t. */
ctf2_set_fn ctf2_put_name, ctf2_put_text, ctf2_put_u64, ctf2_put_i64;

/* Store a const struct raw_class * at `to`; ctf2_put_scope() takes structures
 * only. */
ctf2_set_fn ctf2_put_class, ctf2_put_scope;
