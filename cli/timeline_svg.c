/* timeline_svg.c - a timeline drawn as SVG.
 *
 * Every kind of mark has a row of its own in all lanes, when the lanes are
 * tall enough: else marks are plain lines. Positions are integers, never
 * floating point: the bytes must not depend on a compiler or a locale. */
#include "cli/timeline_svg.h"

#include <stdlib.h>
#include <string.h>

#include "cli/plain.h"
#include "cli/timeline_look.h"
#include "cli/timeline_model.h"
#include "stitch/mem.h"

#define PAD 10
#define LEFT 72
#define RIGHT 178
#define PLOT TIMELINE_COLUMNS
#define WIDTH (LEFT + PLOT + RIGHT)
#define LINE 17
#define TALL 1360 /* px of all lanes together, unless they get too thin */
#define THIN 3
#define LABEL 13 /* px that a label needs */
#define STRIP 18 /* px of what has no time */
#define RADIUS 4
#define SECOND 1000000000u

extern const char text_timeline_css[];

/* The lanes of one capture, and above them what has no time. */
struct section {
	int64_t capture;
	size_t untimed, n_untimed;
	size_t lane, n_lane;
};

/* One picture being drawn. */
struct page {
	FILE *out;
	const struct timeline *tl;
	struct section *section;
	size_t n_section, cap_section;
	unsigned int lane_h, step; /* px of a lane, and to the next one */
	unsigned int top, bottom;  /* of the sections */
	unsigned int keys, notes;  /* lines below */
	unsigned int row[MARK_KINDS], rows;
	unsigned int row_h; /* 0: marks are lines */
	unsigned int group; /* columns drawn as one bar */
	uint64_t most;	    /* events in one of them */
};

/* ---- words */

/* ns, with as many digits as one may want to compare. */
static void put_ns(FILE *out, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		unsigned int decimals;
		const char *name;
	} units[] = { { SECOND, 6, "s" },
		      { 1000000, 3, "ms" },
		      { 1000, 3, "us" },
		      { 1, 0, "ns" } };
	size_t i = 0;

	while (i < 3 && ns < units[i].unit)
		i++;
	plain_fixed(out, ns, units[i].unit, units[i].decimals);
	fprintf(out, " %s", units[i].name);
}

/* As perf script has it, with all digits. */
static void put_clock(FILE *out, int64_t t)
{
	if (t < 0)
		putc('-', out);
	plain_fixed(out, t < 0 ? -(uint64_t)t : (uint64_t)t, SECOND, 9);
}

static uint64_t since(const struct page *p, int64_t t)
{
	return (uint64_t)t - (uint64_t)p->tl->t0;
}

static void put_count(FILE *out, uint64_t n, const char *what)
{
	plain_grouped(out, n);
	fprintf(out, " %s%s", what, n == 1 ? "" : "s");
}

static void put_cpu(FILE *out, int32_t cpu)
{
	if (cpu < 0)
		fputs("no CPU", out);
	else
		fprintf(out, "CPU %d", cpu);
}

static void open_text(const struct page *p, unsigned int x, unsigned int y,
		      const char *anchor, const char *class)
{
	fprintf(p->out, "<text x=\"%u\" y=\"%u\"", x, y);
	if (anchor)
		fprintf(p->out, " text-anchor=\"%s\"", anchor);
	if (class)
		fprintf(p->out, " class=\"%s\"", class);
	putc('>', p->out);
}

static void close_text(const struct page *p)
{
	fputs("</text>\n", p->out);
}

/* ---- layout */

static const struct timeline_capture *capture_of(const struct timeline *tl,
						 int64_t id)
{
	for (size_t i = 0; i < tl->n_capture; i++)
		if (tl->capture[i].id == id)
			return &tl->capture[i];
	return NULL;
}

/* Lanes and what has no time are both sorted by capture. */
static void find_sections(struct page *p)
{
	const struct timeline *tl = p->tl;
	size_t u = 0;
	size_t l = 0;

	while (u < tl->n_untimed || l < tl->n_lane) {
		struct section s = { .untimed = u, .lane = l };

		s.capture = l == tl->n_lane || (u < tl->n_untimed &&
						tl->untimed[u].capture <
							tl->lane[l]->capture)
				    ? tl->untimed[u].capture
				    : tl->lane[l]->capture;
		while (u < tl->n_untimed && tl->untimed[u].capture == s.capture)
			u++;
		while (l < tl->n_lane && tl->lane[l]->capture == s.capture)
			l++;
		s.n_untimed = u - s.untimed;
		s.n_lane = l - s.lane;
		p->section = mem_grow(p->section, &p->cap_section,
				      p->n_section + 1, sizeof(*p->section));
		p->section[p->n_section++] = s;
	}
}

/* The next one of another kind. */
static size_t next_untimed(const struct page *p, const struct section *s,
			   size_t i)
{
	const struct timeline_untimed *u = p->tl->untimed;
	size_t j = i;

	while (j < s->untimed + s->n_untimed && !strcmp(u[j].what, u[i].what))
		j++;
	return j;
}

static unsigned int section_top(const struct page *p, const struct section *s)
{
	unsigned int h = p->n_section > 1 ? 20 : 0;

	for (size_t i = s->untimed; i < s->untimed + s->n_untimed;
	     i = next_untimed(p, s, i))
		h += STRIP;
	return h;
}

static unsigned int section_height(const struct page *p,
				   const struct section *s)
{
	return section_top(p, s) + (unsigned int)s->n_lane * p->step;
}

static void choose_rows(struct page *p)
{
	for (size_t i = 0; i < MARK_KINDS; i++) {
		p->row[i] = p->rows;
		p->rows += p->tl->n[i] > 0;
	}
}

static void choose_height(struct page *p)
{
	unsigned int want = p->rows * (2 * RADIUS + 3) + 8;
	unsigned int n = p->tl->n_lane ? (unsigned int)p->tl->n_lane : 1;
	unsigned int gap;

	if (want < 48)
		want = 48;
	p->step = TALL / n;
	gap = p->step >= 16 ? 4 : p->step >= 6 ? 1 : 0;
	if (p->step > want + gap)
		p->step = want + gap;
	p->lane_h = p->step > THIN + gap ? p->step - gap : THIN;
	p->step = p->lane_h + gap;
	if (p->rows && p->lane_h >= 8 + 5 * p->rows)
		p->row_h = (p->lane_h - 8) / p->rows;
	if (p->row_h > 2 * RADIUS + 3)
		p->row_h = 2 * RADIUS + 3;
	/* 256 lanes with a bar in every column would be two megabytes */
	p->group = n > 128 ? 4 : n > 64 ? 2 : 1;
}

static uint64_t events_in(const struct page *p, const struct timeline_lane *l,
			  unsigned int column)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < p->group && column + i < PLOT; i++)
		n += l->column[column + i];
	return n;
}

static void find_most(struct page *p)
{
	for (size_t i = 0; i < p->tl->n_lane; i++)
		for (unsigned int x = 0; x < PLOT; x += p->group) {
			uint64_t n = events_in(p, p->tl->lane[i], x);

			if (n > p->most)
				p->most = n;
		}
}

static void lay_out(struct page *p)
{
	find_sections(p);
	choose_rows(p);
	choose_height(p);
	find_most(p);
	p->top = PAD + 5 * LINE + 6;
	p->bottom = p->top;
	for (size_t i = 0; i < p->n_section; i++)
		p->bottom += section_height(p, &p->section[i]);
}

/* ---- time */

/* 1, 2 or 5 times a power of ten: ten steps at most. */
static uint64_t nice_step(uint64_t span)
{
	uint64_t step = 1;

	for (;;) {
		if (span / step <= 10)
			return step;
		if (span / step <= 20 && step <= UINT64_MAX / 2)
			return step * 2;
		if (span / step <= 50 && step <= UINT64_MAX / 5)
			return step * 5;
		if (step > UINT64_MAX / 10)
			return step;
		step *= 10;
	}
}

static void put_axis(const struct page *p)
{
	uint64_t span = since(p, p->tl->t1);
	uint64_t step = nice_step(span);
	uint64_t unit = span >= SECOND	  ? SECOND
			: span >= 1000000 ? 1000000
			: span >= 1000	  ? 1000
					  : 1;
	const char *name = unit == SECOND    ? "s"
			   : unit == 1000000 ? "ms"
			   : unit == 1000    ? "us"
					     : "ns";
	unsigned int decimals = 0;

	for (uint64_t s = step; s < unit; s *= 10)
		decimals++;
	for (uint64_t t = 0; t <= span; t += step) {
		unsigned int x = LEFT + (unsigned int)((unsigned __int128)t *
						       PLOT / span);

		fprintf(p->out, "<path class=\"grid\" d=\"M%u %uV%u\"/>\n", x,
			p->top - 4, p->bottom);
		for (int i = 0; i < 2; i++) {
			open_text(p, x, i ? p->bottom + 15 : p->top - 8,
				  "middle", "quiet");
			plain_fixed(p->out, t, unit, t ? decimals : 0);
			fprintf(p->out, " %s", name);
			close_text(p);
		}
		if (t > UINT64_MAX - step)
			break;
	}
}

/* ---- lanes */

/* log2(n + 1), times 64: the bars of few events must be seen too. */
static uint64_t log_of(uint64_t n)
{
	unsigned int bit = 63 - (unsigned int)__builtin_clzll(n + 1);
	uint64_t rest = (n + 1) ^ (UINT64_C(1) << bit);

	return bit * 64 + (bit > 6 ? rest >> (bit - 6) : rest << (6 - bit));
}

static void put_events(const struct page *p, const struct timeline_lane *l)
{
	uint64_t most = log_of(p->most);
	unsigned int at = 0;
	unsigned int from = 0;

	if (!l->events)
		return;
	fprintf(p->out, "<path class=\"events\" d=\"M0 %u", p->lane_h);
	for (unsigned int x = 0; x <= PLOT; x += p->group) {
		uint64_t n = x < PLOT ? events_in(p, l, x) : 0;
		unsigned int h = (unsigned int)(log_of(n) * p->lane_h / most);

		if (n && !h)
			h = 1;
		if (h == at)
			continue;
		if (x > from)
			fprintf(p->out, "H%u", x);
		fprintf(p->out, "V%u", p->lane_h - h);
		at = h;
		from = x;
	}
	fputs("z\"/>\n", p->out);
}

/* Its place in the lane: a strip at the top or at the bottom, or all. */
static unsigned int band_y(const struct page *p, enum timeline_band_kind kind,
			   unsigned int *h)
{
	unsigned int strip = p->lane_h >= 40 ? 6 : (p->lane_h + 6) / 7;

	*h = strip;
	if (kind >= BAND_GAP_LOST)
		return p->lane_h - strip;
	if (kind == BAND_THROTTLED || kind == BAND_FILTERED)
		return 0;
	*h = p->lane_h;
	return 0;
}

static void put_when(const struct page *p, int64_t t0, int64_t t1)
{
	FILE *out = p->out;

	fputs("\nfrom ", out);
	put_ns(out, since(p, t0));
	fputs(" to ", out);
	put_ns(out, since(p, t1));
	fputs(" (", out);
	put_ns(out, (uint64_t)t1 - (uint64_t)t0);
	fputs(")\nfrom ", out);
	put_clock(out, t0);
	fputs(" to ", out);
	put_clock(out, t1);
}

static void put_band_title(const struct page *p, const struct timeline_band *b)
{
	FILE *out = p->out;
	bool gap = b->kind >= BAND_GAP_LOST;

	fputs("<title>", out);
	if (gap || !*b->what)
		fputs(timeline_bands[b->kind].name, out);
	else
		plain_xml(out, b->what, 40);
	fputs(b->mixed ? " and others, " : ", ", out);
	put_cpu(out, p->tl->lane[b->lane]->cpu);
	fputs(": ", out);
	if (b->n || !b->some) {
		put_count(out, b->n, gap ? "cookie" : "record");
		fputs(b->some ? " and more" : "", out);
	} else {
		fputs("nobody knows how many records", out);
	}
	if (b->rows > 1) {
		fputs(" in ", out);
		put_count(out, b->rows, "interval");
	}
	fprintf(out, "\n%s", timeline_bands[b->kind].says);
	put_when(p, b->t0, b->t1);
	if (b->from_start)
		fputs("\nits beginning is not known", out);
	if (b->to_end)
		fputs("\nits end is not known", out);
	fputs("</title>", out);
}

static void put_band(const struct page *p, const struct timeline_band *b)
{
	unsigned int x0 = timeline_px(p->tl, b->t0);
	unsigned int x1 = timeline_px(p->tl, b->t1);
	unsigned int h;
	unsigned int y = band_y(p, b->kind, &h);

	if (x1 < x0 + 15)
		x1 = x0 + 15;
	if (x1 > PLOT * 10) {
		x0 -= x1 - PLOT * 10;
		x1 = PLOT * 10;
	}
	fprintf(p->out, "<rect class=\"%s\" x=\"",
		timeline_bands[b->kind].class);
	plain_fixed(p->out, x0, 10, 1);
	fprintf(p->out, "\" y=\"%u\" width=\"", y);
	plain_fixed(p->out, x1 - x0, 10, 1);
	fprintf(p->out, "\" height=\"%u\">", h);
	put_band_title(p, b);
	fputs("</rect>\n", p->out);
}

static void put_rules(const struct page *p, uint64_t rules)
{
	const char *comma = ": ";

	for (unsigned int i = 0; i < 64; i++) {
		if (!(rules >> i & 1) || !p->tl->rule[i])
			continue;
		fputs(comma, p->out);
		plain_xml(p->out, p->tl->rule[i], 60);
		comma = ", ";
	}
}

static void put_mark_title(const struct page *p, const struct timeline_mark *m)
{
	FILE *out = p->out;

	fputs("<title>", out);
	if (m->n > 1) {
		plain_grouped(out, m->n);
		fputs(" x ", out);
	}
	fputs(timeline_marks[m->kind].name, out);
	put_rules(p, m->rules);
	fputs(", ", out);
	put_cpu(out, p->tl->lane[m->lane]->cpu);
	fprintf(out, "\n%s", timeline_marks[m->kind].says);
	if (m->t1 > m->t0) {
		put_when(p, m->t0, m->t1);
	} else {
		fputs("\nat ", out);
		put_ns(out, since(p, m->t0));
		fputs(" (", out);
		put_clock(out, m->t0);
		putc(')', out);
	}
	if (m->who) {
		fputs(m->n > 1 ? "\nfirst: " : "\n", out);
		plain_xml(out, m->who, 0);
	}
	fputs("</title>", out);
}

static void put_mark(const struct page *p, const struct timeline_mark *m)
{
	unsigned int x = m->column;
	unsigned int y = 6 + p->row[m->kind] * p->row_h + p->row_h / 2;

	fputs("<path d=\"", p->out);
	if (p->row_h) {
		unsigned int r = (p->row_h - 1) / 2;

		timeline_shape(p->out, m->kind, x, y, r > RADIUS ? RADIUS : r);
	} else {
		/* chains: half a line */
		fprintf(p->out, "M%u %uh1V%uh-1z", x,
			m->kind < MARK_NO_SAMPLE ? 0 : p->lane_h / 2,
			p->lane_h);
	}
	fputs("\">", p->out);
	put_mark_title(p, m);
	fputs("</path>\n", p->out);
}

static void put_lane_title(const struct page *p, const struct timeline_lane *l)
{
	FILE *out = p->out;

	fputs("<title>", out);
	put_cpu(out, l->cpu);
	fputs(": ", out);
	put_count(out, l->events, "event");
	fputs("\n", out);
	put_count(out, l->lost, "record");
	fputs(" lost in ", out);
	put_count(out, l->losses, "interval");
	fputs("\n", out);
	put_count(out, l->requests, "request");
	fputs(" not joined, ", out);
	put_count(out, l->chains, "chain");
	fputs(" without a sample\n", out);
	put_count(out, l->missing, "missing cookie");
	fputs(", ", out);
	put_count(out, l->findings, "finding");
	fputs("</title>", out);
}

/* Beside the lane, the worst that is wrong with it, as far as there is room.
 */
static void put_lane_sums(const struct page *p, const struct timeline_lane *l,
			  unsigned int y)
{
	const struct {
		uint64_t n;
		const char *what;
	} sum[] = { { l->lost, "lost" },
		    { l->requests, "not joined" },
		    { l->findings, "found" },
		    { l->chains, "without sample" },
		    { l->missing, "cookies missing" } };
	unsigned int room = p->lane_h / LABEL;
	unsigned int n = 0;
	unsigned int done = 0;

	for (size_t i = 0; i < 5; i++)
		n += sum[i].n > 0;
	unsigned int each = n > room ? 2 : 1;
	unsigned int lines = (n + each - 1) / each;

	if (lines > room)
		lines = room;
	if (n > lines * each)
		n = lines * each;
	y += p->lane_h / 2 + 4 - (lines ? (lines - 1) * LABEL / 2 : 0);
	for (size_t i = 0; i < 5 && done < n; i++) {
		if (!sum[i].n)
			continue;
		if (done % each == 0)
			open_text(p, LEFT + PLOT + 6, y + done / each * LABEL,
				  NULL, NULL);
		else
			fputs(", ", p->out);
		plain_grouped(p->out, sum[i].n);
		fprintf(p->out, " %s", sum[i].what);
		if (++done % each == 0 || done == n)
			close_text(p);
	}
}

/* Marks and bands are sorted by lane: where the first of it stands. */
struct cursor {
	size_t mark, band;
};

static void put_bands(const struct page *p, uint32_t lane, struct cursor *c)
{
	const struct timeline *tl = p->tl;

	if (c->band == tl->n_band || tl->band[c->band].lane != lane)
		return;
	fputs("<g class=\"b\">\n", p->out);
	while (c->band < tl->n_band && tl->band[c->band].lane == lane)
		put_band(p, &tl->band[c->band++]);
	fputs("</g>\n", p->out);
}

static void put_marks(const struct page *p, uint32_t lane, struct cursor *c)
{
	const struct timeline *tl = p->tl;

	while (c->mark < tl->n_mark && tl->mark[c->mark].lane == lane) {
		enum timeline_mark_kind kind = tl->mark[c->mark].kind;

		fprintf(p->out, "<g class=\"m %s\">\n",
			timeline_marks[kind].class);
		while (c->mark < tl->n_mark && tl->mark[c->mark].lane == lane &&
		       tl->mark[c->mark].kind == kind)
			put_mark(p, &tl->mark[c->mark++]);
		fputs("</g>\n", p->out);
	}
}

/* The lane's ground, behind the grid. */
static void put_ground(const struct page *p, const struct section *s,
		       unsigned int y)
{
	unsigned int every = (LABEL + p->step - 1) / p->step;

	for (size_t i = 0; i < s->n_lane; i++, y += p->step) {
		const struct timeline_lane *l = p->tl->lane[s->lane + i];

		fprintf(p->out,
			"<rect class=\"lane\" x=\"%d\" y=\"%u\" width=\"%d\" "
			"height=\"%u\">",
			LEFT, y, PLOT, p->lane_h);
		put_lane_title(p, l);
		fputs("</rect>\n", p->out);
		put_lane_sums(p, l, y);
		if (i % every)
			continue;
		open_text(p, LEFT - 6, y + p->lane_h / 2 + 4, "end", NULL);
		put_cpu(p->out, l->cpu);
		close_text(p);
	}
}

static void put_lanes(const struct page *p, const struct section *s,
		      unsigned int y, struct cursor *c)
{
	for (size_t i = s->lane; i < s->lane + s->n_lane; i++, y += p->step) {
		fprintf(p->out, "<g transform=\"translate(%d,%u)\">\n", LEFT,
			y);
		put_bands(p, (uint32_t)i, c);
		put_events(p, p->tl->lane[i]);
		put_marks(p, (uint32_t)i, c);
		fputs("</g>\n", p->out);
	}
}

/* ---- what has no time */

static void put_untimed_title(const struct page *p, size_t from, size_t to)
{
	FILE *out = p->out;

	fputs("<title>", out);
	plain_xml(out, p->tl->untimed[from].what, 40);
	fputs(", at an unknown time", out);
	for (size_t i = from; i < to && i < from + 16; i++) {
		const struct timeline_untimed *u = &p->tl->untimed[i];

		putc('\n', out);
		put_cpu(out, u->cpu);
		fputs(": ", out);
		put_count(out, u->n, "record");
	}
	if (to > from + 16)
		fputs("\nand more CPUs", out);
	fputs("</title>", out);
}

static void put_untimed(const struct page *p, size_t from, size_t to,
			unsigned int y)
{
	const char *what = p->tl->untimed[from].what;
	const char *says = timeline_untimed_says(what);
	uint64_t n = 0;

	for (size_t i = from; i < to; i++)
		n = timeline_add(n, p->tl->untimed[i].n);
	open_text(p, LEFT - 6, y + 12, "end", "quiet");
	fputs("no time", p->out);
	close_text(p);
	fprintf(p->out,
		"<rect class=\"untimed\" x=\"%d\" y=\"%u\" width=\"%d\" "
		"height=\"%d\">",
		LEFT, y, PLOT, STRIP - 3);
	put_untimed_title(p, from, to);
	fputs("</rect>\n", p->out);
	open_text(p, LEFT + 6, y + 12, NULL, NULL);
	plain_xml(p->out, what, 40);
	fputs(": ", p->out);
	if (n)
		put_count(p->out, n, "record");
	else
		fputs("nobody knows how many records", p->out);
	if (says)
		fprintf(p->out, ", %s", says);
	close_text(p);
}

static void put_section_head(const struct page *p, const struct section *s,
			     unsigned int y)
{
	const struct timeline_capture *c = capture_of(p->tl, s->capture);

	if (p->n_section > 1) {
		open_text(p, LEFT, y + 14, NULL, NULL);
		fprintf(p->out, "capture %lld: ", (long long)s->capture);
		plain_xml(p->out, c ? c->path : "", 120);
		if (c && !c->timed)
			fputs(", has no times", p->out);
		close_text(p);
		y += 20;
	}
	for (size_t i = s->untimed; i < s->untimed + s->n_untimed;) {
		size_t next = next_untimed(p, s, i);

		put_untimed(p, i, next, y);
		y += STRIP;
		i = next;
	}
}

/* ---- the page */

static void put_name(const struct page *p, const char *title)
{
	const struct timeline *tl = p->tl;
	const char *path = tl->n_capture ? tl->capture[0].path : "";
	const char *base = strrchr(path, '/');

	if (title) {
		plain_xml(p->out, title, 120);
		return;
	}
	fputs("Losses over time in ", p->out);
	plain_xml(p->out, base ? base + 1 : path, 80);
	if (tl->n_capture > 1)
		fprintf(p->out, " and %zu more", tl->n_capture - 1);
}

static void put_head(const struct page *p, const char *title)
{
	unsigned int h = p->bottom + 30 + (p->keys + p->notes) * LINE + PAD;

	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" font-size=\"12\" "
		"font-family=\"Verdana,DejaVu Sans,sans-serif\">\n<title>",
		WIDTH, h, WIDTH, h);
	put_name(p, title);
	fprintf(p->out, "</title>\n<style>\n%s</style>\n<defs>\n",
		text_timeline_css);
	timeline_hatching(p->out);
	fprintf(p->out,
		"</defs>\n<rect class=\"page\" width=\"%d\" height=\"%u\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"17\">",
		WIDTH, h, LEFT, PAD + LINE);
	put_name(p, title);
	close_text(p);
}

/* Where and how long. */
static void put_span(const struct page *p)
{
	const struct timeline *tl = p->tl;
	const struct timeline_capture *c = tl->n_capture ? tl->capture : NULL;

	open_text(p, LEFT, PAD + 2 * LINE + 3, NULL, "quiet");
	put_ns(p->out, since(p, tl->t1));
	fputs(" from ", p->out);
	put_clock(p->out, tl->t0);
	if (c && *c->clock) {
		fputs(" (clock ", p->out);
		plain_xml(p->out, c->clock, 24);
		putc(')', p->out);
	}
	if (c && *c->host) {
		fputs(", host ", p->out);
		plain_xml(p->out, c->host, 40);
	}
	fputs("; ", p->out);
	put_count(p->out, tl->events, "event");
	if (p->most) {
		fputs(" in grey, at most ", p->out);
		plain_grouped(p->out, p->most);
		fputs(" in ", p->out);
		put_ns(p->out, since(p, tl->t1) * p->group / PLOT);
		fputs(" (log scale)", p->out);
	}
	close_text(p);
}

static void put_totals(const struct page *p)
{
	const struct timeline *tl = p->tl;
	FILE *out = p->out;

	open_text(p, LEFT, PAD + 3 * LINE + 3, NULL, "quiet");
	if (tl->losses) {
		put_count(out, tl->lost, "record");
		fputs(" lost in ", out);
		put_count(out, tl->losses, "interval");
	} else {
		fputs("no record was lost", out);
	}
	fputs("; ", out);
	if (tl->requests) {
		uint64_t rest = tl->requests - tl->joined - tl->refused;

		put_count(out, tl->requests, "request");
		fputs(" of deferred user stacks: ", out);
		plain_grouped(out, tl->joined);
		fputs(" joined, ", out);
		plain_grouped(out, rest);
		fputs(" not", out);
		if (tl->refused) {
			fputs(", ", out);
			plain_grouped(out, tl->refused);
			fputs(" answered at once", out);
		}
	} else {
		fputs("no deferred user stacks were asked for", out);
	}
	close_text(p);
}

/* ---- the legend */

struct key {
	const struct timeline_look *look;
	int mark; /* -1: a band */
	uint64_t n, rows;
	bool some;
	unsigned int x, line;
};

static unsigned int key_width(const struct key *k)
{
	char n[64];
	int len = snprintf(n, sizeof(n), "%llu%llu", (unsigned long long)k->n,
			   (unsigned long long)k->rows);

	len += (int)strlen(k->look->name) + (k->mark < 0 ? 12 : 3);
	return 22 + (unsigned int)len * 8;
}

/* All kinds that there are, placed; gives how many. */
static size_t find_keys(struct page *p, struct key key[])
{
	const struct timeline *tl = p->tl;
	unsigned int x = LEFT;
	size_t n = 0;

	for (size_t i = 0; i < BAND_KINDS; i++)
		if (tl->rows[i])
			key[n++] = (struct key){
				&timeline_bands[i], -1, tl->sum[i], tl->rows[i],
				tl->some[i],	    0,	0
			};
	for (int i = 0; i < MARK_KINDS; i++)
		if (tl->n[i])
			key[n++] = (struct key){
				&timeline_marks[i], i, tl->n[i], 0, false, 0, 0
			};
	p->keys = n > 0;
	for (size_t i = 0; i < n; i++) {
		unsigned int w = key_width(&key[i]);

		if (x + w > WIDTH - PAD && x > LEFT) {
			x = LEFT;
			p->keys++;
		}
		key[i].x = x;
		key[i].line = p->keys - 1;
		x += w;
	}
	return n;
}

static void put_key(const struct page *p, const struct key *k)
{
	unsigned int y = p->bottom + 30 + k->line * LINE + 11;
	FILE *out = p->out;

	fprintf(out, "<g class=\"key\"><title>%s</title>", k->look->says);
	if (k->mark < 0) {
		fprintf(out,
			"<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"14\" "
			"height=\"11\"/>",
			k->look->class, k->x, y - 10);
	} else {
		fprintf(out, "<path class=\"%s\" d=\"", k->look->class);
		timeline_shape(out, (enum timeline_mark_kind)k->mark, k->x + 7,
			       y - 4, RADIUS);
		fputs("\"/>", out);
	}
	open_text(p, k->x + 19, y, NULL, NULL);
	fprintf(out, "%s: ", k->look->name);
	if (k->mark >= 0 || k->n)
		plain_grouped(out, k->n);
	if (k->mark < 0 && k->n)
		fputs(k->some ? " and more in " : " in ", out);
	if (k->mark < 0)
		plain_grouped(out, k->rows);
	if (k->mark < 0 && !k->n)
		fputs(k->rows == 1 ? " time" : " times", out);
	fputs("</text></g>\n", out);
}

static void put_notes(const struct page *p)
{
	const struct timeline *tl = p->tl;
	unsigned int y = p->bottom + 30 + p->keys * LINE + 11;

	if (tl->bin > 1) {
		open_text(p, LEFT, y, NULL, "quiet");
		fprintf(p->out, "marks of a kind within %u px are one mark",
			tl->bin);
		close_text(p);
		y += LINE;
	}
	if (tl->no_time) {
		open_text(p, LEFT, y, NULL, "quiet");
		put_count(p->out, tl->no_time, "event");
		fputs(" without a time, not drawn", p->out);
		close_text(p);
		y += LINE;
	}
	if (tl->no_lane) {
		open_text(p, LEFT, y, NULL, "quiet");
		put_count(p->out, tl->no_lane, "event");
		fprintf(p->out, " of more than %d CPUs, not drawn",
			TIMELINE_LANES);
		close_text(p);
	}
}

static void put_sections(const struct page *p)
{
	struct cursor at = { 0, 0 };
	unsigned int y = p->top;

	for (size_t i = 0; i < p->n_section; i++) {
		const struct section *s = &p->section[i];

		put_section_head(p, s, y);
		put_ground(p, s, y + section_top(p, s));
		y += section_height(p, s);
	}
	put_axis(p);
	y = p->top;
	for (size_t i = 0; i < p->n_section; i++) {
		const struct section *s = &p->section[i];

		put_lanes(p, s, y + section_top(p, s), &at);
		y += section_height(p, s);
	}
}

void timeline_draw(FILE *out, const struct timeline *tl, const char *title)
{
	struct page p = { .out = out, .tl = tl };
	struct key key[BAND_KINDS + MARK_KINDS];
	size_t n;

	lay_out(&p);
	n = find_keys(&p, key);
	p.notes = (tl->bin > 1) + (tl->no_time > 0) + (tl->no_lane > 0);
	put_head(&p, title);
	put_span(&p);
	put_totals(&p);
	put_sections(&p);
	for (size_t i = 0; i < n; i++)
		put_key(&p, &key[i]);
	put_notes(&p);
	fputs("</svg>\n", out);
	free(p.section);
}
