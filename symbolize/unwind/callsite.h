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

/* Opens the file of an image. *answer: how certain it is that this file ran.
 * Returns NULL if there is no file, or its machine is not supported. */
struct callsite_file *callsite_open(struct symbolizer *sy,
				    const struct image *img,
				    struct identity_answer *answer);
/* callsite_close() closes the file, or leaves it to later symbolizers in a
 * struct symbolizer_cache, which must still exist; NULL is allowed.
 * callsite_settle() closes only the ELF file. */
void callsite_close(struct callsite_file *f);
void callsite_settle(struct callsite_file *f);
/* Opens the file again if callsite_settle() closed it and it is still there. */
void callsite_reopen(struct callsite_file *f, struct symbolizer *sy,
		     const struct image *img);
/* Hashes the code that is read. Call it before callsite_settle(). The strings
 * of *out are borrowed from f. Returns false if there is none. */
bool callsite_text(struct callsite_file *f, struct symbolizer *sy,
		   struct section_used *out);

/* identity_maps() for this file. */
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

/* Code that a process generated, which is in no file. */
struct made_code {
	const unsigned char *bytes;
	size_t n;
	uint16_t machine;
};

/* Returns whether a call precedes the return address at an offset. */
bool callsite_made_calls(const struct made_code *c, uint64_t off);
/* Returns whether no tracer of BPF programs may write a call there: it would do
 * so at the start of a function, in place of a nop. */
bool callsite_made_is_settled(const struct made_code *c, uint64_t off);
/* Returns whether the function has set its frame pointer at an offset. */
bool callsite_made_sets_fp(const struct made_code *c, uint64_t off);

/* Returns whether an unwind table covers the code at an offset. */
bool callsite_has_table(const struct callsite_file *f, uint64_t off);

/* Returns whether .sframe of the file covers the code at an offset. *entry: it
 * is the first instruction of a function. */
bool callsite_in_sframe(const struct callsite_file *f, uint64_t off,
			bool *entry);

/* Returns whether the function around an offset is one to which Go's signal
 * handlers make code appear to call: it returns to where the signal came, and
 * no call need be there. */
bool callsite_is_injected(const struct callsite_file *f, uint64_t off);

/* Returns whether the file is a Go program, whose C functions run on separate
 * stacks. */
bool callsite_is_go(const struct callsite_file *f);

/* Returns how many bytes a Go function uses on the stack at an offset, so that
 * a larger dump reaches its caller; 0 if the runtime's table does not have the
 * function, such as one in C. Call it before callsite_settle(). */
uint32_t callsite_go_bytes(const struct callsite_file *f, uint64_t off);

/* Returns the function in file `inner` that a PLT stub of f at an ELF address
 * leads to: the one with that name which others can call; 0 if there is none,
 * or several, or it is chosen at run time, or it is no stub. */
uint64_t callsite_stub_leads(const struct callsite_file *f, uint64_t stub,
			     const struct callsite_file *inner);

/* Returns whether the call at `site` in file f goes to the function around
 * offset off of the file `inner` (NULL: unknown). */
enum callsite_link callsite_link(const struct callsite_file *f,
				 const struct callsite *site,
				 const struct callsite_file *inner,
				 uint64_t off);
