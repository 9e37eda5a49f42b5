/* causes_lost.c - whatever records of a schedule are lost, nothing that is
 * false is proved: a simulated machine, of which the truth is known, and every
 * single record, every pair, and random parts of its records removed.
 *
 * BACKSTITCH_SEED=n makes other schedules, BACKSTITCH_CASES=n more. */
#include "analyze/causes/chain.h"
#include "analyze/causes/proof.h"
#include "analyze/causes/timeline.h"
#include "stitch/base/mem.h"
#include "tests/unit/run.h"

#define ALL_TYPES                                                              \
	(TIMELINE_HAS_SWITCH | TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP |     \
	 TIMELINE_HAS_NEW)
#define CPUS_MOST 64
#define THREADS_MOST 200
#define RECORDS_MOST 4000
#define PARTS_MOST 4

/* What became of a record: the ring counted it, or nothing tells of it. */
enum fate {
	FATE_KEPT,
	FATE_LOST,
	FATE_MISSING
};

enum truth_state {
	TRUTH_RUN,
	TRUTH_READY,
	TRUTH_BLOCKED,
	TRUTH_UNBORN,
	TRUTH_DEAD
};

/* A time of a thread, as it was. */
struct truth {
	int64_t from, to;
	enum truth_state state;
	int32_t cpu;
	int32_t waker; /* BLOCKED: who ended it */
	enum timeline_context context;
};

struct life {
	struct truth *truth;
	size_t n, cap;
	enum truth_state state;
};

struct machine {
	uint64_t rnd;
	int32_t cpus, threads;
	int32_t current[CPUS_MOST];
	struct life life[THREADS_MOST + 1]; /* by tid */
	int32_t queue[THREADS_MOST];
	int32_t n_queue;
	int64_t now;
	struct timeline_record rec[RECORDS_MOST];
	uint8_t gone[RECORDS_MOST]; /* enum fate */
	size_t n;
	uint8_t part[RECORDS_MOST]; /* of which capture it is, from 0 on */
	uint8_t not_on[PARTS_MOST]; /* types that a capture has not */
	bool own_types; /* a record shows that its own type is on, no other */
	bool silent;
};

static uint32_t roll(struct machine *m, uint32_t n)
{
	return (uint32_t)rnd_below(&m->rnd, n);
}

/* ---- the machine */

static void become(struct machine *m, int32_t tid, enum truth_state state,
		   int32_t cpu)
{
	struct life *l = &m->life[tid];

	if (l->n)
		l->truth[l->n - 1].to = m->now;
	*mem_add(l->truth, l->n, l->cap) = (struct truth){
		.from = m->now,
		.to = TIMELINE_END,
		.state = state,
		.cpu = cpu,
		.waker = -1,
	};
	l->state = state;
}

static void record(struct machine *m, int32_t cpu, enum timeline_kind kind,
		   int32_t other, int32_t state, enum timeline_context context)
{
	must(m->n < RECORDS_MOST);
	m->rec[m->n] = (struct timeline_record){
		.time = m->now,
		.id = (int64_t)m->n + 1,
		.cpu = cpu,
		.current = m->current[cpu],
		.other = other,
		.state = state,
		.target = -1,
		.kind = (uint8_t)kind,
		.context = (uint8_t)context,
		.shows = ALL_TYPES,
	};
	m->n++;
	m->now += 1 + roll(m, 9);
}

/* The thread on a CPU leaves it, as its state says; another comes. */
static void leave(struct machine *m, int32_t cpu, enum truth_state state,
		  bool asleep)
{
	int32_t prev = m->current[cpu];
	int32_t next = 0;

	if (m->n_queue) {
		int32_t at = (int32_t)roll(m, (uint32_t)m->n_queue);

		next = m->queue[at];
		m->queue[at] = m->queue[--m->n_queue];
	}
	if (prev)
		become(m, prev, state, -1);
	if (next)
		become(m, next, TRUTH_RUN, cpu);
	if (prev && state == TRUTH_READY && !asleep)
		m->queue[m->n_queue++] = prev;
	record(m, cpu, TIMELINE_SWITCH, next,
	       state == TRUTH_DEAD ? 0x20 : asleep, CONTEXT_TASK);
	m->current[cpu] = next;
}

static int32_t pick(struct machine *m, enum truth_state state)
{
	for (int tries = 0; tries < 20; tries++) {
		int32_t tid = 1 + (int32_t)roll(m, (uint32_t)m->threads);

		if (m->life[tid].state == state)
			return tid;
	}
	return 0;
}

static int32_t cpu_of(const struct machine *m, int32_t tid)
{
	for (int32_t i = 0; i < m->cpus; i++)
		if (m->current[i] == tid)
			return i;
	return -1;
}

static void queue_thread(struct machine *m, int32_t cpu, int32_t tid,
			 enum timeline_context context)
{
	record(m, cpu, TIMELINE_WAKEUP, tid, -1, context);
	if (m->life[tid].state == TRUTH_READY)
		m->queue[m->n_queue++] = tid;
}

static void wake_one(struct machine *m, int32_t cpu)
{
	int32_t tid = pick(m, TRUTH_BLOCKED);
	enum timeline_context context =
		!m->current[cpu] || !roll(m, 4) ? CONTEXT_TIMER : CONTEXT_TASK;
	struct life *l = &m->life[tid];

	if (!tid)
		return;
	l->truth[l->n - 1].waker = m->current[cpu];
	l->truth[l->n - 1].context = context;
	become(m, tid, TRUTH_READY, -1);
	record(m, cpu, TIMELINE_WAKING, tid, -1, context);
	queue_thread(m, cpu, tid, context);
}

/* A running thread is woken: on its way to sleep, or for nothing. */
static void wake_early(struct machine *m, int32_t cpu, bool race)
{
	int32_t tid = pick(m, TRUTH_RUN);
	int32_t at = cpu_of(m, tid);

	if (!tid || at < 0 || at == cpu)
		return;
	record(m, cpu, TIMELINE_WAKING, tid, -1, CONTEXT_TASK);
	if (race)
		leave(m, at, TRUTH_READY, true);
	queue_thread(m, cpu, tid, CONTEXT_TASK);
}

static void fork_one(struct machine *m, int32_t cpu)
{
	int32_t tid = pick(m, TRUTH_UNBORN);

	if (!tid)
		return;
	become(m, tid, TRUTH_READY, -1);
	record(m, cpu, TIMELINE_NEW, tid, -1, CONTEXT_TASK);
	m->queue[m->n_queue++] = tid;
}

static void step(struct machine *m)
{
	int32_t cpu = (int32_t)roll(m, (uint32_t)m->cpus);
	uint32_t what = roll(m, 100);

	m->now += 1 + roll(m, 20);
	if (!m->current[cpu] && m->n_queue && what < 60)
		leave(m, cpu, TRUTH_READY, false);
	else if (m->current[cpu] && what < 2)
		leave(m, cpu, TRUTH_DEAD, true);
	else if (m->current[cpu] && what < 6)
		fork_one(m, cpu);
	else if (m->current[cpu] && what < 25)
		leave(m, cpu, TRUTH_BLOCKED, true);
	else if (m->current[cpu] && m->n_queue && what < 38)
		leave(m, cpu, TRUTH_READY, false);
	else if (what < 75)
		wake_one(m, cpu);
	else if (m->current[cpu] && what < 83)
		wake_early(m, cpu, what < 80);
	else
		record(m, cpu, TIMELINE_SEEN, 0, -1, CONTEXT_TASK);
}

static struct machine *machine_new(uint64_t seed, int32_t cpus, int32_t threads,
				   size_t steps)
{
	struct machine *m = mem_new(1, sizeof(*m));

	m->rnd = seed;
	m->cpus = cpus;
	m->threads = threads;
	m->now = 1000;
	for (int32_t i = 1; i <= threads; i++)
		become(m, i, i % 3 ? TRUTH_BLOCKED : TRUTH_UNBORN, -1);
	for (int32_t i = 0; i < cpus; i++)
		record(m, i, TIMELINE_SEEN, 0, -1, CONTEXT_TASK);
	for (size_t i = 0; i < steps && m->n + 8 < RECORDS_MOST; i++)
		step(m);
	for (int32_t i = 0; i < cpus && m->n < RECORDS_MOST; i++)
		record(m, i, TIMELINE_SEEN, 0, -1, CONTEXT_TASK);
	return m;
}

static void machine_free(struct machine *m)
{
	for (int32_t i = 0; i <= m->threads; i++)
		free(m->life[i].truth);
	free(m);
}

/* ---- what is left of it */

/* Adds the losses of a CPU, as its ring would report them. */
static void lose_ring(const struct machine *m, struct timeline *t, int32_t cpu)
{
	int64_t last = 0;
	int64_t n = 0;
	bool began = false;

	for (size_t i = 0; i < m->n; i++) {
		if (m->rec[i].cpu != cpu)
			continue;
		if (m->gone[i]) {
			n += m->gone[i] == FATE_LOST;
			continue;
		}
		if (n && began)
			timeline_lose(t, &(struct timeline_loss){
						 .id = 1,
						 .from = last,
						 .to = m->rec[i].time,
						 .n = n,
						 .cpu = cpu });
		began = true;
		last = m->rec[i].time;
		n = 0;
	}
}

static uint8_t own_type(const struct timeline_record *r)
{
	static const uint8_t bit[] = {
		[TIMELINE_SWITCH] = TIMELINE_HAS_SWITCH,
		[TIMELINE_WAKING] = TIMELINE_HAS_WAKING,
		[TIMELINE_WAKEUP] = TIMELINE_HAS_WAKEUP,
		[TIMELINE_NEW] = TIMELINE_HAS_NEW,
	};

	return bit[r->kind];
}

static struct timeline *make_timeline(const struct machine *m, uint8_t types)
{
	const struct timeline_rules rules = { .cpus = m->cpus };
	struct timeline *t = timeline_new(&rules);
	uint8_t part = 0;

	for (int32_t i = 0; i < m->cpus; i++)
		lose_ring(m, t, i);
	for (size_t i = 0; i < m->n; i++) {
		struct timeline_record r = m->rec[i];

		if (m->gone[i])
			continue;
		for (; part < m->part[i]; part++)
			timeline_change(t);
		r.shows &= m->own_types ? own_type(&r) : types;
		r.shows &= (uint8_t)~m->not_on[part];
		timeline_add(t, &r);
	}
	timeline_seal(t);
	return t;
}

/* ---- judging */

struct score {
	uint64_t proved, all;
};

static const struct truth *truth_at(const struct machine *m, int32_t tid,
				    int64_t time)
{
	const struct life *l = &m->life[tid];

	for (size_t i = 0; i < l->n; i++)
		if (l->truth[i].from <= time && time < l->truth[i].to)
			return &l->truth[i];
	return NULL;
}

static bool is_true(const struct proof_piece *pc, const struct truth *tr)
{
	switch (pc->state) {
	case PIECE_RUN:
		return tr->state == TRUTH_RUN && tr->cpu == pc->cpu;
	case PIECE_READY:
	case PIECE_HELD: /* these CPUs do not look for whom they could run */
		return tr->state == TRUTH_READY;
	case PIECE_BLOCKED:
		return tr->state == TRUTH_BLOCKED;
	case PIECE_OFF:
		return tr->state != TRUTH_RUN;
	case PIECE_UNBORN:
		return tr->state == TRUTH_UNBORN;
	case PIECE_DEAD:
		return tr->state == TRUTH_DEAD;
	default:
		return false;
	}
}

static bool is_same_context(enum timeline_context a, enum timeline_context b)
{
	return (a == CONTEXT_TASK) == (b == CONTEXT_TASK);
}

/* Prints what a failure is about. */
static void dump(const struct machine *m, int32_t tid)
{
	static const char *const kind[] = { "seen", "switch", "waking",
					    "wakeup", "new" };

	for (size_t i = 0; i < m->n; i++)
		fprintf(stderr, "%s%lld cpu %d: %d %s %d state %d context %d\n",
			m->gone[i] ? "-" : " ", (long long)m->rec[i].time,
			m->rec[i].cpu, m->rec[i].current, kind[m->rec[i].kind],
			m->rec[i].other, m->rec[i].state, m->rec[i].context);
	for (size_t i = 0; i < m->life[tid].n; i++)
		fprintf(stderr, "truth of %d: %lld %lld %d by %d\n", tid,
			(long long)m->life[tid].truth[i].from,
			(long long)m->life[tid].truth[i].to,
			m->life[tid].truth[i].state,
			m->life[tid].truth[i].waker);
}

static bool is_true_edge(const struct proof_edge *e, const struct truth *tr)
{
	return e->waker == tr->waker && e->from <= tr->to && e->to >= tr->to &&
	       is_same_context(e->context, tr->context);
}

static void judge_piece(const struct machine *m, struct proofs *p, int32_t tid,
			const struct proof_piece *pc, struct score *s)
{
	int64_t start = m->rec[0].time;
	/* before its birth there is no record of a thread */
	bool early = pc->state == PIECE_UNBORN && pc->from < start;
	int64_t at = early ? start : pc->from;

	if (pc->proof != PROOF_PROVED)
		return;
	must(at >= start && pc->to <= m->rec[m->n - 1].time);
	s->proved += (uint64_t)(pc->to - at);
	while (at < pc->to) {
		const struct truth *tr = truth_at(m, tid, at);
		bool by =
			pc->state == PIECE_BLOCKED && pc->link == PROOF_PROVED;
		struct proof_edge e;

		must(tr);
		if (by)
			e = proofs_edge(p, pc->edge);
		if (!is_true(pc, tr) || (by && !is_true_edge(&e, tr))) {
			dump(m, tid);
			ck_abort_msg("tid %d at %lld: state %d%s is proved, "
				     "but not true",
				     tid, (long long)at, pc->state,
				     by ? " and its waker" : "");
		}
		at = tr->to;
	}
}

static struct score judge(const struct machine *m, uint8_t types)
{
	struct timeline *t = make_timeline(m, types);
	struct proofs *p = proofs_new(t);
	struct score s = { 0 };
	/* who removes a thread without a sign deceives everybody */
	bool hidden = m->silent && !t->contradictions;

	for (uint32_t i = 0; !hidden && i < t->n_thread; i++) {
		size_t n = proofs_pieces(p, i);
		int64_t at = TIMELINE_START;

		for (size_t k = 0; k < n; k++) {
			const struct proof_piece pc = proofs_piece(p, i, k);

			must(pc.from == at && pc.to > at);
			must(proofs_find(p, i, at) == k);
			at = pc.to;
			judge_piece(m, p, timeline_tid(t, i), &pc, &s);
		}
		must(at == TIMELINE_END);
	}
	must(m->silent || !t->contradictions);
	s.all = (uint64_t)(m->rec[m->n - 1].time - m->rec[0].time) *
		(uint64_t)m->threads;
	proofs_free(p);
	timeline_free(t);
	return s;
}

/* ---- tests */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : otherwise;
}

START_TEST(without_loss_almost_all_is_proved)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct machine *m = machine_new(seed, 2, 5, 300);
		struct score s = judge(m, ALL_TYPES);

		must(s.proved * 100 > s.all * 80);
		machine_free(m);
	}
}
END_TEST

START_TEST(every_single_record_and_every_pair)
{
	struct machine *m =
		machine_new(number_of("BACKSTITCH_SEED", 7), 2, 4, 90);

	for (size_t i = 0; i < m->n; i++) {
		m->gone[i] = true;
		judge(m, ALL_TYPES);
		for (size_t k = i + 1; k < m->n; k += RUN_ELSEWHERE ? 4 : 1) {
			m->gone[k] = true;
			judge(m, ALL_TYPES);
			m->gone[k] = false;
		}
		m->gone[i] = false;
	}
	machine_free(m);
}
END_TEST

/* Singly, in bursts, on one CPU, or any of a dozen in a row. */
static void lose_some(struct machine *m)
{
	uint32_t kind = roll(m, 4);
	uint32_t share = 1 + roll(m, 60);
	uint32_t burst = kind ? 1 + roll(m, 20) : 1;
	int32_t cpu = kind == 2 ? (int32_t)roll(m, (uint32_t)m->cpus) : -1;
	uint32_t left[CPUS_MOST] = { 0 };
	uint32_t mask = 0;

	for (size_t i = 0; i < m->n; i++) {
		int32_t on = m->rec[i].cpu;

		if (kind == 3) {
			if (!roll(m, 40))
				mask = roll(m, 1 << 12);
			m->gone[i] = mask & 1 ? FATE_LOST : FATE_KEPT;
			mask >>= 1;
			continue;
		}
		if (!left[on] && (cpu < 0 || on == cpu) &&
		    roll(m, 100 * burst) < share)
			left[on] = burst;
		m->gone[i] = left[on] > 0 ? FATE_LOST : FATE_KEPT;
		left[on] -= left[on] > 0;
	}
}

/* The last records of a ring were not written. */
static void miss_tail(struct machine *m)
{
	int32_t cpu = (int32_t)roll(m, (uint32_t)m->cpus);

	for (size_t i = m->n - 1 - roll(m, (uint32_t)m->n / 2); i < m->n; i++)
		if (m->rec[i].cpu == cpu)
			m->gone[i] = FATE_MISSING;
}

/* Events are turned on CPU by CPU, and one after the other. */
static void miss_start(struct machine *m)
{
	int64_t first = m->rec[0].time;
	uint32_t span = (uint32_t)(m->rec[m->n - 1].time - first);

	for (int32_t cpu = 0; cpu < m->cpus; cpu++)
		for (uint8_t kind = 0; kind <= TIMELINE_NEW; kind++) {
			int64_t on = first + roll(m, span / 3);

			for (size_t i = 0; i < m->n; i++)
				if (m->rec[i].cpu == cpu &&
				    m->rec[i].kind == kind &&
				    m->rec[i].time < on)
					m->gone[i] = FATE_MISSING;
		}
	m->own_types = true;
}

/* From some time on, nothing is recorded in whose context one thread, or the
 * idle thread, is current. */
static void miss_thread(struct machine *m)
{
	int32_t tid = (int32_t)roll(m, (uint32_t)m->threads + 1);

	for (size_t i = roll(m, 2) ? roll(m, (uint32_t)m->n) : 0; i < m->n; i++)
		if (m->rec[i].current == tid)
			m->gone[i] = FATE_MISSING;
	m->silent = true;
}

/* Some of the records of one capture: its events are on from `from` to `to` on
 * this CPU. */
static void miss_ends(struct machine *m, uint8_t part, int32_t cpu, size_t from,
		      size_t to)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->part[i] == part && m->rec[i].cpu == cpu &&
		    (i < from || i >= to))
			m->gone[i] = FATE_MISSING;
}

/* Several captures: in each, CPUs begin and end when they like, and types may
 * not be recorded. */
static void miss_parts(struct machine *m)
{
	size_t from = 0;

	for (uint8_t part = 0; part < PARTS_MOST && from < m->n; part++) {
		size_t n = 1 + roll(m, (uint32_t)(m->n - from));
		uint8_t without = (uint8_t)(roll(m, 2) ? 2u << roll(m, 3) : 0);

		if (part + 1 == PARTS_MOST)
			n = m->n - from;
		for (size_t i = from; i < from + n; i++) {
			m->part[i] = part;
			if (own_type(&m->rec[i]) & without)
				m->gone[i] = FATE_MISSING;
		}
		m->not_on[part] = without;
		for (int32_t cpu = 0; cpu < m->cpus; cpu++)
			miss_ends(m, part, cpu, from + roll(m, 20),
				  from + n - roll(m, 20));
		from += n;
	}
}

static void remove_some(struct machine *m)
{
	uint32_t what = roll(m, 16);

	m->own_types = roll(m, 2);
	if (what)
		lose_some(m);
	if (what % 8 < 2)
		miss_tail(m);
	if (what % 4 == 1)
		miss_start(m);
	if (what % 8 == 2)
		miss_thread(m);
	if (!roll(m, 3))
		miss_parts(m);
}

/* A type that was not on has no records, and no losses. */
static void remove_type(struct machine *m, enum timeline_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->rec[i].kind != kind)
			m->rec[n++] = m->rec[i];
	m->n = n;
}

START_TEST(random_parts)
{
	uint64_t seed = number_of("BACKSTITCH_SEED", 1);
	uint64_t cases = number_of("BACKSTITCH_CASES", 2000 / RUN_FEWER);

	for (uint64_t i = 0; i < cases; i++) {
		uint64_t from = seed * 1000003 + i;
		int32_t cpus = 2 + (int32_t)(from % (i % 16 ? 4 : 62));
		int32_t threads = cpus + 1 + (int32_t)(from % 9);
		struct machine *m =
			machine_new(from, cpus, threads, 60 + from % 300);
		uint8_t types = ALL_TYPES;

		if (i % 8 == 0) {
			remove_type(m, TIMELINE_WAKING);
			types &= (uint8_t)~TIMELINE_HAS_WAKING;
		}
		if (i % 8 == 1 || i % 16 == 0) {
			remove_type(m, TIMELINE_WAKEUP);
			types &= (uint8_t)~TIMELINE_HAS_WAKEUP;
		}
		if (i % 8 == 2 || i % 16 == 0) {
			remove_type(m, TIMELINE_NEW);
			types &= (uint8_t)~TIMELINE_HAS_NEW;
		}
		remove_some(m);
		judge(m, types);
		machine_free(m);
	}
}
END_TEST

RUN("causes_lost", without_loss_almost_all_is_proved,
    every_single_record_and_every_pair, random_parts)
