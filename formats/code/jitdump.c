/* jitdump.c - reads jit-PID.dump: code that a runtime generated.
 *
 * The file is a head, followed by records with their lengths. DEBUG_INFO
 * precedes the LOAD of its code. A file that is still being written may end
 * anywhere. */
#include "formats/code/jitdump.h"

#include <inttypes.h>

#include "formats/input.h"
#include "formats/reader/reader.h"
#include "formats/reader/scan.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/utf8.h"
#include "stitch/source.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/regs.h"

/* ---- reads perf-PID.map: names of code that a runtime generated */

/* The names of all known runtimes are shorter; a longer name is cut. */
#define NAME_MAX_LEN 4096

/* For each Python function, CPython 3.12 and 3.13 on x86-64 make a copy of sub
 * $8,%rsp; call *%rcx; add $8,%rsp; ret, which 'endbr64' may precede
 * (Objects/asm_trampoline.S). It sets no frame pointer, so a walk along frame
 * pointers would leave out its caller. The trampolines of later versions, and
 * those of AArch64, set it. */
#define PYTHON_PREFIX "py::"
#define PYTHON_LEN 11
#define PYTHON_ENDBR 4
#define PYTHON_FRAME_OFF 16

/* The unwind table of this trampoline: CFA = SP + 8, and SP + 16 between 'sub'
 * and 'add'. The pointer to the code is relative to its own place,
 * PYTHON_FRAME_OFF + 32 after the code. */
static const unsigned char python_frame[] = {
	20, 0,	  0,  0, 0,    0,    0,	   0,  1,    'z',  'R',	 0,
	1,  0x78, 16, 1, 0x1b, 0x0c, 7,	   8,  0x90, 1,	   0,	 0,
	20, 0,	  0,  0, 28,   0,    0,	   0,  0xd0, 0xff, 0xff, 0xff,
	11, 0,	  0,  0, 0,    0x44, 0x0e, 16, 0x46, 0x0e, 8,	 0,
};

struct perfmap {
	struct jit *jit;
	struct arena names;
	uint16_t machine; /* 0: unknown */
};

void perfmap_close(struct perfmap *m)
{
	if (!m)
		return;
	jit_free(m->jit);
	arena_release(&m->names);
	free(m);
}

struct jit *perfmap_jit(struct perfmap *m)
{
	return m->jit;
}

/* Adds the code of a line. Rejects a name with a NUL, which would hide the rest
 * of it. */
static bool perfmap_take_line(struct perfmap *m, struct scan s)
{
	struct jit_code c = { 0 };

	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (!scan_hex(&s, &c.start) || !scan_blanks(&s) ||
	    !scan_hex(&s, &c.len) || !scan_blanks(&s) || !s.n ||
	    scan_find_char(s, '\0') < s.n)
		return false;
	/* a stub of size 0 covers no address */
	if (!c.len)
		return true;
	size_t n = s.n < NAME_MAX_LEN ? s.n : NAME_MAX_LEN;

	c.name = arena_strndup(&m->names, s.p, n);
	uint64_t skip = c.len - PYTHON_LEN;

	if (m->machine == MACHINE_X86_64 &&
	    !strncmp(c.name, PYTHON_PREFIX, strlen(PYTHON_PREFIX)) &&
	    (!skip || skip == PYTHON_ENDBR)) {
		c.machine = m->machine;
		c.frame = python_frame;
		c.n_frame = sizeof(python_frame);
		c.frame_off = skip + PYTHON_FRAME_OFF;
	}
	return jit_add(m->jit, &c, 0);
}

struct perfmap *perfmap_text(const char *text, size_t len, const char *path,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err)
{
	struct perfmap *m = mem_new(1, sizeof(*m));
	struct scan all = scan_of(text, len);

	m->jit = jit_new(false);
	m->machine = regs_machine(NULL, info->arch);
	while (all.n) {
		uint64_t off = len - all.n;
		struct scan line = scan_line(&all);
		bool cut = off + line.n == len;

		if (!line.n || (!cut && perfmap_take_line(m, line)))
			continue;
		struct err why;
		int n = line.n < 40 ? (int)line.n : 40;

		err_at(&why, path, off, "found '%.*s', needs %s", n, line.p,
		       cut ? "a line feed at its end: its name may be cut"
			   : "'START SIZE name' with hexadecimal numbers");
		ledger_damage(lg, capture, "perf map", off, line.n, &why);
	}
	size_t left = jit_finish(m->jit);

	if (left)
		ledger_note(lg, capture, "perf map",
			    "too many lines overlap; the last ones are left "
			    "out");
	if (jit_count(m->jit))
		return m;
	perfmap_close(m);
	err_set(err, ERR_FORMAT,
		"%s: it has no line 'START SIZE name', as in perf-PID.map",
		path);
	return NULL;
}

struct perfmap *perfmap_open(const char *path, bool found, const char *temp_dir,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err)
{
	struct perfmap *m = NULL;
	struct input in;

	if (found ? input_open_named(&in, path, temp_dir, err)
		  : input_open(&in, path, temp_dir, err))
		return NULL;
	if (!input_spool(&in, temp_dir, err))
		m = perfmap_text((const char *)in.data, (size_t)in.len, path,
				 info, lg, capture, err);
	input_close(&in);
	return m;
}

#define MAGIC 0x4A695444u
#define MAGIC_SWAPPED 0x4454694Au
#define HEAD_SIZE 40
#define PREFIX_SIZE 16
#define FLAG_TSC 1u
/* V8 writes this in place of 0. It adds the size of an ELF header to the
 * addresses of its lines, because the files that perf inject makes had one
 * (perf-jit.cc). */
#define V8_PAD 0xdeadbeefu
#define V8_SHIFT 0x40
/* The smallest entry of DEBUG_INFO: address, line, discriminator, the NUL of a
 * name. */
#define LINE_SIZE_MIN 17
#define PADDING 7 /* up to 8 bytes of it follow unwinding information */

enum {
	R_LOAD,
	R_MOVE,
	R_DEBUG,
	R_CLOSE,
	R_UNWIND,
};

enum jitdump_dating {
	UNDATED,
	DATED_NS,
	DATED_TSC,
};

struct jitdump {
	struct input in; /* data NULL: the bytes are borrowed, not a file */
	struct bytes records;
	const char *path;
	uint32_t machine, pid;
	uint64_t flags;
	bool v8;
	struct jit *jit;
	struct arena lines;
	/* From the last DEBUG_INFO: */
	uint64_t lines_of;
	struct jit_line *line;
	size_t n_line;
	/* From the last UNWINDING_INFO, for the next code: */
	struct bytes frame;
	uint64_t frame_off; /* distance from the end of the code */
	bool has_frame;	    /* there was one, which may be empty */
	/* State of jitdump_read(): */
	enum jitdump_dating dating;
	struct tsc_conv tsc;
	struct ledger *lg;
	uint16_t capture;
	uint64_t foreign, unfit; /* pieces of code that were left out */
	uint64_t lone, strange;	 /* tables that were left out */
};

static int jitdump_read_head(struct jitdump *d, struct err *err)
{
	struct bytes *b = &d->records;
	uint32_t magic = 0;
	uint32_t version = 0;
	uint32_t size = 0;
	uint32_t pad = 0;
	uint64_t time = 0;

	if (bytes_u32(b, &magic, err))
		return -1;
	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return err_at(err, d->path, 0,
			      "found 0x%" PRIx32 ", needs to be a jitdump file "
			      "(\"JiTD\")",
			      magic);
	b->swap = magic == MAGIC_SWAPPED;
	if (bytes_u32(b, &version, err) || bytes_u32(b, &size, err) ||
	    bytes_u32(b, &d->machine, err) || bytes_u32(b, &pad, err) ||
	    bytes_u32(b, &d->pid, err) || bytes_u64(b, &time, err) ||
	    bytes_u64(b, &d->flags, err))
		return -1;
	if (version != 1)
		return err_at(err, d->path, 4,
			      "jitdump of version %" PRIu32 ", needs 1",
			      version);
	if (size < HEAD_SIZE)
		return err_at(err, d->path, 8,
			      "head of %" PRIu32 " bytes, needs %d", size,
			      HEAD_SIZE);
	d->v8 = pad == V8_PAD;
	return bytes_skip(b, size - HEAD_SIZE, err);
}

static struct jitdump *jitdump_start(struct jitdump *d, const void *data,
				     size_t len, const char *path,
				     struct err *err)
{
	d->path = mem_strdup(path);
	bytes_init(&d->records, data, len, d->path, 0, false);
	if (!jitdump_read_head(d, err))
		return d;
	jitdump_close(d);
	return NULL;
}

struct jitdump *jitdump_memory(const void *data, size_t len, const char *path,
			       struct err *err)
{
	struct jitdump *d = mem_new(1, sizeof(*d));

	d->in.fd = -1;
	return jitdump_start(d, data, len, path, err);
}

struct jitdump *jitdump_open(const char *path, bool found, const char *temp_dir,
			     struct err *err)
{
	struct jitdump *d = mem_new(1, sizeof(*d));

	if ((found ? input_open_named(&d->in, path, temp_dir, err)
		   : input_open(&d->in, path, temp_dir, err)) ||
	    input_spool(&d->in, temp_dir, err)) {
		jitdump_close(d);
		return NULL;
	}
	return jitdump_start(d, d->in.data, (size_t)d->in.len, path, err);
}

void jitdump_close(struct jitdump *d)
{
	if (!d)
		return;
	jit_free(d->jit);
	arena_release(&d->lines);
	if (d->in.path)
		input_close(&d->in);
	free_all((char *)d->path, d);
}

int32_t jitdump_pid(const struct jitdump *d)
{
	return (int32_t)d->pid;
}

static enum jitdump_dating jitdump_dating(const struct jitdump *d,
					  const struct source_info *info)
{
	bool mono = info->clock_id == CLOCK_ID_MONO ||
		    (info->clock && !strcmp(info->clock, "monotonic"));
	bool perf = info->clock_id == CLOCK_ID_PERF ||
		    (info->clock && !strcmp(info->clock, "perf"));

	if (!info->has_time)
		return UNDATED;
	if (d->flags & FLAG_TSC)
		return perf && info->tsc.mult ? DATED_TSC : UNDATED;
	return mono ? DATED_NS : UNDATED;
}

static int64_t jitdump_time(const struct jitdump *d, uint64_t t)
{
	if (d->dating == DATED_TSC) {
		/* like perf, but without losing the low bits of the cycles */
		const struct tsc_conv *c = &d->tsc;
		unsigned int shift = c->shift < 64 ? c->shift : 63;
		uint64_t quot = t >> shift;
		uint64_t rem = t & ((1ull << shift) - 1);

		t = c->zero + quot * c->mult + ((rem * c->mult) >> shift);
	}
	return t > INT64_MAX ? INT64_MAX : (int64_t)t;
}

COMPARE_BY(jitdump_compare_lines, struct jit_line, off);

/* Node 18 writes arbitrary bytes for names that have moved in memory. */
static bool jitdump_is_text(const char *s)
{
	size_t len = strlen(s);
	size_t n;

	for (; len; s += n, len -= n) {
		n = utf8_safe(s, len);
		if (!n)
			return false;
	}
	return true;
}

/* Takes DEBUG_INFO: the lines of the next code. Returns 0, or -1 and *err. */
static int jitdump_take_debug(struct jitdump *d, struct bytes *b,
			      struct err *err)
{
	const char *file = NULL;
	uint64_t n = 0;

	d->n_line = 0;
	if (bytes_u64(b, &d->lines_of, err) || bytes_u64(b, &n, err))
		return -1;
	if (n > bytes_left(b) / LINE_SIZE_MIN)
		return err_at(err, d->path, bytes_off(b),
			      "%" PRIu64 " lines in %zu bytes", n,
			      bytes_left(b));
	d->line = arena_take(&d->lines, n * sizeof(*d->line));
	while (d->n_line < n) {
		struct jit_line *l = &d->line[d->n_line];
		uint64_t addr = 0;
		uint32_t unused;
		const char *name;

		if (bytes_u64(b, &addr, err) || bytes_u32(b, &l->line, err) ||
		    bytes_u32(b, &unused, err) || bytes_str(b, &name, err)) {
			d->n_line = 0;
			return -1;
		}
		/* the same file as before */
		if (strcmp(name, "\xff") != 0)
			file = jitdump_is_text(name) ? name : NULL;
		l->file = file;
		l->off = addr - d->lines_of;
		d->n_line++;
	}
	if (d->v8 && !any_where(d->n_line, i, d->line[i].off < V8_SHIFT))
		for (size_t i = 0; i < d->n_line; i++)
			d->line[i].off -= V8_SHIFT;
	if (n)
		sort_items(d->line, d->n_line, jitdump_compare_lines);
	/* V8 may reserve more lines than it writes: in one run 13 of 2215
	 * pieces of code have bytes left here. */
	return 0;
}

/* Returns true if .eh_frame begins here, with a CIE. */
static bool jitdump_is_eh_frame(struct bytes b)
{
	uint32_t len = 0;
	uint32_t mark = 1;

	return !bytes_u32(&b, &len, NULL) && len >= 4 &&
	       len <= bytes_left(&b) && !bytes_u32(&b, &mark, NULL) && !mark;
}

/* Takes UNWINDING_INFO. In the specification .eh_frame_hdr precedes .eh_frame;
 * runtimes and perf (tools/perf/util/genelf.c) put it after, so the bytes
 * decide. A runtime without unwind information for a piece of code writes only
 * the head, as V8 does. Returns 0, or -1 and *err. */
static int jitdump_take_unwind(struct jitdump *d, struct bytes *b,
			       struct err *err)
{
	uint64_t off = bytes_off(b);
	uint64_t size = 0;
	uint64_t head = 0;
	uint64_t mapped;
	struct bytes all;

	d->lone += d->has_frame;
	d->has_frame = false;
	if (bytes_u64(b, &size, err) || bytes_u64(b, &head, err) ||
	    bytes_u64(b, &mapped, err))
		return -1;
	if (head > size)
		return err_at(err, d->path, off,
			      "head of %" PRIu64 " bytes in unwinding "
			      "information of %" PRIu64,
			      head, size);
	if (bytes_take(b, size, &all, err) || rest_padding(b, PADDING, err))
		return -1;
	d->has_frame = true;
	d->frame_off = 0;
	if (head == size || jitdump_is_eh_frame(all))
		return bytes_take(&all, size - head, &d->frame, err);
	d->frame_off = head;
	d->has_frame =
		!bytes_skip(&all, head, NULL) && jitdump_is_eh_frame(all);
	d->strange += !d->has_frame;
	d->frame = all;
	return 0;
}

/* Takes pid, tid and vma, which LOAD and MOVE share. Returns 0; 1 for code of
 * another process that inherited the file; or -1 and *err. */
static int jitdump_take_process(struct jitdump *d, struct bytes *b,
				struct err *err)
{
	uint32_t pid = 0;
	uint32_t tid;
	uint64_t vma;

	if (bytes_u32(b, &pid, err) || bytes_u32(b, &tid, err) ||
	    bytes_u64(b, &vma, err))
		return -1;
	d->foreign += pid != d->pid;
	return pid != d->pid;
}

/* Takes LOAD: adds the code with its lines and table. Returns 0, or -1 and
 * *err. */
static int jitdump_take_load(struct jitdump *d, struct bytes *b, uint64_t time,
			     struct err *err)
{
	int other = jitdump_take_process(d, b, err);
	struct jit_code c = { .machine = d->machine,
			      .swapped = d->records.swap };
	struct bytes name;

	if (other < 0 || bytes_u64(b, &c.start, err) ||
	    bytes_u64(b, &c.len, err) || bytes_u64(b, &c.number, err))
		return -1;
	if (c.len >= bytes_left(b))
		return err_at(err, d->path, bytes_off(b),
			      "code of %" PRIu64 " bytes and its name, has %zu",
			      c.len, bytes_left(b));
	if (bytes_take(b, bytes_left(b) - c.len, &name, err) ||
	    bytes_str(&name, &c.name, err) || rest_end(&name, err))
		return -1;
	c.bytes = b->pos;
	c.n_bytes = (size_t)c.len;
	if (d->n_line && d->lines_of == c.start) {
		c.line = d->line;
		c.n_line = d->n_line;
	}
	d->n_line = 0;
	/* The table's addresses assume that it follows the code, at the next
	 * multiple of 8 (perf, jit_write_elf()). */
	if (d->has_frame) {
		d->has_frame = false;
		c.frame = d->frame.pos;
		c.n_frame = bytes_left(&d->frame);
		c.frame_off = ((c.len + 7) & ~7ull) + d->frame_off;
	}
	if (!other && !jit_add(d->jit, &c, jitdump_time(d, time)))
		d->unfit++;
	return 0;
}

static int jitdump_take_move(struct jitdump *d, struct bytes *b, uint64_t time,
			     struct err *err)
{
	int other = jitdump_take_process(d, b, err);
	uint64_t from = 0;
	uint64_t to = 0;
	uint64_t len = 0;
	uint64_t number = 0;

	if (other < 0 || bytes_u64(b, &from, err) || bytes_u64(b, &to, err) ||
	    bytes_u64(b, &len, err) || bytes_u64(b, &number, err) ||
	    rest_end(b, err))
		return -1;
	if (!other &&
	    !jit_move(d->jit, number, from, to, jitdump_time(d, time)))
		d->unfit++;
	return 0;
}

/* Reads one record. Returns 1, 0 at the end, or -1 and *err if the rest cannot
 * be read. */
static int jitdump_next(struct jitdump *d, struct err *err)
{
	struct bytes *b = &d->records;
	uint64_t off = bytes_off(b);
	struct bytes body;
	uint32_t id = 0;
	uint32_t size = 0;
	uint64_t time = 0;
	struct err why;
	int rc = 0;

	if (!bytes_left(b))
		return 0;
	if (bytes_u32(b, &id, err) || bytes_u32(b, &size, err) ||
	    bytes_u64(b, &time, err))
		return -1;
	if (size < PREFIX_SIZE)
		return err_at(err, d->path, off,
			      "jitdump record is %" PRIu32 " bytes, needs %d",
			      size, PREFIX_SIZE);
	if (bytes_take(b, size - PREFIX_SIZE, &body, err))
		return -1;
	switch (id) {
	case R_LOAD:
		rc = jitdump_take_load(d, &body, time, &why);
		break;
	case R_MOVE:
		rc = jitdump_take_move(d, &body, time, &why);
		break;
	case R_DEBUG:
		rc = jitdump_take_debug(d, &body, &why);
		break;
	case R_CLOSE:
		rc = rest_end(&body, &why);
		break;
	case R_UNWIND:
		rc = jitdump_take_unwind(d, &body, &why);
		break;
	default:
		ledger_skip(d->lg, d->capture, "jitdump record", id,
			    bytes_off(&body), NULL);
	}
	if (rc)
		ledger_damage(d->lg, d->capture, "jitdump", off, size, &why);
	return 1;
}

struct jit *jitdump_read(struct jitdump *d, const struct source_info *info,
			 struct ledger *lg, uint16_t capture)
{
	uint64_t off;
	struct err why;
	int rc;

	d->dating = jitdump_dating(d, info);
	/* CPython 3.13 writes 0 for the machine, and junk after it */
	if (!d->machine)
		d->machine = regs_machine(NULL, info->arch);
	d->tsc = info->tsc;
	d->lg = lg;
	d->capture = capture;
	d->jit = jit_new(d->dating != UNDATED);
	do {
		off = bytes_off(&d->records);
		rc = jitdump_next(d, &why);
	} while (rc > 0);
	if (rc < 0)
		ledger_damage(lg, capture, "jitdump", off,
			      (uint64_t)(d->records.end - d->records.base) -
				      off,
			      &why);
	d->unfit += jit_finish(d->jit);
	ledger_left_out(lg, capture, "jitted code of another process", d->path,
			d->foreign);
	ledger_left_out(lg, capture, "jitted code that fits nowhere", d->path,
			d->unfit);
	ledger_left_out(lg, capture, "unwinding information without its code",
			d->path, d->lone + d->has_frame);
	ledger_left_out(lg, capture,
			"unwinding information that is no .eh_frame", d->path,
			d->strange);
	return d->jit;
}
