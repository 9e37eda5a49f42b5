/* fingerprints.c - collects events of a capture that other captures have
 * too. */
#include "stitch/order/fingerprints.h"

#include "stitch/base/clock_map.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/base/table.h"

/* 6 MiB and 1 MiB. */
#define EDGES_MAX ((size_t)1 << 18)
#define HITS_MAX ((size_t)1 << 16)

void oncpu_match_release(struct oncpu_match *r)
{
	free_all(r->edge, r->hit);
	*r = (struct oncpu_match){ 0 };
}

static void oncpu_add_edge(struct oncpu_match *r, const struct oncpu_edge *e)
{
	if (e->tid <= 0)
		return; /* each CPU has its own idle task */
	*mem_add(r->edge, r->n_edge, r->cap_edge) = *e;
}

static uint64_t oncpu_bit(int32_t cpu)
{
	return (uint64_t)1 << (cpu % 64);
}

void oncpu_match_add_switch(struct oncpu_match *r, int32_t cpu, int32_t prev,
			    int32_t next, uint64_t t)
{
	const struct oncpu_edge out = { t, prev, cpu, false };
	const struct oncpu_edge in = { t, next, cpu, true };

	if (cpu >= 0)
		r->cpus |= oncpu_bit(cpu);
	if (r->n_edge + 2 > EDGES_MAX)
		return;
	if (!r->last)
		r->first = t;
	r->last = t;
	oncpu_add_edge(r, &out);
	oncpu_add_edge(r, &in);
}

void oncpu_match_add_hit(struct oncpu_match *r, int32_t cpu, int32_t tid,
			 uint64_t t)
{
	if (tid <= 0)
		return;
	if (!r->every)
		r->every = 1;
	if (r->seen++ % r->every)
		return;
	if (r->n_hit == HITS_MAX) {
		/* Drops every second sample. */
		size_t n = 0;

		for (size_t i = 0; i < r->n_hit; i += 2)
			r->hit[n++] = r->hit[i];
		r->n_hit = n;
		r->every *= 2;
	}
	*mem_add(r->hit, r->n_hit, r->cap_hit) =
		(struct oncpu_hit){ t, tid, cpu };
}

/* A thread leaves one CPU before it comes to another. */
COMPARE_BY(compare_edges, struct oncpu_edge, tid, time, comes);

void oncpu_match_end(struct oncpu_match *r)
{
	sort_items(r->edge, r->n_edge, compare_edges);
}

static const struct oncpu_edge *oncpu_edge_of(const struct oncpu_match *r,
					      size_t i, int32_t tid)
{
	return i < r->n_edge && r->edge[i].tid == tid ? &r->edge[i] : NULL;
}

/* Returns the counter of *out that the sample adds to, or NULL. */
static uint64_t *oncpu_count_for(const struct oncpu_match *r,
				 const struct oncpu_hit *h, uint64_t t,
				 uint64_t within, struct oncpu_result *out)
{
	const struct oncpu_edge *e = r->edge;
	/* the number of edges up to the thread's last one at or before t */
	size_t i = search_where(r->n_edge, k,
				e[k].tid > h->tid ||
					(e[k].tid == h->tid && e[k].time > t));
	const struct oncpu_edge *before =
		i ? oncpu_edge_of(r, i - 1, h->tid) : NULL;
	const struct oncpu_edge *after = oncpu_edge_of(r, i, h->tid);

	if (!before && !after)
		return &out->unknown;
	/* The thread is unknown at this time, the sample is too close to a
	 * switch, or a switch was not recorded. */
	if (!before || !after || t - before->time <= within ||
	    after->time - t <= within || before->comes == after->comes)
		return NULL;
	if (after->comes)
		return &out->no;
	return h->cpu < 0 || h->cpu == before->cpu ? &out->yes : &out->no;
}

void oncpu_match_compare(const struct oncpu_match *a,
			 const struct oncpu_match *b,
			 const struct clock_map *map, uint64_t within,
			 struct oncpu_result *out)
{
	*out = (struct oncpu_result){ 0 };
	for (size_t i = 0; i < a->n_hit; i++) {
		uint64_t t = clock_map_time(map, a->hit[i].time);
		uint64_t *n = NULL;

		if (t >= b->first && t <= b->last &&
		    (a->hit[i].cpu < 0 || oncpu_bit(a->hit[i].cpu) & b->cpus))
			n = oncpu_count_for(b, &a->hit[i], t, within, out);
		if (n)
			++*n;
	}
}

/* 4 MiB for each kind. */
#define FINGERPRINTS_MAX ((size_t)1 << 18)
#define NAMES_MAX 65536
/* comm has 16 bytes, including the final 0. */
#define NAME_LEN 15
#define PAGE 4096
#define KERNEL_PATH "[kernel.kallsyms]"

/* The last switches of a CPU. */
struct cpu {
	bool any;
	int32_t next;	    /* the thread that came last */
	uint64_t before[2]; /* hashes of the last switches; 0: none */
};

/* A source of switches: samples of the tracepoint, or perf's records. */
struct switch_lane {
	struct fingerprint_list one, run;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	uint64_t switches, joined;
};

struct fingerprints_cpus {
	struct switch_lane sample, record;
	uint32_t event; /* index plus 1 of the first event with switches, the
			 * only one used; 0: none */
};

struct fingerprints *fingerprints_new(void)
{
	struct fingerprints *p = mem_new(1, sizeof(*p));

	p->cpus = mem_new(1, sizeof(*p->cpus));
	return p;
}

static void lane_release(struct switch_lane *ln)
{
	free_all(ln->one.p, ln->run.p, ln->cpu);
}

static void drop_lanes(struct fingerprints *p)
{
	if (!p->cpus)
		return;
	lane_release(&p->cpus->sample);
	lane_release(&p->cpus->record);
	free(p->cpus);
	p->cpus = NULL;
}

void fingerprints_free(struct fingerprints *p)
{
	if (!p)
		return;
	drop_lanes(p);
	for (int k = 0; k < FINGERPRINT_KINDS; k++)
		free(p->list[k].p);
	free_all(p->name.p, p->map.p);
	oncpu_match_release(&p->oncpu);
	free(p);
}

static void fingerprint_add(struct fingerprint_list *l, uint64_t hash,
			    uint64_t time)
{
	if (!l->last)
		l->first = time;
	l->last = time;
	if (hash & l->mask)
		return;
	/* Drop the half whose hash has a 1 in the next bit. Events that all
	 * have the same hash cannot be thinned. */
	for (int i = 0; l->n >= FINGERPRINTS_MAX && i < 8; i++) {
		size_t n = 0;

		l->mask = l->mask << 1 | 1;
		for (size_t k = 0; k < l->n; k++)
			if (!(l->p[k].hash & l->mask))
				l->p[n++] = l->p[k];
		l->n = n;
	}
	if (l->n >= FINGERPRINTS_MAX || hash & l->mask)
		return;
	*mem_add(l->p, l->n, l->cap) = (struct fingerprint){ hash, time };
}

static uint64_t pack_tids(int32_t a, int32_t b)
{
	return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

/* Adds a switch, and the run of three that ends with it, to a lane. */
static void fingerprint_switch(struct switch_lane *ln, int32_t cpu,
			       int32_t prev, int32_t next, uint64_t time)
{
	if (cpu < 0 || cpu >= CPUS_MAX || prev < 0 || next < 0)
		return;
	struct cpu *c = mem_at(ln->cpu, ln->n_cpu, ln->cap_cpu, cpu);
	uint64_t hash = hash_pair(pack_tids(prev, next), (uint64_t)cpu);

	ln->switches += c->any;
	ln->joined += c->any && c->next == prev;
	fingerprint_add(&ln->one, hash, time);
	if (c->before[1]) {
		const uint64_t run[] = { c->before[1], c->before[0], hash };

		fingerprint_add(&ln->run, hash_u64s(run, 3, 0), time);
	}
	c->before[1] = c->before[0];
	c->before[0] = hash;
	c->next = next;
	c->any = true;
}

static void fingerprint_name_add(struct fingerprint_names *l, int32_t tid,
				 uint64_t hash)
{
	const struct fingerprint_name *last = l->n ? &l->p[l->n - 1] : NULL;

	if (l->n < NAMES_MAX &&
	    !(last && last->tid == tid && last->hash == hash))
		*mem_add(l->p, l->n, l->cap) =
			(struct fingerprint_name){ tid, hash };
}

/* Returns whether the kernel chose this address of a program or library at
 * random. On x86-64 and AArch64 random ones are after 0x555555554000 and
 * 0xaaaaaaaaa000 and below 0x7fff00000000 and 0x1000000000000, by up to 2^40
 * bytes; without randomization they are at these addresses (ELF_ET_DYN_BASE,
 * mmap_base()). */
static bool is_random_address(uint64_t addr)
{
	const uint64_t upper = addr >> 32;

	return addr >> 28 != 0x55555 && addr >> 28 != 0xaaaaa &&
	       ((upper >= 0x5555 && upper <= 0x5655) ||
		(upper >= 0x7eff && upper < 0x7fff) ||
		(upper >= 0xaaaa && upper <= 0xabaa) ||
		(upper >= 0xfeff && upper < 0xffff));
}

static void fingerprint_address(struct fingerprints *p, int32_t pid,
				uint64_t addr)
{
	if (pid > 0 && is_random_address(addr))
		fingerprint_name_add(&p->map, pid, hash_u64(addr / PAGE));
}

void fingerprints_take(struct fingerprints *p, const struct record *rec)
{
	uint64_t t = rec->time;

	if (rec->flags & (REC_F_GUEST | REC_F_DUPLICATE))
		return;
	if (rec->kind == REC_COMM) {
		const char *name = rec->comm.name;
		size_t n = name ? strnlen(name, NAME_LEN) : 0;

		/* A kworker's name depends on its current work. */

		if (n && rec->tid > 0 && name[0] != ':' &&
		    strncmp(name, "kworker/", 8))
			fingerprint_name_add(&p->name, rec->tid,
					     hash_bytes(name, n, 0));
	}
	if (rec->kind == REC_MAP && !(rec->flags & REC_F_GONE))
		fingerprint_address(p, rec->pid, rec->map.start);
	if (rec->kind == REC_MAP && !p->kernel && rec->flags & REC_F_KERNEL &&
	    rec->map.path &&
	    !strncmp(rec->map.path, KERNEL_PATH, strlen(KERNEL_PATH))) {
		p->kernel = rec->map.pgoff;
		p->kernel_by =
			hash_bytes(rec->map.path, strlen(rec->map.path), 0);
	}
	if (record_time(rec) == TIME_NONE || !t)
		return;
	if (!p->last || t < p->first)
		p->first = t;
	raise_to(p->last, t);
	if (rec->kind == REC_SAMPLE) {
		/* A switch may be recorded for several events and into several
		 * buffers. Take one of them, because equal hashes at one time
		 * match nothing. */
		const struct rec_sample *s = &rec->sample;

		/* The last piece of a recording may have no mappings: its
		 * process has ended. */
		if (s->user.n)
			fingerprint_address(p, rec->pid,
					    s->user.ip[s->user.n - 1]);
		if (s->sched.kind != SCHED_SWITCH) {
			oncpu_match_add_hit(&p->oncpu, rec->cpu, rec->tid,
					    rec->time);
			return;
		}
		if (!p->cpus->event)
			p->cpus->event = s->event + 1;
		if (p->cpus->event != s->event + 1)
			return;
		fingerprint_switch(&p->cpus->sample, rec->cpu, s->sched.tid,
				   s->sched.next_tid, rec->time);
		oncpu_match_add_switch(&p->oncpu, rec->cpu, s->sched.tid,
				       s->sched.next_tid, rec->time);
	} else if (rec->kind == REC_SWITCH && rec->flags & REC_F_OUT) {
		/* Without a tracepoint, switch records show which thread was on
		 * the CPU. */
		fingerprint_switch(&p->cpus->record, rec->cpu, rec->tid,
				   rec->sw.other_tid, rec->time);
		if (!p->cpus->event)
			oncpu_match_add_switch(&p->oncpu, rec->cpu, rec->tid,
					       rec->sw.other_tid, rec->time);
	} else if (rec->kind == REC_FORK && !(rec->flags & REC_F_SYNTH))
		fingerprint_add(
			&p->list[FINGERPRINT_FORK],
			hash_pair(pack_tids(rec->tid, rec->fork.ptid), 1), t);
	else if (rec->kind == REC_CHAIN && !(rec->flags & REC_F_NONCE))
		fingerprint_add(
			&p->list[FINGERPRINT_CHAIN],
			hash_pair(rec->chain.cookie, (uint32_t)rec->tid), t);
}

COMPARE_BY(compare_fingerprints, struct fingerprint, hash, time);

int fingerprint_names_compare(const void *a, const void *b)
{
	const struct fingerprint_name *x = a;
	const struct fingerprint_name *y = b;

	return compare_numbers(x->tid, y->tid)
		       ?: compare_numbers(x->hash, y->hash);
}

static void sort_names(struct fingerprint_names *l)
{
	size_t n = 0; /* number of distinct names */

	sort_items(l->p, l->n, fingerprint_names_compare);
	for (size_t i = 0; i < l->n; i++)
		if (!n || fingerprint_names_compare(&l->p[n - 1], &l->p[i]))
			l->p[n++] = l->p[i];
	l->n = n;
}

void fingerprints_end(struct fingerprints *p)
{
	struct switch_lane *ln = &p->cpus->sample;

	p->records = !ln->one.last;
	if (p->records)
		ln = &p->cpus->record;
	p->list[FINGERPRINT_SWITCH] = ln->one;
	p->list[FINGERPRINT_RUN] = ln->run;
	ln->one.p = ln->run.p = NULL;
	p->switches = ln->switches;
	p->joined = ln->joined;
	drop_lanes(p);
	oncpu_match_end(&p->oncpu);
	for (int k = 0; k < FINGERPRINT_KINDS; k++)
		sort_items(p->list[k].p, p->list[k].n, compare_fingerprints);
	sort_names(&p->name);
	sort_names(&p->map);
}

bool fingerprints_see_all_switches(const struct fingerprints *p)
{
	return p->switches >= 20 && p->joined * 10 >= p->switches * 9;
}

bool fingerprints_equal(const struct fingerprints *a,
			const struct fingerprints *b)
{
	const struct oncpu_match *x = &a->oncpu, *y = &b->oncpu;

	if (!a->last || a->first != b->first || a->last != b->last ||
	    x->n_hit != y->n_hit || x->n_edge != y->n_edge)
		return false;
	for (size_t i = 0; i < x->n_hit; i++)
		if (x->hit[i].time != y->hit[i].time ||
		    x->hit[i].tid != y->hit[i].tid)
			return false;
	for (size_t i = 0; i < x->n_edge; i++)
		if (x->edge[i].time != y->edge[i].time ||
		    x->edge[i].tid != y->edge[i].tid)
			return false;
	return x->n_hit || x->n_edge;
}

bool fingerprints_share_cpus(const struct fingerprints *a,
			     const struct fingerprints *b)
{
	return a->oncpu.cpus & b->oncpu.cpus;
}
