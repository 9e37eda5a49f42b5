/* run.c - runs perf until it ends, and passes signals on to it. */
#include "cli/record/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/record/plan.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static volatile sig_atomic_t perf_pid, perf_asked;

/* A terminal sends Ctrl-C to perf, too: a second SIGINT changes nothing there.
 * perf writes what it has and ends. */
static void run_on_signal(int sig)
{
	int saved = errno;

	perf_asked = 1;
	if (perf_pid > 0)
		kill((pid_t)perf_pid, sig == SIGALRM ? SIGINT : sig);
	errno = saved;
}

static const int run_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };

static void run_child(const struct plan *p, bool env, const sigset_t *mask)
{
	/* main() ignores these, and what is recorded would inherit it */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (env && p->env)
		setenv(p->env, p->value, 1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(p->argv[0], (char *const *)p->argv);
	_exit(127);
}

int run_perf(const struct plan *p, bool env, double seconds,
	     struct run_end *end, struct err *err)
{
	const time_t whole = (time_t)seconds;
	const struct timeval after = {
		.tv_sec = whole,
		.tv_usec = (suseconds_t)((seconds - (double)whole) * 1e6)
	};
	const struct itimerval timer = { .it_value = after };
	const struct itimerval never = { .it_value = { .tv_sec = 0 } };
	struct sigaction old[ARRAY_SIZE(run_signals)];
	sigset_t some, mask;
	pid_t pid;
	int rc;

	sigemptyset(&some);
	for (size_t i = 0; i < ARRAY_SIZE(run_signals); i++)
		sigaddset(&some, run_signals[i]);
	sigprocmask(SIG_BLOCK, &some, &mask);
	pid = fork();
	if (!pid)
		run_child(p, env, &mask);
	perf_pid = pid;
	perf_asked = 0;
	for (size_t i = 0; i < ARRAY_SIZE(run_signals); i++) {
		struct sigaction sa = { .sa_handler = run_on_signal };

		sigfillset(&sa.sa_mask);
		sigaction(run_signals[i], NULL, &old[i]);
		/* ignored under nohup, for perf as well */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(run_signals[i], &sa, NULL);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0 && seconds > 0)
		setitimer(ITIMER_REAL, &timer, NULL);
	while ((rc = waitpid(pid, &end->status, 0)) < 0 && errno == EINTR)
		;
	perf_pid = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(run_signals); i++)
		sigaction(run_signals[i], &old[i], NULL);
	end->asked = perf_asked;
	if (pid < 0 || rc < 0)
		return err_set(err, ERR_IO, "no process for perf");
	return 0;
}

int run_screen(const char *file, bool aside)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (aside)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "backstitch", file, (char *)NULL);
		_exit(127);
	}
	return child_wait(pid);
}
