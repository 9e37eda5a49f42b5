/* unpack.h - reads gzip, zstd, xz and bzip2 files as a stream of plain bytes.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <archive.h>
#include <archive_entry.h>

struct err;
struct unpack;

/* Returns true if a file with these first bytes is compressed in one of these
 * ways. */
bool unpack_knows(const void *head, size_t n);
/* Unpacks fd, after the n bytes of head that were already read from it. path is
 * for messages and is borrowed. unpack_free() frees the result. */
struct unpack *unpack_new(int fd, const char *path, const void *head, size_t n);
void unpack_free(struct unpack *u);
/* Reads up to n plain bytes. Returns their number, 0 at the end, or -1 and
 * *err. For an incomplete file its readable part is returned, then the end,
 * with *cut set. */
int64_t unpack_read(struct unpack *u, void *buf, size_t n, bool *cut,
		    struct err *err);
/* Returns how many bytes of the compressed file were read. */
uint64_t unpack_taken(const struct unpack *u);
/* Returns 0, or -1 and *err if the plain bytes are more than the packed ones of
 * a capture or database can make: 64 MiB plus UNPACK_RATIO times their
 * number. */
#define UNPACK_RATIO 256
int unpack_check(const char *path, uint64_t packed, uint64_t plain,
		 struct err *err);
/* Returns all plain bytes of a gzip or zstd file, for the caller to free; NULL
 * if it is not compressed, is damaged, or has more than max plain bytes. */
unsigned char *unpack_all(int fd, const char *path, size_t max, size_t *len);

/* ---- the functions of libarchive, which is loaded only when an archive or an
 * xz or bzip2 file is read or written: linked, it and the libraries that it
 * needs (libxml2, ICU, libstdc++) would take half the time of a short
 * command. */

/* The functions that are called: C(NAME) is archive_NAME(). */
#define ARCHIVE_CALLS(C)                                                       \
	C(entry_filetype)                                                      \
	C(entry_free)                                                          \
	C(entry_hardlink)                                                      \
	C(entry_mtime)                                                         \
	C(entry_mtime_is_set)                                                  \
	C(entry_new)                                                           \
	C(entry_pathname)                                                      \
	C(entry_pathname_utf8)                                                 \
	C(entry_set_filetype)                                                  \
	C(entry_set_mtime)                                                     \
	C(entry_set_pathname)                                                  \
	C(entry_set_perm)                                                      \
	C(entry_set_size)                                                      \
	C(error_string)                                                        \
	C(filter_bytes)                                                        \
	C(filter_count)                                                        \
	C(format)                                                              \
	C(read_data_block)                                                     \
	C(read_data)                                                           \
	C(read_free)                                                           \
	C(read_header_position)                                                \
	C(read_new)                                                            \
	C(read_next_header)                                                    \
	C(read_open)                                                           \
	C(read_open_filename)                                                  \
	C(read_support_filter_bzip2)                                           \
	C(read_support_filter_gzip)                                            \
	C(read_support_filter_xz)                                              \
	C(read_support_filter_zstd)                                            \
	C(read_support_format_raw)                                             \
	C(read_support_format_tar)                                             \
	C(read_support_format_zip_seekable)                                    \
	C(read_support_format_zip_streamable)                                  \
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

/* Loads the library once, until the program ends; not for several threads at a
 * time. Returns its functions, or NULL and *err (ERR_USAGE). */
const struct archive_calls *libarchive_load(struct err *err);
