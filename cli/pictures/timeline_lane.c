/* timeline_lane.c - one lane of a timeline picture. */
#include "cli/output/human.h"
#include "cli/pictures/timeline_lane.h"

#include <stdbool.h>
#include <string.h>

#include "cli/output/safe_text.h"
#include "cli/pictures/timeline_look.h"
#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_page.h"

#define SUMS 27 /* letters beside a lane */

/* Returns log2(n + 1) times 64. The scale is logarithmic so that bars of few
 * events can be seen. */
static uint64_t lane_log(uint64_t n)
{
	unsigned int bit = 63 - (unsigned int)__builtin_clzll(n + 1);
	uint64_t rest = (n + 1) ^ (UINT64_C(1) << bit);

	return bit * 64 + (bit > 6 ? rest >> (bit - 6) : rest << (6 - bit));
}

static void lane_put_events(const struct page *p, const struct timeline_lane *l)
{
	/* fewer than 15 events never fill a bar */
	uint64_t most = lane_log(p->most < 15 ? 15 : p->most);
	unsigned int at = 0;
	unsigned int from = 0;

	if (!l->events)
		return;
	fprintf(p->out, "<path class=\"events\" d=\"M0 %u", p->lane_h);
	for (unsigned int x = 0; x <= PLOT; x += p->group) {
		uint64_t n = x < PLOT ? page_events(p, l, x) : 0;
		unsigned int h = (unsigned int)(lane_log(n) * p->lane_h / most);

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

static unsigned int lane_row_y(const struct page *p,
			       enum timeline_mark_kind kind)
{
	return 3 + p->row[kind] * p->row_h;
}

/* The part of the lane's height that a band takes. */
enum band_place {
	BAND_ALL,
	BAND_TOP,
	BAND_BOTTOM,
	BAND_PLACES
};

static enum band_place band_place(enum timeline_band_kind kind)
{
	if (kind >= BAND_GAPS)
		return BAND_BOTTOM;
	return kind == BAND_THROTTLED || kind == BAND_FILTERED ? BAND_TOP
							       : BAND_ALL;
}

static unsigned int lane_band_y(const struct page *p,
				enum timeline_band_kind kind, unsigned int *h)
{
	enum band_place place = band_place(kind);

	*h = place == BAND_ALL ? p->lane_h
	     : p->lane_h >= 40 ? 6
			       : (p->lane_h + 6) / 7;
	return place == BAND_BOTTOM ? p->lane_h - *h : 0;
}

static void lane_put_when(const struct page *p, int64_t t0, int64_t t1)
{
	FILE *out = p->out;

	fputs("\nfrom ", out);
	page_ns(out, page_since(p, t0));
	fputs(" to ", out);
	page_ns(out, page_since(p, t1));
	fputs(" (", out);
	page_ns(out, (uint64_t)t1 - (uint64_t)t0);
	fputs(")\nfrom ", out);
	page_clock(out, t0);
	fputs(" to ", out);
	page_clock(out, t1);
}

static void lane_put_band_title(const struct page *p,
				const struct timeline_band *b)
{
	FILE *out = p->out;
	bool gap = b->kind >= BAND_GAPS;

	fputs("<title>", out);
	if (gap || !*b->what)
		fputs(timeline_bands[b->kind].name, out);
	else
		safe_text_xml(out, b->what, 40);
	fputs(b->mixed ? " and others, " : ", ", out);
	page_cpu(out, p->tl->lane[b->lane]->cpu);
	fputs(": ", out);
	if (b->n || !b->some) {
		page_count(out, b->n, gap ? "cookie" : "record");
		fputs(b->some ? " and more" : "", out);
	} else {
		fputs("nobody knows how many records", out);
	}
	if (b->rows > 1) {
		fputs(" in ", out);
		page_count(out, b->rows, "interval");
	}
	fprintf(out, "\n%s", timeline_bands[b->kind].says);
	lane_put_when(p, b->t0, b->t1);
	if (b->from_start)
		fputs("\nits beginning is not known", out);
	if (b->to_end)
		fputs("\nits end is not known", out);
	fputs("</title>", out);
}

/* Returns the left end of a band in 1/10 px and stores its width, at least 1.5
 * px so that it can be seen. */
static unsigned int lane_band_x(const struct page *p,
				const struct timeline_band *b, unsigned int *w)
{
	unsigned int x = timeline_px(p->tl, b->t0);

	*w = timeline_px(p->tl, b->t1) - x;
	if (*w < 15)
		*w = 15;
	return x + *w > PLOT * 10 ? PLOT * 10 - *w : x;
}

static void lane_put_band(const struct page *p, const struct timeline_band *b)
{
	unsigned int h, w;
	unsigned int x = lane_band_x(p, b, &w);
	unsigned int y = lane_band_y(p, b->kind, &h);

	fprintf(p->out, "<rect class=\"%s\" x=\"",
		timeline_bands[b->kind].css_class);
	human_put_fixed(p->out, x, 10, 1);
	fprintf(p->out, "\" y=\"%u\" width=\"", y);
	human_put_fixed(p->out, w, 10, 1);
	fprintf(p->out, "\" height=\"%u\">", h);
	lane_put_band_title(p, b);
	fputs("</rect>\n", p->out);
}

static void lane_put_rules(const struct page *p, uint64_t rules)
{
	const char *comma = ": ";

	for (unsigned int i = 0; i < 64; i++) {
		if (!(rules >> i & 1) || !p->tl->rule[i])
			continue;
		fputs(comma, p->out);
		safe_text_xml(p->out, p->tl->rule[i], 60);
		comma = ", ";
	}
}

static void lane_put_mark_title(const struct page *p,
				const struct timeline_mark *m)
{
	FILE *out = p->out;

	fputs("<title>", out);
	if (m->n > 1) {
		human_put_grouped(out, m->n);
		fputs(" x ", out);
	}
	fputs(timeline_marks[m->kind].name, out);
	lane_put_rules(p, m->rules);
	fputs(", ", out);
	page_cpu(out, p->tl->lane[m->lane]->cpu);
	if (m->t1 > m->t0) {
		lane_put_when(p, m->t0, m->t1);
	} else {
		fputs("\nat ", out);
		page_ns(out, page_since(p, m->t0));
		fputs(" (", out);
		page_clock(out, m->t0);
		putc(')', out);
	}
	if (m->who) {
		fputs(m->n > 1 ? "\nfirst: " : "\n", out);
		safe_text_xml(out, m->who, 0);
	}
	fputs("</title>", out);
}

/* Returns the top of a mark drawn as a bar and stores its height, for marks
 * that are too small or too many for shapes. */
static unsigned int lane_bar_y(const struct page *p,
			       enum timeline_mark_kind kind, unsigned int *h)
{
	if (p->row_h) {
		*h = p->row_h - 2;
		return lane_row_y(p, kind) + 1;
	}
	*h = kind < MARK_CHAINS ? p->lane_h : (p->lane_h + 1) / 2;
	return p->lane_h - *h;
}

static void lane_put_mark(const struct page *p, const struct timeline_mark *m)
{
	unsigned int bin = p->tl->marks.bin;
	unsigned int x = m->column / bin * bin;

	fputs("<path d=\"", p->out);
	if (p->row_h) {
		timeline_shape(p->out, m->kind, x + bin / 2,
			       lane_row_y(p, m->kind) + p->row_h / 2,
			       p->radius);
	} else {
		unsigned int h;
		unsigned int y = lane_bar_y(p, m->kind, &h);
		unsigned int w = bin > 2 ? bin : 2; /* so that it can be seen */

		fprintf(p->out, "M%u %uh%uv%uh-%uz", x, y, w, h, w);
	}
	fputs("\">", p->out);
	lane_put_mark_title(p, m);
	fputs("</path>\n", p->out);
}

static void lane_put_title(const struct page *p, const struct timeline_lane *l)
{
	FILE *out = p->out;

	fputs("<title>", out);
	page_cpu(out, l->cpu);
	fputs(": ", out);
	page_count(out, l->events, "event");
	fputs("\n", out);
	page_count(out, l->lost, "record");
	fputs(" lost in ", out);
	page_count(out, l->losses, "interval");
	fputs("\n", out);
	page_count(out, l->requests, "request");
	fputs(" not joined, ", out);
	page_count(out, l->chains, "chain");
	fputs(" without a sample\n", out);
	page_count(out, l->missing, "missing cookie");
	fputs(", ", out);
	page_count(out, l->findings, "finding");
	fputs("</title>", out);
}

/* Writes the most important numbers beside the lane, as many as fit. */
static void lane_put_sums(const struct page *p, const struct timeline_lane *l,
			  unsigned int y)
{
	struct {
		uint64_t n;
		const char *what;
		unsigned int line; /* 0: none */
	} sum[] = {
		{ l->lost, "lost", 0 },
		{ l->requests, "not joined", 0 },
		{ l->findings, l->findings == 1 ? "finding" : "findings", 0 },
		{ l->chains, "without sample", 0 },
		{ l->missing,
		  l->missing == 1 ? "missing cookie" : "missing cookies", 0 },
	};
	const size_t n = sizeof(sum) / sizeof(*sum);
	unsigned int room = p->lane_h / LABEL;
	unsigned int some = 0;
	unsigned int lines = 0;
	unsigned int used = 0;
	unsigned int open = 0;

	for (size_t i = 0; i < n; i++)
		some += sum[i].n > 0;
	for (size_t i = 0; i < n; i++) {
		unsigned int w = page_digits(sum[i].n) + 3 +
				 (unsigned int)strlen(sum[i].what);

		if (!sum[i].n)
			continue;
		if (lines == room && used + w > SUMS)
			break;
		if (lines < room &&
		    (room >= some || used + w > SUMS || !lines)) {
			lines++;
			used = 0;
		}
		used += w;
		sum[i].line = lines;
	}
	y += p->lane_h / 2 + 4 - (lines ? (lines - 1) * LABEL / 2 : 0);
	for (size_t i = 0; i < n; i++) {
		if (!sum[i].line)
			continue;
		if (sum[i].line != open) {
			if (open)
				page_text_end(p);
			open = sum[i].line;
			page_text(p, LEFT + PLOT + 6, y + (open - 1) * LABEL,
				  NULL, NULL);
		} else {
			fputs(", ", p->out);
		}
		human_put_grouped(p->out, sum[i].n);
		fprintf(p->out, " %s", sum[i].what);
	}
	if (open)
		page_text_end(p);
}

/* ---- too much for a tooltip each */

/* The topmost kind in each column: 0 for none, else kind + 1. */
struct layer {
	uint8_t top[PLOT];
};

static void lane_paint(const struct page *p, struct layer *l, unsigned int kind,
		       unsigned int from, unsigned int to)
{
	unsigned int x = from / p->plain * p->plain;

	for (; x < to && x < PLOT; x++)
		l->top[x] = (uint8_t)(kind + 1);
	for (; x < PLOT && x % p->plain; x++)
		l->top[x] = (uint8_t)(kind + 1);
}

/* Draws all columns of one kind as one path. Returns false if there are
 * none. */
static bool lane_put_layer(const struct page *p, const struct layer *l,
			   unsigned int kind, const char *css_class,
			   const char *style, unsigned int y, unsigned int h)
{
	bool any = false;

	for (unsigned int x = 0; x < PLOT;) {
		unsigned int from = x;

		while (x < PLOT && l->top[x] == kind + 1)
			x++;
		if (x == from) {
			x++;
			continue;
		}
		if (!any)
			fprintf(p->out, "<path class=\"%s%s\" d=\"", css_class,
				style);
		any = true;
		fprintf(p->out, "M%u %uh%uv%uh-%uz", from, y, x - from, h,
			x - from);
	}
	if (any)
		fputs("\"/>\n", p->out);
	return any;
}

/* Draws bands from .. to - 1 without tooltips. Kinds are in order of severity:
 * the first ones hide the others. */
static void lane_put_plain_bands(const struct page *p, size_t from, size_t to)
{
	const struct timeline_band *band = p->tl->band;
	struct layer layer[BAND_PLACES];

	memset(layer, 0, sizeof(layer));
	for (size_t i = to; i-- > from;) {
		unsigned int w;
		unsigned int x = lane_band_x(p, &band[i], &w);

		lane_paint(p, &layer[band_place(band[i].kind)], band[i].kind,
			   x / 10, (x + w + 9) / 10);
	}
	for (unsigned int kind = 0; kind < BAND_KINDS; kind++) {
		unsigned int h;
		unsigned int y =
			lane_band_y(p, (enum timeline_band_kind)kind, &h);

		lane_put_layer(
			p, &layer[band_place((enum timeline_band_kind)kind)],
			kind, timeline_bands[kind].css_class, "", y, h);
	}
}

/* Draws marks from .. to - 1 without tooltips, each kind in its own row if
 * there are rows. */
static void lane_put_plain_marks(const struct page *p, size_t from, size_t to)
{
	const struct timeline_mark *mark = p->tl->mark;
	struct layer layer;

	memset(&layer, 0, sizeof(layer));
	while (to > from) {
		enum timeline_mark_kind kind = mark[--to].kind;
		unsigned int h;
		unsigned int y = lane_bar_y(p, kind, &h);

		lane_paint(p, &layer, kind, mark[to].column,
			   mark[to].column + 1);
		if (!p->row_h || (to > from && mark[to - 1].kind == kind))
			continue;
		lane_put_layer(p, &layer, kind, timeline_marks[kind].css_class,
			       " flat", y, h);
		memset(&layer, 0, sizeof(layer));
	}
	for (unsigned int kind = 0; !p->row_h && kind < MARK_KINDS; kind++) {
		unsigned int h;
		unsigned int y =
			lane_bar_y(p, (enum timeline_mark_kind)kind, &h);

		lane_put_layer(p, &layer, kind, timeline_marks[kind].css_class,
			       " flat", y, h);
	}
}

/* ---- the lane */

static void lane_put_bands(const struct page *p, uint32_t lane, size_t *at)
{
	const struct timeline *tl = p->tl;
	size_t from = *at;

	while (*at < tl->n_band && tl->band[*at].lane == lane)
		++*at;
	if (from == *at)
		return;
	fputs("<g class=\"b\">\n", p->out);
	if (tl->bands.plain)
		lane_put_plain_bands(p, from, *at);
	else
		for (; from < *at; from++)
			lane_put_band(p, &tl->band[from]);
	fputs("</g>\n", p->out);
}

static void lane_put_marks(const struct page *p, uint32_t lane, size_t *at)
{
	const struct timeline *tl = p->tl;
	size_t from = *at;

	while (*at < tl->n_mark && tl->mark[*at].lane == lane)
		++*at;
	if (tl->marks.plain) {
		lane_put_plain_marks(p, from, *at);
		return;
	}
	while (from < *at) {
		enum timeline_mark_kind kind = tl->mark[from].kind;
		const struct timeline_look *look = &timeline_marks[kind];

		const char *style = p->row_h ? look->style : "flat";

		fprintf(p->out, "<g class=\"m %s%s%s\">\n", look->css_class,
			*style ? " " : "", style);
		for (; from < *at && tl->mark[from].kind == kind; from++)
			lane_put_mark(p, &tl->mark[from]);
		fputs("</g>\n", p->out);
	}
}

void lane_ground(const struct page *p, uint32_t lane, unsigned int y)
{
	const struct timeline_lane *l = p->tl->lane[lane];

	fprintf(p->out,
		"<rect class=\"lane\" x=\"%d\" y=\"%u\" width=\"%d\" "
		"height=\"%u\">",
		LEFT, y, PLOT, p->lane_h);
	lane_put_title(p, l);
	fputs("</rect>\n", p->out);
	lane_put_sums(p, l, y);
}

void lane_content(const struct page *p, uint32_t lane, unsigned int y,
		  size_t *band, size_t *mark)
{
	fprintf(p->out, "<g transform=\"translate(%d,%u)\">\n", LEFT, y);
	lane_put_bands(p, lane, band);
	lane_put_events(p, p->tl->lane[lane]);
	lane_put_marks(p, lane, mark);
	fputs("</g>\n", p->out);
}
