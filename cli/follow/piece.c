/* piece.c - a part of a segment that is a folder with pages of ftrace. */
#include "cli/follow/piece.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/follow/threads.h"
#include "cli/follow/tracefs.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/write_all.h"

#define NAME_SIZE 600

static int piece_fail(const char *path, int error, struct err *err)
{
	return err_set(err, ERR_IO, "%s: %s; what is finished stays", path,
		       strerror(error));
}

static void piece_file(const struct piece *p, const char *name,
		       char out[SEGMENT_PATH + NAME_SIZE])
{
	snprintf(out, SEGMENT_PATH + NAME_SIZE, "%s/%.590s", p->path, name);
}

/* Writes a file of the folder, or adds to it. */
static int piece_write(const struct piece *p, const char *name, int flags,
		       const void *data, size_t len, struct err *err)
{
	char path[SEGMENT_PATH + NAME_SIZE];

	piece_file(p, name, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	int failed = fd < 0 || write_all(fd, data, len) ? errno : 0;

	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	return failed ? piece_fail(path, failed, err) : 0;
}

/* Writes a file aside and renames it, so that no killed run leaves half of it.
 */
static int piece_replace(const struct piece *p, const char *name,
			 const char *text, size_t len, struct err *err)
{
	char path[SEGMENT_PATH + NAME_SIZE], aside[SEGMENT_PATH + NAME_SIZE];

	if (piece_write(p, ".aside", O_TRUNC, text, len, err))
		return -1;
	piece_file(p, ".aside", aside);
	piece_file(p, name, path);
	return rename(aside, path) ? piece_fail(path, errno, err) : 0;
}

/* ---- the begin */

static int piece_copy(const struct piece *p, const struct tracefs *fs,
		      const char *from, const char *to, struct err *err)
{
	size_t len;
	char *text = tracefs_text(fs, from, &len);
	int rc = text && len ? piece_write(p, to, O_TRUNC, text, len, err) : 0;

	free(text);
	return rc;
}

/* Names of the kernel: a folder may have its own, and the machine has some that
 * change with its modules. */
static int piece_write_kallsyms(const struct piece *p, struct piece_source *src,
				struct err *err)
{
	size_t len;
	char *modules = tracefs_text_of("/proc/modules", &len);
	bool same = src->kallsyms && (!modules || !src->modules ||
				      !strcmp(modules, src->modules));

	if (!same) {
		free(src->kallsyms);
		free(src->modules);
		src->modules = modules;
		modules = NULL;
		src->kallsyms = tracefs_is_live(src->fs)
					? tracefs_text_of("/proc/kallsyms",
							  &src->kallsyms_len)
					: tracefs_text(src->fs, "kallsyms",
						       &src->kallsyms_len);
	}
	free(modules);
	return src->kallsyms
		       ? piece_write(p, "kallsyms", O_TRUNC, src->kallsyms,
				     src->kallsyms_len, err)
		       : 0;
}

/* The host, as trace-cmd stores it. */
static int piece_write_host(const struct piece *p, const struct tracefs *fs,
			    struct err *err)
{
	struct utsname u;
	char line[sizeof(u)];

	if (!tracefs_is_live(fs) || uname(&u))
		return 0;
	int n = snprintf(line, sizeof(line), "%s %s %s %s\n", u.sysname,
			 u.nodename, u.release, u.machine);

	return piece_write(p, "uname", O_TRUNC, line, (size_t)n, err);
}

int piece_begin(struct piece *p, const char *dir, uint32_t number,
		unsigned int index, struct piece_source *src, const char *clock,
		struct err *err)
{
	*p = (struct piece){ .number = number, .index = index, .dir = dir };
	segments_new_part(dir, number, index, p->path);
	segments_remove_part(AT_FDCWD, p->path);
	if (mkdir(p->path, 0777))
		return piece_fail(p->path, errno, err);
	return piece_copy(p, src->fs, "events/header_page", "header_page",
			  err) ||
			       piece_copy(p, src->fs, "printk_formats",
					  "printk_formats", err) ||
			       piece_write(p, "trace_clock", O_TRUNC, clock,
					   strlen(clock), err) ||
			       piece_write_host(p, src->fs, err) ||
			       piece_write_kallsyms(p, src, err) ||
			       piece_set_threads(p, src->threads, err)
		       ? -1
		       : 0;
}

/* ---- what it gets */

int piece_add_format(struct piece *p, uint16_t id, const char *name,
		     const char *text, size_t len, struct err *err)
{
	char file[NAME_SIZE];
	char *slash;

	p->format[id / 64] |= (uint64_t)1 << (id % 64);
	if (!text)
		return 0;
	snprintf(file, sizeof(file), "%.520s.format", name);
	slash = strchr(file, '/');
	if (slash)
		*slash = '-';
	return piece_replace(p, file, text, len, err);
}

int piece_add_pages(struct piece *p, int32_t cpu, const void *data, size_t len,
		    struct err *err)
{
	char file[NAME_SIZE], to[SEGMENT_PATH];

	snprintf(file, sizeof(file), "cpu%" PRId32 ".raw", cpu);
	if (piece_write(p, file, O_APPEND, data, len, err))
		return -1;
	if (p->named)
		return 0;
	segments_part(p->dir, p->number, p->index, to);
	if (rename(p->path, to))
		return piece_fail(to, errno, err);
	memcpy(p->path, to, sizeof(to));
	p->named = true;
	return 0;
}

int piece_set_stats(struct piece *p, int32_t cpu, uint64_t overrun,
		    uint64_t commit_overrun, uint64_t dropped, struct err *err)
{
	char file[NAME_SIZE], text[160];
	int n = snprintf(text, sizeof(text),
			 "overrun: %" PRIu64 "\ncommit overrun: %" PRIu64
			 "\ndropped events: %" PRIu64 "\n",
			 overrun, commit_overrun, dropped);

	/* numbers belong to pages, even if there are none */
	snprintf(file, sizeof(file), "cpu%" PRId32 ".raw", cpu);
	if (piece_write(p, file, O_APPEND, "", 0, err))
		return -1;
	snprintf(file, sizeof(file), "cpu%" PRId32 ".stats", cpu);
	return piece_replace(p, file, text, (size_t)n, err);
}

int piece_set_threads(struct piece *p, struct threads *threads, struct err *err)
{
	char *names, *processes;
	size_t n_names, n_processes;
	FILE *out = mem_stream(&names, &n_names);

	threads_write_names(threads, out);
	mem_stream_end(out);
	out = mem_stream(&processes, &n_processes);
	threads_write_processes(threads, out);
	mem_stream_end(out);
	int rc = piece_replace(p, "saved_cmdlines", names, n_names, err) ||
				 piece_replace(p, "saved_tgids", processes,
					       n_processes, err)
			 ? -1
			 : 0;

	free(names);
	free(processes);
	return rc;
}
