/* try.c - finds out in a child process whether the library can read a trace.
 *
 * libbabeltrace2 2.0.4 as Debian builds it aborts on unexpected metadata (an
 * assertion of
 * src/plugins/ctf/common/metadata/ctf-meta-update-value-storing-indexes.c on
 * one of its own test traces). A trace that kills the child before its first
 * event is not read. The child's log says why a trace cannot be read, which
 * the library's errors do not. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/ctf/ctf.h"
#include "stitch/base/err.h"
#include "stitch/base/sanitizers.h"

#define SECONDS_MAX 20
#define MEMORY_MAX ((rlim_t)4 << 30)
#define LOG_MAX 2048

enum try_result {
	TRIED_WELL,
	TRIED_NOTHING, /* an error before the first event */
	TRIED_PART,    /* an error later */
};

static void ctf_try_limit(int what, rlim_t n)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || n < r.rlim_max)
		r.rlim_max = n;
	r.rlim_cur = r.rlim_max;
	setrlimit(what, &r);
}

static void ctf_try_drop_events(struct ctf_trace *tr)
{
	for (size_t i = 0; i < tr->n_due; i++)
		ctf_pool_drop(&tr->ctf->pool, tr->due[i].ref.handle);
	tr->n_due = 0;
}

static enum try_result ctf_try_run(struct ctf_trace *tr)
{
	struct err why;
	size_t n = 0;

	tr->ctf->trying = true;
	tr->ctf->ring = NULL;
	for (;;) {
		int got = ctf_graph_pull(tr, &why);

		n += tr->n_due;
		ctf_try_drop_events(tr);
		if (got < 0)
			return n ? TRIED_PART : TRIED_NOTHING;
		if (!got || n)
			return TRIED_WELL;
	}
}

static void ctf_try_in_child(struct ctf_trace *tr, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, 0);
	dup2(null, 1);
	dup2(out, 2);
	ctf_try_limit(RLIMIT_CORE, 0);
	ctf_try_limit(RLIMIT_CPU, SECONDS_MAX);
#if !SANITIZERS_ADDRESS && !SANITIZERS_THREAD
	ctf_try_limit(RLIMIT_AS, MEMORY_MAX);
#endif
	_exit((int)ctf_try_run(tr));
}

/* Reads what the child writes until it ends; keeps the beginning. */
static void ctf_try_read_child(int in, char log[LOG_MAX])
{
	char buf[4096];
	size_t len = 0;

	for (;;) {
		ssize_t n = read(in, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size_t take = (size_t)n < LOG_MAX - 1 - len ? (size_t)n
							    : LOG_MAX - 1 - len;

		memcpy(log + len, buf, take);
		len += take;
	}
	log[len] = 0;
}

/* Returns the message in the first line, which follows the name of the
 * component or the source position. */
static const char *ctf_try_find_reason(char *log)
{
	char *at = strstr(log, "[in] ");
	char *start = at ? at + 5 : log;

	ctf_log_first_line(start);
	return *start ? start : "no reason was given";
}

int ctf_try_open(struct ctf_trace *tr, struct err *err)
{
	char log[LOG_MAX];
	int fd[2];
	int status = 0;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return err_set(err, ERR_IO, "%s: no pipe (%m)", tr->path);
	pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return err_set(err, ERR_IO, "%s: no process (%m)", tr->path);
	}
	if (!pid)
		ctf_try_in_child(tr, fd[1]);
	close(fd[1]);
	ctf_try_read_child(fd[0], log);
	close(fd[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_FORMAT,
			       "%s: libbabeltrace2 dies on this trace (signal "
			       "%d): %s",
			       tr->path, WTERMSIG(status),
			       ctf_try_find_reason(log));
	if (!WIFEXITED(status) || WEXITSTATUS(status) == TRIED_WELL ||
	    WEXITSTATUS(status) == TRIED_PART)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: not a trace that can be read: %s",
		       tr->path, ctf_try_find_reason(log));
}
