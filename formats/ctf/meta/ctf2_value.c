/* ctf2_value.c - values of JSON, and messages that say where one is wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/ctf/meta/ctf2.h"
#include "stitch/base/words.h"

int ctf2_fail(struct ctf2 *j, const char *fmt, ...)
{
	char msg[240];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return raw_fail(j->r, j->at, "%.*s: %s", (int)j->n_where, j->where,
			msg);
}

size_t ctf2_enter(struct ctf2 *j, const char *name)
{
	size_t mark = j->n_where;
	int n = snprintf(j->where + mark, sizeof(j->where) - mark, "%s%s",
			 mark ? "." : "", name);

	if (n > 0 && (size_t)n < sizeof(j->where) - mark)
		j->n_where += (size_t)n;
	return mark;
}

int ctf2_u64(struct ctf2 *j, struct json_object *o, uint64_t lo, uint64_t hi,
	     uint64_t *out)
{
	bool number = json_object_is_type(o, json_type_int) &&
		      json_object_get_int64(o) >= 0;

	*out = number ? json_object_get_uint64(o) : 0;
	if (!number || *out < lo || *out > hi)
		return ctf2_fail(
			j, "value is not a number from %" PRIu64 " to %" PRIu64,
			lo, hi);
	return 0;
}

int ctf2_array(struct ctf2 *j, struct json_object *o, size_t *n)
{
	if (!json_object_is_type(o, json_type_array))
		return ctf2_fail(j, "value is not an array");
	*n = json_object_array_length(o);
	return 0;
}

int ctf2_object(struct ctf2 *j, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return ctf2_fail(j, "value is not an object");
	return 0;
}

int ctf2_word(struct ctf2 *j, struct json_object *o, const char *words)
{
	if (!json_object_is_type(o, json_type_string))
		return ctf2_fail(j, "value is not a string");
	const char *word = json_object_get_string(o);
	int i = words_find(words, word, strlen(word));

	return i < 0 ? ctf2_fail(j, "'%.60s' is not known", word) : i;
}

int ctf2_put_name(struct ctf2 *j, void *to, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_string))
		return ctf2_fail(j, "value is not a string");
	*(uint32_t *)to =
		intern_add_bytes(&j->r->names, json_object_get_string(value),
				 (size_t)json_object_get_string_len(value));
	return raw_room(j->r, j->at);
}

int ctf2_put_text(struct ctf2 *j, void *to, struct json_object *value)
{
	const char **text = to;
	uint32_t name = 0;

	if (ctf2_put_name(j, &name, value))
		return -1;
	*text = raw_keep(j->r, name);
	return 0;
}

int ctf2_put_u64(struct ctf2 *j, void *to, struct json_object *value)
{
	return ctf2_u64(j, value, 0, UINT64_MAX, to);
}

int ctf2_put_i64(struct ctf2 *j, void *to, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_int) ||
	    (json_object_get_int64(value) >= 0 &&
	     json_object_get_uint64(value) > INT64_MAX))
		return ctf2_fail(j, "value is not a signed number of 64 bits");
	*(int64_t *)to = json_object_get_int64(value);
	return 0;
}

int ctf2_range(struct ctf2 *j, struct json_object *o, struct ctf2_range *out)
{
	uint64_t end[2];
	bool below[2];
	size_t n = 0;

	if (ctf2_array(j, o, &n))
		return -1;
	if (n != 2)
		return ctf2_fail(j, "range has %zu numbers, needs 2", n);
	for (size_t i = 0; i < 2; i++) {
		struct json_object *v = json_object_array_get_idx(o, i);

		if (!json_object_is_type(v, json_type_int))
			return ctf2_fail(j, "end of a range is not a number");
		below[i] = json_object_get_int64(v) < 0;
		end[i] = below[i] ? (uint64_t)json_object_get_int64(v)
				  : json_object_get_uint64(v);
	}
	if (below[0] == below[1] ? end[0] > end[1] : below[1])
		return ctf2_fail(j, "range ends before it begins");
	out->range = (struct ctf_range){ end[0], end[1] };
	out->negative = below[0];
	out->wide = !below[1] && end[1] > INT64_MAX;
	return 0;
}

static int ctf2_property(struct ctf2 *j, const char *name,
			 struct json_object *value,
			 const struct ctf2_property *table, size_t n, void *to)
{
	const struct ctf2_property *p = NULL;

	for (size_t i = 0; i < n && !p; i++)
		if (!strcmp(table[i].name, name))
			p = &table[i];
	if (p) {
		size_t mark = ctf2_enter(j, name);

		if (p->set && p->set(j, (char *)to + p->at, value))
			return -1;
		j->n_where = mark;
		return 0;
	}
	if (!strcmp(name, "type") || !strcmp(name, "attributes"))
		return 0;
	if (strcmp(name, "extensions") != 0)
		return ctf2_fail(j, "property '%.60s' is not known", name);
	if (ctf2_object(j, value))
		return -1;
	json_object_object_foreach(value, space, in_space)
	{
		if (!json_object_is_type(in_space, json_type_object) ||
		    json_object_object_length(in_space))
			return ctf2_fail(j,
					 "extension of '%.60s' is not "
					 "supported",
					 space);
	}
	return 0;
}

int ctf2_properties(struct ctf2 *j, struct json_object *o,
		    const struct ctf2_property *table, size_t n, void *to)
{
	if (ctf2_object(j, o))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (table[i].needed &&
		    !json_object_object_get_ex(o, table[i].name, NULL))
			return ctf2_fail(j, "property '%s' is missing",
					 table[i].name);
	json_object_object_foreach(o, name, value)
	{
		if (ctf2_property(j, name, value, table, n, to))
			return -1;
	}
	return 0;
}
