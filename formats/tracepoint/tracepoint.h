/* tracepoint.h - tracepoints of any capture: the format that the kernel writes
 * for each, and the fields, text and meaning of payloads.
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
	FMT_DYN_TEXT, /* u16 offset and u16 length of the data elsewhere in the
			 entry */
	FMT_DYN_BLOB,
};

struct tp_field {
	enum fmt_kind kind;
	uint32_t off, size; /* size 0: up to the end, as of "char buf[]" */
	uint32_t elem;	    /* bytes of one element of an array */
	bool is_signed;
	bool relative; /* the offset counts from the end of this field */
	bool of_probe; /* text without even a final 0 could not be read */
};

/* What the kernel prints for such a text. A struct field that has it is not
 * present. */
#define TP_FAULT "(fault)"

/* The fields of a scheduling event: index plus 1; 0: none. */
struct tp_sched {
	enum sched_kind kind;
	uint16_t tid, next, state, success;
	uint16_t leaves, comes; /* names */
};

/* The fields of an event of a system call: index plus 1; 0: none. */
struct tp_call {
	enum call_what what;
	bool exit;
	uint16_t nr, ret, path;
	uint16_t arg[CALL_ARGS]; /* CALL_RAW: the first is an array of all */
};

/* Most fields with stacks that are read, and with addresses of functions. */
#define TP_STACKS 8u
#define TP_CODES 4u

/* Format of a tracepoint. Strings belong to the arena. */
struct tp_format {
	uint64_t id;
	const char *system, *name, *text; /* name NULL: not in the format */
	size_t len;
	struct tp_field *field; /* n elements, like def */
	struct field_def *def;
	size_t n, cap_field, cap_def;
	struct tp_sched sched; /* set by tp_format_parse() */
	struct tp_call call;   /* set by tp_format_parse() */
	size_t n_stack;	       /* number of fields that are stacks */
	size_t n_code; /* fields that are printed by the name of a function */
	uint16_t code[TP_CODES];
};

/* Fields that a reader adds have offsets from here on, which no payload has,
 * and stand after the others. If the print fmt was changed for them, what was
 * recorded of it follows in a line of its own. */
#define TP_ADDED_OFF 65400u
#define TP_RECORDED_PRINT "recorded print: "

/* A reader that knows strings of the kernel puts them after the print fmt:
 * this line, then lines of printk_formats. */
#define TP_STRINGS "strings:\n"

struct tp_symbol {
	const char *name;	/* len bytes, without a final 0 */
	const char *module;	/* likewise */
	size_t len, module_len; /* module_len 0: it is the kernel's */
	uint64_t start;
	uint64_t size; /* 0: not known */
	bool is_code;
};

/* How to read payloads, and buffers for it. */
struct tp {
	bool swap, long32;
	uint32_t release; /* of the kernel, expr.h; 0: not known */
	/* Finds the kernel's symbol that an address is in; NULL: none are
	 * known. */
	bool (*symbol)(void *of, uint64_t addr, struct tp_symbol *out);
	void *symbols_of;
	struct arena scratch; /* text and blobs of the last tp_fields_take() */
	struct tp_print *print; /* print formats, parsed, or NULL */
	struct field *field;
	size_t cap_field;
	struct addrs held[TP_STACKS + TP_CODES]; /* of tp_stacks_take() */
	uint64_t *ip; /* n_ip addresses of all of them */
	size_t cap_ip, n_ip;
	unsigned char *made; /* the last payload of tp_make_payload() */
	size_t n_made, cap_made;
};

void tp_release(struct tp *tp);

/* Returns -1 with a message unless text is a whole format and system can be a
 * name. Neither is if the length in front of it is damaged. */
int tp_format_check(const char *system, const struct bytes *text,
		    struct err *err);
/* Returns false if the text is not a format. */
bool tp_format_parse(struct arena *arena, const char *system,
		     const struct bytes *b, struct tp_format *out);
void tp_format_release(struct tp_format *fmt);
/* Whether the event is a probe that was put in while the kernel ran, and whose
 * values are fetched from addresses that may be wrong. */
bool tp_format_is_probe(const struct tp_format *fmt);
/* Takes the number after key ("offset:") in [s, end). Returns false if there is
 * none. TP_ID is the key of a format's id: the name in the line in front may
 * have the same letters. */
#define TP_ID "\nID: "
bool tp_number_after(const char *s, const char *end, const char *key,
		     uint32_t *out);
/* print.c: makes the text of a payload; size > 0. Returns its length: 0 if the
 * payload has no fields. */
size_t tp_print(struct tp *tp, const struct tp_format *fmt, const void *raw,
		size_t len, char *buf, size_t size);
/* Makes the text of decoded fields. */
size_t tp_print_fields(struct tp *tp, const struct tp_format *fmt,
		       const struct field *field, char *buf, size_t size);
/* Returns the text of the i-th field in that of the event, if it is there
 * without others, or else its value; a part of buf, without blanks around. */
const char *tp_print_value_of(struct tp *tp, const struct tp_format *fmt,
			      size_t i, const struct field *f, char *buf,
			      size_t size);
/* Sets fmt->code: the fields that the print fmt names as functions. */
void tp_print_find_code(struct tp *tp, struct tp_format *fmt);
/* Returns whether the print fmt has strings of the kernel by their addresses,
 * without TP_STRINGS. */
bool tp_print_lacks_strings(struct tp *tp, const struct tp_format *fmt);
/* Returns why the print fmt cannot be followed, or can for some payloads only;
 * "" if it can. Valid as long as tp and fmt. */
const char *tp_print_problem(struct tp *tp, const struct tp_format *fmt);

/* print.c: formats packed arguments into buf; size > 0. */
void tp_bprint(const struct tp *tp, const char *format,
	       const struct bytes *args, char *buf, size_t size);

/* make.c: returns the format as a perf.data file stores it, under this name and
 * id: with the common fields of tracepoints, and a format string that perf can
 * print. The caller frees it. */
char *tp_make_format(const struct tp_format *fmt, const char *name,
		     uint32_t id);
/* Return a payload of that format, borrowed until the next call: of one field
 * for each def, or of a payload as it was recorded. */
const void *tp_make_payload(struct tp *tp, const struct tp_format *fmt,
			    const struct field *field, uint32_t id,
			    uint32_t tid, size_t *len);
const void *tp_copy_payload(struct tp *tp, const struct tp_format *fmt,
			    const void *raw, size_t raw_len, uint32_t id,
			    uint32_t tid, size_t *len);

/* fields.c: sets fmt->sched. */
void tp_sched_find(struct tp_format *fmt);
/* Sets *out from a payload; kind is SCHED_NONE if it is cut or of another
 * event. */
void tp_sched_take(const struct tp_format *fmt, const struct bytes *raw,
		   struct sched *out);
/* Sets the names of a switch. */
void tp_sched_take_names(const struct tp_format *fmt, const struct bytes *raw,
			 struct rec_sample *out);

/* format.c: the system call of that name, for example "munmap". */
enum call_what tp_call_what(const char *name);
/* Sets *out from a payload; CALL_NONE if it is cut or of another event. The
 * path is valid until the next use of tp. */
void tp_call_take(struct tp *tp, const struct tp_format *fmt,
		  const struct bytes *raw, struct call *out);

/* fields.c: finds the fields that are stacks. */
void tp_stack_find(struct tp_format *fmt);
/* Sets s->held: the stacks, then one of each address of a function, so that it
 * is named as code of stacks is. `long32`: kernel addresses have 4 bytes. The
 * stacks are valid until the next call. */
void tp_stacks_take(struct tp *tp, const struct tp_format *fmt,
		    const struct bytes *raw, bool long32, struct rec_sample *s);

/* A payload without its capture: a database stores the format of each event,
 * and either the bytes or the fields of each sample; from both follows the text
 * that the kernel would print. */

/* All that tp_print() and the like need. */
struct payload {
	struct tp tp;
	struct tp_format fmt;
	struct arena arena; /* strings of fmt */
};

/* What a payload was recorded on. */
struct payload_machine {
	bool big;	     /* numbers are big-endian */
	bool long32;	     /* it has 32 bits */
	const char *release; /* of its kernel; NULL: not known */
};

/* Returns NULL if the text is not a field format. */
struct payload *payload_new(const char *format,
			    const struct payload_machine *on);
void payload_free(struct payload *pl);
