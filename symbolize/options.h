/* options.h - where the names of a recording are to be looked for. */
#ifndef SYMBOLIZE_OPTIONS_H
#define SYMBOLIZE_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in memory, and where it came from. */
struct symbolize_text {
	const char *text, *path; /* text NULL: the end of a list */
	size_t len;
};

struct symbolize_opts {
	const char *symfs;    /* look for images below this folder; NULL: / */
	const char *kallsyms; /* file to name the kernel from; NULL: the live
			       * one, only when the build-id is the same */
	const char *vmlinux;  /* NULL: look for it */
	const char *release;  /* of the recorded kernel; NULL: not known */
	/* The plain bytes of a file packed by gzip or zstd, to be freed; NULL:
	 * it is none. That one NULL: such files are left alone. */
	unsigned char *(*unpack)(int fd, const char *path, size_t max,
				 size_t *len);
	const char *home;   /* for ~/.debug; NULL: no such cache */
	const char *cache;  /* folder for what was named before; NULL: none */
	uint64_t cache_max; /* its size in bytes; 0: the default */
	/* The folder that clients of debuginfod share; NULL: none. */
	const char *fetch_cache;
	/* How long files may be fetched from the servers that the environment
	 * names, all together; 0: not at all, which is the default. */
	double fetch_seconds;
	bool (*stop)(void); /* does the user want to stop? NULL: never */
	const char *const *debug_dirs; /* more folders; ends with NULL; NULL */
	/* Copies of /proc/kallsyms that captures hold; borrowed until the
	 * symbolizer is freed. NULL: none. */
	const struct symbolize_text *captured;
	bool no_demangle;
	bool no_inline;	   /* no source lines and inlined functions */
	bool no_live;	   /* tests: never look at this machine's kernel */
	bool same_machine; /* recorded here, on a kernel of this version: one
			    * without a build-id may be the running one */
};
#endif
