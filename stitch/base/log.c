/* log.c - prints notes for maintainers of the program. */
#include "stitch/base/log.h"

#include <pthread.h>
#include <stdarg.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static const char *const log_names[LOG_DOMAINS] = {
	[LOG_INGEST] = "ingest", [LOG_ALIGN] = "align",	  [LOG_JOIN] = "join",
	[LOG_FILES] = "files",	 [LOG_ADVICE] = "advice",
};

/* Set before the first thread starts, and never changed again. */
unsigned int log_domains;
static log_print_fn *log_print;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

int log_start(const char *domains, log_print_fn *print, struct err *err)
{
	log_print = print;
	while (*domains) {
		size_t len = strcspn(domains, ",");
		unsigned int bits = 0;

		for (unsigned int i = 0; i < LOG_DOMAINS; i++)
			if ((len == 3 && !strncmp(domains, "all", 3)) ||
			    (strlen(log_names[i]) == len &&
			     !strncmp(domains, log_names[i], len)))
				bits |= 1u << i;
		if (!bits)
			return err_set(
				err, ERR_USAGE,
				"BACKSTITCH_LOG: '%.*s' is none of "
				"ingest, align, join, files, advice, all",
				(int)len, domains);
		log_domains |= bits;
		domains += len + (domains[len] == ',');
	}
	return 0;
}

void log_write(enum log_domain d, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	int n = snprintf(text, sizeof(text), "%s: ", log_names[d]);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&log_lock);
	log_print(text);
	pthread_mutex_unlock(&log_lock);
}
