/* thread.h - starts a thread. */
#ifndef STITCH_BASE_THREAD_H
#define STITCH_BASE_THREAD_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread with so small a stack: the default of 8 MiB would count as
 * data under a memory limit. Signals are blocked in it: the main thread handles
 * them. Returns false if there is none. */
bool thread_start(pthread_t *thread, size_t stack, void *(*fn)(void *),
		  void *arg);
#endif
