/* capture.c - rows of captures, their event types, and the run. */

#include "schema/db/queries.h"
#include "schema/write/capture.h"
#include "schema/write/write.h"
#include "stitch/order/align.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/record.h"

/* Most kinds of records of a capture that get an event type of their own; a
 * usual capture has a dozen. */
#define MARKS_MAX 200

struct capture_map *capture_new_map(struct store *db, unsigned int index)
{
	mem_grow(db->w->capture, db->w->cap_capture, (size_t)index + 1);
	for (size_t i = db->w->n_capture; i <= index; i++) {
		memset(&db->w->capture[i], 0, sizeof(*db->w->capture));
		db->w->capture[i].first = TIME_NONE;
		db->w->capture[i].last = TIME_NONE;
	}
	db->w->n_capture = (size_t)index + 1;
	return &db->w->capture[index];
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

static int capture_write_type(struct store *db, uint32_t id,
			      unsigned int source, const struct event_def *e,
			      struct err *err)
{
	static const char *const how[] = {
		[EVENT_COUNT] = "count",
		[EVENT_SAMPLE] = "sample",
		[EVENT_READ] = "read",
		[EVENT_MARK] = "mark",
	};
	sqlite3_stmt *st = db_prepare(db, sql_file("event_type"), err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, source + 1);
	db_bind_text(st, 3, e->name ? e->name : "unknown");
	sqlite3_bind_text(st, 4, "sample", -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 5, e->type);
	sqlite3_bind_int64(st, 6, (int64_t)e->config);
	sqlite3_bind_int64(st, 7, (int64_t)e->sample_type);
	sqlite3_bind_int64(st, 8, (int64_t)e->period);
	sqlite3_bind_int64(st, 9, e->freq);
	sqlite3_bind_int64(st, 10, e->has_chain);
	sqlite3_bind_int64(st, 11, e->has_cpu);
	sqlite3_bind_int64(st, 12, e->has_time);
	sqlite3_bind_int64(st, 13, e->defer);
	sqlite3_bind_int64(st, 14, e->defer_output);
	db_bind_text(st, 15, e->format);
	db_bind_text(st, 16, e->buffer);
	db_bind_text(st, 17, how[e->how]);
	db_bind_text(st, 18, capture_unit(e));
	return db_step_last(db, st, err);
}

static uint32_t *capture_type_slot(struct capture_map *c, uint32_t event)
{
	return mem_at(c->type, c->n_type, c->cap_type, event);
}

uint32_t capture_type(struct store *db, unsigned int source, uint32_t event,
		      struct err *err)
{
	struct capture_map *c = capture_map(db, source);

	if (!c->src || event >= c->src->n_events) {
		err_set(err, ERR_DB, "%s: capture %u has no event %u", db->path,
			source + 1, event);
		return 0;
	}
	uint32_t *slot = capture_type_slot(c, event);

	if (*slot)
		return *slot;
	*slot = ++db->w->n_types;
	if (capture_write_type(db, *slot, source, &c->src->events[event], err))
		return 0;
	return *slot;
}

uint32_t capture_mark_type(struct store *db, unsigned int source,
			   const char *name, struct err *err)
{
	struct capture_map *c = capture_map(db, source);
	struct event_def def = { .name = name };

	if (c->n_mark >= MARKS_MAX)
		def.name = "other";
	for (size_t i = 0; i < c->n_mark; i++)
		if (!strcmp(c->mark[i].name, def.name))
			return c->mark[i].id;
	uint32_t id = ++db->w->n_types;
	char sql[96];

	snprintf(sql, sizeof(sql),
		 "UPDATE event_type SET kind='record', how='mark', unit=NULL"
		 " WHERE id=%u",
		 id);
	if (capture_write_type(db, id, source, &def, err) ||
	    db_exec(db, sql, err))
		return 0;
	mem_grow(c->mark, c->cap_mark, c->n_mark + 1);
	c->mark[c->n_mark].name = mem_strdup(def.name);
	c->mark[c->n_mark++].id = id;
	return id;
}

static void capture_note(const struct source_info *in, char *out, size_t size)
{
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
	};
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].is && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      n ? "," : "", words[i].word);
}

static int capture_write(struct store *db, const struct source *src,
			 struct err *err)
{
	const struct source_info *in = &src->info;
	bool times = in->first_ns || in->last_ns;
	char text[128];
	sqlite3_stmt *st = db_prepare(db, sql_file("capture"), err);

	if (!st)
		return -1;
	capture_note(in, text, sizeof(text));
	sqlite3_bind_int64(st, 1, src->index + 1);
	db_bind_text(st, 2, src->path);
	db_bind_text(st, 3, src->ops ? src->ops->name : NULL);
	db_bind_known(st, 4, src->size || src->pos,
		      (int64_t)(src->size ? src->size : src->pos));
	db_bind_text(st, 5, in->host);
	db_bind_text(st, 6, in->release);
	db_bind_text(st, 7, in->version);
	db_bind_text(st, 8, in->arch);
	db_bind_text(st, 9, in->cmdline);
	db_bind_known(st, 10, in->cpus_online >= 0, in->cpus_online);
	db_bind_text(st, 11, in->clock);
	db_bind_known(st, 12, times, (int64_t)in->first_ns);
	db_bind_known(st, 13, times, (int64_t)in->last_ns);
	db_bind_known(st, 14, in->records, (int64_t)in->records);
	db_bind_known(st, 15, in->system_wide != TRI_UNKNOWN, in->system_wide);
	sqlite3_bind_int64(st, 16, in->exact);
	sqlite3_bind_int64(st, 17, !in->truncated);
	db_bind_text(st, 18, text);
	return db_step_last(db, st, err);
}

void store_capture_source(struct store *db, const struct source *src)
{
	capture_map(db, src->index)->src = src;
}

int store_capture(struct store *db, const struct source *src, struct err *err)
{
	struct capture_map *c = capture_map(db, src->index);

	store_capture_source(db, src);
	if (capture_write(db, src, err))
		return -1;
	for (uint32_t i = 0; i < src->n_events; i++) {
		uint32_t *slot = capture_type_slot(c, i);

		if (!*slot)
			*slot = ++db->w->n_types;
		if (capture_write_type(db, *slot, src->index, &src->events[i],
				       err))
			return -1;
	}
	return 0;
}

int store_align(struct store *db, unsigned int source,
		const struct align_out *a, uint64_t first, struct err *err)
{
	const struct clock_map *m = &a->map;
	sqlite3_stmt *st =
		db_prepare(db,
			   "UPDATE capture SET align = ?2, offset_ns = ?3,"
			   " drift_ppb = ?4, error_ns = ?5, pairs = ?6,"
			   " together = ?7 WHERE id = ?1",
			   err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, (sqlite3_int64)source + 1);
	db_bind_text(st, 2, align_method_name(a->method));
	/* a clock in cycles has no offset in ns */
	db_bind_known(st, 3, !m->tsc.mult,
		      (int64_t)(clock_map_time(m, first) - first));
	sqlite3_bind_double(st, 4, (double)m->drift * 1e9 / (double)DRIFT_ONE);
	db_bind_known(st, 5, a->error != ALIGN_UNKNOWN, a->error);
	sqlite3_bind_int64(st, 6, (sqlite3_int64)a->pairs);
	sqlite3_bind_int64(st, 7, a->line + 1);
	return db_step_last(db, st, err);
}

/* Writes the sums over the events of each type. */
static int capture_types_end(struct store *db, struct err *err)
{
	sqlite3_stmt *st = db_prepare(
		db,
		"UPDATE event_type SET events = ?2, weight = ?3 WHERE id = ?1",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->w->n_types; i++) {
		struct type_count c = { 0 };

		if (i < db->w->n_count)
			c = db->w->count[i];
		sqlite3_bind_int64(st, 1, (sqlite3_int64)i + 1);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)c.events);
		sqlite3_bind_int64(st, 3, (sqlite3_int64)c.weight);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int captures_end(struct store *db, struct err *err)
{
	sqlite3_stmt *st =
		db_prepare(db,
			   "UPDATE capture SET samples = ?2,"
			   " first_ns = coalesce(first_ns, ?3),"
			   " last_ns = coalesce(last_ns, ?4),"
			   " complete = complete AND NOT ?5 WHERE id = ?1",
			   err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->w->n_capture; i++) {
		const struct capture_map *c = &db->w->capture[i];

		sqlite3_bind_int64(st, 1, (sqlite3_int64)i + 1);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)c->samples);
		db_bind_known(st, 3, c->first != TIME_NONE, c->first);
		db_bind_known(st, 4, c->last != TIME_NONE, c->last);
		sqlite3_bind_int64(st, 5, c->damaged);
		rc = db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc ? rc : capture_types_end(db, err);
}

/* Writes text, or number if text is NULL. */
static int capture_put_meta(struct store *db, int capture, const char *key,
			    const char *text, int64_t number, struct err *err)
{
	sqlite3_stmt *st = db_prepare(
		db, "INSERT OR REPLACE INTO meta VALUES(?1,?2,?3)", err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, capture + 1);
	db_bind_text(st, 2, key);
	if (text)
		db_bind_text(st, 3, text);
	else
		sqlite3_bind_int64(st, 3, number);
	return db_step_last(db, st, err);
}

int store_meta(struct store *db, int capture, const char *key,
	       const char *value, struct err *err)
{
	return capture_put_meta(db, capture, key, value ? value : "", 0, err);
}

int store_meta_number(struct store *db, int capture, const char *key,
		      int64_t value, struct err *err)
{
	return capture_put_meta(db, capture, key, NULL, value, err);
}
