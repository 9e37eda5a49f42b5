/* shared_library.c - loads a library at its first use. */
#include "stitch/base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "stitch/base/err.h"

int shared_library_load(const struct shared_library *l, struct err *err)
{
	char *last = (char *)l->calls + (l->n - 1) * sizeof(void *);
	void *call;

	memcpy(&call, last, sizeof(call));
	if (call)
		return 0;
	void *lib = NULL;
	const char *why = NULL;

	for (size_t i = 0; !lib && l->names[i]; i++) {
		lib = dlopen(l->names[i], RTLD_NOW);
		why = lib ? NULL : dlerror();
		/* the library exists, but cannot be loaded */
		if (why && !strstr(why, strerror(ENOENT)))
			return err_set(err, ERR_IO, "%s %s: %s", l->use,
				       l->names[0], why);
	}
	if (!lib)
		return err_set(err, ERR_USAGE,
			       "%s %s, which is not here; install %s", l->use,
			       l->names[0], l->package);
	for (size_t i = 0; i < l->n; i++) {
		call = dlsym(lib, l->functions[i]);
		if (!call)
			return err_set(err, ERR_USAGE,
				       "%s is too old: it has no %s()",
				       l->names[0], l->functions[i]);
		memcpy((char *)l->calls + i * sizeof(call), &call,
		       sizeof(call));
	}
	return 0;
}
