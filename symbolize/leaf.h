/* leaf.h - the unwinder for frame-pointer samples of AArch64: one caller, from
 * the link register.
 *
 * A function without a frame of its own is missing its caller in such a
 * chain. It is added only where the tables of the very file that ran say that
 * the register still holds the return address. One hash look-up a sample. */
#ifndef SYMBOLIZE_LEAF_H
#define SYMBOLIZE_LEAF_H

struct frames;
struct symbolizer;
struct unwinder;

/* Looks for files as sy's options say. Borrows both until uw->ops->free(). */
struct unwinder *leaf_new(struct symbolizer *sy, const struct frames *fr);
#endif
