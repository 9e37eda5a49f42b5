/* timed.c - reads the times in databases that do not come from samples, for a
 * comparison. */
#include "analyze/path/timed.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/limits.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/diffs/compare.h"
#include "analyze/latency/intervals.h"
#include "analyze/names/thread_names.h"
#include "analyze/path/latency_sched.h"
#include "analyze/path/path_run.h"
#include "analyze/samples/events.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/waits.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

/* How much pairs of events, and waits, vary from run to run if other programs
 * use the machine: measured waits for a CPU or a lock vary by a factor of up to
 * fifty. */
#define BETWEEN 0.3
#define BETWEEN_WAITS 1.0

/* Parts of a run that vary alike, and how much they vary from run to run, as
 * measured (tests/diffs): the share of their size, and the number of further
 * runs that this knowledge is worth. */
enum timed_group {
	GROUP_COMPUTED,
	GROUP_WAITED,
	GROUP_DISK, /* disk waits of the program's threads */
	GROUP_READY,
	GROUP_LOCK,   /* waits of other threads for locks */
	GROUP_SHARED, /* depends on other users of the CPUs */
	GROUP_QUOTA,
};

static const struct timings_group timed_usual[] = {
	[GROUP_COMPUTED] = { .usual = { 0.2, 3 } },
	[GROUP_WAITED] = { .usual = { 0.3, 2 } },
	[GROUP_DISK] = { .usual = { 0.3, 2 }, .number = { 0.15, 3 } },
	[GROUP_READY] = { .usual = { 0.45, 1.5 } },
	[GROUP_LOCK] = { .usual = { 0.4, 4 } },
	/* another program alone is no cause */
	[GROUP_SHARED] = { .usual = { 1.0, 3 }, .whole = true },
	[GROUP_QUOTA] = { .usual = { 0.45, 1.5 }, .apart = true },
};

/* A chain is made for periods with about this many stays on CPUs. */
#define WINDOW_STAYS 500000

void timed_begin(struct timed *d, const struct timed_ask *ask)
{
	bool waits = ask->what == TIMED_WAITS || ask->what == TIMED_SCHED;

	d->ask = *ask;
	d->t.parts = ask->what == TIMED_PARTS ? timed_usual : NULL;
	d->t.all_kinds = waits || d->t.parts;
	d->t.between = waits ? BETWEEN_WAITS : BETWEEN;
}

static bool timed_chooses(const struct timed *d, const struct path_run *r,
			  uint32_t thread)
{
	int64_t tid = timeline_tid(r->t, thread);

	return tid > 0 &&
	       filter_takes_thread(&d->filter, causes_pid(r->causes, tid), tid,
				   path_comm(r, thread));
}

static void timed_add(struct timed *d, const char *what, const char *of,
		      const char *by, struct timings_item item)
{
	timings_add(&d->t, (const char *const[]){ what, of, by }, item);
}

/* Adds, or counts, a pair of events if the filter selects it. */
static void timed_take(void *arg, const struct interval *i, const char *kind,
		       const char *name, const struct intervals_thread *t)
{
	struct timed *d = arg;
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int64_t at = i->begin != INTERVAL_NEVER ? i->begin : i->end;
	struct interval_range range;

	if (at < d->from || at >= d->to || i->verdict == INTERVAL_CANCELLED ||
	    !filter_takes_thread(&d->filter, t->pid, t->tid, t->comm) ||
	    (d->filter.cpu && !filter_takes_cpu(&d->filter, i->cpu)))
		return;
	if (d->counts) {
		run->per += !d->counted || !strcmp(d->counted, name);
		return;
	}
	range = interval_range(i, run->from, run->to);
	timed_add(d, kind, d->ask.no_names ? NULL : name, NULL,
		  (struct timings_item){
			  .at = i->end != INTERVAL_NEVER ? i->end : at,
			  .least = range.least,
			  .most = range.most,
			  .proved = i->verdict == INTERVAL_PROVED,
			  .cut = i->verdict == INTERVAL_BEFORE ||
				 i->verdict == INTERVAL_UNFINISHED });
}

static void timed_take_interval(void *arg, const struct interval *i)
{
	struct timed *d = arg;

	timed_take(d, i, d->iv->pair[i->pair].kind->word,
		   intern_get(&d->iv->names, i->name),
		   intervals_thread(d->iv, i->thread));
}

/* Reads or counts the pairs of events of one run. Returns 0, or -1 and *err. */
static int timed_read_pairs(struct timed *d, const char *kind, struct store *db,
			    const char *path, struct err *err)
{
	const struct intervals_ask ask = { .kind = kind, .any = true };
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int rc = -1;

	d->iv = intervals_open(db, path, &ask, err);
	if (d->iv && !d->counts) {
		run->from = d->iv->sums.first;
		run->to = d->iv->sums.last;
	}
	if (d->iv)
		rc = intervals_each(d->iv, timed_take_interval, d, err);
	intervals_close(d->iv);
	d->iv = NULL;
	return rc;
}

/* Counts the unit by which the numbers and times of a run are divided. Returns
 * 0, or -1 and *err, also if the run has none. */
static int timed_count(struct timed *d, struct store *db, const char *path,
		       struct err *err)
{
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	const char *name = strchr(d->ask.per, ':');
	char *kind OWNED =
		mem_printf("%.*s", (int)strcspn(d->ask.per, ":"), d->ask.per);
	bool pairs = latency_has_kind(kind) && !latency_sched_has(kind);
	int rc = 0;

	if (pairs) {
		d->counts = true;
		d->counted = name ? name + 1 : NULL;
		rc = timed_read_pairs(d, kind, db, path, err);
		d->counts = false;
	}
	/* irq:irq_handler_entry is an event, and no name of a kind */
	if (!rc && !run->per) {
		struct filter of = d->filter;
		struct event_row e;
		struct events *ev;

		of.event = d->ask.per;
		ev = events_open(db, &of, EVENTS_FEW, err);
		rc = ev ? 0 : -1;
		while (ev && (rc = events_next(ev, &e, err)) > 0)
			run->per += e.time >= run->from && e.time <= run->to;
		events_close(ev);
		if (pairs && err->code == ERR_USAGE)
			rc = 0;
	}
	if (!rc && !run->per)
		rc = err_set(err, ERR_USAGE,
			     "%s: has none of '%s', of what is compared: --per "
			     "needs a kind or a name of 'backstitch latency', "
			     "KIND:NAME, or an event",
			     path, d->ask.per);
	return rc;
}

/* Adds a wait: its cause, and its place or its waker. */
static void timed_take_wait(struct timed *d, struct stacks *st,
			    struct wait_causes *causes, struct labels *labels,
			    const struct offcpu_wait *w)
{
	const struct wait_place p = wait_causes_place(causes, &w->at);
	const char *shown = wait_causes_in(causes, &p);
	const char *in = p.has_in ? label_shown(labels_get(labels, p.in)) : "";
	char *place OWNED =
		p.has_caller && shown == in
			? mem_printf("%s <- %s", shown,
				     label_shown(labels_get(labels, p.caller)))
			: mem_strdup(shown);
	const char *waker = waker_is_known(&w->waker)
				    ? waker_name(st, &w->waker)
				    : "not known";
	const char *cause = wait_cause_word(offcpu_cause(causes, w));
	const char *const key[TIMINGS_KEYS] = {
		*cause ? cause : "a cause that is not known",
		d->ask.by_waker ? waker : place
	};

	/* a sum of waits does not tell their times, or their number */
	if (w->from < d->from || w->from >= d->to || w->sum || w->from >= w->to)
		return;
	timings_add(&d->t, key,
		    (struct timings_item){ .at = w->to,
					   .least = w->end == OFFCPU_UNCERTAIN
							    ? 0
							    : w->to - w->from,
					   .most = w->to - w->from,
					   .proved = w->end == OFFCPU_BACK,
					   .cut = w->end == OFFCPU_OPEN });
}

/* Reads the waits of one run. Returns 0, or -1 and *err. */
static int timed_read_waits(struct timed *d, struct store *db, const char *path,
			    struct err *err)
{
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	struct rows *q = rows_of(db, "capture_range", err);
	struct labels *labels = labels_new();
	const struct stacks_opts so = { .filter = &d->filter,
					.names = d->ask.names,
					.gaps = true,
					.labels = labels,
					.no_groups = true };
	struct stacks *st = NULL;
	int rc = -1;

	/* also the time without waits */
	if (rows_step(q)) {
		run->from = rows_int(q, CAPTURE_RANGE_FIRST_NS);
		run->to = rows_int(q, CAPTURE_RANGE_LAST_NS);
	}
	if (!rows_end(q, err))
		st = stacks_load(db, &so, err);
	if (st) {
		labels_shorten(labels, &d->ask.names);
		struct wait_causes *causes = wait_causes_new(st);
		const struct waits_ask ask = { .filter = &d->filter,
					       .stacks = st,
					       .causes = causes };
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;

		while ((rc = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				timed_take_wait(d, st, causes, labels,
						&item.wait);
		waits_close(w, NULL);
		wait_causes_free(causes);
	}
	stacks_free(st);
	labels_free(labels);
	return rc;
}

/* Adds the program's functions on the stack of a sample, each once, and the
 * innermost one even if a library's: its caller may be missing. */
static void timed_take_code(struct timed *d, const struct path_run *r,
			    uint32_t row, const struct path_code_sample *at)
{
	const struct stacks_group g = offcpu_group(&at->at);
	struct label_list l = { 0 };

	stacks_get(r->stacks, &g, &l);
	timings_add_share(&d->t, row, "", 1);
	while (l.n && labels_get(r->labels, l.label[l.n - 1])->kernel)
		l.n--;
	for (size_t i = 0; i < l.n; i++) {
		const struct label *f = labels_get(r->labels, l.label[i]);
		/* a handler returns to these, so there is one, even if its own
		 * frame is missing */
		bool handler = !strcmp(f->name, "__restore_rt") ||
			       !strcmp(f->name, "__kernel_rt_sigreturn");

		if ((handler || wait_cause_is_own(f) || i + 1 == l.n) &&
		    !any_where(i, k, l.label[k] == l.label[i]))
			timings_add_share(&d->t, row,
					  handler ? "a signal handler"
						  : label_shown(f),
					  1);
	}
	free(l.label);
}

/* The state while the parts of one recording are read. */
struct timed_parts {
	struct timed *d;
	struct path_run r;
	struct path_code code;
	struct path_locks locks;
	struct compare_program own; /* processes that do not count as others */
	/* stays of others on the CPU while a thread was ready: [0] of this
	 * program, [1] of other ones */
	struct timeline_stay *ran[2];
	size_t n[2], cap[2];
	struct limits_span *span;
	size_t n_span;
	uint64_t *throttled; /* by span: throttled ns in chains */
	int64_t from, to;
	bool ended; /* the chain's thread has ended: unknown time after it
		     * belongs to another thread with its tid */
};

static bool timed_is_own(const void *arg, int32_t tid)
{
	const struct timed_parts *p = arg;

	return compare_program_has(&p->own, causes_pid(p->r.causes, tid));
}

/* Adds ns of a segment of a chain. Returns the row's number. */
static uint32_t timed_take_part(struct timed_parts *p,
				const char *const key[TIMINGS_KEYS],
				const struct chain_segment *g, int64_t ns)
{
	bool proved = g->proof == PROOF_PROVED;
	enum timed_group group = GROUP_WAITED;

	if (g->state == CHAIN_UNKNOWN || !strcmp(key[0], TIMED_BEHIND))
		group = GROUP_SHARED;
	else if (strncmp(key[2], TIMED_LOCK, strlen(TIMED_LOCK)) == 0)
		group = GROUP_LOCK;
	else if (g->state == CHAIN_READY)
		group = GROUP_READY;
	else if (g->state == CHAIN_RUN)
		group = GROUP_COMPUTED;
	else if (g->state == CHAIN_DISK &&
		 timed_is_own(p, timeline_tid(p->r.t, g->thread)))
		group = GROUP_DISK;
	return timings_add(&p->d->t, key,
			   (struct timings_item){ .at = g->to,
						  .group = group,
						  .least = proved ? ns : 0,
						  .most = ns,
						  .proved = proved });
}

/* Adds a time in which a thread was ready, with the threads that had the CPU.
 * Time in which another program had it gets a row of its own, as this program
 * is not the cause. */
static void timed_take_ready(struct timed_parts *p,
			     const struct chain_segment *g,
			     const char *key[TIMINGS_KEYS])
{
	struct timed *d = p->d;
	const struct path_run *r = &p->r;
	int64_t ns[2] = { 0 };

	for (int64_t from = g->from, to; from < g->to; from = to) {
		struct timeline_stay on;
		bool known =
			timeline_on(r->t, g->cpu, from, &on) && on.to > from;

		to = known && on.to < g->to ? on.to : g->to;
		known = known && on.thread != TIMELINE_NONE;

		bool other = known &&
			     !timed_is_own(p, timeline_tid(r->t, on.thread));

		ns[other] += to - from;
		on.from = from;
		on.to = to;
		if (known)
			*mem_add(p->ran[other], p->n[other], p->cap[other]) =
				on;
	}
	for (int i = 0; i < 2; i++) {
		if (!ns[i])
			continue;
		key[0] = i ? TIMED_BEHIND : key[0];

		uint32_t row = timed_take_part(p, key, g, ns[i]);

		timings_add_share(&d->t, row, "", (uint64_t)ns[i]);
		for (size_t k = 0; k < p->n[i]; k++) {
			const struct timeline_stay *s = &p->ran[i][k];
			char *who = thread_names_role(path_comm(r, s->thread));

			timings_add_share(&d->t, row, who,
					  (uint64_t)(s->to - s->from));
			free(who);
		}
		p->n[i] = 0;
	}
}

/* Adds a likely throttled time to the spans between adjacent readings. */
static void timed_take_throttled(struct timed_parts *p, int64_t from,
				 int64_t to)
{
	size_t i = search_where(p->n_span, k, p->span[k].to > from);

	for (; i < p->n_span && p->span[i].from < to; i++) {
		int64_t end = to < p->span[i].to ? to : p->span[i].to;

		raise_to(from, p->span[i].from);
		/* readings of a hostile file may overlap */
		if (from >= end)
			continue;
		p->throttled[i] =
			saturating_add(p->throttled[i], (uint64_t)(end - from));
		from = end;
	}
}

/* Adds the parts of a thread's time, window by window, as the chain of a long
 * recording takes much memory. */
static void timed_take_whole(struct timed_parts *p, uint32_t thread,
			     const char *itself)
{
	int64_t windows = (int64_t)(p->r.t->stay.n / WINDOW_STAYS) + 1;
	int64_t each = (p->to - p->from) / windows + 1;
	struct chain c = { 0 };

	p->ended = false;
	for (int64_t from = p->from, to; from < p->to; from = to) {
		to = p->to - from < each ? p->to : from + each;
		path_chain(&p->r, thread, from, to, &c);
		/* in all but one of 7,687 such wake-ups with a stack, the
		 * timeout of the waiter's call woke it (without those of perf
		 * and kernel threads) */
		for (size_t i = 0; i < c.n; i++) {
			struct chain_segment *s = &c.segment[i];
			enum wait_cause for_what =
				path_interrupted(&p->r, &c, s);

			if (for_what != WAIT_FUTEX && for_what != WAIT_POLL &&
			    for_what != WAIT_SOCKET)
				continue;
			s->state = CHAIN_TIMER;
			lower_to(s->proof, PROOF_LIKELY);
		}
		/* what each thread did while this one ran or waited */
		struct path_run *r = &p->r;

		for (size_t i = 0; i < c.n; i++) {
			const struct chain_segment *g = &c.segment[i];
			int64_t lock = path_locks_on_way(&p->locks, &c, g);
			bool shared = g->state == CHAIN_READY ||
				      g->state == CHAIN_THROTTLED ||
				      g->state == CHAIN_HELD;
			char *who = thread_names_role(
				itself && g->thread == thread
					? itself
					: path_comm(r, g->thread));
			char *where =
				lock ? mem_printf(TIMED_LOCK "%s",
						  path_locks_in(r, lock))
				     : mem_strdup(shared ? ""
							 : path_function(
								   r, g->out));
			const char *key[] = { path_doing(g->state), who,
					      where };
			size_t n = 0;
			const struct path_code_sample *at = path_code_of(
				&p->code, g->thread, g->from, g->to, &n);

			if (g->state == CHAIN_THROTTLED)
				timed_take_throttled(p, g->from, g->to);
			if (g->state != CHAIN_UNKNOWN)
				p->ended = g->state == CHAIN_DEAD;
			if (g->state == CHAIN_READY) {
				timed_take_ready(p, g, key);
			} else if (itself ||
				   (g->state != CHAIN_UNBORN && !p->ended)) {
				uint32_t row = timed_take_part(p, key, g,
							       g->to - g->from);

				for (size_t k = 0;
				     g->state == CHAIN_RUN && k < n; k++)
					timed_take_code(p->d, r, row, &at[k]);
			}
			free_all(who, where);
		}
		chain_clear(&c);
	}
	chain_release(&c);
}

/* Chooses the period and the processes of the parts: the filter's threads, or
 * else the program with which the run began. Returns 0, or -1 and *err. */
static int timed_find_program(struct timed_parts *p, struct path_program *of,
			      const char *path, struct err *err)
{
	struct timed *d = p->d;
	const struct filter *f = d->ask.filter;
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int rc = path_program_find(&p->r, of, err);

	if (!rc && !d->of_threads && of->pid < 0)
		rc = err_set(err, ERR_USAGE,
			     "%s: did not begin with a program; 'backstitch "
			     "record --waits PROGRAM' does, and --comm, --pid "
			     "and --tid choose threads",
			     path);
	if (rc)
		return rc;
	if (d->of_threads) {
		timeline_span(p->r.t, &run->from, &run->to);
		rc = filter_window(f, p->r.db, &p->from, &p->to, err);
		/* before its exec, the program's thread was the recorder's */
		if (of->pid >= 0 && !f->time)
			raise_to(run->from, of->from);
		raise_to(run->from, p->from);
		lower_to(run->to, p->to);
		snprintf(d->comm, sizeof(d->comm), "%s",
			 f->comm ?: f->tid ?: f->pid);
		for (uint32_t i = 0; !rc && i < p->r.t->n_thread; i++) {
			int64_t pid = causes_pid(p->r.causes,
						 timeline_tid(p->r.t, i));

			if (timed_chooses(d, &p->r, i) &&
			    !compare_program_has(&p->own, pid))
				rc = compare_program_add(&p->own, p->r.db, pid,
							 err);
		}
	} else {
		run->from = of->from;
		run->to = of->to;
		d->filter = filter_none;
		snprintf(d->comm, sizeof(d->comm), "%s",
			 path_comm(&p->r, of->thread));
		snprintf(d->pid, sizeof(d->pid), "%" PRId64, of->pid);
		d->filter.pid = d->pid;
		rc = compare_program_add(&p->own, p->r.db, of->pid, err);
	}
	d->from = p->from = run->from;
	d->to = p->to = run->to;
	if (!d->of_threads) {
		double ns = 0;

		for (size_t i = 0; i < p->r.t->stay.n; i++) {
			struct timeline_stay s =
				timeline_stay(p->r.t, (uint32_t)i);

			raise_to(s.from, p->from);
			lower_to(s.to, p->to);
			if (s.from < s.to && s.thread != TIMELINE_NONE &&
			    !timed_is_own(p, timeline_tid(p->r.t, s.thread)))
				ns += (double)(s.to - s.from);
		}
		run->others = ns;
	}
	return rc;
}

/* Reads the parts of one run. Returns 0, or -1 and *err. */
static int timed_read_program(struct timed *d, struct store *db,
			      const char *path, struct err *err)
{
	const struct path_ask all = { .tid = -1, .pid = -1 };
	struct timed_parts p = { .d = d,
				 .r = { .ask = &all, .names = d->ask.names } };
	struct path_program of;
	int rc = path_open(&p.r, db, path, err);

	p.locks.r = &p.r;
	if (!rc)
		rc = timed_find_program(&p, &of, path, err);
	if (!rc)
		rc = path_code_load(&p.code, &p.r, p.from, p.to, err);
	if (!rc) {
		p.span = limits_spans(p.r.t->limits, timed_is_own, &p,
				      &p.n_span);
		p.throttled = mem_new(p.n_span + 1, sizeof(*p.throttled));
	}
	if (!rc && !d->of_threads)
		timed_take_whole(&p, of.thread, "itself");
	for (uint32_t i = 0; !rc && d->of_threads && i < p.r.t->n_thread; i++)
		if (timed_chooses(d, &p.r, i))
			timed_take_whole(&p, i, NULL);
	/* the throttled time that the cgroup's counter confirms: at most
	 * what it counted for all threads */
	for (size_t i = 0; i < p.n_span; i++) {
		struct timings_item item = { .at = p.span[i].to,
					     .group = GROUP_QUOTA,
					     .proved = true };
		uint64_t ns = p.throttled[i];

		lower_to(ns, (uint64_t)p.span[i].throttled);
		item.least = item.most = (int64_t)ns;
		if (item.most > 0)
			timed_add(p.d, TIMED_QUOTA, NULL, NULL, item);
	}
	free_all(p.code.at, p.own.pid, p.ran[0], p.ran[1], p.span, p.throttled);
	path_locks_release(&p.locks);
	path_close(&p.r);
	return rc;
}

/* Returns the longest time in ns for which another CPU, on which the thread
 * could have run, was idle while it was ready. cpus NULL: it may use all. */
static int64_t timed_idle(const struct path_run *r,
			  const struct proof_piece *pc, const char *cpus)
{
	int64_t most = 0;

	for (int32_t cpu = 0; cpu < (int32_t)r->t->n_ring; cpu++) {
		struct timeline_stay on;
		int64_t ns = 0;

		if (cpu == pc->cpu || (cpus && !limits_has_cpu(cpus, cpu)))
			continue;
		for (int64_t at = pc->from;
		     at < pc->to && timeline_on(r->t, cpu, at, &on) &&
		     on.to > at;
		     at = on.to)
			if (on.thread == TIMELINE_NONE)
				ns += (on.to < pc->to ? on.to : pc->to) - at;
		raise_to(most, ns);
	}
	return most;
}

/* Adds the times for which a thread was ready, the threads that preempted it,
 * and its moves to other CPUs. */
static void timed_take_thread(struct timed *d, struct path_run *r,
			      uint32_t thread)
{
	size_t n = proofs_pieces(r->proofs, thread);
	char *who = thread_names_role(path_comm(r, thread));
	int32_t cpu = -1;

	for (size_t i = 0; i < n; i++) {
		const struct proof_piece pc =
			proofs_piece(r->proofs, thread, i);
		bool proved = pc.proof == PROOF_PROVED;
		struct timings_item item = { .at = pc.to, .proved = proved };
		struct timeline_stay on;

		if (pc.from < d->from || pc.to > d->to ||
		    pc.from == TIMELINE_START || pc.to == TIMELINE_END)
			continue;
		item.most = pc.to - pc.from;
		item.least = proved ? item.most : 0;
		if (pc.state == PIECE_RUN && cpu >= 0 && pc.cpu != cpu)
			timed_add(d, "migrated", who, NULL,
				  (struct timings_item){ .at = pc.from,
							 .proved = true });
		/* the thread was runnable, so another one took its CPU */
		if (piece_is_runnable(&pc) && offcpu_state(pc.bits)[0] == 'R' &&
		    timeline_on(r->t, cpu, pc.from, &on) && on.to > pc.from &&
		    on.thread != TIMELINE_NONE) {
			char *by = thread_names_role(path_comm(r, on.thread));

			timed_add(d, "preempted", who, by, item);
			free(by);
		}
		if (piece_is_runnable(&pc))
			timed_add(d, path_doing(chain_own(&pc)), who, NULL,
				  item);
		if (pc.state == PIECE_READY) {
			const char *cpus =
				proofs_held(r->proofs, thread, &pc).cpus;

			/* without readings, the thread may not be allowed on
			 * other CPUs */
			item.proved = proved && cpus;
			item.most = timed_idle(r, &pc, cpus);
			item.least = item.proved ? item.most : 0;
			if (item.most)
				timed_add(d, "ready while another CPU was idle",
					  who, NULL, item);
		}
		if (pc.state == PIECE_RUN)
			cpu = pc.cpu;
	}
	free(who);
}

/* Reads the times of the scheduler of one run. Returns 0, or -1 and *err. */
static int timed_read_threads(struct timed *d, struct store *db,
			      const char *path, struct err *err)
{
	const struct path_ask all = { .tid = -1, .pid = -1 };
	struct path_run r = { .ask = &all, .names = d->ask.names };
	struct timings_run *run = &d->t.run[d->t.n_run - 1];
	int rc = path_open(&r, db, path, err);

	if (!rc)
		timeline_span(r.t, &run->from, &run->to);
	for (uint32_t i = 0; !rc && i < r.t->n_thread; i++) {
		if (timed_chooses(d, &r, i))
			timed_take_thread(d, &r, i);
		proofs_forget(r.proofs);
	}
	path_close(&r);
	return rc;
}

/* Chooses the threads of a run: those that the options select, or else those of
 * the program with which the run began, from its start to its end. Of chosen
 * threads, too, times count from that start. Returns 0, or -1 and *err. */
static int timed_choose(struct timed *d, struct store *db, const char *path,
			struct err *err)
{
	const struct filter *f = d->ask.filter;
	int rc = filter_window(f, db, &d->from, &d->to, err);
	bool first = d->t.n_run == 1, chosen = f->pid || f->tid || f->comm;
	struct rows *q;
	bool found;

	d->filter = *f;
	if (rc || d->ask.all || f->time || f->cpu)
		return rc;
	q = rows_of(db, "path_program", err);
	found = rows_step(q);
	if (found)
		d->from = rows_int(q, PATH_PROGRAM_T0);
	if (found && !chosen) {
		snprintf(d->pid, sizeof(d->pid), "%" PRId64,
			 rows_int(q, PATH_PROGRAM_PID));
		if (first)
			snprintf(d->comm, sizeof(d->comm), "%s",
				 rows_text(q, PATH_PROGRAM_NAME));
		d->to = rows_int_or(q, PATH_PROGRAM_T1, INT64_MAX);
		d->filter.pid = d->pid;
	}
	rc = rows_end(q, err);
	if (!rc && !first && !chosen && found != (*d->comm != '\0'))
		return err_set(err, ERR_USAGE,
			       "%s: %s with a program, as the first one %s; "
			       "choose threads with --all, --comm or --pid",
			       path, found ? "began" : "did not begin",
			       found ? "did not" : "did");
	return rc;
}

int timed_read(struct timed *d, int side, struct store *db, const char *path,
	       struct err *err)
{
	struct timings_run *run;
	bool unknown;
	int rc;

	timings_add_run(&d->t, side);
	run = &d->t.run[d->t.n_run - 1];
	rc = loss_rows_sum(db, &run->lost, &unknown, err);
	if (!rc && unknown)
		run->lost = UINT64_MAX;
	if (!rc && d->ask.what != TIMED_PARTS)
		rc = timed_choose(d, db, path, err);
	if (rc)
		return -1;
	switch (d->ask.what) {
	case TIMED_PARTS:
		d->filter = *d->ask.filter;
		d->of_threads =
			d->filter.comm || d->filter.tid || d->filter.pid;
		rc = timed_read_program(d, db, path, err);
		break;
	case TIMED_WAITS:
		rc = timed_read_waits(d, db, path, err);
		break;
	case TIMED_SCHED:
		rc = timed_read_threads(d, db, path, err);
		break;
	case TIMED_PAIRS:
		if (!d->ask.kind || !latency_sched_has(d->ask.kind)) {
			rc = timed_read_pairs(d, d->ask.kind, db, path, err);
			break;
		}
		struct latency_sched *s =
			latency_sched_open(db, path, false, err);

		if (!s)
			return -1;
		timeline_span(s->r.t, &run->from, &run->to);
		latency_sched_each(s, d->ask.kind, timed_take, d);
		latency_sched_close(s);
	}
	if (rc)
		return -1;
	/* limited to the period of the chosen threads */
	raise_to(run->from, d->from);
	lower_to(run->to, d->to);
	return d->ask.per ? timed_count(d, db, path, err) : 0;
}

bool timed_is_lock(const struct timed *d, const struct timings_row *r)
{
	return !strncmp(intern_get(&d->t.words, r->key[2]), TIMED_LOCK,
			strlen(TIMED_LOCK));
}

bool timed_is(const struct timed *d, const struct timings_row *r,
	      const char *what)
{
	return d->t.parts && !strcmp(intern_get(&d->t.words, r->key[0]), what);
}

bool timed_has_parts(struct store *db)
{
	struct err err = { 0 };
	struct rows *q = rows_of(db, "path_program", &err);
	struct causes_spans *s;
	bool has = rows_step(q);

	if (rows_end(q, &err) || !has)
		return false;
	s = causes_spans_load(db, false, &err);
	has = s && s->most;
	causes_spans_free(s);
	return has;
}
