/* capture.c - rows about captures, their event types, and the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/inner.h"
#include "schema/store.h"
#include "stitch/order/align.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/record.h"
#include "stitch/audit/rules.h"
#include "stitch/verdict.h"

/* A capture has a dozen kinds of records besides samples. */
#define MARKS_MAX 200

struct capture_map *store_capture_map(struct store *db, unsigned int index)
{
	if (__builtin_expect(index < db->n_capture, 1))
		return &db->capture[index];
	db->capture = mem_grow(db->capture, &db->cap_capture, (size_t)index + 1,
			       sizeof(*db->capture));
	for (size_t i = db->n_capture; i <= index; i++) {
		memset(&db->capture[i], 0, sizeof(*db->capture));
		db->capture[i].first = TIME_NONE;
		db->capture[i].last = TIME_NONE;
	}
	db->n_capture = (size_t)index + 1;
	return &db->capture[index];
}

void store_captures_release(struct store *db)
{
	free(db->count);
	for (size_t i = 0; i < db->n_capture; i++) {
		struct capture_map *c = &db->capture[i];

		for (size_t j = 0; j < c->n_mark; j++)
			free(c->mark[j].name);
		free(c->mark);
		free(c->type);
	}
	free(db->capture);
}

static void bind_text(sqlite3_stmt *st, int i, const char *s)
{
	if (s)
		sqlite3_bind_text(st, i, s, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(st, i);
}

/* A number that is not known when `known` is false. */
static void bind_int(sqlite3_stmt *st, int i, bool known, int64_t v)
{
	if (known)
		sqlite3_bind_int64(st, i, v);
	else
		sqlite3_bind_null(st, i);
}

/* ---- event types */

static int write_type(struct store *db, uint32_t id, unsigned int source,
		      const struct event_def *e, struct err *err)
{
	sqlite3_stmt *st = store_prepare(db, sql_file("event_type"), err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, source + 1);
	bind_text(st, 3, e->name ? e->name : "unknown");
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
	bind_text(st, 15, e->format);
	bind_text(st, 16, e->buffer);

	int rc = store_step(db, st, err);

	sqlite3_finalize(st);
	return rc;
}

static uint32_t *type_slot(struct capture_map *c, uint32_t event)
{
	c->type = mem_reach(c->type, &c->n_type, &c->cap_type,
			    (size_t)event + 1, sizeof(*c->type));
	return &c->type[event];
}

uint32_t store_type(struct store *db, unsigned int source, uint32_t event,
		    struct err *err)
{
	struct capture_map *c = store_capture_map(db, source);

	if (!c->src || event >= c->src->n_events) {
		err_set(err, ERR_DB, "%s: capture %u has no event %u", db->path,
			source + 1, event);
		return 0;
	}
	uint32_t *slot = type_slot(c, event);

	if (*slot)
		return *slot;
	*slot = ++db->n_types;
	if (store_drain(db, err) ||
	    write_type(db, *slot, source, &c->src->events[event], err))
		return 0;
	return *slot;
}

uint32_t store_mark_type(struct store *db, unsigned int source,
			 const char *name, struct err *err)
{
	struct capture_map *c = store_capture_map(db, source);
	struct event_def def = { .name = name };

	if (c->n_mark >= MARKS_MAX)
		def.name = "other";
	for (size_t i = 0; i < c->n_mark; i++)
		if (!strcmp(c->mark[i].name, def.name))
			return c->mark[i].id;
	uint32_t id = ++db->n_types;
	char sql[96];

	snprintf(sql, sizeof(sql),
		 "UPDATE event_type SET kind='record' WHERE id=%u", id);
	if (store_drain(db, err) || write_type(db, id, source, &def, err) ||
	    store_exec(db, sql, err))
		return 0;
	c->mark = mem_grow(c->mark, &c->cap_mark, c->n_mark + 1,
			   sizeof(*c->mark));
	c->mark[c->n_mark].name = mem_strdup(def.name);
	c->mark[c->n_mark++].id = id;
	return id;
}

/* ---- captures */

static void note(const struct source_info *in, char *out, size_t size)
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
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].is && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      n ? "," : "", words[i].word);
}

static int write_capture(struct store *db, const struct source *src,
			 struct err *err)
{
	const struct source_info *in = &src->info;
	bool times = in->first_ns || in->last_ns;
	char text[128];
	sqlite3_stmt *st = store_prepare(db, sql_file("capture"), err);

	if (!st)
		return -1;
	note(in, text, sizeof(text));
	sqlite3_bind_int64(st, 1, src->index + 1);
	bind_text(st, 2, src->path);
	bind_text(st, 3, src->ops ? src->ops->name : NULL);
	bind_int(st, 4, src->size || src->pos,
		 (int64_t)(src->size ? src->size : src->pos));
	bind_text(st, 5, in->host);
	bind_text(st, 6, in->release);
	bind_text(st, 7, in->version);
	bind_text(st, 8, in->arch);
	bind_text(st, 9, in->cmdline);
	bind_int(st, 10, in->cpus_online >= 0, in->cpus_online);
	bind_text(st, 11, in->clock);
	bind_int(st, 12, times, (int64_t)in->first_ns);
	bind_int(st, 13, times, (int64_t)in->last_ns);
	bind_int(st, 14, in->records, (int64_t)in->records);
	bind_int(st, 15, in->system_wide != TRI_UNKNOWN, in->system_wide);
	sqlite3_bind_int64(st, 16, in->exact);
	sqlite3_bind_int64(st, 17, !in->truncated);
	bind_text(st, 18, text);

	int rc = store_step(db, st, err);

	sqlite3_finalize(st);
	return rc;
}

int store_capture(struct store *db, const struct source *src, struct err *err)
{
	struct capture_map *c = store_capture_map(db, src->index);

	c->src = src;
	if (store_drain(db, err) || write_capture(db, src, err))
		return -1;
	for (uint32_t i = 0; i < src->n_events; i++) {
		uint32_t *slot = type_slot(c, i);

		if (!*slot)
			*slot = ++db->n_types;
		if (write_type(db, *slot, src->index, &src->events[i], err))
			return -1;
	}
	return 0;
}

int store_align(struct store *db, unsigned int source,
		const struct align_out *a, uint64_t first, struct err *err)
{
	const struct clock_map *m = &a->map;
	sqlite3_stmt *st;

	if (store_drain(db, err))
		return -1;
	st = store_prepare(db,
			   "UPDATE capture SET align = ?2, offset_ns = ?3,"
			   " drift_ppb = ?4, error_ns = ?5, pairs = ?6,"
			   " together = ?7 WHERE id = ?1",
			   err);
	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, (sqlite3_int64)source + 1);
	bind_text(st, 2, align_method_name(a->method));
	/* between cycles and ns there is no offset */
	bind_int(st, 3, !m->tsc.mult,
		 (int64_t)(clock_map_time(m, first) - first));
	sqlite3_bind_double(st, 4, (double)m->drift * 1e9 / (double)DRIFT_ONE);
	bind_int(st, 5, a->error != ALIGN_UNKNOWN, a->error);
	sqlite3_bind_int64(st, 6, (sqlite3_int64)a->pairs);
	sqlite3_bind_int64(st, 7, a->line + 1);

	int rc = store_step(db, st, err);

	sqlite3_finalize(st);
	return rc;
}

/* What only the whole run tells. */
static int types_end(struct store *db, struct err *err)
{
	sqlite3_stmt *st = store_prepare(
		db,
		"UPDATE event_type SET events = ?2, weight = ?3 WHERE id = ?1",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->n_types; i++) {
		struct type_count c = { 0 };

		if (i < db->n_count)
			c = db->count[i];
		sqlite3_bind_int64(st, 1, (sqlite3_int64)i + 1);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)c.events);
		sqlite3_bind_int64(st, 3, (sqlite3_int64)c.weight);
		rc = store_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_captures_end(struct store *db, struct err *err)
{
	if (store_drain(db, err))
		return -1;
	sqlite3_stmt *st =
		store_prepare(db,
			      "UPDATE capture SET samples = ?2,"
			      " first_ns = coalesce(first_ns, ?3),"
			      " last_ns = coalesce(last_ns, ?4),"
			      " complete = complete AND NOT ?5 WHERE id = ?1",
			      err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < db->n_capture; i++) {
		const struct capture_map *c = &db->capture[i];

		sqlite3_bind_int64(st, 1, (sqlite3_int64)i + 1);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)c->samples);
		bind_int(st, 3, c->first != TIME_NONE, c->first);
		bind_int(st, 4, c->last != TIME_NONE, c->last);
		sqlite3_bind_int64(st, 5, c->damaged);
		rc = store_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc ? rc : types_end(db, err);
}

/* text NULL: the number. */
static int put_meta(struct store *db, int capture, const char *key,
		    const char *text, int64_t number, struct err *err)
{
	if (store_drain(db, err))
		return -1;
	sqlite3_stmt *st = store_prepare(
		db, "INSERT OR REPLACE INTO meta VALUES(?1,?2,?3)", err);

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, capture + 1);
	bind_text(st, 2, key);
	if (text)
		bind_text(st, 3, text);
	else
		sqlite3_bind_int64(st, 3, number);

	int rc = store_step(db, st, err);

	sqlite3_finalize(st);
	return rc;
}

int store_meta(struct store *db, int capture, const char *key,
	       const char *value, struct err *err)
{
	return put_meta(db, capture, key, value ? value : "", 0, err);
}

int store_meta_number(struct store *db, int capture, const char *key,
		      int64_t value, struct err *err)
{
	return put_meta(db, capture, key, NULL, value, err);
}

/* ---- the words of the enumerations */

static const char *image_kind_name(unsigned int k)
{
	static const char *const name[] = {
		"unknown", "unknown_kernel",
		"file",	   "kernel",
		"module",  "bpf",
		"ool",	   "vdso",
		"anon",	   "special",
		"jit",	   "guest",
		"symbols", "mapping",
		"script",
	};

	return k < sizeof(name) / sizeof(*name) ? name[k] : NULL;
}

/* The table of rules, with a view for each; their names are ours. */
static int store_rules(struct store *db, struct err *err)
{
	sqlite3_stmt *st = store_prepare(
		db, "INSERT INTO rule VALUES(?1,?2,?3,?4,?5)", err);
	int rc = st ? 0 : -1;

	for (int i = 0; !rc && rules[i].name; i++) {
		sqlite3_bind_int64(st, 1, i + 1);
		bind_text(st, 2, rules[i].name);
		bind_text(st, 3, rules[i].proves);
		bind_text(st, 4, rules[i].view);
		sqlite3_bind_int64(st, 5, rules[i].breaks);
		rc = store_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_switch_view(struct store *db, struct err *err)
{
	int64_t has;

	if (store_number(db, store_sql("has_switch_fields"), &has, err))
		return -1;
	return store_exec(
		db, store_sql(has ? "switch_fields" : "switch_no_fields"), err);
}

int store_rule_views(struct store *db, struct err *err)
{
	char sql[256];

	for (int i = 0; rules[i].name; i++) {
		snprintf(sql, sizeof(sql),
			 "CREATE VIEW %s AS SELECT * FROM findings"
			 " WHERE rule = '%s'",
			 rules[i].view, rules[i].name);
		if (store_exec(db, sql, err))
			return -1;
	}
	return 0;
}

int store_words(struct store *db, struct err *err)
{
	static const struct {
		const char *kind;
		unsigned int first;
		const char *(*name)(unsigned int v);
	} lists[] = {
		{ "request", 1, request_verdict_name },
		{ "chain", 1, chain_verdict_name },
		{ "confidence", 1, confidence_name },
		{ "quality", 1, quality_name },
		{ "end", 1, request_end_name },
		{ "as_perf", 1, as_perf_name },
		{ "gap", 1, gap_verdict_name },
		{ "unwind", 1, unwind_end_name },
		{ "image", 0, image_kind_name },
		{ "callsite", 1, callsite_kind_name },
		{ "link", 1, callsite_link_name },
	};
	sqlite3_stmt *st =
		store_prepare(db, "INSERT INTO word VALUES(?1,?2,?3)", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (unsigned int v = lists[i].first; !rc; v++) {
			const char *name = lists[i].name(v);

			if (!name)
				break;
			bind_text(st, 1, lists[i].kind);
			sqlite3_bind_int64(st, 2, v);
			bind_text(st, 3, name);
			rc = store_step(db, st, err);
		}
	sqlite3_finalize(st);
	return rc ? -1 : store_rules(db, err);
}
