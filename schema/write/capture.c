/* capture.c - rows of captures, their event types, and the run. */

#include "schema/write/capture.h"

#include "schema/db/queries.h"
#include "schema/write/write.h"
#include "stitch/order/align.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/record.h"

/* The most kinds of records of a capture that get separate event types; a usual
 * capture has a dozen. */
#define MARKS_MAX 200

struct capture_map *capture_new_map(struct maker *mk, unsigned int index)
{
	mem_grow(mk->w->capture, mk->w->cap_capture, (size_t)index + 1);
	for (size_t i = mk->w->n_capture; i <= index; i++) {
		memset(&mk->w->capture[i], 0, sizeof(*mk->w->capture));
		mk->w->capture[i].first = TIME_NONE;
		mk->w->capture[i].last = TIME_NONE;
	}
	mk->w->n_capture = (size_t)index + 1;
	return &mk->w->capture[index];
}

/* Returns the unit of an event's weights. perf's clocks have the same names in
 * captures of other formats. */
static const char *capture_unit(const struct event_def *e)
{
	if (e->unit)
		return e->unit;
	return e->name && (strstr(e->name, "cpu-clock") ||
			   strstr(e->name, "task-clock"))
		       ? "ns"
		       : "events";
}

static int capture_write_type(struct maker *mk, uint32_t id,
			      unsigned int source, const struct event_def *e,
			      struct err *err)
{
	static const char *const how[] = {
		[EVENT_COUNT] = "count",
		[EVENT_SAMPLE] = "sample",
		[EVENT_READ] = "read",
		[EVENT_MARK] = "mark",
	};

	return PUT_BY(
		mk, sql_file("event_type"), err, VALUE_OF(id),
		VALUE_OF(source + 1), value_text(e->name ? e->name : "unknown"),
		value_text("sample"), VALUE_OF(e->type), VALUE_OF(e->config),
		VALUE_OF(e->sample_type), VALUE_OF(e->period),
		VALUE_OF(e->freq), VALUE_OF(e->has_chain), VALUE_OF(e->has_cpu),
		VALUE_OF(e->has_time), VALUE_OF(e->defer),
		VALUE_OF(e->defer_output), value_text(e->format),
		value_text(e->buffer), value_text(how[e->how]),
		value_text(capture_unit(e)));
}

uint32_t capture_type(struct maker *mk, unsigned int source, uint32_t event,
		      struct err *err)
{
	struct capture_map *c = capture_map(mk, source);

	if (!c->src || event >= c->src->n_events) {
		err_set(err, ERR_DB, "%s: capture %u has no event %u",
			mk->db->path, source + 1, event);
		return 0;
	}
	uint32_t *slot = mem_at(c->type, c->n_type, c->cap_type, event);

	if (*slot)
		return *slot;
	*slot = ++mk->w->n_types;
	if (capture_write_type(mk, *slot, source, &c->src->events[event], err))
		return 0;
	return *slot;
}

uint32_t capture_mark_type(struct maker *mk, unsigned int source,
			   const char *name, struct err *err)
{
	struct capture_map *c = capture_map(mk, source);
	struct event_def def = { .name = name };

	if (c->n_mark >= MARKS_MAX)
		def.name = "other";
	for (size_t i = 0; i < c->n_mark; i++)
		if (!strcmp(c->mark[i].name, def.name))
			return c->mark[i].id;
	uint32_t id = ++mk->w->n_types;
	char sql[96];

	snprintf(sql, sizeof(sql),
		 "UPDATE event_type SET kind='record', how='mark', unit=NULL"
		 " WHERE id=%u",
		 id);
	if (capture_write_type(mk, id, source, &def, err) ||
	    maker_exec(mk, sql, err))
		return 0;
	mem_grow(c->mark, c->cap_mark, c->n_mark + 1);
	c->mark[c->n_mark].name = mem_strdup(def.name);
	c->mark[c->n_mark++].id = id;
	return id;
}

void store_capture_source(struct maker *mk, const struct source *src)
{
	capture_map(mk, src->index)->src = src;
}

int store_capture(struct maker *mk, const struct source *src, struct err *err)
{
	struct capture_map *c = capture_map(mk, src->index);

	store_capture_source(mk, src);
	const struct source_info *in = &src->info;
	bool times = in->first_ns || in->last_ns;
	char text[128];

	char *out = text;
	size_t size = sizeof(text);
	const struct {
		bool is;
		const char *word;
	} words[] = {
		{ in->compressed, "compressed" },
		{ in->pipe, "pipe" },
		{ in->dir, "dir" },
		{ in->big_endian, "big-endian" },
		{ in->overwrite || in->overwrote, "overwrite" },
		{ in->injected, "injected" },
		{ in->truncated, "truncated" },
		{ in->no_packets, "no-packets" },
	};
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].is && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      n ? "," : "", words[i].word);
	if (PUT_BY(mk, sql_file("capture"), err, VALUE_OF(src->index + 1),
		   value_text(src->shown ?: src->path),
		   value_text(src->ops ? src->ops->name : NULL),
		   VALUE_ID(src->size ? src->size : src->pos),
		   value_text(in->host), value_text(in->release),
		   value_text(in->version), value_text(in->arch),
		   value_text(in->cmdline), VALUE_CPU(in->cpus_online),
		   value_text(in->clock),
		   value_known(times, (int64_t)in->first_ns),
		   value_known(times, (int64_t)in->last_ns),
		   VALUE_ID(in->records),
		   value_known(in->system_wide != TRI_UNKNOWN, in->system_wide),
		   VALUE_OF(in->exact), VALUE_OF(!in->truncated),
		   value_text(text)))
		return -1;
	for (uint32_t i = 0; i < src->n_events; i++) {
		uint32_t *slot = mem_at(c->type, c->n_type, c->cap_type, i);

		if (!*slot)
			*slot = ++mk->w->n_types;
		if (capture_write_type(mk, *slot, src->index, &src->events[i],
				       err))
			return -1;
	}
	return 0;
}

int store_align(struct maker *mk, unsigned int source,
		const struct align_out *a, uint64_t first, struct err *err)
{
	const struct clock_map *m = &a->map;

	/* a clock in cycles has no offset in ns */
	return PUT_BY(
		mk,
		"UPDATE capture SET align = ?2, offset_ns = ?3, drift_ppb = ?4,"
		" error_ns = ?5, pairs = ?6, together = ?7 WHERE id = ?1",
		err, VALUE_OF((int64_t)source + 1),
		value_text(align_method_name(a->method)),
		value_known(!m->tsc.mult,
			    (int64_t)(clock_map_time(m, first) - first)),
		(struct value){ .kind = VALUE_REAL,
				.real = (double)m->drift * 1e9 /
					(double)DRIFT_ONE },
		value_known(a->error != ALIGN_UNKNOWN, a->error),
		VALUE_OF(a->pairs), VALUE_OF(a->line + 1));
}

int captures_end(struct maker *mk, struct err *err)
{
	const struct capture_map *c = mk->w->capture;
	int rc = PUT_EACH(mk,
			  "UPDATE capture SET samples = ?2,"
			  " first_ns = coalesce(first_ns, ?3),"
			  " last_ns = coalesce(last_ns, ?4),"
			  " complete = complete AND NOT ?5 WHERE id = ?1",
			  err, mk->w->n_capture, i, VALUE_OF(i + 1),
			  VALUE_OF(c[i].samples), VALUE_TIME(c[i].first),
			  VALUE_TIME(c[i].last), VALUE_OF(c[i].damaged));

	if (rc)
		return rc;
	/* Writes the sums over the events of each type. */
	const struct type_count *one = mem_reach(
		mk->w->count, mk->w->n_count, mk->w->cap_count, mk->w->n_types);

	return PUT_EACH(
		mk,
		"UPDATE event_type SET events = ?2, weight = ?3 WHERE id = ?1",
		err, mk->w->n_types, i, VALUE_OF(i + 1),
		VALUE_OF(one[i].events), VALUE_OF(one[i].weight));
}

int store_meta(struct maker *mk, int capture, const char *key,
	       const char *value, struct err *err)
{
	return PUT_BY(mk, store_sql("put_meta"), err, VALUE_OF(capture + 1),
		      value_text(key), value_text(value ?: ""));
}

int store_meta_number(struct maker *mk, int capture, const char *key,
		      int64_t value, struct err *err)
{
	return PUT_BY(mk, store_sql("put_meta"), err, VALUE_OF(capture + 1),
		      value_text(key), VALUE_OF(value));
}
