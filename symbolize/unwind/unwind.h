/* unwind.h - the unwinder: of stack dumps, and of what registers alone say.
 *
 * Works by the tables of the very files that ran, see modules.h and
 * symbolize/cfi/unwind_rows.h; an address that was seen before costs one look
 * into a cache. Where a row does not suffice the stack is worked out once more
 * from the beginning, with all registers. Where there is no table it goes on by
 * frame pointer only as long as each return address is behind a call, or in
 * code made at run time, and says from which frame on that is so. */
#ifndef SYMBOLIZE_UNWIND_UNWIND_H
#define SYMBOLIZE_UNWIND_UNWIND_H

struct frames;
struct modules;
struct symbolizer;
struct unwinder;

/* Looks for files as sy's options say. Borrows both until uw->ops->free(). */
struct unwinder *unwind_new(struct symbolizer *sy, const struct frames *fr);
/* The files it has opened; the unwinder's. */
struct modules *unwind_modules(struct unwinder *uw);
#endif
