/* child.c - the process that calls libbabeltrace2.
 *
 * libbabeltrace2 2.0.4 as Debian builds it aborts on unexpected input, at any
 * event of a trace, and allocates as many fields as a length in an event says.
 * In a child process that loses the rest of the trace but does not stop the
 * ingest. The child also decodes while the parent orders and joins, which uses
 * a second CPU (measured: each takes half of the time). */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"
#include "stitch/base/sanitizers.h"

/* In addition to the memory that the process has at the fork. */
#define MEMORY_MAX ((rlim_t)4 << 30)

/* ---- in the child */

static void ctf_child_send_all(struct ctf *ctf)
{
	struct ctf_due d = { 0 };
	uint32_t trace;

	ctf_merge_start(ctf);
	while (ctf_merge_next(ctf, &trace, &d)) {
		struct ctf_trace *tr = &ctf->trace[trace];

		if (tr->skip)
			tr->skip--;
		else
			ctf_tell_item(ctf, trace, &d);
		ctf_pool_drop(&ctf->pool, d.ref.handle);
	}
	ctf_tell_end(ctf);
}

/* Sanitizers need unlimited address space. */
#if !SANITIZERS_ADDRESS && !SANITIZERS_THREAD
/* Returns the size of the process in bytes; 0 if unknown. */
static rlim_t ctf_child_memory_used(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void ctf_child_limit_memory(void)
{
	rlim_t now = ctf_child_memory_used();
	struct rlimit r;

	if (!now || getrlimit(RLIMIT_AS, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || now + MEMORY_MAX < r.rlim_max)
		r.rlim_cur = now + MEMORY_MAX;
	setrlimit(RLIMIT_AS, &r);
}
#endif

/* Ignores Ctrl-C: the parent handles it and ends the child. */
static void ctf_child_prepare(struct ctf *ctf)
{
	const struct rlimit none = { 0, 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGABRT, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	dup2(null, 0);
	dup2(null, 1);
#if !SANITIZERS_ADDRESS && !SANITIZERS_THREAD
	dup2(ctf->child_err >= 0 ? ctf->child_err : null, 2);
	ctf_child_limit_memory();
#endif
	ctf->in_child = true;
	ctf_ring_writer(ctf->ring);
}

/* ---- in the parent */

int ctf_child_start(struct ctf *ctf, struct err *err)
{
	ctf->ring = ctf_ring_new(err);
	if (!ctf->ring)
		return -1;
	ctf->child_err = memfd_create("log", MFD_CLOEXEC);
	for (size_t i = 0; i < ctf->n_trace; i++)
		ctf->trace[i].skip = ctf->trace[i].given;
	ctf->child = fork();
	if (ctf->child < 0) {
		ctf->child = 0;
		return err_set(err, ERR_IO, "%s: no process (%m)",
			       ctf->src.path);
	}
	if (!ctf->child) {
		ctf_child_prepare(ctf);
		ctf_child_send_all(ctf);
		_exit(0);
	}
	ctf_ring_reader(ctf->ring);
	return 0;
}

/* Copies the first line that the child wrote to stderr. */
static void ctf_child_read_log(int fd, char *out, size_t size)
{
	ssize_t n = fd >= 0 ? pread(fd, out, size - 1, 0) : 0;

	out[n > 0 ? n : 0] = 0;
	ctf_log_first_line(out);
}

static void ctf_child_report_end(struct ctf *ctf, int status, struct err *err)
{
	char why[256];

	ctf_child_read_log(ctf->child_err, why, sizeof(why));
	if (WIFSIGNALED(status))
		err_set(err, ERR_FORMAT,
			"libbabeltrace2 dies here (signal %d)%s%s",
			WTERMSIG(status), *why ? ": " : "", why);
	else
		err_set(err, ERR_FORMAT, "libbabeltrace2 ends the program%s%s",
			*why ? ": " : "", why);
}

void ctf_child_end(struct ctf *ctf, struct err *err)
{
	int status = 0;

	if (ctf->child) {
		/* a child that is dead already keeps its status */
		kill(ctf->child, err ? SIGTERM : SIGKILL);
		while (waitpid(ctf->child, &status, 0) < 0 && errno == EINTR)
			;
		if (err)
			ctf_child_report_end(ctf, status, err);
#if SANITIZERS_ADDRESS
		/* a report of a sanitizer must not look like damage */
		assert(!err || !WIFEXITED(status));
#endif
		if (ctf->child_err >= 0)
			close(ctf->child_err);
	}
	ctf->child = 0;
	ctf->child_err = -1;
	ctf_ring_free(ctf->ring);
	ctf->ring = NULL;
}
