/* script.h - writes the records of a fake capture as text.
 *
 *	struct fake *f[SCRIPT_CAPTURES] = { NULL };
 *	size_t n = script_play(f, "10 sample 1/5; 20 exit 1; 21 chain 1/5");
 *
 * A ';' ends a record. A record is TIME KIND ARGUMENT... OPTION=VALUE...;
 * TIME is in ns, or in seconds ("5s", "5s+1" is 1 ns more), or '-': without a
 * time, before all others. T is a thread, C a cookie, A an address (also "code"
 * and "nowhere", and these with a "+N" behind them). A cookie N@CPU is number N
 * of that processor's counter.
 *
 *	sample T/C	a sample that waits for chain C; without /C: for none
 *	hit T A		a sample in user mode, whose stack is A alone
 *	chain T/C	a deferred user stack of two addresses
 *	pair		sample and chain of thread 999 with cookie 999
 *	fork T P	P made T
 *	exit T
 *	name T		T has a new name
 *	exec T		T called exec
 *	recorder T	T is perf
 *	map T A		a mapping of 4096 bytes at A
 *	lost CPU	records were lost there; the LOST record is of this CPU
 *	out T N		T leaves its processor to N: PERF_RECORD_SWITCH
 *	in T N		T comes after N
 *	switch CPU T N	T leaves the CPU to N, still runnable
 *	sleep CPU T N	T leaves the CPU to N, asleep
 *	wakeup CPU W T	W wakes T
 *
 * Options change their record: cpu=N, pid=N, tid=N, event=N (which of the
 * capture's two), twin=N (see struct fake_rec), ip=A and ip1=A (the first and
 * second address of the stack), n=N (how many it has), len=N (of a mapping),
 * anon (the mapping is of no file), user, kernel and nonce (REC_F_*), mark and
 * direct (DEFER_*).
 *
 * In place of a record may stand a fact about the capture: per_task,
 * some_cpus, tasks_unknown, paused, options (its command line is known),
 * injected, exported (perf inject or we wrote it), overwrite, dir, no_times,
 * ftrace and lttng (the kind of its cookies), sampled (event 1 is not recorded
 * each time), trusting (its records may come out of order), cpus=N, last=N (the
 * time of its last record).
 *
 * All this is of the first capture, a; "b:" before it makes it one of the
 * second. Captures that the caller has not made are made when first named. */
#pragma once
#include "tests/unit/run.h"

#include "tests/unit/fake.h"

#define SCRIPT_CAPTURES 2
#define SCRIPT_CODE 0x400000
#define SCRIPT_NOWHERE 0x700000
#define SCRIPT_SECOND 1000000000ull
#define SCRIPT_WORDS 10

/* One record, cut into words. */
struct script_line {
	const char *text; /* for messages */
	char buf[128];
	const char *word[SCRIPT_WORDS];
	size_t n;
};

static inline void script_cut(struct script_line *l, const char *text,
			      size_t len)
{
	char *rest = l->buf;

	ck_assert_msg(len < sizeof(l->buf), "too long: %s", text);
	memcpy(l->buf, text, len);
	l->buf[len] = '\0';
	l->text = text;
	l->n = 0;
	for (char *w; (w = strsep(&rest, " \n\t"));)
		if (*w && l->n < SCRIPT_WORDS)
			l->word[l->n++] = w;
}

/* The number that w begins with; text is for the message. */
static inline uint64_t script_value(const char *w, const char *text)
{
	uint64_t base = 0;
	char *end;

	if (!strncmp(w, "code", 4)) {
		base = SCRIPT_CODE;
		w += 4;
	} else if (!strncmp(w, "nowhere", 7)) {
		base = SCRIPT_NOWHERE;
		w += 7;
	}
	if (base && !*w)
		return base;
	uint64_t n = strtoull(w, &end, 0);

	ck_assert_msg(end != w, "no number '%s' in: %s", w, text);
	if (*end == 's') {
		n *= SCRIPT_SECOND;
		n += end[1] == '+' ? strtoull(end + 2, NULL, 0) : 0;
	}
	return base + n;
}

static inline uint64_t script_number(const struct script_line *l, size_t i)
{
	ck_assert_msg(i < l->n, "a word is missing: %s", l->text);
	return script_value(l->word[i], l->text);
}

static inline int32_t script_id(const struct script_line *l, size_t i)
{
	return (int32_t)script_number(l, i);
}

static inline uint64_t script_cookie(const struct script_line *l, size_t i)
{
	const char *slash = i < l->n ? strchr(l->word[i], '/') : NULL;

	const char *at = slash ? strchr(slash, '@') : NULL;

	if (at)
		return script_value(slash + 1, l->text) << 32 |
		       (script_value(at + 1, l->text) + 1);
	return slash ? script_value(slash + 1, l->text) : 0;
}

/* "flag" or "name=value" behind a record. */
static inline void script_option(const struct script_line *l, const char *word,
				 struct fake_rec *r)
{
	const char *equals = strchr(word, '=');
	uint64_t v = equals ? script_value(equals + 1, l->text) : 0;
	struct addrs *user = r->rec.kind == REC_CHAIN ? &r->rec.chain.user
						      : &r->rec.sample.user;

	if (!strncmp(word, "by=", 3))
		r->rec.by = (int32_t)v;
	else if (!strncmp(word, "cpu=", 4))
		r->rec.cpu = (int32_t)v;
	else if (!strncmp(word, "pid=", 4))
		r->rec.pid = (int32_t)v;
	else if (!strncmp(word, "tid=", 4))
		r->rec.tid = (int32_t)v;
	else if (!strncmp(word, "event=", 6))
		r->rec.sample.event = (uint32_t)v;
	else if (!strncmp(word, "twin=", 5))
		r->twin = (uint32_t)v;
	else if (!strncmp(word, "ip=", 3))
		r->ip[0] = v;
	else if (!strncmp(word, "ip1=", 4))
		r->ip[1] = v;
	else if (!strncmp(word, "n=", 2))
		user->n = (uint32_t)v;
	else if (!strncmp(word, "len=", 4))
		r->rec.map.len = v;
	else if (!strcmp(word, "anon"))
		r->rec.map.path = "//anon";
	else if (!strcmp(word, "none")) /* PROT_NONE, MAP_PRIVATE */
		r->rec.map.flags = 2;
	else if (!strcmp(word, "user"))
		r->rec.flags |= REC_F_USER;
	else if (!strcmp(word, "kernel"))
		r->rec.flags |= REC_F_KERNEL;
	else if (!strcmp(word, "nonce"))
		r->rec.flags |= REC_F_NONCE;
	else if (!strcmp(word, "mark"))
		r->rec.sample.defer = DEFER_MARK;
	else if (!strcmp(word, "direct"))
		r->rec.sample.defer = DEFER_DIRECT;
	else
		ck_abort_msg("no option '%s': %s", word, l->text);
	if (r->rec.kind == REC_SAMPLE && !strncmp(word, "ip=", 3))
		r->rec.sample.ip = v;
	if (r->rec.kind == REC_SAMPLE && !strcmp(word, "nonce"))
		r->rec.sample.asked = -1;
}

/* A sample in user mode, whose stack is its address alone. */
static inline struct fake_rec *script_hit(struct fake *f, uint64_t time,
					  int32_t tid, uint64_t addr)
{
	struct fake_rec *s = fake_sample(f, time, tid, 0);

	s->rec.flags = REC_F_USER;
	s->rec.sample.event = 1;
	s->rec.sample.defer = DEFER_DIRECT;
	s->rec.sample.ip = s->ip[0] = addr;
	s->rec.sample.user.n = 1;
	return s;
}

/* Event 0 of a capture of the scheduler is the wakeup, event 1 the switch. */
static inline struct fake_rec *script_sched(struct fake *f, uint64_t time,
					    int32_t cpu, int32_t who,
					    struct sched s)
{
	struct fake_rec *r = fake_sample(f, time, who, 0);

	r->rec.cpu = cpu;
	r->rec.sample.event = s.kind == SCHED_SWITCH ? 1 : 0;
	r->rec.sample.sched = s;
	return r;
}

/* A PERF_RECORD_SWITCH of tid; other is the thread on the other side. */
static inline struct fake_rec *script_switch(struct fake *f, uint64_t time,
					     int32_t tid, int32_t other,
					     bool out)
{
	struct fake_rec *r =
		fake_add(f, REC_SWITCH,
			 out ? CLASS_SWITCH_OUT : CLASS_SWITCH_IN, time, tid);

	r->rec.sw.other_pid = r->rec.sw.other_tid = other;
	r->rec.flags = out ? REC_F_OUT : 0;
	return r;
}

/* A record about the scheduler; NULL: it is none. */
static inline struct fake_rec *
script_sched_record(struct fake *f, const struct script_line *l, uint64_t time)
{
	const char *kind = l->word[1];

	if (!strcmp(kind, "out") || !strcmp(kind, "in"))
		return script_switch(f, time, script_id(l, 2), script_id(l, 3),
				     *kind == 'o');
	if (!strcmp(kind, "wakeup"))
		return script_sched(
			f, time, script_id(l, 2), script_id(l, 3),
			(struct sched){ SCHED_WAKEUP, script_id(l, 4), -1, 0 });
	if (!strcmp(kind, "switch") || !strcmp(kind, "sleep"))
		return script_sched(
			f, time, script_id(l, 2), script_id(l, 3),
			(struct sched){ SCHED_SWITCH, script_id(l, 3),
					script_id(l, 4), kind[1] == 'l' });
	return NULL;
}

/* *args: words that are no options. */
static inline struct fake_rec *script_record(struct fake *f,
					     const struct script_line *l,
					     uint64_t time, size_t *args)
{
	const char *kind = l->n > 1 ? l->word[1] : "";
	struct fake_rec *r = script_sched_record(f, l, time);

	*args = r ? (kind[0] == 'o' || kind[0] == 'i' ? 4 : 5) : 3;
	if (r)
		return r;
	if (!strcmp(kind, "sample"))
		return fake_sample(f, time, script_id(l, 2),
				   script_cookie(l, 2));
	if (!strcmp(kind, "chain"))
		return fake_chain(f, time, script_id(l, 2),
				  script_cookie(l, 2));
	if (!strcmp(kind, "exit"))
		return fake_exit(f, time, script_id(l, 2));
	if (!strcmp(kind, "name") || !strcmp(kind, "exec"))
		return fake_comm(f, time, script_id(l, 2), "new",
				 kind[0] == 'e');
	if (!strcmp(kind, "recorder"))
		return fake_comm(f, time, script_id(l, 2), "perf", false);
	if (!strcmp(kind, "lost"))
		return fake_lost(f, time, script_id(l, 2), 9);
	*args = 4;
	if (!strcmp(kind, "fork"))
		return fake_fork(f, time, script_id(l, 2), script_id(l, 3));
	if (!strcmp(kind, "map"))
		return fake_map(f, time, script_id(l, 2), script_number(l, 3),
				0x1000, "/bin/app");
	if (!strcmp(kind, "hit"))
		return script_hit(f, time, script_id(l, 2),
				  script_number(l, 3));
	ck_abort_msg("no record '%s': %s", kind, l->text);
	return NULL;
}

/* What a word says about the capture; false: it says nothing. */
static inline bool script_capture(struct fake *f, const char *word)
{
	struct source_info *info = &f->src.info;

	if (!strcmp(word, "per_task")) {
		info->system_wide = TRI_NO;
	} else if (!strcmp(word, "some_cpus")) {
		info->system_wide = TRI_NO;
		info->whole_tasks = false;
	} else if (!strcmp(word, "tasks_unknown")) {
		info->system_wide = TRI_UNKNOWN;
	} else if (!strcmp(word, "paused")) {
		info->paused = true;
	} else if (!strcmp(word, "options")) {
		info->cmdline = "perf record -a";
	} else if (!strcmp(word, "injected")) {
		info->injected = true;
	} else if (!strcmp(word, "exported")) {
		info->version = "backstitch";
	} else if (!strcmp(word, "overwrite")) {
		info->overwrite = true;
	} else if (!strcmp(word, "dir")) {
		info->dir = true;
	} else if (!strcmp(word, "ftrace")) {
		info->cookies = COOKIES_FTRACE;
	} else if (!strcmp(word, "lttng")) {
		info->cookies = COOKIES_LTTNG;
	} else if (!strcmp(word, "no_times")) {
		info->has_time = false;
	} else if (!strcmp(word, "trusting")) {
		f->trusting = true;
		info->exact = false;
	} else if (!strncmp(word, "cpus=", 5)) {
		info->cpus_online = (int32_t)script_value(word + 5, word);
	} else if (!strcmp(word, "sampled")) {
		f->event[1].every = false;
		f->event[1].how = EVENT_SAMPLE;
	} else if (!strncmp(word, "last=", 5)) {
		info->last_ns = script_value(word + 5, word);
	} else {
		return false;
	}
	return true;
}

static inline void script_line(struct fake *f, const struct script_line *l)
{
	if (!l->n || (l->n == 1 && script_capture(f, l->word[0])))
		return;
	uint64_t time = *l->word[0] == '-' ? UINT64_MAX : script_number(l, 0);
	size_t args;

	if (l->n == 2 && !strcmp(l->word[1], "pair")) {
		fake_sample(f, time, 999, 999);
		fake_chain(f, time + 1, 999, 999);
		return;
	}
	struct fake_rec *r = script_record(f, l, time, &args);

	for (size_t i = args; i < l->n; i++)
		script_option(l, l->word[i], r);
}

/* Cuts the next record off *text. *source: 1 if "b:" stands before it, or 0.
 * False at the end. */
static inline bool script_next(const char **text, struct script_line *l,
			       uint16_t *source)
{
	const char *record = *text + strspn(*text, " ");
	size_t len = strcspn(record, ";");

	if (!*record)
		return false;
	*text = record + len + (record[len] == ';');
	*source = len > 1 && !strncmp(record, "b:", 2);
	script_cut(l, record + 2 * *source, len - 2 * *source);
	return true;
}

/* Adds the records of text to the captures f[SCRIPT_CAPTURES] and returns how
 * many of these there are. */
static inline size_t script_play(struct fake **f, const char *text)
{
	struct script_line l;
	uint16_t source;

	if (!f[0])
		f[0] = fake_new();
	while (script_next(&text, &l, &source)) {
		if (!f[source])
			f[source] = fake_new();
		script_line(f[source], &l);
	}
	return f[1] ? 2 : 1;
}

/* Adds the records of text to one capture. */
static inline void script_play_on(struct fake *f, const char *text)
{
	struct fake *both[SCRIPT_CAPTURES] = { f, NULL };

	ck_assert_uint_eq(script_play(both, text), 1);
}
