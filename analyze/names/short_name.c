/* short_name.c - the short form of the name of a function, for people, and how
 * the short names of one output are told apart.
 *
 * One pass finds for each bracket the one that closes it, a second one copies
 * what is wanted. Demanglers print no grammar that could be parsed in full
 * (expressions, return types around a name), so only what is certain is left
 * out: a return type only before a name with parameters. */
#include "analyze/names/short_name.h"

#include <stdbool.h>

#include "analyze/names/name_opts.h"
#include "analyze/names/suffix.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/symbol.h"

/* Longer names stay as they are: demangle_name() makes none. */
#define SHORT_NAME_MAX 20000
/* Deeper brackets are "...". */
#define SHORT_DEPTH_MAX 40

struct shortening {
	const char *s; /* the name, of len bytes */
	size_t len;
	unsigned int keep; /* a sum of enum short_keep */
	unsigned int depth;
	/* By place of an opening bracket: where it is closed, 0 if nowhere.
	 * While it is open: 1 + the place of the one around it. Else not
	 * set. */
	uint16_t close[SHORT_NAME_MAX];
	char *out; /* has n bytes so far, and room for `room` */
	size_t n, room;
};

static void short_types(struct shortening *sh, size_t b, size_t e);
static void short_entity(struct shortening *sh, size_t b, size_t e);

static bool short_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c & 0x80;
}

/* Returns whether the text at i begins with this word or symbol. */
static bool short_at(const struct shortening *sh, size_t i, const char *text)
{
	size_t len = strlen(text);

	return len <= sh->len - i && !memcmp(sh->s + i, text, len);
}

/* Returns whether what was written ends in this text. */
static bool short_ends(const struct shortening *sh, const char *text)
{
	size_t len = strlen(text);

	return len <= sh->n && !memcmp(sh->out + sh->n - len, text, len);
}

/* Writes text. The output never gets longer than the name. */
static void short_put(struct shortening *sh, const char *text, size_t len)
{
	lower_to(len, sh->room - sh->n);
	memmove(sh->out + sh->n, text, len);
	sh->n += len;
}

static void short_puts(struct shortening *sh, const char *text)
{
	short_put(sh, text, strlen(text));
}

/* Returns the length of "operator" and the symbols after it that have brackets
 * or spaces; 0 if there is none here. */
static size_t short_operator(const struct shortening *sh, size_t i)
{
	/* a symbol comes before shorter ones that it begins with */
	static const char *const symbol[] = {
		"()",	"[]",	     "<=>",	"<<=",	     ">>=",
		"->*",	"->",	     "<<",	">>",	     "<=",
		">=",	"<",	     ">",	"\"\" ",     " new[]",
		" new", " delete[]", " delete", " co_await", NULL
	};

	if (sh->s[i] != 'o' || !short_at(sh, i, "operator") ||
	    (i && short_is_word(sh->s[i - 1])))
		return 0;
	for (size_t k = 0; symbol[k]; k++) {
		size_t end = i + strlen("operator") + strlen(symbol[k]);

		if (short_at(sh, i + strlen("operator"), symbol[k]) &&
		    (symbol[k][0] != ' ' || !short_is_word(sh->s[end])))
			return end - i;
	}
	return 0;
}

/* Pairs the closing bracket at i with an open one. top is 1 + the place of the
 * innermost open one. Returns the new top. */
static size_t short_close(struct shortening *sh, size_t top, size_t i)
{
	static const char pair[] = "()<>[]{}";
	char want = strchr(pair, sh->s[i])[-1];
	size_t at = top;

	/* "->", and "(a > b)" */
	if (want == '<' &&
	    (!top || sh->s[top - 1] != '<' || sh->s[i - 1] == '-'))
		return top;
	/* "(a < b)" */
	while (at && sh->s[at - 1] != want && sh->s[at - 1] == '<')
		at = sh->close[at - 1];
	if (!at || sh->s[at - 1] != want)
		return top;
	while (top != at) {
		size_t outer = sh->close[top - 1];

		sh->close[top - 1] = 0;
		top = outer;
	}
	top = sh->close[at - 1];
	sh->close[at - 1] = (uint16_t)i;
	return top;
}

/* Returns where the bracket that opens at i closes; 0 if none does. */
static size_t short_closed(const struct shortening *sh, size_t i)
{
	char c = sh->s[i];

	if (c != '(' && c != '<' && c != '[' && c != '{')
		return 0;
	return sh->close[i];
}

/* Returns where text is between b and e, outside of brackets; e: nowhere. */
static size_t short_find(const struct shortening *sh, size_t b, size_t e,
			 const char *text)
{
	for (size_t i = b; i < e; i++) {
		size_t close = short_closed(sh, i);

		if (close)
			i = close;
		else if (i + strlen(text) <= e && short_at(sh, i, text))
			return i;
	}
	return e;
}

/* Writes the brackets at open and close, and the types between them. */
static void short_inside(struct shortening *sh, size_t open, size_t close)
{
	short_put(sh, &sh->s[open], 1);
	if (sh->depth < SHORT_DEPTH_MAX) {
		sh->depth++;
		short_types(sh, open + 1, close);
		sh->depth--;
	} else if (close - open > strlen("...")) {
		short_puts(sh, "...");
	}
	short_put(sh, &sh->s[close], 1);
}

/* Returns the place after parameters that close at i, and their qualifiers. */
static size_t short_after(const struct shortening *sh, size_t i)
{
	static const char *const word[] = { " const",	 " volatile",
					    " restrict", " noexcept",
					    " &&",	 " &",
					    NULL };
	size_t k = 0;

	for (i++; word[k]; k++)
		if (short_at(sh, i, word[k]) &&
		    !short_is_word(sh->s[i + strlen(word[k])])) {
			i += strlen(word[k]);
			k = (size_t)-1;
		}
	return short_at(sh, i, " requires ") ? sh->len : i;
}

/* Returns whether the text at i can follow the parameters of a function: the
 * end, the name of something inside of it, or a mark of the linker. */
static bool short_may_follow(const struct shortening *sh, size_t i, size_t e)
{
	return i >= e || short_at(sh, i, "::") || sh->s[i] == '@';
}

/* Default arguments of templates: the template `name` with the first argument
 * or, if any is set, with anything. */
static const struct {
	const char *name;
	const char *of; /* only as an argument of this template; NULL: of any */
	bool any;
} defaults[] = {
	{ "std::allocator<", NULL, true },
	{ "std::less<", NULL, false },
	{ "std::hash<", NULL, false },
	{ "std::equal_to<", NULL, false },
	{ "std::char_traits<", NULL, false },
	{ "std::regex_traits<", NULL, false },
	{ "std::default_delete<", NULL, false },
	{ "std::deque<", "std::queue<", false },
	{ "std::deque<", "std::stack<", false },
	{ "std::vector<", "std::priority_queue<", false },
	{ "alloc::alloc::Global", NULL, true },
	{ "std::hash::random::RandomState", NULL, true },
	{ "std::collections::hash::map::RandomState", NULL, true },
};

/* Returns whether the argument that was written at `arg` is a default of the
 * template whose first argument was written at `first`, of len bytes. */
static bool short_is_default(const struct shortening *sh, size_t first,
			     size_t len, size_t arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		const char *of = defaults[i].of;
		size_t n = strlen(defaults[i].name);

		if (sh->n - arg < n ||
		    memcmp(sh->out + arg, defaults[i].name, n) ||
		    (of &&
		     (first < strlen(of) ||
		      memcmp(sh->out + first - strlen(of), of, strlen(of)))))
			continue;
		if (defaults[i].any ||
		    (sh->n - arg == n + len + 1 &&
		     !memcmp(sh->out + arg + n, sh->out + first, len)))
			return true;
	}
	return false;
}

/* Writes the template arguments between the brackets open and close. */
static void short_args(struct shortening *sh, size_t open, size_t close)
{
	size_t first_len = 0;

	if (sh->depth >= SHORT_DEPTH_MAX) {
		short_inside(sh, open, close);
		return;
	}
	sh->depth++;
	short_puts(sh, "<");

	size_t args = sh->n;
	size_t kept = args; /* the end of the last that is no default */

	for (size_t b = open + 1, first = b; b < close;) {
		size_t e = short_find(sh, b, close, ",");
		bool next = b > first;

		while (b < e && sh->s[b] == ' ')
			b++;
		if (next)
			short_put(sh, ", ", sh->s[b - 1] == ' ' ? 2 : 1);
		size_t arg = sh->n;
		short_types(sh, b, e);
		while (sh->n > arg && sh->out[sh->n - 1] == ' ')
			sh->n--;
		if (!next)
			first_len = sh->n - args;
		if (!next || !short_is_default(sh, args, first_len, arg))
			kept = sh->n;
		b = e + 1;
	}
	sh->depth--;
	sh->n = kept;
	/* Turns "std::basic_string<char" into "std::string", and the like.
	 * `args` is where the arguments were written, after "<". */
	static const struct {
		const char *type, *prefix;
	} of[] = {
		{ "char", "" },	       { "wchar_t", "w" },
		{ "char8_t", "u8" },   { "char16_t", "u16" },
		{ "char32_t", "u32" },
	};
	static const char basic[] = "std::basic_";
	size_t name = args - 1;
	size_t len = strlen(basic);

	while (name && short_is_word(sh->out[name - 1]))
		name--;
	if (name >= strlen("std::") && args - name > len - strlen("std::") &&
	    !memcmp(sh->out + name - strlen("std::"), basic, len)) {
		for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
			size_t rest = name + len - strlen("std::");
			char tail[64];
			size_t n = args - 1 - rest;

			if (sh->n - args != strlen(of[i].type) ||
			    n >= sizeof(tail) ||
			    memcmp(sh->out + args, of[i].type, sh->n - args))
				continue;
			memcpy(tail, sh->out + rest, n);
			sh->n = name;
			short_puts(sh, of[i].prefix);
			short_put(sh, tail, n);
			return;
		}
	}
	if (sh->n - args > SHORT_ARGS_MAX && !(sh->keep & SHORT_KEEP_ARGS)) {
		sh->n = args;
		short_puts(sh, "...");
	}
	short_puts(sh, ">");
}

/* Writes T for "<T as Trait>", "<T>" or "<impl Trait for T>", as a path
 * begins. */
static void short_self(struct shortening *sh, size_t open, size_t close)
{
	size_t b = open + 1;
	size_t as = short_find(sh, b, close, " as ");

	if (short_at(sh, b, "impl ")) {
		b = short_find(sh, b, close, " for ");
		b = b < close ? b + strlen(" for ") : open + 6;
		/* the path says in which module the code of T is */
		while (sh->n && (short_is_word(sh->out[sh->n - 1]) ||
				 sh->out[sh->n - 1] == ':'))
			sh->n--;
	}
	if (sh->depth >= SHORT_DEPTH_MAX) {
		short_inside(sh, open, close);
		return;
	}
	sh->depth++;
	short_types(sh, b, as);
	sh->depth--;
}

/* Returns how many bytes at i, where a word begins, are left out: an inline
 * namespace of a standard library, or "basic_" of a constructor whose class was
 * written without. */
static size_t short_word_skip(const struct shortening *sh, size_t i)
{
	static const char *const space[] = { "__cxx11::", "__1::", "_V2::",
					     "__ndk1::", NULL };
	static const char basic[] = "basic_";
	size_t n = sh->n;
	size_t len;

	if (n && sh->out[n - 1] == '~')
		n--;
	if (n < 2 || sh->out[n - 1] != ':' || sh->out[n - 2] != ':')
		return 0;
	for (size_t k = 0; space[k]; k++)
		if (short_at(sh, i, space[k]))
			return strlen(space[k]);
	if (!short_at(sh, i, basic))
		return 0;
	i += strlen(basic);
	for (len = 0; i + len < sh->len && short_is_word(sh->s[i + len]);)
		len++;
	n -= 2;
	return n > len && !memcmp(sh->out + n - len, sh->s + i, len) &&
			       !short_is_word(sh->out[n - len - 1])
		       ? strlen(basic)
		       : 0;
}

/* Writes what is at i and returns the place after it: a bracket and all that
 * is in it, an operator, or a byte. */
static size_t short_step(struct shortening *sh, size_t i, size_t e)
{
	size_t close = short_closed(sh, i);
	size_t len = close ? 0 : short_operator(sh, i);

	if (close >= e)
		close = 0;
	if (close && sh->s[i] == '<') {
		bool path = short_at(sh, close + 1, "::") &&
			    (!sh->n || short_at(sh, i + 1, "impl ") ||
			     strchr("(<[{, &*", sh->out[sh->n - 1]) ||
			     short_find(sh, i + 1, close, " as ") < close);

		/* "a::b::<T>" are arguments too, which are written "a::b<T>" */
		if (!path && short_ends(sh, "::"))
			sh->n -= 2;
		if (!path)
			short_args(sh, i, close);
		else if (sh->keep & SHORT_KEEP_TRAIT)
			short_inside(sh, i, close);
		else
			short_self(sh, i, close);
		return close + 1;
	}
	if (close && sh->s[i] == '{') {
		/* Writes "{lambda(int)#1}" as "{lambda#1}", and other things
		 * in braces. */
		static const char call[] = "::operator()";
		size_t types = i + strlen("{lambda");

		if (!short_at(sh, i, "{lambda") || types >= close ||
		    sh->keep & SHORT_KEEP_PARAMS) {
			short_inside(sh, i, close);
			return close + 1;
		}
		size_t end = short_find(sh, types, close, "#");
		short_puts(sh, "{lambda");
		short_put(sh, sh->s + end, close + 1 - end);
		return short_at(sh, close + 1, call) ? close + strlen(call) + 1
						     : close + 1;
	}
	if (close && sh->s[i] == '[') {
		size_t n = sh->n;

		if (short_at(sh, i, "[abi:") && !(sh->keep & SHORT_KEEP_CLONE))
			return close + 1;
		short_inside(sh, i, close);
		/* type arguments of Go */
		if (i && (short_is_word(sh->s[i - 1])) &&
		    sh->n - n > SHORT_ARGS_MAX &&
		    !(sh->keep & SHORT_KEEP_ARGS)) {
			sh->n = n;
			short_puts(sh, "[...]");
		}
		return close + 1;
	}
	if (close) {
		size_t behind = short_after(sh, close);

		if (short_at(sh, i, "(anonymous namespace)")) {
			short_puts(sh, "(anon)");
			return close + 1;
		}
		/* parameters of the function around a local type or a lambda */
		if (behind < e && short_at(sh, behind, "::") && i &&
		    !strchr(" .!,&*:(<", sh->s[i - 1]) &&
		    !(sh->keep & SHORT_KEEP_PARAMS))
			return behind;
		short_inside(sh, i, close);
		return close + 1;
	}
	if (short_is_word(sh->s[i]) && (!i || !short_is_word(sh->s[i - 1])) &&
	    short_word_skip(sh, i))
		return i + short_word_skip(sh, i);
	/* "> >" */
	if (sh->s[i] == ' ' && i + 1 < sh->len && sh->s[i + 1] == '>' &&
	    short_ends(sh, ">"))
		return i + 1;
	if (!len || i + len > e)
		len = 1;
	short_put(sh, sh->s + i, len);
	return i + len;
}

/* Writes types, expressions and other text between b and e. */
static void short_types(struct shortening *sh, size_t b, size_t e)
{
	while (b < e)
		b = short_step(sh, b, e);
}

/* Returns where the parameters of the conversion operator begin whose type is
 * at i; e if it has none. */
static size_t short_converted(const struct shortening *sh, size_t i, size_t e)
{
	for (; i < e; i++) {
		size_t close = short_closed(sh, i);

		if (close && sh->s[i] == '(' &&
		    short_may_follow(sh, short_after(sh, close), e))
			return i;
		if (close)
			i = close;
	}
	return e;
}

/* Returns whether the parameters of the function open at i. Its name was
 * written from `name` on. */
static bool short_is_params(const struct shortening *sh, size_t i, size_t e,
			    size_t name)
{
	size_t close = short_closed(sh, i);

	return sh->s[i] == '(' && close && close < e && sh->n > name &&
	       !strchr(".!:", sh->out[sh->n - 1]) &&
	       (sh->out[sh->n - 1] != ')' || short_ends(sh, "operator()")) &&
	       !short_at(sh, i, "(anonymous namespace)") &&
	       short_may_follow(sh, short_after(sh, close), e);
}

/* Writes the parameters at i, if wanted, and returns the place after them. */
static size_t short_params(struct shortening *sh, size_t i, size_t e)
{
	size_t close = sh->close[i];
	size_t behind = short_after(sh, close);

	lower_to(behind, e);
	if (sh->keep & SHORT_KEEP_PARAMS) {
		short_inside(sh, i, close);
		short_put(sh, sh->s + close + 1, behind - close - 1);
	}
	return behind;
}

/* If the name of a function is inside the brackets at i, writes it in place of
 * all that was written from start on, and returns true: "void (*f(int))(char)"
 * is an f that returns a pointer to a function. */
static bool short_returns_function(struct shortening *sh, size_t i, size_t e,
				   size_t start)
{
	size_t close = short_closed(sh, i);
	size_t b = i + 1;

	if (sh->s[i] != '(' || !close || close + 1 >= e ||
	    (sh->s[close + 1] != '(' && sh->s[close + 1] != '[') ||
	    (sh->s[b] != '*' && sh->s[b] != '&') ||
	    sh->depth >= SHORT_DEPTH_MAX)
		return false;
	while (b < close && strchr("*& ", sh->s[b]))
		b++;
	if (b == close)
		return false;
	sh->n = start;
	sh->depth++;
	short_entity(sh, b, close);
	sh->depth--;
	return true;
}

/* The words of a function, by their places in the output. */
struct short_words {
	size_t start; /* of the first that may be left out */
	size_t name;  /* of the last */
	bool params;  /* the last one had parameters */
};

/* Writes the space at i, and a conversion operator's type or an operator's
 * arguments after it. Returns the place after what was written. */
static size_t short_space(struct shortening *sh, size_t i, size_t e,
			  struct short_words *w)
{
	static const char operator_word[] = "operator";
	size_t len = sh->n - w->name;
	/* "non-virtual thunk to ", "guard variable for ", "[python] " */
	bool what = (len == 2 && short_ends(sh, "to")) ||
		    (len == 3 && short_ends(sh, "for")) ||
		    (len && sh->out[w->name] == '[' && short_ends(sh, "]"));

	if (short_ends(sh, operator_word) &&
	    (len == strlen(operator_word) ||
	     !short_is_word(sh->out[sh->n - strlen(operator_word) - 1]))) {
		size_t params = short_converted(sh, i + 1, e);

		short_puts(sh, " ");
		short_types(sh, i + 1, params);
		w->params = params < e;
		return params < e ? short_params(sh, params, e) : e;
	}
	/* "operator<< <int>" */
	if (i + 1 < e && sh->s[i + 1] == '<' && short_closed(sh, i + 1)) {
		short_puts(sh, " ");
		short_args(sh, i + 1, sh->close[i + 1]);
		return (size_t)sh->close[i + 1] + 1;
	}
	if (i + 1 >= e || sh->s[i + 1] != '>')
		short_puts(sh, " ");
	w->name = sh->n;
	w->params = false;
	if (what)
		w->start = sh->n;
	return i + 1;
}

/* Writes the function between b and e without its return type, and without
 * parameters unless they are kept. */
static void short_entity(struct shortening *sh, size_t b, size_t e)
{
	struct short_words w = { .start = sh->n, .name = sh->n };

	for (size_t i = b; i < e;) {
		if (sh->s[i] == ' ') {
			i = short_space(sh, i, e, &w);
		} else if (sh->n == w.name &&
			   short_returns_function(sh, i, e, w.start)) {
			return;
		} else if (short_is_params(sh, i, e, w.name)) {
			w.params = true;
			i = short_params(sh, i, e);
		} else {
			i = short_step(sh, i, e);
		}
	}
	if (w.params && w.name > w.start && sh->n > w.name) {
		memmove(sh->out + w.start, sh->out + w.name, sh->n - w.name);
		sh->n -= w.name - w.start;
	}
}

const char *short_name_script(const char *name, size_t *len)
{
	if (strncmp(name, "JS:", 3) != 0)
		return NULL;
	name += 3 + strspn(name + 3, "~^+*");
	*len = strcspn(name, " ");
	return *len ? name : NULL;
}

/* A file has a dot or a slash, and the parameters of "bar (int)" have not. */
size_t short_name_base(const char *name)
{
	size_t len = strlen(name);
	const char *open = strrchr(name, '(');

	if (!open || open - name < 2 || open[-1] != ' ' || name[len - 1] != ')')
		return len;
	/* LLVM's demangler writes "f() (.cold)" */
	if (strncmp(open + 1, "+0x", 3) != 0 &&
	    strcmp(open + 1, "several functions)") != 0 &&
	    (open[1] == '.' || !strpbrk(open, "./") ||
	     strpbrk(open, "*&<>[]{}, ")))
		return len;
	return (size_t)(open - 1 - name);
}

/* Writes the short form of the first len bytes of a name, and a 0. */
static void short_name_of(const char *name, size_t len, unsigned int keep,
			  char *buf)
{
	struct shortening sh;
	char copy[SHORT_NAME_MAX];

	memcpy(buf, name, len);
	buf[len] = 0;
	if (len >= sizeof(copy))
		return;
	if (!(keep & SHORT_KEEP_CLONE))
		suffix_remove(buf, OF_COMPILER);
	if (!strpbrk(buf, "(<[{: "))
		return;
	memcpy(copy, buf, len + 1);

	const char *clone = strstr(copy, " [clone ");

	sh.s = copy;
	sh.len = clone ? (size_t)(clone - copy) : strlen(copy);
	sh.keep = keep;
	sh.depth = 0;
	sh.out = buf;
	sh.n = 0;
	sh.room = len;
	/* Finds what closes each bracket. */
	size_t top = 0;
	size_t skip;

	memset(sh.close, 0, sh.len * sizeof(*sh.close));
	for (size_t i = 0; i < sh.len; i += skip ? skip : 1) {
		char c = sh.s[i];

		skip = short_operator(&sh, i);
		/* a character as an argument of a Rust function */
		if (c == '\'' && i + 2 < sh.len && sh.s[i + 2] == '\'')
			skip = 3;
		if (skip)
			continue;
		if (c == '(' || c == '<' || c == '[' || c == '{') {
			sh.close[i] = (uint16_t)top;
			top = i + 1;
		} else if (c == ')' || c == '>' || c == ']' || c == '}') {
			top = short_close(&sh, top, i);
		}
	}
	while (top) {
		size_t outer = sh.close[top - 1];

		sh.close[top - 1] = 0;
		top = outer;
	}
	short_entity(&sh, 0, sh.len);
	if (clone)
		short_puts(&sh, clone);
	buf[sh.n] = 0;
	if (!sh.n)
		memcpy(buf, copy, len + 1);
}

void short_name(const char *name, unsigned int keep, char *buf)
{
	size_t base = short_name_base(name);
	const size_t sep = strlen(FOLDED_NAMES);

	/* each name of functions that have one code */
	for (const char *at; (at = memmem(name, base, FOLDED_NAMES, sep));) {
		short_name_of(name, (size_t)(at - name), keep, buf);
		buf = stpcpy(buf + strlen(buf), FOLDED_NAMES);
		base -= (size_t)(at - name) + sep;
		name = at + sep;
	}
	short_name_of(name, base, keep, buf);
	memcpy(buf + strlen(buf), name + base, strlen(name + base) + 1);
}

/* What is kept of a name at each level, which rises while names are equal. */
static const unsigned int shown_keep[] = {
	0,
	SHORT_KEEP_CLONE,
	SHORT_KEEP_TRAIT,
	SHORT_KEEP_ARGS,
	SHORT_KEEP_PARAMS,
	SHORT_KEEP_ARGS | SHORT_KEEP_PARAMS,
	SHORT_KEEP_ALL,
};

#define SHOWN_FULL ARRAY_SIZE(shown_keep)
/* A name that got longer may be equal to another that was unique. Names that
 * were made up to repeat this without end are shown in full. */
#define SHOWN_ROUNDS (2 * SHOWN_FULL)

struct shown_names {
	struct intern names;
	const char **shown; /* by id in names; NULL: the full name */
	size_t n;
};

struct shown_name {
	const char *full, *text;
	size_t level;  /* index in shown_keep; SHOWN_FULL: the full name */
	uint32_t same; /* names of one text have one number */
};

/* Sets the level and the text of a name; a shorter text is in the arena. */
static void shown_take_level(struct shown_name *s, size_t level,
			     struct arena *text)
{
	s->level = level;
	s->text = s->full;
	if (level == SHOWN_FULL)
		return;
	char *buf = mem_new(strlen(s->full) + 1, 1);
	short_name(s->full, shown_keep[level], buf);
	if (strcmp(buf, s->full))
		s->text = arena_strdup(text, buf);
	free(buf);
}

/* Numbers the texts, and stores in count[] how many names have each number.
 * Returns whether any are equal. count[] has room for n. */
static bool shown_count(struct shown_name *s, size_t n, uint32_t *count)
{
	struct intern texts = { 0 };

	memset(count, 0, n * sizeof(*count));
	for (size_t i = 0; i < n; i++) {
		s[i].same = intern_add(&texts, s[i].text);
		count[s[i].same]++;
	}
	bool equal = texts.n < n;
	intern_release(&texts);
	return equal;
}

struct shown_names *shown_names_new(void)
{
	return mem_new(1, sizeof(struct shown_names));
}

void shown_names_free(struct shown_names *s)
{
	if (!s)
		return;
	intern_release(&s->names);
	free_all(s->shown, s);
}

void shown_names_add(struct shown_names *s, const char *name)
{
	if (name)
		intern_add(&s->names, name);
}

int shown_names_read(struct shown_names *s, const struct name_opts *o,
		     struct store *db, struct err *err)
{
	if (o->full || o->fold_suffixes)
		return 0;
	struct rows *r = rows_of(db, "recorded_names", err);
	while (rows_step(r))
		shown_names_add(s, rows_text(r, RECORDED_NAMES_NAME));
	return rows_end(r, err);
}

void shown_names_make(struct shown_names *of, const struct name_opts *o,
		      struct arena *text)
{
	size_t n = of->names.n;
	struct shown_name *s = mem_new(n, sizeof(*s));
	uint32_t *count = mem_new(n, sizeof(*count));
	struct arena tries = { 0 };

	for (size_t i = 0; i < n; i++) {
		s[i].full = of->names.string[i];
		shown_take_level(&s[i], o->full ? SHOWN_FULL : 0, &tries);
	}
	for (size_t round = 0; shown_count(s, n, count); round++)
		for (size_t i = 0; i < n; i++) {
			if (round >= SHOWN_ROUNDS)
				shown_take_level(&s[i], SHOWN_FULL, &tries);
			else if (count[s[i].same] > 1 &&
				 s[i].level < SHOWN_FULL)
				shown_take_level(&s[i], s[i].level + 1, &tries);
		}
	free(of->shown);
	of->shown = mem_new(n, sizeof(*of->shown));
	of->n = n;
	for (size_t i = 0; i < n; i++)
		if (s[i].text != s[i].full)
			of->shown[i] = arena_strdup(text, s[i].text);
	arena_release(&tries);
	free_all(count, s);
}

const char *shown_names_get(struct shown_names *s, const char *name)
{
	uint32_t id = name ? intern_add(&s->names, name) : 0;

	return name && id < s->n && s->shown[id] ? s->shown[id] : name;
}
