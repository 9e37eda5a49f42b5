/* child.c - other programs: found by PATH, run without input, asked what they
 * say. */
#include "cli/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/owned.h"

static bool child_is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool child_find(const char *name, size_t n, char out[PATH_MAX])
{
	const char *path = memchr(name, '/', n) ? NULL : getenv("PATH");

	if (memchr(name, '/', n)) {
		snprintf(out, PATH_MAX, "%.*s", (int)n, name);
		return child_is_program(out);
	}
	/* an entry without a name, the last one too, is the folder at hand */
	while (path) {
		int len = (int)strcspn(path, ":");

		snprintf(out, PATH_MAX, "%.*s%s%.*s", len, path, len ? "/" : "",
			 (int)n, name);
		if (child_is_program(out))
			return true;
		path = path[len] ? path + len + 1 : NULL;
	}
	return false;
}

void child_end_with(pid_t parent, int sig)
{
	prctl(PR_SET_PDEATHSIG, sig);
	if (getppid() != parent)
		_exit(127);
}

/* It ends with its parent, as nothing else reads what it says: perf takes a
 * second to end by another signal. */
static void child_become(pid_t parent, const char *file,
			 const char *const *argv, int out, int err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	child_end_with(parent, SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	/* main() ignores these */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(file, (char *const *)argv);
	_exit(127);
}

static bool child_hurries;

void child_hurry(void)
{
	if (child_hurries || !getpriority(PRIO_PROCESS, 0))
		child_hurries = !setpriority(PRIO_PROCESS, 0, -10);
}

void child_hurry_ends(pid_t pid)
{
	if (child_hurries)
		setpriority(PRIO_PROCESS, (id_t)pid, 0);
}

int child_run(const char *file, const char *const *argv, int out, int err)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (!pid)
		child_become(parent, file, argv, out, err);
	return child_wait(pid);
}

int child_wait(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int64_t child_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

pid_t child_of(pid_t pid)
{
	char name[64];
	long child = 0;

	snprintf(name, sizeof(name), "/proc/%ld/task/%ld/children", (long)pid,
		 (long)pid);
	FILE *f OWNED_FILE = fopen(name, "re");

	if (!f)
		return -1;
	return fscanf(f, "%ld", &child) == 1 ? (pid_t)child : 0;
}

/* Waits for the end of the first child of a process, or for that of the process
 * if it has none. Returns whether that was waited for. */
static bool child_wait_below(pid_t pid)
{
	struct pollfd end[2] = { { .events = POLLIN }, { .events = POLLIN } };
	pid_t below = 0;
	int rc = 0;

	end[1].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (end[1].fd >= 0 && !rc && !(below = child_of(pid)))
		rc = poll(end + 1, 1, 1);
	end[0].fd = below > 0 ? (int)syscall(SYS_pidfd_open, below, 0) : -1;
	if (end[0].fd >= 0) {
		while ((rc = poll(end, 1, -1)) < 0 && errno == EINTR)
			;
		close(end[0].fd);
	}
	if (end[1].fd >= 0)
		close(end[1].fd);
	return end[0].fd >= 0 && rc == 1;
}

int child_time(const char *const *argv, int err, struct child_span *self,
	       int64_t *below)
{
	pid_t parent = getpid();
	int fd[2], status;
	pid_t pid;
	char c;

	if (pipe2(fd, O_CLOEXEC))
		return 127;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		child_become(parent, argv[0], argv, null, err < 0 ? null : err);
	}
	close(fd[1]);
	/* exec closes the other end */
	while (pid > 0 && read(fd[0], &c, 1) < 0 && errno == EINTR)
		;
	self->from = child_clock();
	close(fd[0]);
	if (below)
		*below = pid > 0 && child_wait_below(pid) ? child_clock() : 0;
	status = child_wait(pid);
	self->to = child_clock();
	return status;
}

int child_ask(const char *const *argv, char *out, size_t size)
{
	char rest[4096];
	size_t len = 0;
	int fd[2];
	pid_t parent = getpid();
	pid_t pid;

	*out = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return 127;
	pid = fork();
	if (!pid) {
		/* its messages are compared with English ones */
		setenv("LC_ALL", "C", 1);
		child_become(parent, argv[0], argv, fd[1], fd[1]);
	}
	close(fd[1]);
	while (pid > 0) {
		bool full = len + 1 >= size;
		ssize_t n = read(fd[0], full ? rest : out + len,
				 full ? sizeof(rest) : size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += full ? 0 : (size_t)n;
	}
	out[len] = '\0';
	close(fd[0]);
	return child_wait(pid);
}
