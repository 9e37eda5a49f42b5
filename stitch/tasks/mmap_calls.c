/* mmap_calls.c - derives mappings from mmap, munmap and mremap calls. */
#include "stitch/tasks/mmap_calls.h"

#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/tasks/resolve.h"
#include "stitch/source.h"
#include "stitch/base/table.h"
#include "stitch/tasks/tasks.h"

/* Calls with these flags do not change the current mappings. */
#define NOT_NOW (REC_F_UNTIMED | REC_F_LATE | REC_F_GUEST | REC_F_DUPLICATE)
/* When the tables are full, the oldest entries are dropped, so that results do
 * not depend on hashes, which differ in each run. The effect is a missing
 * mapping. */
#define PENDING 4096u
#define FILES 65536u
#define PAGE 4096u
#define ERRORS ((uint64_t)-4095) /* results from here on are error numbers */
#define ADDRESS_MAX ((uint64_t)1 << 63)
/* System calls with higher numbers change no mappings. */
#define NUMBERS 512
/* Most regions that one mmap is compared with. */
#define PIECES_MAX 64
#define ANONYMOUS 0x20 /* MAP_ANONYMOUS, the same on all supported machines */
#define DONT_UNMAP 4   /* MREMAP_DONTUNMAP */

/* Number of arguments, by enum call_what; registers beyond them hold
 * garbage. */
static const size_t n_args[] = { 0, 6, 2, 3, 3, 1, 1, 0, 0 };

/* A call that a thread has entered. */
struct pending {
	uint16_t source; /* the source whose events report the call */
	enum call_what what;
	int64_t time, done; /* done: time of the call's end */
	uint64_t arg[CALL_ARGS];
	char *path; /* NULL: unknown */
};

/* An open file of a process. */
struct file {
	uint64_t key; /* see open_file_key() */
	char *path;   /* NULL: closed, or unknown */
};

struct mmap_calls {
	/* Row id of the thread whose call is in pending[] at the same index; 0:
	 * none. Each call reads this, and most read nothing else. */
	uint32_t thread[PENDING];
	struct pending pending[PENDING];
	struct file *file; /* a ring once it has FILES entries */
	size_t n_file, cap_file;
	uint64_t made;	      /* number of files ever added */
	struct table by_file; /* keys are unique, so no comparison is needed */
	/* The machine of the last call without a name, and what its calls do:
	 * enum call_what, by number. */
	const char *arch;
	uint8_t what[NUMBERS];
};

struct mmap_calls *mmap_calls_new(void)
{
	return mem_new(1, sizeof(struct mmap_calls));
}

void mmap_calls_free(struct mmap_calls *cs)
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

/* Numbers of system calls, for events that do not name them. */

static const struct {
	const char *arch;
	uint16_t nr[CALL_RAW]; /* by enum call_what; 0: none; below NUMBERS */
	uint16_t dup[2];       /* other numbers of CALL_DUP */
} numbers[] = {
	{ "x86_64", { 0, 9, 11, 25, 257, 3, 32, 59 }, { 33, 292 } },
	{ "aarch64", { 0, 222, 215, 216, 56, 57, 23, 221 }, { 24, 0 } },
	/* mmap passes its arguments in memory */
	{ "s390x", { 0, 0, 91, 163, 288, 6, 41, 11 }, { 63, 326 } },
};

/* Returns what a call does, by its number if its event does not name it. */
static enum call_what call_kind(struct mmap_calls *cs,
				const struct mmap_calls_in *in,
				const struct call *c)
{
	const char *arch = in->src->info.arch;

	if (c->what != CALL_RAW)
		return c->what;
	if (arch != cs->arch) {
		cs->arch = arch;
		memset(cs->what, CALL_NONE, sizeof(cs->what));
		for (size_t i = 0; arch && i < ARRAY_SIZE(numbers); i++) {
			if (strcmp(numbers[i].arch, arch) != 0)
				continue;
			for (uint8_t w = CALL_MMAP; w < CALL_RAW; w++)
				cs->what[numbers[i].nr[w]] = w;
			cs->what[numbers[i].dup[0]] = CALL_DUP;
			cs->what[numbers[i].dup[1]] = CALL_DUP;
		}
		/* for the calls that the machine lacks */
		cs->what[0] = CALL_NONE;
	}
	return c->nr > 0 && c->nr < NUMBERS ? (enum call_what)cs->what[c->nr]
					    : CALL_NONE;
}

/* A bijection: equal keys mean the same file of the same process. */
static uint64_t open_file_key(uint32_t process, int32_t fd)
{
	return hash_u64((uint64_t)process << 32 | (uint32_t)fd);
}

static const char *open_file_path(const struct mmap_calls *cs, uint32_t process,
				  int32_t fd)
{
	uint32_t i = table_find_hash(&cs->by_file, open_file_key(process, fd));

	return i == TABLE_NONE ? NULL : cs->file[i].path;
}

/* Notes the path of an open file; drops the oldest if there are too many. */
static void open_file_set_path(struct mmap_calls *cs, uint32_t process,
			       int32_t fd, const char *path)
{
	uint64_t key = open_file_key(process, fd);
	uint32_t i = table_find_hash(&cs->by_file, key);
	char *copy = mem_strdup(path);

	if (i != TABLE_NONE) {
		free(cs->file[i].path);
		cs->file[i].path = copy;
		return;
	}
	/* the oldest is dropped if there are too many */
	i = (uint32_t)(cs->made++ % FILES);
	if (i < cs->n_file) {
		free(cs->file[i].path);
		table_remove(&cs->by_file, cs->file[i].key, i);
	} else {
		(void)mem_add(cs->file, cs->n_file, cs->cap_file);
	}
	cs->file[i] = (struct file){ key, copy };
	table_add(&cs->by_file, key, i);
}

static void open_file_forget(struct mmap_calls *cs, uint32_t process,
			     int32_t fd)
{
	if (open_file_path(cs, process, fd))
		open_file_set_path(cs, process, fd, NULL);
}

struct range {
	uint64_t start, end;
};

/* Makes a range of whole pages. Returns false unless it lies in the lower half
 * of the address space. */
static bool page_range(uint64_t start, uint64_t len, struct range *out)
{
	uint64_t end;

	if (start % PAGE || !len || __builtin_add_overflow(start, len, &end) ||
	    end > ADDRESS_MAX)
		return false;
	*out = (struct range){ start,
			       (end + PAGE - 1) & ~(uint64_t)(PAGE - 1) };
	return true;
}

/* Maps a range of a file, or of anonymous memory, for a process. */
static void map_call_range(const struct mmap_calls_in *in, uint32_t slot,
			   const struct range *r, uint64_t pgoff,
			   const struct pending *p, const char *path)
{
	const struct record rec = {
		.kind = REC_MAP,
		.time = (uint64_t)p->done,
		.map = { .start = r->start,
			 .len = r->end - r->start,
			 .pgoff = pgoff,
			 .path = path },
	};
	struct region region = {
		.start = r->start,
		.end = r->end,
		.prot = (uint32_t)p->arg[2],
		.flags = (uint32_t)p->arg[3],
		.t0 = p->done,
	};

	region.image = resolve_map_image(in->resolve, in->src, &rec,
					 tasks_process_at(in->tasks, slot)->id,
					 &region.pgoff);
	tasks_map(in->tasks, slot, &region);
}

/* Returns true if region r has the same file offset at addr. It may come from a
 * list of mappings that was saved later. */
static bool region_agrees(const struct mmap_calls_in *in,
			  const struct region *r, uint64_t addr, uint64_t pgoff)
{
	return r &&
	       frames_get_image(in->frames, r->image)->kind == IMAGE_FILE &&
	       r->pgoff + (addr - r->start) == pgoff;
}

/* Maps a file, except for the parts of the range that are already known to be
 * mapped to the same file. */
static void map_call_file(struct mmap_calls *cs, const struct mmap_calls_in *in,
			  uint32_t slot, const struct range *all,
			  const struct pending *p)
{
	const struct process *pr = tasks_process_at(in->tasks, slot);
	int32_t fd = (int32_t)p->arg[4];
	const char *path = open_file_path(cs, pr->id, fd);
	const struct region *r = space_find(&pr->space, all->start, TIME_NONE);
	struct range left = *all;

	if (!path && region_agrees(in, r, all->start, p->arg[5])) {
		open_file_set_path(
			cs, pr->id, fd,
			frames_get_image(in->frames, r->image)->path);
		path = open_file_path(cs, pr->id, fd);
	}
	for (int i = 0; i < PIECES_MAX && left.start < left.end; i++) {
		uint64_t pgoff = p->arg[5] + (left.start - all->start);
		struct range piece = left;

		pr = tasks_process_at(in->tasks, slot);
		r = space_find(&pr->space, left.start, TIME_NONE);
		bool same =
			region_agrees(in, r, left.start, pgoff) && path &&
			!strcmp(frames_get_image(in->frames, r->image)->path,
				path);

		uint64_t below, above;

		if (!r)
			space_hole(&pr->space, left.start, &below, &above);
		else
			above = r->end;
		if (above && above < piece.end)
			piece.end = above;
		if (!same)
			map_call_range(in, slot, &piece, pgoff, p,
				       path ? path : RESOLVE_UNNAMED);
		left.start = piece.end;
	}
}

/* Applies an mmap() that returned ret to the mappings of its process. */
static void apply_mmap(struct mmap_calls *cs, const struct mmap_calls_in *in,
		       uint32_t slot, const struct pending *p, uint64_t ret)
{
	struct range r;

	if (!page_range(ret, p->arg[1], &r))
		return;
	/* perf's mapping record for the same call has more information */
	const struct process *pr = tasks_process_at(in->tasks, slot);
	const struct region *is = space_find(&pr->space, r.start, TIME_NONE);

	if (is && is->start == r.start && is->since >= p->time)
		return;
	if (p->arg[3] & ANONYMOUS || (int32_t)p->arg[4] < 0)
		map_call_range(in, slot, &r, 0, p, "//anon");
	else
		map_call_file(cs, in, slot, &r, p);
}

/* mremap moves or resizes one mapping, which keeps its image. */
static void apply_mremap(const struct mmap_calls_in *in, uint32_t slot,
			 const struct pending *p, uint64_t ret)
{
	const struct process *pr = tasks_process_at(in->tasks, slot);
	const struct region *was = space_find(&pr->space, p->arg[0], TIME_NONE);
	struct region region = { 0 };
	struct range from, to;

	if (!page_range(ret, p->arg[2], &to))
		return;
	if (was) {
		region = *was;
		region.pgoff += p->arg[0] - was->start;
		if (frames_get_image(in->frames, was->image)->kind ==
		    IMAGE_ANON)
			region.pgoff = to.start;
		region.start = to.start;
		region.end = to.end;
		region.t0 = p->done;
	}
	if (page_range(p->arg[0], p->arg[1], &from) &&
	    !(p->arg[3] & DONT_UNMAP))
		tasks_unmap(in->tasks, slot, from.start, from.end, p->done);
	if (was)
		tasks_map(in->tasks, slot, &region);
	else
		tasks_unmap(in->tasks, slot, to.start, to.end, p->done);
}

void mmap_calls_take(struct mmap_calls *cs, const struct mmap_calls_in *in,
		     const struct record *rec)
{
	uint32_t id = tasks_thread_at(in->tasks, in->thread)->id;
	const struct call *c = rec->sample.call;
	uint16_t source = in->src->index;
	uint32_t *thread = &cs->thread[(id + source) % PENDING];
	struct pending *p = &cs->pending[thread - cs->thread];
	enum call_what what = call_kind(cs, in, c);
	bool mine = *thread == id && p->source == source;
	int64_t t = (int64_t)rec->time;
	const char *path;

	/* most calls map nothing */
	if (what == CALL_NONE && !mine)
		return;
	if (rec->flags & NOT_NOW || rec->time > INT64_MAX)
		return;
	/* without the machine, the number has no meaning */
	if (c->what == CALL_RAW && !in->src->info.arch)
		return;
	/* after exec, the calling thread has the id of its process */
	if (what == CALL_EXECVE && c->exit && !c->ret && rec->pid < 0)
		tasks_thread(in->tasks, in->src->index, rec->tid, rec->tid);
	/* if two events report the call, only one may have the path */
	if (!c->exit && mine && what == p->what && !c->path &&
	    !memcmp(p->arg, c->arg, n_args[what] * sizeof(*p->arg)))
		return;
	if (!c->exit && what != CALL_NONE) {
		free(p->path);
		*thread = id;
		*p = (struct pending){ source, what,  t,
				       t,      { 0 }, mem_strdup(c->path) };
		memcpy(p->arg, c->arg, sizeof(p->arg));
		return;
	}
	if (!mine)
		return;
	*thread = 0;
	/* after a loss, this may be the result of another call */
	if (c->exit && what == p->what &&
	    !losses_find(in->losses, in->src->index, -1, p->time, t)) {
		p->done = t;
		uint64_t ret = (uint64_t)c->ret;
		uint32_t slot = tasks_thread_at(in->tasks, in->thread)->process;
		const struct process *pr = tasks_process_at(in->tasks, slot);
		/* the thread's process is unknown */
		if (pr->pid < 0 || ret >= ERRORS)
			return;
		switch (p->what) {
		case CALL_MMAP:
			apply_mmap(cs, in, slot, p, ret);
			break;
		case CALL_MUNMAP: {
			struct range r;

			if (page_range(p->arg[0], p->arg[1], &r))
				tasks_unmap(in->tasks, slot, r.start, r.end,
					    p->done);
			break;
		}
		case CALL_MREMAP:
			apply_mremap(in, slot, p, ret);
			break;
		case CALL_OPENAT:
			if (p->path && p->path[0] == '/' && ret <= INT32_MAX)
				open_file_set_path(cs, pr->id, (int32_t)ret,
						   p->path);
			else
				open_file_forget(cs, pr->id, (int32_t)ret);
			break;
		case CALL_CLOSE:
			open_file_forget(cs, pr->id, (int32_t)p->arg[0]);
			break;
		case CALL_DUP:
			/* ret is a copy of it, and not what it was */
			path = open_file_path(cs, pr->id, (int32_t)p->arg[0]);
			if (!path)
				open_file_forget(cs, pr->id, (int32_t)ret);
			else if ((int32_t)p->arg[0] != (int32_t)ret)
				open_file_set_path(cs, pr->id, (int32_t)ret,
						   path);
			break;
		default:
			break;
		}
	}
}
