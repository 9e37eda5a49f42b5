/* input.h - the bytes of a capture: mapped if possible, otherwise a stream.
 *
 * A regular file is mapped; one with size 0 (of tracefs) is a stream. A file
 * compressed by gzip, zstd, xz or bzip2 is unpacked into an unnamed temporary
 * file, which is mapped. A pipe stays a stream until input_spool() copies it
 * into such a file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

#define INPUT_HEAD 4096

struct input {
	char *path;		   /* for messages; "-" becomes "stdin" */
	const unsigned char *data; /* mapped; NULL: a stream, or empty */
	uint64_t len;		   /* of data */
	uint64_t passed;	   /* input_pass() was there */
	int fd;			   /* of a stream; otherwise -1 */
	bool cut;		   /* the compressed file is damaged or cut */
	/* The first bytes of a stream, which were read from fd. */
	unsigned char head[16];
	uint32_t n_head;
};

/* Opens path; "-" is stdin. temp_dir NULL: /tmp. Returns -1 and *err on
 * failure; an empty file, a folder and a device are failures. */
int input_open(struct input *in, const char *path, const char *temp_dir,
	       struct err *err);
/* The same for a path from a capture, or one where anybody could have put a
 * file: only a regular file is opened. */
int input_open_named(struct input *in, const char *path, const char *temp_dir,
		     struct err *err);
/* The same for a file that lies next to a capture, which may be in tracefs. */
int input_open_adjacent(struct input *in, const char *path, struct err *err);
void input_close(struct input *in);
/* Says that a reader goes through data in order, and is at off. What lies far
 * after is given back to the system a part at a time, instead of all of it at
 * the end. It can still be read, which is slower. */
void input_pass(struct input *in, uint64_t off);
/* The same at the end of data: all is given back. */
void input_pass_all(struct input *in);
/* Opens a text that the user names; "-" is stdin. Returns a stream for
 * fclose(), or NULL and *err. */
FILE *input_stream(const char *path, struct err *err);
/* Turns what is a stream into a mapped file: then all of it is in data. */
int input_spool(struct input *in, const char *temp_dir, struct err *err);
/* Reads up to n more bytes of a stream. Returns their number, 0 at the end, or
 * -1 and *err. */
int64_t input_read(struct input *in, void *buf, size_t n, struct err *err);
/* The mark of UTF-8 in front of a text, which belongs to no line. */
#define TEXT_MARK "\xef\xbb\xbf"
/* Reads the first bytes of a file by name, unpacked and without a mark. Returns
 * their number.
 * Those of a pipe on stdin stay in it; other streams cannot be read without
 * consuming them, so 0 is returned, and -1 for a FIFO. */
int64_t input_peek(const char *path, void *buf, size_t n, struct err *err);
