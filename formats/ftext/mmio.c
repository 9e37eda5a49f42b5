/* mmio.c - parses the lines of the tracer mmiotrace.
 *
 * Documentation/trace/mmiotrace.rst of the kernel lists them: a word, the
 * width of an access, the time, and values. They name no CPU, and the pid at
 * their end is always 0 (kernel/trace/trace_mmiotrace.c). */

#include "formats/ftext/line.h"
#include "stitch/base/mem.h"

/* The words, and the events of events/ftrace that they print. */
static const struct mmio_word {
	const char *word, *event;
	bool has_width;
} mmio_words[] = {
	{ "R ", "mmiotrace_rw", true },
	{ "W ", "mmiotrace_rw", true },
	{ "UNKNOWN ", "mmiotrace_rw", false },
	{ "MAP ", "mmiotrace_map", false },
	{ "UNMAP ", "mmiotrace_map", false },
	{ "MARK ", "print", false },
};

/* Takes seconds with six digits after the point. */
static bool mmio_take_time(struct scan *s, uint64_t *ns)
{
	uint64_t sec, us;

	if (!scan_u64(s, &sec) || !scan_take(s, ".") || !scan_u64(s, &us) ||
	    us > 999999 || sec > INT64_MAX / 1000000000 - 1 ||
	    !scan_take(s, " "))
		return false;
	*ns = sec * 1000000000 + us * 1000;
	return true;
}

bool line_parse_mmio(struct scan s, struct line *out)
{
	*out = (struct line){ .pid = -1, .tgid = -1, .cpu = -1 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (scan_starts(s, "PCIDEV ") || scan_starts(s, "VERSION ")) {
		out->kind = LINE_HEAD;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(mmio_words); i++) {
		const struct mmio_word *w = &mmio_words[i];
		const bool mark = !strcmp(w->event, "print");
		struct scan t = s;
		uint64_t width;

		if (!scan_take(&t, w->word) ||
		    (w->has_width &&
		     (!scan_u64(&t, &width) || !scan_take(&t, " "))) ||
		    !mmio_take_time(&t, &out->time))
			continue;
		/* the kernel writes it where it finds that events are lost */
		if (mark && scan_take(&t, "Lost ") &&
		    scan_u64(&t, &out->n_lost) && scan_is(t, " events.")) {
			out->kind = LINE_LOST;
			return true;
		}
		out->kind = LINE_EVENT;
		out->clock = CLOCK_NS;
		out->name = scan_of(w->event, strlen(w->event));
		out->text = mark ? t : s;
		return true;
	}
	return false;
}

bool line_starts_mmio(struct scan s)
{
	return scan_starts(s, "# tracer: mmiotrace") ||
	       scan_starts(s, "VERSION 20070824");
}
