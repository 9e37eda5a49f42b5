/* frame.h - interned frames, stacks and raw address lists.
 *
 * A frame is an offset in an image, a stack is a list of frames, and a raw
 * chain is a list of recorded addresses. Equal objects have equal ids. Ids are
 * dense, start at 1, and never change; id 0 means "none". The counts allow to
 * iterate over all ids. Memory grows with the number of distinct objects
 * only. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct addrs;
struct jit_code;

enum image_kind {
	IMAGE_UNKNOWN_USER, /* no mapping covers the address: one frame for
			     * all of them */
	IMAGE_UNKNOWN_KERNEL,
	IMAGE_FILE,
	IMAGE_KERNEL, /* offsets count from _text */
	IMAGE_MODULE, /* offsets count from the module's start */
	IMAGE_BPF,    /* one per load; offsets count from its start */
	IMAGE_OOL,    /* kernel code out of line: ftrace and kprobe slots */
	IMAGE_VDSO,
	IMAGE_ANON,    /* anonymous memory; the offset is the address; one per
			* process */
	IMAGE_SPECIAL, /* [vsyscall], [uprobes], ... */
	IMAGE_JIT,     /* one function: its path is its name, its id a hash of
			* name and code; offsets count from its start */
	IMAGE_GUEST,   /* code of a guest, about which nothing is known */
	/* Reported by the recorder without addresses; frames have
	 * FRAME_DERIVED. */
	IMAGE_SYMBOLS, /* kernel code known by symbol; see frames_symbol() */
	IMAGE_MAPPING, /* a file; offsets count from the start of a mapping,
			* which need not be the start of the file */
	IMAGE_SCRIPT,  /* interpreted code known by symbol; see
			* frames_symbol() */
};

/* Returns the word for a kind, NULL if there is no such kind. */
const char *image_kind_name(unsigned int kind);
/* Returns whether images of this kind are kernel code, also of a guest. */
bool image_is_kernel(enum image_kind kind);
/* Returns whether equal offsets in equal builds of such an image are the same
 * code: a mapping need not begin where its file does. */
bool image_has_offsets(enum image_kind kind);

/* A part of a file that was mapped as code. The values may be invalid, as they
 * come from a database. */
struct image_part {
	uint32_t image; /* of the database */
	uint64_t pgoff, len;
	uint64_t t0; /* time of its first mapping; 1: before the capture; 0:
		      * unknown */
};

struct image {
	enum image_kind kind;
	const char *path;	/* as recorded */
	uint8_t id[20], id_len; /* build-id; length 0: unknown */
	uint32_t maj, min;	/* device; 0, 0: unknown */
	uint64_t ino, ino_gen;
	/* The capture has mapped several files from this path: a build-id that
	 * was read from it later proves nothing, and is not in id. Not part of
	 * the identity: device and inode are. */
	bool several;
	/* Two of these files had this inode, one after the other. Not part of
	 * the identity. */
	bool reused;
	/* Time of its first mapping; 1: before the capture; 0: not known. Not
	 * part of the identity. */
	uint64_t mapped;
	/* The file that naming chose by the addresses that ran, if no build-id
	 * is known; "": it refused the file with the build-id; NULL: no choice.
	 * Not part of the identity. */
	const char *settled;
	uint64_t start, len; /* kernel code: its address range; IMAGE_JIT:
			      * len is its size; IMAGE_FILE: see
			      * image_is_copy(); else 0 */
	uint64_t t0;	/* distinguishes images that used the same address: load
			 * time; IMAGE_FILE: see image_is_before() */
	uint32_t space; /* IMAGE_ANON: row id of the process; else 0 */
	/* IMAGE_JIT, IMAGE_BPF: bytes and lines of one of the codes with this
	 * image, borrowed; NULL: unknown. Not part of the identity. */
	const struct jit_code *code;
	/* The known mapped parts of the file, borrowed. Not part of the
	 * identity. */
	const struct image_part *part;
	size_t n_part;
};

/* Returns whether the image is code of a file, len bytes, that was presumably
 * copied to other memory mapped in its place. */
static inline bool image_is_copy(const struct image *img)
{
	return img->kind == IMAGE_FILE && img->len;
}

/* Returns whether the image is a file's content before the file was written at
 * t0, during the recording: the inode now has other content. */
static inline bool image_is_before(const struct image *img)
{
	return img->kind == IMAGE_FILE && img->t0;
}

enum frame_flag {
	FRAME_INFERRED = 1,   /* not recorded: caller found in the link
			       * register or by a proof in code */
	FRAME_UNCERTAIN = 2,  /* a mapping record may have been lost, or the
			       * mapping was first listed after the sample */
	FRAME_OLD_IMAGE = 4,  /* code of the program before exec: until the new
			       * one starts, the user registers are those of the
			       * old one */
	FRAME_DERIVED = 8,    /* the offset was computed, or is not an offset in
			       * the image: see IMAGE_SYMBOLS, IMAGE_MAPPING */
	FRAME_AMBIGUOUS = 16, /* several jitted codes were at the address at
			       * different times; which one ran is unknown */
	FRAME_EARLY = 32,     /* jitted code that was logged a moment later */
	FRAME_GUESSED = 64,   /* found by frame pointer, because there was no
			       * unwind table for the callee */
	FRAME_PARTIAL = 128,  /* not mapped as far as is known, but not all
			       * mappings of the process are known */
	FRAME_SIGNED = 256,   /* the address had a signature, which was left
			       * out: see user_mask_of() */
};

struct frame {
	uint32_t image;
	uint32_t flags; /* enum frame_flag */
	uint64_t off;	/* IMAGE_FILE: offset in the file; other images: see
			 * image_kind; unknown: 0 */
};

struct stack {
	uint32_t parent; /* less than the own id; 0: frame is the outermost */
	uint32_t frame;
	uint32_t depth; /* number of frames, at least 1 */
};

/* What is known about a list of addresses, besides the addresses. */
struct raw_note {
	uint8_t ended;	/* enum unwind_end; 0: not unwound */
	uint8_t caller; /* enum unwind_caller of the innermost frame */
};

/* The frames of a list of addresses, before they are interned. */
struct frame_list {
	const struct frame *at; /* outermost first */
	size_t n;
	uint64_t hash; /* frames_mix() of each, from the outermost on */
	/* the n_like outermost frames are those of this raw chain, too; 0: of
	 * none that is known */
	uint32_t like;
	size_t n_like;
};

/* A distinct combination of stack, recorded addresses and note. A hash of its
 * frames, with a key of the process, stands for the stack, so that the frames
 * can be interned later. The outer addresses of most unwound stacks equal those
 * of an earlier one, and are kept there: 19 MB of a compiler's stacks become
 * 6 MB. */
struct raw_chain {
	uint32_t stack;
	uint32_t n; /* addresses, one for each frame */
	struct raw_note note;
	uint16_t own;	 /* addresses in inner; 0: all n of them */
	uint32_t before; /* if own: id of a raw chain with own 0, which ends
			  * with the other addresses */
	const uint64_t *inner; /* innermost first */
	uint64_t hash;	       /* of the addresses */
	uint64_t frames;       /* frame_list.hash */
};

/* Unwound stacks that later ones are compared with: one for each outermost
 * address, as threads take turns. */
#define OUTER_MAX 64
#define RAW_FIRST_BITS 8

/* See frames_symbol(). */
struct frame_symbol {
	const char *name;
	uint64_t number, size;
};

/* Identifies an image across runs. */
struct image_name {
	uint64_t hash[2];
};

/* The part of a frame in the hashes of its stacks, made when frames_hash() is
 * first asked after the frame was added. Computing it from image and frame, for
 * each frame of each stack, took 1 % of an ingest of stack dumps. */
struct frame_mix {
	uint64_t a, b;
};

/* The frames of new raw chains that are to be interned, in the order of the
 * chains. All zeros: none. */
struct frames_late {
	struct late_chain {
		uint32_t raw, like, n_like, n;
	} * chain;
	struct frame *frame; /* of each chain, the n innermost */
	size_t n, cap, n_frame, cap_frame;
};

typedef void frames_wait_fn(void *arg);

/* Owns all images, frames, stacks and raw chains of a run. */
struct frames {
	/* Raw chains. A shelf has room for twice as many as the previous one,
	 * and none moves, so that the thread that stores samples can read while
	 * others are added. */
	struct raw_chain *shelf[32 - RAW_FIRST_BITS];
	uint32_t n_raw;
	struct arena arena;
	struct image_name *name; /* by image */
	size_t n_name, cap_name;
	struct image *image;
	struct frame *frame;
	struct frame_mix *mix; /* by frame */
	struct stack *stack;
	uint32_t n_image, n_frame, n_stack; /* the highest id of each kind */
	size_t n_mix, cap_mix;
	size_t cap_image, cap_frame, cap_stack;
	struct table images, frames, stacks, raws;
	struct frame_symbol *named;
	size_t n_named, cap_named;
	struct table names, numbers; /* both index named[] */
	uint32_t outer[OUTER_MAX];   /* raw chains; 0: none */
	struct frames_late late;
	frames_wait_fn *wait; /* NULL: raw chains are interned at once */
	void *wait_arg;
};

struct frames *frames_new(void);
void frames_free(struct frames *fr);

/* Each returns the id of an object and adds it if it is new. Strings are
 * copied. Two images are equal if all fields that are of the identity are. */
uint32_t frames_image(struct frames *fr, const struct image *img);
uint32_t frames_frame(struct frames *fr, const struct frame *f);
/* Returns the stack in which `stack` (0: nothing) called `frame`. */
uint32_t frames_push(struct frames *fr, uint32_t stack, uint32_t frame);
/* Returns the hash of a list of frames with one more, f; 0 is that of none. */
static inline uint64_t frames_mix(uint64_t hash, const struct frame *f)
{
	return hash_pair(hash ^ f->off, (uint64_t)f->image << 32 | f->flags);
}
/* Return the raw chain of these addresses, and add it if it is new. hash is
 * hash_u64s() of them. */
uint32_t frames_list(struct frames *fr, const struct frame_list *l,
		     const struct addrs *a, uint64_t hash,
		     struct raw_note note);
uint32_t frames_noted(struct frames *fr, uint32_t stack, const struct addrs *a,
		      uint64_t hash, struct raw_note note);
static inline uint32_t frames_raw(struct frames *fr, uint32_t stack,
				  const struct addrs *a, uint64_t hash)
{
	return frames_noted(fr, stack, a, hash, (struct raw_note){ 0, 0 });
}

/* Interning the frames of new raw chains is a fifth of what ingest of a compile
 * does while it reads. After frames_defer() a second thread may do it with
 * frames_intern(), while the first adds images, symbols and, with
 * frames_list(), raw chains, which have no stack until then. The ids are the
 * same as without it. wait(arg) returns once the second thread is idle. */
void frames_defer(struct frames *fr, frames_wait_fn *wait, void *arg);
/* Exchanges the frames that are to be interned with those of *late, which is
 * empty. Its memory is for frames_late_release(). */
void frames_pass(struct frames *fr, struct frames_late *late);
/* Interns all frames of *late, and empties it. */
void frames_intern(struct frames *fr, struct frames_late *late);
void frames_late_release(struct frames_late *late);
/* Interns all frames, and ends what frames_defer() began. */
void frames_settle(struct frames *fr);

/* Returns an offset for a symbol without a known address: a number that
 * identifies the symbol, combined with the offset in it. The number is derived
 * from the name, so that it is the same in every run. Returns NO_OFFSET if off
 * is too large. size 0: unknown. */
#define NO_OFFSET UINT64_MAX
uint64_t frames_symbol(struct frames *fr, const char *name, uint64_t size,
		       uint64_t off);
/* Returns the symbol of such an offset, with its start and size, or NULL. */
const char *frames_symbol_at(const struct frames *fr, uint64_t off,
			     uint64_t *start, uint64_t *size);

/* Return the object of a valid id, which must not be 0. The pointer is valid
 * until the next object is added, that of a raw chain for ever. */
static inline const struct image *frames_get_image(const struct frames *fr,
						   uint32_t id)
{
	return &fr->image[id - 1];
}
static inline const struct frame *frames_get_frame(const struct frames *fr,
						   uint32_t id)
{
	return &fr->frame[id - 1];
}
static inline const struct stack *frames_get_stack(const struct frames *fr,
						   uint32_t id)
{
	return &fr->stack[id - 1];
}
static inline struct raw_chain *frames_raw_at(const struct frames *fr,
					      uint32_t id)
{
	uint32_t i = id - 1 + (1u << RAW_FIRST_BITS);
	unsigned int bit = 31u - (unsigned int)__builtin_clz(i);

	return &fr->shelf[bit - RAW_FIRST_BITS][i ^ 1u << bit];
}
static inline const struct raw_chain *frames_get_raw(const struct frames *fr,
						     uint32_t id)
{
	return frames_raw_at(fr, id);
}
/* Returns the addresses of a raw chain from number `from` on, and sets *n to
 * how many of them are contiguous; 0 at the end. */
const uint64_t *frames_raw_ips(const struct frames *fr,
			       const struct raw_chain *c, uint32_t from,
			       uint32_t *n);
/* Copies the addresses of a raw chain to ip, which has room for its n. */
void frames_raw_copy(const struct frames *fr, const struct raw_chain *c,
		     uint64_t *ip);
/* Stores a hash of 128 bits of the (build-id or path, offset) of each frame,
 * from the innermost to the outermost. Equal stacks have equal hashes in every
 * run, on every host and at every load address. */
void frames_hash(struct frames *fr, uint32_t stack, uint8_t out[16]);
