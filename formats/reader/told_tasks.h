/* told_tasks.h - what a reader has told of tasks so far: names, forks, execs.
 *
 * Events say the same more than once, and several buffers record the same
 * event; a record is made only of what is news. A name that an event says is
 * sure; one that was only remembered when a text was made counts until an
 * event says another. Ids above Linux's largest pid_max are not looked at. */
#ifndef FORMATS_READER_TOLD_TASKS_H
#define FORMATS_READER_TOLD_TASKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_LEN 15u /* of a name, without its 0 */
#define KNOWN_TOLD 64

struct known_told {
	int32_t tid; /* 0: empty */
	uint32_t buffer;
	uint64_t time;
	bool exec;
};

/* Zero-initialised is empty. */
struct known {
	uint64_t *name; /* by tid: hash of the name; 0: none */
	size_t n, cap;
	struct known_told told[KNOWN_TOLD]; /* the last forks and execs */
	unsigned int n_told;
};

void known_release(struct known *k);
/* Is the name of n bytes news? Then it is known. */
bool known_rename(struct known *k, int64_t tid, const char *name, size_t n,
		  bool sure);
/* Has it a name? The idle task, one name for each CPU, always has. */
bool known_named(const struct known *k, int64_t tid);
/* The id is another task's. */
void known_unname(struct known *k, int64_t tid);
/* Was it told of before? A fork, when the task has not ended since:
 * task_newtask stands before sched_process_fork and says more. An exec, when
 * another buffer has just told of it. */
bool known_told(struct known *k, int32_t tid, bool exec, uint32_t buffer,
		uint64_t time);
/* The task ended. */
void known_forget(struct known *k, int64_t tid);
#endif
