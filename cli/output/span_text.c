/* span_text.c - times as tables print them. */
#include "cli/output/span_text.h"

#include "stitch/base/mem.h"
#include "stitch/order/clocks.h"
#include "stitch/text/human.h"

const char *span_moment(char buf[SPAN_TEXT], const int64_t *wall, int64_t time)
{
	char utc[CLOCK_UTC_SIZE];
	int64_t at;

	if (!wall || __builtin_add_overflow(time, *wall, &at) ||
	    !clock_utc(at, utc))
		return human_seconds(buf, SPAN_TEXT, time);
	snprintf(buf, SPAN_TEXT, "%.*sZ", (int)strcspn(utc, ".") + 7, utc);
	return buf;
}

const char *span_text(char buf[SPAN_TEXT], const int64_t *wall, int64_t from,
		      int64_t to)
{
	int64_t at = 0, len;

	if (!wall || __builtin_add_overflow(from, *wall, &at) ||
	    __builtin_sub_overflow(to, from - (at % 1000 + 1000) % 1000, &len))
		return human_span(buf, from, to);
	span_moment(buf, wall, from);
	size_t n = strlen(buf);
	snprintf(buf + n, SPAN_TEXT - n, "+%ss",
		 HUMAN_SECONDS(len % 1000 ? len + 1000 : len));
	return buf;
}
