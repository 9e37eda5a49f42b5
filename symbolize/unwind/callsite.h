/* callsite.h - the call-site check: is a return address possible, and does the
 * call before it go to the function of the next inner frame?
 *
 * Call callsite_open() for each image; callsite_at() for its return addresses;
 * then callsite_settle(), which closes the file and keeps the tables of
 * functions; then callsite_link() for any two. Call each once per distinct
 * place. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/audit/callsite.h"
#include "symbolize/files/identity.h"

struct callsite_file;
struct section_used;

/* Opens the file of an image. *said: how sure it is that it is the one that
 * ran. Returns NULL if there is no file, or no rules for its machine. */
struct callsite_file *callsite_open(struct symbolizer *sy,
				    const struct image *img,
				    struct identity_answer *answer);
/* Closes it, or leaves it to later symbolizers: those of struct
 * symbolizer_cache, which must still be there. NULL is fine. */
void callsite_close(struct callsite_file *f);
void callsite_settle(struct callsite_file *f);
/* Opens the file again if callsite_settle() closed it and it is still there. */
void callsite_reopen(struct callsite_file *f, struct symbolizer *sy,
		     const struct image *img);
/* Hashes the code that is read, before callsite_settle(). The strings of *out
 * are borrowed from f. */
bool callsite_text(struct callsite_file *f, struct symbolizer *sy,
		   struct section_used *out);

/* As identity_maps(). */
bool callsite_maps(const struct callsite_file *f, const struct image_part *part,
		   size_t n);

/* What precedes a return address. target is an ELF address; 0: none or
 * unknown. */
struct callsite {
	enum callsite_kind kind;
	uint64_t target;
};

/* Fills *out with the call before the return address at an offset of the file,
 * before callsite_settle(). */
void callsite_at(const struct callsite_file *f, uint64_t off,
		 struct callsite *out);

/* Code that a process made, which is in no file. */
struct made_code {
	const unsigned char *bytes;
	size_t n;
	uint16_t machine;
};

/* Returns whether a call is in front of the return address at an offset. */
bool callsite_made_calls(const struct made_code *c, uint64_t off);
/* Returns whether no tracer of BPF programs writes a call there: it would at
 * the start of a function, in place of a nop. */
bool callsite_made_is_settled(const struct made_code *c, uint64_t off);
/* Returns whether the function has set its frame pointer at an offset. */
bool callsite_made_sets_fp(const struct made_code *c, uint64_t off);

/* Returns whether an unwind table covers the code at an offset. */
bool callsite_has_table(const struct callsite_file *f, uint64_t off);

/* Returns whether .sframe of the file covers the code at an offset. *entry: it
 * is the first instruction of a function. */
bool callsite_in_sframe(const struct callsite_file *f, uint64_t off,
			bool *entry);

/* Returns whether the function around an offset is one that Go's runtime makes
 * look called, from signal handlers: it returns to where the signal came, and
 * no call need be there. */
bool callsite_is_injected(const struct callsite_file *f, uint64_t off);

/* Returns whether the file is a Go program, whose C functions run on stacks of
 * their own. */
bool callsite_is_go(const struct callsite_file *f);

/* Returns how many bytes of the stack a function that Go's runtime knows has at
 * an offset, so that a dump of more leads out of it; 0: it is none, as one in
 * C. Before callsite_settle(). */
uint32_t callsite_go_bytes(const struct callsite_file *f, uint64_t off);

/* Returns where a PLT stub of f at an ELF address leads to in the file `inner`:
 * the function of that name which others can call; 0: there is none, or
 * several, or it is chosen at run time, or it is no stub. */
uint64_t callsite_stub_leads(const struct callsite_file *f, uint64_t stub,
			     const struct callsite_file *inner);

/* Tells whether the call at `site` in file f goes to the function around offset
 * off of the file `inner` (NULL: unknown). */
enum callsite_link callsite_link(const struct callsite_file *f,
				 const struct callsite *site,
				 const struct callsite_file *inner,
				 uint64_t off);
