/* raw.h - metadata as it is written: classes whose names are not yet resolved.
 *
 * Both parsers make it from their text, and resolve.c makes the tree from it. A
 * raw class exists once, however many aliases name it, so raw classes form a
 * graph without cycles: a class can only name what was declared before it. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>

#include "formats/ctf/meta/tree.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

#define RAW_NONE UINT32_MAX /* no name */
/* Limits in addition to those of tree.h. */
#define RAW_CLOCKS_MAX 256
#define RAW_STREAMS_MAX 4096
#define RAW_LABELS_MAX (1u << 18) /* ranges of one enumeration */
#define RAW_TEXT_MAX (1u << 20)	  /* bytes of one string */

/* The scopes of an event, in the order in which they are decoded. */
enum raw_scope {
	RAW_RELATIVE = -1,
	RAW_HEADER,
	RAW_PACKET,
	RAW_EVENT_HEADER,
	RAW_COMMON,
	RAW_SPECIFIC,
	RAW_PAYLOAD,
	RAW_SCOPES,
};

/* Where a length or selector is found. A relative place starts at the structure
 * that contains its user, or `up` structures further out. */
struct raw_place {
	const uint32_t *name;
	uint32_t n, up;
	int8_t scope; /* enum raw_scope */
	bool climb; /* TSDL: a name that is not found is looked for further out
		     */
};

struct raw_part {
	uint32_t name; /* RAW_NONE: an element has no name */
	uint32_t at;   /* offset in the metadata, for messages */
	const struct raw_class *type;
};

struct raw_class {
	struct ctf_node
		node; /* copies start as this node, which has n_child parts */
	const struct raw_part *part;
	const struct raw_place *from;
	uint32_t clock; /* name of the clock; RAW_NONE: not mapped to one */
	uint32_t at;
	uint8_t bit_order; /* CTF 2: 1 first to last, 2 last to first; 0 not
			      given */
	bool native;	   /* TSDL: has the byte order of the trace */
	bool encoded;	   /* TSDL: the integer is a character */
	bool wide;	   /* a range ends above 2^63 - 1 */
	bool negative;	   /* a range begins below 0 */
};

struct raw_clock {
	uint32_t name;
	struct ctf_clock clock;
};

struct raw_stream {
	uint64_t id;
	uint32_t at, clock;
	const struct raw_class
		*scope[RAW_COMMON + 1]; /* by scope; NULL: it has none */
};

struct raw_event {
	uint64_t id, stream;
	bool any_stream; /* TSDL: no stream_id, so it belongs to the only stream
			  */
	uint32_t at, name;
	const struct raw_class *specific, *payload; /* NULL: it has none */
};

/* The text from offset `text` on is at offset `file` of the file. */
struct raw_span {
	uint32_t text, file;
};

struct raw {
	struct ctf_tree *tree; /* receives what needs no resolving */
	struct arena *out;
	struct arena scratch;
	struct intern names;
	const char **kept; /* by name: its copy in `out`, or NULL */
	size_t n_kept, cap_kept;
	uint32_t *seen; /* by name: the last round that saw it */
	size_t n_seen, cap_seen;
	uint32_t round;
	size_t room; /* how much memory these arenas may take together */

	const struct raw_class *header;
	struct raw_clock *clock;
	struct raw_stream *stream;
	struct raw_event *event;
	struct ctf_env *env;
	size_t n_clock, cap_clock, n_stream, cap_stream, n_event, cap_event;
	size_t n_env, cap_env;

	const char *path;
	const char
		*text; /* NULL: the `at` of messages is an offset in the file */
	size_t n_text;
	struct raw_span *span;
	size_t n_span, cap_span;
	struct err *err;
};

void raw_release(struct raw *r);
/* Sets the error, with the position `at` and the message. Returns -1. */
int raw_fail(struct raw *r, uint32_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int raw_vfail(struct raw *r, uint32_t at, const char *fmt, va_list ap);
/* Returns -1 with an error if the metadata has taken more memory than its size
 * allows. Called before anything is made from a piece of the text. */
int raw_room(struct raw *r, uint32_t at);
/* Returns the text of a name, which lives as long as the tree; NULL for
 * RAW_NONE. */
const char *raw_keep(struct raw *r, uint32_t name);
/* Returns zeroed memory that raw_release() frees. */
void *raw_take(struct raw *r, size_t n);
/* Returns a copy of n items, or NULL if n is 0. */
void *raw_copy(struct arena *a, const void *p, size_t n, size_t size);
/* Returns a new class of this kind with the defaults of CTF 2: alignment 1,
 * base 10. raw_release() frees it. */
struct raw_class *raw_class(struct raw *r, enum ctf_kind kind, uint32_t at);
/* Returns the index of the clock with this name, or -1 if there is none, or
 * name is RAW_NONE. */
int32_t raw_clock_find(const struct raw *r, uint32_t name);
/* Add a clock, stream or event to the trace; each returns -1 with an error if
 * there are too many. */
int raw_add_clock(struct raw *r, uint32_t at, const struct raw_clock *c);
int raw_add_stream(struct raw *r, const struct raw_stream *s);
int raw_add_event(struct raw *r, const struct raw_event *e);
/* Returns -1 with an error if two parts have the same name. */
int raw_unique(struct raw *r, const struct raw_part *part, size_t n);
/* A range of values of a label. */
struct raw_range {
	uint32_t name;
	struct ctf_range range;
	bool empty; /* contains no value */
};
/* Makes labels from n ranges: those with the same name become one label, in the
 * order of the first ranges. The labels live as long as the tree. */
const struct ctf_label *raw_labels(struct raw *r, const struct raw_range *in,
				   size_t n, uint32_t *n_label);

/* Parse the text in r->text. Return -1 with an error; *cut is set if the text
 * ends inside a declaration. */
int tsdl_read(struct raw *r, bool *cut);
/* Copies the text of metadata to r->text, without the headers of packets if it
 * has them. Sets *cut if the last packet is incomplete. ctf2_read() reads a CTF
 * 2 sequence. */
int tsdl_unpack(struct raw *r, const struct bytes *meta, bool *cut);
int ctf2_read(struct raw *r, const struct bytes *meta, bool *cut);
