/* ctfout_uuid.c - gives a trace a uuid that depends on its content.
 *
 * sink.ctf.fs makes a random one, in the metadata and in each packet. But the
 * same database must give the same bytes, and two traces must differ: readers
 * take those with the same uuid for parts of one. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/export/ctf/ctfout.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/write_all.h"
#include "stitch/base/table.h"

#define UUID 16
#define UUID_TEXT 36
/* As the sink writes a packet: magic, uuid, two ids, then its size in bits. */
#define UUID_OFF 4
#define SIZE_OFF 36
#define HEAD 44

struct uuid {
	unsigned char bytes[UUID];
	char text[UUID_TEXT + 1];
};

/* Version 8 of RFC 9562: made in a way of our own. */
static void ctfout_uuid_make(struct uuid *u, uint64_t content)
{
	const uint64_t half[2] = { content,
				   hash_content(&content, 8, content) };
	char *at = u->text;

	memcpy(u->bytes, half, UUID);
	u->bytes[6] = (u->bytes[6] & 0x0f) | 0x80;
	u->bytes[8] = (u->bytes[8] & 0x3f) | 0x80;
	for (size_t i = 0; i < UUID; i++)
		at += snprintf(at, 4, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       u->bytes[i]);
}

/* Reads a file of metadata. Returns it with a final 0, for free(), or NULL. */
static char *ctfout_uuid_read(int fd, size_t *len)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	text = mem_new((size_t)st.st_size + 1, 1);
	*len = (size_t)st.st_size;
	if (pread(fd, text, *len, 0) == st.st_size)
		return text;
	free(text);
	return NULL;
}

/* Replaces the uuid of the metadata by one that is made of the rest and of what
 * the events are. The sink does not tell that it could not write the end. */
static int ctfout_uuid_metadata(int fd, uint64_t content, struct uuid *u)
{
	static const char key[] = "uuid = \"";
	size_t len = 0;
	char *text = ctfout_uuid_read(fd, &len);
	char *at = text ? strstr(text, key) : NULL;
	int rc = -1;

	if (at && len > 4 && !strcmp(text + len - 3, ";\n\n") &&
	    strlen(at += sizeof(key) - 1) > UUID_TEXT) {
		memset(at, '0', UUID_TEXT);
		ctfout_uuid_make(u, hash_content(text, len, content));
		rc = write_all_at(fd, u->text, UUID_TEXT,
				  (uint64_t)(at - text));
	}
	free(text);
	return rc;
}

static int ctfout_uuid_stream(int fd, const struct uuid *u)
{
	unsigned char head[HEAD];
	uint64_t off = 0;
	uint64_t bits;
	ssize_t n;

	while ((n = pread(fd, head, HEAD, (off_t)off)) == HEAD) {
		struct bytes b;

		bytes_init(&b, head, HEAD, "packet", off, false);
		if (bytes_peek_u64(&b, SIZE_OFF, &bits) || bits / 8 < HEAD ||
		    write_all_at(fd, u->bytes, UUID, off + UUID_OFF))
			return -1;
		off += bits / 8;
	}
	return n ? -1 : 0;
}

/* content is 0 for a stream. */
static int ctfout_uuid_file(int dir, const char *name, uint64_t content,
			    struct uuid *u)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int rc = -1;

	if (fd >= 0)
		rc = content ? ctfout_uuid_metadata(fd, content, u)
			     : ctfout_uuid_stream(fd, u);
	if (fd >= 0 && close(fd))
		rc = -1;
	return rc;
}

int ctfout_set_uuid(const char *folder, uint64_t content, struct err *err)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	struct uuid u;
	int rc = -1;

	if (d)
		rc = ctfout_uuid_file(dirfd(d), "metadata", content, &u);
	while (!rc && (e = readdir(d)))
		if (*e->d_name != '.' && strcmp(e->d_name, "metadata") != 0)
			rc = ctfout_uuid_file(dirfd(d), e->d_name, 0, &u);
	if (d)
		closedir(d);
	return rc ? err_set(err, ERR_IO,
			    "%s: the trace is not complete; is the disk full?",
			    folder)
		  : 0;
}
