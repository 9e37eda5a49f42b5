/* record.h - one capture record, independent of the format it came from.
 *
 * The source owns all memory that pointers refer to; it is valid until the
 * source's next decode(). Strings end with 0. Addresses are raw, innermost
 * first, without context markers and cookies. */
#pragma once
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#define TIME_NONE INT64_MIN /* unknown; stored as NULL */
/* The clocks of two CPUs differ by less, in ns. */
#define CLOCKS_NS 20000000

enum record_kind {
	REC_NONE, /* nothing to keep; the reader has counted it */
	REC_SAMPLE,
	REC_CHAIN,   /* a deferred user stack */
	REC_MAP,     /* a mapping of a file or of anonymous memory */
	REC_KSYMBOL, /* kernel code appears or disappears: BPF, trampolines */
	REC_COMM,
	REC_FORK,
	REC_EXIT,
	REC_LOST,	/* records were dropped before this one */
	REC_LOST_TOTAL, /* the recorder's sum for one event, at the end */
	REC_SWITCH,
	REC_MARK, /* any other record with a time and a name */
};

#define THREAD_NAME 16 /* size of the kernel's comm, with the final 0 */

/* The place of the drops in a recorder's sum that no record reported before. */
enum lost_place {
	LOST_BEHIND, /* after the last record of the ring: LOST comes with the
		      * next one */
	LOST_BEFORE, /* before one of its records: the ring keeps the newest */
	LOST_WITHIN, /* the ring was full for a time, or after it */
	LOST_READ, /* not in the ring: the records were read, but are not in the
		    * capture */
	LOST_PLACES
};

enum record_flag {
	REC_F_UNTIMED = 1 << 0,	  /* time is invalid */
	REC_F_DUPLICATE = 1 << 1, /* the same bytes occurred before */
	REC_F_LATE = 1 << 2,	  /* followed later records in the stream */
	REC_F_GUEST = 1 << 3,	  /* happened in a guest */
	REC_F_SYNTH = 1 << 4, /* written by the recorder, not by the kernel */
	REC_F_EXEC = 1 << 5,  /* REC_COMM: name set by exec */
	REC_F_GONE = 1 << 6,  /* REC_KSYMBOL: unregistered; REC_MAP: unmapped */
	REC_F_DATA = 1 << 7,  /* REC_MAP: not executable */
	REC_F_KERNEL = 1 << 8,	 /* REC_MAP: kernel or module; REC_SAMPLE: in
				  * kernel mode */
	REC_F_USER = 1 << 9,	 /* REC_SAMPLE: in user mode */
	REC_F_OUT = 1 << 10,	 /* REC_SWITCH: the thread leaves the CPU */
	REC_F_PREEMPT = 1 << 11, /* REC_SWITCH: the thread stays runnable */
	REC_F_FILTERED =
		1 << 12, /* REC_LOST_TOTAL: dropped by a filter, not lost */
	REC_F_BUILD_ID =
		1 << 13, /* REC_MAP: id is set, device and inode are not */
	REC_F_NO_CHAIN = 1 << 14, /* REC_SAMPLE: the event records no
				   * callchain; kern or user is the sampled
				   * address alone */
	REC_F_LBR = 1 << 15, /* REC_SAMPLE: user comes from a branch stack */
	REC_F_HARDWARE = 1 << 16, /* REC_LOST: dropped by the processor, not
				   * because the ring was full */
	REC_F_NONCE = 1 << 17,	  /* REC_SAMPLE, REC_CHAIN: the cookie is the
				   * nonce of a process that unwinds itself */
	REC_F_HIT = 1 << 18, /* REC_SAMPLE: the callchain lacks the half that
			      * was hit (user with REC_F_USER, else kern),
			      * which is the sampled address alone */
	REC_F_MAPS_END = 1 << 19,  /* REC_MAP: the recorder listed no further
				    * mappings of the process */
	REC_F_CONVERTED = 1 << 20, /* REC_SAMPLE: perf unwound user from a stack
				    * dump that is no longer there */
};

/* The kind of user stack that a sample has. */
enum defer {
	DEFER_NONE,    /* none: kernel thread, or not requested */
	DEFER_DIRECT,  /* the user stack is in the sample */
	DEFER_COOKIE,  /* it follows in a REC_CHAIN with the same cookie */
	DEFER_MARK,    /* it follows, but there was no room for the cookie */
	DEFER_REFUSED, /* it was requested, but the kernel did not defer it */
};

/* The name and image, and the address, that stand for the tracer's own code in
 * ftrace stacks. */
#define FTRACE_TRAMPOLINE "[FTRACE TRAMPOLINE]"
#define FTRACE_TRAMPOLINE_ADDR 0x7fffffffu
/* No machine has this many CPUs: arrays have fewer items. */
#define CPUS_MAX 65536

/* The location of an address as the recorder reports it, often without the
 * address itself. ftrace's text formats name a kernel function, or give the
 * offset from the start of a file's mapping. The kernel's own unwinding of user
 * stacks gives the offset in the file (in_file). Interpreters name a
 * function. */
struct place {
	const char *path; /* kernel: "[module]", or NULL for the kernel itself;
			   * user: the file. NULL: unknown */
	const char *symbol;
	uint64_t off;  /* from the start of the symbol, mapping or file */
	uint64_t size; /* size of the symbol; 0: unknown */
	bool in_file;  /* off is an offset in the file that path or ino names */
	uint32_t maj, min;
	uint64_t ino; /* with in_file, 0: memory that is not of a file */
};

/* The path of a file of which only inode and device (major, minor) are known:
 * a format for printf. */
#define INODE_PATH "[inode %" PRIu64 " of %" PRIu32 ":%" PRIu32 "]"

struct addrs {
	const uint64_t *ip; /* 0 for an entry with a place but no address */
	uint32_t n;
	bool lasts; /* ip is valid as long as payloads and stack dumps are */
	const struct place *const *place; /* one entry for each address, which
					   * may be NULL; NULL: there are no
					   * places */
	uint64_t places; /* a hash of the places; 0: not known */
	uint64_t hash;	 /* resolve_list_hash(); 0: not known yet */
};

/* Registers as the recorder dumped them: the values for the set bits of mask,
 * in the order of the architecture's uapi/asm/perf_regs.h. abi: 0 none, 1 32
 * bit, 2 64 bit. */
struct regs {
	const uint64_t *v;
	uint64_t mask;
	uint32_t n, abi;
};

struct branch {
	uint64_t from, to, flags;
};

/* A value for which struct record has no field. */
struct extra {
	const char *name; /* fixed word: "addr", "phys_addr", ... */
	uint64_t value;	  /* if blob is NULL */
	const void *blob;
	uint32_t len;
};

/* The meaning of a scheduler event, in any format. */
enum sched_kind {
	SCHED_NONE,
	SCHED_SWITCH, /* tid leaves the CPU, next_tid gets it */
	SCHED_WAKEUP, /* tid becomes runnable again: sched_wakeup */
	SCHED_NEW, /* tid becomes runnable the first time: sched_wakeup_new */
};

struct sched {
	enum sched_kind kind;
	int32_t tid, next_tid;
	bool sleeps; /* SCHED_SWITCH: tid is no longer runnable */
};

/* System calls that change mappings or mapped files, or that tell which process
 * a thread belongs to. */
enum call_what {
	CALL_NONE,
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MREMAP,
	CALL_OPENAT,
	CALL_CLOSE,
	CALL_DUP,    /* or dup2, dup3: its result is a copy of arg[0] */
	CALL_EXECVE, /* or execveat */
	CALL_RAW,    /* any call; nr is its number on the recorded machine */
};

#define CALL_ARGS 6

struct call {
	enum call_what what;
	bool exit; /* true: the call returns ret; false: it starts with arg and
		    * path */
	int32_t nr;
	uint64_t arg[CALL_ARGS];
	int64_t ret;
	const char *path; /* NULL: unknown */
};

/* The value of a member of an event group, counted since it was enabled. */
struct group_value {
	uint32_t event; /* index in the source's events */
	uint64_t id;	/* id of the counter: one for each event and CPU */
	uint64_t value;
};

/* Three threads read a record one after the other, and each must fetch every
 * cache line that it reads. So the fields are ordered by their users: first
 * those for storing a sample, then those for joining most samples. */
struct rec_sample {
	uint32_t event; /* index in the source's events */
	enum defer defer;
	const void *raw; /* tracepoint payload; NULL: none */
	uint32_t raw_len;
	uint32_t n_extra, n_branch, n_held, n_member;
	bool has_dump; /* the event records stack dumps; stack may be empty */
	bool unread;  /* the dump is shorter than its size: the kernel could not
		       * read that memory */
	bool of_task; /* values of members are of the thread, not of the
		       * counter */
	uint64_t ip;  /* 0: not recorded */
	uint64_t weight; /* period; 1 if the event has none. With members, the
			  * weight is what the event itself counted */
	struct addrs kern, user;
	const struct call *call; /* NULL: not a system call */
	struct sched sched;
	/* Names of the two threads of a switch, in the payload, for which the
	 * reader makes no COMM: less than THREAD_NAME characters; NULL: not
	 * known */
	const char *leaves, *comes;
	uint64_t cookie; /* valid for DEFER_COOKIE */
	int32_t asked;	 /* REC_F_NONCE: the thread that is asked to log its
			  * stack; -1: the sampled thread */
	uint32_t stack_len;
	struct regs user_regs;
	const void *stack; /* copy of the user stack; NULL: none */
	/* Kernel stacks that are fields, one for each field_def with is_stack;
	 * NULL: none. */
	const struct addrs *held;
	/* Values of the event's group, if its samples read them: what each
	 * member counted since the last sample is an event of that member. */
	const struct group_value *member;
	const struct extra *extra;
	const struct branch *branch;
};

struct rec_chain {
	uint64_t cookie;
	struct addrs user;
	/* A stack made by several unwinders: the number of this part, from 1,
	 * and the number of parts; 0, 0: the stack is complete. */
	uint16_t part, parts;
	uint64_t meet; /* address in an earlier part; the first frame of this
			* part is its caller; 0: unknown */
};

struct rec_map {
	uint64_t start, len, pgoff;
	uint32_t prot, flags; /* PROT_*, MAP_*; 0: unknown */
	uint32_t maj, min;
	uint64_t ino, ino_gen;
	const char *path;
	const uint8_t *id; /* build-id; NULL: none */
	uint8_t id_len;	   /* 0..20 */
	bool derived;	   /* pgoff was computed, not recorded */
	bool whole; /* the complete file, from its lowest address in memory;
		     * pgoff is unknown */
};

struct rec_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type; /* 1 BPF, 2 out-of-line code */
	const char *name;
	/* the code as it ran, valid until the source is closed; NULL:
	 * unknown */
	const struct jit_code *code;
};

struct record {
	enum record_kind kind;
	uint16_t source;  /* index of the source; set by order */
	uint32_t flags;	  /* enum record_flag */
	int32_t pid, tid; /* the thread (of a fork: the child); -1: unknown */
	int32_t by;  /* tid that wrote a COMM, MAP, FORK or EXIT; 0: unknown */
	int32_t cpu; /* -1: unknown */
	uint32_t ring; /* number of the ring, if the CPU has several; else 0 */
	uint64_t time; /* ns; on the timeline if the record comes from order */
	uint64_t raw;  /* time on the source's clock; set by order */
	uint64_t off;  /* place in the file, for messages */
	uint64_t seq;  /* place among the records of the source, which are in
			* the order of their ring; set by order */
	union {
		struct rec_sample sample;
		struct rec_chain chain;
		struct rec_map map;
		struct rec_ksymbol ksymbol;
		struct {
			const char *name;
		} comm;
		struct {
			int32_t ppid, ptid;
		} fork; /* of REC_FORK and REC_EXIT */
		struct {
			uint64_t n;
			int32_t event; /* -1: unknown. REC_LOST: event of the
					* record that followed the loss */
			/* REC_LOST: the drops began after this time, and were
			 * not in the CPU's only ring. */
			bool has_since;
			uint64_t since;
			enum lost_place place; /* of REC_LOST_TOTAL; of REC_LOST
						* LOST_BEFORE: overwritten */
		} lost;
		struct {
			int32_t other_pid, other_tid; /* -1: unknown */
		} sw;
		struct {
			const char *name; /* "throttle", "bpf", ... */
			uint32_t event;	  /* index in the source's events, plus
					   * 1; 0: unknown */
			const struct extra *extra;
			uint32_t n_extra;
		} mark;
	};
};

/* Returns the time in ns, or TIME_NONE. */
static inline int64_t record_time(const struct record *rec)
{
	if (rec->flags & REC_F_UNTIMED || rec->time > INT64_MAX)
		return TIME_NONE;
	return (int64_t)rec->time;
}
