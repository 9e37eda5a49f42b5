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
	uint64_t nonce, meet; /* meet 0: not said */
	int32_t tid, pid;     /* -1: not said */
	uint16_t part, parts; /* 0, 0: it is whole */
	struct scan ips, names;
};

/* The templates that hold when none is given; ends with NULL. */
extern const char *const nonce_default[];

/* 0, or -1 and *err (ERR_USAGE): what is wrong with a template. */
int nonce_check(const char *template, struct err *err);
/* What the line is; false and NONCE_NONE: none of these. The parts of *out
 * are borrowed from s. templates: checked, ends with NULL. */
bool nonce_parse(const char *const *templates, struct scan s,
		 struct nonce_line *out);
/* The same for the next such line of a text; *at is where to look, and goes
 * behind the line. */
bool nonce_next(const char *const *templates, struct scan text, size_t *at,
		struct nonce_line *out);
/* The chain of a stack but for its frames, which go to *frames. */
void nonce_chain(const struct nonce_line *l, struct user_stack_reader *frames,
		 struct rec_chain *out);
/* What a text says of a sample, with its first request, if there is one: a
 * write is one line, as a rule. */
void nonce_request(const char *const *templates, struct scan text,
		   struct record *rec);
/* The chain whose line is the next from there on, but for its frames. rec has
 * who wrote it; another thread's process is -1 when the line does not say. */
void nonce_stack(const char *const *templates, struct scan text, size_t from,
		 struct user_stack_reader *frames, struct record *rec);
#endif
