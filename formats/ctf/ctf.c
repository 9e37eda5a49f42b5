/* ctf.c - the reader of CTF traces: opening and closing, and its table row. */
#include "formats/ctf/ctf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/order/clocks.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

void ctf_damage(const struct ctf *ctf, const char *what, uint64_t off,
		uint64_t len, const struct err *err)
{
	ledger_damage(ctf->src.ledger, ctf->src.index, what, off, len, err);
}

void ctf_note(const struct ctf *ctf, enum ledger_kind kind, const char *what,
	      const char *detail, uint64_t n)
{
	struct ledger_entry e = {
		.kind = kind,
		.capture = ctf->src.index,
		.what = what,
		.detail = detail,
		.n = n,
		.cpu = -1,
		.event = -1,
	};

	ledger_add(ctf->src.ledger, &e);
}

static int probe(const char *path, const void *head, size_t n)
{
	(void)head;
	return !n && strcmp(path, "-") && ctf_is_folder(path) ? 30 : 0;
}

/* The clock's zero in ns since 1970; false: out of all bounds. */
static bool offset_of(const struct ctf_meta *m, int64_t *out)
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

/* All clocks of a session are one clock; those of several hosts are not, and
 * only through wall time can they be compared. */
static void find_base(struct ctf *ctf)
{
	bool differ = false;
	int64_t v;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		if (!offset_of(&ctf->trace[i].meta, &v))
			continue;
		differ |= ctf->has_base && v != ctf->base;
		if (!ctf->has_base || v < ctf->base)
			ctf->base = v;
		ctf->has_base = true;
	}
	for (size_t i = 0; differ && i < ctf->n_trace; i++)
		if (offset_of(&ctf->trace[i].meta, &v))
			ctf->trace[i].start +=
				(uint64_t)v - (uint64_t)ctf->base;
	ctf->differ = differ;
	if (differ)
		ctf_note(ctf, LEDGER_NOTE, "clock",
			 "the traces' clocks have different offsets: they are "
			 "put together by wall time",
			 1);
}

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
static bool take_uuid(const char *s, uint8_t out[16])
{
	int n = 0;

	for (size_t i = 0; s && s[i] && n < 32; i++) {
		const char *hex = "0123456789abcdef";
		const char *at = strchr(hex, s[i] | 32);

		if (s[i] == '-')
			continue;
		if (!at)
			return false;
		out[n / 2] = (uint8_t)(out[n / 2] << 4 | (at - hex));
		n++;
	}
	return n == 32;
}

/* LTTng names the kernel's run by the clock's uuid. */
static void say_clock(struct source_info *info, const struct ctf_meta *m)
{
	bool lttng = m->tracer && !strncmp(m->tracer, "lttng", 5);

	info->clock = m->clock;
	info->clock_id = lttng ? clock_id_of(m->clock) : CLOCK_ID_NONE;
	info->has_boot_id = lttng && take_uuid(m->clock_uuid, info->boot_id);
}

static void fill_info(struct ctf *ctf)
{
	struct source_info *info = &ctf->src.info;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		const struct ctf_trace *tr = &ctf->trace[i];
		const struct ctf_meta *m = &tr->meta;

		if (!info->clock)
			say_clock(info, m);
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

static void note_perf(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->n_trace; i++)
		if (ctf->trace[i].is_perf) {
			ctf_note(ctf, LEDGER_NOTE, "perf data convert",
				 "made from a perf.data file, without its "
				 "losses, mappings' lengths and build-ids, "
				 "registers, stacks and deferred chains: give "
				 "the perf.data instead",
				 1);
			return;
		}
}

/* One trace that cannot be read must not cost the others; *err: why. */
static void refuse(struct ctf *ctf, struct ctf_trace *tr, struct err *err)
{
	if (tr->meta.version == 2 && !ctf_graph_newer())
		err_set(err, ERR_FORMAT,
			"%s: this is a CTF 2 trace, needs libbabeltrace2 2.1; "
			"record it again with 'lttng create "
			"--trace-format=ctf-1.8'",
			tr->path);
	else if (!ctf_salvage(tr, err) && !ctf_try(tr, err))
		return;
	tr->ended = true;
	ctf_damage(ctf, "trace", 0, 0, err);
}

static int read_traces(struct ctf *ctf, struct err *err)
{
	size_t left = ctf->n_trace;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		refuse(ctf, &ctf->trace[i], err);
		left -= ctf->trace[i].ended;
	}
	return left ? 0 : -1;
}

static void close_ctf(struct source *src)
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

static int read_front(struct ctf *ctf, const char *path, struct err *err)
{
	if (ctf_rules_read(ctf, err) || ctf_find(ctf, path, err) ||
	    ctf_graph_start(ctf, err) || read_traces(ctf, err))
		return -1;
	find_base(ctf);
	fill_info(ctf);
	note_perf(ctf);
	return 0;
}

static struct source *open_ctf(const char *path, const struct source_opts *o,
			       struct ledger *lg, struct err *err)
{
	struct ctf *ctf = mem_new(1, sizeof(*ctf));

	reader_init(&ctf->src, &ctf_ops, path, o, lg, &ctf->opts);
	ctf->child_err = -1;
	if (read_front(ctf, path, err)) {
		close_ctf(&ctf->src);
		return NULL;
	}
	return &ctf->src;
}

static int scan(struct source *src, struct err *err)
{
	return ctf_child_start(ctf_of(src), err);
}

static int fields(struct source *src, const struct rec_sample *s,
		  struct field *out, struct err *err)
{
	struct ctf *ctf = ctf_of(src);

	if (s->event >= ctf->n_event)
		return err_set(err, ERR_FORMAT, "%s: no such event", src->path);
	tp_fields_take(&ctf->tp, &ctf->event[s->event].fmt, s->raw, s->raw_len,
		       out);
	return 0;
}

static int print(struct source *src, const struct rec_sample *s, char *buf,
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
	.probe = probe,
	.open = open_ctf,
	.scan = scan,
	.next = ctf_next,
	.decode = ctf_decode,
	.release = ctf_release,
	.fields = fields,
	.print = print,
	.close = close_ctf,
};
