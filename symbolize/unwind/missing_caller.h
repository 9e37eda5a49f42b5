/* missing_caller.h - the caller that a frame-pointer chain lacks.
 *
 * A function that has set up no frame is called by one that the chain passes
 * over: its return address is where nobody looks. Which function that is may
 * be proved by the file alone: the call before the next return address enters
 * G, not the function F that was hit; G calls F, at a place where the frame
 * pointer is that of G; and the file was built with frame pointers. */
#ifndef SYMBOLIZE_UNWIND_MISSING_CALLER_H
#define SYMBOLIZE_UNWIND_MISSING_CALLER_H
#include <stdbool.h>
#include <stdint.h>

struct unwind_image;
struct unwind_images;

/* leaf: the ELF address that was hit; next: the return address that the chain
 * has for it. *caller: the return address in G, or, when G calls F at several
 * places, where G begins. Only direct calls are a proof. O(bytes of G). */
bool missing_caller_infer(struct unwind_images *ms, struct unwind_image *m,
			  uint64_t leaf, uint64_t next, uint64_t *caller);
/* May the code at ELF address `in` have been entered by the call before ret?
 * False: there is none, or it is a direct one of another function. */
bool missing_caller_may_enter(struct unwind_images *ms, struct unwind_image *m,
			      uint64_t ret, uint64_t in);
/* Is an ELF address behind a call? */
bool missing_caller_after_call(struct unwind_images *ms, struct unwind_image *m,
			       uint64_t vaddr);
#endif
