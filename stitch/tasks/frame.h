/* frame.h - places in code files, stacks made of such places, and the raw
 * address lists they came from. All interned: equal things have equal ids.
 *
 * Ids are dense, start at 1, never change and never go away; the arrays can
 * be walked with the counts. Id 0 is "none" everywhere. Memory grows with the
 * number of distinct images, frames, stacks and raw chains only. */
#ifndef STITCH_TASKS_FRAME_H
#define STITCH_TASKS_FRAME_H
#include <stdbool.h>
#include <stdint.h>

struct addrs;
struct jit_code;
struct frames; /* owns every image, frame, stack and raw chain of a run */

enum image_kind {
	IMAGE_UNKNOWN_USER, /* no mapping covered it: one frame for all */
	IMAGE_UNKNOWN_KERNEL,
	IMAGE_FILE,
	IMAGE_KERNEL, /* offsets count from _text */
	IMAGE_MODULE, /* offsets count from the module's start */
	IMAGE_BPF,    /* one per load; offsets count from its start */
	IMAGE_OOL,    /* kernel code out of line: ftrace, kprobe slots */
	IMAGE_VDSO,
	IMAGE_ANON,    /* anonymous memory; offset = address (by space) */
	IMAGE_SPECIAL, /* [vsyscall], [uprobes], ... */
	IMAGE_JIT,     /* one function, by name and bytes: its path is its name,
			* its id a hash of both; offsets count from its start */
	IMAGE_GUEST,   /* code of a guest we know nothing about */
	/* What texts say instead of addresses: FRAME_DERIVED. */
	IMAGE_SYMBOLS, /* kernel code by its names: frames_symbol() */
	IMAGE_MAPPING, /* a file; offsets count from the start of a mapping of
			* it, which need not be the start of the file */
	IMAGE_SCRIPT,  /* an interpreter's code by its names: frames_symbol() */
};

struct image {
	enum image_kind kind;
	const char *path;	/* as recorded */
	uint8_t id[20], id_len; /* build-id; len 0: not known */
	uint32_t maj, min;	/* device; 0,0 not known */
	uint64_t ino, ino_gen;
	uint64_t start, len; /* kernel code: where it was; else 0. IMAGE_JIT:
			      * its len */
	uint64_t t0;	     /* versions of one address: since when */
	uint32_t space;	     /* IMAGE_ANON: the process id; else 0 */
	/* IMAGE_JIT: bytes and lines of one of those that are this image,
	 * borrowed; NULL: not known. Tells no images apart. */
	const struct jit_code *code;
};

enum frame_flag {
	FRAME_INFERRED = 1,  /* not recorded: the caller by link register */
	FRAME_UNCERTAIN = 2, /* a mapping record may have been lost */
	FRAME_OLD_IMAGE = 4, /* of the program before exec: its registers are
			      * the user half until the new one starts */
	FRAME_DERIVED = 8, /* the offset was computed, nothing said it; or it is
			    * not one in the image: see IMAGE_SYMBOLS,
			    * IMAGE_MAPPING */
	FRAME_AMBIGUOUS = 16, /* jitted code: which one of those that the
			       * image's path names ran is not known */
	FRAME_EARLY = 32,     /* jitted code that was logged a moment later */
	FRAME_GUESSED = 64,   /* unwound by frame pointer, for want of a table
			       * of the code inside of it */
};

struct frame {
	uint32_t image;
	uint32_t flags; /* enum frame_flag */
	uint64_t off;	/* file: offset in the file; kernel: see image kind;
			 * unknown: 0 */
};

struct stack {
	uint32_t parent; /* < own id; 0: frame is the outermost */
	uint32_t frame;
	uint32_t depth; /* frames in all, >= 1 */
};

/* What is known of a list of addresses besides them. */
struct raw_note {
	uint8_t ended;	/* enum unwind_end; 0: it was not unwound */
	uint8_t caller; /* enum unwind_caller, of the innermost frame */
};

/* One distinct (stack, recorded addresses, note). */
struct raw_chain {
	uint32_t stack;
	uint32_t n;
	struct raw_note note;
	const uint64_t *ip; /* innermost first, one for each frame */
	uint64_t hash;
};

struct frames *frames_new(void);
void frames_free(struct frames *fr);

/* Interns; strings are copied. Two images are one when all fields are equal. */
uint32_t frames_image(struct frames *fr, const struct image *img);
uint32_t frames_frame(struct frames *fr, const struct frame *f);
/* The stack that has `frame` called by `stack` (0: by nobody). */
uint32_t frames_push(struct frames *fr, uint32_t stack, uint32_t frame);
/* hash: hash_u64s() of the addresses. */
uint32_t frames_raw(struct frames *fr, uint32_t stack, const struct addrs *a,
		    uint64_t hash);
/* The same with a note. */
uint32_t frames_noted(struct frames *fr, uint32_t stack, const struct addrs *a,
		      uint64_t hash, struct raw_note note);

/* Kernel code that is known by its name only has offsets of our own: a number
 * for each symbol, and the offset in the symbol. The number comes from the
 * name, so that it is the same in every run. NO_OFFSET: off is too large.
 * size: 0 not known. */
#define NO_OFFSET UINT64_MAX
uint64_t frames_symbol(struct frames *fr, const char *name, uint64_t size,
		       uint64_t off);
/* The name of such an offset and where its symbol starts; NULL: none has it. */
const char *frames_symbol_at(const struct frames *fr, uint64_t off,
			     uint64_t *start, uint64_t *size);

/* Borrowed until the next interning call. id 0 is not allowed. */
const struct image *frames_get_image(const struct frames *fr, uint32_t id);
const struct frame *frames_get_frame(const struct frames *fr, uint32_t id);
const struct stack *frames_get_stack(const struct frames *fr, uint32_t id);
const struct raw_chain *frames_get_raw(const struct frames *fr, uint32_t id);
/* Highest id of each. */
uint32_t frames_images(const struct frames *fr);
uint32_t frames_frames(const struct frames *fr);
uint32_t frames_stacks(const struct frames *fr);
uint32_t frames_raws(const struct frames *fr);

/* 128 bits over (build-id or path, offset) of each frame from the outermost:
 * the same for the same stack in another run, host or address layout. */
void frames_hash(const struct frames *fr, uint32_t stack, uint8_t out[16]);
#endif
