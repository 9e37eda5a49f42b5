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
#define GLANCE_WAIT "wait"
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

/* requests: the column of their number; four times follow it. */
static void glance_write_wait(FILE *out, const struct rows *r, size_t event,
			      size_t requests, const char *cpu)
{
	fprintf(out, GLANCE_WAIT "\t%s", cpu);
	for (size_t i = 0; i < 5; i++)
		fprintf(out, "\t%" PRId64, rows_int(r, requests + i));
	putc('\t', out);
	safe_text_put(out, rows_text(r, event), '\t', ' ');
	putc('\n', out);
}

static int glance_write_event(void *arg, const struct rows *r, struct err *err)
{
	(void)err;
	glance_write_wait(arg, r, CHECK_DEFERRAL_EVENT, CHECK_DEFERRAL_REQUESTS,
			  "all");
	return 0;
}

static int glance_write_cpu(void *arg, const struct rows *r, struct err *err)
{
	char cpu[32];

	(void)err;
	snprintf(cpu, sizeof(cpu), "%" PRId64,
		 rows_int_or(r, CHECK_DEFERRAL_BY_CPU_CPU, -1));
	glance_write_wait(arg, r, CHECK_DEFERRAL_BY_CPU_EVENT,
			  CHECK_DEFERRAL_BY_CPU_REQUESTS, cpu);
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
	if (!rows)
		fputs("0\n", out);
	else if (glance_write_rows(out, db, err) ||
		 rows_each(db, "check_deferral", glance_write_event, out,
			   err) ||
		 rows_each(db, "check_deferral_by_cpu", glance_write_cpu, out,
			   err))
		ret = -1;
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

static void glance_add_wait(struct glance *g, char *line)
{
	const char *cpu = glance_field(&line);
	struct glance_wait w = {
		.all = !strcmp(cpu, "all"),
		.cpu = (int32_t)strtol(cpu, NULL, 10),
		.n = strtoull(glance_field(&line), NULL, 10),
	};
	int64_t *ns[] = { &w.p50_ns, &w.p90_ns, &w.p99_ns, &w.max_ns };

	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		*ns[i] = strtoll(glance_field(&line), NULL, 10);
	w.event = mem_strdup(glance_field(&line));
	*mem_add(g->wait, g->n_wait, g->cap_wait) = w;
}

static void glance_add_line(struct glance *g, char *line)
{
	size_t n = strlen(GLANCE_WAIT);

	if (!strncmp(line, GLANCE_WAIT "\t", n + 1))
		glance_add_wait(g, line + n + 1);
	else
		glance_add_row(g, line);
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
			glance_add_line(g, line);
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
	for (size_t i = 0; i < g->n_wait; i++)
		free(g->wait[i].event);
	free(g->wait);
	free(g->row);
	*g = (struct glance){ .p50_ns = -1, .p99_ns = -1 };
}
