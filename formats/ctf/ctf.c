/* ctf.c - the reader of CTF traces: opens and closes captures. */
#include "formats/ctf/ctf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/order/clocks.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

static int ctf_probe(const char *path, const void *head, size_t n)
{
	(void)head;
	return !n && strcmp(path, "-") && ctf_is_folder(path) ? 30 : 0;
}

/* Sets *out to the clock's zero in ns since 1970. Returns false if there is no
 * clock or the value is out of range. */
static bool ctf_clock_offset(const struct ctf_meta *m, int64_t *out)
{
	__int128 v = (__int128)m->offset_s * 1000000000;

	if (!m->freq)
		return false;
	v += (__int128)m->offset * 1000000000 / m->freq;
	if (v > INT64_MAX || v < INT64_MIN)
		return false;
	*out = (int64_t)v;
	return true;
}

/* All traces of a session share one clock. Clocks of several hosts differ and
 * can only be compared by wall time. */
static void ctf_find_clock_base(struct ctf *ctf)
{
	bool differ = false;
	int64_t v;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		if (!ctf_clock_offset(&ctf->trace[i].meta, &v))
			continue;
		differ |= ctf->has_base && v != ctf->base;
		if (!ctf->has_base || v < ctf->base)
			ctf->base = v;
		ctf->has_base = true;
	}
	for (size_t i = 0; differ && i < ctf->n_trace; i++)
		if (ctf_clock_offset(&ctf->trace[i].meta, &v))
			ctf->trace[i].start +=
				(uint64_t)v - (uint64_t)ctf->base;
	ctf->differ = differ;
	if (differ)
		reader_note(&ctf->src, "clock",
			    "the traces' clocks have different offsets: they "
			    "are put together by wall time");
}

/* The uuid of LTTng's clock is the boot id. */
static void ctf_set_clock(struct source_info *info, const struct ctf_meta *m)
{
	bool lttng = m->tracer && !strncmp(m->tracer, "lttng", 5);

	info->clock = m->clock;
	info->clock_id = lttng ? clock_id_of(m->clock) : CLOCK_ID_NONE;
	info->has_boot_id =
		lttng && ctf_meta_parse_uuid(m->clock_uuid, info->boot_id);
}

static void ctf_fill_info(struct ctf *ctf)
{
	struct source_info *info = &ctf->src.info;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		const struct ctf_trace *tr = &ctf->trace[i];
		const struct ctf_meta *m = &tr->meta;

		if (!info->clock)
			ctf_set_clock(info, m);
		if (!info->host)
			info->host = m->host;
		if (!info->release)
			info->release = m->release;
		if (!info->arch)
			info->arch = m->machine;
		if (!info->version)
			info->version = m->tracer;
		info->has_time |= m->freq != 0;
		if (m->freq && tr->start && tr->start < first)
			first = tr->start;
	}
	if (ctf->has_base && ctf->base && first != UINT64_MAX) {
		info->wall_clock_ns = first;
		info->wall_ns = first + (uint64_t)ctf->base;
	}
	if (ctf->differ)
		info->clock_id = CLOCK_ID_NONE;
	info->exact = true;
	info->cookies = COOKIES_LTTNG;
	info->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	info->dir = true;
	ctf->src.size = ctf->files;
}

static void ctf_note_perf_convert(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->n_trace; i++)
		if (ctf->trace[i].is_perf) {
			reader_note(
				&ctf->src, "perf data convert",
				"made from a perf.data file, without its "
				"losses, mappings' lengths and build-ids, "
				"registers, stacks and deferred chains: give "
				"the perf.data instead");
			return;
		}
}

/* Prepares a trace. If it cannot be read, reports that as damage and sets
 * *err, and the other traces are still read. */
static void ctf_open_trace(struct ctf *ctf, struct ctf_trace *tr,
			   struct err *err)
{
	if (tr->meta.version == 2 && !ctf_graph_newer())
		err_set(err, ERR_FORMAT,
			"%s: this is a CTF 2 trace, needs libbabeltrace2 2.1; "
			"record it again with 'lttng create "
			"--trace-format=ctf-1.8'",
			tr->path);
	else if (!ctf_salvage(tr, err) && !ctf_try_open(tr, err))
		return;
	tr->ended = true;
	reader_damage(&ctf->src, "trace", 0, 0, err);
}

static int ctf_open_traces(struct ctf *ctf, struct err *err)
{
	size_t left = ctf->n_trace;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		ctf_open_trace(ctf, &ctf->trace[i], err);
		left -= ctf->trace[i].ended;
	}
	return left ? 0 : -1;
}

static void ctf_close(struct source *src)
{
	if (!src)
		return;
	struct ctf *ctf = ctf_of(src);

	ctf_child_end(ctf, NULL);
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];

		ctf_graph_close(tr);
		told_tasks_release(&tr->told);
		free(tr->path);
		free(tr->shown);
		free(tr->due);
		free(tr->on_cpu);
		ctf_maps_release(tr);
	}
	ctf_graph_stop(ctf);
	ctf_salvage_end(ctf);
	ctf_rules_release(ctf);
	for (size_t i = 0; i < ctf->n_event; i++)
		tp_format_release(&ctf->event[i].fmt);
	table_release(&ctf->by_layout);
	table_release(&ctf->by_base);
	free(ctf->mapped);
	free(ctf->place);
	free(ctf->places);
	ctf_pool_release(&ctf->pool);
	tp_release(&ctf->tp);
	tp_release(&ctf->look);
	tp_release(&ctf->said);
	arena_release(&ctf->arena);
	free(ctf->trace);
	free(ctf->event);
	free(ctf->def);
	free(ctf->heap);
	told_tasks_release(&ctf->told);
	free(ctf->src.path);
	free(ctf);
}

static int ctf_read_start(struct ctf *ctf, const char *path, struct err *err)
{
	if (ctf_rules_read(ctf, err) || ctf_find_traces(ctf, path, err) ||
	    ctf_graph_start(ctf, err) || ctf_open_traces(ctf, err))
		return -1;
	ctf_find_clock_base(ctf);
	ctf_fill_info(ctf);
	ctf_note_perf_convert(ctf);
	return 0;
}

static struct source *ctf_open(const char *path, const struct source_opts *o,
			       struct ledger *lg, struct err *err)
{
	struct ctf *ctf = mem_new(1, sizeof(*ctf));

	reader_init(&ctf->src, &ctf_ops, path, o, lg, &ctf->opts);
	ctf->child_err = -1;
	if (ctf_read_start(ctf, path, err)) {
		ctf_close(&ctf->src);
		return NULL;
	}
	return &ctf->src;
}

static int ctf_scan(struct source *src, struct err *err)
{
	return ctf_child_start(ctf_of(src), err);
}

static int ctf_fields(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err)
{
	struct ctf *ctf = ctf_of(src);

	if (s->event >= ctf->n_event)
		return err_set(err, ERR_FORMAT, "%s: no such event", src->path);
	tp_fields_take(&ctf->tp, &ctf->event[s->event].fmt, s->raw, s->raw_len,
		       out);
	return 0;
}

static int ctf_print(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size)
{
	struct ctf *ctf = ctf_of(src);

	if (!size)
		return -1;
	buf[0] = '\0';
	if (s->event >= ctf->n_event || !s->raw)
		return -1;
	tp_print(&ctf->tp, &ctf->event[s->event].fmt, s->raw, s->raw_len, buf,
		 size);
	return 0;
}

const struct source_ops ctf_ops = {
	.name = "ctf",
	.summary = "folder of an LTTng session, or of any CTF 1.8 trace",
	.probe = ctf_probe,
	.open = ctf_open,
	.scan = ctf_scan,
	.next = ctf_next,
	.decode = ctf_item_decode,
	.release = ctf_item_release,
	.fields = ctf_fields,
	.print = ctf_print,
	.close = ctf_close,
};
