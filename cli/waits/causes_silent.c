/* causes_silent.c - the names of silent tasks, and the premise about them. */
#include "cli/waits/causes_silent.h"

#include <stdio.h>

#include "cli/causes/missing.h"
#include "cli/waits/causes_names.h"
#include "cli/names/thread_names.h"
#include "cli/output/safe_text.h"
#include "stitch/base/mem.h"

#define SILENT_NAMED 3 /* tasks; more are counted */

char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names)
{
	size_t n, len;
	char *text;
	FILE *out;

	timeline_silent(t, 0, &n);
	if (!n)
		return NULL;
	out = mem_stream(&text, &len);
	for (size_t i = 0; i < n && n <= SILENT_NAMED; i++) {
		const struct timeline_silent s = timeline_silent(t, i, &n);
		const char *comm = causes_names_comm(names, s.tid);

		fputs(!i ? "" : i + 1 < n ? ", " : " and ", out);
		if (s.cpu >= 0)
			fprintf(out, "swapper/%d", s.cpu);
		else if (*comm)
			safe_text_put(out, thread_names_tell(told, comm, s.tid),
				      0, 0);
		else
			fprintf(out, "thread %d", s.tid);
	}
	if (n > SILENT_NAMED)
		fprintf(out, "%zu silent tasks", n);
	mem_stream_end(out);
	return text;
}

char *causes_silent_premise(const struct timeline *t, const char *names)
{
	unsigned int on = missing_premise(t);
	size_t len;
	char *text;
	FILE *out;

	if (!names)
		return NULL;
	out = mem_stream(&text, &len);
	fprintf(out, "if only records of %s are missing", names);
	if (on & MISSING_IF_SHOWS)
		fputs(", and others only where it shows", out);
	if (on & MISSING_IF_ON)
		fputs(", and " MISSING_ON_WORDS, out);
	mem_stream_end(out);
	return text;
}
