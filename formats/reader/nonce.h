/* nonce.h - parses the lines in which a process that unwinds itself logs its
 * requests and stacks, by templates: backstitch-formats(5).
 *
 * A template is text with %{field} in it. Text matches itself, a blank matches
 * one or more; %% %[ %] are the characters; [...] is optional. Fields:
 *   nonce   a number, decimal or 0x...; nonce:x hexadecimal without 0x
 *   tid     the thread to unwind or unwound, if it is not the writer
 *   pid     its process, which captures do not always tell
 *   ips     addresses in hexadecimal, innermost first, by commas or blanks
 *   names   names of functions, innermost first, by semicolons
 *   part    K/N: one part of a stack in several parts
 *   meet    hexadecimal: an address in the parts before, whose caller is the
 *           first frame
 *   *       anything, up to what comes next in the template
 * A template with ips or names describes stacks, one with neither describes
 * requests. It must match from the start of the line and end at the end of a
 * word; the rest of the line is ignored. The first template that matches is
 * used. */
#pragma once
#include <stdbool.h>

#include "formats/reader/scan.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/record.h"

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
	uint64_t nonce, meet; /* meet: 0 if the line has none */
	int32_t tid, pid;     /* -1: the line has none */
	uint16_t part, parts; /* 0, 0: a stack of one part */
	struct scan ips, names;
};

/* The templates to use if the user gives none; ends with NULL. */
extern const char *const nonce_default[];

/* Checks a template. Returns 0, or -1 and *err (ERR_USAGE) with what is wrong.
 */
int nonce_check(const char *form, struct err *err);
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

/* A place names a file by its device and inode; user_stack_reader_note_file()
 * must have been called with its path before. */

/* Collects the frames of one user stack. Zero-initialised is empty. */
struct user_stack_reader {
	uint64_t *ip;
	struct place *place; /* of each frame; all members unset: the frame has
				no place */
	const struct place **at;
	size_t n, cap_ip, cap_place, cap_at;
	struct arena text;
	bool has_places;
	/* Files by device and inode; they outlive the stack. */
	struct place *file;
	size_t n_file, cap_file;
	struct table by_inode;
	struct arena paths;
};

void user_stack_reader_release(struct user_stack_reader *u);
/* Begins a new stack. Invalidates what user_stack_reader_addrs() returned. */
void user_stack_reader_start(struct user_stack_reader *u);
/* Adds a frame. place may be NULL; its strings are borrowed. */
void user_stack_reader_add(struct user_stack_reader *u, uint64_t ip,
			   const struct place *place);
/* Adds a frame of a deferred stack. value is an offset in the file with this
 * device and inode, or an address if the inode is -1. */
void user_stack_reader_add_file(struct user_stack_reader *u, uint64_t value,
				const struct place *file);
/* The frames, borrowed until the next user_stack_reader_start(). */
struct addrs user_stack_reader_addrs(struct user_stack_reader *u);

/* Notes the path of the file with this device and inode. It replaces an older
 * path, which was another name of the file, or another file that had the same
 * inode before. */
void user_stack_reader_note_file(struct user_stack_reader *u,
				 const struct place *file, struct scan path);
/* Sets the device numbers of *out from a dev_t as the kernel stores it. */
void user_stack_reader_set_device(uint32_t dev, struct place *out);
