/* rules.c - the table of rules about cause and effect in a trace.
 *
 * Rules about the scheduler are in rules_sched.c. A finding waits for the end,
 * when all losses are known and no late record can withdraw it. */
#include "stitch/audit/rules.h"

#include "stitch/audit/audit.h"
#include "stitch/fact_queue.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/tasks/task.h"

#define SECOND 1000000000ll
#define TYPE_SOFTWARE 1
#define TYPE_TRACEPOINT 2

static void audit_list_rules(uint8_t list[RULES + 1], unsigned int kind,
			     bool rare, bool settles)
{
	size_t n = 0;

	for (uint8_t i = 0; i < RULES; i++)
		if (rules[i].kinds & KIND(kind) && (rare || !rules[i].rare) &&
		    (settles || !rules[i].settles))
			list[n++] = i;
	list[n] = RULES;
}

struct audit *audit_new(struct fact_queue *out, struct losses *ls,
			struct ledger *lg)
{
	struct audit *au = mem_new(1, sizeof(*au));

	au->out = out;
	au->losses = ls;
	au->ledger = lg;
	au->rules = rules;
	for (unsigned int kind = 0; kind < 32; kind++)
		audit_list_rules(au->by_kind[kind], kind, true, true);
	audit_list_rules(au->usual, REC_SAMPLE, false, true);
	audit_list_rules(au->settled, REC_SAMPLE, false, false);
	return au;
}

void audit_free(struct audit *au)
{
	if (!au)
		return;
	for (size_t i = 0; i < au->n_src; i++) {
		free(au->src[i].cpu);
		clock_bounds_release(&au->src[i].bounds);
		for (size_t k = 0; au->src[i].exit && k < EXIT_PAGES; k++)
			free(au->src[i].exit[k]);
		free(au->src[i].exit);
	}
	free(au->src);
	for (size_t i = 0; i < RULES; i++)
		free(au->found[i].at);
	table_release(&au->holes);
	table_release(&au->bare);
	table_release(&au->odd);
	rule_sched_release(au);
	free(au);
}

void audit_source(struct audit *au, uint16_t source, const struct source *src)
{
	mem_at(au->src, au->n_src, au->cap_src, source)->src = src;
}

/* A FORK of a thread that exists, or a record of it in another process: its
 * EXIT is missing. An incarnation without any timed record proves nothing: the
 * recorder lists the threads that exist, while FORK records from before may
 * already be in the ring. */
static void rule_tid_reused(struct audit *au, const struct audit_in *in)
{
	const struct thread *b = in->before;

	if (!b || b->exit_seen || b->took_over || b->last == TIME_NONE ||
	    b->last >= in->time || in->rec->flags & REC_F_LATE ||
	    !audit_source_of(au, in)->src->info.whole_tasks)
		return;
	struct fact_finding f = audit_finding(in, RULE_TID_REUSED, b->last);
	struct audit_source *as = audit_source_of(au, in);

	f.thread = b->id;
	uint32_t i = audit_found(au, &f, skew_of_reuse(au, in, &f));

	skew_keep(as, RULE_TID_REUSED, in, i);
}

static bool rule_tid_reused_holds(struct audit *au,
				  const struct fact_finding *f, uint64_t key)
{
	return !skew_explains(au, f, key) &&
	       !skew_explains(au, f,
			      (uint64_t)saturating_apart(f->time, f->since));
}

/* key: as of rule_after_exit(). */
static bool rule_after_exit_holds(struct audit *au,
				  const struct fact_finding *f, uint64_t key)
{
	return !skew_explains(au, f, key);
}

/* Losses differ between captures, so the source is part of the key. */
static uint64_t life_key(const struct audit_in *in)
{
	return hash_pair(((uint64_t)in->rec->source << 32) | in->process,
			 (uint64_t)in->since);
}

/* A newer mapping may have split a hole. It is the same hole if it contains an
 * address that ran in the old one. */
static uint32_t find_split_hole(struct audit *au, const struct audit_in *in,
				uint64_t key)
{
	for (size_t i = 0; i < AUDIT_HOLES && i < au->n_holes; i++) {
		uint64_t addr = au->last_holes[i].addr;

		if (au->last_holes[i].life != life_key(in) || addr < in->hole ||
		    (in->hole_end && addr >= in->hole_end))
			continue;
		table_add(&au->holes, key, au->last_holes[i].found);
		return au->last_holes[i].found;
	}
	return TABLE_NONE;
}

/* One finding for each hole between mappings in which code ran. If only some
 * tasks are recorded, others may have made the mapping, unless the process
 * started during the capture. */
static void rule_map_lost(struct audit *au, const struct audit_in *in)
{
	const struct source_info *info = &audit_source_of(au, in)->src->info;
	struct audit_found_list *fd = &au->found[RULE_MAP_LOST];

	if (!in->unmapped || in->time == TIME_NONE ||
	    in->rec->flags & REC_F_LATE || !info->whole_tasks ||
	    (info->system_wide != TRI_YES && in->since == TIME_NONE))
		return;
	uint64_t key = hash_pair(life_key(in), in->hole);
	uint32_t i = table_find_hash(&au->holes, key);

	if (i == TABLE_NONE)
		i = find_split_hole(au, in, key);
	if (i != TABLE_NONE) {
		fd->at[i].f.n++;
		return;
	}
	struct fact_finding f = audit_finding(in, RULE_MAP_LOST, in->since);

	i = audit_found(au, &f, life_key(in));
	if (i == UINT32_MAX)
		return;
	table_add(&au->holes, key, i);
	uint32_t at = au->n_holes++ % AUDIT_HOLES;

	au->last_holes[at].life = life_key(in);
	au->last_holes[at].addr = in->addr;
	au->last_holes[at].found = i;
}

/* Without a loss, the mapping was never recorded: made by mremap(), shared with
 * another process, or older than the recorder's list. A process may do this
 * again, so a later loss proves nothing either. */
static bool rule_map_lost_holds(struct audit *au, const struct fact_finding *f,
				uint64_t key)
{
	bool odd = table_find_hash(&au->odd, key) != TABLE_NONE;

	if (!f->loss && !odd)
		table_add(&au->odd, key, 0);
	return f->loss && !odd;
}

/* One finding for each program. The kernel records each mapping of code, exec's
 * own included, so that without a loss the recorder or an edit took the record
 * out. Only code that ran counts: a kernel-mode sample may be that of the fault
 * at a wild address. A program with anonymous code is not judged, because
 * mremap() moves it without a record (Linux 7.2). */
static void rule_unmapped(struct audit *au, const struct audit_in *in)
{
	const struct source_info *info = &audit_source_of(au, in)->src->info;
	struct audit_found_list *fd = &au->found[RULE_UNMAPPED];

	if (!in->unmapped || !in->all_maps || in->time == TIME_NONE ||
	    in->rec->flags & REC_F_LATE || !info->whole_tasks ||
	    (in->rec->kind == REC_SAMPLE && !(in->rec->flags & REC_F_USER)))
		return;
	uint32_t i = table_find_hash(&au->bare, life_key(in));

	if (i != TABLE_NONE) {
		fd->at[i].f.n++;
		return;
	}
	struct fact_finding f = audit_finding(in, RULE_UNMAPPED, in->since);

	i = audit_found(au, &f, life_key(in));
	if (i != UINT32_MAX)
		table_add(&au->bare, life_key(in), i);
}

/* map_lost reports findings with a loss. If the clocks of CPUs differ, a sample
 * may only look older than its mapping. */
static bool rule_unmapped_holds(struct audit *au, const struct fact_finding *f,
				uint64_t key UNUSED)
{
	return !f->loss && !au->src[f->source].skew;
}

/* Thread ids rise. A thread with a higher id than one that was forked while all
 * CPUs were recorded is younger, so its FORK must have been recorded too,
 * unless the recorder listed it. (When ids start over, nothing is reported.) */
static void note_all_cpus_seen(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	struct audit_cpu *c = audit_cpu(au, in);

	if (in->time == TIME_NONE) {
		as->introduces |=
			in->rec->kind == REC_COMM || in->rec->kind == REC_FORK;
		return;
	}
	if (c && !c->seen) {
		c->seen = true;
		as->cpus_seen++;
	}
	if (in->rec->kind != REC_FORK || in->rec->tid <= 0 ||
	    as->src->info.cpus_online <= 0 ||
	    as->cpus_seen < as->src->info.cpus_online)
		return;
	as->mark_tid = in->rec->tid;
	as->mark_time = in->time;
}

/* Finds threads that must have been forked, but have no FORK record. */
static void rule_fork_lost(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	const struct thread *th = in->thread;

	if (!as->mark_tid || in->time == TIME_NONE)
		note_all_cpus_seen(au, in);
	if (in->rec->kind == REC_FORK && in->rec->tid > 0 &&
	    in->time != TIME_NONE && !(in->rec->flags & REC_F_SYNTH)) {
		/* Ids rise, except those assigned at the same time on other
		 * CPUs. A much lower id means that ids have started over. */
		uint32_t n = as->forks;
		int32_t last = as->fork[(n - 1) % AUDIT_FORKS].tid;

		if (n && in->rec->tid < last && last - in->rec->tid > 4096) {
			memset(as->fork, 0, sizeof(as->fork));
			n = 0;
		}
		as->fork[n % AUDIT_FORKS] =
			(struct audit_fork){ in->rec->tid, in->time };
		as->forks = n + 1;
	}
	if (!th || th->introduced || th->last != TIME_NONE || th->tid <= 0 ||
	    in->time == TIME_NONE || in->ended || !as->introduces)
		return;
	const struct source_info *info = &as->src->info;

	if (info->system_wide != TRI_YES || info->filtered || info->paused ||
	    in->rec->flags & REC_F_LATE)
		return;
	struct fact_finding f = audit_finding(in, RULE_FORK_LOST, 0);

	/* In another process than before, so it must have been forked. */
	if (in->before && in->before->last != TIME_NONE)
		f.since = in->before->last;
	else if (as->mark_tid && th->tid > as->mark_tid) {
		int32_t tid = th->tid;
		int64_t t = as->mark_time;

		for (size_t i = 0; i < AUDIT_FORKS; i++)
			if (as->fork[i].tid && as->fork[i].tid < tid &&
			    as->fork[i].time > t)
				t = as->fork[i].time;
		f.since = t;
	} else
		return;
	audit_found(au, &f, 0);
}

/* If a thread appears without a loss, a task that is not recorded forked it
 * (some kernels hide tasks), so other threads may have the same origin. */
static bool rule_fork_lost_holds(struct audit *au, const struct fact_finding *f,
				 uint64_t key UNUSED)
{
	struct audit_source *as = &au->src[f->source];

	as->odd_forks |= !f->loss;
	return !as->odd_forks;
}

/* Returns the entry for the last end of the record's thread id (time 0: never),
 * NULL if there is none. Only EXIT adds entries. */
static struct audit_exit *exit_time(struct audit_source *as,
				    const struct record *rec)
{
	uint32_t page = (uint32_t)rec->tid / EXIT_PAGE;

	if (rec->tid <= 0 || page >= EXIT_PAGES)
		return NULL;
	if (!as->exit && rec->kind == REC_EXIT)
		as->exit = mem_new(EXIT_PAGES, sizeof(*as->exit));
	if (!as->exit)
		return NULL;
	if (!as->exit[page] && rec->kind == REC_EXIT)
		as->exit[page] = mem_new(EXIT_PAGE, sizeof(**as->exit));
	return as->exit[page] ? &as->exit[page][rec->tid % EXIT_PAGE] : NULL;
}

/* Returns whether a living thread made the record without a FORK or a listing
 * before it. The thread that had its id before may have ended so long ago that
 * it was removed. A thread that exits runs in the kernel only, and gets no
 * cookie there (unwind_deferred_request(), Linux 7.2). */
static bool is_unannounced_life(const struct audit_in *in)
{
	const struct record *rec = in->rec;
	const struct thread *th = in->thread;

	if (!th || th->introduced || th->ended || rec->kind == REC_EXIT ||
	    (in->before && !in->before->exit_seen))
		return false;
	return rec->kind != REC_SAMPLE || rec->flags & REC_F_USER ||
	       rec->sample.defer == DEFER_COOKIE ||
	       rec->sample.defer == DEFER_MARK;
}

/* Keeps a finding about a record after its thread's EXIT at `since`. */
static void found_after_exit(struct audit *au, const struct audit_in *in,
			     int64_t since, struct audit_exit *end)
{
	struct audit_source *as = audit_source_of(au, in);
	struct fact_finding f = audit_finding(in, RULE_AFTER_EXIT, since);
	const struct audit_reuse *re =
		skew_find(as, RULE_TID_REUSED, in->rec->tid);
	int64_t by = saturating_apart(in->time, since);

	/* The EXIT that came after the FORK of the next thread. */
	if (re && re->exit == since &&
	    saturating_apart(re->exit, re->time) < by) {
		by = saturating_apart(re->exit, re->time);
		skew_note_order(as, &f, re->exit_cpu, re->time, re->exit);
	}
	if (in->ended)
		f.thread = in->ended->id;
	uint32_t i = audit_found(au, &f, (uint64_t)by);

	if (i != UINT32_MAX && end && end->time == since) {
		au->found[RULE_AFTER_EXIT].at[i].cpu[0] = end->cpu;
		end->waits = i + 1;
	}
	skew_keep(as, RULE_AFTER_EXIT, in, i);
}

/* A user-mode sample, a mapping, a name or a child of a thread after its EXIT.
 * Kernel-mode samples and chains are normal: do_exit() continues after it
 * writes the record. */
static void rule_after_exit(struct audit *au, const struct audit_in *in)
{
	const struct record *rec = in->rec;
	struct audit_source *as = audit_source_of(au, in);
	struct audit_exit *end = exit_time(as, rec);
	int64_t since = in->ended ? in->ended->end : TIME_NONE;

	if (in->time == TIME_NONE || rec->flags & REC_F_LATE ||
	    !as->src->info.whole_tasks)
		return;
	if (end && end->waits)
		skew_prove(au, in, end);
	if (rec->kind != REC_FORK)
		skew_note_life(au, in);
	if (end && !in->ended && end->time && is_unannounced_life(in))
		since = end->time;
	if (since != TIME_NONE) {
		found_after_exit(au, in, since, end);
		if (end) /* one finding for a life */
			end->time = 0;
	}
	if (rec->kind == REC_FORK) {
		skew_note_fork(au, in, end ? end->time : 0);
		skew_note_birth(au, in, end ? end->time : 0);
	}
	/* an EXIT that may only be that of the thread's events proves
	 * nothing */
	const bool exits = rec->kind == REC_EXIT &&
			   (!in->thread || in->thread->left != in->time);

	if (exits)
		skew_note_exit(au, in);
	if (end && exits)
		*end = (struct audit_exit){ in->time, rec->cpu, 0 };
	else if (end && rec->kind == REC_FORK)
		end->time = 0;
}

/* Returns whether the record got its time when it was written. LOST has the
 * time of the record that follows it, and hardware samples may wait in the
 * processor's buffer. Records of a CPU must be in one file in the order in
 * which they were written, which is not so in overwritten rings (read
 * backwards), in per-thread rings, and in merged files. */
static bool is_dated_when_written(const struct audit_source *as,
				  const struct record *rec)
{
	const struct source *src = as->src;

	if (rec->flags & REC_F_SYNTH || src->info.overwrite ||
	    src->info.overwrote || src->info.dir || src->info.injected ||
	    src->info.system_wide != TRI_YES)
		return false;
	if (rec->kind != REC_SAMPLE)
		return rec->kind != REC_LOST && rec->kind != REC_LOST_TOTAL;
	if (rec->sample.event >= src->n_events)
		return false;
	uint32_t type = src->events[rec->sample.event].type;

	return type == TYPE_SOFTWARE || type == TYPE_TRACEPOINT;
}

static void keep_higher_place(struct audit_place *a,
			      const struct audit_place *b)
{
	if (b->off > a->off)
		*a = *b;
}

/* One finding for each CPU: the first record that precedes another one which is
 * more than a second older, with the number of such records. */
static __attribute__((noinline)) void note_clock_step(struct audit *au,
						      const struct audit_in *in,
						      struct audit_cpu *c,
						      int64_t from, int64_t to)
{
	if (c->step) {
		au->found[RULE_CLOCK_STEP].at[c->step - 1].f.n++;
		return;
	}
	struct fact_finding f = audit_finding(in, RULE_CLOCK_STEP, from);

	f.time = to;
	uint32_t i = audit_found(au, &f, 0);

	if (i != UINT32_MAX)
		c->step = i + 1;
}

/* Nested handlers change the order of records in a ring by some milliseconds
 * (24 ms seen); more than a second is a step of the clock. */
static void rule_clock_step(struct audit *au, const struct audit_in *in)
{
	const struct record *rec = in->rec;
	const struct audit_source *as = audit_source_of(au, in);
	struct audit_cpu *c = audit_cpu(au, in);
	int64_t t = in->time;
	const struct audit_place here = { rec->off, t };

	if (!c || t == TIME_NONE || !is_dated_when_written(as, rec))
		return;
	if (rec->flags & REC_F_LATE) { /* read after newer records */
		if (c->newest > t && c->newest - t > SECOND)
			note_clock_step(au, in, c, t, c->newest);
		return;
	}
	c->newest = t;
	if (c->bucket == TIME_NONE)
		c->bucket = t;
	if (t - c->bucket >= SECOND) {
		keep_higher_place(&c->old, &c->prev);
		c->prev = c->now;
		c->now = (struct audit_place){ 0 };
		c->bucket = t;
	}
	keep_higher_place(&c->now, &here);
	if (rec->off < c->old.off)
		note_clock_step(au, in, c, c->old.time, t);
}

const struct rule rules[] = {
	[RULE_TID_REUSED] = {
		.name = "tid_reused",
		.proves = "the EXIT record of a thread is missing: its id "
			  "was used again",
		.kinds = KINDS_ALL,
		.rare = true,
		.late = KIND(REC_EXIT) | KIND(REC_FORK),
		.loss = RULE_LOSS_ANY,
		.fn = rule_tid_reused,
		.holds = rule_tid_reused_holds,
	},
	[RULE_MAP_LOST] = {
		.name = "map_lost",
		.proves = "a mapping record was lost: code ran that no "
			  "mapping covers",
		.kinds = KIND(REC_SAMPLE) | KIND(REC_CHAIN),
		.rare = true,
		.late = KIND(REC_MAP) | KIND(REC_FORK) | KIND(REC_COMM),
		.loss = RULE_LOSS_NEAR,
		.fn = rule_map_lost,
		.holds = rule_map_lost_holds,
	},
	[RULE_FORK_LOST] = {
		.name = "fork_lost",
		.proves = "the FORK record of a thread was lost: nothing "
			  "tells where it comes from",
		.kinds = KINDS_ALL,
		.settles = true,
		.late = KIND(REC_FORK) | KIND(REC_COMM),
		.loss = RULE_LOSS_ANY,
		.fn = rule_fork_lost,
		.holds = rule_fork_lost_holds,
	},
	[RULE_AFTER_EXIT] = {
		.name = "after_exit",
		.proves = "a thread continues after its EXIT record: the "
			  "FORK that reused its id is missing, or times are "
			  "wrong",
		.kinds = KIND(REC_SAMPLE) | KIND(REC_MAP) | KIND(REC_FORK) |
			 KIND(REC_COMM) | KIND(REC_EXIT),
		.settles = true,
		.late = KIND(REC_FORK) | KIND(REC_EXIT),
		.loss = RULE_LOSS_ANY,
		.fn = rule_after_exit,
		.holds = rule_after_exit_holds,
	},
	[RULE_SWITCH_BROKEN] = {
		.name = "switch_broken",
		.proves = "a task leaves a CPU that another one was switched "
			  "to: records between are missing, or their order is "
			  "wrong",
		.kinds = KIND(REC_SAMPLE) | KIND(REC_SWITCH) | KIND(REC_COMM) |
			 KIND(REC_MAP) | KIND(REC_FORK) | KIND(REC_EXIT),
		.rare = true,
		.late = KIND(REC_SAMPLE) | KIND(REC_SWITCH),
		.loss = RULE_LOSS_CPU,
		.fn = rule_switch,
		.holds = rule_switch_holds,
	},
	[RULE_WAKEUP_ORDER] = {
		.name = "wakeup_order",
		.proves = "the wakeup of a task precedes its sleep: the "
			  "clocks of two CPUs differ",
		.kinds = KIND(REC_SAMPLE) | KIND(REC_FORK) | KIND(REC_COMM) |
			 KIND(REC_EXIT),
		.rare = true,
		.late = KIND(REC_SAMPLE),
		.loss = RULE_LOSS_ANY,
		.fn = rule_wakeup,
		.holds = rule_wakeup_holds,
	},
	[RULE_WAKEUP_LOST] = {
		.name = "wakeup_lost",
		.proves = "the wakeup of a task is missing: it slept and "
			  "runs again",
		.kinds = 0, /* the rule before this one finds it */
		.late = KIND(REC_SAMPLE),
		.loss = RULE_LOSS_ANY,
		.holds = rule_wakeup_holds,
	},
	[RULE_DUPLICATE] = {
		.name = "duplicate",
		.proves = "the recorder wrote a record twice",
		.harmless = true,
		.kinds = 0, /* audit_record() finds it */
	},
	[RULE_CLOCK_STEP] = {
		.name = "clock_step",
		.proves = "the clock of a CPU was set back by more than a "
			  "second",
		.kinds = KINDS_ALL,
		.fn = rule_clock_step,
	},
	[RULE_UNMAPPED] = {
		.name = "unmapped",
		.proves = "a mapping record is missing, and no loss explains "
			  "it: a program ran code that no mapping covers, "
			  "though all of its mappings since exec are known",
		.kinds = KIND(REC_SAMPLE) | KIND(REC_CHAIN),
		.rare = true,
		.late = KIND(REC_MAP) | KIND(REC_FORK) | KIND(REC_COMM),
		.loss = RULE_LOSS_NEAR,
		.fn = rule_unmapped,
		.holds = rule_unmapped_holds,
	},
	[RULE_UNCOUNTED] = {
		.name = "uncounted",
		.proves = "stays in the kernel vanished: no record has their "
			  "counters, and no loss was counted",
		.kinds = 0, /* counters.c finds it */
	},
	[RULE_COOKIE_CONFLICT] = {
		.name = "cookie_conflict",
		.proves = "one cookie has two different user stacks",
		.kinds = 0, /* the join finds this rule and the next three */
	},
	[RULE_COOKIE_SHARED] = {
		.name = "cookie_shared",
		.proves = "two threads have the same cookie, which the kernel "
			  "gives to one only",
	},
	[RULE_COOKIE_REUSED] = {
		.name = "cookie_reused",
		.proves = "a cookie comes back after its stay in the kernel "
			  "was over",
	},
	[RULE_NONCE_EARLY] = {
		.name = "nonce_early",
		.proves = "a process logged the stack of a nonce before the "
			  "nonce was asked for",
	},
	[RULE_CLOCK_SKEW] = {
		.name = "clock_skew",
		.proves = "the clock of a CPU differs from that of others: "
			  "counters were seen before they were made",
		.kinds = 0, /* counters.c finds it */
	},
	[RULE_EXIT_ORDER] = {
		.name = "exit_order",
		.proves = "not proved: a thread seems to continue after its "
			  "EXIT record, on another CPU, within the time by "
			  "which clocks may differ",
		.harmless = true,
		.kinds = 0, /* what after_exit finds, if clocks may differ */
		.late = KIND(REC_FORK) | KIND(REC_EXIT),
		.loss = RULE_LOSS_ANY,
		.holds = rule_after_exit_holds,
	},
	[RULE_SWITCH_GAP] = {
		.name = "switch_gap",
		.proves = "not proved: a task leaves a CPU that another one "
			  "was switched to: what was between was filtered, or "
			  "lost without a record",
		.harmless = true,
		.kinds = 0, /* what switch_broken finds, if there may be
			     * filters of which the capture has no note */
		.late = KIND(REC_SAMPLE),
		.loss = RULE_LOSS_CPU,
	},
	[RULES] = { .name = NULL },
};

/* Returns whether rules that settle need not see a sample. */
static inline bool audit_is_settled(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	const struct thread *th = in->thread;
	const struct audit_cpu *c = audit_cpu(au, in);

	if ((c && !c->seen) || in->time == TIME_NONE || in->ended || !th ||
	    th->last == TIME_NONE || th->last == th->start)
		return false;
	const struct audit_exit *end = as->exit ? exit_time(as, in->rec) : NULL;

	return !end || (!end->waits && (!end->time || th->introduced));
}

void audit_record(struct audit *au, const struct audit_in *in)
{
	const struct record *rec = in->rec;
	const uint8_t *r = au->by_kind[rec->kind % 32u];

	if (rec->flags & REC_F_DUPLICATE) {
		struct fact_finding f =
			audit_finding(in, RULE_DUPLICATE, in->time);

		audit_found(au, &f, 0);
		return;
	}
	if (rec->flags & REC_F_LATE &&
	    (rec->kind != REC_SAMPLE || rec->sample.sched.kind != SCHED_NONE))
		audit_source_of(au, in)->late |= KIND(rec->kind);
	if (rec->kind == REC_SAMPLE && !in->before && !in->unmapped &&
	    rec->sample.sched.kind == SCHED_NONE)
		r = audit_is_settled(au, in) ? au->settled : au->usual;
	for (; *r != RULES; r++)
		rules[*r].fn(au, in);
}

/* Adds a loss of records that no recorder counted. Neither their number is
 * known, nor the thread on the CPU meanwhile. */
static void audit_add_silent(struct audit *au, const struct fact_finding *f,
			     bool counts)
{
	const struct ledger_entry e = {
		.kind = LEDGER_LOSS,
		.capture = f->source,
		.what = "silent",
		.t0 = (uint64_t)f->since,
		.t1 = (uint64_t)f->time,
		.on_line = true,
		.cpu = f->cpu,
		.event = -1,
		.counts = counts,
	};

	ledger_add(au->ledger, &e);
}

/* Outputs a finding at the end, unless a loss or late record refutes it. */
static void audit_push_finding(struct audit *au, const struct rule *r,
			       const struct audit_waiting *w)
{
	const struct audit_source *as = &au->src[w->f.source];
	const struct source_info *info = &as->src->info;
	struct fact f = { .kind = FACT_FINDING, .finding = w->f };

	if (w->dropped || as->late & r->late)
		return;
	f.finding.loss = audit_loss(au, &w->f);
	/* missing without a loss: the recorder left it out on purpose */
	if (r->loss != RULE_LOSS_NONE && !f.finding.loss &&
	    (info->filtered || info->paused)) {
		/* later users of the switches need to know about the gap */
		if (w->seat && !info->filtered)
			audit_add_silent(au, &w->f, false);
		return;
	}
	if (r->holds && !r->holds(au, &f.finding, w->key))
		return;
	if (w->f.rule == RULE_SWITCH_BROKEN && !f.finding.loss)
		audit_add_silent(au, &w->f, true);
	*fact_queue_add(au->out) = f;
}

void audit_end(struct audit *au)
{
	rule_sched_end(au);
	skew_by_order(au);
	skew_drop_cookies(au);
	for (size_t i = 0; i < RULES; i++)
		for (size_t k = 0; k < au->found[i].n; k++)
			audit_push_finding(au, &rules[i], &au->found[i].at[k]);
}
