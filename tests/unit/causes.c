/* causes.c - what is proved of waits: schedules made by hand, in which a proof
 * holds or must fall, and schedules of a simulated machine with known truth
 * from which records are removed. */
#include "analyze/causes/account.h"
#include "analyze/causes/chain.h"
#include "analyze/causes/idle.h"
#include "analyze/causes/missing.h"
#include "analyze/causes/proof.h"
#include "analyze/causes/timeline.h"
#include "stitch/base/mem.h"
#include "stitch/task_state.h"
#include "tests/unit/run.h"

enum {
	A = 11,
	B = 12,
	C = 13,
	D = 14
};
enum {
	R = 0,
	S = 1
};

#define SHOWN (TIMELINE_HAS_SWITCH | TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP)

/* A schedule that is being made. */
struct made {
	struct timeline *t;
	struct proofs *p;
	uint8_t shows, ended;
	int64_t id;
};

static struct made schedule_new(struct timeline_rules rules)
{
	return (struct made){ .t = timeline_new(&rules), .shows = SHOWN };
}

static const struct timeline_rules two_cpus = { .cpus = 2 };

static void made_free(struct made *m)
{
	proofs_free(m->p);
	timeline_free(m->t);
}

static void add(struct made *m, struct timeline_record r)
{
	r.id = ++m->id;
	r.shows = m->shows;
	r.ended = m->ended;
	timeline_add(m->t, &r);
}

static void switched(struct made *m, int32_t cpu, int64_t time, int32_t prev,
		     int32_t state, int32_t next)
{
	add(m, (struct timeline_record){ .time = time,
					 .cpu = cpu,
					 .current = prev,
					 .other = next,
					 .state = state,
					 .kind = TIMELINE_SWITCH });
}

/* A record of a switch: `tid` leaves for `next`, */
static void leaves(struct made *m, int32_t cpu, int64_t time, int32_t tid,
		   int32_t state, int32_t next)
{
	add(m, (struct timeline_record){ .time = time,
					 .cpu = cpu,
					 .current = tid,
					 .other = next,
					 .state = state,
					 .kind = TIMELINE_LEAVE });
}

/* or comes. */
static void comes(struct made *m, int32_t cpu, int64_t time, int32_t tid)
{
	add(m, (struct timeline_record){ .time = time,
					 .cpu = cpu,
					 .current = tid,
					 .other = -1,
					 .state = -1,
					 .kind = TIMELINE_COME });
}

static void woke_in(struct made *m, int32_t cpu, int64_t time, int32_t current,
		    int32_t woken, enum timeline_kind kind,
		    enum timeline_context context)
{
	add(m, (struct timeline_record){ .time = time,
					 .cpu = cpu,
					 .current = current,
					 .other = woken,
					 .target = 0,
					 .kind = (uint8_t)kind,
					 .context = (uint8_t)context });
}

/* sched_waking */
static void woke(struct made *m, int32_t cpu, int64_t time, int32_t current,
		 int32_t woken)
{
	woke_in(m, cpu, time, current, woken, TIMELINE_WAKING, CONTEXT_TASK);
}

/* sched_wakeup */
static void queued(struct made *m, int32_t cpu, int64_t time, int32_t current,
		   int32_t woken)
{
	woke_in(m, cpu, time, current, woken, TIMELINE_WAKEUP, CONTEXT_TASK);
}

static void seen(struct made *m, int32_t cpu, int64_t time, int32_t current)
{
	add(m, (struct timeline_record){ .time = time,
					 .cpu = cpu,
					 .current = current,
					 .kind = TIMELINE_SEEN });
}

static void lose(struct made *m, int32_t cpu, int64_t from, int64_t to,
		 int64_t n)
{
	timeline_lose(
		m->t,
		&(struct timeline_loss){
			.id = 1, .cpu = cpu, .from = from, .to = to, .n = n });
}

/* Both CPUs have records from 0 to 1000. */
static void ends(struct made *m, int32_t on0, int32_t on1)
{
	seen(m, 0, 1000, on0);
	seen(m, 1, 1000, on1);
	timeline_seal(m->t);
	m->p = proofs_new(m->t);
}

static struct proof_piece piece_at(struct made *m, int32_t tid, int64_t time)
{
	uint32_t thread = timeline_thread(m->t, tid);
	size_t i = proofs_find(m->p, thread, time);
	struct proof_piece pc;

	ck_assert_uint_lt(i, proofs_pieces(m->p, thread));
	pc = proofs_piece(m->p, thread, i);
	ck_assert(pc.from <= time && time < pc.to);
	return pc;
}

#define check_state(m, tid, time, want_state, want_proof)                      \
	do {                                                                   \
		const struct proof_piece pc_ = piece_at(m, tid, time);         \
		ck_assert_int_eq(pc_.state, want_state);                       \
		ck_assert_int_eq(pc_.proof, want_proof);                       \
	} while (0)

/* Whether who ended the wait at that time is proved, and is `waker`. */
static bool is_by(struct made *m, int32_t tid, int64_t time, int32_t waker)
{
	const struct proof_piece pc = piece_at(m, tid, time);

	return pc.edge != TIMELINE_NONE && pc.link == PROOF_PROVED &&
	       proofs_edge(m->p, pc.edge).waker == waker;
}

static void proof_is_unknown_or_less(struct made *m, int32_t tid, int64_t time)
{
	ck_assert_int_ne(piece_at(m, tid, time).proof, PROOF_PROVED);
}

/* ---- whole schedules */

/* A sleeps at 100 and is back on CPU 0 at 300; B wakes it at 200. */
static struct made simple(void)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	woke(&m, 1, 200, B, A);
	queued(&m, 1, 205, B, A);
	switched(&m, 0, 300, 0, R, A);
	return m;
}

START_TEST(a_wait_has_its_waker)
{
	struct made m = simple();

	ends(&m, A, B);
	check_state(&m, A, 50, PIECE_RUN, PROOF_PROVED);
	check_state(&m, A, 150, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 150, B));
	check_state(&m, A, 250, PIECE_READY, PROOF_PROVED);
	check_state(&m, A, 350, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_chain_goes_to_the_waker_and_covers_all)
{
	struct made m = simple();
	struct chain c = { 0 };
	struct chain_ask ask = { .from = 50, .to = 350 };

	ends(&m, A, B);
	ask.thread = timeline_thread(m.t, A);
	chain_walk(&c, m.p, m.t, &ask);
	ck_assert_uint_eq(c.n, 4);
	ck_assert_int_eq(timeline_tid(m.t, c.segment[1].thread), B);
	ck_assert_int_eq(c.segment[1].state, CHAIN_RUN);
	ck_assert_int_eq(c.segment[1].from, 100);
	ck_assert_int_eq(c.segment[1].to, 200);
	ck_assert_uint_eq(c.segment[1].depth, 1);
	ck_assert_int_eq(c.segment[3].to, 350);
	chain_release(&c);
	made_free(&m);
}
END_TEST

/* ---- records of switches: two of each, without a state */

/* The wait of simple(); A leaves with this tid, and of what comes behind it one
 * record is left out. */
static struct made by_records(int32_t tid, int without)
{
	struct made m = schedule_new(two_cpus);

	comes(&m, 1, 5, B);
	comes(&m, 0, 10, A);
	leaves(&m, 0, 100, tid, -1, 0);
	if (without != 1)
		comes(&m, 0, 102, 0);
	woke(&m, 1, 200, B, A);
	if (without != 2)
		leaves(&m, 0, 298, 0, 0, A);
	if (without != 3)
		comes(&m, 0, 300, A);
	ends(&m, A, B);
	return m;
}

START_TEST(records_of_switches_tell_what_sched_switch_does)
{
	struct made m = by_records(A, 0);

	check_state(&m, A, 50, PIECE_RUN, PROOF_PROVED);
	check_state(&m, A, 101, PIECE_BLOCKED, PROOF_PROVED);
	check_state(&m, A, 150, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 150, B));
	check_state(&m, A, 250, PIECE_READY, PROOF_PROVED);
	check_state(&m, A, 350, PIECE_RUN, PROOF_PROVED);
	ck_assert_int_eq(piece_at(&m, A, 350).from, 300);
	ck_assert_uint_eq(m.t->contradictions, 0);
	made_free(&m);
}
END_TEST

START_TEST(a_thread_that_leaves_ready_is_ready)
{
	struct made m = schedule_new(two_cpus);

	comes(&m, 1, 5, 0);
	comes(&m, 0, 10, A);
	leaves(&m, 0, 100, A, R, C);
	comes(&m, 0, 101, C);
	leaves(&m, 0, 300, C, -1, A);
	comes(&m, 0, 301, A);
	ends(&m, A, 0);
	check_state(&m, A, 150, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

/* Before Linux 5.14 it may have been preempted on its way to sleep. */
START_TEST(a_thread_that_leaves_unmarked_may_be_ready)
{
	for (int unmarked = 0; unmarked < 2; unmarked++) {
		struct made m = schedule_new((struct timeline_rules){
			.cpus = 2, .unmarked = unmarked });

		comes(&m, 1, 5, B);
		comes(&m, 0, 10, A);
		leaves(&m, 0, 100, A, -1, C);
		comes(&m, 0, 101, C);
		woke(&m, 1, 200, B, A);
		leaves(&m, 0, 300, C, -1, A);
		comes(&m, 0, 301, A);
		ends(&m, A, B);
		check_state(&m, A, 150, PIECE_BLOCKED,
			    unmarked ? PROOF_LIKELY : PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

/* Without its state nobody knows if it left for good, nor whether a loss hides
 * that it came back and did. */
START_TEST(a_thread_that_never_comes_back_may_be_dead)
{
	for (int lost = 0; lost < 2; lost++) {
		struct made m = schedule_new(two_cpus);

		m.shows = TIMELINE_HAS_SWITCH;
		if (lost)
			lose(&m, 0, 200, 210, 2);
		comes(&m, 1, 5, 0);
		comes(&m, 0, 10, A);
		leaves(&m, 0, 100, A, lost ? S : -1, C);
		comes(&m, 0, 101, C);
		if (lost)
			leaves(&m, 0, 210, C, -1, B), comes(&m, 0, 211, B);
		ends(&m, lost ? B : C, 0);
		check_state(&m, A, 900, PIECE_UNKNOWN, PROOF_UNKNOWN);
		check_state(&m, A, 150, lost ? PIECE_OFF : PIECE_UNKNOWN,
			    lost ? PROOF_PROVED : PROOF_UNKNOWN);
		made_free(&m);
	}
}
END_TEST

/* When a recorder ends, records of switches are on for longer than wake-ups, of
 * which one may be missing then. CPUs are turned off in their order. */
START_TEST(wake_ups_end_before_records_of_switches)
{
	for (int32_t last = -1; last < 2; last++) {
		struct made m = schedule_new(two_cpus);

		m.ended = TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP;
		comes(&m, 1, 5, B);
		comes(&m, 0, 10, A);
		leaves(&m, 0, 100, A, -1, 0);
		comes(&m, 0, 102, 0);
		leaves(&m, 0, 298, 0, 0, A);
		comes(&m, 0, 300, A);
		m.ended = 0;
		if (last >= 0)
			woke(&m, last, 400, last ? B : A, D);
		m.ended = TIMELINE_HAS_WAKING | TIMELINE_HAS_WAKEUP;
		ends(&m, A, B);
		if (last == 0)
			check_state(&m, A, 150, PIECE_READY, PROOF_PROVED);
		else
			proof_is_unknown_or_less(&m, A, 150);
		made_free(&m);
	}
}
END_TEST

/* Of the end of simple(), CPU 0 has records of interrupts only: switches may be
 * off there, so that A may have come and gone. If they are on, it was idle. */
START_TEST(a_cpu_is_not_idle_because_it_has_interrupts)
{
	for (int off = 0; off < 2; off++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		woke(&m, 1, 200, B, A);
		queued(&m, 1, 205, B, A);
		m.shows = 0;
		m.ended = off ? SHOWN : 0;
		seen(&m, 0, 400, 0);
		ends(&m, 0, B);
		if (off)
			proof_is_unknown_or_less(&m, A, 300);
		else
			check_state(&m, A, 300, PIECE_READY, PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

/* sched_wakeup ends before its absence could tell that A was on its way to
 * sleep when it was woken. */
START_TEST(a_race_is_certain_while_wakeups_are_on)
{
	for (int off = 0; off < 2; off++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		if (off)
			m.ended = TIMELINE_HAS_WAKEUP;
		woke(&m, 1, 90, B, A);
		switched(&m, 0, 100, A, S, 0);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		check_state(&m, A, 150, PIECE_READY,
			    off ? PROOF_LIKELY : PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

/* A dies, but is preempted before: it comes back without its tid. */
START_TEST(who_has_no_tid_may_come_back)
{
	for (int back = 0; back < 2; back++) {
		struct made m = schedule_new(two_cpus);

		comes(&m, 1, 5, B);
		comes(&m, 0, 10, A);
		leaves(&m, 0, 100, -1, 0x10, C);
		comes(&m, 0, 101, C);
		leaves(&m, 0, 200, C, 0, back ? -1 : D);
		comes(&m, 0, 201, back ? -1 : D);
		if (back)
			woke(&m, 0, 210, A, C);
		leaves(&m, 0, 220, -1, 0x10, 0);
		comes(&m, 0, 221, 0);
		ends(&m, 0, B);
		ck_assert_uint_eq(m.t->contradictions, 0);
		check_state(&m, A, 150, back ? PIECE_UNKNOWN : PIECE_DEAD,
			    back ? PROOF_UNKNOWN : PROOF_PROVED);
		check_state(&m, back ? A : D, 300, PIECE_DEAD, PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_dying_thread_that_leaves_is_who_was_there)
{
	struct made m = by_records(-1, 0);

	ck_assert_uint_eq(m.t->contradictions, 0);
	check_state(&m, A, 50, PIECE_RUN, PROOF_PROVED);
	check_state(&m, A, 150, PIECE_BLOCKED, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(half_of_a_switch_is_missing_without_a_loss)
{
	for (int i = 1; i <= 3; i++) {
		struct made m = by_records(A, i);

		ck_assert_uint_eq(m.t->contradictions, 1);
		proof_is_unknown_or_less(&m, A, 299);
		made_free(&m);
	}
}
END_TEST

START_TEST(another_thread_comes_than_the_one_that_was_to)
{
	struct made m = schedule_new(two_cpus);

	comes(&m, 1, 5, B);
	comes(&m, 0, 10, A);
	leaves(&m, 0, 100, A, -1, C);
	comes(&m, 0, 300, D);
	ends(&m, D, B);
	ck_assert_uint_eq(m.t->contradictions, 1);
	proof_is_unknown_or_less(&m, D, 200);
	made_free(&m);
}
END_TEST

START_TEST(a_loss_between_records_of_switches_is_told)
{
	struct made m = schedule_new(two_cpus);

	lose(&m, 0, 100, 298, 2);
	comes(&m, 1, 5, B);
	comes(&m, 0, 10, A);
	leaves(&m, 0, 100, A, -1, C);
	leaves(&m, 0, 298, D, -1, A);
	comes(&m, 0, 300, A);
	ends(&m, A, B);
	ck_assert_uint_eq(m.t->contradictions, 0);
	proof_is_unknown_or_less(&m, A, 200);
	made_free(&m);
}
END_TEST

/* B sleeps in exec until A, the first thread of its process, has ended, and
 * goes on as A. `told`: the exec is, by a record that names both or by one of
 * A. */
static int32_t process_of(void *arg, int32_t tid)
{
	return tid == B || tid == A ? A : *(int32_t *)arg;
}

static struct made by_exec(int32_t state, bool told, int32_t before)
{
	static int32_t other = C;
	struct made m = schedule_new(two_cpus);

	m.t->process = process_of;
	m.t->process_arg = &other;
	if (told)
		timeline_rename(m.t, 450, before, A);
	switched(&m, 1, 5, 0, R, C);
	switched(&m, 0, 10, 0, R, B);
	woke(&m, 0, 50, B, A);
	switched(&m, 0, 100, B, S, A);
	woke(&m, 0, 200, A, B);
	switched(&m, 0, 300, A, state, B);
	woke(&m, 0, 500, A, D); /* A: who was B */
	switched(&m, 0, 600, A, S, D);
	ends(&m, D, C);
	return m;
}

START_TEST(a_thread_that_calls_exec_goes_on_as_the_first)
{
	for (int by_name = 0; by_name < 2; by_name++) {
		struct made m = by_exec(STATE_DEAD, true, by_name ? -1 : B);

		ck_assert_uint_eq(m.t->contradictions, 0);
		check_state(&m, B, 250, PIECE_READY, PROOF_PROVED);
		check_state(&m, B, 350, PIECE_RUN, PROOF_PROVED);
		check_state(&m, B, 700, PIECE_DEAD, PROOF_PROVED);
		check_state(&m, A, 250, PIECE_RUN, PROOF_PROVED);
		check_state(&m, A, 350, PIECE_DEAD, PROOF_PROVED);
		check_state(&m, A, 550, PIECE_RUN, PROOF_PROVED);
		check_state(&m, A, 700, PIECE_BLOCKED, PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

START_TEST(without_an_exec_another_thread_is_a_missing_switch)
{
	/* none is told; it is another thread's; or the first one lives */
	struct made made[] = {
		by_exec(STATE_DEAD, false, B),
		by_exec(STATE_DEAD, true, C),
		by_exec(S, true, B),
		by_exec(S, true, -1),
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		ck_assert_uint_eq(made[i].t->contradictions, 1);
		proof_is_unknown_or_less(&made[i], B, 400);
		made_free(&made[i]);
	}
}
END_TEST

/* A is still on its way out when B has its tid: then it has that of B. */
static struct made exec_on_two_cpus(int64_t leaves_at)
{
	struct made m = schedule_new(two_cpus);

	timeline_rename(m.t, 450, B, A);
	switched(&m, 1, 5, 0, R, A);
	switched(&m, 0, 10, 0, R, B);
	if (leaves_at < 500)
		switched(&m, 1, leaves_at, B, STATE_DEAD, C);
	woke(&m, 0, 500, A, D);
	if (leaves_at > 500)
		switched(&m, 1, leaves_at, B, STATE_DEAD, C);
	switched(&m, 0, 600, A, S, D);
	ends(&m, D, C);
	return m;
}

START_TEST(the_first_thread_may_leave_behind_the_exec)
{
	for (int late = 0; late < 2; late++) {
		struct made m = exec_on_two_cpus(late ? 550 : 400);

		ck_assert_uint_eq(m.t->contradictions, 0);
		check_state(&m, B, 300, PIECE_RUN, PROOF_PROVED);
		check_state(&m, A, 550, PIECE_RUN, PROOF_PROVED);
		check_state(&m, A, 700, PIECE_BLOCKED, PROOF_PROVED);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_wake_before_the_switch_out_is_a_race)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	woke(&m, 1, 95, B, A);
	switched(&m, 0, 100, A, S, 0);
	queued(&m, 1, 105, B, A);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	check_state(&m, A, 150, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(preempted_is_ready)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 1, 5, 0, R, 0);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, R, C);
	switched(&m, 0, 300, C, S, A);
	ends(&m, A, 0);
	check_state(&m, A, 150, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_sleep_without_a_wake_is_not_known)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	check_state(&m, A, 150, PIECE_UNKNOWN, PROOF_UNKNOWN);
	made_free(&m);
}
END_TEST

START_TEST(a_pending_signal_may_say_sleep_of_a_ready_thread)
{
	for (int idle = 0; idle < 2; idle++) {
		struct made m = schedule_new((struct timeline_rules){
			.cpus = 2, .signal_bug = true });

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, idle ? 0 : C);
		switched(&m, 0, 300, idle ? 0 : C, R, A);
		ends(&m, A, B);
		check_state(&m, A, 150, idle ? PIECE_UNKNOWN : PIECE_READY,
			    idle ? PROOF_UNKNOWN : PROOF_LIKELY);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_child_waits_for_its_parent)
{
	struct made m = schedule_new(two_cpus);
	struct proof_piece pc;

	switched(&m, 1, 5, 0, R, 0);
	switched(&m, 0, 10, 0, R, A);
	woke_in(&m, 0, 100, A, C, TIMELINE_NEW, CONTEXT_TASK);
	switched(&m, 1, 130, 0, R, C);
	ends(&m, A, C);
	pc = piece_at(&m, C, 50);
	ck_assert_int_eq(pc.state, PIECE_UNBORN);
	ck_assert_int_eq(proofs_edge(m.p, pc.edge).waker, A);
	check_state(&m, C, 120, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_wake_in_an_interrupt_is_not_the_current_threads)
{
	struct made m = schedule_new(two_cpus);
	struct chain c = { 0 };
	struct chain_ask ask = { .from = 110, .to = 190 };

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	woke_in(&m, 1, 200, B, A, TIMELINE_WAKING, CONTEXT_TIMER);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	ask.thread = timeline_thread(m.t, A);
	chain_walk(&c, m.p, m.t, &ask);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_int_eq(c.segment[0].state, CHAIN_TIMER);
	ck_assert_int_eq(timeline_tid(m.t, c.segment[0].thread), A);
	ck_assert_int_eq(c.segment[0].proof, PROOF_PROVED);
	chain_release(&c);
	made_free(&m);
}
END_TEST

/* A capture that is damaged, or made by hand, has any time in its records. */
START_TEST(a_record_of_an_impossible_time_may_have_been_anywhere)
{
	static const int64_t base[] = { INT64_MIN + 1, INT64_MAX - 2000,
					INT64_MIN / 2 - 1001 };

	for (size_t i = 0; i < ARRAY_SIZE(base); i++) {
		struct made m = schedule_new(
			(struct timeline_rules){ .cpus = 2, .skew = 1000 });

		lose(&m, 1, base[i] + 120, base[i] + 160, 1);
		switched(&m, 1, base[i] + 5, 0, R, B);
		switched(&m, 0, base[i] + 10, 0, R, A);
		switched(&m, 0, base[i] + 100, A, S, 0);
		woke(&m, 1, base[i] + 200, B, A);
		switched(&m, 0, base[i] + 300, 0, R, A);
		switched(&m, 0, 500, 0, R, A);
		switched(&m, 0, 600, A, S, 0);
		switched(&m, 1, 700, 0, R, B);
		ends(&m, A, B);
		for (uint32_t k = 0; k < m.t->n_thread; k++)
			ck_assert_uint_gt(proofs_pieces(m.p, k), 0);
		check_state(&m, A, 650, PIECE_UNKNOWN, PROOF_UNKNOWN);
		made_free(&m);
	}
}
END_TEST

/* ---- the nine false proofs, each with a neighbour that holds */

/* A sleeps at 100; on CPU 1 n records are lost from 120 to 160, at the end of
 * which B is there, as before; B wakes A at 200. */
static struct made slept_over_a_loss(int64_t n, bool woken_before)
{
	struct made m = schedule_new(two_cpus);

	lose(&m, 1, 120, 160, n);
	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	if (woken_before)
		woke(&m, 0, 110, 0, A);
	seen(&m, 1, 120, B);
	seen(&m, 1, 160, B);
	woke(&m, 1, 200, B, A);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	return m;
}

START_TEST(too_few_records_are_lost_for_a_run_from_sleep)
{
	struct made m = slept_over_a_loss(3, false);

	check_state(&m, A, 140, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 110, B));
	made_free(&m);

	m = slept_over_a_loss(4, false);
	proof_is_unknown_or_less(&m, A, 140);
	ck_assert(!is_by(&m, A, 110, B));
	ck_assert(is_by(&m, A, 180, B));
	made_free(&m);
}
END_TEST

/* 1: a recorded waking leaves only two to be lost. */
START_TEST(two_records_are_enough_for_a_run_that_was_woken)
{
	struct made m = slept_over_a_loss(2, true);

	proof_is_unknown_or_less(&m, A, 140);
	ck_assert(!is_by(&m, A, 105, B));
	ck_assert(is_by(&m, A, 105, 0));
	made_free(&m);
}
END_TEST

/* A loss that has no room for a whole run leaves what a reader of the records
 * would say; one that has leaves nothing. */
START_TEST(what_is_likely_is_not_in_a_loss_that_holds_a_wait)
{
	for (int64_t n = 2; n <= UNSEEN_RUN; n++) {
		struct made m = schedule_new(two_cpus);
		bool likely = n < UNSEEN_RUN;

		lose(&m, 1, 120, 160, n);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, R, C);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		switched(&m, 0, 300, C, S, A);
		ends(&m, A, B);
		check_state(&m, A, 140, likely ? PIECE_READY : PIECE_UNKNOWN,
			    likely ? PROOF_LIKELY : PROOF_UNKNOWN);
		made_free(&m);
	}
	/* woken on CPU 0 while records of CPU 1 are lost */
	for (int64_t n = 2; n <= UNSEEN_RUN; n += 2) {
		struct made m = schedule_new(two_cpus);
		bool likely = n < UNSEEN_RUN;

		lose(&m, 1, 120, 160, n);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, C);
		seen(&m, 1, 120, B);
		woke(&m, 0, 130, C, A);
		queued(&m, 0, 131, C, A);
		seen(&m, 1, 160, B);
		switched(&m, 0, 300, C, S, A);
		ends(&m, A, B);
		/* to sleep again takes four records: until then it slept */
		check_state(&m, A, 125, likely ? PIECE_BLOCKED : PIECE_UNKNOWN,
			    likely ? PROOF_PROVED : PROOF_UNKNOWN);
		check_state(&m, A, 150, likely ? PIECE_READY : PIECE_UNKNOWN,
			    likely ? PROOF_LIKELY : PROOF_UNKNOWN);
		ck_assert_int_eq(piece_at(&m, A, 110).link,
				 likely ? PROOF_PROVED : PROOF_UNKNOWN);
		made_free(&m);
	}
}
END_TEST

/* 2: its wakeup was recorded, so only three are lost. */
START_TEST(a_recorded_wakeup_leaves_three)
{
	for (int64_t n = 2; n <= 3; n++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 120, 160, n);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		queued(&m, 0, 130, 0, A);
		seen(&m, 1, 160, B);
		woke(&m, 1, 200, B, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert(!is_by(&m, A, 110, B));
		proof_is_unknown_or_less(&m, A, 150);
		made_free(&m);
	}
	/* woken in the loss, queued at 130, and on a CPU and preempted there
	 * until 160: two switches and the waking, or it was ready */
	for (int64_t n = 2; n <= 3; n++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 120, 160, n);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		queued(&m, 0, 130, 0, A);
		seen(&m, 1, 160, B);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 150).proof == PROOF_PROVED,
				 n == 2);
		made_free(&m);
	}
}
END_TEST

/* 3: the race may lie in the loss before the record in which A is first seen.
 */
START_TEST(a_wait_right_after_a_loss_may_have_been_raced)
{
	for (int lost = 0; lost < 2; lost++) {
		struct made m = schedule_new(two_cpus);

		if (lost)
			lose(&m, 0, 50, 90, 3);
		lose(&m, 1, 120, 160, 1);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 40, 0, R, A);
		seen(&m, 0, 50, A);
		seen(&m, 0, 90, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 110).proof == PROOF_PROVED,
				 !lost);
		made_free(&m);
	}
}
END_TEST

/* 4: a thread whose records are missing was there in between. */
/* B sleeps from 30 to 200 and runs at 300; CPU 0 shows in `gaps` places, from
 * 500 on, that records are missing between two switches. */
static struct made made_with_gaps(int8_t pauses, int gaps)
{
	struct made m = schedule_new(
		(struct timeline_rules){ .cpus = 2, .pauses = pauses });

	switched(&m, 0, 0, 0, R, A);
	switched(&m, 1, 10, 0, R, B);
	switched(&m, 1, 30, B, S, 0);
	woke(&m, 0, 200, A, B);
	queued(&m, 0, 201, A, B);
	switched(&m, 1, 300, 0, R, B);
	switched(&m, 0, 400, A, S, C);
	switched(&m, 1, 450, B, S, 0);
	for (int i = 0; i < gaps; i++)
		switched(&m, 0, 600 + i, D, S, C);
	switched(&m, 1, 800, 0, R, B);
	ends(&m, C, B);
	return m;
}

START_TEST(a_recorder_that_may_pause_proves_nothing_near_a_gap)
{
	struct made m = made_with_gaps(-1, 1);

	check_state(&m, B, 100, PIECE_BLOCKED, PROOF_PROVED);
	check_state(&m, A, 100, PIECE_RUN, PROOF_PROVED);
	/* the switches of CPU 0 around the gap are at 400 and 600 */
	check_state(&m, B, 425, PIECE_UNKNOWN, PROOF_UNKNOWN);
	check_state(&m, B, 500, PIECE_UNKNOWN, PROOF_UNKNOWN);
	check_state(&m, B, 399, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
	/* one that cannot pause left them out on CPU 0 only */
	m = made_with_gaps(0, 1);
	check_state(&m, B, 425, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
	m = made_with_gaps(-1, 0);
	check_state(&m, B, 425, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_pause_that_shows_leaves_only_what_records_tell)
{
	struct made m = made_with_gaps(1, 1);

	ck_assert(timeline_is_blind(m.t));
	check_state(&m, B, 100, PIECE_BLOCKED, PROOF_LIKELY);
	check_state(&m, B, 250, PIECE_READY, PROOF_LIKELY);
	check_state(&m, A, 100, PIECE_RUN, PROOF_LIKELY);
	ck_assert(is_by(&m, B, 100, A));
	made_free(&m);
	m = made_with_gaps(1, 0);
	ck_assert(!timeline_is_blind(m.t));
	check_state(&m, B, 100, PIECE_BLOCKED, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(absence_proves_nothing_beside_hundreds_of_gaps)
{
	struct made m = made_with_gaps(0, 100);

	check_state(&m, B, 100, PIECE_BLOCKED, PROOF_PROVED);
	made_free(&m);
	m = made_with_gaps(0, 101);
	check_state(&m, B, 100, PIECE_BLOCKED, PROOF_LIKELY);
	ck_assert(is_by(&m, B, 100, A));
	made_free(&m);
}
END_TEST

static size_t made_losses_in(const struct made *m, int64_t from, int64_t to)
{
	const struct timeline_loss *l = NULL;
	size_t n = 0;

	while ((l = timeline_next_loss_in(m->t, from, to, l)))
		n++;
	return n;
}

/* B sleeps over many silent losses of CPU 0. */
START_TEST(a_thread_that_is_away_has_no_piece_for_each_loss)
{
	struct made m = schedule_new(two_cpus);
	const int losses = 400;

	switched(&m, 0, 0, 0, R, A);
	switched(&m, 1, 10, 0, R, B);
	switched(&m, 1, 30, B, S, 0);
	for (int i = 0; i < losses; i++)
		seen(&m, 0, 100 + 2 * i, i % 2 ? A : C);
	switched(&m, 1, 980, 0, R, B);
	ends(&m, A, B);
	ck_assert_uint_gt(m.t->contradictions, (uint64_t)losses - 2);
	ck_assert_uint_lt(proofs_pieces(m.p, timeline_thread(m.t, B)), 8);
	check_state(&m, B, 500, PIECE_UNKNOWN, PROOF_UNKNOWN);
	ck_assert_uint_gt(made_losses_in(&m, 500, 600), 40);
	made_free(&m);
}
END_TEST

START_TEST(numbers_prove_nothing_where_records_are_missing_silently)
{
	for (int silent = 0; silent < 2; silent++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 0, 50, 90, 1);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		seen(&m, 0, 50, A);
		seen(&m, 0, 90, A);
		if (silent)
			seen(&m, 1, 500, C);
		ends(&m, A, silent ? C : B);
		ck_assert_int_eq(piece_at(&m, A, 70).proof == PROOF_PROVED,
				 !silent);
		ck_assert_uint_eq(m.t->contradictions, silent);
		made_free(&m);
	}
}
END_TEST

/* 5: wake-ups were turned on later on the other CPU. */
START_TEST(wakes_count_as_absent_only_where_they_are_on)
{
	for (int late = 0; late < 2; late++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 0, 260, 270, 1);
		m.shows = late ? TIMELINE_HAS_SWITCH : SHOWN;
		switched(&m, 1, 5, 0, R, B);
		m.shows = SHOWN;
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 250, B);
		seen(&m, 0, 260, 0);
		seen(&m, 0, 270, 0);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 150).proof == PROOF_PROVED,
				 !late);
		made_free(&m);
	}
}
END_TEST

/* 6: a softirq may have run in the thread's own call. */
START_TEST(a_softirq_is_the_threads_or_not)
{
	static const struct {
		enum timeline_context context;
		enum proof proof;
		int32_t whose;
	} want[] = {
		{ CONTEXT_INLINE, PROOF_PROVED, B },
		{ CONTEXT_SOFTIRQ, PROOF_PROVED, A },
		{ CONTEXT_SOFTIRQ_UNKNOWN, PROOF_LIKELY, A },
		{ CONTEXT_UNKNOWN, PROOF_LIKELY, B },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct made m = schedule_new(two_cpus);
		struct chain c = { 0 };
		struct chain_ask ask = { .from = 110, .to = 190 };

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		woke_in(&m, 1, 200, B, A, TIMELINE_WAKING, want[i].context);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ask.thread = timeline_thread(m.t, A);
		chain_walk(&c, m.p, m.t, &ask);
		ck_assert_uint_eq(c.n, 1);
		ck_assert_int_eq(c.segment[0].proof, want[i].proof);
		ck_assert_int_eq(timeline_tid(m.t, c.segment[0].thread),
				 want[i].whose);
		chain_release(&c);
		made_free(&m);
	}
}
END_TEST

/* 7: where wakings are not recorded, that there is none means nothing. */
START_TEST(without_wakings_a_wait_is_only_off)
{
	struct made m = schedule_new(two_cpus);

	m.shows = TIMELINE_HAS_SWITCH;
	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	switched(&m, 0, 300, 0, R, A);
	switched(&m, 0, 400, A, R, C);
	switched(&m, 0, 500, C, S, A);
	ends(&m, A, B);
	check_state(&m, A, 150, PIECE_OFF, PROOF_PROVED);
	check_state(&m, A, 450, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

/* 8: behind the last record of a ring the world is open. */
START_TEST(no_thread_runs_until_the_end)
{
	struct made m = simple();

	ends(&m, A, B);
	check_state(&m, A, 999, PIECE_RUN, PROOF_PROVED);
	proof_is_unknown_or_less(&m, A, 1001);
	made_free(&m);
}
END_TEST

/* 9: equal times on two CPUs are not ordered. */
START_TEST(equal_times_of_two_cpus_have_no_order)
{
	for (int64_t later = 0; later < 2; later++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		woke(&m, 1, 100 + later, B, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 200).proof == PROOF_PROVED,
				 later);
		made_free(&m);
	}
	for (int64_t sooner = 0; sooner < 2; sooner++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		woke(&m, 1, 300 - sooner, B, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(is_by(&m, A, 200, B), sooner);
		made_free(&m);
	}
}
END_TEST

/* ---- further guards, each with a neighbour */

START_TEST(two_wakings_need_a_run_in_between)
{
	for (int twice = 0; twice < 2; twice++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		if (twice)
			woke(&m, 1, 150, B, A);
		woke(&m, 1, 200, B, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(is_by(&m, A, 120, B), !twice);
		made_free(&m);
	}
}
END_TEST

/* A on CPU 0 sleeps until B on CPU 2 wakes it; no record is of CPU 1. lost: of
 * each CPU. */
static enum proof proof_beside(int32_t cpus, bool lost)
{
	struct made m = schedule_new((struct timeline_rules){ .cpus = cpus });
	const struct timeline_loss all = { .from = TIMELINE_START,
					   .to = TIMELINE_END,
					   .n = -1 };

	if (lost)
		timeline_lose_each(m.t, &all);
	switched(&m, 2, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	woke(&m, 2, 200, B, A);
	switched(&m, 0, 300, 0, R, A);
	seen(&m, 0, 1000, A);
	seen(&m, 2, 1000, B);
	timeline_seal(m.t);
	m.p = proofs_new(m.t);
	enum proof proof = piece_at(&m, A, 150).proof;

	made_free(&m);
	return proof;
}

/* Those that are on may have any numbers. */
START_TEST(a_cpu_that_was_off_hides_nothing)
{
	ck_assert_int_eq(proof_beside(2, false), PROOF_PROVED);
	ck_assert_int_eq(proof_beside(-1, false), PROOF_PROVED);
	ck_assert_int_eq(proof_beside(3, false), PROOF_UNKNOWN);
	ck_assert_int_eq(proof_beside(1, false), PROOF_UNKNOWN);
	ck_assert_int_eq(proof_beside(2, true), PROOF_UNKNOWN);
	ck_assert_int_eq(proof_beside(-1, true), PROOF_UNKNOWN);
}
END_TEST

/* Its wake-ups are not recorded, so a run of a recorder takes two records. */
START_TEST(a_recorder_runs_without_a_wake)
{
	for (int recorder = 0; recorder < 2; recorder++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 120, 160, 3);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		woke(&m, 1, 200, B, A);
		switched(&m, 0, 300, 0, R, A);
		if (recorder)
			timeline_mark_recorder(m.t, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 140).proof == PROOF_PROVED,
				 !recorder);
		made_free(&m);
	}
}
END_TEST

/* A loss before its sleep may hide that it was woken on the way there, but its
 * wake-up is not recorded anyway. */
START_TEST(a_recorder_sleeps_without_a_wake)
{
	for (int recorder = 0; recorder < 2; recorder++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 50, 70, 3);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		seen(&m, 1, 50, B);
		seen(&m, 1, 70, B);
		switched(&m, 0, 100, A, S, 0);
		switched(&m, 0, 300, 0, R, A);
		if (recorder)
			timeline_mark_recorder(m.t, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 200).state,
				 recorder ? PIECE_UNKNOWN : PIECE_READY);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_pending_signal_may_hide_behind_a_loss)
{
	for (int bug = 0; bug < 2; bug++) {
		struct made m = schedule_new((struct timeline_rules){
			.cpus = 2, .signal_bug = bug });

		lose(&m, 1, 120, 160, 1);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 110).proof == PROOF_PROVED,
				 !bug);
		made_free(&m);
	}
}
END_TEST

START_TEST(wakeups_that_are_on_later_count_for_nothing)
{
	for (int late = 0; late < 2; late++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 120, 160, 3);
		if (late)
			m.shows = TIMELINE_HAS_SWITCH | TIMELINE_HAS_WAKING;
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		woke(&m, 1, 200, B, A);
		switched(&m, 0, 300, 0, R, A);
		m.shows = SHOWN;
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 140).proof == PROOF_PROVED,
				 !late);
		made_free(&m);
	}
}
END_TEST

/* One lost before the sleep may be the waking of a race, and three behind it
 * the rest of a run. */
START_TEST(what_is_lost_before_the_sleep_counts_too)
{
	for (int before = 0; before < 2; before++) {
		struct made m = schedule_new(two_cpus);

		if (before)
			lose(&m, 0, 50, 90, 1);
		lose(&m, 1, 120, 160, 3);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 40, 0, R, A);
		seen(&m, 0, 50, A);
		seen(&m, 0, 90, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 120, B);
		seen(&m, 1, 160, B);
		woke(&m, 1, 200, B, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 140).proof == PROOF_PROVED,
				 !before);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_wakeup_in_an_interrupt_tells_no_waker)
{
	static const enum timeline_context context[] = { CONTEXT_TASK,
							 CONTEXT_TIMER };

	for (size_t i = 0; i < 2; i++) {
		struct made m = schedule_new(two_cpus);

		m.shows = TIMELINE_HAS_SWITCH | TIMELINE_HAS_WAKEUP;
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		woke_in(&m, 1, 200, B, A, TIMELINE_WAKEUP, context[i]);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 150).edge == TIMELINE_NONE, i);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_record_that_comes_late_may_be_anywhere)
{
	for (int late = 0; late < 2; late++) {
		struct made m = simple();

		seen(&m, 1, 400, B);
		if (late)
			seen(&m, 1, 390, B);
		ends(&m, A, B);
		ck_assert_uint_eq(m.t->contradictions, late);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_loss_around_a_record_has_no_number)
{
	for (int around = 0; around < 2; around++) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 0, around ? 30 : 40, 90, 1);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		seen(&m, 0, 40, A);
		seen(&m, 0, 90, A);
		ends(&m, A, B);
		ck_assert_int_eq(piece_at(&m, A, 70).proof == PROOF_PROVED,
				 !around);
		made_free(&m);
	}
}
END_TEST

/* Each wait would have as many losses as there are records in its time: sampled
 * switches of one minute took gigabytes. What may be lost from one record to
 * the next only, is where the run before a wait began. */
START_TEST(a_loss_that_lasts_is_one_loss)
{
	for (int records = 10; records <= 1000; records *= 10) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 0, 0, 900, -1);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		woke(&m, 1, 15, B, A);
		seen(&m, 0, 20, A);
		switched(&m, 0, 30, A, S, C);
		for (int i = 0; i < records; i++)
			seen(&m, 0, 40 + i * 800 / records, C);
		switched(&m, 0, 900, C, R, A);
		ends(&m, A, B);
		/* it, and what is before and behind all records */
		ck_assert_uint_eq(m.t->n_loss, 5);
		check_state(&m, A, 500, PIECE_UNKNOWN, PROOF_UNKNOWN);
		ck_assert(piece_at(&m, A, 500).open);
		ck_assert_uint_eq(made_losses_in(&m, 400, 600), 1);
		made_free(&m);
	}
}
END_TEST

START_TEST(one_lost_record_is_one_switch)
{
	struct made m = schedule_new(two_cpus);

	/* A leaves CPU 0 unseen, for C: A's wait begins in the loss */
	lose(&m, 0, 50, 90, 1);
	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	seen(&m, 0, 50, A);
	seen(&m, 0, 90, C);
	woke(&m, 1, 200, B, A);
	switched(&m, 0, 300, C, S, A);
	ends(&m, A, B);
	proof_is_unknown_or_less(&m, A, 70);
	check_state(&m, A, 150, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 150, B));
	made_free(&m);
}
END_TEST

START_TEST(a_cpu_without_records_hides_everything)
{
	struct timeline_rules three = { .cpus = 3 };
	struct made m = schedule_new(three);

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	woke(&m, 1, 200, B, A);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	proof_is_unknown_or_less(&m, A, 150);
	check_state(&m, A, 50, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_thread_that_was_not_seen_before_may_be_new)
{
	for (int births = 0; births < 2; births++) {
		struct made m = schedule_new(two_cpus);

		if (births)
			m.shows |= TIMELINE_HAS_NEW;
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 300, A, S, C);
		ends(&m, C, B);
		ck_assert_int_eq(piece_at(&m, C, 200).proof == PROOF_PROVED,
				 births);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_waker_without_a_name_is_who_is_there)
{
	for (int lost = 0; lost < 2; lost++) {
		struct made m = schedule_new(two_cpus);

		if (lost)
			lose(&m, 1, 150, 250, 2);
		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		seen(&m, 1, 150, B);
		woke(&m, 1, 250, -1, A);
		switched(&m, 0, 300, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(is_by(&m, A, 270 - 145, B), !lost);
		made_free(&m);
	}
}
END_TEST

START_TEST(a_record_of_no_cpu_hides_everything)
{
	struct made m = simple();

	woke(&m, -1, 310, B, C);
	ends(&m, A, B);
	proof_is_unknown_or_less(&m, A, 150);
	made_free(&m);
}
END_TEST

START_TEST(only_wakeups_prove_the_waker_but_not_the_time)
{
	struct made m = schedule_new(two_cpus);

	m.shows = TIMELINE_HAS_SWITCH | TIMELINE_HAS_WAKEUP;
	switched(&m, 1, 5, 0, R, C);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	switched(&m, 1, 150, C, S, B);
	queued(&m, 1, 200, B, A);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	check_state(&m, A, 120, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 120, B));
	check_state(&m, A, 180, PIECE_BLOCKED, PROOF_LIKELY);
	check_state(&m, A, 250, PIECE_READY, PROOF_PROVED);
	made_free(&m);
}
END_TEST

/* ---- sums */

static bool is_cpu_0(const void *arg, int32_t cpu)
{
	(void)arg;
	return cpu == 0;
}

static struct account account_of(struct made *m, int32_t tid, int64_t from,
				 int64_t to, bool cpu_0)
{
	const struct account_ask ask = {
		.from = from,
		.to = to,
		.takes_cpu = cpu_0 ? is_cpu_0 : NULL,
	};
	struct account a;

	account_thread(&a, m->p, m->t, timeline_thread(m->t, tid), &ask, NULL,
		       NULL);
	return a;
}

START_TEST(time_of_a_thread_is_cut_at_what_is_asked_for)
{
	struct made m = simple();
	struct account a;

	ends(&m, A, B);
	a = account_of(&m, A, 50, 350, false);
	ck_assert_uint_eq(a.run, 100);
	ck_assert_uint_eq(a.blocked, 100);
	ck_assert_uint_eq(a.ready, 100);
	ck_assert_uint_eq(account_time(&a), 300);
	ck_assert_uint_eq(a.runs, 1);
	ck_assert_uint_eq(a.woken, 1);
	a = account_of(&m, A, 220, 280, false);
	ck_assert_uint_eq(a.ready, 60);
	ck_assert_int_eq(a.longest_from, 220);
	ck_assert_int_eq(a.longest_to, 280);
	ck_assert_uint_eq(account_time(&a), 60);
	a = account_of(&m, B, 5, 1000, true);
	ck_assert_uint_eq(account_time(&a), 0);
	made_free(&m);
}
END_TEST

START_TEST(what_is_only_likely_is_in_no_sum)
{
	struct made m = schedule_new(two_cpus);
	struct account a;

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, S, 0);
	lose(&m, 1, 120, 250, -1);
	seen(&m, 1, 120, B);
	seen(&m, 1, 250, B);
	switched(&m, 0, 300, 0, R, A);
	ends(&m, A, B);
	a = account_of(&m, A, 50, 350, false);
	ck_assert_uint_eq(a.run, 100);
	ck_assert_uint_eq(a.blocked, 20);
	ck_assert_uint_eq(a.unknown, 130);
	ck_assert_uint_eq(a.ready, 50);
	made_free(&m);
}
END_TEST

START_TEST(ready_is_behind_who_was_there_longest)
{
	struct made m = schedule_new(two_cpus);
	struct account a;
	struct occupant o;

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 0, 10, 0, R, A);
	switched(&m, 0, 100, A, R, C);
	switched(&m, 0, 130, C, S, D);
	switched(&m, 0, 180, D, R, C);
	switched(&m, 0, 220, C, S, A);
	ends(&m, A, B);
	a = account_of(&m, A, 0, 1000, false);
	ck_assert_uint_eq(a.preempted, 120);
	ck_assert_uint_eq(a.delays, 1);
	ck_assert(account_occupant(m.t, a.longest_cpu, a.longest_from,
				   a.longest_to, &o));
	ck_assert_int_eq(timeline_tid(m.t, o.thread), C);
	ck_assert_uint_eq(o.ns, 70);
	ck_assert(!account_occupant(m.t, 7, 0, 1000, &o));
	made_free(&m);
}
END_TEST

START_TEST(a_run_on_another_cpu_is_a_move)
{
	struct made m = simple();
	struct account a;

	switched(&m, 0, 400, A, R, C);
	switched(&m, 1, 500, B, S, A);
	ends(&m, C, A);
	a = account_of(&m, A, 0, 1000, false);
	ck_assert_uint_eq(a.moves, 1);
	ck_assert_uint_eq(a.runs, 3);
	a = account_of(&m, A, 0, 1000, true);
	ck_assert_uint_eq(a.moves, 0);
	ck_assert_uint_eq(a.runs, 2);
	made_free(&m);
}
END_TEST

/* ---- idle servers */

/* Whether the wait of a thread at a time may be that of a server without work.
 */
static bool may_idle(struct made *m, int32_t tid, int64_t time)
{
	struct idle s = { .p = m->p, .t = m->t, .budget = 1000 };
	uint32_t thread = timeline_thread(m->t, tid);

	return idle_wait(&s, thread, proofs_find(m->p, thread, time));
}

/* CPU 0: A is a server, or waits for a lock: it sleeps from 200 to 700, when B
 * wakes it on CPU 1. asked: C asked A at 90, and waits for it until 800.
 * answered: A woke B at 190. B computes, or sleeps from 210 to 600. */
static struct made idle_or_not(bool asked, bool answered, bool sleeps,
			       int32_t state)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 0, 10, 0, R, A);
	switched(&m, 1, 15, 0, R, C);
	switched(&m, 0, 50, A, S, 0);
	if (asked)
		woke(&m, 1, 90, C, A);
	else
		woke_in(&m, 1, 90, C, A, TIMELINE_WAKING, CONTEXT_TIMER);
	switched(&m, 1, 95, C, S, 0);
	switched(&m, 0, 100, 0, R, A);
	if (answered) {
		woke(&m, 0, 190, A, B);
	} else {
		woke_in(&m, 1, 190, 0, B, TIMELINE_WAKING, CONTEXT_TIMER);
	}
	switched(&m, 1, 195, 0, R, B);
	switched(&m, 0, 200, A, state, 0);
	if (sleeps) {
		switched(&m, 1, 210, B, S, 0);
		woke_in(&m, 1, 600, 0, B, TIMELINE_WAKING, CONTEXT_TIMER);
		switched(&m, 1, 605, 0, R, B);
	}
	woke(&m, 1, 700, B, A);
	switched(&m, 0, 705, 0, R, A);
	woke(&m, 0, 800, A, C);
	switched(&m, 1, 810, B, R, C);
	ends(&m, A, C);
	return m;
}

static bool idles(bool asked, bool answered, bool sleeps, int32_t state)
{
	struct made m = idle_or_not(asked, answered, sleeps, state);
	bool is = may_idle(&m, A, 300);

	made_free(&m);
	return is;
}

START_TEST(a_wait_that_somebody_else_waits_for_is_not_idle)
{
	ck_assert(!idles(true, false, true, S));
	ck_assert(idles(false, false, true, S));
}
END_TEST

START_TEST(a_wait_for_who_computed_is_not_idle)
{
	ck_assert(!idles(false, false, false, S));
	ck_assert(!idles(false, true, false, S));
}
END_TEST

/* C asked A at 90 and waits for it, as does who A woke at 110, unless others
 * woke that one so often since that nobody looks as far back. */
static bool idles_behind(int wakes)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 0, 10, 0, R, A);
	switched(&m, 1, 15, 0, R, C);
	switched(&m, 0, 50, A, S, 0);
	woke(&m, 1, 90, C, A);
	switched(&m, 1, 95, C, S, 0);
	switched(&m, 0, 100, 0, R, A);
	woke(&m, 0, 110, A, B);
	for (int i = 0; i < wakes; i++)
		woke_in(&m, 1, 120 + i / 8, 0, B, TIMELINE_WAKING,
			CONTEXT_TIMER);
	switched(&m, 1, 195, 0, R, B);
	switched(&m, 0, 200, A, S, 0);
	switched(&m, 1, 210, B, S, 0);
	woke_in(&m, 1, 600, 0, B, TIMELINE_WAKING, CONTEXT_TIMER);
	switched(&m, 1, 605, 0, R, B);
	woke(&m, 1, 700, B, A);
	switched(&m, 0, 705, 0, R, A);
	woke(&m, 0, 800, A, C);
	switched(&m, 1, 810, B, R, C);
	ends(&m, A, C);

	bool is = may_idle(&m, A, 300);

	made_free(&m);
	return is;
}

START_TEST(an_answer_is_among_the_last_256_wake_ups)
{
	ck_assert(idles_behind(0));
	ck_assert(idles_behind(255));
	ck_assert(!idles_behind(256));
	ck_assert(!idles_behind(400));
}
END_TEST

/* It may have asked one that slept, and then no other wait tells so. */
START_TEST(a_wait_for_who_slept_behind_an_answer_is_idle)
{
	ck_assert(idles(false, true, true, S));
	ck_assert(idles(true, true, true, S));
}
END_TEST

START_TEST(only_a_wait_that_can_be_interrupted_is_idle)
{
	ck_assert(!idles(false, false, true, 2));    /* D */
	ck_assert(idles(false, false, false, 0x80)); /* I */
}
END_TEST

/* CPU 0 is read behind CPU 1, so that the last wake-up that was read is before
 * the wait: a search from it on ends there. */
START_TEST(a_wait_behind_the_last_wake_up_is_looked_at)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 1, 5, 0, R, B);
	switched(&m, 1, 210, B, S, 0);
	woke_in(&m, 1, 600, 0, B, TIMELINE_WAKING, CONTEXT_TIMER);
	switched(&m, 1, 605, 0, R, B);
	woke(&m, 1, 700, B, A);
	switched(&m, 0, 10, 0, R, A);
	woke(&m, 0, 190, A, B);
	switched(&m, 0, 200, A, S, 0);
	switched(&m, 0, 705, 0, R, A);
	ends(&m, A, B);
	ck_assert(may_idle(&m, A, 300));
	made_free(&m);
}
END_TEST

/* A sleeps for its own timer; in an uninterruptible sleep, it waits for a disk.
 */
START_TEST(a_sleep_of_its_own_is_idle)
{
	for (int32_t state = S; state <= 2; state++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, state, 0);
		woke_in(&m, 0, 500, 0, A, TIMELINE_WAKING, CONTEXT_HARDIRQ);
		switched(&m, 0, 510, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(may_idle(&m, A, 300), state == S);
		made_free(&m);
	}
}
END_TEST

/* It was woken at once, and then had no CPU; or nobody knows by whom. */
START_TEST(a_wait_for_a_cpu_or_for_what_is_not_known_is_not_idle)
{
	for (int k = 0; k < 3; k++) {
		struct made m = schedule_new(two_cpus);

		switched(&m, 1, 5, 0, R, B);
		switched(&m, 0, 10, 0, R, A);
		switched(&m, 0, 100, A, S, 0);
		if (k == 0)
			woke_in(&m, 1, 450, B, A, TIMELINE_WAKING,
				CONTEXT_TIMER);
		if (k == 1)
			woke_in(&m, 1, 150, B, A, TIMELINE_WAKING,
				CONTEXT_TIMER);
		if (k == 2)
			woke_in(&m, 1, 450, B, A, TIMELINE_WAKING,
				CONTEXT_SOFTIRQ_UNKNOWN);
		switched(&m, 0, 500, 0, R, A);
		ends(&m, A, B);
		ck_assert_int_eq(may_idle(&m, A, 110), k == 0);
		made_free(&m);
	}
}
END_TEST

/* Who woke is deduced from a loss: no wake-up is behind the last one of A. */
START_TEST(a_wait_of_which_the_end_was_lost_has_no_wake_up_behind_it)
{
	struct made m = schedule_new(two_cpus);

	lose(&m, 1, 400, 500, 2);
	switched(&m, 1, 5, 0, R, C);
	switched(&m, 0, 10, 0, R, A);
	woke(&m, 0, 90, A, B);
	switched(&m, 1, 95, C, S, B);
	switched(&m, 0, 100, A, S, 0);
	seen(&m, 1, 400, B);
	seen(&m, 1, 500, B);
	switched(&m, 0, 600, 0, R, A);
	ends(&m, A, B);
	ck_assert_int_ne(piece_at(&m, A, 200).edge, TIMELINE_NONE);
	ck_assert(!may_idle(&m, A, 200));
	made_free(&m);
}
END_TEST

/* ---- silent tasks */

/* sched_waking on CPU 0; the thread last ran on CPU `target`. */
static void woke_from(struct made *m, int64_t time, int32_t current,
		      int32_t woken, int32_t target)
{
	add(m, (struct timeline_record){ .time = time,
					 .current = current,
					 .other = woken,
					 .target = target,
					 .kind = TIMELINE_WAKING,
					 .context = CONTEXT_TASK });
}

/* A sleeps on CPU 1 `gaps` times, and B wakes it behind 40, while its idle task
 * is there, of which nothing is recorded. C sleeps, too, and B wakes it. */
static struct made silent_idle(int gaps)
{
	struct made m = schedule_new(two_cpus);

	switched(&m, 0, 2, 0, R, C);
	switched(&m, 0, 5, C, S, B);
	seen(&m, 1, 10, A);
	for (int i = 0; i < gaps; i++) {
		int64_t at = 100 * (i + 1);

		switched(&m, 1, at, A, S, 0);
		woke_from(&m, at + 40, B, A, 1);
		seen(&m, 1, at + 60, A);
	}
	return m;
}

/* A at CPU 0 leaves for B at 100, and has a record at `time` behind it; flags
 * say that interrupts are off. B leaves for A at 300. */
static struct made in_the_switch(int64_t time, bool irqs_off)
{
	struct made m = schedule_new(two_cpus);

	seen(&m, 0, 0, A);
	seen(&m, 1, 0, C);
	switched(&m, 0, 100, A, R, B);
	add(&m, (struct timeline_record){ .time = time,
					  .cpu = 0,
					  .current = A,
					  .irqs_off = irqs_off,
					  .kind = TIMELINE_SEEN });
	return m;
}

START_TEST(who_leaves_may_write_a_record_in_the_switch)
{
	struct made m = in_the_switch(110, true);

	seen(&m, 0, 120, B);
	switched(&m, 0, 300, B, S, A);
	ends(&m, A, C);
	ck_assert_uint_eq(m.t->contradictions, 0);
	check_state(&m, B, 200, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(but_not_with_interrupts_on)
{
	struct made m = in_the_switch(110, false);

	switched(&m, 0, 300, B, S, A);
	ends(&m, A, C);
	ck_assert_uint_eq(m.t->contradictions, 2);
	made_free(&m);
}
END_TEST

/* Interrupts are off in a switch. */
START_TEST(nor_in_an_interrupt)
{
	struct made m = schedule_new(two_cpus);

	seen(&m, 0, 0, A);
	seen(&m, 1, 0, C);
	switched(&m, 0, 100, A, R, B);
	add(&m, (struct timeline_record){ .time = 110,
					  .current = A,
					  .irqs_off = true,
					  .interrupt = true,
					  .kind = TIMELINE_SEEN });
	switched(&m, 0, 300, B, S, A);
	ends(&m, A, C);
	ck_assert_uint_eq(m.t->contradictions, 2);
	made_free(&m);
}
END_TEST

/* Then B left without a record, at any time behind the switch. */
START_TEST(nor_if_it_is_there_at_the_next_switch)
{
	struct made m = in_the_switch(200, true);

	switched(&m, 0, 300, A, S, B);
	ends(&m, B, C);
	ck_assert_uint_eq(m.t->contradictions, 1);
	proof_is_unknown_or_less(&m, B, 200);
	made_free(&m);
}
END_TEST

START_TEST(a_switch_that_is_there_twice_is_one)
{
	struct made m = schedule_new(two_cpus);

	seen(&m, 0, 0, A);
	seen(&m, 1, 0, C);
	switched(&m, 0, 100, A, R, B);
	switched(&m, 0, 100, A, R, B);
	switched(&m, 0, 300, B, S, A);
	switched(&m, 0, 300, B, S, A);
	ends(&m, A, C);
	ck_assert_uint_eq(m.t->contradictions, 0);
	check_state(&m, B, 200, PIECE_RUN, PROOF_PROVED);
	made_free(&m);
}
END_TEST

START_TEST(a_silent_task_leaves_all_others_complete)
{
	struct made m = silent_idle(5);

	woke(&m, 0, 700, B, C);
	switched(&m, 0, 800, B, S, C);
	ends(&m, C, A);
	ck_assert_uint_eq(m.t->contradictions, 0);
	ck_assert_int_eq(m.t->silent[0].cpu, 1);
	ck_assert_uint_eq(m.t->n_silent, 1);
	ck_assert_uint_eq(m.t->silent[0].gaps, 5);
	/* A may have come at any time, and been on its way to sleep again */
	proof_is_unknown_or_less(&m, A, 120);
	check_state(&m, A, 180, PIECE_RUN, PROOF_PROVED);
	check_state(&m, C, 300, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, C, 300, B));
	made_free(&m);
}
END_TEST

/* Three may be chance: a thread that ran as often, and is lost each time. */
START_TEST(a_few_gaps_make_no_silent_task)
{
	struct made m = silent_idle(3);

	ends(&m, B, A);
	ck_assert_uint_eq(m.t->n_silent, 0);
	ck_assert_uint_eq(m.t->contradictions, 3);
	proof_is_unknown_or_less(&m, A, 120);
	made_free(&m);
}
END_TEST

START_TEST(a_task_that_is_heard_once_is_not_silent)
{
	struct made m = silent_idle(5);

	switched(&m, 1, 700, A, S, 0);
	seen(&m, 1, 710, 0);
	ends(&m, B, 0);
	ck_assert_uint_eq(m.t->contradictions, 5);
	proof_is_unknown_or_less(&m, A, 120);
	made_free(&m);
}
END_TEST

/* What woke A at 750 is missing, as the idle task was there: it may have come
 * at any time since 700. */
START_TEST(what_a_silent_task_woke_is_not_known)
{
	struct made m = silent_idle(5);

	switched(&m, 1, 700, A, S, 0);
	seen(&m, 1, 800, A);
	ends(&m, B, A);
	proof_is_unknown_or_less(&m, A, 750);
	made_free(&m);
}
END_TEST

/* One record is lost, and A was there before and behind it: it may have left by
 * that record, and come back unseen. */
START_TEST(numbers_prove_nothing_beside_silent_tasks)
{
	for (int gaps = 0; gaps < 6; gaps += 5) {
		struct made m = schedule_new(two_cpus);

		lose(&m, 1, 700, 800, 1);
		seen(&m, 0, 5, B);
		seen(&m, 1, 10, A);
		for (int i = 0; i < gaps; i++) {
			switched(&m, 1, 100 * (i + 1), A, S, 0);
			seen(&m, 1, 100 * (i + 1) + 60, A);
		}
		seen(&m, 1, 700, A);
		seen(&m, 1, 800, A);
		ends(&m, B, A);
		ck_assert_int_eq(piece_at(&m, A, 750).proof == PROOF_PROVED,
				 !gaps);
		made_free(&m);
	}
}
END_TEST

/* C came unseen behind the idle task; B wakes D meanwhile, which sleeps on CPU
 * 0: C's run has nothing to do with it. */
START_TEST(others_sleep_as_proved_while_a_silent_task_is_there)
{
	struct made m = silent_idle(5);

	switched(&m, 0, 700, B, R, D);
	switched(&m, 0, 710, D, S, B);
	switched(&m, 1, 720, A, S, 0);
	seen(&m, 1, 760, C);
	woke(&m, 0, 780, B, D);
	switched(&m, 0, 790, B, S, D);
	ends(&m, D, C);
	check_state(&m, D, 770, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, D, 770, B));
	made_free(&m);
}
END_TEST

/* An interrupt shows that the idle task was still there at 750, so A had not
 * come; of what follows nothing is known but that it came. */
START_TEST(an_interrupt_shows_that_a_silent_task_is_there)
{
	struct made m = silent_idle(5);

	switched(&m, 1, 700, A, S, 0);
	woke_from(&m, 740, B, A, 1);
	add(&m, (struct timeline_record){ .time = 750,
					  .cpu = 1,
					  .current = 0,
					  .interrupt = true,
					  .kind = TIMELINE_SEEN });
	seen(&m, 1, 800, A);
	ends(&m, B, A);
	ck_assert_uint_eq(m.t->contradictions, 0);
	check_state(&m, A, 720, PIECE_BLOCKED, PROOF_PROVED);
	ck_assert(is_by(&m, A, 720, B));
	check_state(&m, A, 745, PIECE_READY, PROOF_PROVED);
	check_state(&m, A, 780, PIECE_UNKNOWN, PROOF_UNKNOWN);
	made_free(&m);
}
END_TEST

/* B wakes A, which last ran on CPU 0, so it came to CPU 1 behind that; if it
 * last ran on CPU 1, that is only likely. */
START_TEST(a_waking_shows_where_a_thread_last_ran)
{
	for (int target = 0; target < 2; target++) {
		struct made m = silent_idle(5);

		switched(&m, 1, 700, A, S, 0);
		woke_from(&m, 740, B, A, target);
		seen(&m, 1, 800, A);
		ends(&m, B, A);
		check_state(&m, A, 720, PIECE_BLOCKED,
			    target ? PROOF_LIKELY : PROOF_PROVED);
		ck_assert_int_eq(is_by(&m, A, 720, B), !target);
		check_state(&m, A, 780, PIECE_UNKNOWN, PROOF_UNKNOWN);
		made_free(&m);
	}
}
END_TEST

/* The capture begins with an interrupt of the idle task, and another silent
 * task comes behind it, of which an interrupt only has a record. */
START_TEST(silent_tasks_follow_each_other)
{
	struct made m = schedule_new(two_cpus);
	struct timeline_record idle = { .cpu = 1,
					.interrupt = true,
					.kind = TIMELINE_SEEN };

	add(&m, idle);
	seen(&m, 0, 5, B);
	for (int64_t at = 100; at < 600; at += 100) {
		seen(&m, 1, at, A);
		switched(&m, 1, at + 10, A, S, 0);
		idle.time = at + 20;
		add(&m, idle);
		woke_from(&m, at + 40, B, A, 1);
		idle.time = at + 50;
		idle.current = C;
		add(&m, idle);
		idle.current = 0;
	}
	ends(&m, B, A);
	ck_assert_uint_eq(m.t->n_silent, 2);
	ck_assert_uint_eq(m.t->contradictions, 0);
	check_state(&m, A, 115, PIECE_BLOCKED, PROOF_PROVED);
	made_free(&m);
}
END_TEST

/* D was never current: it may be silent too. */
START_TEST(nothing_is_known_of_a_thread_that_may_be_silent)
{
	struct made m = silent_idle(5);

	woke(&m, 0, 700, B, D);
	ends(&m, B, A);
	check_state(&m, D, 800, PIECE_UNKNOWN, PROOF_UNKNOWN);
	made_free(&m);
}
END_TEST

START_TEST(what_is_missing_is_told_with_its_premise)
{
	struct made m = silent_idle(5);

	ends(&m, B, A);
	ck_assert_uint_eq(missing_premise(m.t), MISSING_IF_TASKS);
	ck_assert(missing_in(m.t, 1, 110, 130, true));
	ck_assert(missing_in(m.t, -1, 110, 130, true));
	ck_assert(!missing_in(m.t, 1, 110, 130, false));
	ck_assert(!missing_in(m.t, 0, 110, 130, true));
	ck_assert(!missing_in(m.t, -1, 161, 200, true));
	made_free(&m);
}
END_TEST

/* Pairs are kept as one, those that are too far apart are not, and all are told
 * as they were added, in the order of their thread. */
START_TEST(a_wakeup_kept_with_its_waking_is_told_as_it_was)
{
	struct made m = { .t = timeline_new(&two_cpus) };
	struct numbers x;
	uint32_t stack;
	static const struct {
		int64_t time, event;
		bool second;
	} want[] = {
		{ 100, 1, false },     { 103, 3, true },
		{ 200, 5, false },     { 200 + 1048575, 6, true },
		{ 2000000, 7, false }, { 2000000 + 1048576, 8, false },
		{ 4000000, 9, false }, { 4000001, 300, false },
	};

	woke(&m, 0, 100, A, B);
	woke(&m, 1, 101, -1, C);
	queued(&m, 0, 103, A, B);
	queued(&m, 0, 104, A, C);
	woke(&m, 0, 200, A, B);
	queued(&m, 1, 200 + 1048575, -1, B);
	woke(&m, 0, 2000000, A, B);
	queued(&m, 0, 2000000 + 1048576, A, B);
	woke(&m, 0, 4000000, A, B);
	m.id = 299;
	queued(&m, 0, 4000001, A, B);
	timeline_seal(m.t);
	x = lists_get(&m.t->wakes, timeline_thread(m.t, B));
	ck_assert_uint_eq(x.n, ARRAY_SIZE(want));
	for (size_t i = 0; i < x.n; i++) {
		struct timeline_wake w = timeline_wake(m.t, numbers_get(&x, i));

		ck_assert_int_eq(w.time, want[i].time);
		ck_assert_int_eq(w.event, want[i].event);
		ck_assert_int_eq(w.kind,
				 i % 2 ? TIMELINE_WAKEUP : TIMELINE_WAKING);
		ck_assert_int_eq(w.waker, i == 3 ? -1 : A);
		ck_assert_int_eq(w.number & 1, want[i].second);
		ck_assert(timeline_stack(m.t, w.event, &stack));
	}
	ck_assert(!timeline_stack(m.t, 10, &stack));
	ck_assert(!timeline_stack(m.t, 0, &stack));
	made_free(&m);
}
END_TEST

RUN("causes", a_wakeup_kept_with_its_waking_is_told_as_it_was,
    who_leaves_may_write_a_record_in_the_switch, but_not_with_interrupts_on,
    nor_in_an_interrupt, nor_if_it_is_there_at_the_next_switch,
    a_switch_that_is_there_twice_is_one,
    a_silent_task_leaves_all_others_complete, a_few_gaps_make_no_silent_task,
    a_task_that_is_heard_once_is_not_silent,
    what_a_silent_task_woke_is_not_known,
    numbers_prove_nothing_beside_silent_tasks,
    others_sleep_as_proved_while_a_silent_task_is_there,
    an_interrupt_shows_that_a_silent_task_is_there,
    a_waking_shows_where_a_thread_last_ran, silent_tasks_follow_each_other,
    nothing_is_known_of_a_thread_that_may_be_silent,
    what_is_missing_is_told_with_its_premise,
    records_of_switches_tell_what_sched_switch_does,
    a_thread_that_leaves_ready_is_ready,
    a_thread_that_leaves_unmarked_may_be_ready,
    a_thread_that_never_comes_back_may_be_dead,
    wake_ups_end_before_records_of_switches,
    a_cpu_is_not_idle_because_it_has_interrupts,
    a_race_is_certain_while_wakeups_are_on, who_has_no_tid_may_come_back,
    a_dying_thread_that_leaves_is_who_was_there,
    half_of_a_switch_is_missing_without_a_loss,
    another_thread_comes_than_the_one_that_was_to,
    a_loss_between_records_of_switches_is_told,
    two_wakings_need_a_run_in_between, a_recorder_runs_without_a_wake,
    a_recorder_sleeps_without_a_wake, a_cpu_that_was_off_hides_nothing,
    a_pending_signal_may_hide_behind_a_loss,
    wakeups_that_are_on_later_count_for_nothing,
    what_is_lost_before_the_sleep_counts_too,
    a_wakeup_in_an_interrupt_tells_no_waker,
    a_record_that_comes_late_may_be_anywhere,
    a_loss_around_a_record_has_no_number, a_loss_that_lasts_is_one_loss,
    a_record_of_no_cpu_hides_everything,
    a_thread_that_was_not_seen_before_may_be_new,
    a_waker_without_a_name_is_who_is_there, a_wait_has_its_waker,
    a_chain_goes_to_the_waker_and_covers_all,
    a_thread_that_calls_exec_goes_on_as_the_first,
    without_an_exec_another_thread_is_a_missing_switch,
    the_first_thread_may_leave_behind_the_exec,
    a_wake_before_the_switch_out_is_a_race, preempted_is_ready,
    a_sleep_without_a_wake_is_not_known,
    a_pending_signal_may_say_sleep_of_a_ready_thread,
    a_child_waits_for_its_parent,
    a_wake_in_an_interrupt_is_not_the_current_threads,
    a_record_of_an_impossible_time_may_have_been_anywhere,
    too_few_records_are_lost_for_a_run_from_sleep,
    what_is_likely_is_not_in_a_loss_that_holds_a_wait,
    two_records_are_enough_for_a_run_that_was_woken,
    a_recorded_wakeup_leaves_three,
    a_wait_right_after_a_loss_may_have_been_raced,
    a_recorder_that_may_pause_proves_nothing_near_a_gap,
    a_pause_that_shows_leaves_only_what_records_tell,
    absence_proves_nothing_beside_hundreds_of_gaps,
    a_thread_that_is_away_has_no_piece_for_each_loss,
    numbers_prove_nothing_where_records_are_missing_silently,
    wakes_count_as_absent_only_where_they_are_on,
    a_softirq_is_the_threads_or_not, without_wakings_a_wait_is_only_off,
    no_thread_runs_until_the_end, equal_times_of_two_cpus_have_no_order,
    one_lost_record_is_one_switch, a_cpu_without_records_hides_everything,
    only_wakeups_prove_the_waker_but_not_the_time,
    time_of_a_thread_is_cut_at_what_is_asked_for,
    what_is_only_likely_is_in_no_sum, ready_is_behind_who_was_there_longest,
    a_run_on_another_cpu_is_a_move,
    a_wait_that_somebody_else_waits_for_is_not_idle,
    a_wait_for_who_computed_is_not_idle,
    an_answer_is_among_the_last_256_wake_ups,
    a_wait_for_who_slept_behind_an_answer_is_idle,
    only_a_wait_that_can_be_interrupted_is_idle, a_sleep_of_its_own_is_idle,
    a_wait_behind_the_last_wake_up_is_looked_at,
    a_wait_for_a_cpu_or_for_what_is_not_known_is_not_idle,
    a_wait_of_which_the_end_was_lost_has_no_wake_up_behind_it)
