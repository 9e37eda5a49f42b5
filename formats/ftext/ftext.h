/* ftext.h - private declarations of the reader of ftrace's texts.
 *
 * Open: item.c reads lines of a mapped file or a stream. Next: each event
 * becomes an item. Items are held back a little, because the stacks of an event
 * are printed after it, then returned in the order of the text. Decode: makes
 * the record. A ref's handle is the number of an item, its len the record of
 * the item. All refs have the same kind, so that their order is that of the
 * text. */
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

/* Longer lines are damage. Events print at most a page of text. */
#define FTEXT_LINE 65536u
/* Stacks with more text than this are damage. */
#define FTEXT_STACK (64u << 10)
/* Number of items that are held back: a stack is printed a few microseconds
 * after its event, with entries of other CPUs between them. */
#define FTEXT_HELD 256
#define FTEXT_PAIRS 64

/* "key=value", where it is clear where the value ends. */
struct ftext_pair {
	struct scan key, value;
	bool is_num;
	int64_t num;
	bool absent; /* others of this event have it */
};

struct ftext_pairs {
	struct ftext_pair pair[FTEXT_PAIRS];
	size_t n;
};

/* An event by its name. Its event_def has the same index. */
struct ftext_event {
	char *key; /* the name as printed */
	uint32_t buffer;
	enum event_role role;
	const char *shape;   /* see ftext_pairs_parse() */
	enum call_what call; /* the system call, if mappings depend on it */
	bool leaves;	     /* the event is the end of the call */
	bool flags;	     /* its last field is common_flags */
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
	uint64_t time, key; /* time as printed; key for the order */
	uint64_t off;	    /* offset in the text, for messages */
	char *own; /* copy of the text of a stream; NULL: the text is in the
		      file */
	size_t n_own, cap_own;
	struct ftext_part comm, text, kern, user;
	uint64_t n_lost;
	uint64_t since; /* of a loss: when the one before it was recorded; 0 */
	uint64_t prev;	/* item before it on its CPU, plus 1; 0: none */
	uint32_t event;
	uint32_t buffer; /* number of the buffer's name; 0: the top one */
	uint32_t refs;	 /* refs returned and not released */
	int32_t pid, tgid, cpu;
	uint8_t kind;  /* enum ftext_kind */
	uint8_t stack; /* enum line_stack: it is one */
	uint8_t flags; /* common_flags; 0 if not has_flags */
	bool has_flags;
	uint64_t cookie; /* of the request that the event made */
	bool has_cookie;
	bool has_kern,
		has_user; /* a stack was printed, possibly an empty one */
	bool has_field;	  /* the text contains a stack, which is a field */
	bool comment;	  /* of function_graph: lines with its end follow */
	bool untimed;
	bool dropped; /* a loss at any time of the text */
};

/* The record that a ref is of; in ref.len. */
enum ftext_record {
	REF_SAMPLE,
	REF_LOST,
	REF_FORK,
	REF_COMM,  /* name of the event's first task */
	REF_COMM2, /* name of its second task */
	REF_LINE,  /* name of the task at the start of the line */
	REF_EXIT,
	REF_TOTAL,  /* of no item; the handle is the index in total[] */
	REF_KERNEL, /* the kernel's mapping; like REF_TOTAL, of no item */
	REF_CHAIN,  /* a deferred stack; the higher bits of ref.len are the
		       offset of its line in the text */
};

#define REF_BITS 8

/* What the lines after an event's line belong to. */
enum ftext_more {
	MORE_NONE,
	MORE_TEXT,
	MORE_KERN,
	MORE_USER,
	MORE_COOKIE, /* the cookie of a deferred stack, then its frames */
};

/* Stacks of an event: user, kernel, and in a field. */
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
	/* Lines. */
	char *buf; /* for a stream; a file is mapped */
	size_t cap, pos, end;
	uint64_t base; /* offset of buf in the text */
	bool at_end, dropping;
	/* From the header. */
	bool bare;	  /* events have no context */
	bool mmio;	  /* of mmiotrace */
	bool raw_noted;	  /* a note says that it is of report -R */
	bool untimed;	  /* of function_graph without times */
	int32_t *running; /* of function_graph: thread plus 1 by CPU */
	size_t n_running, cap_running;
	uint64_t overwritten; /* entries overwritten by newer ones, in total */
	struct ftext_beside beside;
	size_t virtual_total; /* of those next to it */
	bool piece;	      /* of a stream that was cut */
	/* Items; the index is the number modulo the capacity. */
	struct ftext_item *item;
	size_t cap_item;		/* a power of two */
	uint64_t first, give, end_item; /* first item not released; first not
					   returned; next new */
	uint64_t last; /* event that the next text or frames belong to, plus 1;
			  0: none */
	enum ftext_more more; /* what those lines are */
	uint64_t lost; /* mark of loss that waits for its event, plus 1 */
	uint64_t *cpu; /* newest item of each CPU of each buffer, plus 1 */
	size_t n_cpu, cap_cpu;
	struct table cpus;
	char **buffer;
	size_t n_buffer, cap_buffer;
	uint64_t first_printed;	      /* least time; UINT64_MAX: none */
	uint64_t printed, newest_key; /* time and key of the last event */
	struct near_time near;	      /* to which the next line must be near */
	bool ticks, relative;
	struct ref *due; /* refs of the item being returned */
	size_t n_due, cap_due, due_pos;
	uint64_t seq;
	bool ended, failed, total_given, kernel_given;
	uint64_t kernel, kernel_end; /* range of its code; 0: unknown */
	struct err why;		     /* failed: the error */
	/* Events. */
	struct ftext_event *event;
	struct event_def *def;
	size_t n_event, cap_event, cap_def;
	struct table by_name;
	/* Names, forks and execs of tasks. */
	struct known_tasks known;
	/* Places of frames by their text. */
	struct ftext_place *place;
	size_t n_place, cap_place;
	struct table places;
	const char *const *nonce_format;
	/* For decode(). */
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
	char *path; /* of call */
	size_t cap_path;
	struct arena scratch; /* for fields() */
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

/* item.c: the lines of a text, items and their refs. */
/* Reads the next line, without its line feed, and its offset. Returns 1, 0 at
 * the end, -1 and *err on failure. */
int ftext_next_line(struct ftext *ft, struct scan *s, uint64_t *off,
		    struct err *err);
/* Sets *s to what can be read without consuming it and without waiting for
 * more. */
int ftext_peek_text(struct ftext *ft, struct scan *s, struct err *err);
struct scan ftext_part_of(const struct ftext *ft, const struct ftext_item *it,
			  const struct ftext_part *part);
/* Adds the bytes of s to a part of the item. s is in `line`, which is at off.
 * The parts of one item come in the order of the text, and each part is
 * contiguous even if several lines make it. */
void ftext_part_add(struct ftext *ft, struct ftext_item *it, struct scan line,
		    uint64_t off, struct scan s, struct ftext_part *part);
/* Adds an item of a line at off and returns its number. */
uint64_t ftext_item_new(struct ftext *ft, uint64_t off, const struct line *l);
void ftext_release(struct source *src, const struct ref *ref);
/* Adds a ref of a record of the item. */
void ftext_add_ref(struct ftext *ft, uint64_t item, uint32_t which);
/* The number of a buffer by its name; 0: no name. */
uint32_t ftext_buffer_of(struct ftext *ft, struct scan name);
/* The newest item of a CPU of a buffer, plus 1; 0: none. */
uint64_t *ftext_item_newest(struct ftext *ft, uint32_t buffer, int32_t cpu);
/* Makes the item the newest of its CPU. */
void ftext_item_link(struct ftext *ft, uint64_t id, uint32_t buffer);

/* next.c: lines to items. */
int ftext_next(struct source *src, struct ref *ref, struct err *err);
/* Takes a line of the header. */
void ftext_header(struct ftext *ft, struct scan s);

/* event.c: events by name. */
/* Returns the event of that name in a buffer, which is added if it is new. Its
 * first text determines its fields. */
uint32_t ftext_event_of(struct ftext *ft, const struct line *l,
			uint32_t buffer);
/* Sets the payload of a sample, valid until the next call. */
void ftext_set_payload(struct ftext *ft, const struct ftext_item *it,
		       struct scan text, struct rec_sample *s);
int ftext_fields(struct source *src, const struct rec_sample *s,
		 struct field *out, struct err *err);
int ftext_print(struct source *src, const struct rec_sample *s, char *buf,
		size_t size);

/* pairs.c: fields in the text of an event. */
/* shape: how the text begins if its fields have no keys, where %FIELD is up to
 * the character that comes next; NULL. */
void ftext_pairs_parse(enum event_role role, const char *shape,
		       struct scan text, struct ftext_pairs *out);
const struct ftext_pair *ftext_pair_find(const struct ftext_pairs *p,
					 const char *key);

/* task.c: scheduling events. */
/* Adds the refs of an item: of names, forks and exits, and of the event itself.
 */
void ftext_task_refs(struct ftext *ft, uint64_t item);
void ftext_task_record(struct ftext *ft, const struct ftext_item *it,
		       enum ftext_record which, struct record *rec);
void ftext_sched(struct ftext *ft, const struct ftext_item *it,
		 struct sched *out);

/* defer.c: deferred user stacks. */
/* Moves the cookie in the text of an event user_unwind_cookie to the item.
 * Returns false if there is none, or the item has one. */
bool ftext_defer_cookie(struct scan text, struct ftext_item *it);
/* Adds the ref of the event itself, and those of deferred stacks in it. */
void ftext_defer_refs(struct ftext *ft, uint64_t item);
/* Sets the request of a sample, if the item made one. */
void ftext_defer_request(struct ftext *ft, const struct ftext_item *it,
			 struct record *rec);
void ftext_defer_chain(struct ftext *ft, const struct ftext_item *it,
		       uint32_t from, struct record *rec);

/* Finds the kernel's code in a copy of kallsyms, if the copy agrees with the
 * text. Returns -1 and *err if the copy cannot be read. */
int ftext_kernel(struct ftext *ft, struct err *err);

/* Takes the clock, and the number of CPUs unless the text tells it. head: the
 * begin of the text. */
void ftext_totals_open(struct ftext *ft, struct scan head);
/* Reads the files stats that --stats names, or that are next to the text.
 * Returns -1 and *err if the option names none. */
int ftext_totals_read(struct ftext *ft, struct err *err);
/* At the end of the text: returns whether they count for it. */
bool ftext_has_totals(struct ftext *ft);

/* Sets call and leaves of the event of that name. */
void ftext_call_find(const char *key, struct ftext_event *e);
/* Parses the text of such an event. The path is valid until the next call.
 * Returns false if the text is not understood. */
bool ftext_call_parse(struct ftext *ft, const struct ftext_event *e,
		      struct scan text, struct call *out);

/* record.c: makes records. */
int ftext_decode(struct source *src, const struct ref *ref, struct record *rec,
		 struct err *err);
