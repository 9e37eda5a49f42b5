/* nets.c - three threads that make network namespaces, for which they wait for
 * locks of the kernel that are globals.
 *
 * usage: nets, as root. Built with gcc -O1 -fno-omit-frame-pointer. Each call
 * is made by the program itself, so that its function is in the stack. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#define THREADS 3
#define ROUNDS 6

static __attribute__((noinline)) long make_net(void)
{
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(SYS_unshare), "D"(CLONE_NEWNET)
			 : "rcx", "r11", "memory");
	return rc;
}

static __attribute__((noinline)) void *make_nets(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		if (make_net())
			return arg;
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	void *bad;
	int rc = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, make_nets, thread);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &bad);
		rc |= bad != NULL;
	}
	return rc;
}
