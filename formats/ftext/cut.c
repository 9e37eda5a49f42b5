/* cut.c - cuts a stream of ftrace's text into texts that can be read
 * separately. */
#include "formats/ftext/cut.h"

#include <inttypes.h>
#include <string.h>

#include "formats/ftext/ftext.h"

/* A header is a few lines; no more than this is kept of it. */
#define HEAD_MAX ((size_t)64 << 10)

struct ftext_cut {
	char *head;
	size_t n_head, cap_head;
	bool begun; /* an event was seen, so the header is complete */
	bool lost, inside;
	struct ftext_cut_line line;
	uint32_t piece; /* number of the piece that is received now */
	size_t at;	/* CPU of the event + 1 */
	/* by CPU + 1: the piece with its last event */
	uint32_t *cpu;
	size_t n_cpu, cap_cpu;
	struct ftext_beside beside;
	struct ftext_dropped *dropped; /* by CPU */
	size_t n_dropped, cap_dropped;
};

/* How many events a CPU dropped. */
struct ftext_dropped {
	uint64_t n;  /* the last count of tracefs */
	bool recent; /* events from before the last count may still follow */
};

bool ftext_cut_probe(const void *head, size_t n)
{
	return ftext_ops.probe("", head, n) > 0;
}

/* Reads how many events each CPU has dropped, and writes the increase into a
 * piece. Events that were in the buffer when others were dropped are read after
 * the count, so the piece after an increase may lack events too, and so may the
 * first piece. If the counts are of a copy, any piece may. */
static void ftext_cut_count(struct ftext_cut *c, FILE *out)
{
	struct ftext_beside *b = &c->beside;

	ftext_beside_read(b, b->per_cpu, NULL);
	for (size_t i = 0; i < b->n_total; i++) {
		const struct ftext_total *t = &b->total[i];

		if (t->place != LOST_WITHIN)
			continue;
		struct ftext_dropped *d = mem_at(c->dropped, c->n_dropped,
						 c->cap_dropped, t->cpu);
		/* the count restarts when the buffer is emptied */
		uint64_t n = t->n < d->n ? t->n : t->n - d->n;

		if (out && (n || d->recent))
			fprintf(out,
				FTEXT_BESIDE " cpu=%" PRId32 " dropped=%" PRIu64
					     "\n",
				t->cpu, n);
		d->n = t->n;
		d->recent = n || !b->live;
	}
}

struct ftext_cut *ftext_cut_new(const char *path)
{
	struct ftext_cut *c = mem_new(1, sizeof(*c));

	if (strcmp(path, "-") != 0)
		ftext_beside_open(&c->beside, path);
	if (c->beside.live)
		ftext_cut_count(c, NULL);
	return c;
}

void ftext_cut_free(struct ftext_cut *c)
{
	if (!c)
		return;
	free_all(c->head, c->cpu, c->dropped, c->beside.total, c);
}

static void ftext_cut_event(struct ftext_cut *c, const struct line *l)
{
	enum line_stack stack = line_stack(l);
	uint32_t *piece = NULL; /* the piece with the CPU's last event */
	bool more = stack == STACK_KERNEL || stack == STACK_USER ||
		    scan_is(l->name, "user_unwind_cookie");

	if (l->cpu >= -1 && l->cpu < CPUS_MAX) {
		const size_t at = (size_t)(l->cpu + 1);

		piece = mem_at(c->cpu, c->n_cpu, c->cap_cpu, at);
	}
	if (more && piece) {
		c->line.is_late = *piece != c->piece;
		return;
	}
	c->line.is_late = false;
	/* the event after a mark of lost events stays in the mark's piece */
	c->line.may_begin = !c->lost;
	c->lost = false;
	c->line.is_event = true;
	if (!piece)
		return;
	c->at = (size_t)(piece - c->cpu);
	*piece = c->piece;
}

static void ftext_cut_line(struct ftext_cut *c, struct scan s)
{
	struct line l;

	line_parse(s, false, &l);
	c->line.may_begin = c->line.is_event = false;
	if (l.kind == LINE_EVENT) {
		ftext_cut_event(c, &l);
	} else if (l.kind == LINE_LOST) {
		c->line.may_begin = !c->lost;
		c->line.is_event = c->lost = true;
		c->at = SIZE_MAX;
		c->line.is_late = false;
	} else if (l.kind == LINE_HEAD || l.kind == LINE_STARTED) {
		c->line.is_late = false;
	}
	c->begun |= c->line.is_event;
	/* only one piece has the count of what was overwritten before the
	 * text */
	if (!c->begun && l.kind == LINE_HEAD && c->n_head + s.n < HEAD_MAX &&
	    !scan_starts(s, "# entries-in-buffer")) {
		mem_append(c->head, c->n_head, c->cap_head, s.p, s.n);
		*mem_add(c->head, c->n_head, c->cap_head) = '\n';
	}
}

const struct ftext_cut_line *ftext_cut_take(struct ftext_cut *c,
					    const void *data, size_t len,
					    uint64_t *used)
{
	struct scan s = scan_of(data, len);
	size_t n = scan_find_char(s, '\n');
	bool inside = c->inside;

	*used = len + 1;
	if (n == len && len < FTEXT_LINE)
		return NULL;
	c->inside = n == len;
	*used = n == len ? n : n + 1;
	if (!inside)
		ftext_cut_line(c, scan_head(s, n));
	else
		c->line.may_begin = c->line.is_event = false;
	return &c->line;
}

void ftext_cut_head(struct ftext_cut *c, FILE *out)
{
	c->piece++;
	/* the line that was taken last is in the previous piece */
	if (c->line.is_event && c->at < c->n_cpu)
		c->cpu[c->at] = c->piece;
	if (c->beside.cpus || *c->beside.clock)
		fprintf(out, FTEXT_BESIDE "%s%s\n",
			*c->beside.clock ? " clock=" : "", c->beside.clock);
	if (c->n_head)
		fwrite(c->head, 1, c->n_head, out);
}

void ftext_cut_tail(struct ftext_cut *c, FILE *out)
{
	int32_t cpus = ftext_beside_cpus(&c->beside);

	ftext_cut_count(c, out);
	if (cpus)
		fprintf(out, FTEXT_BESIDE " cpus=%" PRId32 "\n", cpus);
}
