/* top.c - the screens of view beside follow. */
#include "cli/follow/top.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/stop.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct top {
	pid_t pid;	/* 0: it has ended */
	FILE *messages; /* standard error meanwhile; NULL: none */
	int said;	/* what it was */
};

struct top *top_open(const char *dir, struct err *err)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
	struct top *t;

	if (tty < 0) {
		err_set(err, ERR_USAGE, "--top needs a terminal");
		return NULL;
	}
	t = mem_new(1, sizeof(*t));
	/* messages would be on its screen, and gone with the next one */
	t->messages = tmpfile();
	/* and the signal that ends the input would end this one too */
	t->said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STOP_FD_LOOK);
	if (t->messages && t->said >= 0)
		dup2(fileno(t->messages), STDERR_FILENO);
	t->pid = fork();
	if (!t->pid) {
		/* the terminal, wherever descriptors 0 and 1 lead */
		dup2(tty, STDIN_FILENO);
		dup2(tty, STDOUT_FILENO);
		execl("/proc/self/exe", "backstitch", "view", "--live", dir,
		      (char *)NULL);
		_exit(127);
	}
	close(tty);
	if (t->pid < 0)
		t->pid = 0;
	return t;
}

void top_close(struct top *t)
{
	char buf[4096];
	size_t n;

	if (!t)
		return;
	if (t->pid) {
		kill(t->pid, SIGTERM);
		waitpid(t->pid, NULL, 0);
	}
	if (t->said >= 0) {
		dup2(t->said, STDERR_FILENO);
		close(t->said);
	}
	/* the messages that came meanwhile */
	if (t->messages) {
		rewind(t->messages);
		while ((n = fread(buf, 1, sizeof(buf), t->messages)) > 0)
			fwrite(buf, 1, n, stderr);
		fclose(t->messages);
	}
	free(t);
}

bool top_ended(struct top *t)
{
	if (t->pid && waitpid(t->pid, NULL, WNOHANG) == t->pid)
		t->pid = 0;
	return !t->pid;
}
