/* archive.c - reads archives with libarchive: takes a database out of one, or
 * unpacks all of its files. */
#include "formats/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/bundle.h"
#include "formats/input.h"
#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/files/write_all.h"

/* More files than a recording of all processes of a large machine. */
#define ARCHIVE_FILES 100000
/* Packed data does not shrink to a quarter when it is packed again, but bombs
 * do: a packed member larger than this may grow by no more than the ratio. */
#define ARCHIVE_TWICE ((uint64_t)4 << 20)
#define ARCHIVE_TWICE_RATIO 4
/* Offset of the checksum in the head of tar, and the size of the head. */
#define TAR_SUM 148
#define TAR_HEAD 512

struct archive_reader {
	const struct archive_calls *lib;
	struct archive *a;
	const char *path;
	uint64_t size;	/* of the file in bytes; 0: unknown */
	uint64_t plain; /* bytes of members so far */
};

/* ---- recognizes an archive */

static bool archive_is_tar(const unsigned char *head, size_t n)
{
	unsigned long sum = 8 * ' ';
	char text[9] = "";
	char *end;

	if (n < TAR_HEAD)
		return false;
	memcpy(text, head + TAR_SUM, 8);
	for (size_t i = 0; i < TAR_HEAD; i++)
		if (i < TAR_SUM || i >= TAR_SUM + 8)
			sum += head[i];
	/* old writers put blanks before the digits */
	return strtoul(text, &end, 8) == sum && end > text;
}

bool archive_is(const char *path)
{
	unsigned char head[TAR_HEAD];
	struct err ignored;
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	const int64_t n = input_peek(path, head, sizeof(head), &ignored);

	return n > 4 &&
	       (!memcmp(head, "PK\3\4", 4) || archive_is_tar(head, (size_t)n));
}

size_t archive_in_path(const char *path)
{
	size_t n = strlen(path);
	struct stat st;

	if (!stat(path, &st) || errno != ENOTDIR)
		return n;
	for (size_t len = n; len > 1; len--) {
		if (path[len] != '/')
			continue;
		char *file OWNED = mem_dup(path, len + 1);

		file[len] = '\0';
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			return len;
	}
	return n;
}

/* ---- reading */

static int archive_open(struct archive_reader *r, const char *path,
			struct err *err)
{
	struct stat st;

	*r = (struct archive_reader){ .path = path };
	r->lib = libarchive_load(err);
	if (!r->lib)
		return -1;
	r->a = mem_must(r->lib->read_new());
	/* not all filters: libarchive would start other programs for some */
	r->lib->read_support_filter_gzip(r->a);
	r->lib->read_support_filter_bzip2(r->a);
	r->lib->read_support_filter_xz(r->a);
	r->lib->read_support_filter_zstd(r->a);
	r->lib->read_support_format_tar(r->a);
	r->lib->read_support_format_zip_seekable(r->a);
	r->lib->read_support_format_zip_streamable(r->a);
	if (!stat(path, &st))
		r->size = (uint64_t)st.st_size;
	if (r->lib->read_open_filename(r->a, path, 1 << 16)) {
		const char *why = r->lib->error_string(r->a);

		return err_set(err, ERR_FORMAT, "%s: %s", path,
			       why ? why : "cannot be read");
	}
	if (r->lib->filter_count(r->a) > 2)
		return err_set(err, ERR_FORMAT,
			       "%s: this is a packed file inside a packed "
			       "file; unpack it first",
			       path);
	return 0;
}

static void archive_close(struct archive_reader *r)
{
	if (r->a)
		r->lib->read_free(r->a);
}

/* Sets *err for the entry that cannot be read, and returns -1. The offset is
 * that of the entry in the unpacked tar. */
static int archive_fails(struct archive_reader *r, struct err *err)
{
	const char *why = r->lib->error_string(r->a);

	const int64_t at = r->lib->read_header_position(r->a);

	return err_at(err, r->path, at > 0 ? (uint64_t)at : 0,
		      "this entry of the archive%s cannot be read: %s",
		      r->lib->filter_count(r->a) > 1 ? ", when unpacked," : "",
		      why ? why : "it is damaged");
}

/* Returns 1 and the next entry, 0 at the end, or -1 and *err. */
static int archive_next(struct archive_reader *r, struct archive_entry **e,
			struct err *err)
{
	int rc = r->lib->read_next_header(r->a, e);

	/* not for ARCHIVE_RETRY: there is no entry to read then */
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return 1;
	return rc == ARCHIVE_EOF ? 0 : archive_fails(r, err);
}

static const char *archive_name(const struct archive_reader *r,
				struct archive_entry *e)
{
	const char *name =
		r->lib->entry_pathname(e) ?: r->lib->entry_pathname_utf8(e);

	while (name && !strncmp(name, "./", 2))
		name += 2;
	return name ? name : "";
}

/* Returns how many bytes of the file were read. For a zip, in which members may
 * share bytes, it is the size of the file. */
static uint64_t archive_packed(const struct archive_reader *r)
{
	const int format = r->lib->format(r->a) & ARCHIVE_FORMAT_BASE_MASK;

	return format == ARCHIVE_FORMAT_ZIP && r->size
		       ? r->size
		       : (uint64_t)r->lib->filter_bytes(r->a, -1);
}

#define PART ((size_t)512)

/* Fills buf, in parts, as libarchive drops what it has of a part when it fails.
 * Returns the number of bytes; *failed is set if an error follows them. */
static size_t archive_fill(const struct archive_reader *r, char *buf,
			   size_t size, bool *failed)
{
	size_t n = 0;
	la_ssize_t got = 1;

	while (n < size && got > 0) {
		got = r->lib->read_data(r->a, buf + n,
					size - n < PART ? size - n : PART);
		n += got > 0 ? (size_t)got : 0;
	}
	*failed = got < 0;
	return n;
}

/* Reads the data of an entry, which may consist of holes, and copies it to the
 * file `to` unless that is -1. Returns 0; 1 and *err if it cannot be read; or
 * -1 and *err if it is too large, or cannot be written. */
static int archive_read_entry(struct archive_reader *r, int to, uLong *sum,
			      struct err *err)
{
	static char buf[1 << 16];
	const uint64_t from = (uint64_t)r->lib->filter_bytes(r->a, -1);
	uint64_t done = 0;
	bool twice = false;
	bool failed = false;
	size_t n;

	while (!failed && (n = archive_fill(r, buf, sizeof(buf), &failed))) {
		const uint64_t at = (uint64_t)r->lib->filter_bytes(r->a, -1);
		const uint64_t plain = (uint64_t)r->lib->filter_bytes(r->a, 0);

		if (!done)
			twice = unpack_knows(buf, n);
		done += n;
		r->plain += n;
		*sum = crc32_z(*sum, (const unsigned char *)buf, n);
		if (unpack_check(r->path, archive_packed(r),
				 r->plain > plain ? r->plain : plain, err))
			return -1;
		if (twice && done > ARCHIVE_TWICE && at >= from &&
		    done / ARCHIVE_TWICE_RATIO > at - from)
			return err_set(err, ERR_FORMAT,
				       "%s: a packed file in it is packed once "
				       "more, as no data are; unpack it, and "
				       "read that",
				       r->path);
		if (to >= 0 && write_all(to, buf, n))
			return err_set(
				err, ERR_IO,
				"%s: cannot write the temporary copy "
				"(%m); set TMPDIR to a folder with space",
				r->path);
	}
	return failed ? (archive_fails(r, err), 1) : 0;
}

/* ---- a database */

static bool archive_ends(const struct archive_reader *r,
			 struct archive_entry *e, const char *ending)
{
	const char *name = archive_name(r, e);
	const size_t n = strlen(name);
	const size_t len = strlen(ending);

	return n > len && !strcmp(name + n - len, ending) &&
	       !strchr(name, '/') && r->lib->entry_filetype(e) == AE_IFREG;
}

/* Compares the checksum with that in the archive. A changed byte in a packed
 * file can unpack to the same number of other bytes: libarchive does not
 * compare gzip's checksum, and writes none with zstd. An archive of an older
 * version, or of tar, has no entry with a checksum. Returns 0, or -1 and
 * *err. */
static int archive_check_sum(struct archive_reader *r, uLong sum,
			     struct err *err)
{
	struct archive_entry *e;
	char text[BUNDLE_SUM_LEN + 1] = "";
	int rc = archive_next(r, &e, err);

	if (rc <= 0)
		return rc;
	if (!archive_ends(r, e, BUNDLE_SUM) ||
	    (r->lib->read_data(r->a, text, BUNDLE_SUM_LEN) == BUNDLE_SUM_LEN &&
	     strtoul(text, NULL, 16) == sum))
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: the database in it is not the one that was packed: "
		       "the checksums differ; copy the archive again",
		       r->path);
}

/* Moves to the database. Returns 1, 0 if there is none, or -1 and *err. */
static int archive_find_database(struct archive_reader *r, struct err *err)
{
	struct archive_entry *e;
	uLong sum = 0;
	int rc;

	while ((rc = archive_next(r, &e, err)) > 0) {
		if (archive_ends(r, e, ".db"))
			return 1;
		/* entries before the database are unpacked too */
		if (archive_read_entry(r, -1, &sum, err))
			return -1;
	}
	return rc;
}

bool archive_is_bundle(const char *path)
{
	struct archive_reader r;
	struct err ignored;

	if (!archive_is(path))
		return false;
	const bool is = !archive_open(&r, path, &ignored) &&
			archive_find_database(&r, &ignored) > 0;

	archive_close(&r);
	return is;
}

int archive_take_database(const char *path, int to, struct err *err)
{
	struct archive_reader r;
	uLong sum = 0;
	int rc = archive_open(&r, path, err) ?: archive_find_database(&r, err);

	if (rc > 0)
		rc = archive_read_entry(&r, to, &sum, err)
			     ? -1
			     : archive_check_sum(&r, sum, err);
	else if (!rc)
		rc = err_set(err, ERR_FORMAT, "%s: no database is in it", path);
	archive_close(&r);
	return rc;
}

/* ---- all files */

/* Returns the name without leading slashes if a file with it may be made below
 * the folder, or NULL. */
static const char *archive_name_below(const char *name)
{
	size_t depth = 0;

	while (*name == '/' || !strncmp(name, "./", 2))
		name++;
	for (const char *s = name; (s = strchr(s, '/')); s++)
		depth++;
	return !*name || path_leaves_root(name) || depth > ARCHIVE_DEPTH ||
			       strlen(name) >= PATH_MAX / 2
		       ? NULL
		       : name;
}

/* Creates a file and its folders; it replaces an earlier file with the same
 * name, as in tar. Returns the descriptor, or -1 and errno. */
static int archive_make(int dir, const char *name)
{
	char at[PATH_MAX];

	for (size_t i = 0; name[i]; i++) {
		at[i] = name[i];
		if (name[i] != '/')
			continue;
		at[i] = '\0';
		if (mkdirat(dir, at, 0700) && errno != EEXIST)
			return -1;
		at[i] = '/';
	}
	unlinkat(dir, name, 0);
	return openat(dir, name,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

static int archive_unpack_entry(struct archive_reader *r,
				struct archive_entry *e, int dir,
				struct archive_found *found, struct err *err)
{
	const char *name = archive_name_below(archive_name(r, e));
	const unsigned int type = r->lib->entry_filetype(e);
	uLong sum = 0;
	int fd = -1;

	if (name && type == AE_IFREG && !r->lib->entry_hardlink(e)) {
		fd = archive_make(dir, name);
		if (fd < 0 && (errno == ENOSPC || errno == EDQUOT ||
			       errno == EMFILE || errno == EACCES))
			return err_set(
				err, ERR_IO,
				"%s: cannot write the temporary copy "
				"(%m); set TMPDIR to a folder with space",
				r->path);
	}
	if (fd < 0 && type != AE_IFDIR && !found->left_out++)
		snprintf(found->left, sizeof(found->left), "%s",
			 archive_name(r, e));
	const uint64_t was = r->plain;
	int rc = archive_read_entry(r, fd, &sum, err);

	if (fd < 0)
		return rc;
	if (rc > 0 && r->plain == was) {
		close(fd);
		unlinkat(dir, name, 0);
		return rc;
	}
	/* set the time of the last write; times in a zip have no zone */
	const int format = r->lib->format(r->a) & ARCHIVE_FORMAT_BASE_MASK;
	const time_t at = r->lib->entry_mtime(e);
	const struct timespec last = { at, 999999999 };
	const struct timespec times[2] = { last, last };

	if (format == ARCHIVE_FORMAT_TAR && r->lib->entry_mtime_is_set(e) &&
	    at > 0)
		futimens(fd, times);
	close(fd);
	if (++found->files > ARCHIVE_FILES)
		return err_set(err, ERR_LIMIT,
			       "%s: more than %d files are in this archive; "
			       "unpack it (tar -xf) and give the capture",
			       r->path, ARCHIVE_FILES);
	return rc;
}

int archive_unpack(const char *path, int dir, bool databases,
		   struct archive_found *found, struct err *err)
{
	struct archive_reader r;
	struct archive_entry *e;
	struct err why = { 0 };
	bool failed = false;
	int rc = archive_open(&r, path, err);

	*found = (struct archive_found){ .files = 0 };
	if (rc)
		goto out;
	while ((rc = archive_next(&r, &e, &why)) > 0) {
		found->database = !databases && archive_ends(&r, e, ".db");
		if (found->database) {
			rc = 0;
			break;
		}
		rc = archive_unpack_entry(&r, e, dir, found, &why);
		failed = rc < 0;
		if (rc)
			break;
	}
	/* entries that were read before the damage are good */
	if (rc && !failed && found->files) {
		found->cut = true;
		snprintf(found->why, sizeof(found->why), "%.255s", why.msg);
		rc = 0;
	} else if (rc) {
		*err = why;
		rc = -1;
	}
out:
	archive_close(&r);
	return rc;
}
