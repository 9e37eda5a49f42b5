/* out.c - standard output that keeps the reason of a failed write. */
#include "cli/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output/say.h"
#include "cli/output/escape_filter.h"
#include "cli/output/term.h"
#include "cli/process/child.h"
#include "cli/process/signals.h"
#include "formats/formats.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/write_all.h"

/* Most bytes that are kept until the screen is full. */
#define KEEP_MAX ((size_t)1 << 20)

bool pager_never;

static struct {
	const char *command;
	bool armed; /* output is being kept */
	char *kept;
	size_t n, cap;
	int rows, columns; /* rows left on the screen, and its width */
	int at;		   /* column of the next character */
	bool escape;	   /* inside an escape sequence */
	int pipe;	   /* descriptor of the pipe to the pager; 0: none */
	int err;	   /* duplicate of the original stderr; 0: stderr is
			    * unchanged */
	pid_t pid;
} pager;

/* Returns whether a program can be found. A command with shell syntax is taken
 * for one that can. */
static bool pager_can_run(const char *command)
{
	size_t n = strcspn(command, " \t");
	char path[PATH_MAX];

	if (strcspn(command, "|&;<>()$`\\\"'*?[#~=%") < n)
		return true;
	return child_find(command, n, path);
}

void pager_arm(void)
{
	const char *term = getenv("TERM");

	if (pager_never || !term_is_terminal(stdout) || !term ||
	    !strcmp(term, "dumb"))
		return;
	pager.rows = term_rows(stdout) - 1; /* one row is for the prompt */
	pager.columns = term_columns(stdout);
	const char *c = getenv("BACKSTITCH_PAGER");
	if (!c)
		c = getenv("PAGER");
	if (!c)
		c = "less";
	pager.command = *c && strcmp(c, "cat") && pager_can_run(c) ? c : NULL;
	pager.armed = pager.command && pager.rows > 0;
}

/* Ends the pager's input, and waits while the user reads. Safe in a signal
 * handler. */
static void pager_let_go(void)
{
	if (!pager.pipe || close(pager.pipe))
		return;
	if (pager.err > 0)
		dup2(pager.err, 2);
	waitpid(pager.pid, NULL, 0);
}

/* Starts the pager. If that fails, output goes to the terminal. */
static void pager_start(void)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return;
	pager.pid = fork();
	if (!pager.pid) {
		child_hurry_ends(0);
		/* the pager handles Ctrl-C itself */
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		dup2(fd[0], 0);
		setenv("LESS", "FRX", 0);
		setenv("LV", "-c", 0);
		execl("/bin/sh", "sh", "-c", pager.command, (char *)NULL);
		_exit(127);
	}
	close(fd[0]);
	if (pager.pid < 0) {
		close(fd[1]);
		return;
	}
	pager.pipe = fd[1];
	signals_cleans(pager_let_go);
	if (term_is_terminal(stderr)) {
		fflush(stderr);
		pager.err = fcntl(2, F_DUPFD_CLOEXEC, 3);
		if (pager.err > 0)
			dup2(pager.pipe, 2);
	}
}

/* Keeps the bytes and returns true. If it returns false, the caller writes
 * pager_kept(), or buf if that is NULL, to pager_fd(). */
static bool pager_keep(const char *buf, size_t n)
{
	if (!pager.armed)
		return false;
	/* count their rows on a terminal, without escape sequences */
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)buf[i];

		if (pager.escape) {
			pager.escape = c != 'm';
		} else if (c == '\033') {
			pager.escape = true;
		} else if (c == '\n') {
			pager.at = 0;
			pager.rows--;
		} else if (c == '\t') {
			pager.at += 8 - pager.at % 8;
		} else if ((c & 0xc0) != 0x80 && pager.at++ == pager.columns) {
			pager.at = 1;
			pager.rows--;
		}
	}
	if (n > KEEP_MAX - pager.n)
		pager.rows = -1;
	mem_append(pager.kept, pager.n, pager.cap, buf, n);
	if (pager.rows >= 0)
		return true;
	pager.armed = false;
	pager_start();
	return false;
}

/* Returns the kept bytes, for free(), and forgets them; NULL: there are
 * none. */
static char *pager_kept(size_t *n)
{
	char *p = pager.kept;

	*n = pager.n;
	pager.kept = NULL;
	pager.n = pager.cap = 0;
	pager.armed = false;
	return p;
}

static int pager_fd(void)
{
	return pager.pipe ? pager.pipe : 1;
}

/* Ends the output and waits until the user leaves the pager. */
static void pager_end(void)
{
	int status;

	if (!pager.pipe)
		return;
	if (pager.err > 0) {
		fflush(stderr);
		dup2(pager.err, 2);
		close(pager.err);
		pager.err = 0;
	}
	close(pager.pipe);
	pager.pipe = 0;
	while (waitpid(pager.pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int out_errno; /* of the first write that failed; 0: none */
static char out_buffer[1 << 18];

/* Standard output has bytes for a program, not text: out_bytes(). */
static bool out_is_bytes;

/* Writes to the pager if there is one, else to standard output. */
static void out_put_now(const char *buf, size_t size)
{
	if (!out_errno && write_all(pager_fd(), buf, size))
		out_errno = errno;
}

/* Writes the bytes that were kept for a pager. Returns false without any. */
static bool out_put_kept(void)
{
	size_t n;
	char *kept OWNED = pager_kept(&n);

	if (!kept)
		return false;
	out_put_now(kept, n);
	return true;
}

static void out_put(const char *buf, size_t size)
{
	/* pager_keep() may return the kept bytes, which then end with buf */
	if (!pager_keep(buf, size) && !out_put_kept())
		out_put_now(buf, size);
}

static struct escape_filter out_sieve = { .put = out_put };

static ssize_t out_take(void *cookie UNUSED, const char *buf, size_t size)
{
	if (out_errno)
		return 0;
	if (out_is_bytes)
		out_put(buf, size);
	else
		escape_filter_pass(&out_sieve, buf, size);
	return out_errno ? 0 : (ssize_t)size;
}

static void out_put_err(const char *buf, size_t size)
{
	/* a failure cannot be reported anywhere */
	(void)write_all(2, buf, size);
}

static struct escape_filter out_err_sieve = { .put = out_put_err };

static ssize_t out_take_err(void *cookie UNUSED, const char *buf, size_t size)
{
	escape_filter_pass(&out_err_sieve, buf, size);
	return (ssize_t)size;
}

void out_init(void)
{
	cookie_io_functions_t io = { .write = out_take };
	cookie_io_functions_t err_io = { .write = out_take_err };
	FILE *f = mem_must(fopencookie(NULL, "w", io));
	FILE *e = mem_must(fopencookie(NULL, "w", err_io));

	setvbuf(f, out_buffer, isatty(1) ? _IOLBF : _IOFBF, sizeof(out_buffer));
	/* one thread prints: it needs no locks */
	__fsetlocking(f, FSETLOCKING_BYCALLER);
	stdout = f;
	setvbuf(e, NULL, _IONBF, 0);
	stderr = e;
}

void out_bytes(void)
{
	fflush(stdout);
	out_is_bytes = true;
}

void out_text(const char *text, size_t n)
{
	fflush(stdout);
	out_take(NULL, text, n);
}

bool out_failed(void)
{
	return out_errno != 0;
}

void out_settle(void)
{
	fflush(stdout);
	escape_filter_end(&out_sieve);
	escape_filter_end(&out_err_sieve);
	out_put_kept();
	pager_end();
}

int out_finish(struct err *err)
{
	out_settle();
	if (!out_errno || out_errno == EPIPE)
		return 0;
	return err_set(err, ERR_IO, "standard output: %s", strerror(out_errno));
}

/* Writes to a FIFO or a device. Polls for a reader of a FIFO, as open() would
 * be restarted after a signal. Returns 0, or -1 and *err. */
static int out_write_special(const char *path, bool fifo, out_write_fn *write,
			     void *arg, struct err *err)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (fifo ? O_NONBLOCK : 0);
	bool waits = false;
	FILE *out;
	int fd;

	while ((fd = open(path, flags)) < 0 && fifo && errno == ENXIO &&
	       !stop_requested()) {
		if (!waits)
			say("backstitch: %s: waits until somebody reads it\n",
			    path);
		waits = true;
		poll(NULL, 0, 50);
	}
	if (fd < 0 && stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (fifo)
		fcntl(fd, F_SETFL, O_WRONLY);
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	int rc = write(out, arg, err);
	if (fclose(out) && !rc)
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return rc;
}

static bool out_is_database(const char *path)
{
	unsigned char head[STORE_HEAD];
	int fd OWNED_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));

	return n > 0 && store_is_database(head, (size_t)n);
}

int out_may_replace(const char *path, bool database, struct err *err)
{
	bool capture = formats_is_capture(path);

	if (!capture && (database || !out_is_database(path)))
		return 0;
	return err_set(err, ERR_IO,
		       "%s: exists and is a %s; remove it first, or name "
		       "another file after -o",
		       path, capture ? "capture" : "database");
}

int out_write(const char *path, out_write_fn *write, void *arg, struct err *err)
{
	struct stat st;
	int rc = -1;

	/* main() reports why standard output cannot be written */
	if (!path || !strcmp(path, "-")) {
		rc = write(stdout, arg, err);
		return rc && out_failed() ? 0 : rc;
	}
	bool there = !stat(path, &st);

	if (there && !S_ISREG(st.st_mode))
		return out_write_special(path, S_ISFIFO(st.st_mode), write, arg,
					 err);
	if (there && out_may_replace(path, false, err))
		return -1;
	struct new_file *nf = new_file_open(path, true, err);
	if (!nf)
		return -1;
	if (!new_file_stream(nf))
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	else if (!write(new_file_stream(nf), arg, err))
		rc = new_file_finish(nf, err);
	new_file_free(nf);
	return rc;
}
