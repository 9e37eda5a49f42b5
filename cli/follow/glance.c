/* glance.c - what is said of a finished segment. */
#include "cli/follow/glance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/label.h"
#include "cli/model/report_rows.h"
#include "cli/model/stacks.h"
#include "cli/output/safe_text.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Functions of a segment that are shown, also behind a filter. */
#define GLANCE_ROWS 2000
#define GLANCE_END "end"

/* ---- writing */

static int glance_write_numbers(FILE *out, struct store *db, struct err *err)
{
	struct rows *r =
		rows_open(db, store_sql("follow_glance"), NULL, 0, err);
	char trust[TRUST_SENTENCE];
	int ret = r ? rows_next(r, err) : -1;

	if (ret > 0)
		fprintf(out,
			"%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
			" %" PRId64 " %" PRId64 " %" PRId64 "\n",
			rows_int(r, FOLLOW_GLANCE_SAMPLES),
			rows_int(r, FOLLOW_GLANCE_LOST),
			rows_int(r, FOLLOW_GLANCE_LOST_UNKNOWN),
			rows_int(r, FOLLOW_GLANCE_REQUESTS),
			rows_int(r, FOLLOW_GLANCE_OPEN),
			rows_int_or(r, FOLLOW_GLANCE_P50_NS, -1),
			rows_int_or(r, FOLLOW_GLANCE_P99_NS, -1));
	rows_close(r);
	if (ret <= 0 || trust_sentence(db, trust, err))
		return -1;
	fprintf(out, "%s\n", trust);
	return 0;
}

/* Control characters of names become escapes: no field has a line break or a
 * tab. */
static void glance_write_row(FILE *out, const struct report_rows *rows,
			     const struct report_row *row)
{
	fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t", row->self, row->total);
	safe_text_put(out, report_label(rows, row->comm)->name, '\t', ' ');
	putc('\t', out);
	safe_text_put(out, report_label(rows, row->label)->name, '\t', ' ');
	putc('\n', out);
}

static int glance_write_rows(FILE *out, struct store *db, struct err *err)
{
	const struct stacks_opts o = { .by_name = true, .summed = true };
	struct stacks *s = stacks_load(db, &o, err);

	if (!s)
		return -1;
	struct report_rows *rows =
		report_rows_new(s, stacks_heaviest(s), KEY_COMM | KEY_SYM);
	size_t n = report_rows_count(rows);

	report_rows_sort(rows, false);
	fprintf(out, "%" PRIu64 "\n", report_weight(rows));
	for (size_t i = 0; i < n && i < GLANCE_ROWS; i++)
		glance_write_row(out, rows, report_rows_get(rows, i));
	report_rows_free(rows);
	stacks_free(s);
	return 0;
}

int glance_write(FILE *out, const char *path, bool rows, struct err *err)
{
	struct store *db = store_open(path, false, err);
	int ret = -1;

	if (!db)
		return -1;
	if (glance_write_numbers(out, db, err))
		goto out;
	ret = 0;
	if (rows)
		ret = glance_write_rows(out, db, err);
	else
		fputs("0\n", out);
	fputs(GLANCE_END "\n", out);
out:
	store_close(db);
	return ret;
}

/* ---- reading */

/* Cuts the field up to the next tab off *line. */
static char *glance_field(char **line)
{
	char *field = strsep(line, "\t");

	return field ? field : "";
}

static void glance_add_row(struct glance *g, char *line)
{
	uint64_t self = strtoull(glance_field(&line), NULL, 10);
	uint64_t total = strtoull(glance_field(&line), NULL, 10);
	char *comm = mem_strdup(glance_field(&line));
	char *function = mem_strdup(glance_field(&line));

	*mem_add(g->row, g->n, g->cap) = (struct glance_row){
		.comm = comm, .function = function, .self = self, .total = total
	};
}

/* Reads a line without its line feed. */
static bool glance_line(FILE *in, char **line, size_t *cap)
{
	ssize_t n = getline(line, cap, in);

	if (n <= 0 || (*line)[n - 1] != '\n')
		return false;
	(*line)[n - 1] = 0;
	return true;
}

bool glance_read(FILE *in, struct glance *g)
{
	char *line = NULL;
	size_t cap = 0;
	bool whole = false;

	*g = (struct glance){ .p50_ns = -1, .p99_ns = -1 };
	if (!glance_line(in, &line, &cap) ||
	    sscanf(line,
		   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNd64 " %" SCNd64,
		   &g->samples, &g->lost, &g->lost_unknown, &g->requests,
		   &g->open, &g->p50_ns, &g->p99_ns) != 7 ||
	    !glance_line(in, &line, &cap))
		goto out;
	snprintf(g->trust, sizeof(g->trust), "%s", line);
	if (!glance_line(in, &line, &cap))
		goto out;
	g->weight = strtoull(line, NULL, 10);
	while (!whole && glance_line(in, &line, &cap)) {
		whole = !strcmp(line, GLANCE_END);
		if (!whole)
			glance_add_row(g, line);
	}
out:
	free(line);
	return whole;
}

void glance_release(struct glance *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->row[i].comm);
		free(g->row[i].function);
	}
	free(g->row);
	*g = (struct glance){ .p50_ns = -1, .p99_ns = -1 };
}
