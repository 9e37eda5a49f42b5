/* ftext.h - inside the reader of ftrace's texts: what its files share.
 *
 * ftext_open -> ftext_input (lines of a mapped file or of a stream) -> scan
 * -> next: each event is an item; items are held back a little, because the
 * stacks of an event are printed behind it, then they are given out in the
 * order of the text -> decode. A ref's handle is the number of an item, its
 * len which of the item's records it is. All refs have one class: what was
 * printed first comes first. */
#ifndef FORMATS_FTEXT_FTEXT_H
#define FORMATS_FTEXT_FTEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/ftext/line.h"
#include "formats/reader/inodes.h"
#include "formats/reader/told_tasks.h"
#include "formats/input.h"
#include "formats/reader/user_stack_reader.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

extern const struct source_ops ftext_ops;

/* Longer lines are damage. Events print at most a page of text. */
#define FTEXT_LINE 65536u
/* A stack with more bytes of text is damage from there on. */
#define FTEXT_STACK (64u << 10)
/* Items that are held back: a stack is printed a few microseconds behind its
 * event, between them are the entries of other CPUs. */
#define FTEXT_HELD 256
#define FTEXT_PAIRS 64

/* What an event says of tasks. */
enum ftext_role {
	ROLE_PLAIN,
	ROLE_SWITCH,
	ROLE_WAKEUP,
	ROLE_WAKEUP_NEW,
	ROLE_FORK,
	ROLE_NEWTASK,
	ROLE_EXEC,
	ROLE_EXIT,
	ROLE_RENAME,
	ROLE_NAMED,  /* has a comm and a pid */
	ROLE_COOKIE, /* stands behind its event, as a stack does */
	ROLE_INODE,
	ROLE_MARKER, /* text from user mode */
};

/* "key=value", as far as it is clear where the value ends. */
struct ftext_pair {
	struct scan key, value;
	bool is_num;
	int64_t num;
};

struct ftext_pairs {
	struct ftext_pair pair[FTEXT_PAIRS];
	size_t n;
};

/* An event by its name; beside it in the same place is its event_def. */
struct ftext_event {
	char *key; /* the name as printed */
	uint32_t buffer;
	enum ftext_role role;
	enum call_what call; /* of a system call that we look at */
	bool leaves;	     /* it is its end */
	struct field_def *def;
};

/* Part of an item's text: from its base. */
struct ftext_part {
	uint64_t at;
	size_t n;
};

enum ftext_kind {
	ITEM_EVENT,
	ITEM_LOST,
};

struct ftext_item {
	uint64_t time, key; /* as printed; for the order */
	uint64_t off;	    /* place in the text, for messages */
	char *own;	    /* text of a stream's; NULL: it is in the file */
	size_t n_own, cap_own;
	struct ftext_part comm, text, kern, user;
	uint64_t n_lost;
	uint64_t prev; /* item before it on its CPU, plus 1; 0: none */
	uint32_t event;
	uint32_t buffer; /* number of its name; 0: the top one */
	uint32_t refs;	 /* given out and not released */
	int32_t pid, tgid, cpu;
	uint8_t kind;  /* enum ftext_kind */
	uint8_t stack; /* enum line_stack: it is one */
	uint8_t context;
	uint64_t cookie; /* of the request that it made */
	bool has_cookie;
	bool has_kern, has_user; /* a stack was said, perhaps an empty one */
	bool has_field;		 /* one that is a field: in its text */
	bool untimed;
};

/* What a ref is of; in ref.len. */
enum ftext_record {
	REF_SAMPLE,
	REF_LOST,
	REF_FORK,
	REF_COMM,  /* of the first task that the event names */
	REF_COMM2, /* of the second */
	REF_LINE,  /* the name in the line itself */
	REF_EXIT,
	REF_TOTAL,
	REF_KERNEL, /* where it was; as the total of no item */
	REF_CHAIN,  /* of a deferred stack; in higher bits where its line begins
		     * in the text */
};

#define REF_BITS 8

/* What lines behind an event's line belong to. */
enum ftext_more {
	MORE_NONE,
	MORE_TEXT,
	MORE_KERN,
	MORE_USER,
	MORE_COOKIE, /* of a deferred stack, then its frames */
};

/* The stacks of an event: of user mode, of the kernel, in a field. */
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
	char *buf; /* of a stream; of a file the mapping is used */
	size_t cap, pos, end;
	uint64_t base; /* place of buf in the text */
	bool at_end, dropping;
	/* What the header said. */
	bool table, bare; /* there is a header; its events have no context */
	uint64_t overwritten; /* by newer entries, in all */
	/* Items, by number modulo the capacity. */
	struct ftext_item *item;
	size_t cap_item;		/* a power of two */
	uint64_t first, give, end_item; /* not released, not given out, next */
	uint64_t last;	      /* event whose text or frames come next, plus
			       * 1; 0: none */
	enum ftext_more more; /* what such lines are */
	uint64_t lost;	      /* mark whose event comes next, plus 1 */
	uint64_t *cpu; /* newest item of each CPU of each buffer, plus 1 */
	size_t n_cpu, cap_cpu;
	struct table cpus;
	char **buffer;
	size_t n_buffer, cap_buffer;
	uint64_t printed, newest_key; /* time and key of the last event */
	bool ticks, relative;
	struct ref *due; /* of the item that is given out */
	size_t n_due, cap_due, due_pos;
	uint64_t seq;
	bool ended, failed, total_given, kernel_given;
	uint64_t kernel, kernel_end; /* where its code was; 0: not known */
	struct err why;		     /* failed: of what */
	/* Events. */
	struct ftext_event *event;
	struct event_def *def;
	size_t n_event, cap_event, cap_def;
	struct table by_name;
	/* Tasks: hash of the name; the lowest bit: an event said it. */
	struct known known;
	/* Places of frames, by their text. */
	struct ftext_place *place;
	size_t n_place, cap_place;
	struct table places;
	struct inodes inodes;
	const char *const *nonce_format;
	/* decode() */
	struct unwound unwound;
	struct ftext_pairs pairs;
	uint64_t *ip[FTEXT_STACKS];
	const struct place **at[FTEXT_STACKS];
	size_t cap_ip[FTEXT_STACKS], cap_at[FTEXT_STACKS];
	struct addrs held;
	unsigned char *raw;
	size_t cap_raw;
	char comm[64];
	struct call call;
	char *path; /* call's */
	size_t cap_path;
	struct arena scratch; /* of fields() */
};

struct ftext_place {
	const char *key;
	size_t n;
	bool kernel;
	const struct place *place;
};

static inline struct ftext *ftext_of(struct source *src)
{
	return (struct ftext *)src;
}

static inline struct ftext_item *ftext_item(const struct ftext *ft, uint64_t i)
{
	return &ft->item[i & (ft->cap_item - 1)];
}

/* input.c */
/* The next line without its end: 1, *s and where it is; 0 the end; -1. */
int ftext_line(struct ftext *ft, struct scan *s, uint64_t *off,
	       struct err *err);
/* What can be seen without taking it, and without waiting for more. */
int ftext_look(struct ftext *ft, struct scan *s, struct err *err);
struct scan ftext_part_of(const struct ftext *ft, const struct ftext_item *it,
			  const struct ftext_part *part);
/* Where the bytes of s, which are of the line at off, are in the item. */
void ftext_keep(struct ftext *ft, struct ftext_item *it, struct scan line,
		uint64_t off, struct scan s, struct ftext_part *part);

/* ftext.c */
void ftext_damage(struct ftext *ft, const char *what, uint64_t off,
		  uint64_t len, const char *why);
void ftext_note(struct ftext *ft, const char *what, const char *detail);
/* 0, or -1 and *err: what the first lines are is not to be read. */
int ftext_refuse(struct ftext *ft, struct err *err);

/* next.c */
int ftext_next(struct source *src, struct ref *ref, struct err *err);
void ftext_release(struct source *src, const struct ref *ref);
void ftext_due(struct ftext *ft, uint64_t item, uint32_t which);
/* A line of the header. */
void ftext_header(struct ftext *ft, struct scan s);

/* event.c */
/* The event of that name in a buffer, a new one when need be; its first text
 * shows which fields it has. */
uint32_t ftext_event_of(struct ftext *ft, const struct line *l,
			uint32_t buffer);
void ftext_pairs(enum ftext_role role, struct scan text,
		 struct ftext_pairs *out);
const struct ftext_pair *ftext_pair(const struct ftext_pairs *p,
				    const char *key);
int ftext_fields(struct source *src, const struct rec_sample *s,
		 struct field *out, struct err *err);
int ftext_print(struct source *src, const struct rec_sample *s, char *buf,
		size_t size);

/* task.c */
/* Names, forks and exits that an item tells of: refs that are due. The ref of
 * the event itself is one of them. */
void ftext_task_refs(struct ftext *ft, uint64_t item);
void ftext_task_record(struct ftext *ft, const struct ftext_item *it,
		       enum ftext_record which, struct record *rec);
void ftext_sched(struct ftext *ft, const struct ftext_item *it,
		 struct sched *out);

/* defer.c */
/* The cookie in the text of an event user_unwind_cookie becomes the item's;
 * false: there is none, or the item has one. */
bool ftext_defer_cookie(struct scan text, struct ftext_item *it);
/* The ref of the event itself, and those of deferred stacks in it. */
void ftext_defer_refs(struct ftext *ft, uint64_t item);
/* What the sample asks for. */
void ftext_defer_request(struct ftext *ft, const struct ftext_item *it,
			 struct record *rec);
void ftext_defer_chain(struct ftext *ft, const struct ftext_item *it,
		       uint32_t from, struct record *rec);

/* kernel.c */
/* Where the kernel was, by a copy of kallsyms that agrees with the text. -1
 * and *err: it cannot be read. */
int ftext_kernel(struct ftext *ft, struct err *err);
void ftext_kernel_record(const struct ftext *ft, struct record *rec);

/* ftext_call.c */
/* Sets call and leaves of the event of that name. */
void ftext_call_find(const char *key, struct ftext_event *e);
/* What the text of such an event says; the path holds until the next call.
 * false: nothing that is understood. */
bool ftext_call(struct ftext *ft, const struct ftext_event *e, struct scan text,
		struct call *out);

/* record.c */
int ftext_decode(struct source *src, const struct ref *ref, struct record *rec,
		 struct err *err);
#endif
