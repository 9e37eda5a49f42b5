/* suffix.c - what compilers add to the name of a function. */
#include "analyze/names/suffix.h"

#include <stdbool.h>

#include "stitch/base/mem.h"

static const char digits[] = "0123456789";
static const char hex_digits[] = "0123456789abcdef";

#define HASH_MIN 8   /* digits of an address or a crate */
#define HASH_RUST 16 /* digits of "::h0123456789abcdef" */

/* A number after this text is generated. */
static const struct {
	const char *text;
	const char *end; /* what may follow the number; NULL: anything */
	enum suffix_of of;
} numbered[] = {
	/* {lambda(int)#2}, {closure#0}, {unnamed type#1} */
	{ "#", "}", OF_BUILD },
	{ "::lambda#", ":", OF_BUILD }, /* made by dwarf.c */
	{ "::$_", NULL, OF_BUILD },
	{ "'lambda", "'", OF_BUILD },
	{ "__anon_", NULL, OF_BUILD },
	/* Go */
	{ ".func", NULL, OF_BUILD },
	{ ".func.", NULL, OF_BUILD },
	{ ".func..", NULL, OF_BUILD },
	{ ".gowrap", NULL, OF_BUILD },
	{ ".deferwrap", NULL, OF_BUILD },
	/* Java: before JDK 15 with another number after a slash */
	{ "Lambda$", NULL, OF_RUN },
	{ "Lambda$/", NULL, OF_RUN },
	{ "LambdaForm$MH/", NULL, OF_RUN },
	{ "LambdaForm$DMH/", NULL, OF_RUN },
	{ "LambdaForm$BMH/", NULL, OF_RUN },
	{ "$Proxy", NULL, OF_RUN },
	{ "jdk.proxy", NULL, OF_RUN },
	{ "jdk/proxy", NULL, OF_RUN },
	{ "GeneratedMethodAccessor", NULL, OF_RUN },
	{ "GeneratedConstructorAccessor", NULL, OF_RUN },
	{ "lambda_method", NULL, OF_RUN }, /* .NET */
	{ "TRACE_", NULL, OF_RUN },	   /* LuaJIT */
};

const char *suffix_tier(const char *name)
{
	/* CodeKindToMarker() of V8 12 */
	static const char *const tier['~' + 1] = { ['~'] = "Ignition",
						   ['^'] = "Sparkplug",
						   ['+'] = "Maglev",
						   ['*'] = "TurboFan" };
	size_t mark = strncmp(name, "JS:", 3) ? 0 : (unsigned char)name[3];

	return mark < ARRAY_SIZE(tier) ? tier[mark] : NULL;
}

/* Returns how many bytes at s are to be left out. `out` has the n bytes of the
 * name that are kept so far. */
static size_t suffix_middle(const char *s, const char *out, size_t n,
			    enum suffix_of of)
{
	size_t len = of ? strspn(s, digits) : 0;

	/* "JS:*f a.js:1:2": the tier, which differs from run to run */
	if (of && n == 3 && s[-1] == ':' && !memcmp(out, "JS:", 3) &&
	    suffix_tier(s - 3))
		return 1;
	if (len && n > 7 && out[n - 1] == '_' && !s[len] &&
	    (!memcmp(out, "julia_", 6) || !memcmp(out, "jfptr_", 6)))
		return len;
	for (size_t i = 0; len && i < ARRAY_SIZE(numbered); i++) {
		size_t k = strlen(numbered[i].text);

		/* Go numbers closures, which are in a function of a package:
		 * "main.f.func1", not "main.func1" */
		if (n >= k && !memcmp(out + n - k, numbered[i].text, k) &&
		    (!numbered[i].end || s[len] == *numbered[i].end) &&
		    (*numbered[i].text != '.' ||
		     (n - k && memchr(out, '.', n - k))) &&
		    numbered[i].of <= of)
			return len;
	}
	/* "core[0123456789abcdef]::fmt": the crate */
	len = *s == '[' && of != OF_RUN ? strspn(s + 1, hex_digits) : 0;
	if (n && len >= HASH_MIN && s[len + 1] == ']')
		return len + 2;
	/* "Main$$Lambda/0x0000000800c03000.run": a hidden class */
	if ((*s != '/' && *s != '.' && *s != '+') || s[1] != '0' || s[2] != 'x')
		return 0;
	len = strspn(s + 3, hex_digits);
	return n && len >= HASH_MIN ? len + 3 : 0;
}

/* Returns whether a part of a name, without its dot, is one that a compiler
 * adds to functions it splits, clones or makes visible. */
static bool suffix_is_word(const char *s, size_t len)
{
	static const char *const word[] = {
		"isra", "constprop",  "part",  "cold",	"lto_priv",
		"llvm", "localalias", "clone", "__uniq"
	};

	return any_where(ARRAY_SIZE(word), i,
			 strlen(word[i]) == len && !memcmp(word[i], s, len));
}

/* Returns the length of the name without one generated part at its end. */
static size_t suffix_end(const char *name, size_t n)
{
	static const char clone[] = " [clone ";
	size_t dot = n;
	size_t end = n;

	if (n && name[n - 1] == ']')
		for (size_t i = n - 1; i-- > 1;)
			if (n - i > sizeof(clone) &&
			    !memcmp(name + i, clone, sizeof(clone) - 1))
				return i;
	if (n > HASH_RUST + 3 && !memcmp(name + n - HASH_RUST - 3, "::h", 3) &&
	    strspn(name + n - HASH_RUST, hex_digits) >= HASH_RUST)
		return n - HASH_RUST - 3;
	while (dot && strchr(digits, name[dot - 1]))
		dot--;
	if (dot < n && dot && name[dot - 1] == '.')
		end = dot - 1;
	for (dot = end; dot && name[dot - 1] != '.';)
		dot--;
	return dot > 1 && suffix_is_word(name + dot, end - dot) ? dot - 1 : n;
}

void suffix_remove(char *name, enum suffix_of of)
{
	size_t n = 0;
	size_t shorter;

	for (const char *s = name; *s;) {
		size_t skip = suffix_middle(s, name, n, of);

		if (skip)
			s += skip;
		else
			name[n++] = *s++;
	}
	while (of != OF_RUN && (shorter = suffix_end(name, n)) < n)
		n = shorter;
	name[n] = 0;
}
