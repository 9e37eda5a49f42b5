/* many.c - many short processes of one program, which calls many libraries.
 *
 * usage: many PROCESSES LOOPS LIBRARY...; each process (a new one after the
 * other, by fork and exec) loads all the libraries and calls `spread(LOOPS)`
 * of each; so does the only one when PROCESSES is 0. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int spread_fn(int);

static int bench_many_run(int loops, char **lib)
{
	int sum = 0;

	for (; *lib; lib++) {
		void *h = dlopen(*lib, RTLD_NOW);
		spread_fn *fn = h ? (spread_fn *)dlsym(h, "spread") : NULL;

		if (!fn) {
			fprintf(stderr, "%s: %s\n", *lib, dlerror());
			return 1;
		}
		sum += fn(loops);
	}
	return sum == 1;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	int n = (int)strtol(argv[1], NULL, 10);
	if (!n)
		return bench_many_run((int)strtol(argv[2], NULL, 10), argv + 3);
	argv[1] = "0";
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			return 1;
	}
	return 0;
}
