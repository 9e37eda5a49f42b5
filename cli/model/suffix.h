/* suffix.h - what compilers add to the name of a function, which differs from
 * one build to the next: --fold-suffixes. */
#ifndef CLI_MODEL_SUFFIX_H
#define CLI_MODEL_SUFFIX_H
#include <stdbool.h>

#include "cli/command.h"

/* --fold-suffixes */
extern const struct opt suffix_opts[];

/* Returns whether names are to be folded. */
bool suffix_asked(void);
/* Takes generated parts out of a name: parts of a function that was split or
 * cloned (".isra.0", ".constprop.0", ".part.0", ".cold", ".lto_priv.0",
 * ".llvm.123", "[clone .cold]"), hashes ("::h0123456789abcdef",
 * "core[0123456789abcdef]", ".__uniq.123", "/0x0000000800c03000"), and the
 * numbers of lambdas and other nameless things ("{lambda(int)#2}",
 * "{closure#0}", "$_0", "Lambda$14", "__anon_123"). Never empties a name. */
void suffix_fold(char *name);
#endif
