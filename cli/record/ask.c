/* ask.c - what other programs answer: perf to a trial, the loader to --list. */
#include "cli/record/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void ask_child(const char *const *argv, int out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	/* its messages are compared with English ones */
	setenv("LC_ALL", "C", 1);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

int ask_wait(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ask(const char *const *argv, char *out, size_t size)
{
	char rest[4096];
	size_t len = 0;
	int fd[2];
	pid_t pid;

	*out = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return 127;
	pid = fork();
	if (!pid)
		ask_child(argv, fd[1]);
	close(fd[1]);
	while (pid > 0) {
		bool full = len + 1 >= size;
		ssize_t n = read(fd[0], full ? rest : out + len,
				 full ? sizeof(rest) : size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += full ? 0 : (size_t)n;
	}
	out[len] = '\0';
	close(fd[0]);
	return ask_wait(pid);
}
