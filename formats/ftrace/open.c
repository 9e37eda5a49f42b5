/* open.c - opens and closes ftrace's binary captures; their row in the table
 * of formats. */
#include <inttypes.h>
#include <sys/stat.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "formats/reader/nonce.h"
#include "formats/reader/reader.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/order/clocks.h"

#define IDS 65536u

static int ft_probe(const char *path, const void *head, size_t n)
{
	if (!n && strcmp(path, "-"))
		return ft_dir_probe(path) ? 40 : 0;
	return n >= FT_MAGIC_LEN && !memcmp(head, FT_MAGIC, FT_MAGIC_LEN) ? 100
									  : 0;
}

/* Times with an offset are on no clock of the kernel: DATE makes them
 * wall-clock time, and OFFSET comes from the user. */
static void ft_set_clock(struct ft *ft)
{
	struct source_info *info = &ft->src.info;

	info->clock_id = clock_id_of(info->clock);
	if (info->clock_id == CLOCK_ID_TSC && ft->mult)
		info->tsc = (struct tsc_conv){ 0, ft->mult,
					       (uint16_t)ft->mult_shift };
	/* Counts and cycles are read as if they were nanoseconds, which keeps
	 * their order; whoever reads a length must know it. */
	static const struct {
		const char *clock, *cure;
	} ticks[] = {
		{ "counter", "" },
		{ "uptime", "" },
		{ "x86-tsc",
		  ", unless perf's capture is read with it; trace-cmd record "
		  "--tsc2nsec makes them so" },
		{ "ppc-tb", "" },
		{ "s390-tod", "" },
	};
	const char *clock = ft->src.info.clock;
	char detail[160];

	for (size_t i = 0; clock && !ft->mult && i < ARRAY_SIZE(ticks); i++) {
		if (strcmp(clock, ticks[i].clock) != 0)
			continue;
		snprintf(detail, sizeof(detail),
			 "times are those of the clock %s: they are no "
			 "nanoseconds%s",
			 clock, ticks[i].cure);
		reader_note(&ft->src, "clock", detail);
	}
	if (!ft->shift)
		return;
	info->clock_id = ft->moved ? CLOCK_ID_NONE : CLOCK_ID_REAL;
	if (!ft->moved)
		info->wall_ns = info->wall_clock_ns = (uint64_t)ft->shift;
}

static void ft_close(struct source *src)
{
	struct ft *ft = ft_from_source(src);

	for (size_t i = 0; i < ft->n_type; i++)
		tp_format_release(&ft->type[i].fmt);
	ft_streams_release(ft);
	input_close(&ft->in);
	for (size_t i = 0; i < ft->n_raw; i++)
		input_close(&ft->raw[i].in);
	tp_release(&ft->tp);
	tp_release(&ft->look);
	arena_release(&ft->arena);
	arena_release(&ft->made);
	table_release(&ft->events);
	claims_release(&ft->claims);
	ft_sync_release(ft);
	told_tasks_release(&ft->told);
	user_stack_reader_release(&ft->stack);
	free_all(ft->raw, ft->tgid, ft->type, ft->by_id, ft->event_of,
		 ft->event, ft->inst, ft->stat, ft->text, ft->field, ft->boot,
		 ft->map, ft->maps, ft->kallsyms, ft->symbol, ft->cmd,
		 ft->synthetic, ft->heap, ft->due, ft->src.path, ft);
}

static int ft_open_capture(struct ft *ft, const char *path, struct err *err)
{
	struct stat st;

	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		if (ft_dir_read(ft, path, err))
			return -1;
		for (size_t i = 0; i < ft->n_raw; i++)
			ft->src.size += ft->raw[i].in.len;
		return 0;
	}
	if (input_open(&ft->in, path, ft->opts.temp_dir, err) ||
	    input_spool(&ft->in, ft->opts.temp_dir, err) ||
	    ft_file_read(ft, err))
		return -1;
	if (ft->in.cut)
		reader_damage_packed(&ft->src, path);
	ft->src.size = ft->in.len;
	return 0;
}

static struct source *ft_open(const char *path, const struct source_opts *o,
			      struct ledger *lg, struct err *err)
{
	struct ft *ft = mem_new(1, sizeof(*ft));
	struct source_info *info = &ft->src.info;

	reader_init(&ft->src, &ftrace_ops, path, o, lg, &ft->opts);
	ft->in.fd = -1;
	ft->nonce_format =
		o && o->nonce_format ? o->nonce_format : nonce_default;
	ft->by_id = mem_new(IDS, sizeof(*ft->by_id));
	ft->event_of = mem_new(IDS, sizeof(*ft->event_of));
	info->cookies = COOKIES_FTRACE;
	if (ft_open_capture(ft, path, err)) {
		ft_close(&ft->src);
		return NULL;
	}
	ft_print_names(ft);
	info->kallsyms = ft->kallsyms;
	info->kallsyms_len = ft->kallsyms_len;
	/* Note the buffers for `info`. The capture's clock is that of the top
	 * buffer. */
	char detail[256];

	for (size_t i = 0; i < ft->n_inst; i++) {
		const struct ft_instance *in = &ft->inst[i];
		uint32_t rings = 0;

		if (in->clock && !ft->src.info.clock)
			ft->src.info.clock = in->clock;
		for (size_t j = 0; j < ft->n_stream; j++)
			rings += ft->stream[j].instance == i;
		if (!*in->name)
			continue;
		snprintf(detail, sizeof(detail),
			 "buffer '%s': clock %s, %" PRIu32 " CPUs with events",
			 in->name,
			 in->clock ? trace_clock_name(in->clock) : "not said",
			 rings);
		reader_note(&ft->src, "instance", detail);
	}
	if (ft->src.info.clock)
		ft->src.info.clock = trace_clock_name(ft->src.info.clock);
	ft_set_clock(ft);
	return &ft->src;
}

/* Returns the type of a payload. The sample's event says the same, but next()
 * may be adding events. */
static const struct ft_type *ft_type_of_payload(const struct ft *ft,
						const struct rec_sample *s)
{
	struct bytes b;
	uint16_t id;

	bytes_init(&b, s->raw, s->raw_len, "", 0, ft->swap);
	return s->raw && !bytes_peek_u16(&b, 0, &id) ? ft_type_of(ft, id)
						     : NULL;
}

/* Packed rings are unpacked into windows, which move. */
static bool ft_apart(const struct source *src)
{
	const struct ft *ft = (const struct ft *)src;

	return !any_where(ft->n_stream, i, ft->stream[i].n_chunk);
}

static int ft_fields(struct source *src, const struct rec_sample *s,
		     struct field *out, struct err *err)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_type *t = ft_type_of_payload(ft, s);

	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no field format",
			       src->path);
	tp_fields_take(&ft->tp, &t->fmt, s->raw, s->raw_len, out);
	if (t->printk && s->raw)
		ft_print_text(ft, &t->fmt, s->raw, s->raw_len, out);
	if (t->named)
		ft_symbols_take(ft, &t->fmt, out);
	return 0;
}

static int ft_print(struct source *src, const struct rec_sample *s, char *buf,
		    size_t size)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_type *t = ft_type_of_payload(ft, s);

	if (!size)
		return -1;
	buf[0] = '\0';
	if (!t || !s->raw)
		return -1;
	mem_grow(ft->field, ft->cap_field, t->fmt.n);
	if (ft_fields(src, s, ft->field, NULL))
		return -1;
	tp_print_fields(&ft->tp, &t->fmt, ft->field, buf, size);
	return 0;
}

const struct source_ops ftrace_ops = {
	.name = "ftrace",
	.summary = "trace.dat of trace-cmd; folder with trace_pipe_raw pages",
	.probe = ft_probe,
	.open = ft_open,
	.scan = ft_scan,
	.next = ft_next,
	.decode = ft_decode,
	.apart = ft_apart,
	.fills_arena = true,
	.fields = ft_fields,
	.print = ft_print,
	.dump = ft_dump,
	.close = ft_close,
};
