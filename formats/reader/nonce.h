/* nonce.h - lines in which a process that unwinds itself logs requests and
 * stacks, as templates say them: backstitch(7).
 *
 * A template is text with %{field} in it. Text stands for itself, a blank for
 * one or more; %% %[ %] are the characters; [...] may be missing. Fields:
 *   nonce   a number, decimal or 0x...; nonce:x hex without 0x
 *   tid     the thread that is asked, or unwound: when it is not the writer
 *   pid     its process, which captures do not always say
 *   ips     addresses in hex, innermost first, by commas or blanks
 *   names   names of functions, innermost first, by semicolons
 *   part    K/N: a stack of several parts
 *   meet    hex: address in the parts before, whose caller is the first frame
 *   *       anything, up to what comes next in the template
 * A template with ips or names is of stacks, one with neither of requests. It
 * must match from the start of the line; what follows its end is not looked
 * at, but a word that goes on does not match. The first that matches counts. */
#ifndef FORMATS_READER_NONCE_H
#define FORMATS_READER_NONCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"

struct err;
struct rec_chain;
struct record;
struct user_stack_reader;

enum nonce_kind {
	NONCE_NONE,
	NONCE_REQUEST,
	NONCE_STACK,
};

struct nonce_line {
	enum nonce_kind kind;
	uint64_t nonce, meet; /* meet 0: not in the line */
	int32_t tid, pid;     /* -1: not in the line */
	uint16_t part, parts; /* 0, 0: a stack of one part */
	struct scan ips, names;
};

/* The templates to use if the user gives none; ends with NULL. */
extern const char *const nonce_default[];

/* Checks a template. Returns 0, or -1 and *err (ERR_USAGE) with what is wrong.
 */
int nonce_check(const char *template, struct err *err);
/* Parses a line. Returns false and sets NONCE_NONE if no template matches. The
 * parts of *out are borrowed from s. The templates must have passed
 * nonce_check(); the list ends with NULL. */
bool nonce_parse(const char *const *templates, struct scan s,
		 struct nonce_line *out);
/* Finds the next line in text that matches, from *at on, and moves *at past it.
 * Returns false at the end. */
bool nonce_next(const char *const *templates, struct scan text, size_t *at,
		struct nonce_line *out);
/* Sets *out to the chain of a stack line, except for its frames, which are
 * added to *frames. */
void nonce_chain(const struct nonce_line *l, struct user_stack_reader *frames,
		 struct rec_chain *out);
/* Sets the request of a sample from the first request in the text, if there is
 * one. A write to trace_marker usually has one line. */
void nonce_request(const char *const *templates, struct scan text,
		   struct record *rec);
/* Sets the chain of rec from the next stack line at or after `from`, and adds
 * its frames to *frames. rec has the writer's ids; if the line names another
 * thread without a process, rec->pid becomes -1. */
void nonce_stack(const char *const *templates, struct scan text, size_t from,
		 struct user_stack_reader *frames, struct record *rec);
#endif
