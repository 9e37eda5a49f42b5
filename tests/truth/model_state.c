/* model_state.c - names, lives and mappings, by looking back through all the
 * records. */
#include <stdio.h>
#include <string.h>

#include "tests/truth/truth.h"

bool model_of_thread(const struct record *r)
{
	return r->kind == REC_SAMPLE || r->kind == REC_CHAIN ||
	       r->kind == REC_COMM || r->kind == REC_EXIT ||
	       r->kind == REC_SWITCH || r->kind == REC_MARK ||
	       r->kind == REC_FORK;
}

/* The newest life of a thread id; NOWHERE. */
static uint32_t life_of(const struct expect *ex, int32_t tid)
{
	for (size_t i = ex->n_lives; i-- > 0;)
		if (ex->lives[i].tid == tid)
			return (uint32_t)i;
	return NOWHERE;
}

/* Is any thread of that process alive but this one (-1: of all)? */
static bool model_state_is_alive(const struct expect *ex, int32_t pid,
				 int32_t but)
{
	for (size_t i = 0; i < ex->n_lives; i++)
		if (ex->lives[i].pid == pid && !ex->lives[i].ended &&
		    ex->lives[i].tid >= 0 && ex->lives[i].tid != but &&
		    life_of(ex, ex->lives[i].tid) == i)
			return true;
	return false;
}

static void add_life(struct expect *ex, int32_t tid, int32_t pid, size_t at)
{
	bool reused = life_of(ex, tid) != NOWHERE;

	*mem_add(ex->lives, ex->n_lives, ex->cap_lives) =
		(struct life){ .tid = tid,
			       .pid = pid,
			       .first = (uint32_t)at,
			       .last = NOWHERE,
			       .reused = reused,
			       .start = TIME_NONE,
			       .end = TIME_NONE };
}

/* Only who is alive does that: a task that is exiting gets no cookie and runs
 * no program. */
static bool model_state_shows_life(const struct expect *ex,
				   const struct record *r)
{
	if (r->kind == REC_SAMPLE)
		return has_cookie(r) || r->flags & REC_F_USER;
	/* the others of a process may name its first thread after its end */
	return r->kind == REC_COMM &&
	       (r->pid != r->tid || !model_state_is_alive(ex, r->pid, r->tid));
}

/* Another life of an id that no FORK told of, and of a process, if nobody was
 * alive in it. */
static void begin_again(struct expect *ex, uint32_t life, int32_t pid,
			size_t at)
{
	if (!model_state_is_alive(ex, ex->lives[life].pid, -1))
		ex->forgot[at] = ex->lives[life].pid;
	add_life(ex, ex->lives[life].tid, pid, at);
	ex->lives[ex->n_lives - 1].again = true;
	ex->lives[ex->n_lives - 1].again_at = (uint32_t)at;
}

/* A life that no FORK told of is seen to be one by its first record that only
 * the living make, if the life of the id before ended. */
static void notice_life(const struct record *r, struct expect *ex,
			uint32_t life, size_t i)
{
	struct life *lf = &ex->lives[life];
	uint32_t k = life;

	if (lf->again || lf->known || !is_timed(r) || lf->tid <= 0 ||
	    !model_state_shows_life(ex, r))
		return;
	while (k-- > 0)
		if (ex->lives[k].tid == lf->tid)
			break;
	if (k == NOWHERE || !ex->lives[k].ended ||
	    truth_time_of(r) <= ex->lives[k].end)
		return;
	lf->again = true;
	lf->again_at = (uint32_t)i;
}

/* Did the thread end before this record? Not the same if its time is. */
static bool is_dead(const struct expect *ex, uint32_t life,
		    const struct record *r)
{
	return life != NOWHERE && ex->lives[life].ended &&
	       ex->lives[life].tid > 0 && is_timed(r) &&
	       truth_time_of(r) > ex->lives[life].end;
}

static void fork_parent(const struct record *r, struct expect *ex, size_t i)
{
	uint32_t life = life_of(ex, r->fork.ptid);

	if (is_dead(ex, life, r) && ex->lives[life].pid == r->fork.ppid)
		begin_again(ex, life, r->fork.ppid, i);
}

/* A process of one thread that was listed only was forked before that, if its
 * FORK comes: the list was made later. */
static bool was_listed(const struct record *r, const struct expect *ex,
		       uint32_t life)
{
	const struct life *lf = &ex->lives[life];

	if (!lf->known || lf->heard || lf->ended || lf->pid != r->pid ||
	    r->pid != r->tid || r->pid == r->fork.ppid)
		return false;
	for (uint32_t k = 0; k < ex->n_lives; k++)
		if (k != life && ex->lives[k].pid == r->pid &&
		    ex->lives[k].tid != r->tid)
			return false;
	return true;
}

static void begin_if_new(const struct record *r, struct expect *ex, size_t i)
{
	uint32_t life = life_of(ex, r->tid);
	bool synth = !is_timed(r) || r->flags & REC_F_SYNTH;

	if (life == NOWHERE) {
		add_life(ex, r->tid, r->pid, i);
	} else if (r->kind == REC_FORK && !synth && was_listed(r, ex, life)) {
		/* the same life */
	} else if (r->kind == REC_FORK && !synth) {
		if (!ex->lives[life].ended)
			ex->lives[life].end = truth_time_of(r);
		add_life(ex, r->tid, r->pid, i);
	} else if (r->pid >= 0 && ex->lives[life].pid >= 0 &&
		   r->pid != ex->lives[life].pid) {
		add_life(ex, r->tid, r->pid, i);
	} else if (is_dead(ex, life, r) && model_state_shows_life(ex, r)) {
		begin_again(ex, life, r->pid, i);
	}
	life = life_of(ex, r->tid);
	if (r->kind == REC_FORK && !synth)
		ex->lives[life].start = truth_time_of(r);
	ex->lives[life].heard |= is_timed(r) && !synth;
	ex->lives[life].known |=
		r->kind == REC_FORK || (r->kind == REC_COMM && synth);
}

static void find_life(const struct record *r, struct expect *ex, size_t i)
{
	if (r->kind == REC_FORK && is_timed(r) && !(r->flags & REC_F_SYNTH))
		fork_parent(r, ex, i);
	begin_if_new(r, ex, i);
	uint32_t life = life_of(ex, r->tid);
	struct life *lf = &ex->lives[life];

	ex->life[i] = life;
	for (size_t k = life + 1; k-- > 0 && ex->prev[i] == NOWHERE;)
		if (ex->lives[k].tid == r->tid)
			ex->prev[i] = ex->lives[k].last;
	lf->last = (uint32_t)i;
	notice_life(r, ex, life, i);
	if (r->kind != REC_EXIT || lf->ended)
		return;
	lf->ended = true;
	lf->end = truth_time_of(r);
}

/* What the other capture of a pair told of already. */
static void see_again(const struct record *r, struct expect *ex, size_t i)
{
	uint32_t life = life_of(ex, r->tid);

	if (!model_of_thread(r) || life == NOWHERE)
		return;
	ex->life[i] = life;
	ex->prev[i] = ex->lives[life].last;
	ex->lives[life].last = (uint32_t)i;
}

void model_lives(const struct list *l, struct expect *ex)
{
	ex->n_lives = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		ex->life[i] = ex->prev[i] = NOWHERE;
		ex->forgot[i] = 0;
		if (l->at[i].again) {
			see_again(r, ex, i);
		} else if (model_of_thread(r)) {
			find_life(r, ex, i);
		} else if (r->kind == REC_MAP && !(r->flags & REC_F_KERNEL)) {
			uint32_t life = life_of(ex, r->tid);

			if (is_dead(ex, life, r) &&
			    ex->lives[life].pid == r->pid)
				begin_again(ex, life, r->pid, i);
		}
	}
}

/* The last item of the thread before item i. */
static size_t last_of(const struct list *l, size_t i, int32_t tid)
{
	while (i-- > 0)
		if (model_of_thread(l->at[i].rec) && l->at[i].rec->tid == tid)
			return i;
	return l->n;
}

/* NULL: nobody said. */
static const char *name_at(const struct list *l, const struct expect *ex,
			   size_t at)
{
	for (uint32_t i = (uint32_t)at;
	     i != NOWHERE && ex->life[i] == ex->life[at]; i = ex->prev[i]) {
		const struct record *r = l->at[i].rec;

		if (r->kind == REC_COMM)
			return r->comm.name;
		if (r->kind != REC_FORK || i != ex->lives[ex->life[i]].first)
			continue;
		size_t p = last_of(l, i, r->fork.ptid);

		return p < l->n ? name_at(l, ex, p) : NULL;
	}
	return NULL;
}

/* The name that the last switch of a CPU tells of the thread that came. */
static const char *name_of_comer(const struct list *l, size_t i)
{
	const struct record *at = l->at[i].rec;

	while (i-- > 0) {
		const struct record *r = l->at[i].rec;

		if (r->kind == REC_SAMPLE && r->sample.comes &&
		    r->source == at->source && r->cpu == at->cpu)
			return r->sample.sched.next_tid == at->tid
				       ? r->sample.comes
				       : NULL;
	}
	return NULL;
}

/* Where no record names a thread, switches do: that by which it leaves, and
 * that by which it came to the CPU of a record; each from then on. */
static const char *name_by_switch(const struct list *l, const struct expect *ex,
				  size_t at)
{
	const char *name = NULL;

	for (uint32_t i = (uint32_t)at;
	     !name && i != NOWHERE && ex->life[i] == ex->life[at];
	     i = ex->prev[i]) {
		const struct record *r = l->at[i].rec;

		if (r->kind != REC_SAMPLE || truth_time_of(r) == TIME_NONE)
			continue;
		name = r->sample.leaves && r->sample.sched.tid == r->tid
			       ? r->sample.leaves
			       : name_of_comer(l, i);
	}
	return name;
}

void model_comm(const struct list *l, const struct expect *ex, size_t i,
		char *name, size_t size)
{
	const char *said = name_at(l, ex, i);
	int32_t tid = l->at[i].rec->tid;

	if (!said && tid > 0)
		said = name_by_switch(l, ex, i);
	if (said)
		snprintf(name, size, "%s", said);
	else if (tid == 0)
		snprintf(name, size, "swapper");
	else
		snprintf(name, size, ":%d", (int)tid);
}

const struct record *model_map(const struct list *l, const struct expect *ex,
			       size_t i, int32_t pid, uint64_t addr)
{
	while (i-- > 0) {
		const struct record *r = l->at[i].rec;

		if (r->kind == REC_MAP && r->pid == pid &&
		    !(r->flags & REC_F_KERNEL) && addr >= r->map.start &&
		    addr - r->map.start < r->map.len)
			return r;
		/* another life of the id, of which no FORK tells */
		if (ex && ex->forgot[i] == pid)
			return NULL;
		if (r->pid != pid)
			continue;
		if (r->kind == REC_COMM && r->flags & REC_F_EXEC)
			return NULL;
		if (r->kind != REC_FORK || r->fork.ppid == pid)
			continue;
		if (!is_timed(r) || r->flags & REC_F_SYNTH)
			return NULL;
		pid = r->fork.ppid;
	}
	return NULL;
}
