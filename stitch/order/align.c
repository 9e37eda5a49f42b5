/* align.c - puts all captures on one timeline. */
#include "stitch/order/align.h"

#include <inttypes.h>

#include "stitch/order/clocks.h"
#include "stitch/base/err.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/base/words.h"

/* Bytes of a path to show in a message. */
#define PATH_SHOWN 60

/* What is kept of a link, of which there are n * n. */
struct align_told {
	bool known : 1;			/* they were compared */
	bool refused : 1;		/* not of one run */
	bool proved : 1, strangers : 1; /* see struct align_link */
};

struct align_graph {
	const struct align_in *in;
	const struct align_said *said;
	size_t n, ref;
	struct align_told *told; /* n * n: from row to column */
	size_t *part; /* of which capture each is a part: align_link.part;
		       * SIZE_MAX: none */
	struct align_out *out;
	int64_t *sum; /* sum of errors up to the reference; -1: not connected */
	bool *settled;
};

WORDS_FUNCTION(
	align_method_name,
	unsigned int, [ALIGN_REFERENCE] = "reference", [ALIGN_GIVEN] = "given",
	[ALIGN_HOST] = "host", [ALIGN_SAME] = "same_clock",
	[ALIGN_TSC] = "time_conv", [ALIGN_SCHED] = "sched_clock",
	[ALIGN_EVENTS] = "events", [ALIGN_WALL] = "wall");

/* Compares a capture with another one. */
static struct align_link align_compare(struct align_graph *g, size_t from,
				       size_t to)
{
	struct align_link l;

	align_pair(&g->in[from], &g->in[to], g->said, false, &l);
	LOG(LOG_ALIGN,
	    "%s and %s: method %s, error %" PRId64 " ns, %" PRIu64
	    " equal events, reason %d%s",
	    g->in[from].path, g->in[to].path,
	    l.method ? align_method_name(l.method) : "none", l.error, l.pairs,
	    (int)l.why, l.proved ? ", proved" : "");
	g->told[from * g->n + to] = (struct align_told){
		.known = true,
		.refused = l.why >= WHY_HOST && !l.method,
		.proved = l.proved,
		.strangers = l.strangers,
	};
	return l;
}

/* Returns what is known of a link. */
static struct align_told align_told_of(struct align_graph *g, size_t from,
				       size_t to)
{
	if (!g->told[from * g->n + to].known)
		align_compare(g, from, to);
	return g->told[from * g->n + to];
}

static const char *align_clock_name(const struct align_in *c)
{
	return c->info->clock ? c->info->clock : "not known";
}

static void describe_refusal(const struct align_in *a, const struct align_in *b,
			     const struct align_link *l, char *buf, size_t size)
{
	double ms = (double)l->away / 1e6;

	ms = ms < 0 ? -ms : ms;
	switch (l->why) {
	case WHY_HOST:
		snprintf(buf, size, "hosts '%.40s' and '%.40s'", a->info->host,
			 b->info->host);
		break;
	case WHY_RELEASE:
		snprintf(buf, size, "kernels '%.40s' and '%.40s'",
			 a->info->release, b->info->release);
		break;
	case WHY_BOOT:
		snprintf(buf, size, "two boots of the machine");
		break;
	case WHY_WALL:
		snprintf(buf, size,
			 "clock '%.20s' was started %.0f s apart: two boots",
			 align_clock_name(a), ms / 1000);
		break;
	case WHY_APART:
		snprintf(buf, size, "%.3f ms lie between them", ms);
		break;
	case WHY_EVENTS:
		snprintf(buf, size,
			 "by their clocks equal events are %.3f ms apart", ms);
		break;
	case WHY_MISSING:
		snprintf(buf, size,
			 "the thread switches of one are not in the other");
		break;
	case WHY_CLOCKS:
		if (clock_is_raw(a->info) || clock_is_raw(b->info)) {
			snprintf(buf, size,
				 "one counts cycles, and the other does not "
				 "tell the cycles per ns");
			break;
		}
		snprintf(buf, size,
			 "clocks '%.20s' and '%.20s', and %" PRIu64
			 " equal events are too few or do not agree",
			 align_clock_name(a), align_clock_name(b), l->found);
		break;
	case WHY_NO_TIME:
	case WHY_NOT_ASKED:
		snprintf(buf, size, "no times could be read from one of them");
		break;
	}
}

/* Returns how to record with a common clock. */
static const char *align_advice(const struct align_in *a,
				const struct align_in *b,
				const struct align_link *l, bool one_boot)
{
	switch (l->why) {
	case WHY_APART:
		return one_boot ? "; of chunks of one LTTng session give the "
				  "folder around them"
				: "";
	case WHY_CLOCKS:
		/* equal events do not tell how long a cycle is */
		if (clock_is_raw(a->info) || clock_is_raw(b->info))
			return "; record with one clock ('perf record -k "
			       "mono', 'trace-cmd record -C mono'; LTTng has "
			       "mono)";
		return "; record with one clock ('perf record -k mono', "
		       "'trace-cmd record -C mono'; LTTng has mono) or with "
		       "sched:sched_switch in both";
	case WHY_NO_TIME:
	case WHY_NOT_ASKED:
		return "; record again with times";
	default:
		return "";
	}
}

/* Returns the end of a long path, which distinguishes captures. */
static const char *path_tail(const char *path)
{
	size_t n = strlen(path);

	return n > PATH_SHOWN ? path + n - PATH_SHOWN : path;
}

static int align_refuse(const struct align_graph *g, size_t a, size_t b,
			struct err *err)
{
	/* those that differ are WHY_BOOT */
	const bool boots =
		g->in[a].info->has_boot_id && g->in[b].info->has_boot_id;
	struct align_link l;
	char why[160];

	align_pair(&g->in[a], &g->in[b], g->said, true, &l);
	describe_refusal(&g->in[b], &g->in[a], &l, why, sizeof(why));
	const bool one_boot = boots && l.why == WHY_APART;

	return err_set(err, ERR_FORMAT,
		       "%s and %s are %s: %s%s; "
		       "--clock-offset %zu=NS if you know it, or --separate",
		       path_tail(g->in[b].path), path_tail(g->in[a].path),
		       one_boot ? "of one boot, but not of one time"
				: "not of one timeline",
		       why, align_advice(&g->in[a], &g->in[b], &l, one_boot),
		       a + 1);
}

/* Returns the first capture whose times are ns and have no given offset. */
static size_t find_reference(const struct align_graph *g)
{
	for (int strict = 2; strict >= 0; strict--)
		for (size_t i = 0; i < g->n; i++)
			if (!(strict > 0 && g->in[i].given) &&
			    !(strict > 1 && (clock_is_raw(g->in[i].info) ||
					     g->in[i].host != SIZE_MAX)))
				return i;
	return 0;
}

static void align_start(struct align_graph *g, size_t i, enum align_method m)
{
	g->out[i] = (struct align_out){
		.method = m,
		.map.offset = g->in[i].given ? g->in[i].offset : 0,
		.error = m == ALIGN_REFERENCE ? 0 : ALIGN_UNKNOWN,
		.line = (uint16_t)i,
	};
	g->sum[i] = 0;
}

/* Returns whether two captures cannot be of one run. Two that have all switches
 * of a third one in their times do not differ: only their machines may. */
static bool align_is_refused(struct align_graph *g, size_t i, size_t k)
{
	bool parts = g->part[i] < g->n && g->part[i] == g->part[k] &&
		     !g->told[i * g->n + k].known;

	return parts ? align_other_machine(&g->in[i], &g->in[k])
		     : align_told_of(g, i, k).refused;
}

/* Two captures that cannot be of one run must not be connected through a third
 * one either. */
static int align_check(struct align_graph *g, struct err *err)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->sum[i] < 0)
			return align_refuse(g, i, g->ref, err);
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < i; k++) {
			bool said = g->in[i].given || g->in[k].given ||
				    g->in[i].host < g->n ||
				    g->in[k].host < g->n;

			if (!said && align_is_refused(g, i, k))
				return align_refuse(g, i, k, err);
		}
	return 0;
}

static bool is_same_kernel(struct align_graph *g, size_t i, size_t k)
{
	const struct align_told x = align_told_of(g, i, k);
	const struct align_told y = align_told_of(g, k, i);

	return (x.proved || y.proved) && !x.strangers && !y.strangers;
}

/* Those that are of one line already need not be compared. */
static void find_lines(struct align_graph *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->out[i].line = (uint16_t)i;
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < i; k++) {
			uint16_t a = g->out[i].line, b = g->out[k].line;

			if (a == b || !is_same_kernel(g, i, k))
				continue;
			for (size_t j = 0; j < g->n; j++)
				if (g->out[j].line == a || g->out[j].line == b)
					g->out[j].line = a < b ? a : b;
		}
}

int align_captures(const struct align_in *in, size_t n,
		   const struct align_said *said, struct align_out *out,
		   struct err *err)
{
	struct align_graph g = {
		.in = in,
		.said = said,
		.n = n,
		.told = mem_new(n * n, sizeof(struct align_told)),
		.part = mem_new(n, sizeof(size_t)),
		.out = out,
		.sum = mem_new(n, sizeof(int64_t)),
		.settled = mem_new(n, sizeof(bool)),
	};

	memset(out, 0, n * sizeof(*out));
	g.ref = find_reference(&g);
	for (size_t i = 0; i < n; i++) {
		g.sum[i] = -1;
		g.part[i] = SIZE_MAX;
		if (in[i].given && i != g.ref)
			align_start(&g, i, ALIGN_GIVEN);
	}
	align_start(&g, g.ref, ALIGN_REFERENCE);
	/* Find the way with the smallest error from each capture to the
	 * reference: settles the nearest one of those that are left, and what
	 * it improves. */
	for (;;) {
		size_t to = SIZE_MAX;

		for (size_t i = 0; i < g.n; i++)
			if (!g.settled[i] && g.sum[i] >= 0 &&
			    (to == SIZE_MAX || g.sum[i] < g.sum[to]))
				to = i;
		if (to == SIZE_MAX)
			break;
		g.settled[to] = true;
		for (size_t i = 0; i < g.n; i++) {
			struct align_out *o = &g.out[i];
			int64_t least = g.sum[to] + ALIGN_LEAST;

			if (g.settled[i] || g.in[i].given ||
			    (clock_is_raw(g.in[to].info) && to != g.ref) ||
			    (g.sum[i] >= 0 && g.sum[i] <= least))
				continue;

			const struct align_link l = align_compare(&g, i, to);
			int64_t sum = g.sum[to] + l.error;

			if (!l.method || (g.sum[i] >= 0 && g.sum[i] <= sum))
				continue;
			g.sum[i] = sum;
			g.part[i] = l.part ? to : SIZE_MAX;
			o->method = l.method;
			o->map = clock_map_then(&l.map, &g.out[to].map);
			o->error = sum;
			o->pairs = l.pairs;
		}
	}
	for (size_t i = 0; i < n; i++) {
		/* A guest uses the map of its host. */
		size_t host = g.in[i].host;

		if (host >= g.n || g.in[i].given || g.in[host].host != SIZE_MAX)
			continue;
		g.out[i] = g.out[host];
		g.out[i].method = ALIGN_HOST;
		g.out[i].pairs = 0;
		g.sum[i] = g.sum[host];
	}
	int rc = align_check(&g, err);
	if (!rc)
		find_lines(&g);
	free(g.told);
	free(g.part);
	free(g.sum);
	free(g.settled);
	return rc;
}
