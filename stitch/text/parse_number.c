/* parse_number.c - reads decimal numbers and durations that users type. */
#include "stitch/text/parse_number.h"

#include <time.h>

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
		unsigned int places; /* decimals that make ns */
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

#define SECOND 1000000000
/* ns since 1970 fit into 63 bits up to 2262. */
#define YEAR_MOST 2261

/* Reads a time zone. Returns the text after it, and stores its seconds east of
 * Greenwich; NULL if there is none. */
static const char *wall_zone(const char *p, long *east)
{
	static const char *const zero[] = { "Z", "UTC", "GMT" };
	const char *s = p + (*p == ' ');
	unsigned int hours, minutes;
	int n = 0;

	*east = 0;
	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		if (!strncmp(s, zero[i], strlen(zero[i])))
			return s + strlen(zero[i]);
	if ((*s != '+' && *s != '-') ||
	    (sscanf(s + 1, "%2u:%2u%n", &hours, &minutes, &n) != 2 &&
	     (strspn(s + 1, "0123456789") != 4 ||
	      sscanf(s + 1, "%2u%2u%n", &hours, &minutes, &n) != 2)) ||
	    (s[1 + n] >= 'a' && s[1 + n] <= 'z') || hours > 14 || minutes > 59)
		return NULL;
	*east = (long)(hours * 3600 + minutes * 60) * (*s == '-' ? -1 : 1);
	return s + 1 + n;
}

/* Reads a time at p. Returns the text after it, and stores *ns and *unit, the
 * ns of its last digit; NULL if there is none. */
static const char *wall_time(const char *p, int64_t *ns, int64_t *unit)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm tm = { .tm_isdst = -1 };
	char month[4];
	const char *at, *zone;
	int64_t part = 0;
	long east;
	time_t t;
	int n = 0;

	if (sscanf(p, "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &tm.tm_year,
		   &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
		   &n) == 6 &&
	    n) {
		tm.tm_mon--;
	} else if (sscanf(p, "%2d/%3[A-Za-z]/%4d:%2d:%2d:%2d%n", &tm.tm_mday,
			  month, &tm.tm_year, &tm.tm_hour, &tm.tm_min,
			  &tm.tm_sec, &n) == 6 &&
		   n && (at = strstr(months, month))) {
		tm.tm_mon = (int)(at - months) / 3;
	} else {
		return NULL;
	}
	if (tm.tm_year < 1970 || tm.tm_year > YEAR_MOST || tm.tm_mon < 0 ||
	    tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
	    tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 ||
	    tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
		return NULL;
	tm.tm_year -= 1900;
	p += n;
	*unit = SECOND;
	if ((*p == '.' || *p == ',') && p[1] >= '0' && p[1] <= '9') {
		for (p++; *p >= '0' && *p <= '9'; p++) {
			if (*unit == 1)
				continue;
			*unit /= 10;
			part += (*p - '0') * *unit;
		}
	}
	zone = wall_zone(p, &east);
	t = zone ? timegm(&tm) - east : mktime(&tm);
	*ns = (int64_t)t * SECOND + part;
	return zone ? zone : p;
}

/* Returns the duration in a log line in ns; 0: it has none. */
static int64_t wall_took(const char *line)
{
	const char *p = strstr(line, "duration: ");
	int64_t ns;

	if (p) {
		p += strlen("duration: ");
		if (parse_decimal(&p, 9, &ns) || *p++ != ' ')
			return 0;
		return !strncmp(p, "ms", 2) ? ns / 1000 : *p == 's' ? ns : 0;
	}
	p = strstr(line, "Query_time: ");
	if (!p)
		return 0;
	p += strlen("Query_time: ");
	return parse_decimal(&p, 9, &ns) ? 0 : ns;
}

bool parse_wall(const char *text, int64_t *from, int64_t *to)
{
	const char *rest = NULL;
	int64_t unit, other, took;
	char span[32];

	for (const char *p = text; *p && !rest; p++) {
		/* only the first digit of a number may begin a time */
		if (*p < '0' || *p > '9' ||
		    (p > text && p[-1] >= '0' && p[-1] <= '9'))
			continue;
		rest = wall_time(p, from, &unit);
	}
	if (!rest)
		return false;
	*to = *from + unit;
	took = wall_took(text);
	if (took > 0 && took < *from) {
		*from -= took;
	} else if (*rest == '+' &&
		   sscanf(rest + 1, "%31[0-9.a-z]", span) == 1 &&
		   !parse_duration(span, &other)) {
		if (__builtin_add_overflow(*from, other, to))
			*to = INT64_MAX;
	} else if (*rest == ',' && wall_time(rest + 1, &other, &unit)) {
		*to = other;
	}
	return *from < *to;
}
