/* try.c - is the library safe with this trace? A child process finds out.
 *
 * libbabeltrace2 2.0.4 as Debian builds it aborts on metadata that its checks
 * did not foresee (an assertion of
 * src/plugins/ctf/common/metadata/ctf-meta-update-value-storing-indexes.c on
 * one of its own test traces). A trace that kills the child before it has one
 * event is not read. Its log says why a trace cannot be read, which the
 * library's errors do not. */
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

enum outcome {
	TRIED_WELL,
	TRIED_NOTHING, /* it cannot be opened */
	TRIED_PART,    /* it can, but ends with an error */
};

static void limit(int what, rlim_t n)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || n < r.rlim_max)
		r.rlim_max = n;
	r.rlim_cur = r.rlim_max;
	setrlimit(what, &r);
}

/* Events that nobody asks for. */
static void drop(struct ctf_trace *tr)
{
	for (size_t i = 0; i < tr->n_due; i++)
		ctf_pool_drop(&tr->ctf->pool, tr->due[i].ref.handle);
	tr->n_due = 0;
}

static enum outcome go(struct ctf_trace *tr)
{
	struct err why;
	size_t n = 0;

	tr->ctf->trying = true;
	tr->ctf->ring = NULL;
	for (;;) {
		int got = ctf_graph_pull(tr, &why);

		n += tr->n_due;
		drop(tr);
		if (got < 0)
			return n ? TRIED_PART : TRIED_NOTHING;
		if (!got || n)
			return TRIED_WELL;
	}
}

static void child(struct ctf_trace *tr, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, 0);
	dup2(null, 1);
	dup2(out, 2);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_MAX);
#if !SANITIZERS_ADDRESS && !SANITIZERS_THREAD
	limit(RLIMIT_AS, MEMORY_MAX);
#endif
	_exit((int)go(tr));
}

/* What comes out of the child, to its end; the first part is kept. */
static void listen(int in, char log[LOG_MAX])
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

void ctf_tidy(char *text)
{
	char *addr = strstr(text, "-addr=");

	if (!addr)
		return;
	while (addr > text && *addr != ':' && *addr != ',')
		addr--;
	if (addr > text)
		*addr = 0;
}

void ctf_tidy_log(char *text)
{
	char *start = text;

	for (char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			start = c + 1;
	start += strspn(start, " \n");
	start[strcspn(start, "\n")] = 0;
	/* GLib: who and when is of no use */
	char *stars =
		strncmp(start, "(process:", 9) ? NULL : strstr(start, "**: ");
	char *what = stars ? strstr(stars + 4, ": ") : NULL;

	if (what)
		start = what + 2;
	memmove(text, start, strlen(start) + 1);
	ctf_tidy(text);
}

/* The message of the first line: behind the name of the component, or behind
 * the place in the library's source. */
static const char *reason(char *log)
{
	char *at = strstr(log, "[in] ");
	char *start = at ? at + 5 : log;

	ctf_tidy_log(start);
	return *start ? start : "no reason was given";
}

int ctf_try(struct ctf_trace *tr, struct err *err)
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
		child(tr, fd[1]);
	close(fd[1]);
	listen(fd[0], log);
	close(fd[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_FORMAT,
			       "%s: libbabeltrace2 dies on this trace (signal "
			       "%d): %s",
			       tr->path, WTERMSIG(status), reason(log));
	if (!WIFEXITED(status) || WEXITSTATUS(status) == TRIED_WELL ||
	    WEXITSTATUS(status) == TRIED_PART)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: not a trace that can be read: %s",
		       tr->path, reason(log));
}
