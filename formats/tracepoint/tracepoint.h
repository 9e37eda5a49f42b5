/* tracepoint.h - tracepoints in any capture format: the format text that the
 * kernel writes for each, and the fields, text and meaning of payloads.
 *
 * tp_format_parse() reads the format once; tp_fields_take() reads the fields of
 * a payload; tp_print() makes the text that the kernel would print. Format and
 * payload come from the capture, so all of it is checked. */
#pragma once
#include <stdbool.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

struct tp_print;
struct field;
struct field_def;

enum fmt_kind {
	FMT_NUM,
	FMT_TEXT,
	FMT_BLOB,
	FMT_DYN_TEXT, /* u16 offset and u16 length of data elsewhere in the
			 entry */
	FMT_DYN_BLOB,
};

struct tp_field {
	enum fmt_kind kind;
	uint32_t off, size; /* size 0: up to the end, as for "char buf[]" */
	uint32_t elem;	    /* bytes of one element of an array */
	bool is_signed;
	bool relative; /* the offset counts from the end of this field */
	bool of_probe; /* text without even a NUL could not be read */
};

/* The text that the kernel prints in place of such a text. A struct field with
 * it is not present. */
#define TP_FAULT "(fault)"

/* The fields of a scheduling event, each as index + 1; 0: it has none. */
struct tp_sched {
	enum sched_kind kind;
	uint16_t tid, next, state, success;
	uint16_t leaves, comes; /* names of the threads */
};

/* The fields of a system call's event, each as index + 1; 0: it has none. */
struct tp_call {
	enum call_what what;
	bool exit;
	uint16_t nr, ret, path;
	uint16_t arg[CALL_ARGS]; /* CALL_RAW: the first is an array of all
				    arguments */
};

/* The most fields with stacks, and with addresses of functions, that are
 * read. */
#define TP_STACKS 8u
#define TP_CODES 4u

/* The format of a tracepoint. Strings belong to the arena. */
struct tp_format {
	uint64_t id;
	const char *system, *name, *text; /* name NULL: the format has none */
	size_t len;
	struct tp_field *field; /* n elements, one for each def */
	struct field_def *def;
	size_t n, cap_field, cap_def;
	struct tp_sched sched; /* set by tp_format_parse() */
	struct tp_call call;   /* set by tp_format_parse() */
	size_t n_stack;	       /* number of fields that are stacks */
	size_t n_code; /* fields that are printed as the name of a function */
	uint16_t code[TP_CODES];
};

/* Fields that a reader adds have offsets from here on, which no payload has,
 * and come after the others. If the print format was changed for them, the
 * recorded one follows in a line of its own. */
#define TP_ADDED_OFF 65400u
#define TP_RECORDED_PRINT "recorded print: "

/* A reader that knows strings of the kernel appends them to the print format:
 * this line, then lines of printk_formats. */
#define TP_STRINGS "strings:\n"

struct tp_symbol {
	const char *name;	/* len bytes, no NUL */
	const char *module;	/* module_len bytes, no NUL */
	size_t len, module_len; /* module_len 0: the symbol is in the kernel
				   itself */
	uint64_t start;
	uint64_t size; /* of the symbol in bytes; 0: not known */
	bool is_code;
};

/* How to read payloads, and buffers for it. */
struct tp {
	bool swap, long32;
	uint32_t release; /* of the kernel, see expr.h; 0: not known */
	/* Finds the kernel symbol that contains an address. NULL: no symbols
	 * are known. */
	bool (*symbol)(void *of, uint64_t addr, struct tp_symbol *out);
	void *symbols_of;
	struct arena scratch; /* text and blobs of the last tp_fields_take() */
	struct tp_print *print; /* parsed print formats; NULL: none yet */
	struct field *field;
	size_t cap_field;
	struct addrs
		held[TP_STACKS + TP_CODES]; /* result of tp_stacks_take() */
	uint64_t *ip; /* n_ip addresses, of all these stacks */
	size_t cap_ip, n_ip;
	unsigned char *made; /* the payload of the last tp_make_payload() */
	size_t n_made, cap_made;
};

void tp_release(struct tp *tp);

/* Returns 0, or -1 and *err unless text is a complete format and system can be
 * a name. If the length before them is damaged, neither is. */
int tp_format_check(const char *system, const struct bytes *text,
		    struct err *err);
/* Parses a format. Returns false if the text is none. Strings of *out belong to
 * the arena; tp_format_release() frees the rest. */
bool tp_format_parse(struct arena *arena, const char *system,
		     const struct bytes *b, struct tp_format *out);
void tp_format_release(struct tp_format *fmt);
/* Returns whether the event is a probe that was added to the running kernel,
 * and whose values are fetched from addresses that may be wrong. */
bool tp_format_is_probe(const struct tp_format *fmt);
/* Reads the number after key ("offset:") in [s, end). Returns false if there is
 * none. TP_ID is the key of a format's id, with the line feed, as the event's
 * name in the line before may end with the same letters. */
#define TP_ID "\nID: "
bool tp_number_after(const char *s, const char *end, const char *key,
		     uint32_t *out);
/* print.c: writes the text of a payload to buf; size > 0. Returns its length; 0
 * if the payload has no fields. */
size_t tp_print(struct tp *tp, const struct tp_format *fmt, const void *raw,
		size_t len, char *buf, size_t size);
/* Like tp_print(), for fields that are decoded already. */
size_t tp_print_fields(struct tp *tp, const struct tp_format *fmt,
		       const struct field *field, char *buf, size_t size);
/* Returns the part of the event's text that shows only field i or, if there is
 * none, the field's value. It is in buf, without blanks around it. */
const char *tp_print_value_of(struct tp *tp, const struct tp_format *fmt,
			      size_t i, const struct field *f, char *buf,
			      size_t size);
/* Sets fmt->code: the fields that the print format prints as functions. */
void tp_print_find_code(struct tp *tp, struct tp_format *fmt);
/* Returns whether the print format prints strings of the kernel by address, and
 * fmt has no TP_STRINGS. */
bool tp_print_lacks_strings(struct tp *tp, const struct tp_format *fmt);
/* Returns why the print format cannot be followed, or only for some payloads;
 * "" if it can. Valid as long as tp and fmt. */
const char *tp_print_problem(struct tp *tp, const struct tp_format *fmt);

/* print.c: formats packed arguments into buf; size > 0. */
void tp_bprint(const struct tp *tp, const char *format,
	       const struct bytes *args, char *buf, size_t size);

/* make.c: returns the format as a perf.data file stores it, under this name and
 * id: with the common fields of tracepoints, and a print format that perf can
 * print. The caller frees it. */
char *tp_make_format(const struct tp_format *fmt, const char *name,
		     uint32_t id);
/* Return a payload of that format, borrowed until the next call, or NULL:
 * tp_make_payload() from one field for each def, tp_copy_payload() from a
 * recorded payload. */
const void *tp_make_payload(struct tp *tp, const struct tp_format *fmt,
			    const struct field *field, uint32_t id,
			    uint32_t tid, size_t *len);
const void *tp_copy_payload(struct tp *tp, const struct tp_format *fmt,
			    const void *raw, size_t raw_len, uint32_t id,
			    uint32_t tid, size_t *len);

/* fields.c: sets fmt->sched by the event's name and fields. */
void tp_sched_find(struct tp_format *fmt);
/* Sets *out from a payload; kind is SCHED_NONE if the payload is cut or of
 * another event. */
void tp_sched_take(const struct tp_format *fmt, const struct bytes *raw,
		   struct sched *out);
/* Sets the thread names of a switch in *out. */
void tp_sched_take_names(const struct tp_format *fmt, const struct bytes *raw,
			 struct rec_sample *out);

/* format.c: returns the system call with that name, for example "munmap". */
enum call_what tp_call_what(const char *name);
/* Sets *out from a payload; CALL_NONE if the payload is cut or of another
 * event. The path is valid until the next use of tp. */
void tp_call_take(struct tp *tp, const struct tp_format *fmt,
		  const struct bytes *raw, struct call *out);

/* fields.c: sets is_stack of the fields that are stacks. */
void tp_stack_find(struct tp_format *fmt);
/* Sets s->held: the stacks, then a stack of one frame for each address of a
 * function, so that it gets a name as code does. `long32`: kernel addresses
 * have 4 bytes. Valid until the next call. */
void tp_stacks_take(struct tp *tp, const struct tp_format *fmt,
		    const struct bytes *raw, bool long32, struct rec_sample *s);

/* A payload without its capture: a database has the format of each event, and
 * the bytes or the fields of each sample; both together make the text that the
 * kernel would print. */

/* What tp_print() and the like need. */
struct payload {
	struct tp tp;
	struct tp_format fmt;
	struct arena arena; /* strings of fmt */
};

/* The machine on which a payload was recorded. */
struct payload_machine {
	bool big;	     /* numbers are big-endian */
	bool long32;	     /* a long has 32 bits */
	const char *release; /* release of its kernel; NULL: not known */
};

/* Returns NULL if the text is not a format. payload_free() frees the result. */
struct payload *payload_new(const char *format,
			    const struct payload_machine *on);
void payload_free(struct payload *pl);
