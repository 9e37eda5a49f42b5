/* signals.c - handles Ctrl-C, SIGTERM and SIGHUP.
 *
 * Whoever works for long asks stop_requested() now and then. As nothing can ask
 * in the middle of a query, of a library or of a large file, what has not ended
 * after GRACE_MS is ended here, in the signal handler: that removes unfinished
 * files by functions that are safe there, and raises the signal again. */
#include "cli/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "schema/store.h"
#include "stitch/base/mem.h"

#define GRACE_MS 500

static volatile sig_atomic_t requested, ended, live, by, patient;
static void (*volatile cleaner[4])(void);
static struct store *volatile query;
static int null_fd = -1;
static struct stat pipe_stat;

/* Ends the input pipe for its readers: a waiting read is restarted and finds
 * /dev/null at the same descriptor. Readers hold duplicates of descriptor 0, so
 * the pipe is recognized by its inode. */
static void stop_end_input(void)
{
	struct stat st;

	for (int fd = 0; null_fd >= 0 && fd < STOP_FD_LOOK; fd++)
		if (fd != 1 && fd != 2 && fstat(fd, &st) == 0 &&
		    st.st_ino == pipe_stat.st_ino &&
		    st.st_dev == pipe_stat.st_dev)
			dup2(null_fd, fd);
}

/* The same for all pipes, once the program is to stop: whoever is at the other
 * end of a FIFO may neither write nor read, for ever. */
static void stop_end_pipes(void)
{
	struct stat st;

	for (int fd = 0; null_fd >= 0 && fd < STOP_FD_LOOK; fd++)
		if (fd != 2 && fd != null_fd && fstat(fd, &st) == 0 &&
		    S_ISFIFO(st.st_mode))
			dup2(null_fd, fd);
}

static void stop_after(int ms)
{
	struct itimerval t = { .it_value = { .tv_sec = ms / 1000,
					     .tv_usec = ms % 1000 * 1000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

/* A signal that comes meanwhile must not leave half of it. */
static void stop_at_once(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cleaner) && cleaner[i]; i++)
		cleaner[i]();
	stop_now();
}

static void stop_on_alarm(int sig UNUSED)
{
	int saved = errno;

	if (live)
		stop_end_input();
	if (requested && !patient)
		stop_at_once();
	/* again and again, as a FIFO may be opened after the signal came */
	if (requested) {
		stop_end_pipes();
		stop_after(GRACE_MS);
	}
	errno = saved;
}

static void stop_on_interrupt(int sig)
{
	struct store *db = query;

	by = sig;
	if (live && !ended) {
		ended = 1;
		stop_after(2000);
		return;
	}
	if (requested)
		stop_at_once();
	requested = 1;
	stop_end_pipes();
	stop_after(GRACE_MS);
	if (db)
		store_interrupt(db);
}

static void stop_handle(int sig, void (*fn)(int))
{
	/* a second signal waits for the handler of the first */
	struct sigaction sa = { .sa_handler = fn, .sa_flags = SA_RESTART };
	struct sigaction old;

	/* keep it ignored under nohup and in background jobs of a shell */
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
		return;
	sigfillset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void signals_init(void)
{
	stop_handle(SIGINT, stop_on_interrupt);
	stop_handle(SIGTERM, stop_on_interrupt);
	/* the terminal is gone: what is half done must go as well */
	stop_handle(SIGHUP, stop_on_interrupt);
	stop_handle(SIGALRM, stop_on_alarm);
	signal(SIGPIPE, SIG_IGN);
	/* exceeding the file size limit is then an error like a full disk */
	signal(SIGXFSZ, SIG_IGN);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
}

void signals_live(bool on)
{
	live = on && fstat(0, &pipe_stat) == 0;
	if (!on && !requested)
		stop_after(0);
}

void signals_patiently(bool on)
{
	patient = on;
}

void signals_cleans(void (*fn)(void))
{
	for (size_t i = 0; i < ARRAY_SIZE(cleaner) && cleaner[i] != fn; i++)
		if (!cleaner[i]) {
			cleaner[i] = fn;
			return;
		}
}

void signals_query(struct store *db)
{
	query = db;
}

bool stop_requested(void)
{
	return requested;
}

bool stop_input_ends(void)
{
	return ended;
}

void stop_now(void)
{
	int sig = by ? by : SIGINT;
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, sig);
	signal(sig, SIG_DFL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + sig);
}
