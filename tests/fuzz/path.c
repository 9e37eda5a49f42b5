/* path.c - libFuzzer target: schedules, lies and losses, and why threads took
 * so long.
 *
 * The first bytes choose the answer; then come records of 8 bytes, which become
 * a text of ftrace: which thread ran until now is mostly true, whatever else
 * may be. Whichever records there are, the chain of a wait covers the wait
 * once, and its edges are known ones. */
#include "analyze/causes/causes.h"
#include "cli/path/path.h"
#include "stitch/base/mem.h"
#include "tests/fuzz_file.h"
#include "tests/fuzz_sqlite.h"
#include "tests/pipeline.h"

#define CPUS 4
#define THREADS 12
#define RECORDS_MAX 128
#define HEAD 8
#define RECORD 8
#define LINE_BYTES 256
#define WAITS_MAX 64

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_sqlite_start();
	fuzz_sqlite_make_tables();
	pipeline_start();
	/* pipeline_load() asks for no view */
	fuzz_sqlite_asked[0] = "";
	return 0;
}

/* Writes the event of a record, which says what thread `now` did. */
static void fuzz_path_event(const uint8_t *r, int now, char *text, size_t size)
{
	static const char state[][4] = { "R", "S", "D", "R+", "X", "I" };
	int a = r[1] % THREADS, b = r[2] % THREADS;
	/* a lie, now and then */
	int prev = r[3] & 0xe0 ? now : b;
	const char *waking[] = { "waking", "wakeup", "wakeup_new" };

	switch (r[0] % 16) {
	default:
		snprintf(text, size,
			 "sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120"
			 " prev_state=%s ==> next_comm=t%d next_pid=%d"
			 " next_prio=120",
			 prev, prev, state[r[6] % 6], a, a);
		break;
	case 5:
	case 6:
	case 7:
		snprintf(text, size,
			 "sched_%s: comm=t%d pid=%d prio=120 target_cpu=%03d",
			 waking[r[0] % 16 - 5], a, a, r[6] % CPUS);
		break;
	case 8:
		snprintf(text, size,
			 "sched_process_fork: comm=t%d pid=%d child_comm=t%d"
			 " child_pid=%d",
			 now, now, a, a);
		break;
	case 9:
		snprintf(text, size,
			 "sched_process_exit: comm=t%d pid=%d prio=1", now,
			 now);
		break;
	case 10:
		snprintf(text, size, "irq_handler_%s: irq=%d %s",
			 r[6] & 1 ? "exit" : "entry", a,
			 r[6] & 1 ? "ret=handled" : "name=disk");
		break;
	case 11:
		snprintf(text, size, "softirq_%s: vec=%d [action=TIMER]",
			 r[6] & 1 ? "exit" : "entry", a);
		break;
	case 12:
		snprintf(text, size, "hrtimer_expire_%s: hrtimer=%d",
			 r[6] & 1 ? "exit" : "entry", a);
		break;
	}
}

static size_t fuzz_path_text(const uint8_t *data, size_t n, char *text)
{
	static const char context[] = ".hsHZz";
	int now[CPUS] = { 0 };
	uint64_t time = 1000000;
	size_t len = (size_t)snprintf(
		text, LINE_BYTES,
		"# tracer: nop\n#\n# latency: 0 us #P:%d\n#\n", CPUS);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *r = data + RECORD * i;
		int cpu = r[0] >> 6;
		char event[LINE_BYTES / 2 + 32];

		time += (uint64_t)(r[4] | r[5] << 8) / 16;
		fuzz_path_event(r, now[cpu], event, sizeof(event));
		if (r[0] % 16 == 13)
			len += (size_t)snprintf(text + len, LINE_BYTES,
						"CPU:%d [LOST %d EVENTS]\n",
						cpu, r[6]);
		else
			len += (size_t)snprintf(
				text + len, LINE_BYTES,
				"t%d-%d [%03d] d.%c2. %llu.%06llu: %s\n",
				now[cpu], now[cpu], cpu, context[r[3] % 6],
				(unsigned long long)time / 1000000,
				(unsigned long long)time % 1000000, event);
		if (r[0] % 16 < 5 || r[0] % 16 > 13)
			now[cpu] = r[1] % THREADS;
	}
	return len;
}

struct fuzz_path_walk {
	struct path_run *r;
	int n;
};

/* The chain of a wait covers it once. */
static bool fuzz_path_wait(struct fuzz_path_walk *walk,
			   const struct path_wait *w)
{
	struct chain c = { 0 };
	int64_t at = w->from;

	path_chain(walk->r, w->thread, w->from, w->to, &c);
	for (size_t i = 0; i < c.n; i++) {
		const struct chain_segment *s = &c.segment[i];

		if (s->from != at || s->to <= at ||
		    s->thread >= walk->r->t->n_thread ||
		    s->path + (size_t)s->depth > c.n_path)
			pipeline_die("a chain with holes");
		at = s->to;
	}
	if (at != w->to && w->from < w->to)
		pipeline_die("a chain that ends early");
	chain_release(&c);
	return ++walk->n == WAITS_MAX;
}

/* Chains of all waits; returns -1 and *err if the text has no switches. */
static int fuzz_path_chains(struct store *db, const struct path_ask *ask,
			    struct err *err)
{
	struct path_run r = { .ask = ask };
	struct fuzz_path_walk walk = { .r = &r };
	struct path_walk at = { 0 };
	struct path_wait w;
	int rc = path_open(&r, db, "fuzz", err);

	while (!rc && path_next_wait(&r, &at, &w) && !fuzz_path_wait(&walk, &w))
		;
	path_close(&r);
	return rc;
}

static void fuzz_path_ask(struct store *db, const uint8_t *head)
{
	struct path_opts o = {
		.ask.tid = -1,
		.limit = 20,
		.ask.proved = head[0] & 8,
		.json = head[0] & 16,
		.ask.depth = head[1] % 8,
		.least = head[2] * 100,
		.fail = -1,
	};
	struct err err = { 0 };

	if (fuzz_path_chains(db, &o.ask, &err)) {
		if (!err.msg[0])
			pipeline_die("no timeline, without a message");
		return;
	}
	o.ask.timed = head[0] & 32;
	o.ask.from = 1000000000 + head[4] * 100000;
	o.ask.to = o.ask.from + 1 + head[5] * 100000;
	if (head[0] & 64)
		o.ask.tid = head[3] % THREADS;
	o.waits = head[0] % 8 == 1;
	o.worst = head[0] % 8 == 2 ? 3 : 0;
	o.tree = head[0] % 8 == 3;
	o.blame = head[0] % 8 == 4;
	if (o.blame)
		o.ask.comm = "t1";
	if (path_print(db, "fuzz", &o, &err) < 0 && !err.msg[0])
		pipeline_die("no answer, without a message");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[(RECORDS_MAX + 1) * LINE_BYTES];
	size_t n = size < HEAD ? 0 : (size - HEAD) / RECORD;

	if (!n)
		return 0;
	n = fuzz_path_text(data + HEAD, n < RECORDS_MAX ? n : RECORDS_MAX,
			   text);
	struct pipeline p = pipeline_load(text, n, NULL);

	if (p.ret && !p.err.msg[0])
		pipeline_die("failed without a message");
	if (p.db)
		fuzz_path_ask(p.db, data);
	store_close(p.db);
	return 0;
}
