/* missing_caller.h - infers the caller that a frame-pointer chain skips.
 *
 * A function F without a frame is skipped together with its return address: the
 * chain continues with the caller's caller. The caller G can be proved from the
 * files alone: the call before the next return address goes to G; G calls F, or
 * a function that jumps to F, where FP is that of G; and both files were built
 * with frame pointers. Either call may go through a PLT stub to a function that
 * the file of F exports. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct unwind_image;
struct unwind_row;

/* Infers the caller. leaf is the ELF address in m that was sampled, next the
 * return address in `at` that follows it in the chain. Returns at how many
 * places G calls F; 0 unless direct calls prove it. Sets *caller to the return
 * address in G or, if there are several, to the start of G, which is in *in: m
 * or `at`. O(bytes of G). */
unsigned int missing_caller_infer(struct unwind_image *m, uint64_t leaf,
				  struct unwind_image *at, uint64_t next,
				  const struct unwind_image **in,
				  uint64_t *caller);
/* Returns true if the call before ret may have led to the code at ELF address
 * `in`: it is indirect, or a direct call of that function or of an unknown one;
 * or no call is needed there. */
bool missing_caller_may_enter(struct unwind_image *m, uint64_t ret,
			      uint64_t in);
/* Returns true if FP is that of the function at an ELF address, by its row of
 * the unwind table or, as that may count from SP everywhere, by its
 * instructions. */
bool missing_caller_sets_fp(struct unwind_image *m, uint64_t vaddr,
			    const struct unwind_row *row);
/* Returns true if the call before ret enters the function at ELF address `in`,
 * and the code before the call has made FP the frame that the function does not
 * set up: Go's compiler does so for runtime.duffzero and duffcopy. */
bool missing_caller_framed_by_call(struct unwind_image *m, uint64_t ret,
				   uint64_t in);
/* Returns true if such code has moved FP below SP, for a call by the next
 * instruction or the previous one: the caller in a chain is then the return
 * address that the last call at this depth has left. */
bool missing_caller_fp_is_low(struct unwind_image *m, uint64_t vaddr);
/* Returns true if an ELF address follows a call, or is the return address of
 * the first function of a goroutine or context. */
bool missing_caller_after_call(struct unwind_image *m, uint64_t vaddr);
/* Returns whether it is the address to which the first function of a context of
 * makecontext(3) or Boost, or of a goroutine, returns. */
bool missing_caller_starts(struct unwind_image *m, uint64_t vaddr);
