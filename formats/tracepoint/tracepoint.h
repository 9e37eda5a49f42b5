/* tracepoint.h - tracepoints, of whatever capture: the format that the kernel
 * writes for each, and what it says about a payload.
 *
 * tp_format_parse() reads the format once; tp_fields() takes a payload apart,
 * tp_print() makes the kernel's text of it. Both texts come from the capture,
 * so nothing in them is believed. */
#ifndef FORMATS_TRACEPOINT_TRACEPOINT_H
#define FORMATS_TRACEPOINT_TRACEPOINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/tracepoint/expr.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

struct field;
struct field_def;

enum fmt_kind {
	FMT_NUM,
	FMT_TEXT,
	FMT_BLOB,
	FMT_DYN_TEXT, /* u16 place, u16 length of it elsewhere in the entry */
	FMT_DYN_BLOB,
};

struct tp_field {
	enum fmt_kind kind;
	uint32_t off, size; /* size 0: to the end, "char buf[]" */
	uint32_t elem;	    /* bytes of one item of an array */
	bool is_signed;
	bool relative; /* the place counts from behind this field */
};

/* Which fields of a scheduling event say what: index plus 1; 0: none. */
struct tp_sched {
	enum sched_kind kind;
	uint16_t tid, next, state, success;
};

/* The same of an event of a system call. */
struct tp_call {
	enum call_what what;
	bool exit;
	uint16_t nr, ret, path;
	uint16_t arg[CALL_ARGS]; /* CALL_RAW: the first, of all of them */
};

/* Format of a tracepoint; strings are the arena's. */
struct tp_format {
	uint64_t id;
	const char *system, *name, *text; /* name NULL: not said */
	size_t len;
	struct tp_field *field; /* as many as def */
	struct field_def *def;
	size_t n, cap_field, cap_def;
	struct tp_sched sched; /* set by tp_format_parse() */
	struct tp_call call;   /* the same */
	size_t n_stack;	       /* how many fields are stacks; the same */
};

/* Fields with stacks that are looked at. */
#define TP_STACKS 8u

/* How payloads are to be read, and the scratch of doing so. */
struct tp {
	bool swap, long32;
	struct arena scratch; /* text and blobs of the last tp_fields() */
	struct expr expr;     /* of the last tp_print() */
	struct field *field;
	size_t cap_field;
	struct addrs held[TP_STACKS]; /* of the last tp_stacks() */
	uint64_t *ip;		      /* n_ip of them, of all */
	size_t cap_ip, n_ip;
	unsigned char *made; /* of the last tp_make() */
	size_t n_made, cap_made;
};

void tp_release(struct tp *tp);

/* false: the text is no format. */
bool tp_format_parse(struct arena *arena, const char *system,
		     const struct bytes *b, struct tp_format *out);
void tp_format_release(struct tp_format *fmt);
/* The value behind key ("offset:") inside [s, end); false: not there. */
bool tp_number_behind(const char *s, const char *end, const char *key,
		      uint32_t *out);
/* One field for each def, borrowed until the next call; raw may be NULL. */
void tp_fields(struct tp *tp, const struct tp_format *fmt, const void *raw,
	       size_t len, struct field *out);
/* A number of it: false when it is not inside. */
bool tp_number(const struct bytes *raw, const struct tp_field *f, int64_t *out);
/* One field of it; text without an end adds to tp->scratch. */
void tp_take(struct tp *tp, const struct bytes *raw, const struct tp_field *f,
	     struct field *out);
/* The text of a payload; size > 0. buf becomes "" when it has no fields. */
void tp_print(struct tp *tp, const struct tp_format *fmt, const void *raw,
	      size_t len, char *buf, size_t size);
/* The same of fields that are decoded already. */
void tp_print_fields(struct tp *tp, const struct tp_format *fmt,
		     const struct field *field, char *buf, size_t size);

/* bprint.c: format with packed arguments, into buf; size > 0. */
void tp_bprint(const struct tp *tp, const char *format,
	       const struct bytes *args, char *buf, size_t size);

/* make.c: the format as a perf.data file keeps it, under this name and id:
 * with the common fields of tracepoints, and a way to print it. free() it. */
char *tp_make_format(const struct tp_format *fmt, const char *name,
		     uint32_t id);
/* A payload of that format, borrowed until the next call: of one field for
 * each def, or of a payload as it was recorded. */
const void *tp_make(struct tp *tp, const struct tp_format *fmt,
		    const struct field *field, uint32_t id, uint32_t tid,
		    size_t *len);
const void *tp_remake(struct tp *tp, const struct tp_format *fmt,
		      const void *raw, size_t raw_len, uint32_t id,
		      uint32_t tid, size_t *len);

/* sched.c: finds fmt->sched. */
void tp_sched_find(struct tp_format *fmt);
/* What a payload says; kind SCHED_NONE when it is cut or of another event. */
void tp_sched(const struct tp_format *fmt, const struct bytes *raw,
	      struct sched *out);

/* tp_call.c: the system call of that name, "munmap". */
enum call_what tp_call_what(const char *name);
/* Finds fmt->call. */
void tp_call_find(struct tp_format *fmt);
/* What a payload says; CALL_NONE when it is cut or of another event. The path
 * holds until the next use of tp. */
void tp_call(struct tp *tp, const struct tp_format *fmt,
	     const struct bytes *raw, struct call *out);

/* tp_stack.c: finds the fields that are stacks. */
void tp_stack_find(struct tp_format *fmt);
/* Sets s->held; long32: addresses of the kernel have 4 bytes. They hold until
 * the next call. */
void tp_stacks(struct tp *tp, const struct tp_format *fmt,
	       const struct bytes *raw, bool long32, struct rec_sample *s);
#endif
