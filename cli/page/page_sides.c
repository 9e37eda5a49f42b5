/* page_sides.c - times of two recordings, drawn one above the other. */
#include "cli/page/page_sides.h"

#include <math.h>

#include "analyze/path/timed.h"
#include "cli/tables/diff_times.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/text/json.h"

#define COLUMNS 1200 /* the longer of both recordings fills them */
#define LANES 8
#define STEPS (64 * 8) /* of lengths: 8 for each power of two */

/* Kinds of intervals: all pairs of events, and two of the scheduler. */
static const char *const kinds[] = { NULL, "wake-up", "off-cpu" };

struct page_sides {
	struct diff_parts *parts;
	struct timed of[ARRAY_SIZE(kinds)];
	bool none[ARRAY_SIZE(kinds)]; /* a run has none of them */
};

struct page_sides *page_sides_new(const struct filter *filter,
				  struct name_opts names)
{
	struct page_sides *p = mem_new(1, sizeof(*p));

	p->parts = diff_parts_new(filter, names);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		timed_begin(&p->of[i], &(struct timed_ask){ .what = TIMED_PAIRS,
							    .filter = filter,
							    .kind = kinds[i],
							    .no_names = true });
	return p;
}

void page_sides_free(struct page_sides *p)
{
	diff_parts_free(p->parts);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		timings_release(&p->of[i].t);
	free(p);
}

void page_sides_add(void *arg, int side, struct store *db, const char *path)
{
	struct page_sides *p = arg;
	struct err err = { 0 };

	diff_parts_add(p->parts, side, db, path);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		p->none[i] = p->none[i] ||
			     timed_read(&p->of[i], side, db, path, &err);
}

static void page_sides_put_words(const struct intern *words, struct json *j,
				 const char *key)
{
	json_array(j, key);
	for (uint32_t i = 0; i < words->n; i++)
		json_shown(j, NULL, intern_get(words, i));
	json_end(j);
}

/* Writes the parts of the first run of each side, in columns of time. The
 * threads with the largest changes have a lane each. */
static void page_sides_put_time(const struct timed *d, struct json *j)
{
	const struct timings *t = &d->t;
	struct intern lanes = { 0 }, states = { 0 };
	double span = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct timings_row *r = &t->row[t->order[i]];

		/* parts of other parts are drawn with these */
		if (lanes.n < LANES && !timed_is(d, r, TIMED_QUOTA))
			intern_add(&lanes, intern_get(&t->words, r->key[1]));
		intern_add(&states, intern_get(&t->words, r->key[0]));
	}
	json_array(j, "took");
	for (int side = 0; side < 2; side++) {
		const struct timings_run *run = &t->run[side * t->runs[0]];
		uint64_t took = (uint64_t)run->to - (uint64_t)run->from;

		json_uint(j, NULL, took);
		raise_to(span, (double)took);
	}
	json_end(j);
	double each = span / COLUMNS + 1;
	json_real(j, "column", each);
	page_sides_put_words(&lanes, j, "lanes");
	page_sides_put_words(&states, j, "states");
	/* by side, whether it is only likely, lane, state */
	size_t bars = 4 * lanes.n * states.n;
	double(*ns)[COLUMNS] = mem_new(bars, sizeof(*ns));

	for (size_t side = 0; side < 2; side++) {
		const struct timings_run *run = &t->run[side * t->runs[0]];

		for (size_t i = 0; i < run->item.n; i++) {
			uint32_t row;
			struct timings_item it = timings_get(run, i, &row);
			const uint32_t *key = t->row[row].key;
			uint32_t lane = intern_find(
				&lanes, intern_get(&t->words, key[1]));
			uint32_t state = intern_find(
				&states, intern_get(&t->words, key[0]));
			double to = (double)it.at - (double)run->from;
			/* the item may have begun before the run */
			double from = fmax(to - (double)it.most, 0);
			double *of = ns[((side * 2 + !it.proved) * lanes.n +
					 lane % lanes.n) *
						states.n +
					state];

			for (size_t k = (size_t)(from / each);
			     lane < lanes.n && k < COLUMNS && from < to; k++) {
				double end = (double)(k + 1) * each;

				of[k] += (end < to ? end : to) - from;
				from = end;
			}
		}
	}
	json_array(j, "bars");
	for (size_t i = 0; i < bars; i++) {
		json_array(j, NULL);
		json_uint(j, NULL, i / states.n / lanes.n / 2);
		json_uint(j, NULL, i / states.n % lanes.n);
		json_uint(j, NULL, i % states.n);
		json_bool(j, NULL, i / states.n / lanes.n % 2 == 0);
		for (size_t k = 0; k < COLUMNS; k++) {
			if (!(ns[i][k] > 0))
				continue;
			json_uint(j, NULL, k);
			json_uint(j, NULL, (uint64_t)(ns[i][k] * 1000 / each));
		}
		json_end(j);
	}
	json_end(j);
	free(ns);
	intern_release(&lanes);
	intern_release(&states);
}

/* Writes for each kind how many intervals there are, and how long they are. */
static void page_sides_put_kinds(struct timings *t, struct json *j)
{
	/* by kind and side: how many took how long */
	uint64_t(*count)[2][STEPS] = mem_new(t->n + 1, sizeof(*count));

	timings_judge(t);
	for (size_t i = 0; i < t->n_run; i++)
		for (size_t k = 0; k < t->run[i].item.n; k++) {
			uint32_t row;
			struct timings_item it =
				timings_get(&t->run[i], k, &row);
			double step =
				it.least > 1 ? 8 * log2((double)it.least) : 0;

			if (it.proved && !it.cut)
				count[row][i >= t->runs[0]][(size_t)step]++;
		}
	for (size_t i = 0; i < t->n; i++) {
		const struct timings_row *r = &t->row[t->order[i]];

		json_array(j, NULL);
		json_shown(j, NULL, intern_get(&t->words, r->key[0]));
		for (int side = 0; side < 2; side++) {
			const uint64_t *of = count[t->order[i]][side];

			json_array(j, NULL);
			json_uint(j, NULL, r->n[side]);
			json_uint(j, NULL, r->unproved[side]);
			/* NaN if the side has no proved ones */
			json_real(j, NULL, r->of[TIMINGS_P50].size[side]);
			json_real(j, NULL, r->of[TIMINGS_P99].size[side]);
			json_real(j, NULL, r->longest[side]);
			for (size_t k = 0; k < STEPS; k++) {
				if (!of[k])
					continue;
				json_uint(j, NULL, k);
				json_uint(j, NULL, of[k]);
			}
			json_end(j);
		}
		json_end(j);
	}
	free(count);
}

void page_sides_write(struct page_sides *p, FILE *out)
{
	char *says OWNED = diff_parts_sentence(p->parts);
	struct json j;

	fputs("<script type=\"application/json\" id=\"sides\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_text(&j, "says", says);
	if (says)
		page_sides_put_time(diff_parts_timed(p->parts), &j);
	json_array(&j, "kinds");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!p->none[i])
			page_sides_put_kinds(&p->of[i].t, &j);
	json_end(&j);
	json_end(&j);
	fputs("\n</script>\n", out);
}
