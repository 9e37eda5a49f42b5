/* trust_inner.h - what the files of trust.h share, and no others use: the kinds
 * of samples, and how many were counted of each. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/trust_classes.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/saturate.h"

struct trust_word;

/* What a remedy needs. */
enum trust_how {
	HOW_NOW,    /* a command on the recording */
	HOW_RECORD, /* another recording */
	HOW_GIVE,   /* a file that is not at hand */
	HOW_BUILD,  /* another build of the program */
};

struct trust_fix {
	enum trust_how how;
	const char *text;   /* as in view trust */
	const char *record; /* for 'record --waits'; "": the same as text */
};
/* By enum trust_remedy; that of REMEDY_NONE is "". */
extern const struct trust_fix trust_fixes[];

/* What is known about the kernel half of a stack, if it has callers. */
enum kernel_half {
	KERNEL_UNCHECKED,
	KERNEL_NO_FILE,	 /* unchecked, because its code is not at hand */
	KERNEL_NO_START, /* unchecked, and it ends where no stack begins */
	KERNEL_FULL,	 /* the same, because no more frames are kept */
	KERNEL_WHOLE,
	KERNEL_HOLE,   /* a caller is missing further out */
	KERNEL_CALLER, /* the caller of the innermost frame is missing */
	KERNEL_FALSE,  /* it has frames that never were */
	KERNEL_HALVES
};

/* A kind of samples. */
struct trust_key {
	int64_t type, mark, judged, frames, image;
};

struct trust_rule {
	struct trust_key key;
	uint32_t first; /* first event_type.id with that name */
	const struct trust_word *word;
	enum trust_remedy fix;
	char *path; /* of the cause, which has no frame pointers if unframed */
	bool unframed;
	int64_t all; /* samples in the database */
	int64_t n;   /* samples that were counted */
};

/* A function that sets no frame pointer, so that stacks end early in it. */
struct trust_end {
	char *function; /* "": without a name */
	int64_t n;	/* samples that were counted */
};

struct trust {
	const struct known_code *code;
	struct trust_rule *rule;
	size_t n, cap, last; /* last: index of the rule that was found last */
	uint8_t *judged;     /* enum judged by stack; NONE: whole */
	uint32_t *image;     /* by stack: image of the cause; 0: none */
	bool *unwound;	     /* by stack */
	uint8_t *walked;     /* enum walk, by stack */
	uint8_t *depth;	     /* by stack: number of frames, or DEEPEST */
	/* by stack: judged_ends_dump(); NULL: no dump is known to end early */
	bool *ends;
	uint64_t *bytes; /* likewise: bytes of the stack that are known */
	struct trust_end *end;
	size_t n_end, cap_end;
	uint32_t *end_of; /* by stack: index in end, plus 1; 0, NULL: none */
	size_t n_stack;
	struct kept_frames *kept; /* by event_type.id */
	size_t n_kept;
	bool chains; /* some event takes stacks, perhaps only the kernel's */
	bool summed; /* only all samples of an event can be counted together */
	unsigned int buffers; /* loss_buffer_megabytes(), the most of any */
	bool record;	      /* record --waits made a capture */
	bool unknown;	      /* the class of some samples is not known */
	int64_t bare;	      /* counted samples without any stack */
	int64_t kernel;	      /* counted samples with only a kernel stack */
	int64_t nested;	      /* counted samples that are calls of a tracer */
	int64_t half[KERNEL_HALVES]; /* counted samples */
	int64_t walk[WALKS];	     /* likewise, by how the stack was walked */
	/* Counted samples, and those in code whose file nothing proves. */
	int64_t counted, unproved;
	/* counted samples in code of files that were replaced, and have no
	 * names; the path of the first one, from which several files may have
	 * been mapped */
	int64_t gone;
	char *gone_path;
	int64_t gone_inode; /* 0: it does not distinguish the file */
	bool replaced;	    /* the capture shows that the file was replaced */
	/* a process of this machine that sees the file at its path; 0: none */
	int64_t gone_pid;
	/* by image.id: for what the samples in an image count; images after the
	 * last one are TRUST_PROVED */
	enum trust_file {
		TRUST_PROVED,
		TRUST_UNPROVED,
		TRUST_GONE,
	} * file_of;
	size_t n_file_of, cap_file_of;
};

/* No capture has more samples. Counts of a database from elsewhere stop here,
 * so that a hundred times a sum still is a number. */
#define COUNT_MAX ((int64_t)1 << 56)

/* Adds n to a sum, which is COUNT_MAX at most. */
static inline void trust_tally(int64_t *sum, uint64_t n)
{
	uint64_t all = saturating_add((uint64_t)*sum, n);

	*sum = all < COUNT_MAX ? (int64_t)all : COUNT_MAX;
}
