/* bt.h - declarations shared by the files that call libbabeltrace2. */
#ifndef FORMATS_CTF_BT_H
#define FORMATS_CTF_BT_H
#include <babeltrace2/babeltrace.h>

#include "formats/ctf/ctf.h"

/* The structures that hold the fields of an event. */
enum ctf_root {
	CTF_PACKET,
	CTF_COMMON,
	CTF_SPECIFIC,
	CTF_PAYLOAD,
	CTF_ROOTS
};

/* What a member becomes. */
enum ctf_how {
	CTF_NUM,
	CTF_STRING,
	CTF_BYTES, /* an array of bytes */
	CTF_JSON,  /* anything else, as text */
	CTF_LABEL, /* the label of an enumeration's number */
	CTF_ENTER, /* a structure: the next ops are for its members ... */
	CTF_LEAVE, /* ... up to this one */
	CTF_DROP,  /* not a field; only its ctf_use counts */
};

/* The meaning of a member beyond being a field. */
enum ctf_use {
	CTF_FIELD,
	CTF_CPU,
	CTF_USE_PID,
	CTF_USE_TID,
	CTF_USE_VPID,
	CTF_USE_VTID,
	CTF_PROCNAME,
	CTF_KSTACK,
	CTF_USTACK,
	CTF_IP,
	CTF_COOKIE,
	CTF_CHAIN,
	CTF_NAMES,	/* a chain of function names */
	CTF_PERF_STACK, /* kernel and user part with marks between them */
};

#define CTF_LABELS 16

/* Cache of labels. */
struct ctf_labels {
	struct {
		bool known;
		int64_t value;
		char *text; /* owned; NULL: it has none */
	} at[CTF_LABELS];
};

struct ctf_op {
	uint8_t how, use;
	uint8_t size; /* of a number: bytes */
	bool is_int, is_signed;
	uint16_t index; /* in the structure */
	uint16_t field; /* index in the format plus 1; 0: none */
	uint32_t off;	/* in the payload; of text and bytes: of the locator */
	struct ctf_labels *labels; /* owned; CTF_LABEL */
};

/* An event class of one trace. */
struct ctf_class {
	uint32_t event;		     /* index in ctf.event */
	const bt_clock_class *clock; /* of its streams; NULL: none */
	bool chain;
	struct ctf_op *op;
	size_t n_op, cap_op;
	size_t first[CTF_ROOTS + 1]; /* ops of a root */
	uint32_t fixed;		     /* bytes of the payload's first part */
};

/* A stream that is being read. */
struct ctf_stream {
	int32_t cpu;
	bool lost; /* a loss is held until the next packet */
	uint64_t since, until, n;
	bool has_since, has_until;
};

#define CTF_RECENT 64

/* An entry of the cache of by_class. */
struct ctf_recent {
	const bt_event_class *ec;
	uint32_t at; /* index in ctf_graph.classes */
};

struct ctf_graph {
	bt_graph *graph;
	struct ctf_class *classes;
	size_t n_class, cap_class;
	struct table by_class; /* by the library's address */
	struct ctf_recent recent[CTF_RECENT];
	struct ctf_stream *stream;
	size_t n_stream, cap_stream;
	struct table by_stream;
	int64_t shift; /* ns to add to the trace's clock */
	bool has_shift;
	/* Of the current event. */
	unsigned char *raw;
	size_t raw_cap, raw_len;
	uint64_t *kern, *user;
	size_t n_kern, cap_kern, n_user, cap_user;
	char *names; /* n_user of them, each ending with a 0 */
	size_t names_len, cap_names;
	char *text;
	size_t text_len, text_cap;
};

/* ---- class.c */
/* Returns the plan for the event's class, which is made on its first event. */
struct ctf_class *ctf_class_of(struct ctf_trace *tr, const bt_event *ev);
void ctf_class_release(struct ctf_class *cl);

/* ---- event.c */
/* Returns the text of a field; borrowed. For an empty one the library (2.0.4)
 * would return the text of an earlier event. */
static inline const char *ctf_field_string(const bt_field *f)
{
	return bt_field_string_get_length(f) ? bt_field_string_get_value(f)
					     : "";
}
/* Makes items of a message. */
void ctf_message_take(struct ctf_trace *tr, const bt_message *m);

/* ---- label.c */
/* Returns an enumeration's label of a number; borrowed. NULL: it has none. */
const char *ctf_label_text(struct ctf_labels *ls, const bt_field_class *fc,
			   int64_t value);
void ctf_labels_free(struct ctf_labels *ls);

/* ---- value.c */
/* Replaces g->text by the text of a field. */
void ctf_value_text(struct ctf_graph *g, const bt_field *f);
#endif
