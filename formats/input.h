/* input.h - opens the bytes of a capture: mapped if possible, otherwise as a
 * stream.
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
	uint64_t len;		   /* of data, in bytes */
	uint64_t passed;	   /* how far input_pass() has released data */
	int fd;			   /* of a stream, otherwise -1 */
	bool cut; /* the compressed file is damaged or incomplete */
	/* The first bytes of a stream, which were already read from fd. */
	unsigned char head[16];
	uint32_t n_head;
};

/* Opens path; "-" is stdin. temp_dir NULL: /tmp. Returns 0, or -1 and *err; an
 * empty file, a folder and a device are failures. input_close() closes it. */
int input_open(struct input *in, const char *path, const char *temp_dir,
	       struct err *err);
/* input_open() for a path from a capture, or one where anyone could have put a
 * file: opens only a regular file. */
int input_open_named(struct input *in, const char *path, const char *temp_dir,
		     struct err *err);
/* input_open() for a file in the folder of a capture, which may be in
 * tracefs. */
int input_open_adjacent(struct input *in, const char *path, struct err *err);
void input_close(struct input *in);
/* Tells the system that a reader goes through data in order and is at off.
 * Pages far before off are released in steps, instead of all at the end. They
 * can still be read, but more slowly. */
void input_pass(struct input *in, uint64_t off);
/* Releases all pages of data, at its end. */
void input_pass_all(struct input *in);
/* Opens a text that is an argument of the user; "-" is stdin. Returns a stream
 * for fclose(), or NULL and *err. */
FILE *input_stream(const char *path, struct err *err);
/* Copies a stream to a mapped file, so that all of it is in data. Returns 0, or
 * -1 and *err. */
int input_spool(struct input *in, const char *temp_dir, struct err *err);
/* Reads up to n more bytes of a stream. Returns their number, 0 at the end, or
 * -1 and *err. */
int64_t input_read(struct input *in, void *buf, size_t n, struct err *err);
/* The UTF-8 mark before a text, which is not part of its first line. */
#define TEXT_MARK "\xef\xbb\xbf"
/* Reads the first bytes of a file by name, unpacked and without a mark. Returns
 * their number. The bytes of a pipe on stdin stay in it; other streams cannot
 * be read without consuming them, so 0 is returned, and -1 and *err for a
 * FIFO. */
int64_t input_peek(const char *path, void *buf, size_t n, struct err *err);
