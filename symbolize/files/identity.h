/* identity.h - whether a file is the one that was mapped: the one place that
 * decides it.
 *
 * Whoever wants the file of an image takes it from locate.h, which asks here
 * about each candidate. What is evidence, strongest first:
 * 1. The build-id of the mapping's own record.
 * 2. Device, inode and generation in the record, of a file that was not written
 *    since the recording began.
 * 3. The build-id that the recorder read from the path when the recording
 *    ended, unless the capture has several files at that path, or this machine
 *    shows that it was read from another file. In a mount namespace that was
 *    gone by then another one was mapped, and only 4 shows it.
 * 4. The addresses that ran: instructions of functions, and after calls. They
 *    decide where 3 is in doubt, and refute it, and what a user gives.
 * 5. The path alone, unless the record says that the file was deleted, or the
 *    inode is another one, or it was written after the recording. On another
 *    machine, or with another inode where none is named, it proves nothing:
 *    there 4 decides.
 *
 * Of code in other memory where a file was mapped it is only believed that it
 * is that of the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/image_status.h"

struct elf_file;
struct image;
struct image_part;
struct segment;
struct symbolizer;

enum identity {
	IDENTITY_ANOTHER,  /* another file: nothing is to be taken from it */
	IDENTITY_OFFERED,  /* a copy that the user gives, where there were two
			    * files: they choose among those */
	IDENTITY_DOUBTFUL, /* only the addresses that ran can tell, see below */
	IDENTITY_ASSUMED,  /* of another machine, or of another inode where no
			    * machine is named: used until they tell */
	IDENTITY_BELIEVED, /* nothing speaks against it, nothing proves it */
	IDENTITY_GIVEN, /* the same of a copy that the user gives, or of a file
			 * with the inode that was written since, unless they
			 * tell that it is of another file */
	IDENTITY_READ,	/* proved, unless they tell that the recorder read
			 * the build-id from another file */
	IDENTITY_PROVED,
};

/* How a file was found. */
enum found_at {
	FOUND_PATH,  /* at the recorded path */
	FOUND_GIVEN, /* below a folder that the user named, by path or name */
	FOUND_INODE, /* likewise, with the recorded inode in its name */
	FOUND_BY_ID, /* where files are kept by build-id */
};

struct identity_answer {
	enum identity is;
	/* what speaks for it, a text of image.identity in backstitch-schema(5);
	 * NULL: another file, or nothing was asked */
	const char *why;
	/* of another file, or of none: what the image becomes by it, if
	 * anything */
	enum image_status status;
	char found[41]; /* IMAGE_OTHER_ID: the build-id of that file, as text */
};

struct identity_answer identity_judge(const struct symbolizer *sy,
				      const struct image *img,
				      const struct elf_file *ef,
				      enum found_at at);
/* The same of this process's vdso. */
struct identity_answer identity_judge_vdso(const struct symbolizer *sy,
					   const struct image *img,
					   const struct elf_file *ef);

/* Returns whether a capture is of this machine and kernel version; of one that
 * names neither (NULL) it is not. */
bool identity_recorded_here(const char *host, const char *release);
/* Returns false if the file at the image's path is not the one that was mapped,
 * by its device, inode and generation, on the machine of the recording. */
bool identity_may_be_mapped(const struct image *img);

/* Returns when, as time of a record, the file at the image's path was written
 * while it was recorded, or a little before that, if it is the one with the
 * inode: what was mapped before had another content. 0: it was not. */
uint64_t identity_written(const struct symbolizer *sy, const struct image *img);

/* What the build-id of an image is worth. */
enum identity_id {
	IDENTITY_ID_NONE,  /* it has none, or one that was read from another
			    * file */
	IDENTITY_ID_DOUBT, /* another file is at its path, and was when the
			    * recorder read it: it may be of that one */
	IDENTITY_ID_OPEN,  /* another file is there, since when is not known */
	IDENTITY_ID_READ,  /* the recorder has read it from the path */
	IDENTITY_ID_OWN,   /* it is in the record of the mapping */
};
enum identity_id identity_of_id(const struct symbolizer *sy,
				const struct image *img);
/* What is said of the file with the build-id of an image. */
struct identity_answer identity_judge_id(const struct symbolizer *sy,
					 const struct image *img);
/* Returns whether what is found for the image may be kept under its build-id
 * or, without one, its path and inode: nothing else decides what is found. */
bool identity_may_be_kept(const struct symbolizer *sy, const struct image *img);
/* The code of a file. */
struct identity_code {
	const struct segment *seg;
	size_t n_seg;
	uint64_t span; /* identity_span() */
	uint16_t machine;
};
/* Returns the length from the first page of the first segment to the end of the
 * last, if the first is of code; else 0. */
uint64_t identity_span(const struct elf_file *ef);
/* Is this range of the file, mapped as code, what a loader maps of this file's
 * code? Files of another build mostly have other sizes. */
bool identity_fits(const struct identity_code *c, uint64_t pgoff, uint64_t len);
/* Returns whether identity_fits() is true of one part, or of all together,
 * which the kernel tells apart where they have other flags; true if none is
 * known, or the file does not tell what is to be mapped. */
bool identity_maps(const struct identity_code *c, const struct image_part *part,
		   size_t n);
/* Distinct addresses of a capture, in a file. */
struct identity_seen {
	size_t ran, missed;	 /* of innermost frames: at an instruction of a
				  * function, or nowhere near */
	size_t outside;		 /* of innermost frames, where it has no code */
	size_t calls, bad;	 /* return addresses: after a call or not */
	size_t calls_of, bad_of; /* places in stacks that these have called */
	/* of all stacks: places where that call is of the next function */
	size_t linked;
	bool mapped; /* mappings of its code are known, see identity_maps() */
	bool misfit; /* and are no mappings of this file */
};
/* Returns whether the file proves what is taken from it. */
bool identity_is_sure(enum identity is);
/* Returns whether the addresses that ran decide anything. */
bool identity_is_open(enum identity is);
/* Returns whether they leave the file to the image. A walk along frame pointers
 * adds some return addresses after no call to those of the right file, each in
 * few stacks. */
bool identity_stands(enum identity is, const struct identity_seen *seen);
/* The same of all return addresses, where stacks are judged by the file:
 * returns NULL, or what is put after "doubted: " in image.identity. */
const char *identity_why_other(enum identity is,
			       const struct identity_seen *seen);
/* Returns 1 if they speak for the file a rather than b, -1 for b, 0: for none
 * of them. */
int identity_compare(const struct identity_seen *a,
		     const struct identity_seen *b);
/* Returns whether both files have one build-id. */
bool identity_is_copy(const char *a, const char *b);
/* Returns whether the recorder found the file deleted, and *len: of its path
 * without the mark. */
bool identity_is_deleted(const char *path, size_t *len);
