/* user_stack_reader.h - a user stack that is being read: addresses, and places
 * that are said without one. */
#ifndef FORMATS_READER_USER_STACK_READER_H
#define FORMATS_READER_USER_STACK_READER_H
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

struct unwound {
	uint64_t *ip;
	struct place *place; /* symbol, path and in_file unset: none */
	const struct place **at;
	size_t n, cap_ip, cap_place, cap_at;
	struct arena text;
	bool has_places;
};

void unwound_release(struct unwound *u);
/* Begins a new one; what unwound_addrs() gave out is gone. */
void unwound_start(struct unwound *u);
/* place NULL: there is none. Its strings are borrowed. */
void unwound_add(struct unwound *u, uint64_t ip, const struct place *place);
/* A copy of s with a 0 at its end, which lives as long as the stack. */
const char *unwound_text(struct unwound *u, struct scan s);
/* Borrowed until the next unwound_start(). */
struct addrs unwound_addrs(struct unwound *u);
#endif
