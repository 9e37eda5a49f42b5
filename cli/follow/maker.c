/* maker.c - the process that makes the databases of segments, as it is seen by
 * the one that receives. */
#include "cli/follow/maker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/follow/make.h"
#include "stitch/base/mem.h"

#define NS 1000000000

struct maker {
	struct maker_opts o;
	pid_t pid; /* 0: none */
	int talk;  /* to it; -1: none */
	int report;
	int64_t used_ns; /* of the processor, as maker_sleeps() saw it last */
};

struct maker *maker_new(const struct maker_opts *o)
{
	struct maker *m = mem_new(1, sizeof(*m));

	*m = (struct maker){ .o = *o, .talk = -1, .report = -1 };
	if (o->glances)
		m->report = memfd_create("glance", MFD_CLOEXEC);
	return m;
}

/* Waits for the end of the process, and returns its status. */
static int maker_end(struct maker *m)
{
	int status = 0;
	pid_t pid;

	close(m->talk);
	do
		pid = waitpid(m->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	m->talk = -1;
	m->pid = 0;
	return status;
}

void maker_free(struct maker *m)
{
	if (!m)
		return;
	if (m->pid)
		maker_end(m);
	if (m->report >= 0)
		close(m->report);
	free(m);
}

/* Commands of the user must not get the sockets: the process ends when nobody
 * holds the other end of its own. */
static bool maker_start(struct maker *m)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	fflush(NULL);
	pid_t parent = getpid();

	m->pid = fork();
	if (!m->pid) {
		/* If the process that receives is killed, the next run makes
		 * what was not finished: this one must not go on beside it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
		if (m->o.leave)
			m->o.leave(m->o.leave_arg);
		make_segments(&(struct make_opts){ .claim = m->o.claim,
						   .talk = pair[1],
						   .report = m->report });
	}
	int error = errno;

	close(pair[1]);
	m->talk = pair[0];
	if (m->pid > 0)
		return true;
	close(m->talk);
	m->talk = -1;
	m->pid = 0;
	errno = error;
	return false;
}

bool maker_give(struct maker *m, uint32_t number)
{
	/* it may have been killed while it had no work */
	if (m->pid && send(m->talk, &number, sizeof(number), MSG_NOSIGNAL) < 0)
		maker_end(m);
	else if (m->pid)
		return true;
	if (!maker_start(m))
		return false;
	/* if that fails, maker_take() says so */
	send(m->talk, &number, sizeof(number), MSG_NOSIGNAL);
	return true;
}

enum maker_got maker_take(struct maker *m, int wait_ms, int *status)
{
	struct pollfd p = { .fd = m->talk, .events = POLLIN };
	struct make_done done;
	ssize_t n;

	if (wait_ms)
		poll(&p, 1, wait_ms);
	do
		n = recv(m->talk, &done, sizeof(done), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return MAKER_BUSY;
	if (n != sizeof(done)) {
		*status = maker_end(m);
		return MAKER_LOST;
	}
	*status = done.status;
	if (done.ends)
		maker_end(m);
	return MAKER_DONE;
}

bool maker_sleeps(struct maker *m)
{
	struct timespec t;
	clockid_t clock;

	if (!m->pid || clock_getcpuclockid(m->pid, &clock) ||
	    clock_gettime(clock, &t))
		return false;
	int64_t was = m->used_ns;

	m->used_ns = (int64_t)t.tv_sec * NS + t.tv_nsec;
	return m->used_ns == was;
}

/* What waits for a disk that does not answer cannot even be killed, so nothing
 * waits for its end. */
void maker_kill(struct maker *m)
{
	kill(m->pid, SIGKILL);
	close(m->talk);
	m->talk = -1;
	m->pid = 0;
}

FILE *maker_report(const struct maker *m)
{
	int fd = m->report < 0 ? -1 : dup(m->report);

	if (fd < 0)
		return NULL;
	lseek(fd, 0, SEEK_SET);
	return fdopen(fd, "r");
}
