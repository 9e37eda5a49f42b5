/* record.h - one capture record, with nothing left of the format it came from.
 *
 * All pointers are borrowed from the source until its next decode(). Strings
 * end with 0. Addresses are raw, innermost first, without context markers
 * and cookies. */
#ifndef STITCH_RECORD_H
#define STITCH_RECORD_H
#include <stdbool.h>
#include <stdint.h>

#define TIME_NONE INT64_MIN /* not known; stored as NULL */

enum record_kind {
	REC_NONE, /* decoded to nothing we keep (already accounted for) */
	REC_SAMPLE,
	REC_CHAIN,   /* a deferred user stack */
	REC_MAP,     /* a mapping of a file or of anonymous memory */
	REC_KSYMBOL, /* kernel code that comes or goes: BPF, trampolines */
	REC_COMM,
	REC_FORK,
	REC_EXIT,
	REC_LOST,	/* records were dropped before this one */
	REC_LOST_TOTAL, /* the recorder's own sum at the end, per event */
	REC_SWITCH,
	REC_MARK, /* anything else with a time and a name */
};

enum record_flag {
	REC_F_UNTIMED = 1 << 0,	  /* time is not a time */
	REC_F_DUPLICATE = 1 << 1, /* the same bytes stood there before */
	REC_F_LATE = 1 << 2,	  /* came after later records were given out */
	REC_F_GUEST = 1 << 3,	  /* happened in a guest */
	REC_F_SYNTH = 1 << 4,	  /* made by the recorder, not by the kernel */
	REC_F_EXEC = 1 << 5,	  /* REC_COMM: by exec */
	REC_F_GONE = 1 << 6,	  /* REC_KSYMBOL: unregistered; REC_MAP: it is
				   * mapped no more */
	REC_F_DATA = 1 << 7,	  /* REC_MAP: not executable */
	REC_F_KERNEL = 1 << 8,	  /* REC_MAP: kernel or module;
				   * REC_SAMPLE: hit in kernel mode */
	REC_F_USER = 1 << 9,	  /* REC_SAMPLE: hit in user mode */
	REC_F_OUT = 1 << 10,	  /* REC_SWITCH: away from the CPU */
	REC_F_PREEMPT = 1 << 11,  /* REC_SWITCH: still runnable */
	REC_F_FILTERED = 1 << 12, /* REC_LOST_TOTAL: a filter's wish, no loss */
	REC_F_BUILD_ID = 1 << 13, /* REC_MAP: id is set, dev and ino are not */
	REC_F_NO_CHAIN = 1 << 14, /* REC_SAMPLE: the event takes no callchain;
				   * kern or user is the sampled ip alone */
	REC_F_LBR = 1 << 15, /* REC_SAMPLE: user comes from a branch stack */
	REC_F_HARDWARE = 1 << 16, /* REC_LOST: dropped by the processor, not
				   * for want of room in the ring */
	REC_F_NONCE = 1 << 17,	  /* REC_SAMPLE, REC_CHAIN: the cookie is the
				   * nonce of a process that unwinds itself */
};

/* What a sample's callchain says about its user half. */
enum defer {
	DEFER_NONE,    /* no user half: kernel thread, or not asked for */
	DEFER_DIRECT,  /* the user half is in the sample */
	DEFER_COOKIE,  /* it comes later, by cookie */
	DEFER_MARK,    /* it comes later, but the cookie did not fit */
	DEFER_REFUSED, /* it was asked for, and the kernel refused */
};

/* Where the recorder itself says that an address is, often without it. The
 * texts of ftrace: in a function of the kernel, or how far behind the start of
 * a mapping of a file. Stacks of the kernel's own unwinding: how far behind
 * the start of the file itself (in_file). Of an interpreter: in a function. */
struct place {
	const char *path; /* kernel: "[module]", NULL: of its own; user: the
			   * file. NULL: not said */
	const char *symbol;
	uint64_t off;  /* from the start of the symbol, mapping or file */
	uint64_t size; /* of the symbol; 0: not said */
	bool in_file;  /* of the file that path or ino names */
	uint32_t maj, min;
	uint64_t ino; /* in_file: 0: memory that is no file's */
};

struct addrs {
	const uint64_t *ip; /* 0 where there is a place and no address */
	uint32_t n;
	const struct place *const *place; /* one for each, or NULL there;
					   * NULL: none at all */
};

/* Registers as the recorder dumps them: values of the set bits of mask, in
 * the order of the architecture's uapi/asm/perf_regs.h. abi: 0 none, 1 32, 2 64
 * bit. */
struct regs {
	const uint64_t *v;
	uint64_t mask;
	uint32_t n, abi;
};

struct branch {
	uint64_t from, to, flags;
};

/* A value that has no place of its own in struct record. */
struct extra {
	const char *name; /* fixed word: "addr", "phys_addr", ... */
	uint64_t value;	  /* when blob is NULL */
	const void *blob;
	uint32_t len;
};

/* What a scheduling event says, whatever format it came from. */
enum sched_kind {
	SCHED_NONE,
	SCHED_SWITCH, /* tid leaves the CPU, next_tid gets it */
	SCHED_WAKEUP, /* tid becomes runnable again: sched_wakeup */
	SCHED_NEW,    /* the same for the first time: sched_wakeup_new */
};

struct sched {
	enum sched_kind kind;
	int32_t tid, next_tid;
	bool sleeps; /* SCHED_SWITCH: tid is not runnable any more */
};

/* System calls that change mappings, or files that are mapped, or say which
 * process a thread is of. */
enum call_what {
	CALL_NONE,
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MREMAP,
	CALL_OPENAT,
	CALL_CLOSE,
	CALL_EXECVE, /* and execveat */
	CALL_RAW,    /* any; nr says which, by the machine */
};

#define CALL_ARGS 6

struct call {
	enum call_what what;
	bool exit; /* it ends: ret; else it begins: arg, path */
	int32_t nr;
	uint64_t arg[CALL_ARGS];
	int64_t ret;
	const char *path; /* NULL: not said */
};

struct rec_sample {
	uint32_t event; /* index in the source's events */
	enum defer defer;
	uint64_t ip;	 /* 0: the event does not take it */
	uint64_t weight; /* period; 1 when there is none */
	uint64_t cookie; /* DEFER_COOKIE */
	int32_t asked;	 /* REC_F_NONCE: the thread that is to log its stack;
			  * -1: its own */
	struct addrs kern, user;
	/* Stacks of the kernel that are fields, one for each field_def with
	 * is_stack; NULL: none. */
	const struct addrs *held;
	uint32_t n_held;
	struct regs user_regs;
	const void *stack; /* dump of the user stack; NULL: none */
	uint32_t stack_len;
	bool has_dump; /* the event takes stack dumps: this one may be empty */
	const void *raw; /* tracepoint payload; NULL: none */
	uint32_t raw_len;
	const struct branch *branch;
	uint32_t n_branch;
	const struct extra *extra;
	uint32_t n_extra;
	struct sched sched;
	const struct call *call; /* NULL: of none */
};

struct rec_chain {
	uint64_t cookie;
	struct addrs user;
	/* Of a stack that several unwinders made: which part, from 1 on, of
	 * how many; 0, 0: it is whole. */
	uint16_t part, parts;
	uint64_t meet; /* address in the parts before whose caller is the
			* first frame of this one; 0: not said */
};

struct rec_map {
	uint64_t start, len, pgoff;
	uint32_t prot, flags; /* PROT_*, MAP_*; 0 when not said */
	uint32_t maj, min;
	uint64_t ino, ino_gen;
	const char *path;
	const uint8_t *id; /* build-id; NULL: none */
	uint8_t id_len;	   /* 0..20 */
	bool derived;	   /* pgoff was computed, nothing said it */
	bool whole;	   /* all of the file, from its lowest address in
			    * memory on; pgoff is not said */
};

struct rec_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type; /* 1 BPF, 2 out of line */
	const char *name;
};

struct record {
	enum record_kind kind;
	uint16_t source;  /* which one; set by order */
	uint32_t flags;	  /* enum record_flag */
	int32_t pid, tid; /* whom it is about (of a fork: the child);
			   * -1: not said or not known */
	int32_t cpu;	  /* -1: not said */
	uint32_t ring;	  /* of that CPU, when it has several; else 0 */
	uint64_t time;	  /* ns; given out by order: on the timeline */
	uint64_t raw;	  /* the same on the source's clock; set by order */
	uint64_t late_ns; /* REC_F_LATE: by how much */
	uint64_t off;	  /* place in the file, for messages */
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
		} fork; /* and exit */
		struct {
			uint64_t n;
			int32_t event; /* -1: not known. Of REC_LOST: of
					* the record that came next */
			/* Of REC_LOST: the drops began after it, and are not
			 * of the CPU's one ring. */
			bool has_since;
			uint64_t since;
		} lost;
		struct {
			int32_t other_pid, other_tid; /* -1: not said */
		} sw;
		struct {
			const char *name; /* "throttle", "bpf", ... */
			uint32_t event;	  /* which one, plus 1; 0: not said */
			const struct extra *extra;
			uint32_t n_extra;
		} mark;
	};
};

/* ns, or TIME_NONE. */
static inline int64_t record_time(const struct record *rec)
{
	if (rec->flags & REC_F_UNTIMED || rec->time > INT64_MAX)
		return TIME_NONE;
	return (int64_t)rec->time;
}
#endif
