/* symbolize_demangle.c - plain names, and names that explode. */
#include "symbolize/symbolize.h"
#include "symbolize/names/demangle.h"
#include "tests/unit/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void demangle_is(const char *mangled, const char *want)
{
	char buf[512] = "untouched";
	bool got = demangle_name(mangled, buf, sizeof(buf));

	ck_assert_msg(got == (want != NULL), "%s", mangled);
	ck_assert_str_eq(buf, want ? want : "untouched");
}

START_TEST(names_become_plain)
{
	demangle_is("_ZN3foo3barEi", "foo::bar(int)");
	demangle_is("_ZN3foo3barEi@plt", "foo::bar(int)@plt");
	demangle_is("_ZN3foo3barEi@@VERS_1.0", "foo::bar(int)");
	demangle_is("_ZN3fooC1Ev.constprop.0",
		    "foo::foo() [clone .constprop.0]");
	demangle_is(
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<int, std::allocator<int> >::push_back(int const&)");
	demangle_is("_ZN44_$LT$main..Square$u20$as$u20$main..Shape$GT$4area17"
		    "hf625e0446e89ab6cE",
		    "<main::Square as main::Shape>::area");
	demangle_is("_ZN44_$LT$main..Square$u20$as$u20$main..Shape$GT$4area17"
		    "hf625e0446e89ab6cE.llvm.123",
		    "<main::Square as main::Shape>::area");
	demangle_is("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		    "core::fmt::Formatter::pad");
	demangle_is("_RNvC6_123foo3bar", "123foo::bar");
	demangle_is("_RNvNtCs1234_7mycrate3foo3bar.llvm.7",
		    "mycrate::foo::bar");
	demangle_is("_Dmain", "D main");
	demangle_is("_D3std5stdio4File5writeMFAxaZv",
		    "std.stdio.File.write(const(char)[])");
}
END_TEST

START_TEST(plain_names_stay_as_they_are)
{
	demangle_is("main", NULL);
	demangle_is("_start", NULL);
	demangle_is("", NULL);
	demangle_is("_Z", NULL);
	demangle_is("_R", NULL);
	demangle_is("_Zzz!", NULL);
	demangle_is("__x64_sys_read", NULL);
	demangle_is("_ZN3foo", NULL);
}
END_TEST

/* Each level of pair<X, X> doubles what was before: 2^60 bytes in all. */
START_TEST(a_bomb_is_cut_and_takes_no_time)
{
	char name[2048] = "_Z1fI";
	char buf[64];
	struct timespec a, b;
	size_t n = strlen(name);

	/* f<P<X,X>,P<P..,..>...>: each argument is a pair of the one before */
	n += (size_t)snprintf(name + n, sizeof(name) - n, "1PIiiE");
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (int i = 0; i < 34; i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n,
				      "S0_IS%c_S%c_E", digit[i + 1],
				      digit[i + 1]);
	snprintf(name + n, sizeof(name) - n, "EvT_");
	clock_gettime(CLOCK_MONOTONIC, &a);
	ck_assert(demangle_name(name, buf, sizeof(buf)));
	clock_gettime(CLOCK_MONOTONIC, &b);
	ck_assert_uint_eq(strlen(buf), sizeof(buf) - 2);
	ck_assert_str_eq(buf + strlen(buf) - 3, "...");
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 2);
}
END_TEST

/* Tuples of two tuples of the one before, and types as deep as they are
 * long: the demangler of D stops at neither. */
START_TEST(a_bomb_in_d_is_left_as_it_is)
{
	char name[32768] = "_D1fF";
	char buf[64];

	memset(name + 5, 'A', 20000);
	memcpy(name + 20005, "aZv", 4);
	ck_assert(!demangle_name(name, buf, sizeof(buf)));

	size_t n = (size_t)snprintf(name, sizeof(name), "_D1fFH2ii");
	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "B2Q%cQ%c",
				      'c', 'e');
	snprintf(name + n, sizeof(name) - n, "Zv");
	ck_assert(!demangle_name(name, buf, sizeof(buf)));
}
END_TEST

START_TEST(a_small_buffer_is_never_left)
{
	char buf[16];

	for (size_t n = 1; n < 8; n++) {
		memset(buf, 'x', sizeof(buf));
		demangle_name("_ZN3foo3barEi", buf, n);
		ck_assert_int_eq(buf[n], 'x');
		ck_assert_uint_lt(strnlen(buf, n), n);
	}
}
END_TEST

RUN("demangle", names_become_plain, plain_names_stay_as_they_are,
    a_bomb_is_cut_and_takes_no_time, a_bomb_in_d_is_left_as_it_is,
    a_small_buffer_is_never_left)
