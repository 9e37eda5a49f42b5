/* human.c - formats numbers for people. */
#include "stitch/text/human.h"
#include "stitch/base/wide.h"

#include <inttypes.h>
#include <string.h>

/* Formats v with three significant digits and a unit. */
static void human_three_digits(char *buf, size_t size, double v,
			       const char *unit)
{
	int places = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	snprintf(buf, size, "%.*f %s", places, v, unit);
}

/* Writes n with the largest of the units in steps of 1000 that fits. */
static const char *human_scale(char *buf, size_t size, uint64_t n,
			       const char *const *units)
{
	double v = (double)n;
	int i = 0;

	if (n < 1000) {
		snprintf(buf, size,
			 units[0][0] ? "%" PRIu64 " %s" : "%" PRIu64 "%s", n,
			 units[0]);
		return buf;
	}
	while (v >= 999.5 && i < 5) {
		v /= 1000;
		i++;
	}
	human_three_digits(buf, size, v, units[i]);
	return buf;
}

const char *human_count(char *buf, size_t size, uint64_t n)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };

	return human_scale(buf, size, n, units);
}

const char *human_bytes(char *buf, size_t size, uint64_t n)
{
	static const char *const units[] = { "bytes", "kB", "MB",
					     "GB",    "TB", "PB" };

	return human_scale(buf, size, n, units);
}

const char *human_ns(char *buf, size_t size, int64_t ns)
{
	double v = (double)ns;
	double a = v < 0 ? -v : v;

	if (a < 1e3)
		snprintf(buf, size, "%" PRId64 " ns", ns);
	else if (a < 1e6)
		human_three_digits(buf, size, v / 1e3, "us");
	else if (a < 1e9)
		human_three_digits(buf, size, v / 1e6, "ms");
	else
		human_three_digits(buf, size, v / 1e9, "s");
	return buf;
}

const char *human_seconds(char *buf, size_t size, int64_t ns)
{
	uint64_t us = (ns < 0 ? -(uint64_t)ns : (uint64_t)ns) / 1000;

	snprintf(buf, size, "%s%" PRIu64 ".%06" PRIu64, ns < 0 && us ? "-" : "",
		 us / 1000000, us % 1000000);
	return buf;
}

const char *human_span(char buf[HUMAN_SPAN], int64_t from, int64_t to)
{
	int64_t a = from / 1000;
	int64_t b = to / 1000 + (to % 1000 > 0);

	snprintf(buf, HUMAN_SPAN,
		 "%" PRId64 ".%06" PRId64 ",%" PRId64 ".%06" PRId64,
		 a / 1000000, a % 1000000, b / 1000000, b % 1000000);
	return buf;
}

const char *human_share(char *buf, size_t size, double part, double whole)
{
	double v = whole > 0 ? part * 1e4 / whole : 0;

	/* a database from elsewhere may have any numbers */
	v = !(v > 0) ? 0 : v < 1e12 ? v : 1e12;
	if (v > 0 && v < 0.5)
		snprintf(buf, size, "<0.01");
	else if (v < 1e4 && v >= 9999.5)
		snprintf(buf, size, ">99.99");
	else
		snprintf(buf, size, "%.2f", (double)(uint64_t)(v + 0.5) / 100);
	return buf;
}

const char *human_percent(char *buf, size_t size, double part, double whole)
{
	size_t len = strlen(human_share(buf, size - 2, part, whole));

	memcpy(buf + len, " %", 3);
	return buf;
}

void human_put_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals)
{
	uint64_t scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	fprintf(out, "%" PRIu64, d ? n / d : 0);
	if (decimals)
		fprintf(out, ".%0*" PRIu64, (int)decimals,
			d ? wide_div(wide_mul(n % d, scale), d) : 0);
}

const char *human_grouped(char *buf, size_t size, uint64_t n)
{
	char digit[24];
	int len = snprintf(digit, sizeof(digit), "%" PRIu64, n);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digit[i];
	}
	buf[at] = 0;
	return buf;
}

const char *human_noun(char *buf, size_t size, uint64_t n, const char *noun)
{
	snprintf(buf, size, "%s %s%s", HUMAN_GROUPED(n), noun,
		 n == 1 ? "" : "s");
	return buf;
}
