/* demangle.c - demangles C++, Rust and D names, up to a limit.
 *
 * Mangled names may refer back to parts of themselves, so a name of 235 bytes
 * can expand to 277 MB, and a longer one without practical limit. libiberty's
 * callback cannot stop the expansion, so it leaves by longjmp(); the printer
 * keeps all its state on the stack. */
#include "symbolize/names/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are cut and end in "...". */
#define NAME_MAX_OUT 16384
/* Longer mangled names are not demangled: the parser's stack use grows with the
 * length. */
#define NAME_MAX_IN 32768

struct demangle_buffer {
	jmp_buf full;
	size_t n;
	char text[NAME_MAX_OUT];
};

static void demangle_put(const char *s, size_t n, void *arg)
{
	struct demangle_buffer *k = arg;
	size_t room = sizeof(k->text) - k->n;

	memcpy(k->text + k->n, s, n < room ? n : room);
	k->n += n < room ? n : room;
	if (n > room)
		longjmp(k->full, 1);
}

/* Returns whether a name may be Rust: "_R...", or the older form, a C++ name
 * whose last part is a hash, which ".llvm.123" may follow. Other parts may
 * contain dots: "main..Shape". */
static bool demangle_may_be_rust(const char *name)
{
	if (name[1] == 'R')
		return true;
	if (strncmp(name, "_ZN", 3) != 0)
		return false;
	for (const char *p = strstr(name, "17h"); p; p = strstr(p + 1, "17h"))
		if (strspn(p + 3, "0123456789abcdef") == 16 && p[19] == 'E' &&
		    (!p[20] || p[20] == '.'))
			return true;
	return false;
}

/* Demangles into *k. Returns false if the name is not mangled. */
static bool demangle_cxx(const char *mangled, const bool rust,
			 struct demangle_buffer *k)
{
	k->n = 0;
	if (setjmp(k->full))
		return true;
	if (rust &&
	    rust_demangle_callback(mangled, DMGL_NO_OPTS, demangle_put, k))
		return true;
	k->n = 0;
	/* with parameter types, which distinguish overloads, as perf does */
	return cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI,
					  demangle_put, k) != 0;
}

/* Demangles D. The demangler has no callback and no limit: each 'Q' may repeat
 * everything before it, and each letter of a type is one level of recursion. */
#define D_REPEATS_MAX 32
#define D_MAX_IN 4096

static bool demangle_d(const char *mangled, struct demangle_buffer *k)
{
	size_t repeats = 0;
	size_t len = 0;

	for (; mangled[len]; len++)
		repeats += mangled[len] == 'Q';
	if (repeats > D_REPEATS_MAX || len > D_MAX_IN)
		return false;
	char *text = dlang_demangle(mangled, DMGL_PARAMS);
	if (!text)
		return false;
	size_t n = strlen(text);
	k->n = n < sizeof(k->text) ? n : sizeof(k->text);
	memcpy(k->text, text, k->n);
	free(text);
	return true;
}

bool demangle_name(const char *name, char *buf, size_t size)
{
	char base[1024];
	struct demangle_buffer k;
	const char *mangled = name;

	if (name[0] != '_' || !size ||
	    (name[1] != 'Z' && name[1] != 'R' && name[1] != 'D'))
		return false;

	/* A demangler rejects a name with "@...": cut it off, and append "@plt"
	 * again afterwards. */
	size_t len = strcspn(name, "@");
	const char *plt = strstr(name + len, "@plt") ? "@plt" : "";
	if (len > NAME_MAX_IN)
		return false;
	if (name[len]) {
		if (len >= sizeof(base))
			return false;
		memcpy(base, name, len);
		base[len] = '\0';
		mangled = base;
	}
	bool ok = name[1] == 'D'
			  ? demangle_d(mangled, &k)
			  : demangle_cxx(mangled, demangle_may_be_rust(mangled),
					 &k);
	if (!ok || !k.n)
		return false;
	size_t room = size > 5 ? size - 5 : 0;
	bool cut = k.n > room || k.n == sizeof(k.text);
	snprintf(buf, size, "%.*s%s%s", (int)(cut && k.n > room ? room : k.n),
		 k.text, cut ? "..." : "", plt);
	return true;
}
