/* fingerprints.c - what a capture has in common with others of the same run. */
#include "stitch/order/fingerprints.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/base/table.h"

/* 4 MiB for each kind. */
#define PRINTS_MAX ((size_t)1 << 18)
#define NAMES_MAX 65536
#define CPUS_MAX 65536
/* comm has 16 bytes, with its 0. */
#define NAME_LEN 15

/* The last switches of a CPU. */
struct cpu {
	bool any;
	int32_t next;	    /* who came */
	uint64_t before[2]; /* hashes; 0: none */
};

/* Where switches come from: samples of the tracepoint, and perf's records. */
struct lane {
	struct print_list one, run;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	uint64_t switches, joined;
};

struct prints_cpus {
	struct lane sample, record;
	uint32_t event; /* of the samples, plus 1: the first that has some */
};

struct prints *prints_new(void)
{
	struct prints *p = mem_new(1, sizeof(*p));

	p->cpus = mem_new(1, sizeof(*p->cpus));
	return p;
}

static void lane_release(struct lane *ln)
{
	free(ln->one.p);
	free(ln->run.p);
	free(ln->cpu);
}

static void drop_lanes(struct prints *p)
{
	if (!p->cpus)
		return;
	lane_release(&p->cpus->sample);
	lane_release(&p->cpus->record);
	free(p->cpus);
	p->cpus = NULL;
}

void prints_free(struct prints *p)
{
	if (!p)
		return;
	drop_lanes(p);
	for (int k = 0; k < PRINT_KINDS; k++)
		free(p->list[k].p);
	free(p->name);
	ran_release(&p->ran);
	free(p);
}

/* Half of them go: those with a one where the others have a zero. */
static void thin(struct print_list *l)
{
	size_t n = 0;

	l->mask = l->mask << 1 | 1;
	for (size_t i = 0; i < l->n; i++)
		if (!(l->p[i].hash & l->mask))
			l->p[n++] = l->p[i];
	l->n = n;
}

static void add(struct print_list *l, uint64_t hash, uint64_t time)
{
	if (!l->last)
		l->first = time;
	l->last = time;
	if (hash & l->mask)
		return;
	/* one hash that is there all the time cannot be thinned */
	for (int i = 0; l->n >= PRINTS_MAX && i < 8; i++)
		thin(l);
	if (l->n >= PRINTS_MAX || hash & l->mask)
		return;
	l->p = mem_grow(l->p, &l->cap, l->n + 1, sizeof(*l->p));
	l->p[l->n++] = (struct print){ hash, time };
}

static uint64_t pair_of(int32_t a, int32_t b)
{
	return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

static void take_switch(struct lane *ln, int32_t cpu, int32_t prev,
			int32_t next, uint64_t time)
{
	if (cpu < 0 || cpu >= CPUS_MAX || prev < 0 || next < 0)
		return;
	ln->cpu = mem_reach(ln->cpu, &ln->n_cpu, &ln->cap_cpu, (size_t)cpu + 1,
			    sizeof(*ln->cpu));
	struct cpu *c = &ln->cpu[cpu];
	uint64_t hash = hash_pair(pair_of(prev, next), (uint64_t)cpu);

	ln->switches += c->any;
	ln->joined += c->any && c->next == prev;
	add(&ln->one, hash, time);
	if (c->before[1]) {
		const uint64_t run[] = { c->before[1], c->before[0], hash };

		add(&ln->run, hash_u64s(run, 3, 0), time);
	}
	c->before[1] = c->before[0];
	c->before[0] = hash;
	c->next = next;
	c->any = true;
}

/* The same switch may be recorded for several events and into several
 * buffers: one of them is enough, and more would be no equal events. */
static void take_sample(struct prints *p, const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;

	if (s->sched.kind != SCHED_SWITCH) {
		ran_hit(&p->ran, rec->cpu, rec->tid, rec->time);
		return;
	}
	if (!p->cpus->event)
		p->cpus->event = s->event + 1;
	if (p->cpus->event != s->event + 1)
		return;
	take_switch(&p->cpus->sample, rec->cpu, s->sched.tid, s->sched.next_tid,
		    rec->time);
	ran_switch(&p->ran, rec->cpu, s->sched.tid, s->sched.next_tid,
		   rec->time);
}

/* Where there is no tracepoint the records say who had the CPU. */
static void take_record(struct prints *p, const struct record *rec)
{
	take_switch(&p->cpus->record, rec->cpu, rec->tid, rec->sw.other_tid,
		    rec->time);
	if (!p->cpus->event)
		ran_switch(&p->ran, rec->cpu, rec->tid, rec->sw.other_tid,
			   rec->time);
}

static void take_name(struct prints *p, const struct record *rec)
{
	const char *name = rec->comm.name;
	size_t n = name ? strnlen(name, NAME_LEN) : 0;

	/* a worker is named by what it does, when somebody looks */
	if (!n || rec->tid <= 0 || name[0] == ':' ||
	    !strncmp(name, "kworker/", 8) || p->n_name >= NAMES_MAX)
		return;
	p->name = mem_grow(p->name, &p->cap_name, p->n_name + 1,
			   sizeof(*p->name));
	p->name[p->n_name++] =
		(struct print_name){ rec->tid, hash_bytes(name, n, 0) };
}

static void take_timed(struct prints *p, const struct record *rec)
{
	uint64_t t = rec->time;

	if (!p->last || t < p->first)
		p->first = t;
	if (t > p->last)
		p->last = t;
	if (rec->kind == REC_SAMPLE)
		take_sample(p, rec);
	else if (rec->kind == REC_SWITCH && rec->flags & REC_F_OUT)
		take_record(p, rec);
	else if (rec->kind == REC_FORK && !(rec->flags & REC_F_SYNTH))
		add(&p->list[PRINT_FORK],
		    hash_pair(pair_of(rec->tid, rec->fork.ptid), 1), t);
	else if (rec->kind == REC_CHAIN && !(rec->flags & REC_F_NONCE))
		add(&p->list[PRINT_CHAIN],
		    hash_pair(rec->chain.cookie, (uint32_t)rec->tid), t);
}

void prints_take(struct prints *p, const struct record *rec)
{
	if (rec->flags & (REC_F_GUEST | REC_F_DUPLICATE))
		return;
	if (rec->kind == REC_COMM)
		take_name(p, rec);
	if (record_time(rec) != TIME_NONE && rec->time)
		take_timed(p, rec);
}

static int by_hash(const void *a, const void *b)
{
	const struct print *x = a;
	const struct print *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static int by_tid(const void *a, const void *b)
{
	const struct print_name *x = a;
	const struct print_name *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

static void sort_names(struct prints *p)
{
	size_t n = 0;

	if (p->n_name)
		qsort(p->name, p->n_name, sizeof(*p->name), by_tid);
	for (size_t i = 0; i < p->n_name; i++)
		if (!n || by_tid(&p->name[n - 1], &p->name[i]))
			p->name[n++] = p->name[i];
	p->n_name = n;
}

void prints_end(struct prints *p)
{
	struct lane *ln = &p->cpus->sample;

	p->records = !ln->one.last;
	if (p->records)
		ln = &p->cpus->record;
	p->list[PRINT_SWITCH] = ln->one;
	p->list[PRINT_RUN] = ln->run;
	ln->one.p = ln->run.p = NULL;
	p->switches = ln->switches;
	p->joined = ln->joined;
	drop_lanes(p);
	ran_end(&p->ran);
	for (int k = 0; k < PRINT_KINDS; k++)
		if (p->list[k].n)
			qsort(p->list[k].p, p->list[k].n, sizeof(struct print),
			      by_hash);
	sort_names(p);
}

bool prints_whole(const struct prints *p)
{
	return p->switches >= 20 && p->joined * 10 >= p->switches * 9;
}
