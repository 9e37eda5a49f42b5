/* firefox_marks.c - markers of threads of a profile for the Firefox Profiler.
 */
#include "cli/export/firefox/firefox_marks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/export/firefox/firefox.h"
#include "cli/output/human.h"
#include "cli/output/out.h"
#include "cli/output/safe_text.h"
#include "cli/export/spool.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define NS_PER_MS 1000000u

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
	FILE *out;
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

struct firefox_mark *firefox_mark_last(struct firefox_marks *m,
				       const struct firefox_mark_list *l)
{
	return l->last ? &firefox_marks_item_at(m, l->last)->mark : NULL;
}

/* ---- JSON */

static void firefox_marks_put_ms(const struct writing *w, int64_t time)
{
	human_put_fixed(w->out,
			time > w->begin ? (uint64_t)time - (uint64_t)w->begin
					: 0,
			NS_PER_MS, 6);
}

static void put_data(const struct writing *w, const struct firefox_mark *k)
{
	bool loss = k->kind == FIREFOX_MARK_LOSS;

	fprintf(w->out,
		"\n{\"type\":\"%s\",\"what\":", loss ? "Loss" : "OffCpu");
	safe_text_json(w->out, k->what);
	if (k->cpu >= 0)
		fprintf(w->out, ",\"cpu\":%" PRId64, k->cpu);
	if (k->n >= 0)
		fprintf(w->out, ",\"records\":%" PRId64, k->n);
	if (loss)
		fprintf(w->out, ",\"counts\":\"%s\"", k->counts ? "yes" : "no");
	putc('}', w->out);
}

static void firefox_marks_put_name(const struct writing *w,
				   const struct firefox_mark *k)
{
	const char *name = k->kind == FIREFOX_MARK_LOSS ? k->what : "off CPU";

	fprintf(w->out, "%" PRIu32, firefox_string(w->f, name));
}

static bool is_instant(const struct firefox_mark *k)
{
	return k->kind == FIREFOX_MARK_OFF_CPU && k->end == INT64_MAX;
}

static void put_start(const struct writing *w, const struct firefox_mark *k)
{
	firefox_marks_put_ms(w, k->start);
}

/* A loss without a known end lasts to the end of the profile. */
static void firefox_marks_put_end(const struct writing *w,
				  const struct firefox_mark *k)
{
	int64_t end = k->end < w->end ? k->end : w->end;

	if (is_instant(k))
		fputs("null", w->out);
	else
		firefox_marks_put_ms(w, end > k->start ? end : k->start);
}

static void put_phase(const struct writing *w, const struct firefox_mark *k)
{
	fprintf(w->out, "%d", is_instant(k) ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void put_category(const struct writing *w, const struct firefox_mark *k)
{
	fprintf(w->out, "%d",
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
		       int64_t begin, int64_t end, FILE *out)
{
	const struct writing w = { f, out, begin, end };

	fprintf(out, "\"markers\":{\"length\":%" PRIu64, l->n);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		fprintf(out, ",\n\"%s\":[", columns[i].name);
		for (uint64_t at = l->first; at && !out_failed();) {
			const struct item *item = firefox_marks_item_at(m, at);

			if (at != l->first)
				putc(',', out);
			columns[i].put(&w, &item->mark);
			at = item->next;
		}
		putc(']', out);
	}
	putc('}', out);
}

void firefox_put_mark_schema(FILE *out)
{
	fputs("\"markerSchema\":[\n"
	      "{\"name\":\"Loss\",\"display\":[\"marker-chart\","
	      "\"marker-table\",\"timeline-overview\"],"
	      "\"description\":\"Records that were lost, or not recorded, in "
	      "this time.\","
	      "\"chartLabel\":\"{marker.data.records}\","
	      "\"tableLabel\":\"{marker.data.records} records, CPU "
	      "{marker.data.cpu}\",\"fields\":["
	      "{\"key\":\"what\",\"label\":\"What\",\"format\":\"string\"},"
	      "{\"key\":\"records\",\"label\":\"Records\","
	      "\"format\":\"integer\"},"
	      "{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"},"
	      "{\"key\":\"counts\",\"label\":\"Adds to the records lost\","
	      "\"format\":\"string\"}]},\n"
	      "{\"name\":\"OffCpu\",\"display\":[\"marker-chart\","
	      "\"marker-table\"],"
	      "\"description\":\"The thread left its CPU, until it came back.\","
	      "\"chartLabel\":\"{marker.data.what}\","
	      "\"tableLabel\":\"{marker.data.what}, CPU {marker.data.cpu}\","
	      "\"fields\":["
	      "{\"key\":\"what\",\"label\":\"Why\",\"format\":\"string\"},"
	      "{\"key\":\"cpu\",\"label\":\"Left CPU\",\"format\":\"integer\"}"
	      "]}]",
	      out);
}
