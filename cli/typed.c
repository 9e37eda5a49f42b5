/* typed.c - decimal numbers and times as users type them. */
#include "cli/typed.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "stitch/base/mem.h"

int typed_decimal(const char **p, unsigned int places, int64_t *out)
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

int typed_span(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t times, parts; /* seconds: times / parts */
	} units[] = {
		{ "ms", 1, 1000 }, { "s", 1, 1 },     { "m", 60, 1 },
		{ "h", 3600, 1 },  { "d", 86400, 1 },
	};
	int64_t v;

	if (typed_decimal(&text, 9, &v))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text, units[i].name)) {
			*ns = v / units[i].parts;
			return __builtin_mul_overflow(*ns, units[i].times, ns)
				       ? -1
				       : 0;
		}
	return -1;
}
