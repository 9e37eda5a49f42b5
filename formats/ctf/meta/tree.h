/* tree.h - the class tree: the metadata of a CTF trace, in one form for TSDL
 * 1.8 and CTF 2.
 *
 * ctf_tree_read() parses either form. The tree is complete when it returns:
 * names are resolved and aliases copied where they are used, so each node is
 * one place in an event. The decoder compiles it once and never looks at text
 * again. The arena given to ctf_tree_read() owns everything.
 *
 * A length or selector is found through a slot, a small number: the decoder
 * stores the value of each node with `slot` set, and a node with `from` set
 * reads the value that was last stored there. Slots are counted from 1 for each
 * stream class, over packet header, packet context, event header, contexts and
 * payloads of all its events; 0 means none. If a location leads into several
 * options of a variant, their nodes share a slot. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bytes;
struct err;

/* Limits on untrusted metadata. What exceeds one is refused, with its
 * position. */
#define CTF_NODES_MAX (1u << 18)   /* nodes, after aliases are copied */
#define CTF_DEPTH_MAX 32	   /* levels of nested classes */
#define CTF_SLOTS_MAX 512	   /* per stream class; each stream has them */
#define CTF_ALIGN_MAX (1u << 16)   /* bits */
#define CTF_META_MAX (64u << 20)   /* bytes of metadata */
#define CTF_CLASSES_MAX (1u << 17) /* event classes of a trace */

enum ctf_kind {
	CTF_UINT, /* fixed length, 1 to 64 bits; also enumerations */
	CTF_SINT,
	CTF_BITS,     /* a bit array: printed as a number */
	CTF_BITMAP,   /* a bit array with named bits */
	CTF_BOOL,     /* fixed length; any bit set is true */
	CTF_REAL,     /* IEEE 754 of 16, 32, 64 or 128 bits */
	CTF_VAR_UINT, /* LEB128 */
	CTF_VAR_SINT,
	CTF_STRING,	   /* ends at a null code unit */
	CTF_FIXED_STRING,  /* `count` bytes; the text ends at the first null */
	CTF_LENGTH_STRING, /* slot `from` has the number of bytes */
	CTF_FIXED_BLOB,
	CTF_LENGTH_BLOB,
	CTF_ARRAY,    /* `count` elements: child[0] */
	CTF_SEQUENCE, /* slot `from` has the number of elements */
	CTF_STRUCT,
	CTF_VARIANT,  /* one of the children, chosen by slot `from` */
	CTF_OPTIONAL, /* child[0] or nothing, by slot `from` */
};

enum ctf_encoding {
	CTF_UTF8, /* also ASCII */
	CTF_UTF16LE,
	CTF_UTF16BE,
	CTF_UTF32LE,
	CTF_UTF32BE,
};

/* What the format itself uses a field for. TSDL has no roles: a field gets a
 * role by its name in 1.8 ("timestamp_begin", "content_size", ...) or by its
 * `map` to a clock. A node has at most one role. */
enum ctf_field_role {
	CTF_NO_ROLE,
	CTF_MAGIC,
	CTF_UUID_FIELD, /* the metadata's uuid, 16 bytes */
	CTF_STREAM_CLASS_ID,
	CTF_STREAM_ID,	 /* id of the stream */
	CTF_PACKET_BITS, /* total length */
	CTF_CONTENT_BITS,
	CTF_CLOCK,	      /* sets the clock to this value */
	CTF_PACKET_END_CLOCK, /* a clock value that does not set the clock */
	CTF_PACKET_SEQ,
	CTF_DISCARDED,	    /* counter of discarded events */
	CTF_EVENT_CLASS_ID, /* if there are several, the last one decoded counts
			     */
};

/* A range of values, both ends included. For a signed selector or enumeration
 * they are the bits of int64_t. */
struct ctf_range {
	uint64_t lo, hi;
};

/* A label of an enumeration, or a named set of bits of a bit map. */
struct ctf_label {
	const char *name;
	const struct ctf_range *range;
	uint32_t n_range;
};

struct ctf_node {
	const char *name; /* name of the member or option, without one leading
			     '_' of TSDL; NULL: none, or an element */
	uint8_t kind;	  /* enum ctf_kind */
	uint8_t role;	  /* enum ctf_field_role */
	uint8_t base;	  /* preferred display base: 2, 8, 10, 16 */
	uint8_t encoding; /* of strings: enum ctf_encoding */
	bool big;	  /* of numbers: big-endian */
	bool reverse; /* CTF 2: the bit-order differs from the byte order's */
	bool sel_signed; /* variant, optional: slot `from` holds a signed number
			  */
	bool no_ranges;	 /* optional: present if slot `from` is not 0 */
	uint16_t slot;	 /* the slot that its value is stored in; 0: none */
	uint16_t from;	 /* the slot with its length or selector; 0: none */
	uint32_t bits;	 /* size of fixed-length numbers */
	uint32_t align;	 /* bits, a power of two; structures and arrays: the
			    largest of their parts */
	uint64_t count;	 /* elements or bytes; fixed-length kinds only */
	/* The members, the options, or the element. */
	const struct ctf_node *child;
	uint32_t n_child;
	/* The labels of an enumeration (UINT, SINT, VAR_*), or the flags of
	 * CTF_BITMAP. */
	const struct ctf_label *label;
	uint32_t n_label;
	/* The selector values that choose an option: n_child of them for a
	 * variant, one for an optional. A TSDL variant has the ranges of the
	 * label that names the option; an option without a label has none and
	 * is never chosen. */
	const struct ctf_label *choice;
	int32_t clock; /* CTF_CLOCK: index in ctf_tree.clock; -1 otherwise */
};

struct ctf_event_class {
	uint64_t id;
	const char *name;			   /* NULL: it has none */
	const struct ctf_node *specific, *payload; /* structures; or NULL */
};

struct ctf_stream_class {
	uint64_t id;
	int32_t clock; /* the default clock; -1: none */
	const struct ctf_node *packet, *header, *common; /* NULL: none */
	const struct ctf_event_class *event; /* by id, ascending, unique */
	uint32_t n_event;
	uint32_t n_slot; /* 1 + the largest slot in use */
};

struct ctf_clock {
	const char *name; /* CTF 2: name or id */
	uint64_t freq;	  /* Hz, never 0 */
	int64_t offset_s;
	int64_t offset;	 /* cycles */
	bool unix_epoch; /* TSDL: absolute, or written by LTTng */
	const char *uid; /* as text; NULL: none */
};

/* An entry of the environment: a text or a number. */
struct ctf_env {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t num;
};

struct ctf_tree {
	int version; /* 1, 2 */
	bool big;    /* TSDL: the trace's byte order, which the magic number has
			too */
	bool has_uuid;
	uint8_t uuid[16];
	bool cut; /* the metadata ends inside a statement; the tree has what
		     precedes it */
	const struct ctf_node
		*header; /* packet header; NULL: packets have none */
	const struct ctf_stream_class *stream; /* by id, ascending, unique */
	uint32_t n_stream;
	const struct ctf_clock *clock;
	uint32_t n_clock;
	const struct ctf_env *env;
	uint32_t n_env;
};

/* Parses metadata: TSDL as text or in packets of either byte order, or a CTF 2
 * JSON text sequence. Returns 0, or -1 and *err with the file's name and the
 * offset of what is wrong or not supported. Metadata that ends inside its last
 * statement is no error if a stream class precedes that; out->cut is set
 * then. */
int ctf_tree_read(struct arena *arena, const struct bytes *meta,
		  struct ctf_tree *out, struct err *err);

/* Return the class with this id, or NULL. */
const struct ctf_stream_class *ctf_tree_stream(const struct ctf_tree *tree,
					       uint64_t id);
const struct ctf_event_class *
ctf_tree_event(const struct ctf_stream_class *stream, uint64_t id);
/* Returns the text of an environment entry, or NULL if there is none, or it is
 * a number. */
const char *ctf_tree_env(const struct ctf_tree *tree, const char *name);
