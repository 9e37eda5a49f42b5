/* open.c - opens and closes perf.data captures, and returns their refs. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "formats/reader/refuse.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"
#include "stitch/files/named_file.h"
#include "stitch/files/path_files.h"

/* ---- the header of a perf.data file: events and sections.
 *
 * If the file ends inside the header or the events, it cannot be read, as no
 * record can be decoded without them. If it ends later, the records up to there
 * are used and the missing part is reported. */

#define HEADER_OLD 72
#define HEADER_NOW 104
#define HOSTNAME_BIT 3
#define ATTR_MIN (64 + 16)

struct section {
	uint64_t off, size;
};

static int perf_header_take_section(struct bytes *b, struct section *s,
				    struct err *err)
{
	return bytes_u64(b, &s->off, err) ?: bytes_u64(b, &s->size, err);
}

/* Sets *out to a section, which must be completely in the file. Returns 0, or
 * -1 and *err. */
static int perf_header_open_section(struct perf *p, const struct section *s,
				    const char *what, struct bytes *out,
				    struct err *err)
{
	const struct input *in = &p->file[0].in;

	if (s->off > in->len || s->size > in->len - s->off)
		return err_at(err, in->path, s->off,
			      "the %s end at 0x%" PRIx64
			      ", the file at 0x%" PRIx64
			      ": it is cut off, copy it again",
			      what, s->off + s->size, in->len);
	bytes_init(out, in->data + s->off, (size_t)s->size, in->path, s->off,
		   p->swap);
	return 0;
}

/* Cuts the attributes to their own size. perf inject of a later version writes
 * its attr_size around older attributes, and fills up with zeros. */
static void perf_header_cut_attr(struct perf *p, struct bytes *attr)
{
	uint32_t valid = 0;
	struct bytes rest = *attr;
	struct err why;

	bytes_peek_u32(attr, 4, &valid);
	if (!valid)
		valid = 64;
	if (valid < 64 || valid > bytes_left(attr)) {
		err_at(&why, attr->path, bytes_off(attr) + 4,
		       "attributes say they are %" PRIu32
		       " bytes, need 64 to %zu",
		       valid, bytes_left(attr));
		perf_damage(p, "attributes", bytes_off(attr), 0, &why);
		return;
	}
	attr->end = attr->pos + valid;
	bytes_skip(&rest, valid, NULL);
	if (rest_zeros(&rest, &why))
		perf_damage(p, "attributes", bytes_off(&rest),
			    bytes_left(&rest), &why);
}

/* Reads entries of that size: the attributes, then the section of their ids. */
static int perf_header_take_attrs(struct perf *p, const struct section *s,
				  uint64_t size, struct err *err)
{
	struct bytes b, entry, attr, list;
	struct section ids;
	uint64_t id;

	if (perf_header_open_section(p, s, "event attributes", &b, err))
		return -1;
	claims_add(&p->claims, s->off, s->size);
	if (s->size % size)
		return err_at(err, b.path, s->off,
			      "event attributes are %" PRIu64
			      " bytes, need a multiple of %" PRIu64,
			      s->size, size);
	while (bytes_left(&b)) {
		if (bytes_take(&b, size, &entry, err) ||
		    bytes_take(&entry, size - 16, &attr, err))
			return -1;
		perf_header_cut_attr(p, &attr);
		if (perf_attr_add(p, &attr, err) ||
		    perf_header_take_section(&entry, &ids, err) ||
		    perf_header_open_section(p, &ids, "event ids", &list, err))
			return -1;
		claims_add(&p->claims, ids.off, ids.size);
		if (ids.size % 8)
			return err_at(err, list.path, ids.off,
				      "event ids are %" PRIu64
				      " bytes, need a multiple of 8",
				      ids.size);
		while (bytes_left(&list) >= 8) {
			if (bytes_u64(&list, &id, err))
				return -1;
			perf_id_add(p, id, (uint32_t)p->n_attr - 1);
		}
	}
	if (!p->n_attr)
		return err_at(err, b.path, s->off, "no events in the header");
	return 0;
}

/* Returns whether perf could not write the section s. perf fills the entry of a
 * section from its offset on. If it cannot write the section (seen with perf
 * 3.5 on i686, and with perf 3.14 on armv7, whose /proc/cpuinfo names no
 * model), no size follows, the next section has the same offset, and the entry
 * belongs to the bit or, if that was cleared, is one too many. more: the
 * entries after it. */
static bool perf_header_is_unwritten(const struct perf *p,
				     const struct section *s,
				     const struct bytes *more)
{
	struct bytes b = *more;
	struct section next;

	return !s->size && (s->off == p->file[0].in.len ||
			    (!perf_header_take_section(&b, &next, NULL) &&
			     next.off == s->off));
}

/* Reads the features. After the records there is one {offset, size} for each
 * bit that is set. */
static void perf_header_read_features(struct perf *p)
{
	const struct perf_file *f = &p->file[0];
	struct bytes b, feature;
	struct section s;
	uint64_t last = 0;
	struct err e;

	if (f->open_end)
		return;
	bytes_init(&b, f->in.data + f->end, (size_t)(f->in.len - f->end),
		   f->in.path, f->end, p->swap);
	for (uint32_t bit = 0; bit < 256; bit++) {
		if (!(p->features[bit / 64] >> (bit % 64) & 1))
			continue;
		if (perf_header_take_section(&b, &s, &e)) {
			perf_damage(p, "feature", bytes_off(&b), 0, &e);
			break;
		}
		if (perf_header_is_unwritten(p, &s, &b))
			continue;
		if (perf_header_open_section(p, &s, "feature sections",
					     &feature, &e)) {
			perf_damage(p, "feature", s.off, s.size, &e);
			continue;
		}
		claims_add(&p->claims, s.off, s.size);
		last = s.off + s.size;
		perf_feature_take(p, bit, &feature, 0);
	}
	/* perf seeks back to the start of a section that it cannot write: its
	 * count is left there if no other section follows */
	if (last && f->in.len - last == sizeof(uint32_t))
		claims_add(&p->claims, last, sizeof(uint32_t));
	struct bytes more = b;

	if (!perf_header_take_section(&more, &s, NULL) && s.off == f->in.len &&
	    !s.size)
		b = more;
	claims_add(&p->claims, f->end, bytes_off(&b) - f->end);
}

/* Reads header, events and feature sections of a file. Returns 0, or -1 and
 * *err. */
static int perf_read_header(struct perf *p, struct err *err)
{
	struct perf_file *f = &p->file[0];
	const struct input *in = &f->in;
	uint64_t len = in->len;
	struct section attrs, data, types;
	uint64_t size, attr_size;
	struct bytes b;

	bytes_init(&b, in->data, in->len, in->path, 0, p->swap);
	if (bytes_skip(&b, 8, err) || bytes_u64(&b, &size, err) ||
	    bytes_u64(&b, &attr_size, err) ||
	    perf_header_take_section(&b, &attrs, err) ||
	    perf_header_take_section(&b, &data, err) ||
	    perf_header_take_section(&b, &types, err))
		return err_while(err, "reading the header (a cut-off file?)");
	if (size != HEADER_NOW && size != HEADER_OLD)
		return err_at(err, in->path, 8,
			      "header says it is %" PRIu64
			      " bytes, needs 104, 72 or (pipe) 16",
			      size);
	if (!attr_size)
		return err_at(err, in->path, 16,
			      "perf record was killed before it wrote the "
			      "header: nothing can be read; record again");
	if (attr_size < ATTR_MIN || attr_size > 65536)
		return err_at(err, in->path, 16,
			      "event attributes are %" PRIu64
			      " bytes each, need %d to 65536",
			      attr_size, ATTR_MIN);
	if (size == HEADER_NOW) {
		/* perf writes the bitmap as an array of longs, so on big-endian
		 * machines the order of its bytes depends on the size of a
		 * long. The bit of HOSTNAME, which is always set, shows which
		 * size it was. */
		uint64_t w[4] = { 0 };

		for (int i = 0; i < 4; i++)
			bytes_u64(&b, &w[i], NULL);
		if (p->src.info.big_endian && !(w[0] >> HOSTNAME_BIT & 1))
			for (int i = 0; i < 4; i++)
				w[i] = w[i] << 32 | w[i] >> 32;
		memcpy(p->features, w, sizeof(w));
	}
	claims_add(&p->claims, 0, size);
	claims_add(&p->claims, types.off, types.size);
	if (perf_header_take_attrs(p, &attrs, attr_size, err))
		return -1;
	if (data.off > len)
		return err_at(err, f->in.path, data.off,
			      "the records start here, the file ends at "
			      "0x%" PRIx64 ": it is cut off, copy it again",
			      len);
	f->start = data.off;
	f->end = len;
	/* a killed recorder leaves the size of the records 0 */
	f->open_end = !data.size || data.size > len - data.off;
	if (f->open_end)
		p->src.info.truncated = true;
	if (!data.size) {
		perf_note(p, "unfinished",
			  "the recorder did not finish this file: read as far "
			  "as it goes");
	} else if (f->open_end) {
		perf_damage_text(
			p, f->in.path, "truncated", len,
			data.size - (len - data.off),
			"file ends here, its records go on for %" PRIu64
			" bytes",
			data.size - (len - data.off));
	} else {
		f->end = data.off + data.size;
		claims_add(&p->claims, data.off, data.size);
	}
	perf_header_read_features(p);
	/* Compare the tables with the file, which is complete if the recorder
	 * finished it. */
	if (!f->open_end) {
		bytes_init(&b, in->data, in->len, in->path, 0, p->swap);
		claims_check(&p->claims, &p->src, &b, NULL, NULL);
	}
	return 0;
}

#define LINE 1024
#define KALLSYMS_MAX ((uint64_t)256 << 20)

static void perf_dump_addrs(struct text_out *l, const char *name,
			    const struct addrs *a)
{
	if (!a->n)
		return;
	text_out_add(l, " %s=%u:", name, a->n);
	for (uint32_t i = 0; i < a->n && i < 4; i++)
		text_out_add(l, "%s%" PRIx64, i ? "," : "", a->ip[i]);
	if (a->n > 4)
		text_out_add(l, ",..");
}

static void perf_dump_record(struct perf *p, struct perf_file *f,
			     const struct perf_rec *r, struct text_out *l)
{
	struct ref ref;
	struct record rec;
	const struct rec_sample *s = &rec.sample;
	struct err why;

	if (!p->n_attr || !perf_ref_make(p, f, r, &ref))
		return;
	if (perf_record_decode(&p->src, &ref, &rec, &why)) {
		text_out_add(l, " damaged: %s", why.msg);
		return;
	}
	text_out_add(l, " cpu=%d %d/%d", rec.cpu, rec.pid, rec.tid);
	if (ref.untimed)
		text_out_add(l, " t=-");
	else
		text_out_add(l, " t=%" PRIu64, rec.time);
	switch (rec.kind) {
	case REC_SAMPLE:
		text_out_add(l, " %s ip=%" PRIx64 " weight=%" PRIu64,
			     p->event[s->event].name, s->ip, s->weight);
		perf_dump_addrs(l, "kern", &s->kern);
		perf_dump_addrs(l, "user", &s->user);
		if (s->defer == DEFER_COOKIE)
			text_out_add(l, " cookie=%" PRIx64, s->cookie);
		else if (s->defer == DEFER_MARK)
			text_out_add(l, " deferred, no cookie");
		if (s->n_branch)
			text_out_add(l, " branches=%u", s->n_branch);
		if (s->user_regs.n)
			text_out_add(l, " regs=%u", s->user_regs.n);
		if (s->stack)
			text_out_add(l, " stack=%u", s->stack_len);
		if (s->raw)
			text_out_add(l, " raw=%u", s->raw_len);
		for (uint32_t i = 0; i < s->n_extra; i++)
			text_out_add(l, " %s=%" PRIx64, s->extra[i].name,
				     s->extra[i].value);
		break;
	case REC_CHAIN:
		text_out_add(l, " cookie=%" PRIx64, rec.chain.cookie);
		perf_dump_addrs(l, "user", &rec.chain.user);
		break;
	case REC_MAP:
		text_out_add(l,
			     " %" PRIx64 "+%" PRIx64 " @%" PRIx64 " prot=%x %s",
			     rec.map.start, rec.map.len, rec.map.pgoff,
			     rec.map.prot, rec.map.path);
		if (rec.map.id_len)
			text_out_add(l, " build-id=");
		for (uint8_t i = 0; i < rec.map.id_len; i++)
			text_out_add(l, "%02x", rec.map.id[i]);
		break;
	case REC_COMM:
		text_out_add(l, " %s%s", rec.comm.name,
			     rec.flags & REC_F_EXEC ? " (exec)" : "");
		break;
	case REC_FORK:
	case REC_EXIT:
		text_out_add(l, " parent=%d/%d", rec.fork.ppid, rec.fork.ptid);
		break;
	case REC_KSYMBOL:
		text_out_add(l, " %" PRIx64 "+%x type=%u %s%s",
			     rec.ksymbol.addr, rec.ksymbol.len,
			     rec.ksymbol.type, rec.ksymbol.name,
			     rec.flags & REC_F_GONE ? " (gone)" : "");
		break;
	case REC_LOST:
	case REC_LOST_TOTAL:
		text_out_add(l, " n=%" PRIu64 " event=%d", rec.lost.n,
			     rec.lost.event);
		break;
	case REC_SWITCH:
		text_out_add(l, " %s other=%d/%d",
			     rec.flags & REC_F_OUT ? "out" : "in",
			     rec.sw.other_pid, rec.sw.other_tid);
		break;
	default:
		break;
	}
}

static int perf_dump(struct source *src, source_text_fn *fn, void *arg,
		     struct err *err)
{
	struct perf *p = perf_of(src);
	struct perf_rec r;
	char text[LINE];
	struct text_out l = { .buf = text, .size = LINE };

	for (size_t i = 0; i < p->n_file; i++) {
		struct perf_file *f = &p->file[i];
		int got;

		if (!p->stream)
			perf_walk_start(p, f);
		while ((got = perf_walk_next(p, f, &r, err)) > 0) {
			l.len = 0;
			if (f->index)
				text_out_add(&l, "%u:", f->index);
			text_out_add(&l, "0x%" PRIx64 " %s", r.off,
				     perf_type_name(r.type));
			if (!strcmp(perf_type_name(r.type), "UNKNOWN"))
				text_out_add(&l, "(%" PRIu32 ")", r.type);
			text_out_add(&l, " size=%u misc=0x%x", r.size, r.misc);
			/* print it now, as the next record may free the chunk
			 * of a pipe */
			if (r.type < PR_TOOL)
				perf_dump_record(p, f, &r, &l);
			else if (p->stream && perf_tool_take(p, f, &r, err))
				return -1;
			/* a name from a capture may have line feeds */
			for (char *c = text; c < text + l.len; c++)
				if ((unsigned char)*c < ' ' || *c == 0x7f)
					*c = '?';
			if (fn(arg, text, err))
				return -1;
		}
		if (got < 0)
			return -1;
	}
	return 0;
}

/* The floor comes from FINISHED_ROUND: all records up to the largest time at
 * the end of the round before last count as arrived. perf record usually keeps
 * to that but does not guarantee it, so one round and a slack are held back in
 * addition to what perf holds back. */

#define WINDOW_DEFAULT ((uint64_t)256 << 20)

/* If too many bytes are held, releases the older half of their time range. */
static void perf_stream_limit_memory(struct perf *p)
{
	struct perf_window *w = &p->window;
	uint64_t limit =
		p->opts.window_bytes ? p->opts.window_bytes : WINDOW_DEFAULT;
	uint64_t from = p->src.floor > w->first ? p->src.floor : w->first;
	char detail[96];

	if (p->chunk_bytes <= limit || !w->any || w->max <= from)
		return;
	uint64_t to = from + (w->max - from + 1) / 2;

	snprintf(detail, sizeof(detail),
		 "%" PRIu64 " bytes held: order is not assured before this "
		 "time",
		 p->chunk_bytes);
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = p->src.index,
		.what = "window",
		.detail = detail,
		.off = p->src.pos,
		.t0 = from,
		.t1 = to,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};
	ledger_add(p->src.ledger, &e);
	raise_to(p->src.floor, to);
}

#define PIPE_HEADER 16
#define FILES_MAX 32767 /* the file's index has 15 bits in a handle */
#define MAGIC_LE "PERFILE2"
#define MAGIC_BE "2ELIFREP"
/* The magic until Linux 3.3. The rest is the same, but the magic did not show
 * the byte order: perf derives it from a size that it knows. */
#define MAGIC_OLD "PERFFILE"

static bool perf_has_magic(const void *head, size_t n)
{
	return n >= 8 &&
	       (!memcmp(head, MAGIC_LE, 8) || !memcmp(head, MAGIC_BE, 8) ||
		!memcmp(head, MAGIC_OLD, 8));
}

static int perf_probe(const char *path, const void *head, size_t n)
{
	if (perf_has_magic(head, n))
		return 100;
	/* A pipe has no head to look at; this is the only reader of pipes. */
	if (n)
		return 0;
	char data[4096];
	struct stat st;

	snprintf(data, sizeof(data), "%s/data", path);
	return !strcmp(path, "-") || (!stat(data, &st) && S_ISREG(st.st_mode))
		       ? 50
		       : 0;
}

/* Checks the magic. The size of the header distinguishes a pipe from a file.
 * Returns 0, or -1 and *err. */
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
		if (input_spool(&f->in, p->opts.temp_dir, err))
			return -1;
		return perf_read_header(p, err);
	}
	f->start = PIPE_HEADER;
	f->end = f->in.len;
	return 0;
}

COMPARE_FUNCTION(perf_dir_compare_numbers, long, compare_numbers(*x, *y));

/* Opens each non-empty DIR/data.N as a file after file[0]; there may be none.
 * Returns 0, or -1 and *err. */
static int perf_dir_open(struct perf *p, const char *dir, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *ent;
	long *v OWNED = NULL;
	size_t n = 0, cap = 0;

	if (!d)
		return err_set(err, ERR_IO, "%s: cannot list it (%m)", dir);
	while ((ent = readdir(d))) {
		const char *name = ent->d_name;
		char *end;

		if (strncmp(name, "data.", 5) ||
		    !isdigit((unsigned char)name[5]))
			continue;
		errno = 0;
		long number = strtol(name + 5, &end, 10);

		if (!*end && !errno)
			*mem_add(v, n, cap) = number;
	}
	closedir(d);
	if (n)
		sort_items(v, n, perf_dir_compare_numbers);

	if (n >= FILES_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d files", dir,
			       FILES_MAX);
	size_t cap_file = 1;

	mem_grow(p->file, cap_file, n + 1);
	memset(p->file + 1, 0, n * sizeof(*p->file));
	for (size_t i = 0; i < n; i++) {
		struct perf_file *f = &p->file[p->n_file];
		char *path OWNED = mem_printf("%s/data.%ld", dir, v[i]);
		struct stat st;

		/* perf leaves an empty file for a CPU without records */
		if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
			continue;
		if (input_open(&f->in, path, p->opts.temp_dir, err))
			return -1;
		f->index = (uint16_t)p->n_file++;
		f->end = f->in.len;
	}
	return 0;
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
	/* perf record --kcore copies kallsyms */
	char *names OWNED = mem_printf("%s/kcore_dir/kallsyms", path);
	p->src.info.kallsyms = p->kallsyms =
		named_file_load(names, KALLSYMS_MAX, &p->src.info.kallsyms_len);
	char *data OWNED = mem_printf("%s/data", path);
	int rc = input_open(&p->file[0].in, data, p->opts.temp_dir, err);
	return rc ? rc : perf_dir_open(p, path, err);
}

void perf_release(struct perf *p)
{
	for (size_t i = 0; i < p->n_fmt; i++)
		tp_format_release(&p->fmt[i]);
	tp_release(&p->tp);
	tp_release(&p->look);
	table_release(&p->by_id);
	table_release(&p->by_bpf);
	arena_release(&p->arena);
	claims_release(&p->claims);
	path_files_free(p->files);
	free_all(p->attr, p->event, p->id, p->fmt, p->build_id, p->bpf,
		 p->state, p->ip, p->kern, p->user, p->part, p->regs, p->intr,
		 p->counter, p->branch, p->extra, p->member, p->read_name);
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
	free_all(p->file, p->src.path, p->kallsyms, p);
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

/* scan() of the source. Of a pipe, only the records before the first one of an
 * event are read. Returns 0, or -1 and *err. */
static int perf_start(struct source *src, struct err *err)
{
	struct perf *p = perf_of(src);

	p->loud = true;
	if (!p->stream)
		return perf_scan(p, err);
	for (size_t i = 0; i < p->n_file; i++)
		perf_walk_start(p, &p->file[i]);
	struct perf_file *f = &p->file[0];
	struct perf_rec r;
	int got;

	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		if (r.type < PR_TOOL)
			break;
		if (perf_tool_take(p, f, &r, err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (!p->n_attr)
		return err_set(err, ERR_FORMAT,
			       "%s: no events are described before the first "
			       "record",
			       p->src.path);
	if (got) {
		f->held = r;
		f->holds = true;
	}
	perf_trace_join_events(p);
	perf_tool_finish(p);
	return 0;
}

/* next() of the source. Refs of a pipe come in its order; each finished round
 * raises the floor. */
static int perf_next(struct source *src, struct ref *ref, struct err *err)
{
	struct perf *p = perf_of(src);

	if (!p->stream)
		return perf_scan_next(p, ref, err);
	struct perf_window *w = &p->window;
	struct source_info *info = &p->src.info;
	struct perf_rec r;

	while (p->cur < p->n_file) {
		struct perf_file *f = &p->file[p->cur];
		struct perf_chunk *was = f->window;
		int got = perf_walk_next(p, f, &r, err);

		if (got < 0)
			return -1;
		if (!got) {
			p->cur++;
			continue;
		}
		if (f->window != was || !(f->n & 1023)) {
			p->src.pos = bytes_off(&f->raw);
			perf_stream_limit_memory(p);
		}
		if (r.type >= PR_TOOL) {
			if (perf_tool_take(p, f, &r, err))
				return -1;
			if (r.type == PR_FINISHED_ROUND) {
				uint64_t slack = p->opts.slack_ns;
				uint64_t held =
					w->max > slack ? w->max - slack : 0;

				raise_to(p->src.floor,
					 w->round2 < held ? w->round2 : held);
				w->round2 = w->round1;
				w->round1 = w->max;
			}
			continue;
		}
		if (!perf_ref_make(p, f, &r, ref))
			continue;
		info->records++;
		if (r.chunk)
			r.chunk->refs++;
		if (perf_ref_is_state(p, &r, ref)) {
			ref->key = p->src.floor;
			ref->kind = 0;
			return 1;
		}
		if (ref->untimed && info->has_time)
			return 1;
		perf_round_record(p, &r, ref);
		if (!w->any || ref->key < w->first)
			w->first = ref->key;
		w->any = true;
		raise_to(w->max, ref->key);
		if (info->has_time && ref->key <= INT64_MAX) {
			info->first_ns = w->first;
			raise_to(info->last_ns, ref->key);
		} else if (!info->has_time) {
			/* the key is an offset, which only grows */
			p->src.floor = ref->key;
		}
		return 1;
	}
	perf_tool_finish(p);
	perf_tool_end(p);
	p->src.floor = UINT64_MAX;
	return 0;
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

	return !p->stream && !p->src.info.compressed &&
	       !any_where(p->n_file, i, !p->file[i].in.data);
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
