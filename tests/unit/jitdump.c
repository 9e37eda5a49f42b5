/* jitdump.c - files in which runtimes log their code: jitdump and perf maps. */
#include "formats/code/jitdump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/ledger.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "tests/slurp.h"
#include "tests/unit/run.h"

static const struct source_info mono = { .has_time = true,
					 .clock = "monotonic" };

struct file {
	unsigned char *data;
	size_t len;
	struct jitdump *dump;
	struct jit *jit;
	struct ledger *lg;
};

static struct file jitdump_load(const char *name,
				const struct source_info *info)
{
	struct file f = { 0 };
	char path[512];
	struct err err;

	snprintf(path, sizeof(path), "%s/tests/fuzz/jitdump.seeds/%s",
		 getenv("ROOT") ? getenv("ROOT") : ".", name);
	f.data = slurp_slurp(path, &f.len);
	f.lg = ledger_new();
	f.dump = jitdump_memory(f.data, f.len, name, &err);
	ck_assert_ptr_nonnull(f.dump);
	f.jit = jitdump_read(f.dump, info, f.lg, 0);
	ledger_end(f.lg);
	return f;
}

static void jitdump_release(struct file *f)
{
	jitdump_close(f->dump);
	ledger_free(f->lg);
	free(f->data);
}

static const struct jit_code *jitdump_code_at(struct file *f, uint64_t addr,
					      int64_t t)
{
	struct jit_hit h = jit_find(f->jit, addr, t);

	return h.found == JIT_ONE ? h.code[0] : NULL;
}

static void jitdump_check_all(const char *name)
{
	struct file f = jitdump_load(name, &mono);
	const struct jit_code *c = jitdump_code_at(&f, 0x1000, 1000);

	ck_assert_int_eq(jitdump_pid(f.dump), 4242);
	ck_assert_uint_eq(jit_count(f.jit), 3);
	ck_assert_str_eq(c->name, "first");
	ck_assert_uint_eq(c->n_bytes, 16);
	ck_assert_uint_eq(c->machine, 62);
	for (unsigned int i = 0; i < 16; i++)
		ck_assert_uint_eq(((const unsigned char *)c->bytes)[i], i);
	ck_assert_uint_eq(c->n_line, 3);
	ck_assert_uint_eq(c->line[0].off, 0);
	ck_assert_uint_eq(c->line[1].off, 4);
	ck_assert_uint_eq(c->line[2].off, 8);
	ck_assert_uint_eq(c->line[0].line, 10);
	ck_assert_str_eq(c->line[1].file, "b.js");
	ck_assert_str_eq(c->line[2].file, "a.js");
	ck_assert_str_eq(jitdump_code_at(&f, 0x1010, 2000)->name,
			 "second function");
	ck_assert_uint_eq(jitdump_code_at(&f, 0x1010, 2000)->n_line, 0);
	ck_assert_str_eq(jitdump_code_at(&f, 0x5000, 3000)->name, "first");
	ck_assert_ptr_null(jitdump_code_at(&f, 0x1000, 3000));
	ck_assert_ptr_null(jitdump_code_at(&f, 0x7000, 9000));
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_DAMAGE), 0);
	/* of another process, of a kind that nobody knows, and unwinding
	 * information that is none */
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_SKIPPED), 3);
	jitdump_release(&f);
}

START_TEST(code_is_loaded_replaced_and_moved)
{
	jitdump_check_all("all");
}
END_TEST

START_TEST(files_of_the_other_byte_order_say_the_same)
{
	jitdump_check_all("swapped");
}
END_TEST

START_TEST(lines_of_v8_are_shifted_back)
{
	jitdump_check_all("v8");
}
END_TEST

START_TEST(times_of_another_clock_are_none)
{
	const struct source_info perf = { .has_time = true, .clock = "perf" };
	const struct source_info untimed = { .clock = "monotonic" };
	struct file f = jitdump_load("all", &perf);

	ck_assert_int_eq(jit_first(f.jit), TIME_NONE);
	ck_assert_int_eq(jit_find(f.jit, 0x1009, 1).found, JIT_SEVERAL);
	jitdump_release(&f);
	f = jitdump_load("all", &untimed);
	ck_assert_int_eq(jit_first(f.jit), TIME_NONE);
	jitdump_release(&f);
	f = jitdump_load("tsc", &mono);
	ck_assert_int_eq(jit_first(f.jit), TIME_NONE);
	jitdump_release(&f);
	f = jitdump_load("tsc", &perf);
	ck_assert_int_eq(jit_first(f.jit), TIME_NONE);
	jitdump_release(&f);
}
END_TEST

START_TEST(cycles_become_the_times_of_the_capture)
{
	const struct source_info tsc = {
		.has_time = true,
		.clock = "perf",
		.tsc = { .zero = 5000, .mult = 3 << 9, .shift = 10 },
	};
	struct file f = jitdump_load("tsc", &tsc);

	ck_assert_int_eq(jit_first(f.jit), 5000 + 1500);
	ck_assert_str_eq(jitdump_code_at(&f, 0x1010, 8000)->name,
			 "second function");
	jitdump_release(&f);
}
END_TEST

START_TEST(a_cut_file_has_what_came_before_the_cut)
{
	struct file f = jitdump_load("all", &mono);
	size_t len = f.len;
	size_t had = 0;

	for (size_t n = 40; n <= len; n++) {
		struct ledger *lg = ledger_new();
		struct err err;
		struct jitdump *d = jitdump_memory(f.data, n, "cut", &err);
		size_t count;

		ck_assert_ptr_nonnull(d);
		count = jit_count(jitdump_read(d, &mono, lg, 0));
		ck_assert_uint_ge(count, had);
		had = count;
		jitdump_close(d);
		ledger_free(lg);
	}
	ck_assert_uint_eq(had, 3);
	jitdump_release(&f);
}
END_TEST

START_TEST(what_is_no_jitdump_is_refused_with_its_place)
{
	static const struct {
		size_t at;
		unsigned char byte;
		const char *says;
	} t[] = {
		{ 0, 'x', "needs to be a jitdump file" },
		{ 4, 2, "jitdump of version 2, needs 1" },
		{ 8, 39, "head of 39 bytes, needs 40" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct file f = jitdump_load("all", &mono);
		struct err err;

		f.data[t[i].at] = t[i].byte;
		ck_assert_ptr_null(jitdump_memory(f.data, f.len, "bad", &err));
		ck_assert_ptr_nonnull(strstr(err.msg, t[i].says));
		ck_assert_ptr_null(jitdump_memory(f.data, 39, "bad", &err));
		jitdump_release(&f);
	}
}
END_TEST

/* A jitdump file in memory, of x86-64 and process 1. */
struct made {
	unsigned char data[1024];
	size_t n;
};

static void jitdump_put32(struct made *m, uint32_t v)
{
	memcpy(m->data + m->n, &v, 4);
	m->n += 4;
}

static void jitdump_put64(struct made *m, uint64_t v)
{
	memcpy(m->data + m->n, &v, 8);
	m->n += 8;
}

static void jitdump_put_head(struct made *m)
{
	m->n = 0;
	jitdump_put32(m, 0x4A695444);
	jitdump_put32(m, 1);
	jitdump_put32(m, 40);
	jitdump_put32(m, 62);
	jitdump_put32(m, 0);
	jitdump_put32(m, 1);
	jitdump_put64(m, 0);
	jitdump_put64(m, 0);
}

static void jitdump_put_record(struct made *m, uint32_t id, size_t body)
{
	jitdump_put32(m, id);
	jitdump_put32(m, (uint32_t)(16 + body));
	jitdump_put64(m, 100);
}

static void put_load(struct made *m, uint64_t addr, uint32_t pid)
{
	jitdump_put_record(m, 0, 40 + 2 + 5);
	jitdump_put32(m, pid);
	jitdump_put32(m, pid);
	jitdump_put64(m, addr);
	jitdump_put64(m, addr);
	jitdump_put64(m, 5);
	jitdump_put64(m, addr);
	memcpy(m->data + m->n, "f\0\x90\x90\x90\x90\xc3", 7);
	m->n += 7;
}

enum layout {
	HEAD_BEHIND,
	HEAD_FIRST,
	HEAD_ALONE,
	HEAD_TOO_LONG,
	STRANGE,
};

/* A head of 4 bytes, and a CIE of 12 with a mark at its end. */
static void jitdump_put_unwind(struct made *m, enum layout how, uint32_t mark)
{
	const unsigned char head[4] = { 1, 0x1b, 3, 0x3b };
	const uint32_t cie[3] = { 8, how == STRANGE, mark };
	size_t n = how == HEAD_ALONE ? 4 : 16;

	jitdump_put_record(m, 4, 24 + n);
	jitdump_put64(m, n);
	jitdump_put64(m, how == HEAD_TOO_LONG ? 17 : 4);
	jitdump_put64(m, n);
	if (how == HEAD_FIRST || how == HEAD_ALONE) {
		memcpy(m->data + m->n, head, 4);
		m->n += 4;
	}
	if (how != HEAD_ALONE) {
		memcpy(m->data + m->n, cie, 12);
		m->n += 12;
	}
	if (how != HEAD_FIRST && how != HEAD_ALONE) {
		memcpy(m->data + m->n, head, 4);
		m->n += 4;
	}
}

static struct file read_made(const struct made *m)
{
	struct file f = { .lg = ledger_new() };
	struct err err;

	f.dump = jitdump_memory(m->data, m->n, "made", &err);
	ck_assert_ptr_nonnull(f.dump);
	f.jit = jitdump_read(f.dump, &mono, f.lg, 0);
	ledger_end(f.lg);
	return f;
}

static void check_frame(const struct jit_code *c, uint64_t off, uint32_t mark)
{
	uint32_t cie[3];

	ck_assert_uint_eq(c->n_frame, sizeof(cie));
	memcpy(cie, c->frame, sizeof(cie));
	ck_assert_uint_eq(c->frame_off, off);
	ck_assert_uint_eq(cie[0], 8);
	ck_assert_uint_eq(cie[2], mark);
	ck_assert(!c->swapped);
}

START_TEST(unwinding_information_belongs_to_the_next_code)
{
	struct made m;

	jitdump_put_head(&m);
	jitdump_put_unwind(&m, HEAD_BEHIND, 7);
	put_load(&m, 0x1000, 1);
	put_load(&m, 0x2000, 1);
	jitdump_put_unwind(&m, HEAD_FIRST, 9);
	put_load(&m, 0x3000, 1);
	jitdump_put_unwind(&m, HEAD_ALONE, 0);
	put_load(&m, 0x4000, 1);
	struct file f = read_made(&m);

	check_frame(jitdump_code_at(&f, 0x1000, 200), 8, 7);
	ck_assert_uint_eq(jitdump_code_at(&f, 0x2000, 200)->n_frame, 0);
	check_frame(jitdump_code_at(&f, 0x3000, 200), 12, 9);
	ck_assert_uint_eq(jitdump_code_at(&f, 0x4000, 200)->n_frame, 0);
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_SKIPPED), 0);
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_DAMAGE), 0);
	jitdump_release(&f);
}
END_TEST

START_TEST(unwinding_information_that_is_refused_is_counted)
{
	struct made m;

	jitdump_put_head(&m);
	jitdump_put_unwind(&m, STRANGE, 0);
	put_load(&m, 0x1000, 1);
	jitdump_put_unwind(&m, HEAD_TOO_LONG, 0);
	put_load(&m, 0x2000, 1);
	jitdump_put_unwind(&m, HEAD_BEHIND, 1); /* no code of its own */
	jitdump_put_unwind(&m, HEAD_BEHIND, 2);
	put_load(&m, 0x3000, 1);
	jitdump_put_unwind(&m, HEAD_BEHIND, 3); /* nor this */
	struct file f = read_made(&m);

	ck_assert_uint_eq(jitdump_code_at(&f, 0x1000, 200)->n_frame, 0);
	ck_assert_uint_eq(jitdump_code_at(&f, 0x2000, 200)->n_frame, 0);
	check_frame(jitdump_code_at(&f, 0x3000, 200), 8, 2);
	/* two kinds: strange, and without code */
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_SKIPPED), 2);
	ck_assert_uint_eq(ledger_count(f.lg, LEDGER_DAMAGE), 1);
	jitdump_release(&f);
}
END_TEST

START_TEST(unwinding_information_of_another_process_is_not_the_next_codes)
{
	struct made m;

	jitdump_put_head(&m);
	jitdump_put_unwind(&m, HEAD_BEHIND, 1);
	put_load(&m, 0x1000, 2);
	put_load(&m, 0x1000, 1);
	struct file f = read_made(&m);

	ck_assert_uint_eq(jitdump_code_at(&f, 0x1000, 200)->n_frame, 0);
	jitdump_release(&f);
}
END_TEST

START_TEST(code_of_no_machine_is_of_that_of_the_capture)
{
	const struct source_info info = { .arch = "x86_64" };
	struct made m;
	struct err err;

	jitdump_put_head(&m);
	memset(m.data + 12, 0, 4);
	put_load(&m, 0x1000, 1);
	struct file f = { .lg = ledger_new() };

	f.dump = jitdump_memory(m.data, m.n, "made", &err);
	f.jit = jitdump_read(f.dump, &info, f.lg, 0);
	ck_assert_uint_eq(jit_find(f.jit, 0x1000, TIME_NONE).code[0]->machine,
			  62);
	jitdump_release(&f);
}
END_TEST

static struct perfmap *jitdump_map_of(const char *text, struct ledger *lg)
{
	struct err err;

	return perfmap_text(text, strlen(text), "m", &mono, lg, 0, &err);
}

START_TEST(a_line_of_a_map_has_start_size_and_a_name_with_blanks)
{
	struct ledger *lg = ledger_new();
	struct perfmap *m =
		jitdump_map_of("7f00 10 LazyCompile:~f a b.js:1\r\n"
			       "0X1 1 bad\n0x8000 0x20 py::x:<frozen y>\n\n"
			       "9000 0 stub\n",
			       lg);
	struct jit *j = perfmap_jit(m);

	ck_assert_uint_eq(jit_count(j), 2);
	struct jit_hit h = jit_find(j, 0x7f0f, 1);

	ck_assert_int_eq(h.found, JIT_ONE);
	ck_assert_str_eq(h.code[0]->name, "LazyCompile:~f a b.js:1");
	ck_assert_ptr_null(h.code[0]->bytes);
	h = jit_find(j, 0x8000, 1);
	ck_assert_str_eq(h.code[0]->name, "py::x:<frozen y>");
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
	perfmap_close(m);
	ledger_free(lg);
}
END_TEST

/* Returns the distance of the table that a line of a map has, 0: it has none.
 */
static uint64_t table_of(const char *arch, const char *line)
{
	const struct source_info info = { .arch = arch };
	struct ledger *lg = ledger_new();
	struct err err;
	struct perfmap *m =
		perfmap_text(line, strlen(line), "m", &info, lg, 0, &err);
	const struct jit_code *c =
		jit_find(perfmap_jit(m), 0x1000, TIME_NONE).code[0];
	uint64_t off = c->n_frame ? c->frame_off : 0;

	ck_assert_int_eq(c->n_frame != 0, c->machine == 62);
	perfmap_close(m);
	ledger_free(lg);
	return off;
}

START_TEST(trampolines_of_python_on_x86_64_have_a_table)
{
	ck_assert_uint_eq(table_of("x86_64", "1000 b py::f:x.py\n"), 16);
	/* behind endbr64 */
	ck_assert_uint_eq(table_of("x86_64", "1000 f py::f:x.py\n"), 20);
	/* that of CPython 3.14, which sets a frame pointer */
	ck_assert_uint_eq(table_of("x86_64", "1000 8 py::f:x.py\n"), 0);
	ck_assert_uint_eq(table_of("x86_64", "1000 b LazyCompile:f\n"), 0);
	ck_assert_uint_eq(table_of("aarch64", "1000 b py::f:x.py\n"), 0);
	ck_assert_uint_eq(table_of(NULL, "1000 b py::f:x.py\n"), 0);
}
END_TEST

START_TEST(a_last_line_that_may_be_cut_gives_no_name)
{
	struct ledger *lg = ledger_new();
	struct perfmap *m =
		jitdump_map_of("1000 10 whole\n2000 10 half_of_a_na", lg);

	ck_assert_uint_eq(jit_count(perfmap_jit(m)), 1);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 1);
	perfmap_close(m);
	ledger_free(lg);
}
END_TEST

START_TEST(a_text_without_such_a_line_is_no_map)
{
	ck_assert_ptr_null(jitdump_map_of("hello\nworld\n", NULL));
	ck_assert_ptr_null(jitdump_map_of("", NULL));
	ck_assert_ptr_null(jitdump_map_of("ffffffffffffffff 2 wraps\n", NULL));
}
END_TEST

RUN("jitdump", code_is_loaded_replaced_and_moved,
    files_of_the_other_byte_order_say_the_same, lines_of_v8_are_shifted_back,
    times_of_another_clock_are_none, cycles_become_the_times_of_the_capture,
    a_cut_file_has_what_came_before_the_cut,
    what_is_no_jitdump_is_refused_with_its_place,
    unwinding_information_belongs_to_the_next_code,
    unwinding_information_that_is_refused_is_counted,
    unwinding_information_of_another_process_is_not_the_next_codes,
    code_of_no_machine_is_of_that_of_the_capture,
    trampolines_of_python_on_x86_64_have_a_table,
    a_line_of_a_map_has_start_size_and_a_name_with_blanks,
    a_last_line_that_may_be_cut_gives_no_name,
    a_text_without_such_a_line_is_no_map)
