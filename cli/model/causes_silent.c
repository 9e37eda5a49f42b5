/* causes_silent.c - the names of silent tasks, and the premise about them. */
#include <stdlib.h>

#include "cli/causes/missing.h"
#include "cli/model/causes.h"
#include "cli/output/safe_text.h"
#include "stitch/base/mem.h"

#define SILENT_NAMED 3 /* tasks; more are counted */

static void causes_put_task(const struct causes *c,
			    const struct timeline_silent *s, FILE *out)
{
	const char *comm = s->cpu < 0 ? causes_name(c, s->tid) : "";

	if (s->cpu >= 0)
		fprintf(out, "swapper/%d", s->cpu);
	else if (*comm)
		safe_text_put(out, comm, 0, 0);
	else
		fprintf(out, "thread %d", s->tid);
}

void causes_put_silent(const struct causes *c, FILE *out)
{
	size_t n;

	timeline_silent(causes_timeline(c), 0, &n);
	for (size_t i = 0; i < n && n <= SILENT_NAMED; i++) {
		const struct timeline_silent s =
			timeline_silent(causes_timeline(c), i, &n);

		fputs(!i ? "" : i + 1 < n ? ", " : " and ", out);
		causes_put_task(c, &s, out);
	}
	if (n > SILENT_NAMED)
		fprintf(out, "%zu silent tasks", n);
}

char *causes_silent_premise(const struct causes *c)
{
	unsigned int on = missing_premise(causes_timeline(c));
	size_t len;
	char *text;
	FILE *out;

	if (!(on & MISSING_IF_TASKS))
		return NULL;
	out = mem_stream(&text, &len);
	fputs("if only records of ", out);
	causes_put_silent(c, out);
	fputs(" are missing", out);
	if (on & MISSING_IF_SHOWS)
		fputs(", and others only where it shows", out);
	if (on & MISSING_IF_ON)
		fputs(", and tracing was not switched off in between", out);
	mem_stream_end(out);
	return text;
}
