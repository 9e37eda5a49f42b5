/* open.c - the reader of CTF traces: opens and closes captures. */
#include "formats/ctf/ctf.h"

#include <stdlib.h>
#include <string.h>

#include "formats/ctf/plan.h"
#include "formats/tracepoint/fields.h"
#include "stitch/order/clocks.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

static int ctf_probe(const char *path, const void *head UNUSED, size_t n)
{
	return !n && strcmp(path, "-") && ctf_is_folder(path) ? 30 : 0;
}

static const char *ctf_env_either(const struct ctf_tree *t, const char *name,
				  const char *other)
{
	const char *s = ctf_tree_env(t, name);

	return s ? s : ctf_tree_env(t, other);
}

static void ctf_fill_info(struct ctf *ctf)
{
	struct source_info *info = &ctf->src.info;
	uint64_t first = UINT64_MAX;
	bool wall = true;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		const struct ctf_trace *tr = &ctf->trace[i];
		const struct ctf_tree *t = &tr->schema->tree;
		const struct ctf_clock *c = ctf_schema_first_clock(tr->schema);

		if (!info->clock && c) {
			const bool lttng = tr->schema->lttng;

			/* the uuid of LTTng's clock is the kernel's boot id */
			info->clock = c->name;
			info->clock_id =
				lttng ? clock_id_of(c->name) : CLOCK_ID_NONE;
			info->has_boot_id =
				lttng && ctf_uuid_parse(c->uid, info->boot_id);
		}
		if (!info->host)
			info->host = ctf_env_either(t, "hostname", "host");
		if (!info->release)
			info->release =
				ctf_env_either(t, "kernel_release", "release");
		if (!info->arch)
			info->arch = ctf_tree_env(t, "machine");
		if (!info->version)
			info->version = ctf_tree_env(t, "tracer_name");
		/* what 'export --comm' of ours writes */
		if (!info->cmdline && info->version &&
		    !strcmp(info->version, "backstitch"))
			info->cmdline = ctf_tree_env(t, "command");
		info->has_time |= c != NULL;
		for (uint32_t k = 0; k < t->n_stream; k++)
			info->calls |= any_where(
				t->stream[k].n_event, e,
				t->stream[k].event[e].name &&
					ctf_is_call(
						t->stream[k].event[e].name));
		wall &= !c || c->unix_epoch;
		if (c && tr->start && tr->start < first)
			first = tr->start;
	}
	if (wall && ctf->base && first != UINT64_MAX) {
		info->wall_clock_ns = first;
		info->wall_ns = first + (uint64_t)ctf->base;
	}
	if (ctf->differ)
		info->clock_id = CLOCK_ID_NONE;
	info->filtered = info->cmdline && strstr(info->cmdline, " --filter");
	info->exact = true;
	info->cookies = COOKIES_LTTNG;
	info->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	info->dir = true;
}

/* Returns the index of the trace with this metadata, which is added if it is
 * new: the chunks of a rotated session share a uuid. */
static uint32_t ctf_trace_of(struct ctf *ctf, const char *folder,
			     const struct ctf_schema *sm)
{
	const struct ctf_tree *t = &sm->tree;

	for (size_t i = 0; i < ctf->n_trace && t->has_uuid; i++) {
		const struct ctf_tree *other = &ctf->trace[i].schema->tree;

		if (other->has_uuid &&
		    !memcmp(other->uuid, t->uuid, sizeof(t->uuid)))
			return (uint32_t)i;
	}
	struct ctf_trace *tr =
		mem_add(ctf->trace, ctf->n_trace, ctf->cap_trace);

	*tr = (struct ctf_trace){
		.ctf = ctf,
		.schema = sm,
		.folder = arena_strdup(&ctf->arena, folder),
		.vpid = -1,
	};
	for (uint32_t i = 0; i < t->n_env && tr->vpid < 0; i++)
		if (!strcmp(t->env[i].name, "vpid") && !t->env[i].text &&
		    t->env[i].num > 0 && t->env[i].num <= INT32_MAX)
			tr->vpid = (int32_t)t->env[i].num;
	tr->has_time = ctf_schema_first_clock(tr->schema) != NULL;
	return (uint32_t)(ctf->n_trace - 1);
}

/* Adds the trace of a folder. One that cannot be read is noted as damage, and
 * the other traces are read. */
static void ctf_open_folder(struct ctf *ctf, const char *folder)
{
	char *path OWNED = ctf_find_join_path(folder, "metadata");
	struct ctf_schema *sm = ctf_schema_of(ctf, path);
	struct err why;

	if (sm->err) {
		reader_damage(&ctf->src, "trace", 0, 0, sm->err);
		return;
	}
	if (sm->tree.cut) {
		err_set(&why, ERR_FORMAT,
			"%s: it ends in the middle: what it says about streams "
			"and events up to there is used",
			path);
		reader_damage(&ctf->src, "metadata", 0, 0, &why);
	}
	ctf_files_add(ctf, folder, sm, ctf_trace_of(ctf, folder, sm));
}

static void ctf_close(struct source *src)
{
	struct ctf *ctf = ctf_of(src);

	for (size_t i = 0; i < ctf->n_stream; i++)
		ctf_stream_close(&ctf->stream[i]);
	for (size_t i = 0; i < ctf->n_file; i++)
		free(ctf->file[i].path);
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];

		known_tasks_release(&tr->known);
		for (size_t k = 0; tr->pending && k < CTF_PENDING; k++)
			free(tr->pending[k].path);
		free_all(tr->due, tr->on_cpu, tr->pending);
	}
	for (size_t i = 0; i < ctf->n_schema; i++)
		ctf_schema_free(ctf->schema[i]);
	ctf_rules_release(ctf);
	for (size_t i = 0; i < ctf->n_event; i++)
		tp_format_release(&ctf_event_at(ctf, i)->fmt);
	table_release(&ctf->by_layout);
	table_release(&ctf->by_base);
	ctf_pool_release(&ctf->pool);
	tp_release(&ctf->tp);
	tp_release(&ctf->look);
	tp_release(&ctf->said);
	arena_release(&ctf->arena);
	for (size_t i = 0; i < CTF_EVENT_PAGES; i++)
		free(ctf->event[i]);
	known_tasks_release(&ctf->known);
	free_all(ctf->mapped, ctf->place, ctf->places, ctf->trace, ctf->file,
		 ctf->stream, ctf->copy, ctf->spare, ctf->def, ctf->heap,
		 ctf->schema, ctf->src.path, ctf);
}

/* Returns whether two traces are of different kernels, whose thread numbers
 * mean different threads. The boot id, which is the uuid of LTTng's clock,
 * identifies the kernel even if the host was renamed. */
static bool ctf_is_other_kernel(const struct ctf_trace *a,
				const struct ctf_trace *b)
{
	const struct ctf_clock *x = ctf_schema_first_clock(a->schema);
	const struct ctf_clock *y = ctf_schema_first_clock(b->schema);
	const char *host = ctf_env_either(&a->schema->tree, "hostname", "host");
	const char *other =
		ctf_env_either(&b->schema->tree, "hostname", "host");

	if (a->schema->lttng && b->schema->lttng && x && y && x->uid && y->uid)
		return strcmp(x->uid, y->uid) != 0;
	return host && other && strcmp(host, other) != 0;
}

char *ctf_session(const char *path)
{
	struct ctf ctf = { 0 };
	char *folder = ctf_find_first(path);
	char *file = folder ? ctf_find_join_path(folder, "metadata") : NULL;
	const struct ctf_schema *sm = file ? ctf_schema_of(&ctf, file) : NULL;
	const struct ctf_tree *t =
		sm && !sm->err && sm->lttng ? &sm->tree : NULL;
	const struct ctf_clock *c = t ? ctf_schema_first_clock(sm) : NULL;
	const char *name = t ? ctf_tree_env(t, "trace_name") : NULL;
	const char *date =
		t ? ctf_tree_env(t, "trace_creation_datetime") : NULL;
	char *session = NULL;

	/* the uuid of the clock is the boot id */
	if (name && date && c && c->uid)
		session = mem_printf("%s/%s/%s", date, c->uid, name);
	for (size_t i = 0; i < ctf.n_schema; i++)
		ctf_schema_free(ctf.schema[i]);
	free_all(ctf.schema, file, folder);
	return session;
}

static int ctf_read_start(struct ctf *ctf, const char *path, struct err *err)
{
	char *const *more = ctf->opts.more;

	if (ctf_rules_read(ctf, err) ||
	    ctf_find_traces(ctf, path, ctf_open_folder, err))
		return -1;
	for (; more && *more; more++)
		if (ctf_find_traces(ctf, *more, ctf_open_folder, err))
			return -1;
	if (!ctf->n_trace) {
		*err = *ctf->schema[0]->err;
		return -1;
	}
	const struct ctf_trace *tr = ctf->trace;

	for (size_t i = 1; i < ctf->n_trace; i++)
		if (ctf_is_other_kernel(&tr[0], &tr[i]))
			return err_set(err, ERR_FORMAT,
				       "%s: %s and %s are of two hosts or "
				       "boots, whose threads have the same "
				       "numbers: give the folder of each, with "
				       "--separate",
				       path, tr[0].folder, tr[i].folder);
	/* All traces of a session share a clock. The clocks of several hosts
	 * differ, and can only be compared by wall time. */
	int64_t v;

	for (size_t i = 0; i < ctf->n_trace; i++) {
		const struct ctf_schema *sm = ctf->trace[i].schema;
		const struct ctf_clock *c = ctf_schema_first_clock(sm);

		if (!c || !ctf_clock_zero(ctf, sm, c, &v))
			continue;
		ctf->differ |= ctf->has_base && v != ctf->base;
		if (!ctf->has_base || v < ctf->base)
			ctf->base = v;
		ctf->has_base = true;
	}
	if (ctf->differ)
		reader_note(&ctf->src, "clock",
			    "the traces' clocks have different offsets: they "
			    "are put together by wall time");
	ctf_streams_make(ctf);
	ctf_fill_info(ctf);
	if (any_where(ctf->n_trace, i, ctf->trace[i].schema->perf))
		reader_note(&ctf->src, "perf data convert",
			    "made from a perf.data file, without its losses, "
			    "mappings' lengths and build-ids, registers, "
			    "stacks and deferred chains: give the perf.data "
			    "instead");
	return 0;
}

static struct source *ctf_open(const char *path, const struct source_opts *o,
			       struct ledger *lg, struct err *err)
{
	struct ctf *ctf = mem_new(1, sizeof(*ctf));

	reader_init(&ctf->src, &ctf_ops, path, o, lg, &ctf->opts);
	if (ctf_read_start(ctf, path, err)) {
		ctf_close(&ctf->src);
		return NULL;
	}
	return &ctf->src;
}

/* Does nothing: ctf_open() has walked the packets. */
static int ctf_scan(struct source *src UNUSED, struct err *err UNUSED)
{
	return 0;
}

/* True: what ctf_next() reads is copied to the pool, and events never move. */
static bool ctf_apart(const struct source *src UNUSED)
{
	return true;
}

/* Returns the format of a sample's payload, or NULL. Does not look at n_event,
 * which another thread may be raising. */
static const struct tp_format *ctf_format_of(const struct ctf *ctf,
					     const struct rec_sample *s)
{
	if (s->event >= CTF_EVENTS_MAX ||
	    !ctf->event[s->event / CTF_EVENT_PAGE])
		return NULL;
	return &ctf_event_at(ctf, s->event)->fmt;
}

static int ctf_fields(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err)
{
	struct ctf *ctf = ctf_of(src);
	const struct tp_format *fmt = ctf_format_of(ctf, s);

	if (!fmt)
		return err_set(err, ERR_FORMAT, "%s: no such event", src->path);
	tp_fields_take(&ctf->tp, fmt, s->raw, s->raw_len, out);
	return 0;
}

static int ctf_print(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size)
{
	struct ctf *ctf = ctf_of(src);
	const struct tp_format *fmt = ctf_format_of(ctf, s);

	if (!size)
		return -1;
	buf[0] = '\0';
	if (!fmt || !s->raw)
		return -1;
	tp_print(&ctf->tp, fmt, s->raw, s->raw_len, buf, size);
	return 0;
}

const struct source_ops ctf_ops = {
	.name = "ctf",
	.summary = "folder of an LTTng session, or of any CTF trace",
	.probe = ctf_probe,
	.open = ctf_open,
	.scan = ctf_scan,
	.next = ctf_next,
	.decode = ctf_item_decode,
	.apart = ctf_apart,
	.lasting = true,
	.release = ctf_item_release,
	.fields = ctf_fields,
	.print = ctf_print,
	.close = ctf_close,
};
