/* library.c - which functions are of a standard library. */
#include "analyze/names/library.h"

#include "analyze/names/name_opts.h"
#include "analyze/names/pattern.h"
#include "stitch/base/mem.h"

struct library {
	bool more; /* regex is that of names->library; false: there is none */
	regex_t regex;
};

bool library_folds(const struct name_opts *names)
{
	return names->fold_library || names->library;
}

struct library *library_new(const struct name_opts *names, struct err *err)
{
	struct library *l = mem_new(1, sizeof(*l));

	l->more = names->library;
	if (!l->more ||
	    !pattern_compile(&l->regex, "library", names->library, err))
		return l;
	free(l);
	return NULL;
}

void library_free(struct library *l)
{
	if (l && l->more)
		regfree(&l->regex);
	free(l);
}

static bool library_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Returns the name without the return type that C++ puts before that of a
 * template's instance: what follows the last space before the parameters that
 * is in no brackets. */
static const char *library_bare_name(const char *name)
{
	const char *start = name;
	int depth = 0;

	for (const char *s = name; *s; s++) {
		bool first = s == start;

		if (!depth && library_begins(s, "operator"))
			return start; /* "operator new", "operator<" */
		if (first && library_begins(s, "(anonymous namespace)"))
			s += strlen("(anonymous namespace)") - 1;
		else if (!depth && *s == '(' && !first)
			return start;
		else if (strchr("<([{", *s))
			depth++;
		else if (strchr(">)]}", *s) && depth)
			depth--;
		else if (!depth && *s == ' ' && !library_begins(s, " ["))
			start = s + 1;
	}
	/* without parameters, spaces are part of the name */
	return strchr(name, '(') ? start : name;
}

static bool library_is_standard(const char *name)
{
	static const char *const begins[] = {
		"std::",  "__gnu_cxx::", "__gthread_",
		"core::", "alloc::",	 "runtime.",
	};

	return any_where(ARRAY_SIZE(begins), i,
			 library_begins(name, begins[i]));
}

bool library_has(const struct library *l, const char *name)
{
	const char *bare = name[0] == '<' ? name : library_bare_name(name);

	if (l->more && !regexec(&l->regex, bare, 0, NULL, 0))
		return true;
	if (bare[0] == '<') {
		size_t type = strspn(bare, "<&*[(");

		type += library_begins(bare + type, "mut ") ? strlen("mut ")
							    : 0;
		const char *as = strstr(bare, " as ");
		const char *end = as ? as : bare + strlen(bare);
		const char *path = strstr(bare, "::");

		if (library_is_standard(bare + type))
			return true;
		return as && (!path || path > end) &&
		       library_is_standard(as + strlen(" as "));
	}
	return library_is_standard(bare);
}
