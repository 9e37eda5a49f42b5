/* rings.c - switches and wake-ups, and calls, by an instance of ftrace. */
#include "cli/record/rings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/source.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCES TRACING "/instances"
#define OWN "backstitch-"
#define MORE "more/per_cpu/"
#define RING_MB 16   /* for each CPU: holds a second of a busy one */
#define RINGS_MB 256 /* for all CPUs together */
#define PERF_MB 4    /* perf's buffer of a CPU, for rings of RING_MB */
#define PAGES 16     /* pages that are written at once */
#define WAKES "events/sched/sched_waking/trigger"
/* Kernel stacks of each event and CPU in ARM_MS milliseconds. One takes 1.5 us:
 * for all events of a busy redis 8 % of its time, for 1,000 a second 0.15 %. */
#define RINGS_STACKS_MOST 80
#define ARM_MS 80

struct rings_instance {
	char at[64];	    /* its path in tracefs */
	int lock;	    /* locked descriptor of it, while we live; or -1 */
	int *from, *to;	    /* descriptors of each CPU's pages; -1: none */
	const char *folder; /* for its pages, relative to rings.dir */
};

struct rings {
	/* The kernel takes user stacks for all events of an instance or for
	 * none, so events that need none are in a second instance. A request
	 * over loopback raises and runs two softirqs, whose stacks were two
	 * thirds of the recording of a busy redis. */
	struct rings_instance of[2];
	int n; /* instances that were made */
	char folder[PATH_MAX];
	int dir;    /* descriptor of folder; -1: none */
	char *page; /* buffer of PAGES pages */
	size_t page_size;
	long size; /* of a CPU's ring, bytes */
	int cpus;
	long stacks;	  /* RINGS_STACKS_MOST times the number of CPUs */
	bool waits;	  /* rings_begin_with() was called */
	bool begun;	  /* rings_begin() was called */
	pthread_t arms;	  /* runs rings_arm_often() if armed is set */
	bool armed;	  /* the thread was created */
	atomic_bool ends; /* the thread has to end */
	int failed;	  /* errno of the first write that failed; 0: none */
	bool calls;	  /* calls of kernel functions are recorded */
	bool any;	  /* something was recorded */
	bool tgids;	  /* the list of processes of threads is up to date */
};

/* The events that 'path' uses, as in plan_add_events(). A kernel may lack those
 * of disks. The first RINGS_STACKS get kernel stacks, which show where a thread
 * waits and where it is woken. */
#define RINGS_STACKS 2
static const char *const rings_events[] = {
	"sched/sched_switch",
	"sched/sched_waking",
	"sched/sched_wakeup",
	"sched/sched_wakeup_new",
	"sched/sched_process_exec",
	"irq/irq_handler_entry",
	"irq/irq_handler_exit",
	"irq/softirq_entry",
	"irq/softirq_exit",
	"irq/softirq_raise",
	"block/block_rq_complete",
	"timer/hrtimer_expire_entry", /* see rings_filter_timers() */
	"timer/hrtimer_expire_exit",
	/* kinds of 'latency'; these are rare unless memory is short */
	"vmscan/mm_vmscan_direct_reclaim_begin",
	"vmscan/mm_vmscan_direct_reclaim_end",
	"vmscan/mm_vmscan_memcg_reclaim_begin",
	"vmscan/mm_vmscan_memcg_reclaim_end",
	"compaction/mm_compaction_begin",
	"compaction/mm_compaction_end",
};
/* The events with --calls, which show why a call takes long. */
static const char *const rings_of_calls[] = {
	"sched/sched_switch",
	"sched/sched_waking",
	"raw_syscalls/sys_enter",
	"raw_syscalls/sys_exit",
};
void rings_folder(const char *capture, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s" BESIDE_FTRACE,
		 (int)(PATH_MAX - sizeof(BESIDE_FTRACE)), capture);
}

/* Writes a file of an instance. anew: O_TRUNC or 0. Returns whether it did. */
static bool rings_put_as(const struct rings_instance *in, const char *name,
			 const char *text, int anew)
{
	char path[PATH_MAX];
	int fd OWNED_FD = -1;

	snprintf(path, sizeof(path), "%s/%s", in->at, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | anew);
	return fd >= 0 &&
	       write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool rings_put(const struct rings_instance *in, const char *name,
		      const char *text)
{
	return rings_put_as(in, name, text, 0);
}

/* Writes n bytes of r->page, or sets r->failed. */
static void rings_write(struct rings *r, int fd, size_t n)
{
	for (size_t at = 0; at < n && !r->failed;) {
		ssize_t put = write(fd, r->page + at, n - at);

		if (put < 0 && errno != EINTR)
			r->failed = errno;
		at += put > 0 ? (size_t)put : 0;
	}
}

/* Copies what can be read from a file now, until about `most` bytes. */
static void rings_copy_open(struct rings *r, int from, int to, uint64_t most)
{
	size_t has = 0;
	ssize_t n = 1;

	for (uint64_t at = 0;
	     from >= 0 && to >= 0 && !r->failed && at < most && n > 0;
	     at += (uint64_t)n) {
		/* the kernel returns at most one page for each read() */
		n = read(from, r->page + has, r->page_size);
		has += n > 0 ? (size_t)n : 0;
		if (has && (n <= 0 || has > (PAGES - 1) * r->page_size)) {
			rings_write(r, to, has);
			r->any = true;
			has = 0;
		}
	}
	if (has)
		rings_write(r, to, has);
}

/* Opens the folder of a file below r->dir, and makes it if there is none. Links
 * are not followed, as root may write here where others can make them. */
static int rings_enter(const struct rings *r, const char *name)
{
	int dir = fcntl(r->dir, F_DUPFD_CLOEXEC, 0);
	char part[NAME_MAX + 1];

	for (const char *end; dir >= 0 && (end = strchr(name, '/'));
	     name = end + 1) {
		int outer = dir;

		snprintf(part, sizeof(part), "%.*s", (int)(end - name), name);
		mkdirat(outer, part, 0777);
		dir = openat(outer, part,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(outer);
	}
	return dir;
}

/* Removes a file of an earlier recording, and makes a new one if `make` is set.
 * Returns its descriptor, or -1 and, with make, sets r->failed. */
static int rings_replace(struct rings *r, const char *name, bool make)
{
	const char *base = strrchr(name, '/');
	int dir OWNED_FD = rings_enter(r, name);
	int fd = -1;

	base = base ? base + 1 : name;
	if (dir >= 0 && (!unlinkat(dir, base, 0) || errno == ENOENT) && make)
		fd = openat(dir, base,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
				    O_CLOEXEC,
			    0600);
	if (make && fd < 0 && !r->failed)
		r->failed = errno;
	return fd;
}

/* Copies a file. If `from` does not exist, it only removes `name`. */
static void rings_copy(struct rings *r, const char *from, const char *name)
{
	int in OWNED_FD = open(from, O_RDONLY | O_CLOEXEC);
	int out = rings_replace(r, name, in >= 0);

	rings_copy_open(r, in, out, UINT64_MAX);
	if (out >= 0 && close(out) && !r->failed)
		r->failed = errno;
}

/* Opens both files of each CPU of an instance. */
static void rings_open_cpus(struct rings *r, struct rings_instance *in)
{
	char path[PATH_MAX], name[64];

	r->cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	r->cpus = r->cpus > 0 ? r->cpus : 1;
	in->from = mem_new((size_t)r->cpus, sizeof(*in->from));
	in->to = mem_new((size_t)r->cpus, sizeof(*in->to));
	for (int i = 0; i < r->cpus; i++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw",
			 in->at, i);
		snprintf(name, sizeof(name), "%scpu%d/trace_pipe_raw",
			 in->folder, i);
		in->from[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		in->to[i] = in->from[i] < 0 ? -1 : rings_replace(r, name, true);
	}
}

/* Makes a folder for pages, and removes pages of earlier recordings in it. */
static void rings_clear(struct rings *r, const char *folder)
{
	const struct dirent *e;
	char name[NAME_MAX + 64];
	DIR *d;
	int cpus = r->dir < 0 ? -1 : rings_enter(r, folder);

	if (cpus < 0) {
		r->failed = errno;
		return;
	}
	d = fdopendir(cpus);
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "cpu", 3) != 0)
			continue;
		snprintf(name, sizeof(name), "%s%s/trace_pipe_raw", folder,
			 e->d_name);
		rings_replace(r, name, false);
		snprintf(name, sizeof(name), "%s%s/stats", folder, e->d_name);
		rings_replace(r, name, false);
	}
	if (d)
		closedir(d);
	else
		close(cpus);
}

/* ---- the instance */

/* Removes the instances whose makers were killed: they go on recording, and no
 * process has locked them. The process id in their names does not suffice, as
 * each container has its own ids. */
static void rings_remove_left(void)
{
	DIR *d OWNED_DIR = opendir(INSTANCES);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, OWN, strlen(OWN)) != 0)
			continue;
		int fd = openat(dirfd(d), e->d_name,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool dead = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

		if (fd >= 0)
			close(fd);
		if (dead)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
}

/* Makes an instance, whose rings are `larger` times the default. Returns false
 * and sets errno if it cannot, also if another one has its name. */
static bool rings_make_instance(struct rings *r, long larger)
{
	struct rings_instance *in = &r->of[r->n];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long mb = RING_MB;
	char kb[24];
	int error;

	while (mb > 1 && cpus > RINGS_MB / mb)
		mb /= 2;
	mb *= larger;
	r->size = mb << 20;
	snprintf(kb, sizeof(kb), "%ld", mb << 10);
	snprintf(in->at, sizeof(in->at), INSTANCES "/" OWN "%ld%s",
		 (long)getpid(), r->n ? "-more" : "");
	in->folder = r->n ? MORE : "per_cpu/";
	if (mkdir(in->at, 0700))
		return false;
	in->lock = open(in->at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->n++;
	if (in->lock >= 0 && !flock(in->lock, LOCK_EX | LOCK_NB) &&
	    rings_put(in, "tracing_on", "0") &&
	    rings_put(in, "trace_clock", "mono") &&
	    rings_put(in, "buffer_size_kb", kb))
		return true;
	error = errno;
	rmdir(in->at);
	errno = error;
	return false;
}

/* Removes the instances, and frees r. */
static void rings_free(struct rings *r)
{
	for (int i = 0; i < r->n; i++) {
		rmdir(r->of[i].at);
		if (r->of[i].lock >= 0)
			close(r->of[i].lock);
		free_all(r->of[i].from, r->of[i].to);
	}
	if (r->dir >= 0)
		close(r->dir);
	free_all(r->page, r);
}

bool rings_may(void)
{
	return !geteuid() && !access(INSTANCES, W_OK | X_OK) &&
	       !access(TRACING "/events/sched/sched_switch", F_OK);
}

/* Returns how many lines of a file contain `word`, or, if it is NULL, are not
 * comments. */
static uint64_t rings_count(const char *path, const char *word)
{
	char line[512];
	uint64_t n = 0;
	FILE *f OWNED_FILE = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		n += word ? strstr(line, word) != NULL : *line != '#';
	return n;
}

/* Sets the functions to trace, and the tracer. Returns 0, or -1 and *err. */
static int rings_start_calls(struct rings *r, const char *calls,
			     uint64_t *functions, struct err *err)
{
	const struct rings_instance *in = r->of;
	char path[PATH_MAX];
	int error, rc = 0;

	if (!rings_count(TRACING "/available_tracers", "function_graph"))
		return err_set(err, ERR_IO,
			       "this kernel has no function_graph "
			       "(CONFIG_FUNCTION_GRAPH_TRACER); probes on the "
			       "functions and on their returns tell the same: "
			       "'perf probe NAME', 'perf probe NAME%%return', "
			       "'perf record -e \"probe:*\" PROGRAM'");
	/* children are followed, too; switches are not filtered, as an omitted
	 * one cannot be distinguished from one that is lost */
	rings_put(in, "options/function-fork", "1");
	snprintf(path, sizeof(path), "%s/set_ftrace_filter", in->at);
	/* to the kernel a name without a match is no error, and an empty filter
	 * means all functions: first, each name is tried alone */
	for (int all = 0; !rc && all < 2; all++) {
		char *list OWNED = mem_printf("%s", calls), *rest = list, *one;

		for (int i = 0; !rc && (one = strtok_r(rest, ",", &rest)); i++)
			if (!rings_put_as(in, "set_ftrace_filter", one,
					  all && i ? 0 : O_TRUNC) ||
			    !rings_count(path, NULL))
				rc = err_set(
					err, ERR_USAGE,
					"--calls %s: the kernel has no "
					"function of that name that can be "
					"traced; '*' and '?' are wild, and " TRACING
					"/available_filter_functions lists "
					"them",
					one);
	}
	*functions = rc ? 0 : rings_count(path, NULL);
	if (rc || rings_put(in, "current_tracer", "function_graph"))
		return rc;
	error = errno;
	return err_set(
		err, ERR_IO,
		"%s/current_tracer: %s; "
		"before Linux 6.11 only the top instance has function_graph: "
		"'trace-cmd record -p function_graph -l FUNCTION -F PROGRAM' "
		"records there, and its trace.dat is read",
		in->at, strerror(error));
}

struct rings *rings_open(const char *folder, const char *calls,
			 unsigned int megabytes, uint64_t *functions,
			 struct err *err)
{
	struct rings *r = mem_new(1, sizeof(*r));
	long larger = megabytes > PERF_MB ? megabytes / PERF_MB : 1;

	r->dir = -1;
	snprintf(r->folder, sizeof(r->folder), "%s", folder ? folder : "");
	/* a page of the rings is one of memory (4 kB on most machines) */
	r->page_size = (size_t)sysconf(_SC_PAGESIZE);
	r->page = mem_new(r->page_size, PAGES);
	rings_remove_left();
	if (!rings_make_instance(r, larger) ||
	    (!calls && !rings_make_instance(r, larger))) {
		err_set(err, ERR_IO, INSTANCES ": %s%s", strerror(errno),
			errno == ENOMEM
				? "; its buffers need more memory than is free"
				: "; ftrace needs root, and tracefs at " TRACING
				  " ('mount -t tracefs none " TRACING "')");
		rings_free(r);
		return NULL;
	}
	r->calls = calls;
	/* tracing_set_tracer() refuses while a pipe of the instance is open */
	if (calls && rings_start_calls(r, calls, functions, err)) {
		rings_free(r);
		return NULL;
	}
	if (folder) {
		mkdir(r->folder, 0777);
		r->dir = open(r->folder,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rings_clear(r, "per_cpu/");
		rings_clear(r, MORE);
	}
	for (int i = 0; folder && !r->failed && i < r->n; i++)
		rings_open_cpus(r, &r->of[i]);
	if (r->failed) {
		rings_close(r, NULL, err);
		return NULL;
	}
	return r;
}

/* Sets the triggers that take kernel stacks of switches and wake-ups, unless
 * they are set and their count, which the kernel counts down, is not 0. */
static void rings_arm(const struct rings *r)
{
	char path[PATH_MAX], name[128], text[64];

	for (size_t i = 0; !r->calls && i < RINGS_STACKS; i++) {
		snprintf(name, sizeof(name), "events/%s/trigger",
			 rings_events[i]);
		snprintf(path, sizeof(path), "%s/%s", r->of->at, name);
		if (rings_count(path, "stacktrace:count=") &&
		    !rings_count(path, "stacktrace:count=0"))
			continue;
		rings_put(r->of, name, "!stacktrace");
		/* the stack of a CPU that was idle is always the same */
		snprintf(text, sizeof(text), "stacktrace:%ld%s", r->stacks,
			 i ? "" : " if prev_pid != 0");
		rings_put(r->of, name, text);
	}
}

/* The thread that renews triggers. Removing one waits for all CPUs, a tenth of
 * a second, in which rings overflow unless another thread drains them. */
static void *rings_arm_often(void *arg)
{
	const struct rings *r = arg;
	const struct timespec wait = { .tv_nsec = ARM_MS * 1000000L };
	bool waits = r->waits;

	while (!r->ends) {
		rings_arm(r);
		for (int i = 0; i < r->n && waits; i++)
			rings_put(&r->of[i], WAKES, "!traceon");
		waits = false;
		nanosleep(&wait, NULL);
	}
	return NULL;
}

/* Filters out timers that wake no thread, such as ticks and perf's samples.
 * Before Linux 6.3 a filter takes the address of a function, not its name. */
static void rings_filter_timers(const struct rings_instance *in)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], filter[64] = "function == 0"; /* of none */
	unsigned long long addr;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " hrtimer_wakeup\n") &&
		    sscanf(line, "%llx", &addr) == 1) {
			snprintf(filter, sizeof(filter), "function == 0x%llx",
				 addr);
			break;
		}
	if (f)
		fclose(f);
	rings_put(in, "events/timer/hrtimer_expire_entry/filter", filter);
}

int rings_start(struct rings *r, struct err *err)
{
	const char *const *event = r->calls ? rings_of_calls : rings_events;
	size_t n = r->calls ? ARRAY_SIZE(rings_of_calls)
			    : ARRAY_SIZE(rings_events);
	static const char *const packets[][2] = {
		{ "events/irq/softirq_entry/filter", NO_PACKETS_FILTER },
		{ "events/irq/softirq_exit/filter", NO_PACKETS_FILTER },
	};
	char name[128], filter[64];

	if (!r->calls)
		rings_put(r->of, "options/userstacktrace", "1");
	/* else the kernel's list has processes of threads that had these ids
	 * when somebody else asked for it; since Linux 4.14 */
	r->tgids = rings_put(r->of, "options/record-tgid", "1");
	/* our own reads of the rings would fill them with system calls */
	snprintf(filter, sizeof(filter), "common_pid != %ld", (long)getpid());
	if (r->calls)
		rings_put(r->of, "events/raw_syscalls/filter", filter);
	/* Packets cause hundreds of thousands of softirqs a second. Who raised
	 * a softirq shows whose it is, and a wake-up in no recorded softirq was
	 * in one of packets (irqs.h). */
	for (size_t i = 0; !r->calls && i < ARRAY_SIZE(packets); i++)
		rings_put(&r->of[1], packets[i][0], packets[i][1]);
	if (!r->calls)
		rings_filter_timers(&r->of[1]);
	for (size_t i = 0; i < n; i++) {
		const struct rings_instance *in =
			&r->of[r->n > 1 && i >= RINGS_STACKS];

		snprintf(name, sizeof(name), "events/%s/enable", event[i]);
		if (!rings_put(in, name, "1") && i < RINGS_STACKS)
			return err_set(err, ERR_IO, "%s/%s: %s", in->at, name,
				       strerror(errno));
	}
	r->stacks = RINGS_STACKS_MOST * sysconf(_SC_NPROCESSORS_ONLN);
	return 0;
}

void rings_follow(const struct rings *r, long tid)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", tid);
	rings_put(r->of, "set_ftrace_pid", text);
}

void rings_begin(struct rings *r)
{
	for (int i = 0; i < r->n; i++)
		rings_put(&r->of[i], "tracing_on", "1");
	/* after tracing_on: a trigger also counts events that are not recorded,
	 * and writes the stacks of events that are off */
	rings_arm(r);
	r->begun = true;
}

void rings_begin_with(struct rings *r, const char *comm)
{
	char text[64];

	snprintf(text, sizeof(text), "traceon if comm == \"%s\"", comm);
	for (int i = 0; i < r->n; i++)
		rings_put(&r->of[i], WAKES, text);
	r->waits = true;
}

/* A limit is needed, as copying never ends for a CPU on which threads switch
 * faster than that. It is twice the ring, as pages may be partly filled. */
int rings_drain(struct rings *r, struct err *err)
{
	if (r->failed)
		return 0;
	for (int i = 0; i < r->n * r->cpus; i++) {
		const struct rings_instance *in = &r->of[i / r->cpus];

		rings_copy_open(r, in->from[i % r->cpus], in->to[i % r->cpus],
				2 * (uint64_t)r->size);
	}
	/* not before perf was started, as fork() copies only one thread */
	if (!r->armed && r->begun && !r->calls && !r->ends)
		r->armed = !pthread_create(&r->arms, NULL, rings_arm_often, r);
	return r->failed ? err_set(err, ERR_IO, "%s: %s", r->folder,
				   strerror(r->failed))
			 : 0;
}

/* Copies the files that readers of the pages need, and the kernel's symbols. */
static void rings_describe(struct rings *r)
{
	static const char *const own[] = { "ftrace/kernel_stack",
					   "ftrace/user_stack",
					   "ftrace/funcgraph_entry",
					   "ftrace/fgraph_retaddr_entry",
					   "ftrace/funcgraph_exit" };
	const struct {
		const char *const *event;
		size_t n;
	} all[] = { { own, ARRAY_SIZE(own) },
		    { r->calls ? rings_of_calls : rings_events,
		      r->calls ? ARRAY_SIZE(rings_of_calls)
			       : ARRAY_SIZE(rings_events) } };
	char from[PATH_MAX], name[128];

	for (size_t k = 0; k < ARRAY_SIZE(all); k++)
		for (size_t i = 0; i < all[k].n; i++) {
			snprintf(name, sizeof(name), "events/%s/format",
				 all[k].event[i]);
			snprintf(from, sizeof(from), TRACING "/%s", name);
			rings_copy(r, from, name);
		}
	for (int k = 0; k < r->n * r->cpus; k++) {
		const struct rings_instance *in = &r->of[k / r->cpus];
		int i = k % r->cpus;

		snprintf(from, sizeof(from), "%s/per_cpu/cpu%d/stats", in->at,
			 i);
		snprintf(name, sizeof(name), "%scpu%d/stats", in->folder, i);
		if (in->from[i] >= 0)
			rings_copy(r, from, name);
	}
	if (r->n > 1) {
		snprintf(name, sizeof(name), "events/irq/softirq_entry/filter");
		snprintf(from, sizeof(from), "%s/%s", r->of[1].at, name);
		rings_copy(r, from, name);
	}
	snprintf(from, sizeof(from), "%s/trace_clock", r->of->at);
	rings_copy(r, from, "trace_clock");
	rings_copy(r, TRACING "/events/header_page", "events/header_page");
	rings_copy(r, TRACING "/saved_cmdlines", "saved_cmdlines");
	if (r->tgids)
		rings_copy(r, TRACING "/saved_tgids", "saved_tgids");
	rings_copy(r, "/proc/sys/kernel/osrelease", "osrelease");
	rings_copy(r, "/sys/devices/system/cpu/online", "online");
	/* since Linux 6.1; selects the names of system calls */
	rings_copy(r, "/proc/sys/kernel/arch", "arch");
	/* by it the vdso, which only this machine has, can be named */
	rings_copy(r, "/proc/sys/kernel/hostname", "hostname");
	rings_copy(r, "/proc/kallsyms", "kallsyms");
}

int rings_close(struct rings *r, bool *any, struct err *err)
{
	int rc = 0;

	if (!r)
		return 0;
	r->ends = true;
	if (r->armed)
		pthread_join(r->arms, NULL);
	for (int i = 0; i < r->n; i++)
		rings_put(&r->of[i], "tracing_on", "0");
	if (r->dir >= 0 && !r->failed && !rings_drain(r, err)) {
		if (any)
			*any = r->any;
		rings_describe(r);
	}
	for (int k = 0; k < r->n * r->cpus; k++) {
		const struct rings_instance *in = &r->of[k / r->cpus];
		int i = k % r->cpus;

		if (!in->from)
			break;
		if (in->from[i] >= 0)
			close(in->from[i]);
		if (in->to[i] >= 0 && close(in->to[i]) && !r->failed)
			r->failed = errno;
	}
	if (r->failed)
		rc = err_set(err, ERR_IO, "%s: %s", r->folder,
			     strerror(r->failed));
	rings_free(r);
	return rc;
}
