/* library.c - functions of the standard libraries are told by their names. */
#include "analyze/names/library.h"
#include "analyze/names/name_opts.h"
#include "stitch/base/err.h"
#include "tests/unit/run.h"

static const struct {
	const char *name;
	bool is;
} library_cases[] = {
	{ "std::sort", true },
	{ "void std::swap<int>(int&, int&)", true },
	{ "std::vector<a::b, c<d> >::push_back(a::b const&)", true },
	{ "std::enable_if<(x)1, void>::type std::swap<char>(char&, char&)",
	  true },
	{ "bool __gnu_cxx::__ops::_Iter::operator()<int*, int*>(int*) const",
	  true },
	{ "bool std::operator< <char>(std::string const&)", true },
	{ "__gthread_mutex_lock", true },
	{ "core::ptr::drop_in_place<app::Thing>", true },
	{ "alloc::vec::Vec<T,A>::push", true },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", true },
	{ "<&mut core::str::Chars as core::iter::Iterator>::next", true },
	{ "<usize as core::iter::range::Step>::forward", true },
	{ "runtime.mallocgc", true },
	/* these are not */
	{ "main", false },
	{ "", false },
	{ "stdlib_call", false },
	{ "a::std::f()", false },
	{ "std::vector<int>* app::make()", false },
	{ "std::string app::name(std::string const&)", false },
	{ "unsigned long app::f<std::vector<int> >(std::vector<int>&)", false },
	{ "(anonymous namespace)::sort(std::string&)", false },
	{ "app::operator<<(std::ostream&, app::x const&)", false },
	{ "app::x::operator std::string() const", false },
	{ "app::run(std::function<void ()>)::{lambda(std::string)#1}"
	  "::operator()(std::string) const",
	  false },
	{ "<app::Thing as core::fmt::Display>::fmt", false },
	{ "<core::x", true },
	{ "app.runtime.f", false },
	{ "main.(*T).runtime", false },
};

START_TEST(only_names_of_libraries_are_of_a_library)
{
	struct err err = { 0 };
	struct library *l = library_new(&(struct name_opts){ 0 }, &err);

	ck_assert_ptr_nonnull(l);
	for (size_t i = 0; i < sizeof(library_cases) / sizeof(*library_cases);
	     i++)
		ck_assert_msg(library_has(l, library_cases[i].name) ==
				      library_cases[i].is,
			      "%s", library_cases[i].name);
	library_free(l);
}
END_TEST

RUN("library", only_names_of_libraries_are_of_a_library)
