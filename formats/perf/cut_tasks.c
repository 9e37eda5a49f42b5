/* cut_tasks.c - the threads of a stream that is cut, with their names and
 * mappings. */

#include "formats/perf/cut_read.h"
#include "formats/perf/cut_state.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

/* A thread; its mappings are in the one whose tid is its pid. */
struct cut_task {
	int32_t pid, tid;
	bool alive;
	bool complete;	  /* all mappings of the process are known */
	uint32_t threads; /* of the process that live, in its first one */
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
	uint32_t *hole; /* places of threads that ended */
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

/* Returns the place of a thread, which is made if it is new; TABLE_NONE: there
 * is no room for it. */
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

/* Takes ownership of the record; NULL: none. */
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

/* Notes that a thread lives. Its process is kept as long as any of them.
 * Returns NULL if there is no room for it. */
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

/* A new thread has the name of the one that made it, and a new process copies
 * of its parent's mappings. */
static void cut_take_fork(struct cut_tasks *c, const struct record *rec)
{
	int32_t pid = rec->pid;

	/* of a FORK too: an EXIT may be lost, and the id is used again */
	cut_end(c, rec->tid);
	/* One that perf made up of /proc: the mappings follow, none are the
	 * parent's. */
	if (rec->kind == REC_EXIT || !cut_live(c, pid, rec->tid) ||
	    rec->flags & REC_F_SYNTH)
		return;
	const struct cut_task *from = cut_find(c, rec->fork.ptid);
	const struct cut_task *leader = cut_find(c, rec->fork.ppid);
	struct cut_task *to = cut_find(c, rec->tid);

	if (from && from->comm) {
		unsigned char *copy = mem_dup(from->comm, from->comm_size);

		cut_set_owner(c->swap, copy, pid, rec->tid);
		cut_set_comm(c, to, copy, from->comm_size);
	}
	to = cut_find(c, pid);
	if (pid == rec->fork.ppid || !leader || !to)
		return;
	to->complete = leader->complete;
	cut_maps_inherit(&to->maps, &leader->maps, c->kept);
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
		/* one without a time is of a list of all: a reader takes it so
		 */
		if (!time)
			t->complete = true;
		m.record = t->complete ? cut_read_copy(c->read, r)
				       : mem_dup(r->b.pos, r->size);
		cut_maps_add(&t->maps, &m, c->kept);
	} else
		cut_take_fork(c, rec);
}

void cut_tasks_write(const struct cut_tasks *c, FILE *out)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct cut_task *t = &c->task[i];

		if (t->comm && t->alive)
			cut_read_write(c->read, t->comm, t->comm_size, out);
		cut_maps_write(&t->maps, c->read, t->pid, out);
	}
}
