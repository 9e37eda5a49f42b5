/* wait_cause.h - what a thread waits for: futex, poll, read, page fault, ...
 *
 * The functions of the kernel in the stack of the switch tell it: the system
 * call, or the fault inside of it. */
#ifndef CLI_MODEL_WAIT_CAUSE_H
#define CLI_MODEL_WAIT_CAUSE_H
#include <stdint.h>

struct stacks;
struct wait_causes;

enum wait_cause {
	WAIT_UNKNOWN, /* no stack, or no name in it tells */
	WAIT_FAULT,
	WAIT_FUTEX,
	WAIT_POLL,
	WAIT_READ,
	WAIT_WRITE,
	WAIT_SOCKET,
	WAIT_TIMER,
	WAIT_CHILD,
	WAIT_SIGNAL,
	WAIT_FILE,
	WAIT_MEMORY,
	WAIT_EXEC,
	WAIT_CLONE,
	WAIT_EXIT,
	WAIT_IOCTL,
	WAIT_KERNEL, /* a thread of the kernel */
	WAIT_CAUSES
};

/* stacks: borrowed, for names. The caller calls wait_causes_free(). */
struct wait_causes *wait_causes_new(struct stacks *s);
void wait_causes_free(struct wait_causes *c);
/* Returns the cause in a kernel half, raw_chain.id; each one is looked at once.
 */
enum wait_cause wait_causes_get(struct wait_causes *c, uint32_t kraw);
/* Returns the word: "futex"; "" for WAIT_UNKNOWN. */
const char *wait_cause_word(enum wait_cause cause);
#endif
