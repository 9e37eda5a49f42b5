/* ftext.h - private declarations of the reader of ftrace's texts.
 *
 * Open: item.c reads lines of a mapped file or a stream. Next: each event
 * becomes an item. Items are held back a little, because the stacks of an event
 * are printed after it, and then returned in the order of the text. Decode:
 * makes the record. The handle of a ref is the number of an item, its len the
 * record of the item. All refs have the same kind, so that their order is that
 * of the text. */
#pragma once
#include <stdbool.h>

#include "formats/ftext/beside.h"
#include "formats/ftext/line.h"
#include "formats/reader/bounds.h"
#include "formats/reader/reader.h"
#include "formats/reader/task_rules.h"
#include "formats/input.h"
#include "formats/reader/nonce.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

extern const struct source_ops ftext_ops;

/* Longer lines are damage. An event prints at most a page of text. */
#define FTEXT_LINE 65536u
/* Stacks with more text than this are damage. */
#define FTEXT_STACK (64u << 10)
/* How many items are held back: a stack is printed a few microseconds after its
 * event, with entries of other CPUs between them. */
#define FTEXT_HELD 256
#define FTEXT_PAIRS 64

/* A "key=value" whose end is clear. */
struct ftext_pair {
	struct scan key, value;
	bool is_num;
	int64_t num;
	bool absent; /* only other texts of this event have it */
};

struct ftext_pairs {
	struct ftext_pair pair[FTEXT_PAIRS];
	size_t n;
};

/* An event with one name. Its event_def has the same index. */
struct ftext_event {
	char *key; /* the name as the text has it */
	uint32_t buffer;
	enum event_role role;
	const char *shape; /* see ftext_pairs_parse(); NULL: fields have keys */
	enum call_what call; /* the system call, if mappings depend on it */
	bool leaves;	     /* the event is the return of the call */
	bool flags; /* the payload has common_flags as its last field */
	struct field_def *def;
};

/* A part of an item's text, relative to its base. */
struct ftext_part {
	uint64_t at;
	size_t n;
};

enum ftext_kind {
	ITEM_EVENT,
	ITEM_LOST,
};

struct ftext_item {
	uint64_t time, key; /* time as printed; key: place in the order */
	uint64_t off;	    /* offset in the text, for messages */
	char *own; /* copy of a stream's text; NULL: the text is in the mapped
		      file */
	size_t n_own, cap_own;
	struct ftext_part comm, text, kern, user;
	uint64_t n_lost;
	uint64_t
		since; /* loss: time of the CPU's event before it; 0: unknown */
	uint64_t prev; /* previous item of its CPU, + 1; 0: none */
	uint32_t event;
	uint32_t buffer; /* number of the buffer's name; 0: the top buffer */
	uint32_t refs;	 /* refs that were returned and not released */
	int32_t pid, tgid, cpu;
	uint8_t kind;  /* enum ftext_kind */
	uint8_t stack; /* enum line_stack, if the item is a stack */
	uint8_t flags; /* common_flags; 0 if not has_flags */
	bool has_flags;
	uint64_t cookie; /* cookie of the request that the event made */
	bool has_cookie;
	bool has_kern, has_user; /* a stack was printed, which may be empty */
	bool has_field;		 /* the text contains a stack that is a field */
	bool comment; /* function_graph: the comment ends in a later line */
	bool untimed;
	bool dropped; /* the loss may have been at any time of the text */
};

/* The record that a ref stands for; in ref.len. */
enum ftext_record {
	REF_SAMPLE,
	REF_LOST,
	REF_FORK,
	REF_COMM,  /* name of the event's first task */
	REF_COMM2, /* name of its second task */
	REF_LINE,  /* name of the task at the start of the line */
	REF_EXIT,
	REF_TOTAL,  /* a total loss: the handle is an index in total[], not an
		       item */
	REF_KERNEL, /* the kernel's mapping, which has no item either */
	REF_CHAIN,  /* a deferred stack; the higher bits of ref.len are the
		       offset of its line in the text */
};

#define REF_BITS 8

/* What the lines after an event's line are. */
enum ftext_more {
	MORE_NONE,
	MORE_TEXT,
	MORE_KERN,
	MORE_USER,
	MORE_COOKIE, /* the cookie of a deferred stack, then its frames */
};

/* The stacks of an event: user, kernel, and one in a field. */
enum ftext_stack {
	FTEXT_USER,
	FTEXT_KERN,
	FTEXT_FIELD,
	FTEXT_STACKS
};

struct ftext {
	struct source src;
	struct source_opts opts;
	struct input in;
	struct arena arena;
	/* The lines. */
	char *buf; /* buffer of a stream; a file is mapped */
	size_t cap, pos, end;
	uint64_t base; /* offset of buf in the text */
	bool at_end, dropping;
	/* From the header of the text. */
	bool bare;		     /* events have no task, CPU and time */
	bool mmio;		     /* a text of mmiotrace */
	bool raw_noted, short_noted; /* notes about report -R, -N were made */
	bool bare_noted;	     /* a note about stacks without a CPU was */
	bool untimed;		     /* function_graph without times */
	int32_t *running; /* function_graph: running thread + 1, by CPU */
	size_t n_running, cap_running;
	uint64_t overwritten; /* how many entries newer ones have overwritten */
	struct ftext_beside beside;
	size_t virtual_total; /* how many totals of ftext_beside were returned
			       */
	bool piece;	      /* the text is a piece of a stream */
	/* The items; item n is at n modulo the capacity. */
	struct ftext_item *item;
	size_t cap_item;		/* a power of two; 0: none */
	uint64_t first, give, end_item; /* numbers: first not released; first
					   not returned; next new one */
	uint64_t last; /* event that the next text or frames belong to, + 1; 0:
			  none */
	enum ftext_more more; /* what these lines are */
	uint64_t lost; /* mark of loss that waits for its event, + 1; 0: none */
	uint32_t marked; /* buffer of a mark that waits for its event, which is
			    of this CPU; 0: none */
	int32_t marked_cpu;
	uint64_t *cpu; /* by buffer and CPU: newest item, + 1; 0: none */
	size_t n_cpu, cap_cpu;
	struct table cpus;
	char **buffer;
	size_t n_buffer, cap_buffer;
	uint64_t first_printed; /* the smallest time; UINT64_MAX: none yet */
	uint64_t printed, newest_key; /* time and key of the last event */
	struct near_time near; /* the next line must have a time near this */
	bool ticks, relative;
	struct ref *due; /* refs of the item that is being returned */
	size_t n_due, cap_due, due_pos;
	uint64_t seq;
	bool ended, failed, total_given, kernel_given;
	uint64_t kernel,
		kernel_end; /* range of the kernel's code; 0: unknown */
	struct err why;	    /* the error, if failed */
	/* The events. */
	struct ftext_event *event;
	struct event_def *def;
	size_t n_event, cap_event, cap_def;
	struct table by_name;
	/* Names, forks and execs of tasks so far. */
	struct known_tasks known;
	/* The places of frames, by their text. */
	struct ftext_place *place;
	size_t n_place, cap_place;
	struct table places;
	const char *const *nonce_format;
	/* The state of decode(). */
	struct user_stack_reader stack;
	struct ftext_pairs pairs;
	uint64_t *ip[FTEXT_STACKS];
	const struct place **at[FTEXT_STACKS];
	size_t cap_ip[FTEXT_STACKS], cap_at[FTEXT_STACKS];
	struct addrs held;
	unsigned char *raw;
	size_t cap_raw;
	char comm[64];
	struct call call;
	char *path; /* path of `call` */
	size_t cap_path;
	struct arena scratch; /* memory of fields() */
};

struct ftext_place {
	const char *key;
	size_t n;
	bool kernel;
	const struct place *place;
};

static inline struct ftext *ftext_from_source(struct source *src)
{
	return (struct ftext *)src;
}

static inline struct ftext_item *ftext_item_at(const struct ftext *ft,
					       uint64_t i)
{
	return &ft->item[i & (ft->cap_item - 1)];
}

/* item.c: reads lines; makes items and their refs. */
/* Reads the next line, without its line feed, and its offset. Returns 1; 0 at
 * the end; -1 and *err on failure. */
int ftext_next_line(struct ftext *ft, struct scan *s, uint64_t *off,
		    struct err *err);
/* Sets *s to the text that can be read without consuming it or waiting for
 * more. Returns 0, or -1 and *err. */
int ftext_peek_text(struct ftext *ft, struct scan *s, struct err *err);
struct scan ftext_part_of(const struct ftext *ft, const struct ftext_item *it,
			  const struct ftext_part *part);
/* Adds the bytes of s, which are in `line` at offset off, to a part of the
 * item. The parts of one item come in the order of the text, and each is
 * contiguous even if it has several lines. */
void ftext_part_add(struct ftext *ft, struct ftext_item *it, struct scan line,
		    uint64_t off, struct scan s, struct ftext_part *part);
/* Adds an item for the line at off and returns the item's number. */
uint64_t ftext_item_new(struct ftext *ft, uint64_t off, const struct line *l);
void ftext_release(struct source *src, const struct ref *ref);
/* Adds a ref for a record of the item. */
void ftext_add_ref(struct ftext *ft, uint64_t item, uint32_t which);
/* Returns the number of a buffer by its name; 0: no name. */
uint32_t ftext_buffer_of(struct ftext *ft, struct scan name);
/* Returns the place of the newest item of a CPU in a buffer, + 1; 0: it has
 * none. */
uint64_t *ftext_item_newest(struct ftext *ft, uint32_t buffer, int32_t cpu);
/* Makes the item the newest of its CPU. */
void ftext_item_link(struct ftext *ft, uint64_t id, uint32_t buffer);

/* next.c: makes items from lines. */
int ftext_next(struct source *src, struct ref *ref, struct err *err);
/* Reads a line of the header. */
void ftext_header(struct ftext *ft, struct scan s);

/* event.c: events by name. */
/* Returns the index of the event with that name in a buffer, which is added if
 * it is new. Its first text determines its fields. */
uint32_t ftext_event_of(struct ftext *ft, const struct line *l,
			uint32_t buffer);
/* Sets the payload of a sample, which is valid until the next call. */
void ftext_set_payload(struct ftext *ft, const struct ftext_item *it,
		       struct scan text, struct rec_sample *s);
int ftext_fields(struct source *src, const struct rec_sample *s,
		 struct field *out, struct err *err);
int ftext_print(struct source *src, const struct rec_sample *s, char *buf,
		size_t size);

/* pairs.c: finds the fields in the text of an event. */
/* Parses the fields of a text into *out. shape: how the text begins if its
 * fields have no keys; %FIELD is the text up to the next character of the
 * shape. NULL: they have keys. */
void ftext_pairs_parse(enum event_role role, const char *shape,
		       struct scan text, struct ftext_pairs *out);
const struct ftext_pair *ftext_pair_find(const struct ftext_pairs *p,
					 const char *key);

/* task.c: scheduling events. */
/* Adds the refs of an item: those of names, forks and exits, and that of the
 * event. */
void ftext_task_refs(struct ftext *ft, uint64_t item);
void ftext_task_record(struct ftext *ft, const struct ftext_item *it,
		       enum ftext_record which, struct record *rec);
void ftext_sched(struct ftext *ft, const struct ftext_item *it,
		 struct sched *out);

/* defer.c: deferred user stacks. */
/* Sets the cookie of an item from the text of an event user_unwind_cookie.
 * Returns false if the text has none, or the item has one already. */
bool ftext_defer_cookie(struct scan text, struct ftext_item *it);
/* Adds the ref of the event, and those of deferred stacks in its text. */
void ftext_defer_refs(struct ftext *ft, uint64_t item);
/* Sets the request of a sample, if the item has a cookie. ftext_defer_chain()
 * makes the record of a deferred stack. */
void ftext_defer_request(struct ftext *ft, const struct ftext_item *it,
			 struct record *rec);
void ftext_defer_chain(struct ftext *ft, const struct ftext_item *it,
		       uint32_t from, struct record *rec);

/* Finds the kernel's code in a copy of kallsyms, if the copy agrees with the
 * text. Returns 0, or -1 and *err if the copy cannot be read. */
int ftext_kernel(struct ftext *ft, struct err *err);

/* Sets the clock, and the number of CPUs unless the text has it. head: the
 * start of the text. */
void ftext_totals_open(struct ftext *ft, struct scan head);
/* Reads the files stats that --stats names, or those in the folder of the text.
 * Returns 0, or -1 and *err if there are none where the option says. */
int ftext_totals_read(struct ftext *ft, struct err *err);
/* Returns whether these totals hold for the text. Call it at the end of the
 * text. */
bool ftext_has_totals(struct ftext *ft);

/* Sets call and leaves of the event with that name. */
void ftext_call_find(const char *key, struct ftext_event *e);
/* Parses the text of an event with a call. The path is valid until the next
 * call. Returns false if the text is not understood. */
bool ftext_call_parse(struct ftext *ft, const struct ftext_event *e,
		      struct scan text, struct call *out);

/* record.c: makes the record of a ref. Returns 0, or -1 and *err. */
int ftext_decode(struct source *src, const struct ref *ref, struct record *rec,
		 struct err *err);
