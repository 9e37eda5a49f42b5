/* chrome_calls.c - calls of function_graph and slices of programs as slices of
 * their threads. */
#include "cli/export/chrome/chrome_calls.h"

#include <inttypes.h>

#include "analyze/latency/intervals.h"
#include "analyze/samples/events.h"
#include "analyze/stacks/stacks.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/text/json.h"

struct chrome_call {
	int64_t event;	   /* that writes it */
	int64_t begin, ns; /* ns -1: not known */
	int64_t ret;
	uint32_t name, pair;
	uint8_t verdict;
	bool has_ret, ends; /* the event is its end */
};

struct chrome_calls {
	struct intervals *iv;
	struct intervals_ask ask;
	struct tracks *tracks;
	struct json *j;
	struct chrome_call *call;
	size_t n, cap, next;
	int64_t *end; /* events that are ends of calls, sorted */
	size_t n_end, cap_end, next_end;
};

static void chrome_calls_take(void *arg, const struct interval *i)
{
	struct chrome_calls *c = arg;

	if (c->iv->pair[i->pair].kind->calls)
		return;
	if (i->begin_event && i->end_event)
		*mem_add(c->end, c->n_end, c->cap_end) = i->end_event;
	*mem_add(c->call, c->n, c->cap) = (struct chrome_call){
		.event = i->begin_event ?: i->end_event,
		.begin = i->begin != INTERVAL_NEVER ? i->begin : i->end,
		.ns = i->end == INTERVAL_NEVER || i->begin == INTERVAL_NEVER
			      ? -1
			      : interval_span(i->begin, i->end),
		.ret = i->ret,
		.name = i->name,
		.pair = i->pair,
		.verdict = i->verdict,
		.has_ret = i->has_ret,
		.ends = !i->begin_event,
	};
}

COMPARE_BY(chrome_calls_compare, struct chrome_call, event);
COMPARE_FUNCTION(chrome_calls_compare_ends, int64_t, compare_numbers(*x, *y));

struct chrome_calls *chrome_calls_load(struct store *db, const char *path,
				       struct tracks *t, struct json *j,
				       struct err *err)
{
	struct chrome_calls *c = mem_new(1, sizeof(*c));

	c->tracks = t;
	c->j = j;
	c->ask.any = c->ask.nested = true;
	c->iv = intervals_open(db, path, &c->ask, err);
	if (!c->iv || intervals_each(c->iv, chrome_calls_take, c, err)) {
		chrome_calls_free(c);
		return NULL;
	}
	sort_items(c->call, c->n, chrome_calls_compare);
	sort_items(c->end, c->n_end, chrome_calls_compare_ends);
	return c;
}

void chrome_calls_free(struct chrome_calls *c)
{
	if (!c)
		return;
	intervals_close(c->iv);
	free_all(c->call, c->end, c);
}

bool chrome_calls_put(struct chrome_calls *c, const struct event_row *e)
{
	bool any = false;
	struct json *j = c->j;

	while (c->next_end < c->n_end && c->end[c->next_end] < e->id)
		c->next_end++;
	any = c->next_end < c->n_end && c->end[c->next_end] == e->id;
	while (c->next < c->n && c->call[c->next].event < e->id)
		c->next++;
	for (; c->next < c->n && c->call[c->next].event == e->id; c->next++) {
		const struct chrome_call *call = &c->call[c->next];

		any = true;
		tracks_begin_thread(c->tracks, e);
		json_text(j, "ph", call->ns >= 0 ? "X" : "i");
		if (call->ns < 0)
			json_text(j, "s", "t");
		json_shown(j, "cat", c->iv->pair[call->pair].kind->word);
		tracks_time(j, call->begin);
		if (call->ns >= 0) {
			char digits[32];

			snprintf(digits, sizeof(digits), "%" PRId64 ".%03d",
				 call->ns / 1000, (int)(call->ns % 1000));
			json_number(j, "dur", digits);
		}
		json_shown(j, "name", intern_get(&c->iv->names, call->name));
		json_object(j, "args");
		json_int(j, call->ends ? "end_event_id" : "event_id", e->id);
		json_text(j, "verdict", interval_verdict_word(call->verdict));
		if (call->has_ret)
			json_int(j, "ret", call->ret);
		json_end(j);
		json_end(j);
	}
	return any;
}

bool chrome_calls_any(const struct chrome_calls *c)
{
	return c->n;
}
