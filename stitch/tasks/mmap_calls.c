/* mmap_calls.c - what system calls change in an address space. */
#include "stitch/tasks/mmap_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/tasks/resolve.h"
#include "stitch/source.h"
#include "stitch/base/table.h"
#include "stitch/tasks/tasks.h"

/* Records of the past, of other machines, or that stood there before. */
#define NOT_NOW (REC_F_UNTIMED | REC_F_LATE | REC_F_GUEST | REC_F_DUPLICATE)
/* What does not fit is forgotten, the oldest first: a mapping less is known.
 * Which that is must not depend on hashes, which differ in each run. */
#define PENDING 4096u
#define FILES 65536u
#define PAGE 4096u
#define ERRORS ((uint64_t)-4095) /* results from here on are errors */
#define ADDRESS_MAX ((uint64_t)1 << 63)
/* Regions that one mmap is compared with. */
#define PIECES_MAX 64
#define ANONYMOUS 0x20 /* MAP_ANONYMOUS, the same on all machines we know */
#define DONT_UNMAP 4   /* MREMAP_DONTUNMAP */

/* Of each call; behind them registers hold anything. */
static const size_t n_args[] = { 0, 6, 2, 3, 3, 1, 0, 0 };

/* A thread is in a call. */
struct pending {
	uint32_t thread; /* row id; 0: nobody */
	uint16_t source; /* whose events told of it */
	enum call_what what;
	int64_t time, done; /* done: when the call ended */
	uint64_t arg[CALL_ARGS];
	char *path; /* NULL: not said */
};

/* An open file of a process. */
struct file {
	uint64_t key; /* see key_of() */
	char *path;   /* NULL: closed, or not known */
};

struct calls {
	struct pending pending[PENDING];
	struct file *file; /* a ring when there are FILES of them */
	size_t n_file, cap_file;
	uint64_t made;	      /* files ever */
	struct table by_file; /* keys are whole: no compare */
};

struct calls *calls_new(void)
{
	return mem_new(1, sizeof(struct calls));
}

void calls_free(struct calls *cs)
{
	if (!cs)
		return;
	for (size_t i = 0; i < PENDING; i++)
		free(cs->pending[i].path);
	for (size_t i = 0; i < cs->n_file; i++)
		free(cs->file[i].path);
	free(cs->file);
	table_release(&cs->by_file);
	free(cs);
}

/* ---- numbers of calls, where events do not name them */

static const struct {
	const char *arch;
	int32_t nr[CALL_RAW]; /* by enum call_what; 0: none */
} numbers[] = {
	{ "x86_64", { 0, 9, 11, 25, 257, 3, 59 } },
	{ "aarch64", { 0, 222, 215, 216, 56, 57, 221 } },
	/* its mmap passes the arguments in memory */
	{ "s390x", { 0, 0, 91, 163, 288, 6, 11 } },
};

static enum call_what what_of(const struct calls_in *in, const struct call *c)
{
	const char *arch = in->src->info.arch;

	if (c->what != CALL_RAW)
		return c->what;
	for (size_t i = 0; arch && i < sizeof(numbers) / sizeof(*numbers); i++)
		for (unsigned int w = CALL_MMAP; w < CALL_RAW; w++)
			if (!strcmp(numbers[i].arch, arch) && c->nr > 0 &&
			    numbers[i].nr[w] == c->nr)
				return (enum call_what)w;
	return CALL_NONE;
}

/* ---- open files */

/* A bijection: equal keys are the same file of the same process. */
static uint64_t key_of(uint32_t process, int32_t fd)
{
	return hash_u64((uint64_t)process << 32 | (uint32_t)fd);
}

static const char *path_of(const struct calls *cs, uint32_t process, int32_t fd)
{
	uint32_t i =
		table_find(&cs->by_file, key_of(process, fd), NULL, NULL, NULL);

	return i == TABLE_NONE ? NULL : cs->file[i].path;
}

/* Room for one more; the oldest makes it when there are too many. */
static uint32_t new_file(struct calls *cs, uint64_t key)
{
	uint32_t i = (uint32_t)(cs->made++ % FILES);

	if (i < cs->n_file) {
		free(cs->file[i].path);
		table_remove(&cs->by_file, cs->file[i].key, i);
	} else {
		cs->file = mem_grow(cs->file, &cs->cap_file, cs->n_file + 1,
				    sizeof(*cs->file));
		cs->n_file++;
	}
	cs->file[i] = (struct file){ key, NULL };
	table_add(&cs->by_file, key, i);
	return i;
}

static void set_path(struct calls *cs, uint32_t process, int32_t fd,
		     const char *path)
{
	uint64_t key = key_of(process, fd);
	uint32_t i = table_find(&cs->by_file, key, NULL, NULL, NULL);
	char *copy = mem_strdup(path);

	if (i == TABLE_NONE)
		i = new_file(cs, key);
	free(cs->file[i].path);
	cs->file[i].path = copy;
}

static void forget_file(struct calls *cs, uint32_t process, int32_t fd)
{
	if (path_of(cs, process, fd))
		set_path(cs, process, fd, NULL);
}

/* ---- mappings */

struct range {
	uint64_t start, end;
};

/* Whole pages below the kernel's half; false: there is no such range. */
static bool range_of(uint64_t start, uint64_t len, struct range *out)
{
	uint64_t end;

	if (start % PAGE || !len || __builtin_add_overflow(start, len, &end) ||
	    end > ADDRESS_MAX)
		return false;
	*out = (struct range){ start,
			       (end + PAGE - 1) & ~(uint64_t)(PAGE - 1) };
	return true;
}

static struct process *process_of(const struct calls_in *in, uint32_t *slot)
{
	*slot = tasks_thread_at(in->tasks, in->thread)->process;
	return tasks_process_at(in->tasks, *slot);
}

static void map(const struct calls_in *in, uint32_t slot, const struct range *r,
		uint64_t pgoff, const struct pending *p, const char *path)
{
	const struct record rec = {
		.kind = REC_MAP,
		.time = (uint64_t)p->done,
		.map = { .start = r->start,
			 .len = r->end - r->start,
			 .pgoff = pgoff,
			 .path = path },
	};
	struct region new = {
		.start = r->start,
		.end = r->end,
		.prot = (uint32_t)p->arg[2],
		.flags = (uint32_t)p->arg[3],
		.t0 = p->done,
	};

	new.image = resolve_map_image(in->resolve, in->src, &rec,
				      tasks_process_at(in->tasks, slot)->id,
				      &new.pgoff);
	tasks_map(in->tasks, slot, &new);
}

/* Is it the same file at the same place, by a list that was saved later? */
static bool agrees(const struct calls_in *in, const struct region *r,
		   uint64_t addr, uint64_t pgoff)
{
	return r && resolve_is_file(in->resolve, r->image) &&
	       r->pgoff + (addr - r->start) == pgoff;
}

/* Parts of the range that are known to be of this file already stay. */
static void map_file(struct calls *cs, const struct calls_in *in, uint32_t slot,
		     const struct range *all, const struct pending *p)
{
	const struct process *pr = tasks_process_at(in->tasks, slot);
	int32_t fd = (int32_t)p->arg[4];
	const char *path = path_of(cs, pr->id, fd);
	const struct region *r = space_find(&pr->space, all->start, TIME_NONE);
	struct range left = *all;

	if (!path && agrees(in, r, all->start, p->arg[5])) {
		set_path(cs, pr->id, fd, resolve_path(in->resolve, r->image));
		path = path_of(cs, pr->id, fd);
	}
	for (int i = 0; i < PIECES_MAX && left.start < left.end; i++) {
		uint64_t pgoff = p->arg[5] + (left.start - all->start);
		struct range piece = left;

		pr = tasks_process_at(in->tasks, slot);
		r = space_find(&pr->space, left.start, TIME_NONE);
		bool same = agrees(in, r, left.start, pgoff) && path &&
			    !strcmp(resolve_path(in->resolve, r->image), path);

		if (r && r->end < piece.end)
			piece.end = r->end;
		else if (!r)
			piece.end =
				space_gap_end(&pr->space, left.start, left.end);
		if (!same)
			map(in, slot, &piece, pgoff, p,
			    path ? path : RESOLVE_UNNAMED);
		left.start = piece.end;
	}
}

/* A mapping record of the same call says more (perf). */
static bool is_told(const struct calls_in *in, uint32_t slot,
		    const struct pending *p, const struct range *range)
{
	const struct process *pr = tasks_process_at(in->tasks, slot);
	const struct region *r =
		space_find(&pr->space, range->start, TIME_NONE);

	return r && r->start == range->start && r->since >= p->time;
}

static void do_mmap(struct calls *cs, const struct calls_in *in, uint32_t slot,
		    const struct pending *p, uint64_t ret)
{
	struct range r;

	if (!range_of(ret, p->arg[1], &r) || is_told(in, slot, p, &r))
		return;
	if (p->arg[3] & ANONYMOUS || (int32_t)p->arg[4] < 0)
		map(in, slot, &r, 0, p, "//anon");
	else
		map_file(cs, in, slot, &r, p);
}

static void do_munmap(const struct calls_in *in, uint32_t slot,
		      const struct pending *p)
{
	struct range r;

	if (range_of(p->arg[0], p->arg[1], &r))
		tasks_unmap(in->tasks, slot, r.start, r.end, p->done);
}

/* The kernel moves or resizes one mapping; it stays of the same image. */
static void do_mremap(const struct calls_in *in, uint32_t slot,
		      const struct pending *p, uint64_t ret)
{
	const struct process *pr = tasks_process_at(in->tasks, slot);
	const struct region *was = space_find(&pr->space, p->arg[0], TIME_NONE);
	struct region new = { 0 };
	struct range from, to;

	if (!range_of(ret, p->arg[2], &to))
		return;
	if (was) {
		new = *was;
		new.pgoff += p->arg[0] - was->start;
		if (resolve_is_anon(in->resolve, was->image))
			new.pgoff = to.start;
		new.start = to.start;
		new.end = to.end;
		new.t0 = p->done;
	}
	if (range_of(p->arg[0], p->arg[1], &from) && !(p->arg[3] & DONT_UNMAP))
		tasks_unmap(in->tasks, slot, from.start, from.end, p->done);
	if (was)
		tasks_map(in->tasks, slot, &new);
	else
		tasks_unmap(in->tasks, slot, to.start, to.end, p->done);
}

static void finish(struct calls *cs, const struct calls_in *in,
		   const struct pending *p, uint64_t ret)
{
	uint32_t slot;
	const struct process *pr = process_of(in, &slot);

	/* of which process the thread is was never said */
	if (pr->pid < 0 || ret >= ERRORS)
		return;
	switch (p->what) {
	case CALL_MMAP:
		do_mmap(cs, in, slot, p, ret);
		break;
	case CALL_MUNMAP:
		do_munmap(in, slot, p);
		break;
	case CALL_MREMAP:
		do_mremap(in, slot, p, ret);
		break;
	case CALL_OPENAT:
		if (p->path && p->path[0] == '/' && ret <= INT32_MAX)
			set_path(cs, pr->id, (int32_t)ret, p->path);
		else
			forget_file(cs, pr->id, (int32_t)ret);
		break;
	case CALL_CLOSE:
		forget_file(cs, pr->id, (int32_t)p->arg[0]);
		break;
	default:
		break;
	}
}

void calls_take(struct calls *cs, const struct calls_in *in,
		const struct record *rec)
{
	uint32_t id = tasks_thread_at(in->tasks, in->thread)->id;
	const struct call *c = rec->sample.call;
	uint16_t source = in->src->index;
	struct pending *p = &cs->pending[(id + source) % PENDING];
	enum call_what what = what_of(in, c);
	bool mine = p->thread == id && p->source == source;
	int64_t t = (int64_t)rec->time;

	if (rec->flags & NOT_NOW || rec->time > INT64_MAX)
		return;
	/* a number of a machine that was not said tells nothing */
	if (c->what == CALL_RAW && !in->src->info.arch)
		return;
	/* whoever called it has the process' id now */
	if (what == CALL_EXECVE && c->exit && !c->ret && rec->pid < 0)
		tasks_thread(in->tasks, in->src->index, rec->tid, rec->tid);
	/* two events may tell of one call, and only one of them the path */
	if (!c->exit && mine && what == p->what && !c->path &&
	    !memcmp(p->arg, c->arg, n_args[what] * sizeof(*p->arg)))
		return;
	if (!c->exit && what != CALL_NONE) {
		free(p->path);
		*p = (struct pending){
			id, source, what, t, t, { 0 }, mem_strdup(c->path)
		};
		memcpy(p->arg, c->arg, sizeof(p->arg));
		return;
	}
	if (!mine)
		return;
	p->thread = 0;
	/* behind a hole it may be the result of another call */
	if (c->exit && what == p->what &&
	    !losses_find(in->losses, in->src->index, -1, p->time, t)) {
		p->done = t;
		finish(cs, in, p, (uint64_t)c->ret);
	}
}
