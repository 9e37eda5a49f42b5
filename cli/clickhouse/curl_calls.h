/* curl_calls.h - the functions of libcurl, which is loaded when a server is
 * asked: linked, it would cost each start of the program 5 ms and 6 MB. */
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

struct err;

/* Those that are called, as C(NAME) for curl_NAME(). */
#define CURL_CALLS(C)                                                          \
	C(easy_cleanup)                                                        \
	C(easy_escape)                                                         \
	C(easy_getinfo)                                                        \
	C(easy_init)                                                           \
	C(easy_setopt)                                                         \
	C(easy_strerror)                                                       \
	C(free)                                                                \
	C(global_init)                                                         \
	C(mime_addpart)                                                        \
	C(mime_data)                                                           \
	C(mime_filename)                                                       \
	C(mime_free)                                                           \
	C(mime_init)                                                           \
	C(mime_name)                                                           \
	C(multi_add_handle)                                                    \
	C(multi_cleanup)                                                       \
	C(multi_info_read)                                                     \
	C(multi_init)                                                          \
	C(multi_perform)                                                       \
	C(multi_poll)                                                          \
	C(multi_remove_handle)                                                 \
	C(slist_append)                                                        \
	C(slist_free_all)

#define CURL_CALL_MEMBER(name) __typeof__(curl_##name) *name;
struct curl_calls {
	CURL_CALLS(CURL_CALL_MEMBER)
};
#undef CURL_CALL_MEMBER

/* Set by curl_load(). */
extern struct curl_calls curl;

/* Loads the library once, until the program ends. Returns 0, or -1 and *err
 * (ERR_USAGE). */
int curl_load(struct err *err);
