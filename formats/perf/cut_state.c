/* cut_state.c - keeps the records of mappings, threads and kernel objects that
 * a piece of a cut stream begins with. */
#include "formats/perf/cut_state.h"

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

/* ---- reads records of a cut stream in the same way as its reader */

/* The most ids of events that are kept; the reader of a piece has them all. */
#define IDS_MAX (1u << 20)

struct cut_read *cut_read_new(const char *path, bool big_endian)
{
	struct cut_read *c = mem_new(1, sizeof(*c));
	struct perf *p = &c->p;

	p->src.path = (char *)path;
	p->src.info.big_endian = big_endian;
	p->src.info.cpus_avail = -1;
	p->swap = bytes_must_swap(big_endian);
	return c;
}

void cut_read_free(struct cut_read *c)
{
	if (!c)
		return;
	perf_release(&c->p);
	free(c);
}

int cut_read_session(struct cut_read *c, const struct perf_rec *r,
		     struct err *err)
{
	uint64_t before = c->p.damaged;
	size_t n = c->p.n_attr;

	if (c->p.n_id >= IDS_MAX)
		return 0;
	c->late |= c->records &&
		   (r->type == PR_HEADER_ATTR || r->type == PR_FEATURE);
	perf_tool_take(&c->p, &c->file, r, NULL);
	c->counts |= c->p.n_attr > n && c->p.attr[n].sample_type & PS_READ;
	return c->p.damaged == before ? 0
				      : err_at(err, r->b.path, r->off,
					       "a record of type %s is damaged",
					       perf_type_name(r->type));
}

int cut_read_stamp(struct cut_read *c, const struct perf_rec *r,
		   struct cut_stamp *out, struct err *err)
{
	struct ref ref = { 0 };
	uint32_t cpu = UINT32_MAX;

	*out = (struct cut_stamp){ .cpu = -1 };
	c->records = true;
	if (!r->type || r->type >= PR_KERNEL_KNOWN)
		return 0;
	if (!perf_ref_make(&c->p, &c->file, r, &ref))
		return err_at(err, r->b.path, r->off,
			      "a record of type %s is damaged",
			      perf_type_name(r->type));
	if (!ref.untimed)
		out->time = ref.key;
	if (r->type != PR_LOST && r->type != PR_LOST_SAMPLES)
		return 0;
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);

	if (!a || r->size < 8 + a->t_size)
		return 0;
	if (a->t_cpu && !bytes_peek_u32(&r->b, r->size - a->t_cpu, &cpu))
		out->cpu = (int32_t)cpu;
	if (a->t_id)
		bytes_peek_u64(&r->b, r->size - a->t_id, &out->id);
	return 0;
}

int cut_read_decode(struct cut_read *c, const struct perf_rec *r,
		    struct record *rec, struct err *err)
{
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);

	*rec = (struct record){ .pid = -1, .tid = -1, .cpu = -1 };
	if (!a)
		return err_at(err, r->b.path, r->off,
			      "a record of type %s is of no event",
			      perf_type_name(r->type));
	return perf_record_decode_other(&c->p, a, r, false, rec, err);
}

/* A reader takes a record without id for one of the first event. */
unsigned char *cut_read_copy(struct cut_read *c, const struct perf_rec *r)
{
	const struct perf_attr *a = perf_attr_of_record(&c->p, r);
	unsigned char *copy = mem_dup(r->b.pos, r->size);
	unsigned char *end = copy + r->size;

	if (a && a->t_size == c->p.attr->t_size &&
	    a->t_time == c->p.attr->t_time)
		memset(end - a->t_size, 0, a->t_size);
	else if (a && a->t_time)
		memset(end - a->t_time, 0, sizeof(uint64_t));
	return copy;
}

void cut_read_write(struct cut_read *c, const void *record, size_t size,
		    FILE *out)
{
	struct perf_rec r = { .size = (uint16_t)size };
	struct record rec;

	bytes_init(&r.b, record, size, c->p.src.path, 0, c->p.swap);
	bytes_peek_u32(&r.b, 0, &r.type);
	bytes_peek_u16(&r.b, 4, &r.misc);
	if (!c->late || !cut_read_decode(c, &r, &rec, NULL))
		fwrite(record, 1, size, out);
}

/* A mapping, and its record. */
struct cut_map {
	uint64_t start, len;
	unsigned char *record;
	size_t size;
};

struct cut_map_table {
	uint32_t users; /* how many processes share it */
	struct cut_map *map;
	size_t n, cap;
	size_t sweep_at; /* the number of mappings at which covered ones are
			    freed next */
	size_t kept;	 /* bytes that count as kept, for each user */
};

/* The mappings of a process. Those that later ones cover completely are freed
 * now and then: there are at most twice as many as are visible. A forked
 * process shares them with its parent until one of the two maps something; they
 * count as kept for each process, as each begins a piece with them. All zeros
 * is an empty set. */
struct cut_maps {
	struct cut_map_table *table; /* NULL: no mappings */
};

#define LOST_AT 16    /* offset of the count in LOST, after the id */
#define LOST_SUM_AT 8 /* offset of the count in LOST_SAMPLES */
/* The most values that are kept, as in a reader; further ones are not
 * changed. */
#define VALUES_MAX (1u << 20)

/* The value of a counter; of one thread if it counts threads. */
struct cut_value {
	uint64_t id, last, base;
	uint32_t tid;
	uint32_t piece; /* the piece before which the value was `base` */
};

/* How many records a ring reported as lost: in the current piece, and in those
 * before it, minus what was subtracted from sums already. */
struct cut_ring {
	uint64_t now, before;
	uint32_t piece;
};

struct cut_counts {
	struct cut_read *read;
	struct cut_value *value;
	size_t n_value, cap_value;
	struct table by_key;
	struct cut_ring *ring;
	size_t n_ring, cap_ring;
	unsigned char copy[UINT16_MAX + 1];
};

struct cut_counts *cut_counts_new(struct cut_read *read)
{
	struct cut_counts *c = mem_new(1, sizeof(*c));

	c->read = read;
	return c;
}

void cut_counts_free(struct cut_counts *c)
{
	if (!c)
		return;
	table_release(&c->by_key);
	free_all(c->value, c->ring, c);
}

static void cut_counts_put(struct cut_counts *c, size_t at, uint64_t v)
{
	v = c->read->p.swap ? __builtin_bswap64(v) : v;
	memcpy(c->copy + at, &v, sizeof(v));
}

SAME_BY(cut_counts_is_same, struct cut_counts, value[id], struct cut_value, id,
	tid);

/* Returns how much a counter has counted since the piece began. */
static uint64_t cut_counts_since(struct cut_counts *c,
				 const struct cut_value *v)
{
	uint64_t h = hash_pair(v->id, v->tid);
	uint32_t i = table_find(&c->by_key, h, cut_counts_is_same, c, v);

	if (i == TABLE_NONE) {
		if (c->n_value == VALUES_MAX)
			return v->last;
		table_add(&c->by_key, h, (uint32_t)c->n_value);
		*mem_add(c->value, c->n_value, c->cap_value) = *v;
		return v->last;
	}
	struct cut_value *old = &c->value[i];

	if (old->piece < v->piece) {
		old->base = old->last;
		old->piece = v->piece;
	}
	/* a smaller value is of a late record, which adds nothing */
	raise_to(old->last, v->last);
	return v->last > old->base ? v->last - old->base : 0;
}

/* Returns the ring of a CPU, after moving its count to `before` if a new piece
 * has begun. */
static struct cut_ring *cut_counts_ring(struct cut_counts *c, int32_t cpu,
					uint32_t piece)
{
	size_t at = cpu >= 0 && cpu < CPUS_MAX ? (size_t)cpu + 1 : 0;

	struct cut_ring *ring = mem_at(c->ring, c->n_ring, c->cap_ring, at);

	if (ring->piece < piece) {
		ring->before = saturating_add(ring->before, ring->now);
		ring->now = 0;
		ring->piece = piece;
	}
	return ring;
}

/* Subtracts from *n what earlier pieces have reported. */
static void cut_counts_take_reported(struct cut_ring *ring, uint64_t *n)
{
	uint64_t told = ring->before < *n ? ring->before : *n;

	ring->before -= told;
	*n -= told;
}

const void *cut_counts_take(struct cut_counts *c, const struct perf_rec *r,
			    const struct cut_stamp *stamp, uint32_t piece)
{
	uint64_t n;

	switch (r->type) {
	case PR_SAMPLE: {
		const struct perf_attr *e = perf_attr_of_record(&c->read->p, r);

		if (!e || !(e->sample_type & PS_READ) ||
		    !(e->read_format & READ_ID))
			return r->b.pos;
		size_t at = e->s_end;
		size_t times = 8 * (size_t)__builtin_popcountll(
					   e->read_format &
					   (READ_ENABLED | READ_RUNNING));
		struct cut_value v = { .piece = piece };

		n = 1;
		if (at + 16 > r->size)
			return r->b.pos;
		memcpy(c->copy, r->b.pos, r->size);
		if ((e->flags & PA_INHERIT) && e->s_tid)
			memcpy(&v.tid, c->copy + e->s_tid + 4, sizeof(v.tid));
		if (e->read_format & READ_GROUP) {
			bytes_peek_u64(&r->b, at, &n);
			at += 8 + times;
			times = 0;
		}
		/* alone: value, times, id; in a group: value, id */
		size_t each = 16 + times + (e->read_format & READ_LOST ? 8 : 0);

		for (; n && each <= r->size && at <= r->size - each;
		     n--, at += each) {
			bytes_peek_u64(&r->b, at, &v.last);
			bytes_peek_u64(&r->b, at + 8 + times, &v.id);
			cut_counts_put(c, at, cut_counts_since(c, &v));
		}
		return c->copy;
	}
	case PR_LOST: {
		struct cut_ring *ring = cut_counts_ring(c, stamp->cpu, piece);
		uint64_t *sum =
			piece < ring->piece ? &ring->before : &ring->now;

		if (!bytes_peek_u64(&r->b, LOST_AT, &n))
			*sum = saturating_add(*sum, n);
		return r->b.pos;
	}
	case PR_LOST_SAMPLES:
		/* with a time it is not a sum, and what a filter dropped is not
		 * lost */
		if (stamp->time || r->misc & PM_BIT15)
			return r->b.pos;
		const struct perf_id *known =
			perf_id_find(&c->read->p, stamp->id);
		/* -1: unknown, or any CPU */
		int32_t cpu = known && known->cpu >= 0 ? known->cpu : -1;

		if (bytes_peek_u64(&r->b, LOST_SUM_AT, &n))
			return r->b.pos;
		memcpy(c->copy, r->b.pos, r->size);
		cut_counts_take_reported(cut_counts_ring(c, cpu, piece), &n);
		for (size_t i = 0; cpu < 0 && i < c->n_ring; i++)
			cut_counts_take_reported(
				cut_counts_ring(c, (int32_t)i - 1, piece), &n);
		cut_counts_put(c, LOST_SUM_AT, n);
		return c->copy;
	default:
		return r->b.pos;
	}
}

/* A thread; the mappings of a process are in the thread whose tid is its
 * pid. */
struct cut_task {
	int32_t pid, tid;
	bool alive;
	bool complete;	  /* all mappings of the process are known */
	uint32_t threads; /* in the first thread: how many threads of the
			     process live */
	unsigned char *comm;
	size_t comm_size;
	struct cut_maps maps;
};

struct cut_tasks {
	struct cut_read *read;
	struct cut_kept *kept;
	bool swap;
	struct cut_task *task;
	size_t n, cap;
	uint32_t *hole; /* indices of threads that ended */
	size_t n_hole, cap_hole;
	struct table by_tid;
};

struct cut_tasks *cut_tasks_new(struct cut_read *read, struct cut_kept *kept)
{
	struct cut_tasks *c = mem_new(1, sizeof(*c));

	c->read = read;
	c->kept = kept;
	c->swap = read->p.swap;
	return c;
}

static void cut_maps_release(struct cut_maps *s, struct cut_kept *k)
{
	struct cut_map_table *t = s->table;

	s->table = NULL;
	if (!t)
		return;
	k->bytes -= t->kept;
	if (--t->users)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->map[i].record);
	free_all(t->map, t);
}

void cut_tasks_free(struct cut_tasks *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		cut_maps_release(&c->task[i].maps, c->kept);
		free(c->task[i].comm);
	}
	table_release(&c->by_tid);
	free_all(c->task, c->hole, c);
}

static uint64_t cut_task_hash(int32_t tid)
{
	return hash_u64((uint32_t)tid);
}

static struct cut_task *cut_find(struct cut_tasks *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_task_hash(tid));

	return at == TABLE_NONE ? NULL : &c->task[at];
}

/* What a record costs besides its bytes: its place in an array that grows by
 * halves, and the overhead of malloc(). */
#define KEPT_EACH 64

/* Counts a record of that size as kept. If there is no room, counts it as
 * dropped and returns false. */
static bool cut_kept_take(struct cut_kept *k, size_t size)
{
	if (k->bytes + size + KEPT_EACH > CUT_KEPT_MAX) {
		k->dropped++;
		return false;
	}
	k->bytes += size + KEPT_EACH;
	return true;
}

/* Returns the index of a thread, which is added if it is new; TABLE_NONE if
 * there is no room. */
static uint32_t cut_place(struct cut_tasks *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_task_hash(tid));

	if (at != TABLE_NONE || !cut_kept_take(c->kept, sizeof(*c->task)))
		return at;
	if (c->n_hole) {
		at = c->hole[--c->n_hole];
	} else {
		at = (uint32_t)c->n;
		(void)mem_add(c->task, c->n, c->cap);
	}
	c->task[at] = (struct cut_task){ .pid = tid, .tid = tid };
	table_add(&c->by_tid, cut_task_hash(tid), at);
	return at;
}

/* Counts a record of that size as no longer kept. */
static void cut_kept_give(struct cut_kept *k, size_t size)
{
	k->bytes -= size + KEPT_EACH;
}

/* Sets the thread's COMM record, which it then owns; NULL: none. */
static void cut_set_comm(struct cut_tasks *c, struct cut_task *t,
			 unsigned char *record, size_t size)
{
	if (t->comm)
		cut_kept_give(c->kept, t->comm_size);
	free(t->comm);
	t->comm = record;
	t->comm_size = size;
	if (record && !cut_kept_take(c->kept, size)) {
		free(record);
		t->comm = NULL;
	}
}

static void cut_forget(struct cut_tasks *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_task_hash(tid));

	if (at == TABLE_NONE)
		return;
	struct cut_task *t = &c->task[at];
	table_remove(&c->by_tid, cut_task_hash(tid), at);
	cut_kept_give(c->kept, sizeof(*t));
	cut_maps_release(&t->maps, c->kept);
	cut_set_comm(c, t, NULL, 0);
	*t = (struct cut_task){ .pid = 0 };
	*mem_add(c->hole, c->n_hole, c->cap_hole) = at;
}

/* Adds a live thread. Its process is kept as long as one of its threads lives.
 * Returns the thread, or NULL if there is no room. */
static struct cut_task *cut_live(struct cut_tasks *c, int32_t pid, int32_t tid)
{
	uint32_t leader = cut_place(c, pid);
	uint32_t at = leader == TABLE_NONE ? leader : cut_place(c, tid);

	if (at == TABLE_NONE) {
		if (leader != TABLE_NONE && !c->task[leader].threads)
			cut_forget(c, pid);
		return NULL;
	}
	struct cut_task *t = &c->task[at];

	if (!t->alive) {
		t->alive = true;
		t->pid = pid;
		c->task[leader].threads++;
	}
	return t;
}

static void cut_end(struct cut_tasks *c, int32_t tid)
{
	struct cut_task *t = cut_find(c, tid);
	struct cut_task *leader = t ? cut_find(c, t->pid) : NULL;

	if (!t || !t->alive || !leader)
		return;
	int32_t pid = t->pid;

	t->alive = false;
	if (leader->threads)
		leader->threads--;
	bool last = !leader->threads;

	if (tid != pid)
		cut_forget(c, tid);
	if (last)
		cut_forget(c, pid);
}

static void cut_put_u32(bool swap, unsigned char *at, uint32_t v)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(at, &v, sizeof(v));
}

#define OWNER_AT 8 /* offset of pid and tid in COMM and MMAP */

/* Changes the thread of a COMM or MMAP record. */
static void cut_set_owner(bool swap, unsigned char *record, int32_t pid,
			  int32_t tid)
{
	cut_put_u32(swap, record + OWNER_AT, (uint32_t)pid);
	cut_put_u32(swap, record + OWNER_AT + 4, (uint32_t)tid);
}

static uint64_t cut_map_end(const struct cut_map *m)
{
	return saturating_add(m->start, m->len);
}

/* Frees a mapping of a table that has only one user. */
static void cut_map_drop(struct cut_map_table *t, struct cut_map *m,
			 struct cut_kept *k)
{
	t->kept -= m->size + KEPT_EACH;
	cut_kept_give(k, m->size);
	free(m->record);
}

/* Returns the first index from i on that no mapping covers yet. */
static size_t cut_next_free(size_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* Frees the mappings that later ones cover completely. The newest covers its
 * range first; next[] leads from covered places to those that are not.
 * Comparing each new mapping with all older ones took n * n steps. */
static void cut_maps_sweep(struct cut_map_table *s, struct cut_kept *k)
{
	size_t n = 2 * s->n;
	uint64_t *place = mem_new(n, sizeof(*place));
	size_t *next = mem_new(n + 1, sizeof(*next));
	size_t to = s->n;

	for (size_t i = 0; i < s->n; i++) {
		place[2 * i] = s->map[i].start;
		place[2 * i + 1] = cut_map_end(&s->map[i]);
	}
	sort_items(place, n, compare_u64);
	for (size_t i = 0; i <= n; i++)
		next[i] = i;
	for (size_t j = s->n; j-- > 0;) {
		struct cut_map m = s->map[j];
		uint64_t end = cut_map_end(&m);
		size_t at = search_where(n, i, place[i] >= m.start);
		size_t stop = search_where(n, i, place[i] >= end);
		bool seen = false;

		for (at = cut_next_free(next, at); at < stop;
		     at = cut_next_free(next, at)) {
			next[at] = at + 1;
			seen = true;
		}
		if (seen)
			s->map[--to] = m;
		else
			cut_map_drop(s, &m, k);
	}
	s->n -= to;
	for (size_t i = 0; i < s->n; i++)
		s->map[i] = s->map[to + i];
	free_all(place, next);
}

/* Returns the table of a set, after copying it if another set shares it. */
static struct cut_map_table *cut_maps_own(struct cut_maps *s)
{
	struct cut_map_table *old = s->table;

	if (old && old->users == 1)
		return old;
	s->table = mem_new(1, sizeof(*s->table));
	s->table->users = 1;
	if (!old)
		return s->table;
	old->users--;
	s->table->kept = old->kept;
	s->table->sweep_at = old->sweep_at;
	for (size_t i = 0; i < old->n; i++) {
		struct cut_map m = old->map[i];

		m.record = mem_dup(m.record, m.size);
		*mem_add(s->table->map, s->table->n, s->table->cap) = m;
	}
	return s->table;
}

#define SWEEP_MIN 64

/* Adds a mapping; takes ownership of m->record. */
static void cut_maps_add(struct cut_maps *s, const struct cut_map *m,
			 struct cut_kept *k)
{
	if (!cut_kept_take(k, m->size)) {
		free(m->record);
		return;
	}
	struct cut_map_table *t = cut_maps_own(s);
	*mem_add(t->map, t->n, t->cap) = *m;
	t->kept += m->size + KEPT_EACH;
	if (t->n < SWEEP_MIN || t->n < t->sweep_at)
		return;
	cut_maps_sweep(t, k);
	size_t over = t->n > CUT_STATE_MAX ? t->n - CUT_STATE_MAX : 0;

	for (size_t i = 0; i < t->n; i++) {
		if (i < over)
			cut_map_drop(t, &t->map[i], k);
		else
			t->map[i - over] = t->map[i];
	}
	t->n -= over;
	k->dropped += over;
	t->sweep_at = 2 * t->n;
}

void cut_tasks_take(struct cut_tasks *c, const struct perf_rec *r,
		    const struct record *rec, uint64_t time)
{
	if (rec->kind == REC_COMM) {
		uint16_t misc = r->misc & (uint16_t)~PM_BIT13;
		struct cut_task *t = cut_live(c, rec->pid, rec->tid);
		struct cut_task *leader = cut_find(c, rec->pid);

		if (!t)
			return;
		if (rec->flags & REC_F_EXEC) {
			cut_maps_release(&leader->maps, c->kept);
			leader->complete = true;
		}
		unsigned char *copy = cut_read_copy(c->read, r);

		misc = c->swap ? __builtin_bswap16(misc) : misc;
		memcpy(copy + 4, &misc, sizeof(misc));
		cut_set_comm(c, t, copy, r->size);
	} else if (rec->kind == REC_MAP) {
		/* time: of the record; 0: unknown. */
		struct cut_map m = { .start = rec->map.start,
				     .len = rec->map.len,
				     .size = r->size };

		struct cut_task *t = cut_live(c, rec->pid, rec->pid);

		if (!t)
			return;
		/* a mapping without a time is of a complete list, as a reader
		 * takes it */
		if (!time)
			t->complete = true;
		m.record = t->complete ? cut_read_copy(c->read, r)
				       : mem_dup(r->b.pos, r->size);
		cut_maps_add(&t->maps, &m, c->kept);
	} else {
		/* a new thread has the name of its creator, and a new process
		 * copies of its parent's mappings */
		int32_t pid = rec->pid;
		/* also for a FORK: an EXIT may be lost and the id reused */
		cut_end(c, rec->tid);
		/* perf makes such a FORK from /proc: the mappings follow, and
		 * none are the parent's */
		if (rec->kind == REC_EXIT || !cut_live(c, pid, rec->tid) ||
		    rec->flags & REC_F_SYNTH)
			return;
		const struct cut_task *from = cut_find(c, rec->fork.ptid);
		const struct cut_task *leader = cut_find(c, rec->fork.ppid);
		struct cut_task *to = cut_find(c, rec->tid);

		if (from && from->comm) {
			unsigned char *copy =
				mem_dup(from->comm, from->comm_size);

			cut_set_owner(c->swap, copy, pid, rec->tid);
			cut_set_comm(c, to, copy, from->comm_size);
		}
		to = cut_find(c, pid);
		if (pid == rec->fork.ppid || !leader || !to)
			return;
		to->complete = leader->complete;
		/* share the table: to copy and free 30,000 mappings
		 * took 6 ms */
		const struct cut_map_table *t = leader->maps.table;

		if (!t || t == to->maps.table)
			return;
		if (!to->maps.table && t->users < UINT32_MAX &&
		    t->kept <= CUT_KEPT_MAX - c->kept->bytes) {
			to->maps.table = leader->maps.table;
			to->maps.table->users++;
			c->kept->bytes += t->kept;
			return;
		}
		for (size_t i = 0; i < t->n; i++) {
			struct cut_map m = t->map[i];

			m.record = mem_dup(m.record, m.size);
			cut_maps_add(&to->maps, &m, c->kept);
		}
	}
}

void cut_tasks_write(const struct cut_tasks *c, FILE *out)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct cut_task *t = &c->task[i];

		if (t->comm && t->alive)
			cut_read_write(c->read, t->comm, t->comm_size, out);
		/* Write the mappings with the ids of this process. */
		int32_t pid = t->pid;
		bool swap = c->read->p.swap;
		unsigned char record[UINT16_MAX];
		unsigned char owner[4];

		cut_put_u32(swap, owner, (uint32_t)pid);
		for (size_t k = 0; t->maps.table && k < t->maps.table->n; k++) {
			const struct cut_map *m = &t->maps.table->map[k];

			memcpy(record, m->record, m->size);
			if (memcmp(record + OWNER_AT, owner, sizeof(owner)) !=
			    0)
				cut_set_owner(swap, record, pid, pid);
			cut_read_write(c->read, record, m->size, out);
		}
	}
}
#define KSYMBOL_UNREGISTER 1
#define BPF_UNLOAD 2
/* Offsets in the records of kernel objects. */
#define KEY_AT 8 /* address of a symbol, id of a cgroup */
#define KSYMBOL_FLAGS_AT 22
#define BPF_TYPE_AT 8
#define BPF_ID_AT 12

SAME_BY(cut_object_same, struct cut_objects, item[id], struct cut_object, a, b);

static void cut_object_drop(struct cut_objects *s, uint32_t at,
			    struct cut_kept *k)
{
	struct cut_object *o = &s->item[at];

	cut_kept_give(k, o->size);
	table_remove(&s->by_key, hash_pair(o->a, o->b), at);
	free(o->record);
	o->record = NULL;
	s->gone++;
}

static void cut_objects_remove(struct cut_objects *s, uint64_t a, uint64_t b,
			       struct cut_kept *k)
{
	struct cut_object key = { .a = a, .b = b };
	uint32_t at = table_find(&s->by_key, hash_pair(a, b), cut_object_same,
				 s, &key);

	if (at != TABLE_NONE)
		cut_object_drop(s, at, k);
}

void cut_objects_put(struct cut_objects *s, const struct cut_object *o,
		     struct cut_kept *k)
{
	cut_objects_remove(s, o->a, o->b, k);
	if (s->n - s->gone >= CUT_STATE_MAX) {
		/* drop the oldest half at once, so that the next drops are
		 * cheap */
		for (uint32_t i = 0; s->n - s->gone > CUT_STATE_MAX / 2; i++) {
			if (!s->item[i].record)
				continue;
			cut_object_drop(s, i, k);
			k->dropped++;
		}
	}
	if (s->gone > SWEEP_MIN && s->gone > s->n / 2) {
		/* close the gaps that removed objects have left */
		size_t n = 0;

		table_release(&s->by_key);
		for (size_t i = 0; i < s->n; i++) {
			struct cut_object kept = s->item[i];

			if (!kept.record)
				continue;
			table_add(&s->by_key, hash_pair(kept.a, kept.b),
				  (uint32_t)n);
			s->item[n++] = kept;
		}
		s->n = n;
		s->gone = 0;
	}
	if (!cut_kept_take(k, o->size)) {
		free(o->record);
		return;
	}
	*mem_add(s->item, s->n, s->cap) = *o;
	table_add(&s->by_key, hash_pair(o->a, o->b), (uint32_t)(s->n - 1));
}

void cut_objects_release(struct cut_objects *s, struct cut_kept *k)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->item[i].record)
			cut_object_drop(s, i, k);
	free(s->item);
	table_release(&s->by_key);
	*s = (struct cut_objects){ .n = 0 };
}

void cut_objects_write(const struct cut_objects *s, struct cut_read *read,
		       FILE *out)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].record)
			cut_read_write(read, s->item[i].record, s->item[i].size,
				       out);
}

/* Takes kernel code made at run time, BPF programs and control groups, which
 * are kept until they are unloaded. The kernel does not report the removal of a
 * cgroup. */
void cut_objects_take(struct cut_objects kernel[CUT_KERNEL], struct cut_kept *k,
		      const struct perf_rec *r)
{
	enum cut_kernel kind = r->type == PR_KSYMBOL	 ? CUT_KSYMBOLS
			       : r->type == PR_BPF_EVENT ? CUT_BPF
							 : CUT_CGROUPS;
	struct cut_object o = { .size = r->size };
	uint16_t word = 0;
	uint32_t id = 0;
	bool gone = false;

	if (kind == CUT_BPF) {
		bytes_peek_u16(&r->b, BPF_TYPE_AT, &word);
		bytes_peek_u32(&r->b, BPF_ID_AT, &id);
		o.a = id;
		gone = word == BPF_UNLOAD;
	} else {
		bytes_peek_u64(&r->b, KEY_AT, &o.a);
	}
	if (kind == CUT_KSYMBOLS) {
		bytes_peek_u16(&r->b, KSYMBOL_FLAGS_AT, &word);
		gone = word & KSYMBOL_UNREGISTER;
	}
	if (gone) {
		cut_objects_remove(&kernel[kind], o.a, 0, k);
		return;
	}
	o.record = mem_dup(r->b.pos, r->size);
	cut_objects_put(&kernel[kind], &o, k);
}
