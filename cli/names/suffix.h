/* suffix.h - what compilers add to the name of a function, which differs from
 * one build to the next: --fold-suffixes. */
#pragma once
#include <stdbool.h>

#include "cli/command.h"

/* --fold-suffixes */
extern const struct opt suffix_opts[];

/* Returns whether names are to be folded. */
bool suffix_asked(void);
/* Cuts off what a compiler adds to the name of a function that it split, cloned
 * or made visible (".isra.0", ".constprop.0", ".part.0", ".cold",
 * ".lto_priv.0",
 * ".llvm.123", "[clone .cold]"), and takes out hashes ("::h0123456789abcdef",
 * "core[0123456789abcdef]", ".__uniq.123", "/0x0000000800c03000"). Never
 * empties a name. */
void suffix_cut(char *name);
/* Does that, and takes out the numbers of lambdas and other nameless things
 * ("{lambda(int)#2}", "{closure#0}", "$_0", "Lambda$14", "__anon_123", Go's
 * "f.func1.2"). */
void suffix_fold(char *name);
/* Takes out only what a runtime numbers anew in each run of one program:
 * classes of Java's lambdas and proxies, tiers of V8, methods that .NET, LuaJIT
 * and Julia compile. */
void suffix_fold_run(char *name);
/* Returns the tier of V8's compilers that made the code, as perf-basic-prof and
 * perf-prof have it in the name, "JS:*parse /srv/a.js:3:20"; NULL: not known.
 */
const char *suffix_tier(const char *name);
