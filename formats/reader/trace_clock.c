/* trace_clock.c - the file trace_clock of tracefs. */
#include "formats/reader/trace_clock.h"

#include "stitch/base/mem.h"

struct scan trace_clock_chosen(struct scan s)
{
	size_t from = scan_find_char(s, '[');
	struct scan name = scan_tail(s, from < s.n ? from + 1 : s.n);
	size_t n = scan_find_char(name, ']');

	return scan_head(name, n < name.n ? n : 0);
}

const char *trace_clock_name(const char *name)
{
	static const char *const word[][2] = {
		{ "mono", "monotonic" },
		{ "mono_raw", "monotonic_raw" },
		{ "boot", "boottime" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		if (!strcmp(name, word[i][0]))
			return word[i][1];
	return name;
}
