/* perfmap.c - reads perf-PID.map: names of code that a runtime generated. */
#include "formats/code/perfmap.h"

#include "formats/input.h"
#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/tasks/regs.h"

/* Longer than any runtime's names; longer names are cut. */
#define NAME_MAX_LEN 4096

/* CPython 3.12 and 3.13 on x86-64 make for each function of Python's a copy of
 *	sub $8,%rsp; call *%rcx; add $8,%rsp; ret
 * in front of which 'endbr64' may be (Objects/asm_trampoline.S). It keeps no
 * frame pointer, so that walking along these would leave out its caller. The
 * later ones, and those of AArch64, set it. */
#define PYTHON_PREFIX "py::"
#define PYTHON_LEN 11
#define PYTHON_ENDBR 4
#define PYTHON_FRAME_OFF 16

/* Its unwind table: CFA = SP + 8, SP + 16 between 'sub' and 'add'. The pointer
 * to the code is relative to its own place, PYTHON_FRAME_OFF + 32 after it. */
static const unsigned char python_frame[] = {
	20, 0,	  0,  0, 0,    0,    0,	   0,  1,    'z',  'R',	 0,
	1,  0x78, 16, 1, 0x1b, 0x0c, 7,	   8,  0x90, 1,	   0,	 0,
	20, 0,	  0,  0, 28,   0,    0,	   0,  0xd0, 0xff, 0xff, 0xff,
	11, 0,	  0,  0, 0,    0x44, 0x0e, 16, 0x46, 0x0e, 8,	 0,
};

struct perfmap {
	struct jit *jit;
	struct arena names;
	uint16_t machine; /* 0: not known */
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

/* Rejects a name with a 0, which would hide the rest of it. */
static bool perfmap_take_line(struct perfmap *m, struct scan s)
{
	struct jit_code c = { 0 };

	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (!scan_hex(&s, &c.start) || !scan_blanks(&s) ||
	    !scan_hex(&s, &c.len) || !scan_blanks(&s) || !s.n ||
	    scan_find_char(s, '\0') < s.n)
		return false;
	/* A stub of size 0 covers no address. */
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
