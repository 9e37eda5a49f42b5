/* bundle.c - writes an archive of several files with libarchive, and takes one
 * out again. */
#include "formats/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/unpack.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"
#include "stitch/files/write_all.h"

/* ---- the functions of libarchive
 *
 * It is loaded when an archive is written or read: linked, it and the libraries
 * that it needs (libxml2, ICU, that of C++) take half the time of a short
 * command at each start. */

/* Those that are called, as C(NAME) for archive_NAME(). */
#define ARCHIVE_CALLS(C)                                                       \
	C(entry_filetype)                                                      \
	C(entry_free)                                                          \
	C(entry_new)                                                           \
	C(entry_pathname)                                                      \
	C(entry_set_filetype)                                                  \
	C(entry_set_mtime)                                                     \
	C(entry_set_pathname)                                                  \
	C(entry_set_perm)                                                      \
	C(entry_set_size)                                                      \
	C(error_string)                                                        \
	C(filter_bytes)                                                        \
	C(filter_count)                                                        \
	C(read_data)                                                           \
	C(read_free)                                                           \
	C(read_header_position)                                                \
	C(read_new)                                                            \
	C(read_next_header)                                                    \
	C(read_open_filename)                                                  \
	C(read_support_filter_gzip)                                            \
	C(read_support_filter_xz)                                              \
	C(read_support_filter_zstd)                                            \
	C(read_support_format_tar)                                             \
	C(write_add_filter)                                                    \
	C(write_close)                                                         \
	C(write_data)                                                          \
	C(write_free)                                                          \
	C(write_header)                                                        \
	C(write_new)                                                           \
	C(write_open_fd)                                                       \
	C(write_set_bytes_in_last_block)                                       \
	C(write_set_filter_option)                                             \
	C(write_set_format_pax_restricted)

#define ARCHIVE_CALL_MEMBER(name) __typeof__(archive_##name) *name;
struct archive_calls {
	ARCHIVE_CALLS(ARCHIVE_CALL_MEMBER)
};
#undef ARCHIVE_CALL_MEMBER

/* Set by archive_load(). */
static struct archive_calls libarchive;

#define ARCHIVE_CALL_NAME(call) "archive_" #call,
static const char *const archive_names[] = { ARCHIVE_CALLS(ARCHIVE_CALL_NAME) };

/* Loads the library once, until the program ends; not for several threads at a
 * time. Returns 0, or -1 and *err (ERR_USAGE). */
static int archive_load(struct err *err)
{
	/* that of all versions since 3.1 */
	static const char *const files[] = { "libarchive.so.13", NULL };
	const struct shared_library l = {
		"archives are written and read by",
		files,
		"libarchive13",
		archive_names,
		ARRAY_SIZE(archive_names),
		&libarchive,
	};

	return shared_library_load(&l, err);
}

/* How the name of the checksum of a file ends, which follows the file. */
#define BUNDLE_SUM ".crc32"
#define BUNDLE_SUM_LEN 8
#define BUNDLE_HELD 256 /* bytes of a name in messages */

struct bundle {
	struct archive *a;
	char *path;
	struct new_file *file;
	uLong sum; /* of the file that was added last */
};

static const struct {
	const char *end;
	int filter; /* of libarchive */
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
	const char *why = b->a ? libarchive.error_string(b->a) : NULL;

	return err_set(err, ERR_IO, "%s: %s", b->path,
		       why ? why : "cannot be written");
}

static int bundle_start(struct bundle *b, bool force, struct err *err)
{
	b->file = new_file_open(b->path, force, err);
	if (!b->file)
		return -1;
	b->a = libarchive.write_new();
	if (!b->a ||
	    libarchive.write_add_filter(b->a,
					forms[bundle_form(b->path)].filter) ||
	    libarchive.write_set_format_pax_restricted(b->a))
		return bundle_refuse(b, err);
	/* Only gzip has this option; the others refuse it. */
	libarchive.write_set_filter_option(b->a, NULL, "timestamp", NULL);
	/* a regular file need not end with a whole block */
	libarchive.write_set_bytes_in_last_block(b->a, 1);
	if (libarchive.write_open_fd(b->a, new_file_fd(b->file)))
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
	if (archive_load(err))
		return NULL;
	b = mem_new(1, sizeof(*b));
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
		libarchive.write_free(b->a);
	new_file_free(b->file);
	free(b->path);
	free(b);
}

int bundle_finish(struct bundle *b, struct err *err)
{
	if (libarchive.write_close(b->a))
		return bundle_refuse(b, err);
	return new_file_finish(b->file, err);
}

static int bundle_begin_entry(struct bundle *b, const char *name, uint64_t size,
			      bool program, struct err *err)
{
	struct archive_entry *e = libarchive.entry_new();

	libarchive.entry_set_pathname(e, name);
	libarchive.entry_set_size(e, (la_int64_t)size);
	libarchive.entry_set_filetype(e, AE_IFREG);
	libarchive.entry_set_perm(e, program ? 0755 : 0644);
	libarchive.entry_set_mtime(e, 0, 0);
	int rc = libarchive.write_header(b->a, e);
	libarchive.entry_free(e);
	return rc < ARCHIVE_WARN ? bundle_refuse(b, err) : 0;
}

static int bundle_write(struct bundle *b, const void *data, size_t n,
			struct err *err)
{
	b->sum = crc32_z(b->sum, data, n);
	return libarchive.write_data(b->a, data, n) < 0 ? bundle_refuse(b, err)
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
			break; /* libarchive fills the rest */
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

static bool bundle_is_wanted(struct archive_entry *e, const char *ending)
{
	const char *name = libarchive.entry_pathname(e);
	size_t n = name ? strlen(name) : 0;
	size_t len = strlen(ending);

	return n > len && !strcmp(name + n - len, ending) &&
	       !strchr(name, '/') && libarchive.entry_filetype(e) == AE_IFREG;
}

static int bundle_fail(struct archive *a, const char *path, struct err *err)
{
	const char *why = libarchive.error_string(a);

	return err_set(err, ERR_FORMAT, "%s: %s", path,
		       why ? why : "cannot be read");
}

/* The offset is that of the entry in the tar, before it was packed. */
static int bundle_entry_fails(struct archive *a, const char *path,
			      struct err *err)
{
	const char *why = libarchive.error_string(a);

	return err_at(err, path, (uint64_t)libarchive.read_header_position(a),
		      "this entry of the archive%s cannot be read: %s",
		      libarchive.filter_count(a) > 1 ? ", when unpacked," : "",
		      why ? why : "it is damaged");
}

/* Reads the data of an entry, all of which may be holes, and copies it to `to`
 * unless that is -1. */
static int bundle_read_entry(struct archive *a, const char *path, int to,
			     uLong *sum, struct err *err)
{
	static char buf[1 << 16];
	uint64_t done = 0;
	la_ssize_t n;

	while ((n = libarchive.read_data(a, buf, sizeof(buf))) > 0) {
		uint64_t packed = (uint64_t)libarchive.filter_bytes(a, -1);
		uint64_t plain = (uint64_t)libarchive.filter_bytes(a, 0);

		done += (uint64_t)n;
		*sum = crc32_z(*sum, (const unsigned char *)buf, (size_t)n);
		if (unpack_check(path, packed, done > plain ? done : plain,
				 err))
			return -1;
		if (to >= 0 && write_all(to, buf, (size_t)n))
			return err_set(
				err, ERR_IO,
				"%s: cannot write the temporary copy "
				"(%m); set TMPDIR to a folder with space",
				path);
	}
	return n < 0 ? bundle_entry_fails(a, path, err) : 0;
}

/* A changed byte of a packed file can give other bytes of the same number:
 * libarchive does not compare gzip's checksum, and writes none with zstd.
 * An archive of an older version, or of tar, has no entry for it. */
static int bundle_check_sum(struct archive *a, const char *path, uLong sum,
			    struct err *err)
{
	struct archive_entry *e;
	char text[BUNDLE_SUM_LEN + 1] = "";
	int rc = libarchive.read_next_header(a, &e);

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return bundle_entry_fails(a, path, err);
	if (!bundle_is_wanted(e, BUNDLE_SUM) ||
	    (libarchive.read_data(a, text, BUNDLE_SUM_LEN) == BUNDLE_SUM_LEN &&
	     strtoul(text, NULL, 16) == sum))
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: the database in it is not the one that was packed: "
		       "the checksums differ; copy the archive again",
		       path);
}

/* Keeps in `held` the name of what may be a capture, or else of the first file.
 */
static void bundle_note_entry(struct archive_entry *e, char held[BUNDLE_HELD])
{
	static const char *const captures[] = { "*.data",	  "perf.data*",
						"*.dat",	  "metadata",
						"trace_pipe_raw", "*.script",
						"out.perf" };
	const char *name = libarchive.entry_pathname(e);
	const char *base = name ? path_base(name) : "";

	if (name && libarchive.entry_filetype(e) == AE_IFREG &&
	    (!*held || any_where(ARRAY_SIZE(captures), i,
				 !fnmatch(captures[i], base, 0))))
		snprintf(held, BUNDLE_HELD, "%s", name);
}

/* Finds the entry and copies it. Returns 1, 0 if there is none, or -1. */
static int bundle_find_entry(struct archive *a, const char *path,
			     const char *ending, int to, struct err *err)
{
	struct archive_entry *e;
	char held[BUNDLE_HELD] = "";
	int rc;

	if (libarchive.filter_count(a) > 2)
		return err_set(err, ERR_FORMAT,
			       "%s: is packed more than once, and a bundle is "
			       "packed once",
			       path);
	/* not ARCHIVE_RETRY: then there is no entry whose data could be read */
	while ((rc = libarchive.read_next_header(a, &e)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN) {
		bool wanted = bundle_is_wanted(e, ending);
		uLong sum = 0;

		/* what is passed over is unpacked too */
		if (bundle_read_entry(a, path, wanted ? to : -1, &sum, err))
			return -1;
		if (wanted)
			return bundle_check_sum(a, path, sum, err) ? -1 : 1;
		bundle_note_entry(e, held);
	}
	if (rc != ARCHIVE_EOF)
		return bundle_entry_fails(a, path, err);
	return *held ? err_set(err, ERR_FORMAT,
			       "%s: no %s file is in this archive, but '%s': "
			       "unpack it (tar -xf) and give that",
			       path, ending, held)
		     : 0;
}

int bundle_extract(const char *path, const char *ending, int to,
		   struct err *err)
{
	if (archive_load(err))
		return -1;
	struct archive *a = mem_must(libarchive.read_new());

	/* not all filters: for some of them it would start other programs */
	libarchive.read_support_filter_gzip(a);
	libarchive.read_support_filter_xz(a);
	libarchive.read_support_filter_zstd(a);
	libarchive.read_support_format_tar(a);
	int rc = libarchive.read_open_filename(a, path, 1 << 16)
			 ? bundle_fail(a, path, err)
			 : bundle_find_entry(a, path, ending, to, err);
	if (!rc)
		err_set(err, ERR_FORMAT,
			"%s: no %s file is in this archive, needs to be one "
			"of 'backstitch bundle'",
			path, ending);
	libarchive.read_free(a);
	return rc > 0 ? 0 : -1;
}
