/* open.c - the perf.data reader: opens and closes captures. */
#include "formats/perf/perf.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

#include "formats/reader/refuse.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/files/path_files.h"

#define PIPE_HEADER 16
#define FILES_MAX 32767 /* a handle has 15 bits for the file */
#define MAGIC_LE "PERFILE2"
#define MAGIC_BE "2ELIFREP"
/* Until Linux 3.3. What follows is the same, but for the byte order, which the
 * magic did not show: perf tells it by the size of what it knows. */
#define MAGIC_OLD "PERFFILE"

static bool perf_has_magic(const void *head, size_t n)
{
	return n >= 8 &&
	       (!memcmp(head, MAGIC_LE, 8) || !memcmp(head, MAGIC_BE, 8) ||
		!memcmp(head, MAGIC_OLD, 8));
}

static bool perf_is_data_dir(const char *dir)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/data", dir);
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static int perf_probe(const char *path, const void *head, size_t n)
{
	if (perf_has_magic(head, n))
		return 100;
	/* A pipe has no head to look at; this is the only reader of pipes. */
	if (!n)
		return !strcmp(path, "-") || perf_is_data_dir(path) ? 50 : 0;
	return 0;
}

/* Checks the magic. The size of the header tells a pipe from a file. */
static int perf_read_start(struct perf *p, struct err *err)
{
	struct perf_file *f = &p->file[0];
	const void *head = f->in.data ? f->in.data : f->in.head;
	size_t n = f->in.data ? f->in.len : f->in.n_head;
	struct bytes b;
	uint64_t size = 0;

	if (!perf_has_magic(head, n) || n < PIPE_HEADER)
		return formats_refuse(f->in.path, head,
				      n < INPUT_HEAD ? n : INPUT_HEAD, err);
	bytes_init(&b, head, PIPE_HEADER, f->in.path, 0,
		   bytes_must_swap(false));
	bytes_peek_u64(&b, 8, &size);
	p->src.info.big_endian =
		!memcmp(head, MAGIC_BE, 8) ||
		(!memcmp(head, MAGIC_OLD, 8) && size > UINT32_MAX);
	p->swap = bytes_must_swap(p->src.info.big_endian);
	b.swap = p->swap;
	bytes_peek_u64(&b, 8, &size);
	p->src.info.pipe = size == PIPE_HEADER;
	if (!p->src.info.pipe) {
		if (!f->in.data && input_spool(&f->in, p->opts.temp_dir, err))
			return -1;
		return perf_read_header(p, err);
	}
	f->start = PIPE_HEADER;
	f->end = f->in.len;
	return 0;
}

/* Returns N for "data.N", else -1. */
static long perf_dir_parse_number(const char *name)
{
	char *end;

	if (strncmp(name, "data.", 5) || !isdigit((unsigned char)name[5]))
		return -1;
	errno = 0;
	long n = strtol(name + 5, &end, 10);

	return *end || errno ? -1 : n;
}

COMPARE_FUNCTION(perf_dir_compare_numbers, long, compare_numbers(*x, *y));

/* Returns the numbers of all data.N in a folder, ascending; the caller frees
 * them. NULL: it cannot be listed. */
static long *perf_dir_list_numbers(const char *dir, size_t *n, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *ent;
	long *v = NULL;
	size_t cap = 0;

	*n = 0;
	if (!d) {
		err_set(err, ERR_IO, "%s: cannot list it (%m)", dir);
		return NULL;
	}
	v = mem_grow_to(NULL, &cap, 1, sizeof(*v));
	while ((ent = readdir(d))) {
		long number = perf_dir_parse_number(ent->d_name);

		if (number >= 0)
			*mem_add(v, *n, cap) = number;
	}
	closedir(d);
	sort_items(v, *n, perf_dir_compare_numbers);
	return v;
}

/* Opens each non-empty DIR/data.N as a file after file[0]; there may be none.
 */
static int perf_dir_open(struct perf *p, const char *dir, struct err *err)
{
	size_t n;
	long *v = perf_dir_list_numbers(dir, &n, err);
	int rc = v ? 0 : -1;

	if (n >= FILES_MAX)
		rc = err_set(err, ERR_LIMIT, "%s: more than %d files", dir,
			     FILES_MAX);
	if (!rc) {
		size_t cap = 1;

		mem_grow(p->file, cap, n + 1);
		memset(p->file + 1, 0, n * sizeof(*p->file));
	}
	for (size_t i = 0; !rc && i < n; i++) {
		struct perf_file *f = &p->file[p->n_file];
		char *path = mem_printf("%s/data.%ld", dir, v[i]);
		struct stat st;

		/* perf leaves an empty file for a CPU without records */
		if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size) {
			rc = input_open(&f->in, path, p->opts.temp_dir, err);
			if (!rc) {
				f->index = (uint16_t)p->n_file++;
				f->end = f->in.len;
			}
		}
		free(path);
	}
	free(v);
	return rc;
}

static int perf_open_files(struct perf *p, const char *path, struct err *err)
{
	struct stat st;

	p->file = mem_new(1, sizeof(*p->file));
	p->n_file = 1;
	p->file[0].in.fd = -1;
	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode))
		return input_open(&p->file[0].in, path, p->opts.temp_dir, err);
	p->src.info.dir = true;
	char *data = mem_printf("%s/data", path);
	int rc = input_open(&p->file[0].in, data, p->opts.temp_dir, err);
	free(data);
	return rc ? rc : perf_dir_open(p, path, err);
}

void perf_release(struct perf *p)
{
	for (size_t i = 0; i < p->n_fmt; i++)
		tp_format_release(&p->fmt[i]);
	tp_release(&p->tp);
	tp_release(&p->look);
	table_release(&p->by_id);
	arena_release(&p->arena);
	claims_release(&p->claims);
	path_files_free(p->files);
	free_all(p->attr, p->event, p->id, p->fmt, p->build_id, p->state, p->ip,
		 p->kern, p->user, p->part, p->regs, p->intr, p->counter,
		 p->branch, p->extra, p->member, p->read_name);
}

static void perf_close(struct source *src)
{
	struct perf *p = perf_of(src);

	for (size_t i = 0; i < p->n_file; i++) {
		perf_walk_end(p, &p->file[i]);
		input_close(&p->file[i].in);
		free(p->file[i].floor);
	}
	perf_chunk_release(p);
	perf_release(p);
	free_all(p->file, p->src.path, p);
}

static struct source *perf_open(const char *path, const struct source_opts *o,
				struct ledger *lg, struct err *err)
{
	struct perf *p = mem_new(1, sizeof(*p));

	reader_init(&p->src, &perf_ops, path, o, lg, &p->opts);
	p->loud = true;
	if (perf_open_files(p, path, err) || perf_read_start(p, err)) {
		perf_close(&p->src);
		return NULL;
	}
	p->stream = p->opts.no_scan || !p->file[0].in.data;
	for (size_t i = 0; i < p->n_file && !p->stream; i++)
		p->src.size += p->file[i].end - p->file[i].start;
	if (p->file[0].in.cut)
		reader_damage_packed(&p->src, path);
	return &p->src;
}

static int perf_start(struct source *src, struct err *err)
{
	struct perf *p = perf_of(src);

	p->loud = true;
	return p->stream ? perf_stream_start(p, err) : perf_scan(p, err);
}

static int perf_next(struct source *src, struct ref *ref, struct err *err)
{
	struct perf *p = perf_of(src);

	return p->stream ? perf_stream_next(p, ref, err)
			 : perf_scan_next(p, ref, err);
}

static void perf_release_ref(struct source *src, const struct ref *ref)
{
	struct perf *p = perf_of(src);

	if (ref->handle >> 63)
		perf_chunk_put(p, perf_chunk_find(p, ref->handle));
}

static bool perf_same_record(struct source *src, const struct ref *a,
			     const struct ref *b)
{
	struct perf_rec x, y;

	return a->len == b->len && !perf_walk_find(perf_of(src), a, &x, NULL) &&
	       !perf_walk_find(perf_of(src), b, &y, NULL) &&
	       !memcmp(x.b.pos, y.b.pos, a->len);
}

static void perf_decoded(struct source *src)
{
	struct perf *p = perf_of(src);

	for (size_t i = 0; i < p->n_file; i++)
		input_pass_all(&p->file[i].in);
}

static bool perf_apart(const struct source *src)
{
	const struct perf *p = (const struct perf *)src;

	for (size_t i = 0; i < p->n_file; i++)
		if (!p->file[i].in.data)
			return false;
	return !p->stream && !p->src.info.compressed;
}

const struct source_ops perf_ops = {
	.name = "perf",
	.summary = "perf.data of Linux perf: file, pipe, folder, compressed",
	.probe = perf_probe,
	.open = perf_open,
	.scan = perf_start,
	.next = perf_next,
	.decode = perf_record_decode,
	.decoded = perf_decoded,
	.apart = perf_apart,
	.release = perf_release_ref,
	.same = perf_same_record,
	.fields = perf_trace_fields,
	.print = perf_trace_print,
	.dump = perf_dump,
	.close = perf_close,
};
