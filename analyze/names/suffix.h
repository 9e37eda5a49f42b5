/* suffix.h - what compilers add to the name of a function, which differs from
 * one build to the next. */
#pragma once

enum suffix_of {
	/* what a compiler adds to the name of a function that it split, cloned
	 * or made visible (".isra.0", ".constprop.0", ".part.0", ".cold",
	 * ".lto_priv.0", ".llvm.123", "[clone .cold]"), and hashes
	 * ("::h0123456789abcdef", "core[0123456789abcdef]", ".__uniq.123",
	 * "/0x0000000800c03000") */
	OF_COMPILER,
	/* only what a runtime numbers anew in each run of one program: classes
	 * of Java's lambdas and proxies, tiers of V8, methods that .NET, LuaJIT
	 * and Julia compile */
	OF_RUN,
	/* all of this, and the numbers of lambdas and other nameless things
	 * ("{lambda(int)#2}", "{closure#0}", "$_0", "Lambda$14", "__anon_123",
	 * Go's "f.func1.2") */
	OF_BUILD,
};
/* Removes such parts from a name, in place. Never leaves it empty. */
void suffix_remove(char *name, enum suffix_of of);
/* Returns the tier of V8's compilers that made the code, as perf-basic-prof and
 * perf-prof have it in its name, "JS:*parse /srv/a.js:3:20"; NULL: unknown. */
const char *suffix_tier(const char *name);
