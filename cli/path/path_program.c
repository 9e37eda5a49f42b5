/* path_program.c - what the command path tells of a recording that began with a
 * program: of that program, from its start to its end. */
#include "cli/path/path.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"

int path_program_find(const struct path_run *r, struct path_program *out,
		      struct err *err)
{
	struct rows *q = rows_of(r->db, "path_program", err);
	int64_t first, last;

	*out = (struct path_program){ .pid = -1 };
	timeline_span(r->t, &first, &last);
	if (rows_step(q)) {
		int64_t pid = rows_int(q, PATH_PROGRAM_PID);

		out->from = rows_int(q, PATH_PROGRAM_T0);
		out->to = rows_int_or(q, PATH_PROGRAM_T1, last);
		out->thread = pid > 0 && pid < INT32_MAX
				      ? timeline_thread(r->t, (int32_t)pid)
				      : TIMELINE_NONE;
		if (out->thread != TIMELINE_NONE && out->from < out->to &&
		    out->from >= first && out->to <= last)
			out->pid = pid;
	}
	return rows_end(q, err);
}
