/* clickhouse_place.h - what the files of this room share: where a server is,
 * and what its refusals mean. */
#pragma once
#include <stdbool.h>

struct err;

/* A URL in its parts. */
struct clickhouse_place {
	bool tls;
	char user[256];
	char host[256]; /* as in the URL: with brackets if it is IPv6 */
	unsigned int port;
	char database[256];
	char name[600]; /* the URL without the user */
};
/* Returns 0, or -1 and *err (ERR_USAGE). */
int clickhouse_place_parse(struct clickhouse_place *p, const char *url,
			   struct err *err);
/* Reads the password from a file, or, NULL, the environment: the caller frees
 * *out, which is NULL if there is none. Returns 0, or -1 and *err. */
int clickhouse_password(const char *path, char **out, struct err *err);

/* What a reply other than 200 says. */
struct clickhouse_refusal {
	long status;	  /* of HTTP */
	const char *text; /* its body, cut; ends with a 0 */
};
/* Sets *err to a message, *code to the exception's code (0: not known), and
 * *may_pass. Returns -1. */
int clickhouse_refused(const struct clickhouse_place *p,
		       const struct clickhouse_refusal *r, long *code,
		       bool *may_pass, struct err *err);
