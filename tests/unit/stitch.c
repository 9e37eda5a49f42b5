/* stitch.c - whole runs: records in, facts out, everything accounted for. */
#include "stitch/stitch.h"

#include <sys/mman.h>

#include "stitch/fact.h"
#include "stitch/tasks/regs.h"
#include "stitch/unwinder.h"

#include "tests/unit/run.h"
#include "tests/unit/facts.h"

/* Ids 1..n of facts of one kind, each given out exactly once. */
struct ids {
	bool *got;
	uint32_t n;
};

static struct ids ids_of(const struct all_facts *all, enum fact_kind kind)
{
	struct ids ids = { .n = (uint32_t)fact_count(all, kind) };

	ids.got = mem_new(ids.n + 1, sizeof(*ids.got));
	for (size_t i = 0; i < all->n; i++) {
		const struct fact *f = &all->fact[i];
		uint32_t id;

		if (f->kind != kind)
			continue;
		id = kind == FACT_EVENT	    ? f->event.id
		     : kind == FACT_CHAIN   ? f->chain.id
		     : kind == FACT_PROCESS ? f->process.id
		     : kind == FACT_THREAD  ? f->thread.id
		     : kind == FACT_COMM    ? f->comm.id
					    : f->mapping.id;
		must(id >= 1 && id <= ids.n && !ids.got[id]);
		ids.got[id] = true;
	}
	return ids;
}

static bool stitch_known(const struct ids *ids, uint32_t id)
{
	return id >= 1 && id <= ids->n;
}

static void check_fact(const struct all_facts *all, const struct fact *f,
		       const struct ids *thread, const struct ids *process,
		       const struct ids *comm)
{
	switch (f->kind) {
	case FACT_EVENT:
		must(stitch_known(thread, f->event.thread));
		must(stitch_known(comm, f->event.comm));
		must(f->event.kraw <= all->frames->n_raw);
		must(f->event.uraw <= all->frames->n_raw);
		break;
	case FACT_CHAIN:
		must(stitch_known(thread, f->chain.thread));
		must(chain_verdict_name(f->chain.verdict));
		must(confidence_name(f->chain.confidence));
		must(quality_name(f->chain.quality));
		must((f->chain.verdict == CHAIN_USED) ==
		     (f->chain.n_events > 0));
		break;
	case FACT_THREAD:
		must(stitch_known(process, f->thread.process));
		break;
	case FACT_COMM:
		must(stitch_known(thread, f->comm.thread));
		break;
	case FACT_PROCESS:
		must(!f->process.parent ||
		     stitch_known(process, f->process.parent));
		break;
	case FACT_MAPPING:
		must(!f->mapping.process ||
		     stitch_known(process, f->mapping.process));
		must(f->mapping.t1 == TIME_NONE ||
		     f->mapping.t0 <= f->mapping.t1);
		must(f->mapping.start <= f->mapping.end - 1);
		break;
	default:
		break;
	}
}

/* One request for each event that asked, none for others; a matched one
 * names a chain that was used that often. */
static void check_requests(const struct all_facts *all, uint32_t events,
			   uint32_t chains)
{
	uint32_t *uses = mem_new(chains + 1, sizeof(*uses));
	bool *got = mem_new(events + 1, sizeof(*got));

	for (size_t i = 0; i < all->n; i++) {
		const struct fact_request *r = &all->fact[i].request;

		if (all->fact[i].kind != FACT_REQUEST)
			continue;
		must(r->event >= 1 && r->event <= events && !got[r->event]);
		got[r->event] = true;
		must(request_verdict_name(r->verdict));
		must(confidence_name(r->confidence));
		must((r->verdict == REQ_MATCHED || r->verdict == REQ_EMPTY) ==
		     (r->chain != 0));
		must(r->chain <= chains);
		uses[r->chain]++;
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct fact_chain *c = &all->fact[i].chain;

		if (all->fact[i].kind == FACT_CHAIN)
			must(c->n_events == uses[c->id]);
	}
	free(uses);
	free(got);
}

static void stitch_check_all(const struct all_facts *all)
{
	struct ids event = ids_of(all, FACT_EVENT);
	struct ids chain = ids_of(all, FACT_CHAIN);
	struct ids process = ids_of(all, FACT_PROCESS);
	struct ids thread = ids_of(all, FACT_THREAD);
	struct ids comm = ids_of(all, FACT_COMM);
	struct ids mapping = ids_of(all, FACT_MAPPING);

	for (size_t i = 0; i < all->n; i++)
		check_fact(all, &all->fact[i], &thread, &process, &comm);
	check_requests(all, event.n, chain.n);
	free(event.got);
	free(chain.got);
	free(process.got);
	free(thread.got);
	free(comm.got);
	free(mapping.got);
}

/* A kernel in small: threads that run, ask, return, exit, exec and are born,
 * each record kept with a probability. */
#define TIDS 12

struct kernel {
	struct fake *f;
	uint64_t seed, now;
	uint64_t cookie[TIDS + 1];  /* open one of a thread; 0: none */
	uint64_t old[TIDS + 1];	    /* the one before */
	uint64_t sampled[TIDS + 1]; /* cookie whose sample was kept */
	bool alive[TIDS + 1];
	uint64_t next_cookie;
	uint64_t keep;	 /* of 1000 records */
	uint64_t jitter; /* how far a time may be behind */
	size_t asked, chains, unanswered;
};

static bool stitch_kept(struct kernel *k)
{
	return rnd_below(&k->seed, 1000) < k->keep;
}

static uint64_t stitch_tick(struct kernel *k)
{
	k->now += 1 + rnd_below(&k->seed, 100);
	if (k->jitter && !rnd_below(&k->seed, 20) && k->now > k->jitter)
		return k->now - rnd_below(&k->seed, k->jitter);
	return k->now;
}

static void kernel_sample(struct kernel *k, int32_t tid)
{
	uint64_t late = rnd_below(&k->seed, 20);

	if (late || !k->old[tid] || k->cookie[tid]) {
		if (!k->cookie[tid])
			k->cookie[tid] = k->next_cookie += 2;
	}
	uint64_t cookie = k->cookie[tid] ? k->cookie[tid] : k->old[tid];

	if (!stitch_kept(k)) {
		fake_lost(k->f, stitch_tick(k), (int32_t)rnd_below(&k->seed, 4),
			  1);
		return;
	}
	struct fake_rec *s = fake_sample(k->f, stitch_tick(k), tid, cookie);

	s->rec.cpu = (int32_t)rnd_below(&k->seed, 4);
	k->asked++;
}

static void kernel_return(struct kernel *k, int32_t tid)
{
	if (!k->cookie[tid])
		return;
	if (stitch_kept(k)) {
		/* The chain names its cookie and its thread. */
		struct fake_rec *c =
			fake_chain(k->f, stitch_tick(k), tid, k->cookie[tid]);

		c->ip[1] = 0x100000 + (uint64_t)tid;
		k->chains++;
	} else {
		fake_lost(k->f, stitch_tick(k), (int32_t)rnd_below(&k->seed, 4),
			  1);
	}
	k->old[tid] = k->cookie[tid];
	k->cookie[tid] = 0;
}

static void kernel_exit(struct kernel *k, int32_t tid)
{
	if (stitch_kept(k))
		fake_exit(k->f, stitch_tick(k), tid);
	kernel_return(k, tid);
	k->alive[tid] = false;
	k->old[tid] = 0;
}

static void kernel_step(struct kernel *k)
{
	int32_t tid = 1 + (int32_t)rnd_below(&k->seed, TIDS);
	uint64_t what = rnd_below(&k->seed, 100);

	if (!k->alive[tid]) {
		k->alive[tid] = true;
		if (stitch_kept(k))
			fake_fork(k->f, stitch_tick(k), tid,
				  1 + (int32_t)rnd_below(&k->seed, TIDS));
	} else if (what < 50) {
		kernel_sample(k, tid);
	} else if (what < 90) {
		kernel_return(k, tid);
	} else if (what < 94) {
		kernel_exit(k, tid);
	} else if (what < 97) {
		if (stitch_kept(k))
			fake_comm(k->f, stitch_tick(k), tid, "name",
				  what == 96);
	} else if (stitch_kept(k)) {
		fake_map(k->f, stitch_tick(k), tid,
			 rnd_below(&k->seed, 16) << 12,
			 (1 + rnd_below(&k->seed, 4)) << 12, "/bin/a");
	}
}

static struct kernel kernel_run(uint64_t seed, size_t steps, uint64_t keep,
				uint64_t jitter)
{
	struct kernel k = {
		.f = fake_new(), .seed = seed, .keep = keep, .jitter = jitter
	};

	for (int32_t tid = 1; tid <= TIDS; tid++)
		k.alive[tid] = true;
	for (size_t i = 0; i < steps; i++)
		kernel_step(&k);
	return k;
}

/* What is called matched is the stack of that very request. */
static void check_matches(const struct all_facts *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct fact_request *r = &all->fact[i].request;

		if (all->fact[i].kind != FACT_REQUEST ||
		    r->verdict != REQ_MATCHED)
			continue;
		const struct raw_chain *raw =
			frames_get_raw(all->frames, r->uraw);
		must(raw->inner[0] == 0x1000 + r->cookie);
	}
}

static size_t count_verdict(const struct all_facts *all, enum request_verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->fact[i].kind == FACT_REQUEST &&
		     all->fact[i].request.verdict == v;
	return n;
}

static void random_runs(uint64_t keep, uint64_t jitter, bool trusting,
			int rounds)
{
	for (int seed = 1; seed <= rounds; seed++) {
		if (!turn_is((uint64_t)seed, RUN_FEWER * 3))
			continue;
		struct kernel k = kernel_run((uint64_t)seed, 400, keep, jitter);

		k.f->trusting = trusting;
		k.f->src.info.exact = !trusting;
		struct all_facts all = stitch_all(&k.f, 1);

		stitch_check_all(&all);
		check_matches(&all);
		must(fact_count(&all, FACT_REQUEST) == k.asked);
		must(fact_count(&all, FACT_EVENT) == k.asked);
		must(fact_count(&all, FACT_CHAIN) == k.chains);
		if (keep == 1000 && !jitter)
			must(count_verdict(&all, REQ_MATCHED) +
				     count_verdict(&all, REQ_PENDING_END) ==
			     k.asked);
		facts_done(&all);
	}
}

START_TEST(without_loss_all_but_the_pending_are_matched)
{
	random_runs(1000, 0, false, 1000);
}
END_TEST

START_TEST(each_request_and_chain_has_one_verdict_under_loss)
{
	random_runs(900, 0, false, 2000);
	random_runs(500, 0, false, 1000);
	random_runs(100, 0, false, 1000);
}
END_TEST

START_TEST(each_request_and_chain_has_one_verdict_in_disorder)
{
	random_runs(950, 3000, false, 1000);
	random_runs(950, 3000, true, 1000);
}
END_TEST

START_TEST(a_long_run_is_accounted_for_too)
{
	struct kernel k = kernel_run(7, 300000 / RUN_FEWER, 950, 0);
	struct all_facts all = stitch_all(&k.f, 1);

	stitch_check_all(&all);
	check_matches(&all);
	must(fact_count(&all, FACT_REQUEST) == k.asked);
	must(fact_count(&all, FACT_CHAIN) == k.chains);
	facts_done(&all);
}
END_TEST

START_TEST(a_chain_that_was_not_recorded_as_such_is_marked)
{
	const struct {
		uint32_t flags;
		uint8_t ended;
	} row[] = {
		{ 0, UNWIND_NONE },
		{ REC_F_HIT, UNWIND_HIT },
		{ REC_F_LBR, UNWIND_OUTERMOST },
		{ REC_F_CONVERTED, UNWIND_CONVERTED },
	};
	struct fake *f = fake_new();
	size_t n = sizeof(row) / sizeof(*row);

	for (size_t i = 0; i < n; i++) {
		struct fake_rec *fr = fake_sample(f, 10 + i, 1, 0);

		fr->rec.flags = REC_F_USER | row[i].flags;
		fr->rec.sample.event = 1;
		fr->rec.sample.user.n = 1;
		fr->ip[0] = 0x99;
	}
	struct all_facts all = stitch_all(&f, 1);

	for (size_t i = 0; i < n; i++) {
		const struct fact *e = fact_at(&all, FACT_EVENT, i);

		must(frames_get_raw(all.frames, e->event.uraw)->note.ended ==
		     row[i].ended);
	}
	facts_done(&all);
}
END_TEST

START_TEST(equal_stacks_of_two_processes_are_one_raw_chain)
{
	const uint64_t addr[] = { 0x1099, 0x1099, 0x1077 };
	uint32_t raw[3];
	struct fake *f = fake_new();

	for (size_t i = 0; i < 3; i++) {
		struct fake_rec *fr = fake_sample(f, 10 + i, 1 + (int32_t)i, 0);

		fr->rec.flags = REC_F_USER;
		fr->rec.sample.event = 1;
		fr->rec.sample.user.n = 1;
		fr->ip[0] = addr[i];
	}
	struct all_facts all = stitch_all(&f, 1);

	for (size_t i = 0; i < 3; i++)
		raw[i] = fact_at(&all, FACT_EVENT, i)->event.uraw;
	must(raw[0] && raw[0] == raw[1]);
	must(raw[2] != raw[1]);
	facts_done(&all);
}
END_TEST

/* For struct unwinder_ops.caller: it is missing in programs of 32 bits. */
static enum unwind_caller caller_by_machine(struct unwinder *uw,
					    const struct unwind_in *in,
					    const uint64_t *ip, uint32_t n,
					    bool infer, uint64_t *caller)
{
	(void)uw;
	(void)ip;
	(void)n;
	(void)infer;
	(void)caller;
	return in->machine == MACHINE_386 ? CALLER_MISSING : CALLER_KNOWN;
}

START_TEST(the_caller_of_an_address_depends_on_the_machine)
{
	static const struct unwinder_ops ops = { .caller = caller_by_machine };
	static const uint32_t abi[] = { 2, 1, 0, 1 };
	struct unwinder uw = { &ops };
	struct fake *f = fake_new();

	f->src.info.arch = "x86_64";
	fake_map(f, 1, 1, 0x1000, 0x1000, "/bin/a");
	for (size_t i = 0; i < 4; i++) {
		struct fake_rec *fr = fake_sample(f, 10 + i, 1, 0);

		fr->rec.sample.event = 1;
		fr->rec.sample.user.n = 1;
		fr->rec.sample.user_regs.abi = abi[i];
		fr->ip[0] = 0x1099;
	}
	struct all_facts all = stitch_line_with(&uw, &f, 1, false);

	for (size_t i = 0; i < 4; i++) {
		const struct fact *e = fact_at(&all, FACT_EVENT, i);

		must(frames_get_raw(all.frames, e->event.uraw)->note.caller ==
		     (abi[i] == 1 ? CALLER_MISSING : CALLER_KNOWN));
	}
	facts_done(&all);
}
END_TEST

/* Counts in uw->asked; of an odd address it proves the caller. */
struct asked_unwinder {
	struct unwinder uw;
	size_t asked;
};

static enum unwind_caller caller_counted(struct unwinder *uw,
					 const struct unwind_in *in,
					 const uint64_t *ip, uint32_t n,
					 bool infer, uint64_t *caller)
{
	(void)in;
	(void)n;
	(void)infer;
	((struct asked_unwinder *)uw)->asked++;
	*caller = 0x5001;
	return ip[0] % 2 ? CALLER_INFERRED : CALLER_FRAMED;
}

#define ASKED_LISTS 3000

/* A few lists have the place of another one in the cache. */
START_TEST(the_unwinder_is_asked_once_about_a_list)
{
	static const struct unwinder_ops ops = { .caller = caller_counted };
	struct asked_unwinder uw = { { &ops }, 0 };
	struct fake *f = fake_new();

	f->src.info.arch = "x86_64";
	fake_map(f, 1, 1, 0x1000, 0x10000, "/bin/a");
	for (size_t i = 0; i < 2 * (size_t)ASKED_LISTS; i++) {
		struct fake_rec *fr = fake_sample(f, 10 + i, 1, 0);

		fr->rec.sample.event = 1;
		fr->rec.sample.user.n = 2;
		fr->ip[0] = 0x1000 + i % ASKED_LISTS;
		fr->ip[1] = 0x6000;
	}
	struct all_facts all = stitch_line_with(&uw.uw, &f, 1, false);

	must(uw.asked >= ASKED_LISTS && uw.asked < ASKED_LISTS * 4 / 3);
	for (size_t i = 0; i < 2 * (size_t)ASKED_LISTS; i++) {
		const struct fact *e = fact_at(&all, FACT_EVENT, i);
		const struct raw_chain *c =
			frames_get_raw(all.frames, e->event.uraw);

		must(c->note.caller ==
		     (i % 2 ? CALLER_INFERRED : CALLER_FRAMED));
		must(c->n == 2 + i % 2 &&
		     c->inner[0] == 0x1000 + i % ASKED_LISTS);
		must(c->inner[1] == (i % 2 ? 0x5000 : 0x6000));
		must(frames_get_stack(all.frames, c->stack)->depth == c->n);
	}
	facts_done(&all);
}
END_TEST

/* Numbers as only a hostile file has them. */
static int32_t wild_id(uint64_t *seed)
{
	const int32_t v[] = { -1, 0, 1, 2, INT32_MAX, INT32_MIN, -2, 3 };

	return v[rnd_below(seed, 8)];
}

static uint64_t wild(uint64_t *seed)
{
	const uint64_t v[] = { 0,	   1,	       0xfff,
			       0x1000,	   UINT64_MAX, UINT64_MAX - 0xfff,
			       INT64_MAX,  1ull << 63, rnd(seed),
			       0x12345000, UINT32_MAX };

	return v[rnd_below(seed, sizeof(v) / sizeof(v[0]))];
}

static void wild_record(struct fake *f, uint64_t *seed, size_t *asked,
			size_t *chains)
{
	const enum record_kind kinds[] = {
		REC_SAMPLE,  REC_SAMPLE,     REC_CHAIN,	 REC_MAP,
		REC_KSYMBOL, REC_COMM,	     REC_FORK,	 REC_EXIT,
		REC_LOST,    REC_LOST_TOTAL, REC_SWITCH, REC_MARK,
	};
	enum record_kind kind = kinds[rnd_below(seed, 12)];
	struct fake_rec *r =
		fake_add(f, kind, (enum record_class)rnd_below(seed, 10),
			 wild(seed), wild_id(seed));

	r->rec.pid = wild_id(seed);
	r->rec.cpu = wild_id(seed);
	r->rec.flags = (uint32_t)rnd(seed) & 0x3fff & ~REC_F_LATE;
	r->twin = (uint32_t)rnd_below(seed, 3);
	if (kind == REC_SAMPLE) {
		r->rec.sample.event = (uint32_t)rnd_below(seed, 2);
		r->rec.sample.defer = (enum defer)rnd_below(seed, 4);
		r->rec.sample.cookie = wild(seed);
		r->rec.sample.ip = wild(seed);
		*asked += r->rec.sample.defer >= DEFER_COOKIE ||
			  (r->rec.sample.defer == DEFER_DIRECT &&
			   !r->rec.sample.event);
	} else if (kind == REC_CHAIN) {
		r->rec.chain.cookie = wild(seed);
		r->rec.chain.user.n = (uint32_t)rnd_below(seed, 3);
		r->ip[0] = wild(seed);
		++*chains;
	} else if (kind == REC_MAP) {
		r->rec.map = (struct rec_map){ .start = wild(seed),
					       .len = wild(seed),
					       .pgoff = wild(seed),
					       .path = "[kernel.kallsyms]x" };
	} else if (kind == REC_KSYMBOL) {
		r->rec.ksymbol =
			(struct rec_ksymbol){ wild(seed), (uint32_t)wild(seed),
					      1, "bpf", NULL };
	} else if (kind == REC_COMM) {
		r->rec.comm.name = "c";
	} else if (kind == REC_FORK || kind == REC_EXIT) {
		r->rec.fork.ppid = wild_id(seed);
		r->rec.fork.ptid = wild_id(seed);
	} else if (kind == REC_LOST || kind == REC_LOST_TOTAL) {
		r->rec.lost.n = wild(seed);
		r->rec.lost.event = wild_id(seed);
	}
}

START_TEST(hostile_records_are_accounted_for)
{
	for (uint64_t round = 1; round <= 8000; round++) {
		if (!turn_is(round, RUN_FEWER * 4 + 1))
			continue;
		uint64_t seed = round;
		struct fake *f = fake_new();
		size_t asked = 0, chains = 0;

		f->trusting = round % 2;
		f->src.info.exact = round % 4 < 2;
		f->src.info.has_time = round % 3;
		for (int i = 0; i < 300; i++)
			wild_record(f, &seed, &asked, &chains);
		struct all_facts all = stitch_all(&f, 1);

		stitch_check_all(&all);
		must(fact_count(&all, FACT_REQUEST) == asked);
		must(fact_count(&all, FACT_CHAIN) == chains);
		facts_done(&all);
	}
}
END_TEST

/* Whatever they say of each other's threads: each row is given out once. */
START_TEST(captures_of_one_line_are_accounted_for)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		if (!turn_is(seed, RUN_FEWER * 2 + 1))
			continue;
		struct kernel a = kernel_run(seed, 300, 900, 3000);
		struct kernel b = kernel_run(seed + 5000, 300, 700, 0);
		struct fake *f[] = { a.f, b.f, fake_new() };
		uint64_t at = seed;
		size_t asked = a.asked + b.asked;
		size_t chains = 0;

		b.f->trusting = seed % 2;
		b.f->src.info.exact = seed % 2 == 0;
		for (int i = 0; i < 200; i++)
			wild_record(f[2], &at, &asked, &chains);
		struct all_facts all =
			stitch_line(f, seed % 4 < 2 ? 2 : 3, true);

		stitch_check_all(&all);
		must(fact_count(&all, FACT_REQUEST) ==
		     (seed % 4 < 2 ? a.asked + b.asked : asked));
		if (seed % 4 < 2)
			source_close(&f[2]->src);
		facts_done(&all);
	}
}
END_TEST

START_TEST(events_come_in_time_order_with_dense_ids)
{
	struct kernel k = kernel_run(3, 2000, 1000, 500);
	struct all_facts all = stitch_all(&k.f, 1);
	int64_t t = INT64_MIN;
	uint32_t id = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct fact_event *e = &all.fact[i].event;

		if (all.fact[i].kind != FACT_EVENT)
			continue;
		must(e->id == ++id);
		must(e->time >= t);
		t = e->time;
	}
	ck_assert_uint_gt(id, 100);
	facts_done(&all);
}
END_TEST

/* prot: of the first and of the second mapping. */
static void resolve_in_time(uint32_t prot, uint32_t then)
{
	struct fake *f = fake_new();

	fake_map(f, 1, 1, 0x1000, 0x2000, "/bin/old")->rec.map.prot = prot;
	fake_sample(f, 10, 1, 5);
	fake_chain(f, 20, 1, 5);
	fake_map(f, 30, 1, 0x1000, 0x2000, "/bin/new")->rec.map.prot = then;
	fake_sample(f, 40, 1, 5);
	fake_sample(f, 50, 1, 6);
	fake_chain(f, 60, 1, 6)->ip[0] = 0x1005;
	struct all_facts all = stitch_all(&f, 1);
	const char *want[] = { "/bin/old", "/bin/old", "/bin/new" };

	for (uint32_t i = 1; i <= 3; i++) {
		const struct raw_chain *raw = frames_get_raw(
			all.frames, facts_request_of(&all, i)->uraw);
		const struct stack *s =
			frames_get_stack(all.frames, raw->stack);
		const struct frame *fr = frames_get_frame(all.frames, s->frame);

		ck_assert_str_eq(frames_get_image(all.frames, fr->image)->path,
				 want[i - 1]);
		ck_assert_uint_eq(fr->off, 5);
	}
	facts_done(&all);
}

START_TEST(addresses_are_resolved_with_the_maps_of_their_own_time)
{
	const uint32_t prot[] = { 0, PROT_READ | PROT_WRITE,
				  PROT_READ | PROT_EXEC };

	for (size_t i = 0; i < 9; i++)
		resolve_in_time(prot[i / 3], prot[i % 3]);
}
END_TEST

static struct fake_rec *kernel_stack_sample(struct fake *f, uint64_t time)
{
	static const uint64_t ip[] = { 0xffffffff81001005, 0xffffffff81002000 };
	struct fake_rec *fr = fake_sample(f, time, 1, 0);

	fr->rec.sample.kern = (struct addrs){ .ip = ip, .n = 2 };
	return fr;
}

/* Equal lists in a row, before and after code appears at one of them. */
START_TEST(a_kernel_stack_like_the_last_one_is_of_the_map_of_its_own_time)
{
	struct fake *f = fake_new();
	struct fake_rec *fr = fake_map(f, 1, 1, 0xffffffff81000000, 0x10000,
				       "[kernel.kallsyms]_text");

	fr->rec.flags = REC_F_KERNEL;
	for (uint64_t t = 10; t < 13; t++)
		kernel_stack_sample(f, t);
	fr = fake_add(f, REC_KSYMBOL, CLASS_MAP, 20, -1);
	fr->rec.ksymbol = (struct rec_ksymbol){ .addr = 0xffffffff81001000,
						.len = 0x100,
						.type = 1,
						.name = "bpf_prog" };
	for (uint64_t t = 30; t < 33; t++)
		kernel_stack_sample(f, t);
	struct all_facts all = stitch_all(&f, 1);
	uint32_t n = 0;

	for (size_t i = 0; i < all.n; i++) {
		if (all.fact[i].kind != FACT_EVENT)
			continue;
		const struct raw_chain *raw =
			frames_get_raw(all.frames, all.fact[i].event.kraw);
		const struct stack *s =
			frames_get_stack(all.frames, raw->stack);
		const struct frame *inner =
			frames_get_frame(all.frames, s->frame);

		ck_assert_str_eq(
			frames_get_image(all.frames, inner->image)->path,
			n < 3 ? "[kernel.kallsyms]" : "bpf_prog");
		n++;
	}
	ck_assert_uint_eq(n, 6);
	facts_done(&all);
}
END_TEST

START_TEST(a_map_that_wraps_around_is_counted)
{
	struct fake *f = fake_new();
	struct ledger_entry e;

	fake_map(f, 1, 1, UINT64_MAX - 10, 0x1000, "/bin/a");
	struct all_facts all = stitch_all(&f, 1);
	ck_assert_uint_eq(fact_count(&all, FACT_MAPPING), 0);
	ck_assert_int_eq(ledger_take(all.ledger, &e), 1);
	ck_assert_int_eq(e.kind, LEDGER_SKIPPED);
	facts_done(&all);
}
END_TEST

START_TEST(state_written_twice_acts_once)
{
	struct fake *f = fake_new();

	fake_comm(f, 1, 1, "a", false)->twin = 1;
	fake_comm(f, 1, 1, "a", false)->twin = 1;
	fake_sample(f, 2, 1, 0);
	struct all_facts all = stitch_all(&f, 1);
	ck_assert_uint_eq(fact_count(&all, FACT_COMM), 1);
	facts_done(&all);
}
END_TEST

RUN("stitch", without_loss_all_but_the_pending_are_matched,
    each_request_and_chain_has_one_verdict_under_loss,
    each_request_and_chain_has_one_verdict_in_disorder,
    a_long_run_is_accounted_for_too, hostile_records_are_accounted_for,
    captures_of_one_line_are_accounted_for,
    events_come_in_time_order_with_dense_ids,
    addresses_are_resolved_with_the_maps_of_their_own_time,
    a_kernel_stack_like_the_last_one_is_of_the_map_of_its_own_time,
    a_map_that_wraps_around_is_counted, state_written_twice_acts_once,
    a_chain_that_was_not_recorded_as_such_is_marked,
    equal_stacks_of_two_processes_are_one_raw_chain,
    the_caller_of_an_address_depends_on_the_machine,
    the_unwinder_is_asked_once_about_a_list)
