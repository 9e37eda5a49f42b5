/* open.c - opens and closes ftrace's texts (trace, trace_pipe, trace-cmd
 * report), refuses those that cannot be read, and defines ftext_ops, their row
 * in the table of formats. */
#include "formats/ftext/ftext.h"
#include "formats/reader/nonce.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"

/* How many lines are looked at before a text is accepted. */
#define LOOK_LINES 200

void ftext_header(struct ftext *ft, struct scan s)
{
	struct scan cpus = scan_tail(s, scan_find(s, "#P:") + 3);
	const size_t trace = scan_find(s, "latency trace v");
	const size_t on = trace + scan_find(scan_tail(s, trace), " on ");
	const struct scan release = scan_token(scan_tail(s, on + 4));
	uint64_t in_buffer, written;
	int32_t of_report;

	if (trace < s.n && on < s.n && release.n)
		ft->src.info.release =
			arena_strndup(&ft->arena, release.p, release.n);
	if (scan_find(s, "#P:") < s.n)
		scan_i32(&cpus, &ft->src.info.cpus_online);
	/* trace-cmd report has this line for each file that it printed */
	if (scan_take(&s, "cpus=") && scan_i32(&s, &of_report) && !s.n &&
	    of_report > ft->src.info.cpus_online)
		ft->src.info.cpus_online = of_report;
	if (ft->opts.cpus) /* --cpus */
		ft->src.info.cpus_online = ft->opts.cpus;
	if (!scan_take(&s, "# entries-in-buffer/entries-written: ") ||
	    !scan_u64(&s, &in_buffer) || !scan_take(&s, "/") ||
	    !scan_u64(&s, &written))
		return;
	if (written > in_buffer)
		ft->overwritten += written - in_buffer;
	/* the counts are of all CPUs, but the text may be of one */
	if (!ft->beside.only || !ft->beside.n_total)
		ft->src.info.overwrote |= written > in_buffer;
	else
		ft->src.info.overwrote |= ft->beside.total[0].n > 0;
}

/* What the first lines show about a text. */
struct ftext_first_lines {
	bool tracer, table, graph, called, timed, mmio;
	unsigned int events, others;
	const char *why; /* why the text cannot be read */
};

static void ftext_look_at_line(struct ftext_first_lines *lk, struct scan s)
{
	struct line l;

	lk->mmio |= line_starts_mmio(s);
	if (!lk->mmio || !line_parse_mmio(s, &l))
		line_parse(s, false, &l);
	switch (l.kind) {
	case LINE_HEAD:
		lk->tracer |= scan_starts(s, "# tracer: ");
		lk->graph |= scan_starts(s, "# tracer: function_graph");
		lk->table |= scan_find(s, "TASK-PID") < s.n ||
			     scan_find(s, "  cmd ") < s.n ||
			     scan_find(s, "latency trace v") < s.n ||
			     scan_starts(s, "# entries-in-buffer");
		if (scan_starts(s, "# DEV   CPU TIMESTAMP "))
			lk->why = "the option blk_classic has a text of its "
				  "own that is not read; record without it, "
				  "or give the trace.dat";
		break;
	case LINE_EVENT:
		lk->called = true;
		lk->timed |= l.clock != CLOCK_NONE;
		lk->events++;
		break;
	case LINE_LOST:
	case LINE_STARTED:
	case LINE_TASK:
		lk->events++;
		break;
	case LINE_REFUSED:
		if (!lk->why)
			lk->why = l.why;
		break;
	case LINE_OTHER:
		lk->others++;
		break;
	case LINE_FRAME:
	case LINE_BLANK:
	case LINE_COOKIE:
		break;
	}
}

/* Looks at the first lines. Skips a last line without a line feed, which may be
 * incomplete. */
static void ftext_look_at_text(struct scan s, struct ftext_first_lines *lk)
{
	*lk = (struct ftext_first_lines){ .events = 0 };
	for (int i = 0; i < LOOK_LINES; i++) {
		size_t n = scan_find_char(s, '\n');

		if (n == s.n)
			return;
		ftext_look_at_line(lk, scan_head(s, n));
		/* With the kernel's option bin, numbers after the header are
		 * binary. The text of an event may have a NUL too. */
		if (memchr(s.p, 0, n) && lk->tracer && !lk->events && !lk->why)
			lk->why = "this is the kernel's binary form; record "
				  "again without the options raw, hex and bin "
				  "of trace_options";
		scan_skip(&s, n + 1);
	}
}

static int ftext_probe(const char *path UNUSED, const void *head, size_t n)
{
	struct ftext_first_lines lk;

	ftext_look_at_text(scan_of(head, n), &lk);
	if (lk.tracer || scan_starts(scan_of(head, n), FTEXT_BESIDE))
		return 90;
	/* texts written to trace_marker have lines of any form */
	if (lk.why || lk.events * 8 > lk.others)
		return 60;
	return scan_starts(scan_of(head, n), "cpus=") ? 50 : 0;
}

/* Returns 0, or -1 and *err if the first lines show a text that cannot be
 * read. */
static int ftext_refuse(struct ftext *ft, struct err *err)
{
	struct scan s;
	struct ftext_first_lines lk;

	if (ftext_peek_text(ft, &s, err))
		return -1;
	ftext_totals_open(ft, s);
	ftext_look_at_text(s, &lk);
	/* no column headings: option nocontext-info */
	ft->mmio = lk.mmio;
	ft->bare =
		lk.tracer && !lk.graph && !lk.table && !lk.events && !lk.mmio;
	ft->untimed = !ft->bare && lk.events && !lk.timed;
	if (lk.graph && lk.others && !lk.called && !lk.why)
		lk.why = "its calls have no CPU; set the options context-info "
			 "and funcgraph-cpu, which only change how the buffer "
			 "is printed, and save the text again";
	if (!lk.why)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: %s", ft->in.path, lk.why);
}

static void ftext_close(struct source *src)
{
	struct ftext *ft = ftext_from_source(src);

	for (uint64_t i = ft->first; i < ft->end_item; i++)
		free(ftext_item_at(ft, i)->own);
	for (size_t i = 0; i < ft->n_event; i++)
		free(ft->event[i].def);
	for (int i = 0; i < FTEXT_STACKS; i++)
		free_all(ft->ip[i], ft->at[i]);
	input_close(&ft->in);
	table_release(&ft->cpus);
	table_release(&ft->by_name);
	table_release(&ft->places);
	arena_release(&ft->arena);
	arena_release(&ft->scratch);
	known_tasks_release(&ft->known);
	user_stack_reader_release(&ft->stack);
	free_all(ft->item, ft->event, ft->def, ft->place, ft->cpu, ft->buffer,
		 ft->beside.total, ft->due, ft->raw, ft->running, ft->path,
		 ft->buf, ft->src.path, ft);
}

static struct source *ftext_open(const char *path, const struct source_opts *o,
				 struct ledger *lg, struct err *err)
{
	struct ftext *ft = mem_new(1, sizeof(*ft));
	struct source_info *info = &ft->src.info;

	reader_init(&ft->src, &ftext_ops, path, o, lg, &ft->opts);
	ft->in.fd = -1;
	ft->first_printed = UINT64_MAX;
	info->cookies = COOKIES_FTRACE;
	ft->nonce_format =
		o && o->nonce_format ? o->nonce_format : nonce_default;
	info->exact = true;
	info->calls = true;
	if (input_open(&ft->in, path, ft->opts.temp_dir, err) ||
	    ftext_refuse(ft, err)) {
		ftext_close(&ft->src);
		return NULL;
	}
	info->pipe = !ft->in.data;
	info->has_time = !ft->bare && !ft->untimed;
	ft->src.size = ft->in.len;
	if (ft->in.cut) {
		info->truncated = true;
		reader_damage_text(&ft->src, ft->in.path, "packed", 0, 0,
				   "the packed file is damaged or cut off");
	}
	return &ft->src;
}

static int ftext_scan(struct source *src, struct err *err)
{
	struct ftext *ft = ftext_from_source(src);

	return ftext_totals_read(ft, err) ? -1 : ftext_kernel(ft, err);
}

const struct source_ops ftext_ops = {
	.name = "ftext",
	.summary = "texts of ftrace: trace, trace_pipe, trace-cmd report",
	.probe = ftext_probe,
	.open = ftext_open,
	.scan = ftext_scan,
	.next = ftext_next,
	.decode = ftext_decode,
	.release = ftext_release,
	.fields = ftext_fields,
	.print = ftext_print,
	.close = ftext_close,
};
