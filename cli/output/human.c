/* human.c - numbers as people read them. */
#include "cli/output/human.h"

#include <inttypes.h>
#include <stdio.h>

/* Three digits that count, and a unit. */
static void three(char *buf, size_t size, double v, const char *unit)
{
	int places = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	snprintf(buf, size, "%.*f %s", places, v, unit);
}

static const char *scaled(char *buf, size_t size, uint64_t n,
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
	three(buf, size, v, units[i]);
	return buf;
}

const char *human_count(char *buf, size_t size, uint64_t n)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };

	return scaled(buf, size, n, units);
}

const char *human_bytes(char *buf, size_t size, uint64_t n)
{
	static const char *const units[] = { "bytes", "kB", "MB",
					     "GB",    "TB", "PB" };

	return scaled(buf, size, n, units);
}

const char *human_ns(char *buf, size_t size, int64_t ns)
{
	double v = (double)ns;
	double a = v < 0 ? -v : v;

	if (a < 1e3)
		snprintf(buf, size, "%" PRId64 " ns", ns);
	else if (a < 1e6)
		three(buf, size, v / 1e3, "us");
	else if (a < 1e9)
		three(buf, size, v / 1e6, "ms");
	else
		three(buf, size, v / 1e9, "s");
	return buf;
}

void human_put_fixed(FILE *out, uint64_t n, uint64_t d, unsigned int decimals)
{
	unsigned __int128 v = n;
	uint64_t scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	v = d ? v * scale / d : 0;
	fprintf(out, "%llu", (unsigned long long)(v / scale));
	if (decimals)
		fprintf(out, ".%0*llu", (int)decimals,
			(unsigned long long)(v % scale));
}

void human_put_grouped(FILE *out, uint64_t n)
{
	char digit[32];
	int len = snprintf(digit, sizeof(digit), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', out);
		fputc(digit[i], out);
	}
}
