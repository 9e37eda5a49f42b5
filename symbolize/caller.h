/* caller.h - the caller that a frame-pointer chain lacks.
 *
 * A function that has set up no frame is called by one that the chain passes
 * over: its return address is where nobody looks. Which function that is may
 * be proved by code: the call before the next return address enters G, not
 * the function F that was hit, and G calls F. */
#ifndef SYMBOLIZE_CALLER_H
#define SYMBOLIZE_CALLER_H
#include <stdbool.h>
#include <stdint.h>

struct module;
struct modules;

/* leaf: the ELF address that was hit; next: the return address that the chain
 * has for it. *caller: the return address in G, or, when G calls F at several
 * places, where G begins. Only direct calls are a proof. O(bytes of G). */
bool caller_infer(struct modules *ms, struct module *m, uint64_t leaf,
		  uint64_t next, uint64_t *caller);
/* Is an ELF address behind a call? */
bool caller_called(struct modules *ms, struct module *m, uint64_t vaddr);
#endif
