/* options.h - where to look for the names of a recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in memory and the path it was read from. */
struct symbolize_text {
	const char *text, *path; /* NULL in the last element of a list */
	size_t len;
};

struct symbolizer_cache;

struct symbolize_opts {
	const char *symfs; /* look up images below this folder; NULL: below / */
	/* kallsyms copy for the kernel; NULL: use the running kernel's if its
	 * build-id is the recorded one */
	const char *kallsyms;
	const char *vmlinux; /* NULL: search for it */
	/* folder with kcore and kallsyms of the recorded boot, copied when the
	 * recording ended; NULL: none */
	const char *kcore;
	const char *release; /* release of the recorded kernel; NULL: unknown */
	/* Decompresses a gzip or zstd file. Returns its bytes, to be freed by
	 * the caller, or NULL if the file is not compressed that way. If unpack
	 * is NULL, compressed files are skipped. */
	unsigned char *(*unpack)(int fd, const char *path, size_t max,
				 size_t *len);
	const char *home;   /* where ~/.debug is; NULL: not searched */
	const char *cache;  /* folder of the name cache; NULL: no name cache */
	uint64_t cache_max; /* its maximum size in bytes; 0: the default */
	/* The folder shared by debuginfod clients; NULL: not searched. */
	const char *fetch_cache;
	/* Time limit for all downloads together, from the servers that the
	 * environment names. 0, the default: download nothing. */
	double fetch_seconds;
	/* returns true once the user wants to stop; may be NULL */
	bool (*stop)(void);
	/* additional folders, ending with NULL; may be NULL */
	const char *const *debug_dirs;
	/* Copies of /proc/kallsyms found in captures, borrowed until the
	 * symbolizer is freed; may be NULL. */
	const struct symbolize_text *captured;
	/* What earlier symbolizers left for later ones; NULL: nothing is kept.
	 * Borrowed until the symbolizer is freed. */
	struct symbolizer_cache *kept;
	bool no_demangle;
	bool no_inline; /* do not look up source lines and inlined functions */
	bool no_live;	/* for tests: never read this machine's kernel */
	/* recorded on this machine and kernel version: a kernel without a
	 * build-id may be the running one */
	bool same_machine;
	bool other_machine; /* recorded on a machine with another name */
	/* build-ids in records may be read from the path by the traced program
	 * after the file was mapped, as LTTng-UST does */
	bool ids_read;
	/* The recorder wrote the captures between these times, in ns since
	 * 1970; 0, 0: unknown. */
	int64_t recorded_from, recorded_to;
	/* The time of the first record. In ns since 1970 it is recorded_from,
	 * or later by at most recorded_slack. */
	uint64_t recorded_first;
	int64_t recorded_slack;
	int64_t recorded_before; /* the recording had ended by then; 0: unknown
				  */
};
