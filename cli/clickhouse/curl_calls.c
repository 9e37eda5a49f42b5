/* curl_calls.c - loads libcurl. */
#include "cli/clickhouse/curl_calls.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"

struct curl_calls curl;

#define CURL_CALL_NAME(call) "curl_" #call,
static const char *const curl_names[] = { CURL_CALLS(CURL_CALL_NAME) };

int curl_load(struct err *err)
{
	/* that of Debian's package for GnuTLS has another name */
	static const char *const files[] = { "libcurl.so.4",
					     "libcurl-gnutls.so.4", NULL };
	static bool loaded;
	const struct shared_library l = {
		"a server is asked by", files, "libcurl4", curl_names,
		ARRAY_SIZE(curl_names), &curl,
	};

	if (loaded)
		return 0;
	if (shared_library_load(&l, err))
		return -1;
	curl.global_init(CURL_GLOBAL_DEFAULT);
	loaded = true;
	return 0;
}
