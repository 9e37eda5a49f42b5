/* rules_sched.c - rules about the thread that runs on a CPU, and about sleep
 * and wakeups.
 *
 * The rules need every switch of every task on all CPUs; those for wakeups also
 * need every wakeup. Scheduler events and SWITCH records contain the same facts
 * and are followed separately. */
#include "stitch/audit/rule.h"

#include "stitch/audit/audit.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

/* ns before a sleep in which a wakeup may be the one that ends it, if the
 * clocks of two CPUs differ. An earlier one had another purpose. */
#define SKEW_MAX 100000000
/* At most one switch in this many may break without a loss; more are the effect
 * of a filter on the event, of which the capture has no note. */
#define BREAKS_MAX 20

static uint64_t sched_task_key(uint16_t source, int32_t tid)
{
	return hash_u64((uint64_t)source << 32 | (uint32_t)tid);
}

static struct audit_task *sched_task_find(struct audit *au, uint16_t source,
					  int32_t tid)
{
	uint32_t i = table_find_hash(&au->tasks, sched_task_key(source, tid));

	return i == TABLE_NONE ? NULL : &au->task[i];
}

/* Returns the task with this id, and adds it if it is new. */
static struct audit_task *sched_task_get(struct audit *au, uint16_t source,
					 int32_t tid)
{
	struct audit_task *t = sched_task_find(au, source, tid);

	if (t)
		return t;
	uint32_t i = mem_reuse(au->task, au->n_task, au->cap_task,
			       au->free_task, au->n_free);
	au->task[i] = (struct audit_task){
		.source = source,
		.tid = tid,
		.slept = TIME_NONE,
		.roused = TIME_NONE,
	};
	table_add(&au->tasks, sched_task_key(source, tid), i);
	return &au->task[i];
}

static void sched_task_drop(struct audit *au, struct audit_task *t)
{
	uint32_t i = (uint32_t)(t - au->task);

	table_remove(&au->tasks, sched_task_key(t->source, t->tid), i);
	*mem_add(au->free_task, au->n_free, au->cap_free) = i;
}

void rule_sched_release(struct audit *au)
{
	free_all(au->task, au->free_task);
	table_release(&au->tasks);
	table_release(&au->wrote);
}

/* Linux 5.10 to 6.15 may report a task as asleep that continues at once because
 * of a signal: trace_sched_switch() got the state from before the check, until
 * 8feb053d5319 in 6.16. */
static bool reports_real_sleep(const char *release)
{
	int major, minor;

	if (!release || sscanf(release, "%d.%d", &major, &minor) != 2)
		return false;
	if (major == 5)
		return minor < 10;
	return major < 5 || major > 6 || minor >= 16;
}

/* Returns whether the capture was meant to have every record: its command line
 * is known, and no option leaves any out. perf inject and our own export leave
 * out records that the command line had asked for. A command line without any
 * option was not kept whole. */
static bool leaves_nothing_out(const struct audit_source *as)
{
	const struct source_info *info = &as->src->info;

	return info->system_wide == TRI_YES && !info->filtered &&
	       !info->paused && !info->injected && info->cmdline &&
	       strstr(info->cmdline, " -") &&
	       !(info->version && !strcmp(info->version, "backstitch"));
}

/* Follows the event of the first switch from now on. A capture may have several
 * such events, each with all switches. */
static void follow_switch_event(struct audit_source *as, uint32_t event)
{
	const struct source *src = as->src;

	as->switch_event = event + 1;
	if (src->info.system_wide != TRI_YES ||
	    !reports_real_sleep(src->info.release))
		return;
	for (uint32_t i = 0; i < src->n_events; i++)
		as->wakeups |= src->events[i].sched == SCHED_WAKEUP &&
			       src->events[i].every;
}

/* Returns the rule about switches that do not fit together. ftrace and LTTng
 * can leave out tasks and switches without a note in the capture, so theirs
 * prove no loss. */
static enum rule_number switch_rule(const struct source_info *info)
{
	return info->system_wide == TRI_YES ? RULE_SWITCH_BROKEN
					    : RULE_SWITCH_GAP;
}

/* Returns whether this is a scheduler event to rely on. */
static bool is_reliable_sched(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	const struct record *rec = in->rec;
	const struct source *src = as->src;

	if (rec->kind != REC_SAMPLE || rec->sample.sched.kind == SCHED_NONE ||
	    src->info.system_wide == TRI_NO || in->time == TIME_NONE ||
	    rec->flags & REC_F_LATE || rec->cpu < 0 ||
	    rec->sample.event >= src->n_events)
		return false;
	const struct event_def *def = &src->events[rec->sample.event];

	if (switch_rule(&src->info) == RULE_SWITCH_BROKEN
		    ? !def->every
		    : def->how != EVENT_COUNT)
		return false;
	if (rec->sample.sched.kind != SCHED_SWITCH)
		return true;
	if (!as->switch_event)
		follow_switch_event(as, rec->sample.event);
	if (rec->sample.event != as->switch_event - 1)
		return false;
	/* An unhashed task has tid -1. */
	if (rec->tid >= 0 && rec->tid != rec->sample.sched.tid)
		as->other_ids = true;
	return true;
}

/* Returns a key for the thread that leaves a CPU, by kind of record; each CPU
 * has its own idle task. */
static uint64_t wrote_key(const struct audit_in *in, int32_t tid)
{
	uint64_t who = tid ? (uint32_t)tid
			   : UINT64_C(1) << 32 | (uint32_t)in->rec->cpu;

	return hash_u64((uint64_t)in->rec->source << 40 |
			(uint64_t)(in->rec->kind == REC_SWITCH) << 39 | who);
}

static void note_wrote(struct audit *au, uint64_t key, int32_t pid)
{
	uint32_t was = table_find_hash(&au->wrote, key);

	if (pid < 0) /* an unhashed task: use any value that is no pid */
		pid = was == TABLE_NONE ? INT32_MAX : (int32_t)was;
	if (was == (uint32_t)pid)
		return;
	if (was != TABLE_NONE)
		table_remove(&au->wrote, key, was);
	table_add(&au->wrote, key, (uint32_t)pid);
}

/* Returns whether the thread that leaves may be the one that came under another
 * id: a thread that calls exec takes over the id of its leader while it
 * runs. */
static bool may_leave_by_exec(const struct audit *au, const struct record *rec,
			      int32_t tid, uint64_t came)
{
	uint32_t pid = table_find_hash(&au->wrote, came);

	return rec->pid == rec->tid &&
	       (pid == TABLE_NONE || pid == (uint32_t)tid);
}

/* Takes a switch from tid to next on a CPU. If the clock is coarse, records of
 * equal times have no order. */
static void switch_out(struct audit *au, const struct audit_in *in,
		       struct audit_runs *on, int32_t tid, int32_t next)
{
	uint64_t key = wrote_key(in, on->tid);
	int64_t since = on->since;
	bool broken =
		on->tid >= 0 && tid >= 0 && on->tid != tid && in->time > since;

	*on = (struct audit_runs){ next, in->time };
	if (!broken)
		return;
	enum rule_number rule =
		switch_rule(&audit_source_of(au, in)->src->info);
	struct fact_finding f = audit_finding(in, rule, since);
	uint32_t i = audit_found(au, &f, key);

	if (i != UINT32_MAX && may_leave_by_exec(au, in->rec, tid, key))
		sched_task_get(au, in->rec->source, tid)
			->suspect[in->rec->kind == REC_SWITCH] = i + 1;
}

/* Drops findings that an exec explains: its thread may continue under another
 * id, and may have been switched out under it before the COMM record. */
static void drop_exec_suspects(struct audit *au, const struct audit_in *in)
{
	struct audit_task *t =
		sched_task_find(au, in->rec->source, in->rec->tid);
	struct audit_cpu *c = audit_cpu(au, in);
	struct audit_found_list *fd =
		&au->found[switch_rule(&audit_source_of(au, in)->src->info)];

	for (size_t i = 0; t && i < 2; i++) {
		if (t->suspect[i])
			fd->at[t->suspect[i] - 1].dropped = true;
		t->suspect[i] = 0;
	}
	if (c && c->event.tid != in->rec->tid)
		c->event.tid = -1;
	if (c && c->record.tid != in->rec->tid)
		c->record.tid = -1;
}

/* Checks that the thread of a record is the one that the last switch brought.
 * Threads write these records themselves, and never in the middle of a switch.
 * perf turns such events on before the switches, and off after them, so a
 * finding needs a switch before the record and one after it. */
static void check_seat(struct audit *au, const struct audit_in *in)
{
	const struct audit_source *as = audit_source_of(au, in);
	const struct record *rec = in->rec;
	struct fact_finding f;

	if (!as->switch_event || as->other_ids || rec->by <= 0 ||
	    as->src->info.system_wide != TRI_YES || in->time == TIME_NONE ||
	    rec->flags & (REC_F_LATE | REC_F_SYNTH))
		return;
	struct audit_cpu *c = audit_cpu(au, in);
	if (!c || c->event.tid < 0 || c->event.tid == rec->by || c->seat ||
	    in->time <= c->event.since)
		return;
	f = audit_finding(in, RULE_SWITCH_BROKEN, c->event.since);
	c->seat = 1 + audit_found(au, &f, wrote_key(in, c->event.tid));
	c->event = (struct audit_runs){ rec->by, in->time };
	if (c->seat)
		au->found[f.rule].at[c->seat - 1].dropped = true;
}

void rule_switch(struct audit *au, const struct audit_in *in)
{
	const struct audit_source *as = audit_source_of(au, in);
	const struct record *rec = in->rec;
	const struct source_info *info = &as->src->info;
	struct audit_cpu *c;

	if (rec->kind == REC_SAMPLE) {
		const struct sched *s = &rec->sample.sched;

		if (s->kind != SCHED_SWITCH || !is_reliable_sched(au, in))
			return;
		audit_source_of(au, in)->switches++;
		note_wrote(au, wrote_key(in, s->tid), rec->pid);
		c = audit_cpu(au, in);
		if (!c)
			return;
		/* This switch completes the proof that one before the record is
		 * missing. */
		if (c->seat) {
			struct audit_waiting *w =
				&au->found[RULE_SWITCH_BROKEN].at[c->seat - 1];
			w->dropped = false;
			w->seat = true;
			c->seat = 0;
		}
		switch_out(au, in, &c->event, s->tid, s->next_tid);
		return;
	}
	if (rec->kind == REC_COMM) {
		if (rec->flags & REC_F_EXEC)
			drop_exec_suspects(au, in);
		else
			check_seat(au, in);
		return;
	}
	if (rec->kind != REC_SWITCH) {
		check_seat(au, in);
		return;
	}
	if (info->system_wide != TRI_YES || info->filtered || info->paused ||
	    in->time == TIME_NONE || rec->flags & REC_F_LATE)
		return;
	c = audit_cpu(au, in);
	if (!c)
		return;
	/* For a switch, perf writes one SWITCH record for the thread that
	 * leaves and one for the thread that comes. */
	audit_source_of(au, in)->switches++;
	if (rec->flags & REC_F_OUT)
		note_wrote(au, wrote_key(in, rec->tid), rec->pid);
	switch_out(au, in, &c->record, rec->tid,
		   rec->flags & REC_F_OUT ? rec->sw.other_tid : rec->tid);
}

/* Returns whether the task `key`, which should have left, was recorded as
 * leaving at another time. Some tasks are never recorded: perf with
 * --exclude-perf, those that ftrace leaves out and, on some machines, the idle
 * task of a CPU and threads for which perf's guard against recursion stays
 * taken (Linux 6.18). It is no loss if they were left out on purpose. */
static bool is_known_to_leave(const struct audit *au, uint64_t key)
{
	return table_find_hash(&au->wrote, key) != TABLE_NONE;
}

bool rule_switch_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key)
{
	const struct audit_source *as = &au->src[f->source];

	return leaves_nothing_out(as) ||
	       (is_known_to_leave(au, key) && !as->odd_switches);
}

static void task_sleeps(struct audit *au, const struct audit_in *in,
			int32_t tid)
{
	struct audit_task *t = sched_task_get(au, in->rec->source, tid);

	if (t->dying) {
		sched_task_drop(au, t);
		return;
	}
	if (t->roused != TIME_NONE && in->time - t->roused > SKEW_MAX)
		t->roused = TIME_NONE;
	t->asleep = true;
	t->woken = false;
	t->slept = in->time;
}

/* Takes a task that comes to a CPU: it must have been woken if it slept. */
static void task_runs_again(struct audit *au, const struct audit_in *in,
			    int32_t tid)
{
	struct audit_task *t = sched_task_find(au, in->rec->source, tid);
	struct fact_finding f;

	if (!t)
		return;
	if (t->asleep && !t->woken) {
		bool early = t->roused != TIME_NONE;

		f = audit_finding(in,
				  early ? RULE_WAKEUP_ORDER : RULE_WAKEUP_LOST,
				  t->slept);
		/* the record belongs to the thread that ran before */
		f.thread = 0;
		audit_found(au, &f, t->recorder);
	}
	t->asleep = t->woken = false;
	t->roused = TIME_NONE;
}

/* Marks threads of perf. perf wakes its own reader while its guard against
 * recursion is taken, so that the wakeup is not recorded. Threads inherit the
 * name of their creator. */
static void note_recorder(struct audit *au, const struct record *rec)
{
	static const char *const names[] = { "perf", "simpleperf" };
	const struct audit_task *parent;

	if (rec->kind == REC_FORK) {
		parent = sched_task_find(au, rec->source, rec->fork.ptid);
		if (parent && parent->recorder)
			sched_task_get(au, rec->source, rec->tid)->recorder =
				true;
		return;
	}
	struct audit_task *t = sched_task_find(au, rec->source, rec->tid);
	bool is = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		is |= rec->comm.name &&
		      !strncmp(rec->comm.name, names[i], strlen(names[i]));
	if (is && !t)
		t = sched_task_get(au, rec->source, rec->tid);
	if (t)
		t->recorder = is;
}

void rule_wakeup(struct audit *au, const struct audit_in *in)
{
	const struct record *rec = in->rec;
	const struct sched *s = &rec->sample.sched;
	struct audit_task *t;

	if (rec->kind != REC_SAMPLE) {
		t = sched_task_find(au, rec->source, rec->tid);
		if (t && rec->kind == REC_EXIT)
			t->dying = true;
		else if (t && rec->kind == REC_FORK &&
			 !(rec->flags & REC_F_SYNTH))
			sched_task_drop(au, t);
		if (rec->kind != REC_EXIT)
			note_recorder(au, rec);
		return;
	}
	if (s->kind == SCHED_NONE || !is_reliable_sched(au, in))
		return;
	if (!audit_source_of(au, in)->wakeups)
		return;
	if (s->kind != SCHED_SWITCH) {
		struct audit_cpu *c = audit_cpu(au, in);

		if (c && s->kind == SCHED_WAKEUP) {
			if (c->first == TIME_NONE)
				c->first = in->time;
			c->last = in->time;
		}
		t = sched_task_find(au, rec->source, s->tid);
		if (t && t->asleep)
			t->woken = true;
		else if (t)
			t->roused = in->time;
		return;
	}
	/* 0: idle tasks, which do not sleep */
	if (s->sleeps && s->tid > 0)
		task_sleeps(au, in, s->tid);
	else if (s->tid > 0)
		sched_task_get(au, rec->source, s->tid)->asleep = false;
	if (s->next_tid > 0)
		task_runs_again(au, in, s->next_tid);
}

/* Finds the time in which wakeups of all CPUs were recorded. perf starts and
 * stops its events CPU by CPU, and on each in the order of the options, so at
 * both ends wakeups of some CPUs are missing without a loss. */
static void find_full_range(struct audit_source *as)
{
	int32_t n = 0;

	as->from = INT64_MIN;
	as->to = INT64_MAX;
	for (size_t i = 0; i < as->n_cpu; i++) {
		const struct audit_cpu *c = &as->cpu[i];

		if (c->first == TIME_NONE)
			continue;
		n++;
		raise_to(as->from, c->first);
		lower_to(as->to, c->last);
	}
	if (as->src && n < as->src->info.cpus_online)
		as->to = INT64_MIN;
}

static bool is_in_full_range(const struct audit_source *as,
			     const struct fact_finding *f)
{
	return f->since >= as->from && f->time <= as->to;
}

void rule_sched_end(struct audit *au)
{
	const struct audit_found_list *sw = &au->found[RULE_SWITCH_BROKEN];
	const struct audit_found_list *wk = &au->found[RULE_WAKEUP_LOST];

	for (size_t i = 0; i < au->n_src; i++)
		find_full_range(&au->src[i]);
	/* Find what is missing without a loss. The kernel silently drops a
	 * tracepoint hit inside another one. */
	for (size_t i = 0; i < sw->n; i++) {
		const struct audit_waiting *w = &sw->at[i];
		struct audit_source *as = &au->src[w->f.source];

		if (!w->dropped &&
		    (leaves_nothing_out(as) || is_known_to_leave(au, w->key)) &&
		    !audit_loss(au, &w->f))
			as->breaks += w->f.n;
		as->odd_switches = as->breaks > as->switches / BREAKS_MAX;
	}
	for (size_t i = 0; i < wk->n; i++) {
		struct audit_source *as = &au->src[wk->at[i].f.source];

		as->odd_wakeups |= is_in_full_range(as, &wk->at[i].f) &&
				   !wk->at[i].key &&
				   !audit_loss(au, &wk->at[i].f);
	}
}

bool rule_wakeup_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key)
{
	const struct audit_source *as = &au->src[f->source];

	if (as->other_ids || !is_in_full_range(as, f) || key)
		return false;
	/* a wakeup that is missing without a loss did not provably happen at
	 * another time */
	if (f->rule == RULE_WAKEUP_ORDER)
		return !as->odd_wakeups && !as->breaks;
	return leaves_nothing_out(as) || !as->odd_wakeups;
}
