/* log.h - prints notes for maintainers of the program: its choices, and their
 * reasons.
 *
 * BACKSTITCH_LOG=files,join prints a line for each choice of these domains.
 * Only cli/ reads the environment and prints, so main() passes both on. While
 * the log is off, LOG() tests one variable and evaluates no argument. */
#pragma once

struct err;

enum log_domain {
	LOG_INGEST, /* which reader takes a capture */
	LOG_ALIGN,  /* how two captures are put on one timeline */
	LOG_JOIN,   /* why a request has no chain */
	LOG_FILES,  /* which file is taken for an image, and what proves it */
	LOG_ADVICE, /* which advice is given first */
	LOG_DOMAINS
};

/* Prints one line, which has no newline. Calls never overlap. */
typedef void log_print_fn(const char *line);

/* Switches on the domains of a list such as "files,join"; "all" is each of
 * them. Returns 0, or -1 and *err if a word is no domain. */
int log_start(const char *domains, log_print_fn *print, struct err *err);

extern unsigned int log_domains; /* a bit for each domain that is on */

/* Any thread may call it. Formats as printf() does; a line is cut after 1,000
 * bytes. */
void log_write(enum log_domain d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define LOG(domain, ...)                                                       \
	do {                                                                   \
		if (__builtin_expect(log_domains & 1u << (domain), 0))         \
			log_write(domain, __VA_ARGS__);                        \
	} while (0)
