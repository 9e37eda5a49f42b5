/* waiting.c - does the work per record stay flat, however many tasks wait for
 * their deferred chain at once?
 *
 * usage: waiting [RECORDS [RUNS]]; default 2000000 and 3. A task that takes its
 * turn gets the chain that ends its stay in the kernel, then the sample of its
 * next one, so that as many wait as there are tasks. Either a hundred of them
 * are busy while the others sleep in the kernel, or all take turns, which no
 * cache is large enough for. What is measured: from when all of them wait to
 * the last record, CPU time of this process, the best run; through order and
 * stitch, without a database. Beside it perf's rule (a list of all waiting
 * samples that every chain walks; 7.2, backstitch-formats(5), "Deferred stacks:
 * how perf joins") as the bare walk over
 * tids: perf itself also parses every sample on the way. Where that would
 * take hours only so many chains are walked as are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/order/order.h"
#include "stitch/source.h"
#include "stitch/stitch.h"
#include "stitch/fact.h"
#include "tests/next_fact.h"

#define CPUS 4
#define BUSY 100
#define PID 100
#define MAP_AT 0x400000u
#define MAP_LEN 0x100000u
#define STACKS 64 /* different ones */
#define USER_IPS 8
#define KERN_IPS 12
/* perf's rule: nodes walked at the most, or nobody could wait for it. */
#define WALK_MAX 4000000000u
#define CHAINS_MIN 100

static double bench_waiting_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- a source that makes its records up */

struct made {
	struct source src;
	struct event_def event;
	uint64_t at, n; /* records given out, in all */
	uint64_t tasks, busy;
	uint64_t *cookie; /* by task: of the open one */
	uint32_t count[CPUS];
	uint64_t user[STACKS][USER_IPS], kern[STACKS][KERN_IPS];
};

static int made_next(struct source *src, struct ref *ref, struct err *err)
{
	struct made *m = (struct made *)src;

	(void)err;
	if (m->at == m->n) {
		src->floor = UINT64_MAX;
		return 0;
	}
	*ref = (struct ref){ .key = 1000 * (m->at + 1),
			     .seq = m->at,
			     .handle = m->at,
			     .kind = CLASS_SAMPLE,
			     .len = 64 };
	m->at++;
	src->floor = 1000 * (m->at + 1);
	return 1;
}

static void bench_waiting_make_map(struct record *rec)
{
	rec->kind = REC_MAP;
	rec->tid = PID;
	rec->map.start = MAP_AT;
	rec->map.len = MAP_LEN;
	rec->map.path = "/bin/made";
}

static void bench_waiting_make_chain(struct made *m, struct record *rec,
				     uint64_t task, uint64_t turn)
{
	rec->kind = REC_CHAIN;
	rec->chain.cookie = m->cookie[task];
	rec->chain.user.ip = m->user[turn % STACKS];
	rec->chain.user.n = USER_IPS;
}

static void make_sample(struct made *m, struct record *rec, uint64_t task,
			uint64_t turn)
{
	int32_t cpu = (int32_t)(task % CPUS);

	m->count[cpu] += 2;
	m->cookie[task] =
		(uint64_t)(m->count[cpu] | 1) << 32 | (uint32_t)(cpu + 1);
	rec->kind = REC_SAMPLE;
	rec->sample.weight = 1;
	rec->sample.defer = DEFER_COOKIE;
	rec->sample.cookie = m->cookie[task];
	rec->sample.kern.ip = m->kern[turn % STACKS];
	rec->sample.kern.n = KERN_IPS;
}

/* One mapping; a sample of every task; then chain and sample in turn. */
static int made_decode(struct source *src, const struct ref *ref,
		       struct record *rec, struct err *err)
{
	struct made *m = (struct made *)src;
	uint64_t k = ref->handle;

	(void)err;
	*rec = (struct record){ .pid = PID, .time = ref->key, .off = k };
	if (k == 0) {
		bench_waiting_make_map(rec);
		return 0;
	}
	bool first = --k < m->tasks;
	uint64_t turn = first ? k : (k - m->tasks) / 2;
	uint64_t task = turn % (first ? m->tasks : m->busy);

	rec->tid = (int32_t)(PID + 1 + task);
	rec->cpu = (int32_t)(task % CPUS);
	if (first || (k - m->tasks) % 2)
		make_sample(m, rec, task, turn);
	else
		bench_waiting_make_chain(m, rec, task, turn);
	return 0;
}

static bool made_same(struct source *src, const struct ref *a,
		      const struct ref *b)
{
	(void)src;
	(void)a;
	(void)b;
	return false;
}

static void made_close(struct source *src)
{
	free(((struct made *)src)->cookie);
	free(src);
}

static struct source *made_new(uint64_t tasks, uint64_t busy, uint64_t records)
{
	static const struct source_ops ops = {
		.name = "made",
		.next = made_next,
		.decode = made_decode,
		.same = made_same,
		.close = made_close,
	};
	struct made *m = mem_new(1, sizeof(*m));

	m->src.ops = &ops;
	m->src.info.has_time = m->src.info.exact = true;
	m->src.info.system_wide = TRI_YES;
	m->src.info.user_mask = UINT64_MAX;
	m->event = (struct event_def){ .name = "made", .defer = true };
	m->src.events = &m->event;
	m->src.n_events = 1;
	m->tasks = tasks;
	m->busy = busy;
	m->n = 1 + tasks + records;
	m->cookie = mem_new(tasks, sizeof(*m->cookie));
	for (unsigned int i = 0; i < STACKS; i++) {
		for (unsigned int k = 0; k < USER_IPS; k++)
			m->user[i][k] = MAP_AT + 4096 * k + 16 * i;
		for (unsigned int k = 0; k < KERN_IPS; k++)
			m->kern[i][k] = UINT64_MAX - 4096 * k - 16 * i;
	}
	return &m->src;
}

/* Seconds per record once all tasks wait; -1: something was not joined. */
static double ours_once(uint64_t tasks, uint64_t busy, uint64_t records)
{
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	uint64_t matched = 0;
	uint64_t last = tasks + records / 2; /* event of the last sample */
	double from = 0;
	double to = 0;
	const struct fact *f;
	struct err err;

	order_add(ord, made_new(tasks, busy, records));
	struct stitch *st = stitch_new(ord, fr, lg, NULL);

	while (next_fact(st, &f, &err) > 0) {
		if (f->kind == FACT_EVENT && f->event.id == tasks)
			from = bench_waiting_now();
		if (f->kind == FACT_EVENT && f->event.id == last)
			to = bench_waiting_now();
		matched += f->kind == FACT_REQUEST &&
			   f->request.verdict == REQ_MATCHED;
	}
	stitch_free(st);
	order_free(ord);
	ledger_free(lg);
	frames_free(fr);
	return matched == records / 2 ? (to - from) / (double)records : -1;
}

static double ours(uint64_t tasks, uint64_t busy, uint64_t records,
		   unsigned long runs)
{
	double best = 0;

	for (unsigned long k = 0; k < runs; k++) {
		double took = ours_once(tasks, busy, records);

		if (took < 0) {
			fprintf(stderr, "waiting: not all joined\n");
			exit(1);
		}
		if (!k || took < best)
			best = took;
	}
	return best;
}

/* ---- perf's rule */

struct node {
	struct node *next;
	uint64_t cookie;
	int32_t tid;
};

/* Seconds per record over as many chains as may be walked for; *chains. */
static double perfs(uint64_t tasks, uint64_t records, uint64_t *chains)
{
	struct node *node = mem_new(tasks + 1, sizeof(*node));
	struct node *tail = node;
	uint64_t out = 0;

	*chains =
		WALK_MAX / tasks < records / 2 ? WALK_MAX / tasks : records / 2;
	if (*chains < CHAINS_MIN)
		*chains = CHAINS_MIN;
	for (uint64_t i = 1; i <= tasks; i++) {
		node[i].tid = (int32_t)i;
		tail->next = &node[i];
		tail = &node[i];
	}
	double from = bench_waiting_now();

	for (uint64_t c = 0; c < *chains; c++) {
		int32_t tid = (int32_t)(1 + c % tasks);
		struct node *done = NULL;

		/* all of them, whether or not the one was found */
		for (struct node *p = node; p->next;) {
			if (p->next->tid != tid) {
				p = p->next;
				continue;
			}
			done = p->next;
			p->next = done->next;
			if (tail == done)
				tail = p;
			out++;
		}
		if (!done)
			break;
		done->cookie++;
		done->next = NULL;
		tail->next = done;
		tail = done;
	}
	double took = bench_waiting_now() - from;

	free(node);
	return out == *chains ? took / (double)(2 * *chains) : -1;
}

int main(int argc, char **argv)
{
	static const uint64_t waiting[] = { 10, 1000, 100000 };
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	unsigned long runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
	double base[3] = { 0 };

	records -= records % 2;
	printf("waiting   a hundred busy      all take turns"
	       "      perf's rule, ns per record\n");
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		uint64_t n = waiting[i];
		uint64_t chains = 0;
		const double took[3] = {
			ours(n, n < BUSY ? n : BUSY, records, runs),
			ours(n, n, records, runs),
			perfs(n, records, &chains),
		};

		printf("%7" PRIu64, n);
		for (size_t k = 0; k < 3; k++) {
			if (!i)
				base[k] = took[k];
			printf("   %8.0f %6.*fx", 1e9 * took[k], k == 2 ? 0 : 2,
			       took[k] / base[k]);
		}
		printf("   (%" PRIu64 " chains)\n", chains);
		fflush(stdout);
	}
	return 0;
}
