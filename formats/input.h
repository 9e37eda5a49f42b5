/* input.h - the bytes of a capture: mapped where possible, else a stream.
 *
 * A regular file is mapped, one without a size (of tracefs) is a stream. One
 * packed by gzip or zstd is unpacked into a temporary file without a name, and
 * that is mapped. A pipe stays a stream until input_spool() copies it into such
 * a file. */
#ifndef FORMATS_INPUT_H
#define FORMATS_INPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define INPUT_HEAD 4096

struct input {
	char *path;		   /* for messages; "-" becomes "stdin" */
	const unsigned char *data; /* mapped; NULL: a stream, or empty */
	uint64_t len;		   /* of data */
	int fd;			   /* a stream's; else -1 */
	bool cut; /* it was packed, and the packed file is damaged */
	/* The first bytes of a stream, which read() has given already. */
	unsigned char head[16];
	uint32_t n_head;
};

/* path "-": stdin; temp_dir NULL: /tmp. -1 and *err on failure; an empty
 * file, a folder and a device are failures. */
int input_open(struct input *in, const char *path, const char *temp_dir,
	       struct err *err);
void input_close(struct input *in);
/* Makes a stream a mapped file. */
int input_spool(struct input *in, const char *temp_dir, struct err *err);
/* Up to n more bytes of a stream: how many (0: the end), -1 and *err. */
int64_t input_read(struct input *in, void *buf, size_t n, struct err *err);
/* The first bytes of a file by name, unpacked: how many. Of a pipe on stdin
 * too, and they stay in it; of other streams nothing can be seen
 * without taking it: 0. */
int64_t input_peek(const char *path, void *buf, size_t n, struct err *err);
#endif
