/* ftrace.h - private declarations of the reader of ftrace's binary captures.
 *
 * Open: ft_file_read() (version 6: one part after the other; version 7:
 * sections; options of both) or ft_dir_read(). Scan: first and last times of
 * the streams. Next: merges all streams; each has the ring pages of one CPU.
 * Decode: makes the record. An entry is identified by its stream and by its
 * place, the offset in the stream's unpacked bytes. */
#pragma once
#include <stdbool.h>

#include "formats/input.h"
#include "formats/reader/bounds.h"
#include "formats/reader/reader.h"
#include "formats/reader/task_rules.h"
#include "stitch/base/turns.h"
#include "formats/reader/nonce.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

extern const struct source_ops ftrace_ops;

#define FT_MAGIC "\x17\x08\x44tracing"
#define FT_MAGIC_LEN 10

/* Ids of sections and options of version 7. Version 6 has the options below
 * FT_STRINGS; only FT_BUFFER has another layout. */
enum ft_id {
	FT_OPTIONS = 0, /* section; as an option it ends the list */
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
	FT_KNOWN, /* ids from here on are unknown */
};

/* Indices of the fields that a role reads; -1: the format has none. */
struct ft_parts {
	int pid, comm;	 /* sched_switch: the task that is switched out */
	int pid2, comm2; /* sched_switch: the next task; forks: the child */
	int state; /* prev_state of sched_switch, clone_flags of task_newtask */
	int at;	   /* stacks: offset of the first address; cookies, texts and
		      inodes: their field */
	int size;  /* kernel stacks: field of the number of addresses; user
		      stacks: tgid; deferred stacks: cookie; inodes: path */
	int inodes, dev; /* deferred stacks only */
};

#define FT_SYMBOLS 4u /* the most added names of an event */
/* The text of an address that got a name. Most events have an address that
 * occurred a moment ago. */
#define FT_SYMBOL_TEXTS 32u
struct ft_symbol_text {
	uint64_t addr;
	char letter; /* letter of the conversion; 0: unused */
	uint32_t len;
	char text[512];
};

struct ft_type {
	struct tp_format fmt;
	enum event_role role;
	bool printk; /* the text is stored in the kernel: see meta.c */
	bool named;  /* it has fields with added names: see meta.c */
	uint32_t
		least; /* bytes up to the end of the last field of fixed size */
	bool open;     /* entries may be longer, as they end with an array */
	bool dynamic;  /* a field refers to data that follows the fields */
	uint8_t spare; /* bytes that some kernels add at the end of an entry */
	struct ft_parts part;
};

enum ft_pack {
	FT_PACK_NONE,
	FT_PACK_ZSTD,
	FT_PACK_ZLIB,
};

/* A part of a stream that is compressed separately. */
struct ft_chunk {
	uint64_t at;  /* offset of its first byte in the stream */
	uint64_t off; /* offset of the compressed bytes in the file */
	uint32_t packed, len;
};

/* An unpacked chunk. */
struct ft_win {
	unsigned char *data;
	size_t cap;
	size_t chunk; /* index + 1 of its chunk; 0: empty */
	uint64_t used;
};

#define FT_WINS 4
/* The largest accepted sub-buffer; the kernel makes them up to about 64 KiB. */
#define FT_SUBBUF_MAX ((uint32_t)1 << 20)

/* An entry that was read but not returned yet: the stacks after it may belong
 * to it. */
struct ft_item {
	uint64_t time, place;
	int32_t pid;
	uint16_t id;
	uint8_t kind;	 /* enum ft_item_kind */
	uint8_t role;	 /* enum event_role */
	uint8_t context; /* common_flags: hardirq, softirq, NMI */
	uint16_t kern,
		user; /* words from this entry to that of its stack; 0: none */
	bool cookie;  /* `user` is the distance to a cookie, not a stack */
};

enum ft_item_kind {
	FT_ENTRY,
	FT_LOST,  /* entries before this page were lost */
	FT_BREAK, /* damage: a stack after it belongs to no event before it */
};

#define FT_AHEAD 32

/* A sub-buffer that is being read. */
struct ft_page {
	struct bytes b;	 /* the data not read yet */
	uint64_t place;	 /* place of the page header */
	uint64_t time;	 /* of the last entry, in the ring's clock */
	bool lost;	 /* entries before this page were lost */
	bool has_number; /* n_lost is known */
	uint64_t n_lost;
	bool unread; /* the page has more data than its length covers */
};

struct ft_entry {
	uint64_t time, place;
	struct bytes b; /* the payload */
};

/* A file of pages in a folder. */
struct ft_raw {
	struct input in;
	int32_t cpu;
	uint32_t instance;
};

/* The ring of one CPU of one instance. */
struct ft_stream {
	const unsigned char *data; /* of the file that holds the ring */
	const char *path;
	int32_t cpu;
	uint32_t instance;
	uint32_t subbuf;
	uint64_t off, len; /* off: in the file, if not compressed; len: unpacked
			      bytes */
	struct ft_chunk *chunk;
	size_t n_chunk, cap_chunk;
	struct ft_win win[FT_WINS];
	uint64_t next_page; /* place of the next page */
	struct ft_page page;
	bool in_page, at_end;
	bool lost_due; /* the loss at lost_place is due before the next entry */
	uint64_t lost_place;
	uint64_t last;
	struct near_time near; /* the next entry must have a time near this */
	uint64_t n_entry;      /* entries read so far */
	struct ft_item ring[FT_AHEAD];
	uint32_t head, n;
};

/* A buffer: the top one or a named instance. */
struct ft_instance {
	const char *name, *clock; /* clock NULL: unknown */
	uint64_t section; /* its section in a version 7 file, its table in
			     version 6 */
	uint32_t subbuf;
	/* Of a buffer that survived a reboot: the old address of the kernel's
	 * text, its length, and what to add for the current address; moved 0:
	 * none. */
	uint64_t last_text, text_len, moved;
};

/* A buffer's line of the option LAST_BOOT. */
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

/* How far the clock of a guest's CPU was behind the host's at a time. */
struct ft_sample {
	uint64_t time, offset, scaling, fraction;
};

struct ft_sync {
	struct ft_sample *at; /* sorted by time */
	uint32_t n;
};

#define FT_SECTION_HEAD 16u

/* A section of version 7. */
struct ft_section {
	uint16_t id, flags;
	uint64_t off, size; /* of the contents, not the head */
};

/* A string of printk_formats. */
struct ft_text {
	uint64_t addr;
	const char *text;
};

/* The counters of one CPU in the option CPUSTAT. */
struct ft_stat {
	const char *buffer; /* buffer name; NULL: the top one, or the one with
			       the number `instance` */
	uint32_t instance;
	int32_t cpu;
	uint64_t lost[LOST_PLACES];
	/* entries that were read from the buffer when it was copied or, if none
	 * were, those in it */
	uint64_t had;
};

#define FT_NEAR 256u
#define FT_SETTLED 64u

/* A slot that caches the index of an event by buffer and id. */
struct ft_near_event {
	uint32_t instance, event; /* event: index + 1; 0: empty */
	uint16_t id;
};

struct ft {
	struct source src;
	struct source_opts opts;
	struct input in;
	bool big, swap, long32, commit32;
	unsigned int version; /* of the trace.dat; 0: the capture is a folder */
	enum ft_pack pack;
	uint64_t first_options, header_end;
	uint32_t page_size, subbuf;
	uint32_t n_cpus; /* version 6 only */
	struct arena arena;
	struct tp tp;	/* for fields() and print() */
	struct tp look; /* for next() and decode() */
	struct ft_type *type;
	size_t n_type, cap_type;
	uint32_t *by_id;    /* 65536 entries: index + 1 in type; 0: no format */
	uint32_t *event_of; /* 65536 entries: index + 1 in event; 0: not seen
			       yet */
	struct table events; /* events of other buffers -> index in event */
	struct ft_near_event
		near_event[FT_NEAR]; /* the events that were found last */
	struct event_def *event;
	size_t n_event, cap_event;
	struct ft_instance *inst;
	size_t n_inst, cap_inst;
	struct ft_stream *stream;
	size_t n_stream, cap_stream;
	uint64_t win_bytes, tick;
	uint64_t claimed; /* file bytes that rings cover */
	struct claims claims;
	bool unread_formats; /* a format could not be parsed */
	bool have[FT_KNOWN]; /* by id: the section was read */
	/* Values of options. */
	int64_t shift; /* ns to add to times, from DATE and OFFSET */
	bool moved;    /* the option OFFSET exists */
	uint32_t mult, mult_shift;
	uint64_t trace_id,
		peer; /* TRACEID of this file; of the host, from TIME_SHIFT */
	struct ft_sync *sync;
	size_t n_sync;
	uint32_t sync_flags;
	bool synced; /* the host's capture is read too, so times are moved */
	struct ft_text *text; /* sorted by address */
	size_t n_text, cap_text;
	char printed[1024]; /* text buffer of fields() and print() */
	char function[512]; /* text buffer of fields() and print() */
	struct ft_symbol_text symbols[FT_SYMBOLS][FT_SYMBOL_TEXTS];
	struct field *field; /* buffer of print() */
	size_t cap_field;
	struct ft_boot *boot;
	size_t n_boot, cap_boot;
	struct ft_stat *stat;
	const char *stat_buffer; /* the buffer that the next stat options
				    describe */
	size_t n_stat, cap_stat;
	struct rec_map *map; /* from PROCMAPS */
	size_t n_map, cap_map;
	struct snapshot *maps; /* one for each process of PROCMAPS */
	size_t n_maps, cap_maps;
	char *kallsyms; /* NUL-terminated */
	size_t kallsyms_len;
	struct tp_symbol
		*symbol; /* of kallsyms; read when the first one is needed */
	size_t n_symbol, cap_symbol;
	bool has_symbols;
	bool names_data;    /* kallsyms has static data: CONFIG_KALLSYMS_ALL */
	struct ft_cmd *cmd; /* sorted by tid */
	size_t n_cmd, cap_cmd;
	/* Only for a folder. */
	struct ft_raw *raw;
	size_t n_raw;
	int32_t n_online;     /* CPUs that were on; 0: not known */
	struct ft_tgid *tgid; /* sorted by tid */
	size_t n_tgid, cap_tgid;
	/* The state of next(). */
	struct record *synthetic; /* records without an entry: see stream.c */
	size_t n_synthetic, cap_synthetic, synthetic_pos;
	struct turn *heap; /* streams that have an item, by time, the earliest
			      first */
	size_t n_heap;
	struct ref
		*due; /* refs of the current item that are not returned yet */
	size_t n_due, cap_due, due_pos;
	uint64_t seq;
	bool merging;
	struct known_tasks known; /* names, forks and execs reported so far */
	/* Threads whose name is known and stays so until the next scheduling
	 * event that changes it. */
	int32_t settled[FT_SETTLED];
	uint64_t walked,
		walk_len; /* unpacked bytes: read so far, and of all streams */
	bool ended;
	/* The state of decode(). */
	struct user_stack_reader stack;
	const char *const *nonce_format;
	struct arena made; /* memory for records, if src.arena is NULL */
	char comm[64];
};

static inline struct ft *ft_from_source(struct source *src)
{
	return (struct ft *)src;
}

/* Returns the bits of common_flags for the context on the CPU: hardirq,
 * softirq, NMI. Entries of an interrupt are among those of the task that it
 * interrupted, and have the same pid. */
static inline uint8_t ft_entry_context(const struct bytes *entry)
{
	return bytes_left(entry) > 2 ? entry->pos[2] & 0x58u : 0;
}

/* Returns the type of an event, or NULL if the capture has no format for it. */
static inline const struct ft_type *ft_type_of(const struct ft *ft, uint16_t id)
{
	return ft->by_id[id] ? &ft->type[ft->by_id[id] - 1] : NULL;
}

/* Returns the number in a field, or `otherwise` if the field does not exist. */
static inline int64_t ft_field_number(const struct ft_type *t, int field,
				      const struct bytes *raw,
				      int64_t otherwise)
{
	return tp_field_number_or(&t->fmt, field, raw, otherwise);
}

/* ref.len of a COMM record: which task of the entry has the name. */
enum ft_whose {
	FT_FIRST,
	FT_SECOND,
	FT_SAVED, /* the task of common_pid; the name is from saved_cmdlines */
};

/* The stream number in the handle of a record without an entry; the rest of a
 * handle is the place. */
#define FT_SYNTHETIC 0xffffu
#define PLACE_MASK (((uint64_t)1 << 48) - 1)

/* file.c: reads the header and everything before the pages of a trace.dat.
 * Returns 0, or -1 and *err. */
int ft_file_read(struct ft *ft, struct err *err);

/* option.c: checks which bytes of the file its tables describe. */
/* Reads the head of the section at off. Returns 0, or -1 and *err. */
int ft_section_head(const struct ft *ft, uint64_t off, struct ft_section *s,
		    struct err *err);
/* Notes overlaps, and bytes that nothing describes, as damage. Call it after
 * all tables were read, unless the file is known to be cut. */
void ft_claims_check(struct ft *ft);

/* meta.c: read the contents of sections, or the parts of version 6. */
int ft_meta_read(struct ft *ft, uint16_t id, struct bytes *b, struct err *err);
void ft_header_page_read(struct ft *ft, const struct bytes *text);
void ft_format_add(struct ft *ft, const char *system, const struct bytes *text);

/* meta.c: names and processes of threads. */
/* Adds the threads in the lines of saved_cmdlines. */
void ft_names_read(struct ft *ft, const struct bytes *text);
void ft_tgid_add(struct ft *ft, int32_t tid, int32_t tgid);
/* Returns the process of a thread from saved_tgids, or -1. */
int32_t ft_tgid_of(const struct ft *ft, int32_t tid);
/* Returns the name of a thread from saved_cmdlines, or NULL. */
const char *ft_name_of(const struct ft *ft, int32_t tid);

/* option.c: reads one option of a trace.dat. Returns 0, or -1 and *err.
 * ft_instance_add() adds a buffer and returns its number. */
int ft_option_read(struct ft *ft, uint16_t id, struct bytes *b,
		   struct err *err);
uint32_t ft_instance_add(struct ft *ft, const char *name, const char *clock,
			 uint64_t section, uint32_t subbuf);

/* page.c: reads the header of the ring-buffer page at place into *pg. Returns
 * 0, or -1 and *err. */
int ft_page_open(struct ft *ft, struct ft_stream *s, uint64_t place,
		 struct ft_page *pg, struct err *err);
/* Maps the page again after other places of the stream were read; *pg keeps its
 * position. Returns 0, or -1 and *err. */
int ft_page_again(struct ft *ft, struct ft_stream *s, struct ft_page *pg,
		  struct err *err);
/* Returns -1 and *err if the page has data beyond its length. Call it when
 * ft_page_next() (page.h) has returned 0. */
int ft_page_check_end(const struct ft_page *pg, struct err *err);
/* boot.c: takes last_boot_info of a buffer from the option LAST_BOOT. */
void ft_boot_read(struct ft *ft, const char *s);
/* Sets where the kernel is now, from its _text to its end; 0, 0: unknown. */
void ft_boot_moved(struct ft *ft, uint64_t text, uint64_t end);

/* stream.c: merges all rings; next() and scan() of the source. */
int ft_next(struct source *src, struct ref *ref, struct err *err);
int ft_scan(struct source *src, struct err *err);

/* meta.c: texts of trace_printk(). */
/* The offsets of added fields, from FT_SYMBOL_OFF on. No entry is that long, so
 * they are never read from a payload. */
#define FT_SYMBOL_OFF TP_ADDED_OFF
#define FT_FUNCTION_OFF 65524
#define FT_TEXT_OFF 65528
void ft_print_read_formats(struct ft *ft, const struct bytes *text);
/* Lets the texts of events have names of functions. */
void ft_print_names(struct ft *ft);
/* Sets these fields in out. The texts are valid until the next call. */
void ft_print_text(struct ft *ft, const struct tp_format *fmt, const void *raw,
		   size_t len, struct field *out);

/* meta.c: adds names of addresses in payloads. */
/* Sets these fields in out. The texts are valid until the next call. */
void ft_symbols_take(struct ft *ft, const struct tp_format *fmt,
		     struct field *out);

/* stream.c: reads the option PROCMAPS. */
void ft_maps_read(struct ft *ft, char *rest);

/* record.c: makes records of scheduling events. */
/* Adds the refs of the names, forks and exits that an entry makes. t may be
 * NULL: then only the name of `pid` is looked up. */
void ft_task_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		  int32_t pid, const struct bytes *raw);
/* Returns true if the thread has its name, so that this look-up adds no ref. */
static inline bool ft_task_is_settled(const struct ft *ft, int32_t pid)
{
	return ft->settled[(uint32_t)pid % FT_SETTLED] == pid;
}

/* record.c: deferred user stacks. */
void ft_defer_inode(struct ft *ft, const struct ft_type *t,
		    const struct bytes *raw);
/* Adds the refs of the stacks in a text that a process wrote. def is the
 * definition of the text's event. */
void ft_defer_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		   const struct bytes *raw, struct event_def *def);

/* stream.c: makes records without an entry. */

/* record.c: decode() of the source. */
int ft_decode(struct source *src, const struct ref *ref, struct record *rec,
	      struct err *err);

/* file.c: dump() of the source. */
int ft_dump(struct source *src, source_text_fn *fn, void *arg, struct err *err);
