/* parse_number.c - decimal numbers and durations that users type. */
#include "stitch/text/parse_number.h"

#include <stdbool.h>

#include "stitch/base/mem.h"

int parse_decimal(const char **p, unsigned int places, int64_t *out)
{
	const char *s = *p;
	bool digits = false;
	bool point = false;
	int64_t v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		digits = true;
		if (point && !places)
			continue;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return -1;
		places -= point;
	}
	for (; places; places--)
		if (__builtin_mul_overflow(v, 10, &v))
			return -1;
	if (!digits)
		return -1;
	*p = s;
	*out = v;
	return 0;
}

int parse_duration(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		unsigned int places; /* as many as make ns */
		int64_t times;
	} units[] = {
		{ "ms", 6, 1 },	  { "s", 9, 1 },     { "m", 9, 60 },
		{ "h", 9, 3600 }, { "d", 9, 86400 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const char *p = text;
		int64_t v;

		if (!parse_decimal(&p, units[i].places, &v) &&
		    !strcmp(p, units[i].name))
			return __builtin_mul_overflow(v, units[i].times, ns)
				       ? -1
				       : 0;
	}
	return -1;
}
