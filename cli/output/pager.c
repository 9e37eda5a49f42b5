/* pager.c - long output on a terminal is shown by a pager, as git does it. */
#include "cli/output/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/process/child.h"
#include "cli/output/term.h"
#include "cli/process/signals.h"
#include "stitch/base/mem.h"

/* Limit of the bytes kept while waiting for a full screen. */
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

/* ---- which */

/* Returns whether the program exists. A command with shell syntax counts as
 * one. */
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

/* ---- the pager */

/* The user may still read what there is. Safe in a signal handler. */
static void pager_let_go(void)
{
	if (!pager.pipe || close(pager.pipe))
		return;
	if (pager.err > 0)
		dup2(pager.err, 2);
	waitpid(pager.pid, NULL, 0);
}

static void pager_start(void)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return;
	pager.pid = fork();
	if (!pager.pid) {
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

bool pager_keep(const char *buf, size_t n)
{
	if (!pager.armed)
		return false;
	/* Counts the rows that the bytes take on a terminal, without escape
	 * sequences. */
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

char *pager_kept(size_t *n)
{
	char *p = pager.kept;

	*n = pager.n;
	pager.kept = NULL;
	pager.n = pager.cap = 0;
	pager.armed = false;
	return p;
}

int pager_fd(void)
{
	return pager.pipe ? pager.pipe : 1;
}

void pager_end(void)
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
