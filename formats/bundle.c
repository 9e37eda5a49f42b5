/* bundle.c - writes an archive of several files with libarchive. */
#include "formats/bundle.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/new_file.h"

struct bundle {
	const struct archive_calls *lib;
	struct archive *a;
	char *path;
	struct new_file *file;
	uLong sum; /* checksum of the file that was added last */
};

static const struct {
	const char *end;
	int filter; /* of libarchive, by the name's ending */
} forms[] = {
	{ ".tar", ARCHIVE_FILTER_NONE },     { ".tar.gz", ARCHIVE_FILTER_GZIP },
	{ ".tgz", ARCHIVE_FILTER_GZIP },     { ".tar.xz", ARCHIVE_FILTER_XZ },
	{ ".tar.zst", ARCHIVE_FILTER_ZSTD },
};
#define N_FORMS ARRAY_SIZE(forms)

static size_t bundle_form(const char *path)
{
	size_t n = strlen(path);
	size_t i = 0;

	for (; i < N_FORMS; i++) {
		size_t end = strlen(forms[i].end);

		if (n > end && !strcmp(path + n - end, forms[i].end))
			break;
	}
	return i;
}

bool bundle_is_name(const char *path)
{
	return bundle_form(path) < N_FORMS;
}

static int bundle_refuse(const struct bundle *b, struct err *err)
{
	const char *why = b->a ? b->lib->error_string(b->a) : NULL;

	return err_set(err, ERR_IO, "%s: %s", b->path,
		       why ? why : "cannot be written");
}

static int bundle_start(struct bundle *b, bool force, struct err *err)
{
	b->file = new_file_open(b->path, force, err);
	if (!b->file)
		return -1;
	b->a = b->lib->write_new();
	if (!b->a ||
	    b->lib->write_add_filter(b->a,
				     forms[bundle_form(b->path)].filter) ||
	    b->lib->write_set_format_pax_restricted(b->a))
		return bundle_refuse(b, err);
	/* only gzip has this option; the others refuse it */
	b->lib->write_set_filter_option(b->a, NULL, "timestamp", NULL);
	/* a regular file need not end with a complete block */
	b->lib->write_set_bytes_in_last_block(b->a, 1);
	if (b->lib->write_open_fd(b->a, new_file_fd(b->file)))
		return bundle_refuse(b, err);
	return 0;
}

struct bundle *bundle_create(const char *path, bool force, struct err *err)
{
	struct bundle *b;

	if (!bundle_is_name(path)) {
		err_set(err, ERR_USAGE,
			"%s: an archive is called .tar, .tar.gz, .tar.xz or "
			".tar.zst",
			path);
		return NULL;
	}
	const struct archive_calls *lib = libarchive_load(err);

	if (!lib)
		return NULL;
	b = mem_new(1, sizeof(*b));
	b->lib = lib;
	b->path = mem_strdup(path);
	if (!bundle_start(b, force, err))
		return b;
	bundle_free(b);
	return NULL;
}

void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	if (b->a)
		b->lib->write_free(b->a);
	new_file_free(b->file);
	free_all(b->path, b);
}

int bundle_finish(struct bundle *b, struct err *err)
{
	if (b->lib->write_close(b->a))
		return bundle_refuse(b, err);
	return new_file_finish(b->file, err);
}

static int bundle_begin_entry(struct bundle *b, const char *name, uint64_t size,
			      bool program, struct err *err)
{
	struct archive_entry *e = b->lib->entry_new();

	b->lib->entry_set_pathname(e, name);
	b->lib->entry_set_size(e, (la_int64_t)size);
	b->lib->entry_set_filetype(e, AE_IFREG);
	b->lib->entry_set_perm(e, program ? 0755 : 0644);
	b->lib->entry_set_mtime(e, 0, 0);
	int rc = b->lib->write_header(b->a, e);
	b->lib->entry_free(e);
	return rc < ARCHIVE_WARN ? bundle_refuse(b, err) : 0;
}

static int bundle_write(struct bundle *b, const void *data, size_t n,
			struct err *err)
{
	b->sum = crc32_z(b->sum, data, n);
	return b->lib->write_data(b->a, data, n) < 0 ? bundle_refuse(b, err)
						     : 0;
}

int bundle_add_text(struct bundle *b, const char *name, const char *text,
		    struct err *err)
{
	size_t n = strlen(text);

	return bundle_begin_entry(b, name, n, false, err)
		       ?: bundle_write(b, text, n, err);
}

int bundle_add_file(struct bundle *b, const char *name, int fd,
		    const char *path, uint64_t *bytes, struct err *err)
{
	static unsigned char buf[1 << 16];
	struct stat st;
	off_t at = 0;

	if (fstat(fd, &st))
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	uint64_t left = (uint64_t)st.st_size;

	b->sum = 0;
	if (bundle_begin_entry(b, name, left, st.st_mode & 0111, err))
		return -1;
	while (left) {
		size_t want = left < sizeof(buf) ? (size_t)left : sizeof(buf);
		ssize_t n = pread(fd, buf, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_IO, "%s: %s", path,
				       strerror(errno));
		if (!n)
			break; /* libarchive fills the rest with zeros */
		if (bundle_write(b, buf, (size_t)n, err))
			return -1;
		at += n;
		left -= (uint64_t)n;
	}
	*bytes += (uint64_t)st.st_size;
	return 0;
}

int bundle_add_sum(struct bundle *b, const char *name, struct err *err)
{
	char sum[BUNDLE_SUM_LEN + 1];
	char path[512];

	snprintf(sum, sizeof(sum), "%08lx", b->sum);
	snprintf(path, sizeof(path), "%s" BUNDLE_SUM, name);
	return bundle_add_text(b, path, sum, err);
}
