/* loss_rows.c - the losses of a database, in time order. */
#include "analyze/samples/loss_rows.h"

#include "analyze/samples/filter.h"
#include "schema/columns.h"

struct loss_rows *loss_rows_load(struct store *db, const struct filter *filter,
				 struct err *err)
{
	struct loss_rows *l = mem_new(1, sizeof(*l));
	/* a loss is of no thread and no event */
	const struct filter of_losses = { .time = filter->time,
					  .cpu = filter->cpu,
					  .apart = filter->apart };
	struct rows *r =
		filter_rows(&of_losses, db, "export_losses", NULL, 0, err);

	while (rows_step(r))
		*mem_add(l->row, l->n, l->cap) = (struct loss_row){
			.id = rows_int(r, EXPORT_LOSSES_ID),
			.capture = (uint32_t)rows_int(r, EXPORT_LOSSES_CAPTURE),
			.what = arena_strdup(&l->text,
					     rows_text(r, EXPORT_LOSSES_WHAT)),
			.counts = rows_int(r, EXPORT_LOSSES_COUNTS),
			.cpu = rows_int_or(r, EXPORT_LOSSES_CPU, -1),
			.from = rows_int(r, EXPORT_LOSSES_T0),
			.has_from = rows_value(r, EXPORT_LOSSES_T0).kind ==
				    VALUE_INT,
			.to = rows_int(r, EXPORT_LOSSES_T1),
			.has_to = rows_value(r, EXPORT_LOSSES_T1).kind ==
				  VALUE_INT,
			.n = rows_int_or(r, EXPORT_LOSSES_N, -1),
		};
	if (!rows_end(r, err))
		return l;
	loss_rows_free(l);
	return NULL;
}

void loss_rows_free(struct loss_rows *l)
{
	if (!l)
		return;
	arena_release(&l->text);
	free_all(l->row, l);
}

unsigned int loss_buffer_megabytes(const char *cmdline)
{
	const char *end = strstr(cmdline, " -- ");
	unsigned int found = 0;

	for (const char *s = cmdline; (s = strstr(s, " -")) && s != end; s++) {
		uint64_t n = 0, unit = 4096; /* a number alone is of pages */
		const char *p = s + 2;

		if (*p == 'm')
			p++;
		else if (!strncmp(p, "-mmap-pages", 11))
			p += 11;
		else
			continue;
		p += *p == ' ' || *p == '=';
		size_t digits = strspn(p, "0123456789");
		if (!digits || digits > 9)
			continue;
		for (size_t i = 0; i < digits; i++)
			n = n * 10 + (uint64_t)(p[i] - '0');
		switch (p[digits]) {
		case 'B':
			unit = 1;
			break;
		case 'K':
			unit = 1 << 10;
			break;
		case 'M':
			unit = 1 << 20;
			break;
		case 'G':
			unit = 1 << 30;
		}
		n = (n * unit + (1 << 20) - 1) >> 20;
		found = n < UINT32_MAX ? (unsigned int)n : UINT32_MAX;
	}
	return found;
}

unsigned int loss_larger_megabytes(unsigned int had)
{
	return had < 2 ? 4 : had < 4 ? 8 : had < 8 ? 16 : had < 32 ? 64 : 0;
}

const char *loss_larger_buffers(const char *format, unsigned int had,
				bool record)
{
	if (record && (strcmp(format, "perf") || loss_larger_megabytes(had)))
		return "larger buffers: backstitch record --waits --again, "
		       "with the same arguments";
	if (!strncmp(format, "ftrace", 6))
		return "larger buffers: trace-cmd record -b 20000 (KB for each "
		       "CPU), or more; or fewer events (-e, -f)";
	if (!strcmp(format, "ftext"))
		return "larger buffers: echo 20000 >buffer_size_kb in tracefs "
		       "(KB for each CPU), or more; or fewer events";
	if (!strcmp(format, "ctf"))
		return "larger buffers: lttng enable-channel --subbuf-size=4M "
		       "--num-subbuf=8, or more; or fewer events";
	switch (loss_larger_megabytes(had)) {
	case 4:
		return "larger buffers: perf record -m 4M or more; fewer "
		       "events; lower -F";
	case 8:
		return "larger buffers: perf record -m 8M or more; fewer "
		       "events; lower -F";
	case 16:
		return "larger buffers: perf record -m 16M or more; smaller "
		       "stack dumps, or none; fewer events; lower -F";
	case 64:
		return "larger buffers: perf record -m 64M or more; smaller "
		       "stack dumps, or none; fewer events; lower -F";
	default:
		return "smaller stack dumps, or none; fewer events; lower -F; "
		       "the buffers were large";
	}
}

const char *loss_own_ring(const char *format)
{
	return strcmp(format, "perf")
		       ? NULL
		       : "perf left records out without a word, as in guests "
			 "with Linux 6.18: backstitch record --waits --tracer ftrace";
}

int loss_rows_sum(struct store *db, uint64_t *n, bool *unknown, struct err *err)
{
	struct rows *r = rows_of(db, "report_lost_all", err);

	if (rows_step(r)) {
		*n = (uint64_t)rows_int(r, REPORT_LOST_ALL_N);
		*unknown = rows_int(r, REPORT_LOST_ALL_UNKNOWN) > 0;
	}
	return rows_end(r, err);
}
