/* thread.c - starts a thread. */
#include "stitch/base/thread.h"

#include <signal.h>

bool thread_start(pthread_t *thread, size_t stack, void *(*fn)(void *),
		  void *arg)
{
	pthread_attr_t attr;
	sigset_t all, old;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(thread, &attr, fn, arg);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return !error;
}
