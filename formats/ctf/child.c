/* child.c - the process that calls libbabeltrace2, and what it hands over.
 *
 * libbabeltrace2 2.0.4 as Debian builds it ends the program where its checks
 * did not foresee something, at any event of a trace; a length in an event
 * makes it allocate as many fields. In a process of its own that costs the
 * trace from there on, not the ingest; and it decodes while this one orders
 * and joins: a second processor is used (measured: formats and stitch take
 * half of the time each). */
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

/* Beside what this process has already. */
#define MEMORY_MAX ((rlim_t)4 << 30)

/* ---- in the child */

/* Nobody listens any more. */
static struct ctf_msg *put(struct ctf *ctf, size_t len)
{
	struct ctf_msg *m = ctf_ring_put(ctf->ring, len);

	if (!m)
		_exit(1);
	return m;
}

static void put_text(struct ctf *ctf, enum ctf_msg_kind kind, uint32_t trace,
		     const char *text)
{
	size_t n = strlen(text) + 1;
	struct ctf_msg *m = put(ctf, n);

	m->kind = kind;
	m->trace = trace;
	memcpy(m + 1, text, n);
}

void ctf_tell_event(struct ctf *ctf, const struct ctf_event_info *info)
{
	size_t n = strlen(info->name) + 1;

	if (!ctf->in_child)
		return;
	if (n + info->len + 8 > CTF_RING_MAX / 2)
		_exit(1);
	struct ctf_msg *m = put(ctf, n + info->len + 1);
	unsigned char *at = (unsigned char *)(m + 1);

	m->kind = CTF_MSG_EVENT;
	m->class = (uint8_t)((info->defer ? CTF_MSG_DEFER : 0) |
			     (info->has_time ? CTF_MSG_TIME : 0) |
			     (info->has_tid ? CTF_MSG_TID : 0));
	memcpy(at, info->name, n);
	memcpy(at + n, info->text, info->len);
	at[n + info->len] = 0;
}

void ctf_tell_base(struct ctf *ctf)
{
	if (!ctf->in_child)
		return;
	struct ctf_msg *m = put(ctf, sizeof(ctf->base));

	m->kind = CTF_MSG_BASE;
	memcpy(m + 1, &ctf->base, sizeof(ctf->base));
}

void ctf_tell_skip(struct ctf *ctf, const char *what)
{
	if (ctf->in_child)
		put_text(ctf, CTF_MSG_SKIP, 0, what);
}

void ctf_tell_damage(struct ctf_trace *tr, const struct err *err)
{
	put_text(tr->ctf, CTF_MSG_DAMAGE, (uint32_t)(tr - tr->ctf->trace),
		 err->msg);
}

static void put_item(struct ctf *ctf, uint32_t trace, const struct ctf_due *d)
{
	struct ctf_msg *m = put(ctf, d->ref.len);

	m->kind = CTF_MSG_ITEM;
	m->trace = trace;
	m->class = d->ref.kind;
	m->untimed = d->ref.untimed;
	m->at = d->at;
	memcpy(m + 1, ctf_pool_at(&ctf->pool, d->ref.handle), d->ref.len);
}

static void go(struct ctf *ctf)
{
	struct ctf_due d = { 0 };
	uint32_t trace;

	ctf_merge_start(ctf);
	while (ctf_merge_next(ctf, &trace, &d)) {
		struct ctf_trace *tr = &ctf->trace[trace];

		if (tr->skip)
			tr->skip--;
		else
			put_item(ctf, trace, &d);
		ctf_pool_drop(&ctf->pool, d.ref.handle);
	}
	put(ctf, 0)->kind = CTF_MSG_END;
	ctf_ring_flush(ctf->ring);
}

/* Sanitizers need address space without a limit. */
#if !SANITIZERS_ADDRESS && !SANITIZERS_THREAD
/* What the process has now; 0: not known. */
static rlim_t memory_now(void)
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

static void limit_memory(void)
{
	rlim_t now = memory_now();
	struct rlimit r;

	if (!now || getrlimit(RLIMIT_AS, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || now + MEMORY_MAX < r.rlim_max)
		r.rlim_cur = now + MEMORY_MAX;
	setrlimit(RLIMIT_AS, &r);
}
#else
static void limit_memory(void)
{
}
#endif

/* Ctrl-C is for the other process: it ends this one. */
static void settle_in(struct ctf *ctf)
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
#endif
	limit_memory();
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
		settle_in(ctf);
		go(ctf);
		_exit(0);
	}
	ctf_ring_reader(ctf->ring);
	return 0;
}

/* The first line of what it said. */
static void last_words(int fd, char *out, size_t size)
{
	ssize_t n = fd >= 0 ? pread(fd, out, size - 1, 0) : 0;

	out[n > 0 ? n : 0] = 0;
	ctf_tidy_log(out);
}

static void say_end(struct ctf *ctf, int status, struct err *err)
{
	char why[256];

	last_words(ctf->child_err, why, sizeof(why));
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
		/* what died already keeps its own status */
		kill(ctf->child, err ? SIGTERM : SIGKILL);
		while (waitpid(ctf->child, &status, 0) < 0 && errno == EINTR)
			;
		if (err)
			say_end(ctf, status, err);
#if SANITIZERS_ADDRESS
		/* a report of the sanitizers must not pass for damage */
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
