/* identity.h - judges whether a file is the one that was mapped: the one place
 * that decides it.
 *
 * The file of an image comes from locate.h, which calls this for each
 * candidate. The evidence, strongest first:
 * 1. The build-id in the mapping's own record.
 * 2. Device, inode and generation in the record, if the file was not written
 * since the recording began.
 * 3. The build-id that the recorder read from the path when the recording
 * ended, unless the capture has several files at that path, or this machine
 * shows that it was read from another file. In a mount namespace that had ended
 * by then another file was mapped, which only 4 shows.
 * 4. The addresses that ran: instructions of functions, and addresses after
 * calls. They decide where 3 is in doubt, and can refute 3 and a file that the
 * user gives.
 * 5. The path alone, unless the record says that the file was deleted, or the
 * inode is another one, or it was written after the recording. On another
 * machine, or with another inode where no machine is named, it proves nothing:
 * there 4 decides.
 *
 * Code in other memory where a file was mapped is only believed to be that of
 * the file. */
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
	IDENTITY_ANOTHER,  /* another file: nothing may be taken from it */
	IDENTITY_OFFERED,  /* a copy that the user gives, where there were two
			      files: the addresses choose between these */
	IDENTITY_DOUBTFUL, /* only the addresses that ran can decide, see below
			    */
	IDENTITY_ASSUMED,  /* of another machine, or with another inode where no
			      machine is named: used unless the addresses refute
			      it */
	IDENTITY_BELIEVED, /* no evidence for or against it */
	IDENTITY_GIVEN,	   /* the same for a copy that the user gives, or a file
			      with the inode that was written since, unless the
			      addresses refute it */
	IDENTITY_READ, /* proved, unless the addresses show that the recorder
			  read the build-id from another file */
	IDENTITY_PROVED,
};

/* How a file was found. */
enum found_at {
	FOUND_PATH,  /* at the recorded path */
	FOUND_GIVEN, /* below a folder that the user gives, by path or name */
	FOUND_INODE, /* the same, with the recorded inode in its name */
	FOUND_BY_ID, /* where files are kept by build-id */
};

struct identity_answer {
	enum identity is;
	/* the evidence for it, a text of image.identity in
	 * backstitch-schema(5); NULL: another file, or not judged */
	const char *why;
	/* with another file, or with none: the status of the image */
	enum image_status status;
	char found[41]; /* IMAGE_OTHER_ID: the build-id of that file, as text */
};

struct identity_answer identity_judge(const struct symbolizer *sy,
				      const struct image *img,
				      const struct elf_file *ef,
				      enum found_at at);
/* identity_judge() for this process's vdso. */
struct identity_answer identity_judge_vdso(const struct symbolizer *sy,
					   const struct image *img,
					   const struct elf_file *ef);

/* Returns whether a capture is of this machine and kernel version; false if it
 * has neither (NULL). */
bool identity_recorded_here(const char *host, const char *release);
/* Returns false if the device, inode and generation of the file at the image's
 * path prove, on the machine of the recording, that it is not the one that was
 * mapped. */
bool identity_may_be_mapped(const struct image *img);

/* Returns the time, as in records, at which the file at the image's path was
 * written while it was recorded, or a little before, if it has the recorded
 * inode: what was mapped before then had another content. 0: it was not
 * written. */
uint64_t identity_written(const struct symbolizer *sy, const struct image *img);

/* How far the build-id of an image can be trusted. */
enum identity_id {
	IDENTITY_ID_NONE,  /* it has none, or one that was read from another
			    * file */
	IDENTITY_ID_DOUBT, /* another file is at its path, and was when the
			      recorder read it: the id may be of that file */
	IDENTITY_ID_OPEN,  /* another file is there, since an unknown time */
	IDENTITY_ID_READ,  /* the recorder read it from the path */
	IDENTITY_ID_OWN,   /* it is in the record of the mapping */
};
enum identity_id identity_of_id(const struct symbolizer *sy,
				const struct image *img);
/* Returns the verdict for a file with the build-id of the image. */
struct identity_answer identity_judge_id(const struct symbolizer *sy,
					 const struct image *img);
/* Returns whether results for the image may be cached under its build-id or,
 * without one, its path and inode: nothing else determines them. */
bool identity_may_be_kept(const struct symbolizer *sy, const struct image *img);
/* The code of a file. */
struct identity_code {
	const struct segment *seg;
	size_t n_seg;
	uint64_t span; /* from identity_span() */
	uint16_t machine;
};
/* Returns the length in bytes from the first page of the first segment to the
 * end of the last, if the first is code; else 0. */
uint64_t identity_span(const struct elf_file *ef);
/* Returns whether this range of the file, mapped as code, is what a loader maps
 * of this file's code. Files of another build mostly have other sizes. */
bool identity_fits(const struct identity_code *c, uint64_t pgoff, uint64_t len);
/* Returns whether identity_fits() is true for one part, or for all together, as
 * the kernel splits mappings with different flags; true if no part is known, or
 * the file does not show what is to be mapped. */
bool identity_maps(const struct identity_code *c, const struct image_part *part,
		   size_t n);
/* Distinct addresses of a capture in a file. */
struct identity_seen {
	size_t ran, missed; /* in innermost frames: at an instruction of a
			       function, or not */
	size_t outside;	   /* in innermost frames: where the file has no code */
	size_t calls, bad; /* return addresses: after a call or not */
	size_t calls_of, bad_of; /* callers in stacks, of these two */
	/* in all stacks: return addresses after a call of the next function */
	size_t linked;
	bool mapped; /* mappings of its code are known, see identity_maps() */
	bool misfit; /* ... and they do not fit this file */
};
/* Returns whether the file is proved, so that results from it are. */
bool identity_is_sure(enum identity is);
/* Returns whether the addresses that ran are needed to decide. */
bool identity_is_open(enum identity is);
/* Returns whether the addresses are consistent with the file. A walk along
 * frame pointers adds some return addresses after no call to those of the right
 * file, each in few stacks. */
bool identity_stands(enum identity is, const struct identity_seen *seen);
/* Judges all return addresses in the same way, where stacks are judged by the
 * file. Returns NULL, or the text after "doubted: " in image.identity. */
const char *identity_why_other(enum identity is,
			       const struct identity_seen *seen);
/* Returns 1 if the addresses are better evidence for file a, -1 for b, 0 for
 * neither. */
int identity_compare(const struct identity_seen *a,
		     const struct identity_seen *b);
/* Returns whether both files have the same build-id. */
bool identity_is_copy(const char *a, const char *b);
/* Returns whether the recorder found the file deleted. Sets *len to the length
 * of its path without the mark. */
bool identity_is_deleted(const char *path, size_t *len);
