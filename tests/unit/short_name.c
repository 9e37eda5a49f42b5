/* short_name.c - the short form of names, and names that no demangler made. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/short_name.h"
#include "tests/unit/run.h"

#define STRING                                                                 \
	"std::__cxx11::basic_string<char, std::char_traits<char>, "            \
	"std::allocator<char> >"
#define A20 "aaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *name, *want; /* NULL: the name */
	unsigned int keep;
} short_cases[] = {
	/* C, the kernel, assembly */
	{ "main", NULL, 0 },
	{ "__x64_sys_read", NULL, 0 },
	{ "work.isra.0", "work", 0 },
	{ "work.constprop.0.cold", "work", 0 },
	{ "work.isra.0", NULL, SHORT_KEEP_CLONE },
	{ ".cold", NULL, 0 },
	{ "work.isra.0 (a.c)", "work (a.c)", 0 },
	{ "int work<char>(char const*) (lib/a.c)", "work<char> (lib/a.c)", 0 },
	{ "A::~A() (+0x11c0)", "A::~A (+0x11c0)", 0 },
	{ "A::f() (several functions)", "A::f (several functions)", 0 },
	{ "memcpy@plt", NULL, 0 },
	{ "[unknown]", NULL, 0 },
	{ "", NULL, 0 },
	/* parameters and what is behind them */
	{ "f(int)", "f", 0 },
	{ "f(int)", NULL, SHORT_KEEP_PARAMS },
	{ "f(int)@plt", "f@plt", 0 },
	{ "A::f() const", "A::f", 0 },
	{ "A::f() const", NULL, SHORT_KEEP_PARAMS },
	{ "A::f() const volatile &&", "A::f", 0 },
	{ "f(void (*)(int), ...)", "f", 0 },
	{ "f(" STRING " const&)", "f(std::string const&)", SHORT_KEEP_PARAMS },
	{ "f[abi:cxx11](int)", "f", 0 },
	{ "f[abi:cxx11](int)", "f[abi:cxx11]", SHORT_KEEP_CLONE },
	{ "f(int) [clone .cold]", "f", 0 },
	{ "f(int) [clone .part.0] [clone .cold]",
	  "f [clone .part.0] [clone .cold]", SHORT_KEEP_CLONE },
	{ "f(int) [clone .cold]", NULL, SHORT_KEEP_ALL },
	{ "A::A(int)", "A::A", 0 },
	{ "A::~A()", "A::~A", 0 },
	/* what a function returns */
	{ "void f<int>(int)", "f<int>", 0 },
	{ "void f<int>(int)", "f<int>(int)", SHORT_KEEP_PARAMS },
	{ "char const* const& A::f<int>(int) const", "A::f<int>", 0 },
	{ "decltype (x(0)) f<int>(int)", "f<int>", 0 },
	{ "decltype(auto) f<int>(int)", "f<int>", 0 },
	{ "std::enable_if<((3)>(2)) && ((1)<(2)), int>::type n::f<3>(int)",
	  "n::f<3>", 0 },
	{ "void (*f<int>(int))(char)", "f<int>", 0 },
	{ "void (*(*A::f<int>(int) const)(char))(long)", "A::f<int>", 0 },
	{ "int (&f<int>())[5]", "f<int>", 0 },
	{ "(anonymous namespace)::B (anonymous namespace)::f<int>(int)",
	  "(anon)::f<int>", 0 },
	/* templates */
	{ "std::vector<int, std::allocator<int> >::size() const",
	  "std::vector<int>::size", 0 },
	{ "std::vector<int, Mine<int> >::size() const",
	  "std::vector<int, Mine<int>>::size", 0 },
	{ "std::allocator<char>::allocator()",
	  "std::allocator<char>::allocator", 0 },
	{ STRING "::size() const", "std::string::size", 0 },
	{ STRING "::basic_string(char const*)", "std::string::string", 0 },
	{ STRING "::~basic_string()", "std::string::~string", 0 },
	{ "std::basic_string_view<wchar_t, std::char_traits<wchar_t> >::f()",
	  "std::wstring_view::f", 0 },
	{ "std::basic_ostream<char, std::char_traits<char> >& "
	  "std::operator<< <std::char_traits<char> >(std::basic_ostream<char, "
	  "std::char_traits<char> >&, char const*)",
	  "std::operator<< <std::char_traits<char>>", 0 },
	{ "std::basic_string<char, Mine<char> >::f()",
	  "std::basic_string<char, Mine<char>>::f", 0 },
	{ "mine::basic_string<char>::f()", NULL, SHORT_KEEP_PARAMS },
	{ "std::map<" STRING ", int, std::less<" STRING " >, std::allocator<"
	  "std::pair<" STRING " const, int> > >::at(" STRING " const&)",
	  "std::map<std::string, int>::at", 0 },
	{ "std::set<int, std::less<void>, std::allocator<int> >::f()",
	  "std::set<int, std::less<void>>::f", 0 },
	{ "std::unordered_map<int, A, std::hash<int>, std::equal_to<int>, "
	  "std::allocator<std::pair<int const, A> > >::f()",
	  "std::unordered_map<int, A>::f", 0 },
	{ "std::unique_ptr<A [], std::default_delete<A []> >::reset()",
	  "std::unique_ptr<A []>::reset", 0 },
	{ "std::priority_queue<int, std::vector<int, std::allocator<int> >, "
	  "std::less<int> >::top() const",
	  "std::priority_queue<int>::top", 0 },
	{ "std::pair<int, std::vector<int, std::allocator<int> > >::f()",
	  "std::pair<int, std::vector<int>>::f", 0 },
	{ "f<" A20 A20 ">", NULL, 0 },
	{ "f<" A20 A20 "a>", "f<...>", 0 },
	{ "f<" A20 A20 "a>", NULL, SHORT_KEEP_ARGS },
	{ "A<" A20 ", " A20 ">::f<int>()", "A<...>::f<int>", 0 },
	{ "f<(a)60, (bool)1, &(g(int))>(int)", "f<(a)60, (bool)1, &(g(int))>",
	  0 },
	{ "f<>()", "f<>", 0 },
	{ "std::__1::vector<int>::f()", "std::vector<int>::f", 0 },
	/* operators */
	{ "operator new(unsigned long)", "operator new", 0 },
	{ "operator delete[](void*)", "operator delete[]", 0 },
	{ "A::operator()(int) const", "A::operator()", 0 },
	{ "A::operator()<int>(int) const", "A::operator()<int>", 0 },
	{ "A::operator->() const", "A::operator->", 0 },
	{ "A::operator->*(int) const", "A::operator->*", 0 },
	{ "A::operator<(A const&) const", "A::operator<", 0 },
	{ "bool operator< <int>(A<int> const&, int)", "operator< <int>", 0 },
	{ "A::operator<=>(A const&) const", "A::operator<=>", 0 },
	{ "A::operator>>=(int)", "A::operator>>=", 0 },
	{ "A::operator[](int)", "A::operator[]", 0 },
	{ "A operator-<int>(A, int)", "operator-<int>", 0 },
	{ "operator,(A, B)", "operator,", 0 },
	{ "operator\"\" _km(long double)", "operator\"\" _km", 0 },
	{ "A::operator bool() const", "A::operator bool", 0 },
	{ "A::operator unsigned long() const", "A::operator unsigned long", 0 },
	{ "A::operator char const*() const", "A::operator char const*", 0 },
	{ "A::operator " STRING "() const", "A::operator std::string", 0 },
	{ "A::operator void (*)(int)() const", "A::operator void (*)(int)", 0 },
	{ "A::operator newtype() const", "A::operator newtype", 0 },
	{ "calc::operator::eval(int)", "calc::operator::eval", 0 },
	{ "my_operator(int)", "my_operator", 0 },
	/* inside of other functions */
	{ "main::{lambda(int, A<char>)#2}::operator()(int, A<char>) const",
	  "main::{lambda#2}", 0 },
	{ "f(int) const::{lambda()#1}::operator()() const", "f::{lambda#1}",
	  0 },
	{ "auto f<int>(int)::{lambda(auto:1)#1}::operator()<char>(char) const",
	  "f<int>::{lambda#1}<char>", 0 },
	{ "f(int)::{lambda(int)#1}::_FUN(int)", "f::{lambda#1}::_FUN", 0 },
	{ "f(int)::Local::g(char)", "f::Local::g", 0 },
	{ "f(int)::Local::g(char)", NULL, SHORT_KEEP_PARAMS },
	{ "void run<f(int)::{lambda(char)#1}>(f(int)::{lambda(char)#1}&&)",
	  "run<f::{lambda#1}>", 0 },
	{ "{unnamed type#1}::f()", "{unnamed type#1}::f", 0 },
	{ "(anonymous namespace)::f(int)", "(anon)::f", 0 },
	{ "n::(anonymous namespace)::f((anonymous namespace)::A)",
	  "n::(anon)::f", 0 },
	/* not functions themselves */
	{ "non-virtual thunk to A::f(int)", "non-virtual thunk to A::f", 0 },
	{ "guard variable for f(int)::x", "guard variable for f::x", 0 },
	{ "vtable for std::vector<int, std::allocator<int> >",
	  "vtable for std::vector<int>", 0 },
	{ "typeinfo name for int (*)(char)", NULL, 0 },
	/* Rust */
	{ "core::fmt::write::h0123456789abcdef", "core::fmt::write", 0 },
	{ "<alloc::vec::Vec<u8,alloc::alloc::Global> as "
	  "core::ops::drop::Drop>::drop::h0123456789abcdef",
	  "alloc::vec::Vec<u8>::drop", 0 },
	{ "<app::A as core::fmt::Debug>::fmt", NULL, SHORT_KEEP_TRAIT },
	{ "<&T as core::fmt::Debug>::fmt", "&T::fmt", 0 },
	{ "<[T] as X>::f", "[T]::f", 0 },
	{ "<(A,B) as X>::f", "(A,B)::f", 0 },
	{ "<F as core::ops::function::FnOnce<(A,)>>::call_once", "F::call_once",
	  0 },
	{ "<fn(A) -> B as X>::f", "fn(A) -> B::f", 0 },
	{ "<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec<u8>::push", 0 },
	{ "core::fmt::num::imp::<impl core::fmt::Display for u32>::fmt",
	  "u32::fmt", 0 },
	{ "alloc::slice::<impl [T]>::sort", "[T]::sort", 0 },
	{ "core::ptr::drop_in_place::<alloc::string::String>",
	  "core::ptr::drop_in_place<alloc::string::String>", 0 },
	{ "core::ptr::drop_in_place<alloc::vec::Vec<<a::B as c::D>::E>>",
	  "core::ptr::drop_in_place<alloc::vec::Vec<a::B::E>>", 0 },
	{ "<script>alert(1)</script>", NULL, 0 },
	{ "app::run::{{closure}}", NULL, 0 },
	{ "app::run::{closure#0}", NULL, 0 },
	{ "a::f::<'<'>::g", "a::f<'<'>::g", 0 },
	{ "std[0123456789abcdef]::rt::lang_start::<()>::{closure#0}",
	  "std::rt::lang_start<()>::{closure#0}", 0 },
	/* Go */
	{ "main.(*Tree).Insert", NULL, 0 },
	{ "github.com/a/b.(*C).D.func1", NULL, 0 },
	{ "main.Map[go.shape.int]", NULL, 0 },
	{ "main.Map[go.shape." A20 A20 "]", "main.Map[...]", 0 },
	{ "main.(*S[...]).Push", NULL, 0 },
	{ "type..eq.struct { F func(int); s string }", NULL, 0 },
	/* D, Objective-C, and what looks like code */
	{ "void std.stdio.writeln!(int).writeln(int)",
	  "std.stdio.writeln!(int).writeln", 0 },
	{ "-[NSFoo bar:baz:]", NULL, 0 },
	{ "LazyCompile:*f /srv/a.js:10:5", NULL, 0 },
	{ "JS:*f /srv/a(1).js:10:5", NULL, 0 },
	{ "JS:~(anonymous) /srv/a.js:10:5", NULL, 0 },
	{ "Function:~<anonymous> /srv/a.js:10:5", NULL, 0 },
	{ "int32 [Core] System.String::Foo(int32)[Tier0]", NULL, 0 },
	{ "Ljava/util/A;::apply", NULL, 0 },
	{ "[python] int f<int>(int)", "[python] f<int>", 0 },
	/* no demangler's */
	{ "(", NULL, 0 },
	{ ")", NULL, 0 },
	{ "()", NULL, 0 },
	{ "<>", NULL, 0 },
	{ ">", NULL, 0 },
	{ " ", NULL, 0 },
	{ "f(", NULL, 0 },
	{ "f(int", NULL, 0 },
	{ "f<(>)", "f<", 0 },
	{ "f)(", NULL, 0 },
	{ "a<b(c>d)", NULL, SHORT_KEEP_PARAMS },
	{ "operator", NULL, 0 },
	{ "operator ", NULL, 0 },
	{ "operator<", NULL, 0 },
	{ "{lambda", NULL, 0 },
	{ "{lambda}", NULL, 0 },
	{ "{lambda#}", NULL, 0 },
	{ "<impl >", "<impl>", SHORT_KEEP_TRAIT },
	{ " as ", NULL, 0 },
	{ "::", NULL, 0 },
	{ "std::vector<int, std::allocator<", NULL, 0 },
};

static const char *short_of(const char *name, unsigned int keep)
{
	static char buf[70000];

	memset(buf, 'Z', sizeof(buf));
	short_name(name, keep, buf);
	ck_assert_uint_le(strlen(buf), strlen(name));
	ck_assert_int_eq(!*name, !*buf);
	return buf;
}

START_TEST(only_what_people_do_not_need_is_left_out)
{
	const char *want = short_cases[_i].want;

	ck_assert_str_eq(short_of(short_cases[_i].name, short_cases[_i].keep),
			 want ? want : short_cases[_i].name);
}
END_TEST

START_TEST(deep_brackets_end)
{
	static char name[60001];

	for (const char *c = "(<[{)>]}"; *c; c++) {
		memset(name, *c, 19000);
		name[19000] = 0;
		short_of(name, 0);
		short_of(name, SHORT_KEEP_ALL);
	}
	memset(name, '<', 9000);
	memset(name + 9000, '>', 9000);
	name[0] = 'f';
	name[18000] = 0;
	ck_assert_uint_lt(strlen(short_of(name, 0)), 100);
	ck_assert_uint_lt(strlen(short_of(name, SHORT_KEEP_ARGS)), 100);
	/* longer than any demangled name */
	memset(name, 'f', 60000);
	name[30000] = '(';
	name[59999] = ')';
	name[60000] = 0;
	ck_assert_str_eq(short_of(name, 0), name);
}
END_TEST

START_TEST(cut_names_are_shortened_without_reading_on)
{
	for (size_t i = 0; i < sizeof(short_cases) / sizeof(*short_cases); i++)
		for (size_t len = strlen(short_cases[i].name); len; len--) {
			char *name = strndup(short_cases[i].name, len);

			short_of(name, 0);
			short_of(name + strlen(name) - len / 2,
				 SHORT_KEEP_ARGS);
			free(name);
		}
}
END_TEST

static const struct run_table tables[] = {
	RUN_TABLE(only_what_people_do_not_need_is_left_out, short_cases),
};

RUN_TABLES("short_name", tables, deep_brackets_end,
	   cut_names_are_shortened_without_reading_on)
