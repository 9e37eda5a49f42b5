/* firefox_marks.c - markers of threads of a profile for the Firefox Profiler.
 */
#include "cli/export/firefox/firefox_marks.h"

#include "cli/export/firefox/firefox.h"
#include "cli/output/json.h"
#include "cli/output/out.h"
#include "cli/export/spool.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Phases of markers in the format. */
enum phase {
	PHASE_INSTANT,
	PHASE_INTERVAL
};

/* An item of the spool. Indexes are + 1; 0 is the end. */
struct item {
	uint64_t next;
	struct firefox_mark mark;
};

struct firefox_marks {
	struct spool *spool;
};

/* What is being written. */
struct writing {
	struct firefox *f;
	struct json *j;
	int64_t begin, end;
};

struct firefox_marks *firefox_marks_new(struct err *err)
{
	struct firefox_marks *m = mem_new(1, sizeof(*m));

	m->spool = spool_new(sizeof(struct item), err);
	if (m->spool)
		return m;
	free(m);
	return NULL;
}

void firefox_marks_free(struct firefox_marks *m)
{
	if (!m)
		return;
	spool_free(m->spool);
	free(m);
}

static struct item *firefox_marks_item_at(struct firefox_marks *m,
					  uint64_t place)
{
	return spool_at(m->spool, place - 1);
}

int firefox_mark_add(struct firefox_marks *m, struct firefox_mark_list *l,
		     const struct firefox_mark *mark, struct err *err)
{
	struct item *item = spool_add(m->spool, err);
	uint64_t place = spool_count(m->spool);

	if (!item)
		return -1;
	*item = (struct item){ .mark = *mark };
	if (l->last)
		firefox_marks_item_at(m, l->last)->next = place;
	else
		l->first = place;
	l->last = place;
	l->n++;
	return 0;
}

/* ---- JSON */

static void put_data(const struct writing *w, const struct firefox_mark *k)
{
	bool loss = k->kind == FIREFOX_MARK_LOSS;
	struct json *j = w->j;

	json_break(j);
	json_object(j, NULL);
	json_text(j, "type", loss ? "Loss" : "OffCpu");
	json_shown(j, "what", k->what);
	if (k->cpu >= 0)
		json_int(j, "cpu", k->cpu);
	if (k->n >= 0)
		json_int(j, "records", k->n);
	if (loss)
		json_text(j, "counts", k->counts ? "yes" : "no");
	json_end(j);
}

static void firefox_marks_put_name(const struct writing *w,
				   const struct firefox_mark *k)
{
	const char *name = k->kind == FIREFOX_MARK_LOSS ? k->what : "off CPU";

	json_uint(w->j, NULL, firefox_string(w->f, name));
}

static bool is_instant(const struct firefox_mark *k)
{
	return k->kind == FIREFOX_MARK_OFF_CPU && k->end == INT64_MAX;
}

static void put_start(const struct writing *w, const struct firefox_mark *k)
{
	firefox_put_time(w->j, NULL, w->begin, k->start);
}

/* A loss without a known end lasts to the end of the profile. */
static void firefox_marks_put_end(const struct writing *w,
				  const struct firefox_mark *k)
{
	int64_t end = k->end < w->end ? k->end : w->end;

	if (is_instant(k))
		json_null(w->j, NULL);
	else
		firefox_put_time(w->j, NULL, w->begin,
				 end > k->start ? end : k->start);
}

static void put_phase(const struct writing *w, const struct firefox_mark *k)
{
	json_int(w->j, NULL, is_instant(k) ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void put_category(const struct writing *w, const struct firefox_mark *k)
{
	json_int(w->j, NULL,
		 k->kind == FIREFOX_MARK_LOSS ? FIREFOX_LOSS : FIREFOX_OTHER);
}

static const struct {
	const char *name;
	void (*put)(const struct writing *w, const struct firefox_mark *k);
} columns[] = {
	{ "data", put_data },	    { "name", firefox_marks_put_name },
	{ "startTime", put_start }, { "endTime", firefox_marks_put_end },
	{ "phase", put_phase },	    { "category", put_category },
};

void firefox_put_marks(struct firefox_marks *m,
		       const struct firefox_mark_list *l, struct firefox *f,
		       int64_t begin, int64_t end, struct json *j)
{
	const struct writing w = { f, j, begin, end };

	json_object(j, "markers");
	json_uint(j, "length", l->n);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		json_break(j);
		json_array(j, columns[i].name);
		for (uint64_t at = l->first; at && !out_failed();) {
			const struct item *item = firefox_marks_item_at(m, at);

			columns[i].put(&w, &item->mark);
			at = item->next;
		}
		json_end(j);
	}
	json_end(j);
}

struct mark_field {
	const char *key, *label, *format;
};

/* What the profiler shows of a marker, and where. */
static const struct mark_schema {
	const char *name, *description, *chart, *table;
	bool overview;
	struct mark_field field[5]; /* the last is zero */
} mark_schemas[] = {
	{ "Loss",
	  "Records that were lost, or not recorded, in this time.",
	  "{marker.data.records}",
	  "{marker.data.records} records, CPU {marker.data.cpu}",
	  true,
	  { { "what", "What", "string" },
	    { "records", "Records", "integer" },
	    { "cpu", "CPU", "integer" },
	    { "counts", "Adds to the records lost", "string" } } },
	{ "OffCpu",
	  "The thread left its CPU, until it came back.",
	  "{marker.data.what}",
	  "{marker.data.what}, CPU {marker.data.cpu}",
	  false,
	  { { "what", "Why", "string" }, { "cpu", "Left CPU", "integer" } } },
};

void firefox_put_mark_schema(struct json *j)
{
	json_array(j, "markerSchema");
	for (size_t i = 0; i < ARRAY_SIZE(mark_schemas); i++) {
		const struct mark_schema *s = &mark_schemas[i];

		json_break(j);
		json_object(j, NULL);
		json_text(j, "name", s->name);
		json_array(j, "display");
		json_text(j, NULL, "marker-chart");
		json_text(j, NULL, "marker-table");
		if (s->overview)
			json_text(j, NULL, "timeline-overview");
		json_end(j);
		json_text(j, "description", s->description);
		json_text(j, "chartLabel", s->chart);
		json_text(j, "tableLabel", s->table);
		json_array(j, "fields");
		for (const struct mark_field *f = s->field; f->key; f++) {
			json_object(j, NULL);
			json_text(j, "key", f->key);
			json_text(j, "label", f->label);
			json_text(j, "format", f->format);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}
