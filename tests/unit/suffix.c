/* suffix.c - what a compiler adds to names is folded, and nothing else. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/names/suffix.h"
#include "tests/unit/run.h"

static const struct {
	const char *name, *want; /* NULL: the name */
} suffix_cases[] = {
	{ "work.isra.0", "work" },
	{ "work.constprop.0.isra.12", "work" },
	{ "work.part.3.cold", "work" },
	{ "work.cold.7", "work" },
	{ "table.lto_priv.0", "table" },
	{ "helper.llvm.1234567890123", "helper" },
	{ "helper.__uniq.98765.llvm.1", "helper" },
	{ "f(int) [clone .isra.0]", "f(int)" },
	{ "f(int) [clone .part.0] [clone .cold]", "f(int)" },
	{ "core::fmt::write::h0123456789abcdef", "core::fmt::write" },
	{ "core[0123456789abcdef]::fmt::write", "core::fmt::write" },
	{ "app::run::{closure#2}", "app::run::{closure#}" },
	{ "main::{lambda(int)#2}::operator()(int) const",
	  "main::{lambda(int)#}::operator()(int) const" },
	{ "main::$_12::operator()() const", "main::$_::operator()() const" },
	{ "main::lambda#12::operator()", "main::lambda#::operator()" },
	{ "main::'lambda1'(int)::operator()",
	  "main::'lambda'(int)::operator()" },
	{ "LMain$$Lambda$14/0x0000000800c03000;::apply",
	  "LMain$$Lambda$;::apply" },
	{ "sort__anon_1234", "sort__anon_" },
	{ "main.f.func1", "main.f.func" },
	{ "example.org/a.(*T).f.func12.3.1", "example.org/a.(*T).f.func.." },
	{ "main.f.func2.gowrap1", "main.f.func.gowrap" },
	/* these are names */
	{ "work", NULL },
	{ "work.c", NULL },
	{ "main.func1", NULL },
	{ ".cold", NULL },
	{ ".isra.0", NULL },
	{ "cold", NULL },
	{ "version.10", NULL },
	{ "std::vector<int, 10>::at[8]", NULL },
	{ "[libc.so.6]", NULL },
	{ "[0123456789abcdef]", NULL },
	{ "operator[]", NULL },
	{ "x[deadbeef", NULL },
	{ "foo[deadbeef01xyz]bar", NULL },
	{ "x/0deadbeef0", NULL },
	{ "f<0x10>", NULL },
	{ "x::h0123456789abcdeg", NULL },
	{ "", NULL },
};

static const struct {
	const char *name, *want; /* NULL: the name */
} run_cases[] = {
	{ "Main$$Lambda$14/0x0000000800c03000.run", "Main$$Lambda$.run" },
	{ "Main$$Lambda/0x0000000800c03000.run", "Main$$Lambda.run" },
	{ "LMain$$Lambda$19/558638686;::apply", "LMain$$Lambda$/;::apply" },
	{ "Ljava/lang/invoke/LambdaForm$DMH/1296064247;::invokeStatic",
	  "Ljava/lang/invoke/LambdaForm$DMH/;::invokeStatic" },
	{ "Ljdk/proxy2/$Proxy12;::run", "Ljdk/proxy/$Proxy;::run" },
	{ "com.sun.proxy.$Proxy3.run", "com.sun.proxy.$Proxy.run" },
	{ "GeneratedMethodAccessor17::invoke",
	  "GeneratedMethodAccessor::invoke" },
	{ "dynamicClass::lambda_method12", "dynamicClass::lambda_method" },
	{ "TRACE_7::loop.lua:3", "TRACE_::loop.lua:3" },
	{ "julia_sum_1234", "julia_sum_" },
	/* of Scala, of a record, and of JDK 21 */
	{ "App$$$Lambda$27/0x00000008010c1000.apply$mcII$sp",
	  "App$$$Lambda$.apply$mcII$sp" },
	{ "LApp$$Lambda+0x00000008010c1000;::apply", "LApp$$Lambda;::apply" },
	{ "com.sun.proxy.jdk.proxy1.$Proxy0.run",
	  "com.sun.proxy.jdk.proxy.$Proxy.run" },
	{ "JS:*parse /srv/a.js:3:20", "JS:parse /srv/a.js:3:20" },
	{ "JS:^parse /srv/a.js:3:20", "JS:parse /srv/a.js:3:20" },
	{ "JS:~ /srv/a.js:10:5", "JS: /srv/a.js:10:5" },
	/* the next run has these again */
	{ "JS:parse /srv/a.js:3:20", NULL },
	{ "JS:*", "JS:" },
	{ "js:*parse", NULL },
	{ "App$.$anonfun$main$1", NULL },
	{ "Main$$Lambda$a1b2c3d4e5f6.run", NULL }, /* GraalVM: of its code */
	{ "work.isra.0", NULL },
	{ "core::fmt::write::h0123456789abcdef", NULL },
	{ "core[0123456789abcdef]::fmt::write", NULL },
	{ "main::{lambda(int)#2}::operator()(int) const", NULL },
	{ "app::run::{closure#2}", NULL },
	{ "main.f.func1.2", NULL },
	{ "Main$Inner$1.run", NULL },
	{ "sum_1234", NULL },
	{ "julia_", NULL },
	{ "", NULL },
};

START_TEST(only_numbers_of_a_run_are_taken_out_of_a_diff)
{
	char name[200];

	snprintf(name, sizeof(name), "%s", run_cases[_i].name);
	suffix_remove(name, OF_RUN);
	ck_assert_str_eq(name, run_cases[_i].want ? run_cases[_i].want
						  : run_cases[_i].name);
}
END_TEST

START_TEST(only_generated_parts_are_folded)
{
	char name[200];

	snprintf(name, sizeof(name), "%s", suffix_cases[_i].name);
	suffix_remove(name, OF_BUILD);
	ck_assert_str_eq(name, suffix_cases[_i].want ? suffix_cases[_i].want
						     : suffix_cases[_i].name);
	/* nothing is left to fold */
	suffix_remove(name, OF_BUILD);
	ck_assert_str_eq(name, suffix_cases[_i].want ? suffix_cases[_i].want
						     : suffix_cases[_i].name);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(only_generated_parts_are_folded,
		  sizeof(suffix_cases) / sizeof(*suffix_cases)),
	RUN_TIMES(only_numbers_of_a_run_are_taken_out_of_a_diff,
		  sizeof(run_cases) / sizeof(*run_cases)),
};

RUN_TABLES("suffix", loops)
