/* cgroups.c - what may keep threads from the CPU, read while perf records. */
#include "cli/record/cgroups.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <mntent.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/latency/calls.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"

#define SECOND 1000000000L
#define LINES_MAX 65536 /* a reading with more lines is not whole */
#define DEPTH_MAX 64
/* Threads of a started program that are read each second: 30 us each. */
#define SLEEPERS_MAX 100
#define TEXT 4096      /* size of a buffer for the content of a file */
#define CPUS 8192      /* number of CPUs in a cpu_set_t */
#define CALLS_SHARE 50 /* reading calls takes at most 1/50 of a CPU */

/* A mounted hierarchy: version 2, or version 1's cpu or freezer controller. */
struct cgroups_root {
	char path[PATH_MAX];
	bool two;	  /* version 2 */
	const char *kind; /* prefix of paths, which two hierarchies may share */
};

struct cgroups {
	struct new_file *file;
	struct cgroups_root root[3];
	size_t n_root;
	char host[HOST_NAME_MAX + 1];
	int64_t last;	  /* when the last reading began, in ns */
	char machine[65]; /* of uname(2): selects the table of system calls */
	int64_t calls;	  /* when calls may be read again, in ns */
	long pid;	  /* process that the user asked for, or 0 */
	bool started;	  /* pid is the program that is recorded */
	struct cgroups_socket {
		unsigned long inode;
		char *name;
	} * socket; /* a cache; name is NULL if it was not found */
	size_t n_socket, cap_socket;
	size_t lines; /* written in the current reading */
	bool whole;   /* nothing was skipped in the current reading */
};

/* A cgroup that may keep its threads, and its descendants', from the CPU. */
struct cgroups_limit {
	const char *path;
	const struct cgroups_limit *above;
};

/* Writes the start of a line. The caller writes the rest to the result. */
static FILE *cgroups_line(struct cgroups *c, const char *event)
{
	FILE *out = new_file_stream(c->file);
	int64_t now = now_ns();

	c->whole &= c->lines++ < LINES_MAX;
	fprintf(out,
		"      backstitch-%-6ld [%03d] .....  %" PRId64 ".%06" PRId64
		": limits_%s: ",
		(long)getpid(), sched_getcpu(), now / SECOND,
		now % SECOND / 1000, event);
	return out;
}

/* Ends a line with " path=" and the path, whose non-word bytes are escaped. */
static void cgroups_path(FILE *out, const char *kind, const char *path)
{
	fprintf(out, " path=%s", kind);
	for (const char *p = *path ? path : "/"; *p; p++)
		if (*p > ' ' && *p < 127 && *p != '\\' && *p != '"')
			putc(*p, out);
		else
			fprintf(out, "\\x%02x", (unsigned char)*p);
	putc('\n', out);
}

/* Reads the start of a file into text, which is "" if that fails. */
static void cgroups_file(int dir, const char *name, char text[TEXT])
{
	int fd OWNED_FD = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT - 1);

	text[n > 0 ? n : 0] = '\0';
}

/* Returns the number after the word on the line that begins with it, or 0. */
static int64_t cgroups_number(const char *text, const char *word)
{
	const char *p = text;
	size_t len = strlen(word);

	while (p && strncmp(p, word, len) != 0)
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	return p ? strtoll(p + len, NULL, 10) : 0;
}

/* Writes a line, and returns true, if the cgroup limits its threads or did. */
static bool cgroups_take_limits(struct cgroups *c, int dir, const char *kind,
				const char *path)
{
	char text[TEXT];
	int64_t quota, period = 0;
	bool frozen;
	FILE *out;

	cgroups_file(dir, "cpu.max", text);
	if (sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) {
		cgroups_file(dir, "cpu.cfs_period_us", text);
		period = cgroups_number(text, "");
		cgroups_file(dir, "cpu.cfs_quota_us", text);
		quota = cgroups_number(text, "");
	}
	cgroups_file(dir, "freezer.state", text);
	frozen = !strncmp(text, "FRO", 3) || !strncmp(text, "FRE", 3);
	cgroups_file(dir, "cgroup.events", text);
	frozen |= cgroups_number(text, "frozen ") > 0;
	cgroups_file(dir, "cpu.stat", text);
	if (quota <= 0 && !frozen && !cgroups_number(text, "nr_throttled "))
		return false;
	out = cgroups_line(c, "cgroup");
	fprintf(out,
		"quota_us=%" PRId64 " period_us=%" PRId64 " periods=%" PRId64
		" throttled=%" PRId64 " throttled_ns=%" PRId64 " frozen=%d",
		quota > 0 ? quota : 0, period,
		cgroups_number(text, "nr_periods "),
		cgroups_number(text, "nr_throttled "),
		cgroups_number(text, "throttled_time ") +
			cgroups_number(text, "throttled_usec ") * 1000,
		frozen);
	cgroups_path(out, kind, path);
	return true;
}

/* Returns the CPUs that a thread may use, "0-3,8", which the caller frees. */
static char *cgroups_cpus(long tid)
{
	cpu_set_t *set = CPU_ALLOC(CPUS);
	size_t size = CPU_ALLOC_SIZE(CPUS), len;
	const char *comma = "";
	char *text = NULL;
	FILE *out = mem_must(open_memstream(&text, &len));

	CPU_ZERO_S(size, set);
	sched_getaffinity((pid_t)tid, size, set);
	for (int i = 0, end; i < CPUS; i = end + 1) {
		for (end = i; end < CPUS && CPU_ISSET_S(end, size, set);)
			end++;
		if (end > i)
			fprintf(out, end > i + 1 ? "%s%d-%d" : "%s%d", comma, i,
				end - 1);
		comma = end > i ? "," : comma;
	}
	if (!*comma)
		putc('-', out);
	CPU_FREE(set);
	fclose(out);
	return text;
}

/* Writes a line for each pair of a thread and a cgroup that limits it. */
static void cgroups_take_threads(struct cgroups *c,
				 const struct cgroups_root *root, int dir,
				 const struct cgroups_limit *limit)
{
	int fd = openat(dir, root->two ? "cgroup.threads" : "tasks",
			O_RDONLY | O_CLOEXEC);
	FILE *in OWNED_FILE = fd < 0 ? NULL : fdopen(fd, "r");
	long tid;

	while (in && c->whole && fscanf(in, "%ld", &tid) == 1) {
		char *cpus OWNED = cgroups_cpus(tid);

		for (const struct cgroups_limit *l = limit; l; l = l->above) {
			FILE *out = cgroups_line(c, "thread");

			fprintf(out, "tid=%ld cpus=%s real_time=0", tid, cpus);
			cgroups_path(out, root->kind, l->path);
		}
	}
	/* cgroup.threads cannot be read in a cgroup of type "domain invalid" */
	c->whole &= !in || !ferror(in);
}

/* Reads a cgroup and its descendants, except those removed meanwhile. */
static void cgroups_walk(struct cgroups *c, const struct cgroups_root *root,
			 const char *path, const struct cgroups_limit *above,
			 int depth)
{
	char name[PATH_MAX];
	struct cgroups_limit own = { path, above };
	const struct cgroups_limit *limit = above;
	int n = snprintf(name, sizeof(name), "%s%s", root->path, path);
	DIR *d OWNED_DIR = n < (int)sizeof(name) ? opendir(name) : NULL;
	const struct dirent *e;

	c->whole &= depth < DEPTH_MAX && n < (int)sizeof(name) &&
		    (d || errno == ENOENT || errno == ENODEV);
	if (d && c->whole && cgroups_take_limits(c, dirfd(d), root->kind, path))
		limit = &own;
	if (d && limit)
		cgroups_take_threads(c, root, dirfd(d), limit);
	while (d && c->whole && (e = readdir(d))) {
		if (e->d_type != DT_DIR || *e->d_name == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		cgroups_walk(c, root, name, limit, depth + 1);
	}
}

/* Writes a line for each thread that may not use all CPUs or is real-time.
 * Returns whether /proc shows all threads of the machine, by the ids that
 * recorders write. It does not in a PID namespace other than the first, whose
 * inode is PROC_PID_INIT_INO (include/linux/proc_ns.h), and if /proc is mounted
 * with hidepid. */
static bool cgroups_take_pinned(struct cgroups *c, const char *all)
{
	DIR *proc OWNED_DIR = opendir("/proc");
	const struct dirent *p, *t;
	struct stat st;
	char name[PATH_MAX];

	while (proc && c->whole && (p = readdir(proc))) {
		snprintf(name, sizeof(name), "/proc/%s/task", p->d_name);
		DIR *d OWNED_DIR =
			strtol(p->d_name, NULL, 10) > 0 ? opendir(name) : NULL;

		while (d && c->whole && (t = readdir(d))) {
			long tid = strtol(t->d_name, NULL, 10);
			int how = tid > 0 ? sched_getscheduler((pid_t)tid) : -1;
			int policy = how < 0 ? SCHED_OTHER
					     : how & ~SCHED_RESET_ON_FORK;
			/* 2: held by its own runtime, whatever the sysctl */
			int real = policy == SCHED_DEADLINE
					   ? 2
					   : policy == SCHED_FIFO ||
						     policy == SCHED_RR;
			char *cpus OWNED = how >= 0 ? cgroups_cpus(tid) : NULL;

			if (real || (cpus && strcmp(cpus, all) != 0))
				fprintf(cgroups_line(c, "thread"),
					"tid=%ld cpus=%s real_time=%d path=-\n",
					tid, cpus, real);
		}
	}
	return proc && !stat("/proc/self/ns/pid", &st) &&
	       st.st_ino == 0xeffffffc && !access("/proc/1/task", R_OK);
}

/* ---- calls */

/* Returns a name for a socket of a process, which the caller frees, or NULL:
 * the peer's address, "tcp:127.0.0.1:5432", or "from-tcp:..." if the peer
 * connected to it; else its own, "at-udp:0.0.0.0:53" or "unix:/path". */
static char *cgroups_find_socket(const char *proc, unsigned long inode)
{
	static const char *const table[] = { "unix", "tcp", "tcp6", "udp",
					     "udp6" };
	char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(table) && !name; i++) {
		char path[64], line[512], hex[2][40], at[INET6_ADDRSTRLEN];
		unsigned int port[2], state, own = 0;
		unsigned long number;
		bool six = table[i][3] == '6', from = false;

		snprintf(path, sizeof(path), "%s/net/%s", proc, table[i]);
		FILE *in OWNED_FILE = fopen(path, "re");

		while (in && fgets(line, sizeof(line), in)) {
			char *slash = strchr(line, '/');
			uint32_t word[4];

			if (!i && slash &&
			    sscanf(line, "%*s %*s %*s %*s %*s %*s %lu",
				   &number) == 1 &&
			    number == inode && !name)
				name = mem_printf("unix:%.*s",
						  (int)strcspn(slash, "\n"),
						  slash);
			if (!i || sscanf(line,
					 "%*s %39[0-9A-F]:%x %39[0-9A-F]:%x %x "
					 "%*s %*s %*s %*s %*s %lu",
					 hex[0], &port[0], hex[1], &port[1],
					 &state, &number) != 6)
				continue;
			/* state 10 is a listener, read again after rewind() */
			from |= name && number != inode && state == 10 &&
				port[0] == own;
			if (name || number != inode)
				continue;
			for (int k = 0; k < (six ? 4 : 1); k++)
				sscanf(hex[port[1] != 0] + (ptrdiff_t)k * 8,
				       "%8" SCNx32, &word[k]);
			inet_ntop(six ? AF_INET6 : AF_INET, word, at,
				  sizeof(at));
			own = port[0];
			name = mem_printf("%s%.3s:%s:%u", port[1] ? "" : "at-",
					  table[i], at, port[1] ?: own);
			rewind(in);
		}
		if (from) {
			char *other = mem_printf("from-%s", name);

			free(name);
			name = other;
		}
	}
	return name;
}

/* Writes " path=", what a descriptor of a process refers to, and a newline. */
static void cgroups_put_file(struct cgroups *c, FILE *out, const char *proc,
			     unsigned int fd)
{
	char path[64], name[PATH_MAX];
	unsigned long inode;
	size_t i = 0;

	snprintf(path, sizeof(path), "%s/fd/%u", proc, fd);
	ssize_t n = readlink(path, name, sizeof(name) - 1);

	name[n > 0 ? n : 0] = '\0';
	if (sscanf(name, "socket:[%lu", &inode) != 1) {
		cgroups_path(out, "", n > 0 ? name : "-");
		return;
	}
	while (i < c->n_socket && c->socket[i].inode != inode)
		i++;
	if (i == c->n_socket)
		*mem_add(c->socket, c->n_socket, c->cap_socket) =
			(struct cgroups_socket){ inode, cgroups_find_socket(
								proc, inode) };
	cgroups_path(out, "", c->socket[i].name ? c->socket[i].name : name);
}

/* Takes a system call from the text of /proc/PID/task/TID/syscall. Returns
 * false if there is none: a thread of the kernel has zeros there. A 32-bit
 * program, whose calls have other numbers, has its stack below 4 GiB. */
static bool cgroups_in_call(const char *text, int64_t *number, uint64_t arg[3])
{
	uint64_t sp;

	return sscanf(text,
		      "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		      " %*x %*x %*x %" SCNx64,
		      number, &arg[0], &arg[1], &arg[2], &sp) == 5 &&
	       *number >= 0 && sp > UINT32_MAX;
}

/* Writes a line if a thread waits in a system call on one descriptor. */
static void cgroups_take_call(struct cgroups *c, const char *proc,
			      const char *tid)
{
	char path[80], text[TEXT], name[CALLS_NAME];
	int64_t began = now_ns(), number;
	uint64_t arg[3] = { 0 };

	snprintf(path, sizeof(path), "%s/task/%.20s/syscall", proc, tid);
	cgroups_file(AT_FDCWD, path, text);
	if (!cgroups_in_call(text, &number, arg))
		return;
	uint64_t fd = arg[0];

	calls_name(c->machine, number, name);
	/* the struct pollfd is in the memory of the process */
	if ((!strcmp(name, "poll") || !strcmp(name, "ppoll")) && arg[1] == 1) {
		struct pollfd polled;
		struct iovec to = { &polled, sizeof(polled) };
		struct iovec from = { (void *)(uintptr_t)fd, sizeof(polled) };

		if (process_vm_readv((pid_t)strtol(tid, NULL, 10), &to, 1,
				     &from, 1, 0) != sizeof(polled))
			return;
		fd = (uint64_t)polled.fd;
	} else if (!calls_descriptor(name)) {
		return;
	}
	if (fd > INT32_MAX)
		return;
	char *file OWNED = NULL;
	FILE *out = mem_stream(&file, NULL);

	cgroups_put_file(c, out, proc, (unsigned int)fd);
	mem_stream_end(out);
	/* 1000 more: the time of the line is rounded down to microseconds */
	fprintf(cgroups_line(c, "call"),
		"took_ns=%" PRId64 " tid=%s call=%s fd=%" PRIu64 "%s",
		now_ns() - began + 1000, tid, name, fd, file);
}

/* Writes the calls of a process (own), and of its descendants (children). */
static void cgroups_take_calls(struct cgroups *c, long pid, bool own,
			       bool children, int depth)
{
	char proc[32], name[280], text[TEXT];
	const struct dirent *e;
	DIR *d OWNED_DIR = NULL;

	snprintf(proc, sizeof(proc), "/proc/%ld", pid);
	snprintf(name, sizeof(name), "%s/task", proc);
	d = depth < DEPTH_MAX ? opendir(name) : NULL;
	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		if (own)
			cgroups_take_call(c, proc, e->d_name);
		if (!children)
			continue;
		snprintf(name, sizeof(name), "%.20s/children", e->d_name);
		cgroups_file(dirfd(d), name, text);
		for (char *p = text, *end; (pid = strtol(p, &end, 10)) > 0;
		     p = end)
			cgroups_take_calls(c, pid, true, true, depth + 1);
	}
}

void cgroups_read_calls(struct cgroups *c, long pid, bool children)
{
	/* CPU time, as wall time includes waiting for a CPU */
	int64_t used = -now_of(CLOCK_PROCESS_CPUTIME_ID);

	if (now_ns() < c->calls)
		return;
	cgroups_take_calls(c, pid, !children, children, 0);
	used += now_of(CLOCK_PROCESS_CPUTIME_ID);
	c->calls = now_ns() + used * CALLS_SHARE;
}

/* ---- threads that do not run */

struct cgroups_thread {
	long tid, own; /* own: its number in the innermost PID namespace */
};

/* Reads /proc/PID/task/TID/status into text. Returns how often the thread has
 * left a CPU; -1: not known. */
static int64_t cgroups_switches(int task, long tid, char text[TEXT])
{
	char name[48];
	const char *n[2];

	snprintf(name, sizeof(name), "%ld/status", tid);
	cgroups_file(task, name, text);
	n[0] = strstr(text, "\nvoluntary_ctxt_switches:");
	n[1] = strstr(text, "\nnonvoluntary_ctxt_switches:");
	return n[0] && n[1] ? strtoll(strchr(n[0], ':') + 1, NULL, 10) +
				      strtoll(strchr(n[1], ':') + 1, NULL, 10)
			    : -1;
}

/* Returns the thread for which one waits in futex(), and sets *by to how that
 * is known; 0: not known. arg: of the call. The word of a lock has its owner
 * where the kernel must know it (FUTEX_LOCK_PI) and, with the bit for waiters,
 * in robust locks and musl's. In a mutex of glibc it is 2 while threads wait;
 * the owner is the third of five numbers, how many use it the fourth, the kind
 * the fifth. For pthread_join() it has the number of a thread until that ends.
 */
static long cgroups_owner(long pid, const uint64_t arg[3],
			  const struct cgroups_thread *thread, size_t n,
			  const char **by)
{
	uint32_t word[5] = { 0 }, owner;
	struct iovec to = { word, sizeof(word) };
	struct iovec from = { (void *)(uintptr_t)arg[0], sizeof(word) };
	const uint64_t op = arg[1] & FUTEX_CMD_MASK;

	/* fewer bytes are read at the end of a mapping */
	if (process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) < 4)
		return 0;
	owner = word[0] & FUTEX_TID_MASK;
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		*by = "kernel";
	else if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET)
		return 0;
	else if (word[0] & FUTEX_WAITERS)
		*by = "word";
	else if (word[0] == 2 && arg[2] == 2 && word[3] && word[3] <= n &&
		 word[4] < 512 && (*by = "mutex"))
		owner = word[2];
	else if (arg[2] == word[0] && !(arg[1] & FUTEX_PRIVATE_FLAG))
		*by = "end";
	else
		return 0;
	for (size_t i = 0; i < n; i++)
		if (owner && thread[i].own == owner)
			return thread[i].tid;
	return 0;
}

/* Writes a line for each thread of the process: how often it has left a CPU, in
 * which call it is, and for which thread it waits. */
static void cgroups_take_sleepers(struct cgroups *c)
{
	char name[48], text[TEXT];
	struct cgroups_thread *thread = NULL;
	size_t n = 0, cap = 0;
	const struct dirent *e;

	snprintf(name, sizeof(name), "/proc/%ld/task", c->pid);
	DIR *d OWNED_DIR = c->pid ? opendir(name) : NULL;

	while (d && (e = readdir(d))) {
		long tid = strtol(e->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		cgroups_switches(dirfd(d), tid, text);
		/* "NSpid:" and the numbers from the outermost namespace on,
		 * since Linux 4.1 */
		const char *own = strstr(text, "\nNSpid:");

		own = own ? own + strcspn(own + 1, "\n") + 1 : NULL;
		while (own && own[-1] >= '0' && own[-1] <= '9')
			own--;
		*mem_add(thread, n, cap) = (struct cgroups_thread){
			tid, own ? strtol(own, NULL, 10) : tid
		};
	}
	if (c->started && n > SLEEPERS_MAX)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const long tid = thread[i].tid;
		int64_t began = now_ns(), number, switches;
		uint64_t arg[3] = { 0 };
		char call[CALLS_NAME] = "-";
		const char *by = "-";
		long owner = 0;

		snprintf(name, sizeof(name), "%ld/syscall", tid);
		cgroups_file(dirfd(d), name, text);
		/* or it may: state S is set some time before it leaves a CPU */
		const bool runs = !*text || !strncmp(text, "running", 7);

		if (cgroups_in_call(text, &number, arg))
			calls_name(c->machine, number, call);
		if (!strcmp(call, "futex"))
			owner = cgroups_owner(c->pid, arg, thread, n, &by);
		/* after the call, so that equal counts enclose it */
		switches = cgroups_switches(dirfd(d), tid, text);
		const char *at = strstr(text, "\nState:\t");

		if (at && switches >= 0)
			fprintf(cgroups_line(c, "sleep"),
				"took_ns=%" PRId64
				" pid=%ld tid=%ld state=%c switches=%" PRId64
				" call=%s owner=%ld by=%s\n",
				now_ns() - began + 1000, c->pid, tid,
				runs ? 'R' : at[8], switches, call, owner,
				owner ? by : "-");
	}
	free(thread);
}

/* Makes a reading. If nothing was skipped, a line "limits_read" ends it. */
static void cgroups_read_all(struct cgroups *c)
{
	int64_t stolen[9] = { 0 };
	FILE *f OWNED_FILE = fopen("/proc/stat", "re");
	char all[TEXT], real[TEXT];

	c->last = now_ns();
	c->lines = 0;
	c->whole = c->n_root > 0;
	for (size_t i = 0; i < c->n_root; i++)
		cgroups_walk(c, &c->root[i], "", NULL, 0);
	cgroups_file(AT_FDCWD, "/sys/devices/system/cpu/online", all);
	all[strcspn(all, " \n")] = '\0';
	cgroups_file(AT_FDCWD, "/proc/sys/kernel/sched_rt_runtime_us", real);
	bool seen = cgroups_take_pinned(c, all) && *all;
	for (int i = 0;
	     f && i < 9 && fscanf(f, i ? "%" SCNd64 : "cpu ", &stolen[i]) >= 0;
	     i++)
		;
	if (c->whole)
		fprintf(cgroups_line(c, "read"),
			"took_ns=%" PRId64 " stolen_ns=%" PRId64
			" cpus=%s real_time_us=%" PRId64 " host=%s\n",
			now_ns() - c->last,
			stolen[8] * (SECOND / sysconf(_SC_CLK_TCK)),
			seen ? all : "-", cgroups_number(real, ""), c->host);
}

struct cgroups *cgroups_open(const char *name, long pid, struct err *err)
{
	struct cgroups *c = mem_new(1, sizeof(*c));
	struct utsname kernel;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;

	while (mounts && c->n_root < 3 && (m = getmntent(mounts))) {
		bool two = !strcmp(m->mnt_type, "cgroup2");

		if (!two &&
		    (strcmp(m->mnt_type, "cgroup") != 0 ||
		     (!hasmntopt(m, "cpu") && !hasmntopt(m, "freezer"))))
			continue;
		c->root[c->n_root].two = two;
		c->root[c->n_root].kind =
			two || hasmntopt(m, "cpu") ? "" : "freezer:";
		snprintf(c->root[c->n_root++].path, PATH_MAX, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	gethostname(c->host, sizeof(c->host) - 1);
	if (!uname(&kernel))
		snprintf(c->machine, sizeof(c->machine), "%s", kernel.machine);
	c->file = new_file_open(name, true, err);
	if (!c->file) {
		cgroups_close(c, err);
		return NULL;
	}
	fputs("# beside: clock=monotonic\n# tracer: nop\n",
	      new_file_stream(c->file));
	if (pid)
		fprintf(cgroups_line(c, "process"), "pid=%ld\n", pid);
	c->pid = pid;
	cgroups_read_all(c);
	cgroups_take_sleepers(c);
	return c;
}

void cgroups_read(struct cgroups *c)
{
	if (now_ns() - c->last < SECOND)
		return;
	cgroups_read_all(c);
	if (c->started)
		cgroups_take_sleepers(c);
}

void cgroups_program(struct cgroups *c, long pid)
{
	c->pid = pid;
	c->started = true;
	cgroups_take_sleepers(c);
}

int cgroups_close(struct cgroups *c, struct err *err)
{
	int rc = -1;

	if (!c)
		return 0;
	if (c->file) {
		cgroups_take_sleepers(c);
		cgroups_read_all(c);
		rc = new_file_finish(c->file, err);
	}
	new_file_free(c->file);
	for (size_t i = 0; i < c->n_socket; i++)
		free(c->socket[i].name);
	free_all(c->socket, c);
	return rc;
}
