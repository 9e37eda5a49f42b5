/* path_screen.c - a chain as text: a sentence, then a line for each piece. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/wake_context.h"
#include "analyze/path/path_run.h"
#include "cli/output/grid.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"

#define WHY_WIDTH 47 /* width of the column "why" */
#define LINE_WIDTH 79
#define INDENT_MAX 16
#define SUMS_SHOWN 3

/* ---- the first lines */

struct path_loss_count {
	uint64_t reported; /* losses that the capture reports */
	uint64_t silent;   /* records missing that no loss explains */
	bool tasks;	   /* some are of silent tasks */
	uint64_t n;	   /* lost records */
	bool open;	   /* before the first or after the last record */
	bool between;	   /* between two captures */
	bool unknown;	   /* n is incomplete: some losses have no number */
};

/* Returns whether an unreported loss is the time between two captures. */
static bool path_is_between(const struct timeline_loss *l)
{
	return !l->only_wakes && l->from != TIMELINE_START &&
	       l->to != TIMELINE_END;
}

static struct path_loss_count path_count_losses(const struct path_run *r,
						int64_t from, int64_t to)
{
	const struct timeline_loss *l = NULL;
	struct path_loss_count c = { 0 };

	while ((l = timeline_next_loss(r->t, from, to, l))) {
		if (l->of_task)
			c.tasks = true;
		else if (l->silent)
			c.silent++;
		else if (!l->id && path_is_between(l))
			c.between = true;
		else if (!l->id)
			c.open = true;
		else
			c.reported++;
		c.unknown |= l->n < 0;
		c.n += l->n > 0 ? (uint64_t)l->n : 0;
	}
	return c;
}

static void path_put_thread(const struct path_run *r, uint32_t thread,
			    FILE *out)
{
	const char *comm = path_tell(r, thread);

	if (*comm)
		safe_text_put(out, comm, 0, 0);
	else
		fprintf(out, "thread %d", timeline_tid(r->t, thread));
}

void path_put_premise(const struct path_run *r, const struct chain *c,
		      FILE *out)
{
	struct causes_premise p = causes_premise(r->causes);
	const char *ready = limits_words(c ? chain_ready_if(c, r->proofs, r->t)
					   : r->sum.ready_if);
	const char *and = ", ";
	bool cards = !c;

	for (size_t i = 0; !cards && p.cards && i < c->n_path; i++) {
		const struct proof_edge e = proofs_edge(r->proofs, c->path[i]);

		cards = wake_contexts_premise(r->causes->contexts, &e) ==
			SOFTIRQ_IF_NO_IRQ;
	}
	if (!p.words && !(p.cards && cards) && !*ready)
		return;
	if (r->ask && !r->ask->premises) {
		fputs(" on a premise ('--premises' has it)", out);
		return;
	}
	if (p.words)
		fprintf(out, "%s%s", and, p.words), and = ", and ";
	if (p.cards && cards)
		fprintf(out, "%s%s", and, p.cards), and = ", and ";
	if (*ready)
		fprintf(out, "%sready%s", and, ready);
}

void path_put_losses(const struct path_run *r, FILE *out, int64_t from,
		     int64_t to)
{
	const struct causes_premise premise = causes_premise(r->causes);
	struct path_loss_count c = path_count_losses(r, from, to);
	const char *blind = premise.none;
	const char *partial = r->causes->partial.why;
	int parts = 0;

	if (blind)
		fprintf(out, "\n%s", blind);
	bool tasks = c.tasks;
	/* the premise, which --premises shows, names silent tasks */
	c.tasks &= !r->ask || r->ask->premises || !premise.words;
	if (!c.reported && !c.silent && !c.tasks && !c.open && !c.between) {
		fputs(blind || tasks ? "\n" : ", nothing lost in this time\n",
		      out);
		return;
	}
	fputs("\nin this time: ", out);
	if (c.reported) {
		parts++;
		fprintf(out, "%s loss%s", HUMAN_GROUPED(c.reported),
			c.reported == 1 ? "" : "es");
		if (c.n && !c.unknown)
			fprintf(out, " (%s)", HUMAN_NOUN(c.n, "record"));
	}
	if (c.silent)
		fprintf(out, "%srecords missing without a loss",
			parts++ ? ", " : "");
	if ((c.between || c.open) && partial)
		fprintf(out, "%s%s", parts++ ? ", " : "", partial);
	else if (c.between)
		fprintf(out, "%sthe end of a capture", parts++ ? ", " : "");
	if (c.open && !partial && r->t->bare >= 0)
		fprintf(out, "%sno record of CPU %d%s", parts++ ? ", " : "",
			(int)r->t->bare,
			r->causes->kernel->capture->whole
				? ""
				: " ('ingest --cpus N' if only N were on)");
	else if (c.open && !partial)
		fprintf(out, "%sa CPU without records at one end",
			parts++ ? ", " : "");
	if (c.tasks)
		fprintf(out,
			"%sno record of what %s did, so that how long that "
			"took, and whom it woke, is not known",
			parts++ ? ", " : "", r->causes->silent);
	putc('\n', out);
}

/* Returns how many bytes of a safe text fit into `width` columns, cut at a
 * blank if there is one, and sets *columns to their width. */
static size_t path_fit(const char *s, size_t width, size_t *columns)
{
	const char *at = s;
	const char *next = s;
	const char *blank = NULL;
	size_t before = 0;
	struct safe_text u;

	for (*columns = 0; safe_text_next(&next, &u); at = next) {
		if (*at == ' ') {
			blank = at;
			before = *columns;
		}
		if (*columns + u.cells > width) {
			at = blank ? blank : at;
			*columns = blank ? before : *columns;
			break;
		}
		*columns += u.cells;
	}
	return (size_t)(at - s);
}

FILE *path_lines_begin(struct term_lines *l)
{
	return term_lines_begin_at(l, stdout, LINE_WIDTH);
}

void path_put_sums(const struct path_run *r, struct path_sum *sum, size_t n,
		   uint64_t all, uint32_t without, const char *before,
		   FILE *out)
{
	size_t shown = 0;

	n = path_add_names(r, sum, n, without);
	for (size_t i = 0; i < n && shown < SUMS_SHOWN; i++) {
		if (without == sum[i].thread)
			continue;
		fprintf(out, "%s%s ", shown++ ? ", " : before,
			HUMAN_PERCENT(sum[i].ns, all));
		if (!path_put_several(r, &sum[i], out))
			path_put_thread(r, sum[i].thread, out);
		fprintf(out, " %s",
			sum[i].cause == WAIT_TIMER ? "sleeping"
						   : path_doing(sum[i].state));
	}
}

/* Prints how long a thread took, and who did what in that time. own: what the
 * thread did itself comes first. */
static void path_put_answer(struct path_run *r, const struct path_code *code,
			    const struct chain *c, uint32_t thread,
			    int64_t from, int64_t to, bool own)
{
	const char *comm = path_comm(r, thread);
	size_t n;
	struct term_lines lines;
	FILE *out = path_lines_begin(&lines);
	struct path_sum *sum OWNED = path_sums(r, c, false, &n);

	safe_text_put(out, *comm ? comm : "thread", 0, 0);
	fprintf(out, " (%d) took %s:", timeline_tid(r->t, thread),
		HUMAN_NS(to - from));
	if (own) {
		size_t parts;
		struct path_sum *part OWNED =
			path_own(r, c, thread, -1, &parts);

		parts = path_add_details(part, parts);
		path_put_own(r, part, parts, (uint64_t)(to - from),
			     path_code_in(code, r, thread, from, to), out);
		path_put_memory(
			r, causes_pid(r->causes, timeline_tid(r->t, thread)),
			from, to, out);
	}
	path_put_sums(r, sum, n, (uint64_t)to - (uint64_t)from,
		      own ? thread : TIMELINE_NONE,
		      own ? "\nbehind these waits: " : " ", out);
	term_lines_end(&lines);
}

/* ---- a line for each piece */

/* Returns the last edge of a segment's path: the wake-up of the thread above it
 * by the thread of the segment. */
static struct proof_edge path_last_edge(const struct path_run *r,
					const struct chain *c,
					const struct chain_segment *s)
{
	return proofs_edge(r->proofs, c->path[s->path + s->depth - 1]);
}

static void path_say_interrupt(const struct path_run *r, FILE *out,
			       const struct chain *c,
			       const struct chain_segment *s)
{
	const struct proof_edge e = path_last_edge(r, c, s);
	const char *what = wake_contexts_what(r->causes->contexts, &e);
	const char *name = what ? strchr(what, ':') : NULL;

	if (!what && s->state == CHAIN_SOFTIRQ) {
		fprintf(out, " waits for a softirq on CPU %d", e.cpu);
		return;
	}
	if (!name) {
		fputs(what ? " waits for a timer" : " waits for an interrupt",
		      out);
		return;
	}
	fprintf(out, " waits for %s ",
		*what == 's'   ? "softirq"
		: *what == 'd' ? "disk"
			       : "interrupt");
	safe_text_put(out, name + 1, 0, 0);
}

/* Writes `before` and the call on a descriptor in which a thread waits at a
 * time, if that is known. */
static void path_put_call(struct path_run *r, uint32_t thread, int64_t time,
			  const char *before, FILE *out)
{
	uint32_t call = path_call(r, thread, time, NULL);

	if (call <= PATH_ELSEWHERE)
		return;
	safe_text_say(out, before, intern_get(&r->details, call - 1), "");
}

/* Writes where a thread runs, and whom it wakes or where it waits next. */
static void path_say_run(struct path_run *r, FILE *out,
			 const struct path_code *code, const struct chain *c,
			 const struct chain_segment *s)
{
	struct timeline_stay stay;
	bool on = timeline_on(r->t, s->cpu, s->to - 1, &stay);
	struct proof_edge e = { .time = TIMELINE_START };

	if (s->depth)
		e = path_last_edge(r, c, s);
	fprintf(out, " runs on CPU %d", s->cpu);
	path_put_function(out, " in ",
			  path_code_in(code, r, s->thread, s->from, s->to));
	if (s->to == e.time) {
		fputs("; wakes ", out);
		path_put_thread(r, e.waiter, out);
		if (e.context == CONTEXT_INLINE) {
			/* The thread ran the softirq itself: name it. */
			const char *what =
				wake_contexts_what(r->causes->contexts, &e);
			const char *vector = what ? strchr(what, ':') : NULL;

			fputs(" through ", out);
			if (vector)
				fprintf(out, "softirq %s", vector + 1);
			else
				fputs("a softirq", out);
		}
		path_put_function(out, " in ", path_function(r, e.event));
	} else if (on && stay.to == s->to && stay.exact_to && stay.state > 0 &&
		   (stay.state & 0xff)) {
		bool in = path_put_function(
			out, "; waits in ",
			path_function(r, timeline_stay_out(&stay)));

		path_put_call(r, s->thread, s->to, in ? " in " : "; waits in ",
			      out);
	}
}

static void path_say_ready(const struct path_run *r, FILE *out,
			   const struct chain_segment *s)
{
	int32_t tid = chain_on_cpu(r->t, s);
	char *words OWNED = chain_held_words(r->proofs, r->t, s);
	struct timeline_stay at;

	fputc(' ', out);
	safe_text_put(out, words, 0, 0);
	if (s->state != CHAIN_READY || tid < 0)
		return;
	fprintf(out, "; CPU %d is ", s->cpu);
	if (tid) {
		path_put_thread(r, timeline_thread(r->t, tid), out);
		fputs("'s", out);
	} else {
		fputs("idle", out);
	}
	/* another thread had the CPU after this one */
	if (timeline_on(r->t, s->cpu, s->from, &at) && at.to < s->to)
		fputs(" at first", out);
}

/* Writes what a loss is: its id in table loss or, if it has none, words. */
static void path_say_loss(const struct timeline_loss *l, FILE *out)
{
	if (l->only_wakes)
		fprintf(out, "no wake-ups recorded yet on CPU %d", l->cpu);
	else if (l->of_task)
		fprintf(out,
			"no record of a task that records nothing, on CPU %d",
			l->cpu);
	else if (l->silent && l->cpu < 0)
		fputs("records missing without a loss", out);
	else if (l->silent)
		fprintf(out, "records missing without a loss on CPU %d",
			l->cpu);
	else if (!l->id && l->cpu < 0)
		fputs("not all CPUs were recorded", out);
	else if (!l->id && l->from == TIMELINE_START)
		fprintf(out, "before the first record of CPU %d", l->cpu);
	else if (!l->id && !path_is_between(l))
		fprintf(out, "after the last record of CPU %d", l->cpu);
	else if (!l->id)
		fprintf(out, "between two captures on CPU %d", l->cpu);
	else if (l->n >= 0)
		fprintf(out, "loss %" PRId64 " (CPU %d, %" PRId64 " record%s)",
			l->id, l->cpu, l->n, l->n == 1 ? "" : "s");
	else
		fprintf(out, "loss %" PRId64 " (CPU %d)", l->id, l->cpu);
}

/* Writes `verb` and at most two of the losses in an open segment. */
static void path_say_losses(const struct path_run *r, FILE *out,
			    const struct chain_segment *s, const char *verb)
{
	const char *partial = r->causes->partial.why;
	const struct timeline_loss *l = NULL;
	size_t n = 0;
	bool all = false;

	while (s->open &&
	       (l = timeline_next_loss_in(r->t, s->from, s->to, l))) {
		if (n++ >= 2 || all)
			continue;
		fputs(n > 1 ? ", " : verb, out);
		all = !l->id && !l->silent && partial;
		if (all)
			fputs(partial, out);
		else
			path_say_loss(l, out);
	}
	if (n > 2 && !all)
		fprintf(out, " and %zu more", n - 2);
}

static void path_say(struct path_run *r, FILE *out,
		     const struct path_code *code, const struct chain *c,
		     const struct chain_segment *s)
{
	if (s->state == CHAIN_UNKNOWN) {
		fputs("not known what ", out);
		path_put_thread(r, s->thread, out);
		fputs(" did", out);
		path_say_losses(r, out, s, ": ");
		return;
	}
	path_put_thread(r, s->thread, out);
	switch (s->state) {
	case CHAIN_RUN:
		path_say_run(r, out, code, c, s);
		return;
	case CHAIN_READY:
	case CHAIN_THROTTLED:
	case CHAIN_HELD:
		path_say_ready(r, out, s);
		return;
	case CHAIN_TIMER:
	case CHAIN_DISK:
	case CHAIN_HARDIRQ:
	case CHAIN_SOFTIRQ:
		path_say_interrupt(r, out, c, s);
		break;
	case CHAIN_IDLE:
		fputs(" waits, woken by an idle CPU", out);
		break;
	case CHAIN_SIGNAL:
		fputs(" waits, ended by a signal of ", out);
		path_put_thread(
			r, timeline_thread(r->t, path_last_edge(r, c, s).waker),
			out);
		break;
	case CHAIN_OFF:
		fputs(" is off the CPU, blocked or ready", out);
		break;
	case CHAIN_BLOCKED:
		fputs(" waits, woken by whom is not known", out);
		break;
	case CHAIN_UNBORN:
		fputs(" is not born", out);
		break;
	default:
		fputs(" has exited", out);
	}
	path_put_function(out, ": ", path_function(r, s->out));
	path_put_call(r, s->thread, s->from, " in ", out);
	if (s->state == CHAIN_BLOCKED)
		path_say_losses(r, out, s, "; ");
}

static void path_put_line(const char *why, int64_t at, int64_t ns,
			  uint32_t depth, const char *proof)
{
	size_t indent = depth * 2 < INDENT_MAX ? depth * 2 : INDENT_MAX;
	bool first = true;

	do {
		size_t columns;
		size_t n = path_fit(why, WHY_WIDTH - indent, &columns);

		if (first)
			printf("%9.1f %10.1f  ", (double)at / 1000,
			       (double)ns / 1000);
		else
			printf("%22s", "");
		printf("%*s%.*s", (int)indent, "", (int)n, why);
		if (first)
			printf("%*s %s", (int)(WHY_WIDTH - indent - columns),
			       "", proof);
		putchar('\n');
		why += n + (why[n] == ' ');
		first = false;
	} while (*why);
}

/* Returns how many lines a chain has if pieces shorter than `least` are folded,
 * and sets *ns to the time in these pieces. */
static size_t path_lines(const struct chain *c, int64_t least, int64_t *ns)
{
	size_t lines = 0;
	bool folded = false;

	*ns = 0;
	for (size_t i = 0; i < c->n; i++) {
		int64_t len = c->segment[i].to - c->segment[i].from;

		lines += len >= least || !folded;
		folded = len < least;
		*ns += folded ? len : 0;
	}
	return lines;
}

/* Prints the pieces of a chain; the shortest are folded if there are many. */
static void path_put_pieces(struct path_run *r, const struct path_opts *o,
			    const struct path_code *code, const struct chain *c,
			    int64_t start, int64_t all)
{
	int64_t least = o->least;
	int64_t more = 1000;
	int64_t time;

	while (path_lines(c, least, &time) > o->lines &&
	       more < TIMELINE_END / 2) {
		raise_to(least, more);
		more += more / 8;
	}
	size_t i = 0;

	printf("%9s %10s  %-*s %s\n", "at us", "for us", WHY_WIDTH, "why",
	       "proof");
	while (i < c->n) {
		const struct chain_segment *s = &c->segment[i];
		char *text OWNED = NULL;
		FILE *out;

		if (s->to - s->from < least) {
			/* Pieces shorter than --min in a row are one line. */
			size_t end = i;
			enum proof proof = PROOF_PROVED;
			char words[64];

			while (end < c->n &&
			       c->segment[end].to - c->segment[end].from <
				       least) {
				lower_to(proof, c->segment[end].proof);
				end++;
			}
			snprintf(words, sizeof(words), "%zu short piece%s",
				 end - i, end - i == 1 ? "" : "s");
			path_put_line(words, c->segment[i].from - start,
				      c->segment[end - 1].to -
					      c->segment[i].from,
				      0, proof_word(proof));
			i = end;
			continue;
		}
		out = mem_stream(&text, NULL);
		path_say(r, out, code, c, s);
		mem_stream_end(out);
		path_put_line(text, s->from - start, s->to - s->from, s->depth,
			      proof_word(s->proof));
		i++;
	}
	if (least > o->least)
		printf("below %s folded: %s, %s of the time; --limit 0 shows "
		       "all\n",
		       HUMAN_NS(least), HUMAN_NS(time),
		       HUMAN_PERCENT(time, all));
}

/* Returns whether a wake-up is only likely, as its softirq is not known. */
static bool path_has_open_softirq(const struct path_run *r,
				  const struct chain *c)
{
	for (size_t i = 0; i < c->n_path; i++) {
		const struct proof_edge e = proofs_edge(r->proofs, c->path[i]);

		if (e.context == CONTEXT_SOFTIRQ_UNKNOWN && e.waker > 0)
			return true;
	}
	return false;
}

static void path_put_cure(const char *cure)
{
	fputs("\nto know more: ", stdout);
	term_wrap(stdout, cure, 14, 0, LINE_WIDTH);
}

void path_put_advice(const struct path_run *r, int64_t from, int64_t to)
{
	const struct causes_partial *partial = &r->causes->partial;

	if (partial->cure)
		path_put_cure(partial->cure);
	else if (partial->why)
		return;
	else if (!(r->t->types & TIMELINE_HAS_WAKING))
		fputs("\nto know more: record sched:sched_waking too\n",
		      stdout);
	else if (path_count_losses(r, from, to).reported)
		path_put_cure(r->causes->kernel->capture->larger);
	else if (causes_premise(r->causes).cure)
		path_put_cure(causes_premise(r->causes).cure);
}

void path_head(struct path_run *r, const struct path_code *code,
	       uint32_t thread, int64_t from, int64_t to, bool own,
	       struct chain *c)
{
	path_chain(r, thread, from, to, c);
	path_put_answer(r, code, c, thread, from, to, own);
	/* the share that is proved, and on what premise */
	double all = (double)to - (double)from;
	double likely = (double)path_with(c, PROOF_LIKELY);
	double unknown = (double)path_with(c, PROOF_UNKNOWN);
	struct term_lines lines;
	FILE *out = path_lines_begin(&lines);

	fprintf(out, "%s proved",
		HUMAN_PERCENT(path_with(c, PROOF_PROVED), all));
	if (path_with(c, PROOF_PROVED))
		path_put_premise(r, c, out);
	if (likely > 0)
		fprintf(out, ", %s likely", HUMAN_PERCENT(likely, all));
	if (unknown > 0)
		fprintf(out, ", %s not known", HUMAN_PERCENT(unknown, all));
	path_put_losses(r, out, from, to);
	term_lines_end(&lines);
	putchar('\n');
}

int path_screen(struct path_run *r, const struct path_opts *o, uint32_t thread,
		int64_t from, int64_t to, struct err *err)
{
	struct chain c RELEASED_BY(chain_release) = { 0 };
	struct path_code code;

	if (path_code_load(&code, r, from, to, err)) {
		free(code.at);
		return -1;
	}
	path_head(r, &code, thread, from, to, false, &c);
	if (o->wall)
		printf("from %s\n",
		       span_text((char[SPAN_TEXT]){ 0 }, o->wall, from, to));
	path_put_pieces(r, o, &code, &c, from, to - from);
	if (!causes_premise(r->causes).cure && path_has_open_softirq(r, &c))
		path_put_cure("stacks of wake-ups with names of the kernel's "
			      "functions (--kallsyms FILE), or events irq:* "
			      "(ingested with --fields all), tell whether a "
			      "thread ran the softirq in its own call");
	else if (path_with(&c, PROOF_PROVED) < (uint64_t)to - (uint64_t)from)
		path_put_advice(r, from, to);
	free(code.at);
	return 0;
}
