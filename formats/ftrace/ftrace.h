/* ftrace.h - inside the reader of ftrace's binary captures: what its files
 * share.
 *
 * ft_open -> ft_file (version 6: one part behind the other; version 7:
 * sections; options of both) -> scan: the streams' first and last times ->
 * next: all streams merged, each a ring's pages of one CPU -> decode. An
 * entry is named by its stream and its place in the stream's plain bytes. */
#ifndef FORMATS_FTRACE_FTRACE_H
#define FORMATS_FTRACE_FTRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/inodes.h"
#include "formats/reader/told_tasks.h"
#include "formats/input.h"
#include "formats/tracepoint/tracepoint.h"
#include "formats/reader/user_stack_reader.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

extern const struct source_ops ftrace_ops;

#define FT_MAGIC "\x17\x08\x44tracing"
#define FT_MAGIC_LEN 10

/* Ids of sections and options of version 7; version 6 has the options below
 * FT_STRINGS, with the same meaning but for FT_BUFFER. */
enum ft_id {
	FT_OPTIONS = 0, /* section; as an option: the end */
	FT_DATE,
	FT_CPUSTAT,
	FT_BUFFER,
	FT_TRACECLOCK,
	FT_UNAME,
	FT_HOOK,
	FT_OFFSET,
	FT_CPUCOUNT,
	FT_VERSION,
	FT_PROCMAPS,
	FT_TRACEID,
	FT_TIME_SHIFT,
	FT_GUEST,
	FT_TSC2NSEC,
	FT_STRINGS,
	FT_HEADER_INFO,
	FT_FTRACE_EVENTS,
	FT_EVENT_FORMATS,
	FT_KALLSYMS,
	FT_PRINTK,
	FT_CMDLINES,
	FT_BUFFER_TEXT,
	FT_BTF_FILE,
	FT_LAST_BOOT,
	FT_MODULES,
	FT_KNOWN, /* first one we do not know */
};

/* What an event means to us besides being one. */
enum ft_role {
	FT_PLAIN,
	FT_KSTACK,
	FT_USTACK,
	FT_COOKIE, /* stands behind its event, as a stack does */
	FT_CHAIN,  /* a deferred user stack: no event */
	FT_INODE,
	FT_MARKER, /* text from user mode */
	FT_SWITCH,
	FT_WAKEUP,
	FT_WAKEUP_NEW,
	FT_NAMED, /* has a comm and a pid */
	FT_FORK,
	FT_NEWTASK,
	FT_EXEC,
	FT_EXIT,
	FT_RENAME,
};

/* The fields that a role reads: places in its format, -1 not there. */
struct ft_parts {
	int pid, comm;	 /* of switch: of the one that leaves */
	int pid2, comm2; /* of switch: of the next; of fork: the child */
	int state;	 /* of switch: prev_state; of newtask: clone_flags */
	int at;		 /* of stacks: the first address; of cookies, texts and
			  * inodes: that */
	int size;	 /* of kernel stacks: how many; of user's: tgid; of
			  * deferred ones: the cookie; of inodes: the path */
	int inodes, dev; /* of deferred stacks */
};

struct ft_type {
	struct tp_format fmt;
	enum ft_role role;
	bool printk; /* its text stands elsewhere */
	struct ft_parts part;
};

enum ft_pack {
	FT_PACK_NONE,
	FT_PACK_ZSTD,
	FT_PACK_ZLIB,
};

/* A part of a stream that was packed for itself. */
struct ft_chunk {
	uint64_t at;  /* of its first byte in the stream */
	uint64_t off; /* of the packed bytes in the file */
	uint32_t packed, len;
};

/* An unpacked chunk. */
struct ft_win {
	unsigned char *data;
	size_t cap;
	size_t chunk; /* plus 1; 0: empty */
	uint64_t used;
};

#define FT_WINS 4
/* Of a sub-buffer: the kernel makes them up to 64 KiB or so. */
#define FT_SUBBUF_MAX ((uint32_t)1 << 20)

/* An entry that was walked and not handed out: the stacks behind it may be
 * its. */
struct ft_item {
	uint64_t time, place;
	int32_t pid;
	uint16_t id;
	uint8_t kind;	     /* enum ft_item_kind */
	uint8_t role;	     /* enum ft_role */
	uint8_t context;     /* irq, softirq, NMI */
	uint16_t kern, user; /* stacks: words from place; 0: none */
	bool cookie;	     /* user is a cookie's place */
};

enum ft_item_kind {
	FT_ENTRY,
	FT_LOST,  /* of a page: entries were lost in front of it */
	FT_BREAK, /* damage: no stack belongs to anything before it */
};

#define FT_AHEAD 32

/* A sub-buffer that is being walked. */
struct ft_page {
	struct bytes b;	 /* what is left of its data */
	uint64_t place;	 /* of its header in the stream */
	uint64_t time;	 /* of the last entry */
	bool lost;	 /* something was, in front of it */
	bool has_number; /* and it is said how much: */
	uint64_t n_lost;
};

struct ft_entry {
	uint64_t time, place;
	struct bytes b; /* the payload */
};

/* A file of pages in a folder. */
struct ft_raw {
	struct input in;
	int32_t cpu;
};

/* One CPU of one instance. */
struct ft_stream {
	const unsigned char *data; /* of the file it is in */
	const char *path;
	int32_t cpu;
	uint32_t instance;
	uint32_t subbuf;
	uint64_t off, len; /* place in the file when it is not packed; plain
			    * bytes in all */
	struct ft_chunk *chunk;
	size_t n_chunk, cap_chunk;
	struct ft_win win[FT_WINS];
	uint64_t next_page; /* place of the next sub-buffer */
	struct ft_page page;
	bool in_page, at_end;
	bool lost_due; /* the page at lost_place has a mark: it stands in
			* front of the next entry */
	uint64_t lost_place;
	uint64_t last;
	struct ft_item ring[FT_AHEAD];
	uint32_t head, n;
};

/* A buffer: the top one, or an instance with a name. */
struct ft_instance {
	const char *name, *clock; /* clock NULL: not said */
	uint64_t section;	  /* of version 7 */
	uint32_t subbuf;
	/* Of a buffer that was kept over a boot: where the kernel was then,
	 * how long it is, and what is to be added to be where it is now. */
	uint64_t last_text, text_len, moved;
};

/* Records that are made from what stands around the pages. */
struct ft_made {
	enum record_kind kind;
	uint32_t flags;
	int32_t pid, cpu;
	uint32_t ring;
	uint64_t addr, len, n;
	uint64_t pgoff;
	uint16_t type;
	const char *name;
};

/* Of LAST_BOOT. */
struct ft_boot {
	const char *instance;
	uint64_t text;
};

struct ft_cmd {
	int32_t tid;
	const char *name;
};

struct ft_tgid {
	int32_t tid, tgid;
};

/* By how much a guest's clock was behind its host's, of one CPU. */
struct ft_sample {
	uint64_t time, offset, scaling, fraction;
};

struct ft_sync {
	struct ft_sample *at; /* by time */
	uint32_t n;
};

/* Of printk_formats. */
struct ft_text {
	uint64_t addr;
	const char *text;
};

/* What CPUSTAT says of one CPU. */
struct ft_stat {
	const char *buffer; /* name; NULL: the top one */
	int32_t cpu;
	uint64_t overrun, commit_overrun, dropped;
};

struct ft {
	struct source src;
	struct source_opts opts;
	struct input in;
	bool big, swap, long32, commit32;
	unsigned int version; /* of trace.dat; 0: a folder */
	enum ft_pack pack;
	uint64_t first_options, header_end;
	uint32_t page_size, subbuf;
	uint32_t n_cpus; /* of version 6 */
	struct arena arena;
	struct tp tp;	/* of fields() and print() */
	struct tp look; /* of next() and decode() */
	struct ft_type *type;
	size_t n_type, cap_type;
	uint32_t *by_id;     /* 65536: in type, plus 1; 0: no format */
	uint32_t *event_of;  /* the same: in event; 0: not seen so far */
	struct table events; /* of other buffers: in event */
	struct event_def *event;
	size_t n_event, cap_event;
	struct ft_instance *inst;
	size_t n_inst, cap_inst;
	struct ft_stream *stream;
	size_t n_stream, cap_stream;
	uint64_t win_bytes, tick;
	uint64_t claimed;    /* bytes of the file that rings are in */
	bool have[FT_KNOWN]; /* sections that were read */
	/* Options. */
	int64_t shift;	   /* DATE and OFFSET: ns to add */
	bool dated, moved; /* which of them */
	uint32_t mult, mult_shift;
	uint64_t trace_id, peer; /* TRACEID; whose clock TIME_SHIFT leads to */
	struct ft_sync *sync;
	size_t n_sync;
	uint32_t sync_flags;
	bool synced;	      /* that one is read too */
	struct ft_text *text; /* by address */
	size_t n_text, cap_text;
	char printed[1024];  /* by fields() and print() */
	struct field *field; /* of print() */
	size_t cap_field;
	struct ft_boot *boot;
	size_t n_boot, cap_boot;
	struct ft_stat *stat;
	const char *stat_buffer; /* whose the next ones are */
	size_t n_stat, cap_stat;
	struct rec_map *map; /* of PROCMAPS */
	size_t n_map, cap_map;
	struct snapshot *maps; /* of one process each */
	size_t n_maps, cap_maps;
	char *kallsyms; /* text, ends with a 0 */
	size_t kallsyms_len;
	struct ft_cmd *cmd; /* by tid, once sorted */
	size_t n_cmd, cap_cmd;
	/* Of a folder. */
	struct ft_raw *raw;
	size_t n_raw;
	struct ft_tgid *tgid; /* by tid */
	size_t n_tgid, cap_tgid;
	/* next() */
	struct ft_made *made;
	size_t n_made, cap_made, made_pos;
	uint32_t *heap; /* of streams with an item, earliest first */
	size_t n_heap;
	struct ref *due; /* made of one item, not handed out */
	size_t n_due, cap_due, due_pos;
	uint64_t seq;
	bool merging;
	struct known known;	   /* names, forks and execs */
	uint64_t walked, walk_len; /* plain bytes of all streams */
	bool ended;
	/* decode() */
	struct inodes inodes;
	struct unwound unwound;
	const char *const *nonce_format;
	uint64_t *kern, *user;
	size_t cap_kern, cap_user;
	char comm[64];
	struct call call;
};

static inline struct ft *ft_of(struct source *src)
{
	return (struct ft *)src;
}

/* NULL: the capture has no format of it. */
static inline const struct ft_type *ft_type_of(const struct ft *ft, uint16_t id)
{
	return ft->by_id[id] ? &ft->type[ft->by_id[id] - 1] : NULL;
}

/* Classes that tell several records of one entry apart; the low bits of
 * ref.len say which of an entry's tasks a name is for. */
enum ft_whose {
	FT_FIRST,
	FT_SECOND,
	FT_SAVED, /* of common_pid, the name in saved_cmdlines */
};

#define FT_MADE 0xffffu /* stream number of made records */

/* file.c: the header, and all that stands in front of the pages. */
int ft_file(struct ft *ft, struct err *err);
/* Finds sections by walking from the header on. */
void ft_salvage(struct ft *ft);
/* Reads the section at off; its contents, unpacked, are in *out and owned by
 * *owned (NULL: the file's). *id is what it is. */
int ft_section(struct ft *ft, uint64_t off, uint16_t *id, struct bytes *out,
	       unsigned char **owned, struct err *err);

/* meta.c: the contents of sections and of version 6's parts. */
int ft_meta(struct ft *ft, uint16_t id, struct bytes *b, struct err *err);
void ft_header_page(struct ft *ft, const struct bytes *text);
void ft_format_add(struct ft *ft, const char *system, const struct bytes *text);
/* Lines of saved_cmdlines, and of saved_tgids. */
void ft_cmdlines(struct ft *ft, const struct bytes *text);
void ft_tgid_add(struct ft *ft, int32_t tid, int32_t tgid);
/* -1: not said. */
int32_t ft_tgid_of(const struct ft *ft, int32_t tid);
/* From saved_cmdlines; NULL: none. */
const char *ft_saved_name(const struct ft *ft, int32_t tid);

/* option.c */
int ft_option(struct ft *ft, uint16_t id, struct bytes *b, struct err *err);
uint32_t ft_instance_add(struct ft *ft, const char *name, const char *clock,
			 uint64_t section, uint32_t subbuf);

/* pack.c */
/* Unpacks b into out[len]. */
int ft_unpack(struct ft *ft, const struct bytes *b, void *out, size_t len,
	      struct err *err);
/* A stream of plain pages, or of chunks; cut to what the file has. */
void ft_stream_plain(struct ft *ft, uint32_t instance, int32_t cpu,
		     uint64_t off, uint64_t len);
void ft_stream_packed(struct ft *ft, uint32_t instance, int32_t cpu,
		      uint64_t off, uint64_t len, uint64_t *end);
/* The n bytes at place, which are in one chunk; borrowed until the next
 * call. */
int ft_at(struct ft *ft, struct ft_stream *s, uint64_t place, uint64_t n,
	  struct bytes *out, struct err *err);
/* The bytes from place to the end of what is at hand. */
int ft_from(struct ft *ft, struct ft_stream *s, uint64_t place,
	    struct bytes *out, struct err *err);
/* Where that is in the file, for messages. */
uint64_t ft_off(const struct ft_stream *s, uint64_t place);
void ft_streams_release(struct ft *ft);

/* One that is a file of its own, which stays open. */
void ft_stream_file(struct ft *ft, uint32_t instance, int32_t cpu,
		    const struct input *in);

/* dir.c */
bool ft_dir_probe(const char *path);
int ft_dir(struct ft *ft, const char *path, struct err *err);

/* page.c */
int ft_page_open(struct ft *ft, struct ft_stream *s, uint64_t place,
		 struct ft_page *pg, struct err *err);
/* The same page, when other places of the stream were asked for meanwhile. */
int ft_page_again(struct ft *ft, struct ft_stream *s, struct ft_page *pg,
		  struct err *err);
/* 1 and *e, 0 the end of the page, -1 it is damaged. */
int ft_page_next(const struct ft *ft, struct ft_page *pg, struct ft_entry *e,
		 struct err *err);
/* The payload of the entry at place. */
int ft_entry_at(struct ft *ft, struct ft_stream *s, uint64_t place,
		struct bytes *out, struct err *err);
/* LAST_BOOT: the text of a buffer's last_boot_info. */
void ft_last_boot(struct ft *ft, const struct bytes *b);
/* Where the kernel is now: from its _text to its end. */
void ft_boot_moved(struct ft *ft, uint64_t text, uint64_t end);
/* A ring's time in ns on the capture's clock. */
uint64_t ft_time(const struct ft *ft, const struct ft_stream *s, uint64_t t);

/* stream.c */
int ft_next(struct source *src, struct ref *ref, struct err *err);
int ft_scan(struct source *src, struct err *err);
/* The index of an event of a buffer; UINT32_MAX: not seen so far. */
uint32_t ft_event_of(const struct ft *ft, uint32_t instance, uint16_t id);
/* One more ref of an entry: like *ev, of that class. */
void ft_due(struct ft *ft, const struct ref *ev, uint8_t class, uint32_t len);
void ft_due_made(struct ft *ft, size_t i, uint64_t key);

/* print.c: texts of trace_printk(). */
void ft_printk_take(struct ft *ft, const struct bytes *text);
/* The format with a field for the text; NULL: it is none of these events.
 * Owned by the caller. */
char *ft_print_format(const char *system, const struct bytes *text);
/* Fills that field; the text holds until the next call. */
void ft_print_text(struct ft *ft, const struct tp_format *fmt, const void *raw,
		   size_t len, struct field *out);

/* sync.c: TIME_SHIFT. */
int ft_sync_take(struct ft *ft, struct bytes *b, struct err *err);
void ft_sync_release(struct ft *ft);
uint64_t ft_sync_time(const struct ft *ft, int32_t cpu, uint64_t t);
/* Both are read together: times of a guest become its host's. */
void ft_sync_pair(struct ft *guest, const struct ft *host);

/* maps.c: PROCMAPS. */
void ft_maps_take(struct ft *ft, const struct bytes *b);
/* Since when they hold, once the rings are known. */
void ft_maps_date(struct ft *ft);
void ft_maps_release(struct ft *ft);

/* task.c */
void ft_role_find(struct ft_type *t);
/* Names, forks and exits that an entry tells of: refs that are due. */
void ft_task_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		  int32_t pid, const struct bytes *raw);
/* The record of such a ref. */
int ft_task_record(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err);
int64_t ft_number(const struct ft_type *t, int field, const struct bytes *raw,
		  int64_t otherwise);

/* defer.c */
/* Sets role and part of an event that has to do with deferred stacks. */
void ft_defer_find(struct ft_type *t);
void ft_defer_cookie(const struct ft_type *t, const struct bytes *raw,
		     struct rec_sample *s);
void ft_defer_inode(struct ft *ft, const struct ft_type *t,
		    const struct bytes *raw);
/* Refs of the stacks in a text of user mode; def: of its event. */
void ft_defer_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		   const struct bytes *raw, struct event_def *def);
/* Whether such a text is a request. */
void ft_defer_request(struct ft *ft, const struct ft_type *t,
		      const struct bytes *raw, struct record *rec);
int ft_defer_chain(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err);

/* made.c */
/* What holds before the first entry: the kernel's code, mappings. */
void ft_make_first(struct ft *ft);
/* Sums of what was lost. */
void ft_make_last(struct ft *ft);
void ft_made_record(struct ft *ft, size_t i, struct record *rec);

/* record.c */
int ft_decode(struct source *src, const struct ref *ref, struct record *rec,
	      struct err *err);

/* dump.c */
int ft_dump(struct source *src,
	    int (*fn)(void *arg, const char *text, struct err *err), void *arg,
	    struct err *err);

/* Damage, once: dump and scan see it too. */
void ft_damage(struct ft *ft, const char *what, uint64_t off, uint64_t len,
	       const struct err *err);
void ft_note(struct ft *ft, const char *what, const char *detail);
#endif
