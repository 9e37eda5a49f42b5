/* curl_calls.c - loads libcurl. */
#include "cli/clickhouse/curl_calls.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct curl_calls curl;

int curl_load(struct err *err)
{
	/* that of Debian's package for GnuTLS has another name */
	static const char *const names[] = { "libcurl.so.4",
					     "libcurl-gnutls.so.4" };
	static bool loaded;
	void *lib = NULL;

	if (loaded)
		return 0;
	for (size_t i = 0; !lib && i < ARRAY_SIZE(names); i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		return err_set(err, ERR_USAGE,
			       "a server is asked by %s, which is not here; "
			       "install libcurl4",
			       names[0]);
#define CURL_CALL_LOAD(name)                                                   \
	curl.name = (__typeof__(curl.name))dlsym(lib, "curl_" #name);          \
	if (!curl.name)                                                        \
		return err_set(err, ERR_USAGE,                                 \
			       "%s is too old: it has no curl_%s()", names[0], \
			       #name);
	CURL_CALLS(CURL_CALL_LOAD)
#undef CURL_CALL_LOAD
	curl.global_init(CURL_GLOBAL_DEFAULT);
	loaded = true;
	return 0;
}
