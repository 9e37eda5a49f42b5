/* unwind.h - unwinds stack dumps, and samples with registers only.
 *
 * It uses the tables of the files that ran, see unwind_images.h and
 * symbolize/cfi/unwind_rows.h. A repeated address costs one cache lookup. Where
 * a row is not enough, the stack is unwound again from the start with all
 * registers. Without a table it continues by frame pointer while each return
 * address follows a call or is in JIT code, and reports the first such
 * frame. */
#pragma once

struct frames;
struct unwind_images;
struct symbolizer;
struct unwinder;

/* Creates an unwinder that looks for files by the options of sy. Borrows both
 * until uw->ops->free(). */
struct unwinder *unwind_new(struct symbolizer *sy, const struct frames *fr);
/* Lets begin() use n threads, 64 at most. */
void unwind_use_threads(struct unwinder *uw, unsigned int n);
/* Returns the images it has opened, owned by the unwinder. */
struct unwind_images *unwind_get_images(struct unwinder *uw);
